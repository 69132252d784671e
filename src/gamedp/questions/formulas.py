"""Answers to formulas: each operator becomes a model and an objective, and its bounds are kept.

A number is computed as closely as asked. Where it is compared with another, that may not suffice:
then it is computed more closely, and then exactly. What is not decided even so, stays undecided,
also in all that it is a part of.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import (
    NotSolvedError,
    UnknownNameError,
    UnsupportedProblemError,
)
from gamedp.languages.expressions import BOOL, Expression, Label, Literal, Name, Operation
from gamedp.languages.formulas import (
    COMPARISONS,
    EVERYBODY,
    Earned,
    Filter,
    Formula,
    Query,
    Temporal,
    is_boolean,
    walk,
)
from gamedp.model.objectives import (
    AverageReward,
    FiniteHorizon,
    Reachability,
    TotalReward,
)
from gamedp.questions.changes import as_written, bare, cut, looped, towards, without_payoffs
from gamedp.questions.expressions import States, states_of
from gamedp.questions.filters import filtered
from gamedp.questions.paths import product_of
from gamedp.questions.truth import Numbers, Truth
from gamedp.results.status import Guarantee

if TYPE_CHECKING:
    from gamedp.adapters.loaded import LoadedModel
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective, Optimum
    from gamedp.runtime.arrays import Flags, Floats

OPPOSITE: dict[str, Optimum] = {"min": "max", "max": "min"}

AS_ASKED, CLOSELY, EXACTLY = range(3)
"""How closely a number is computed."""

CLOSE = 1e-13
"""The distance of bounds that is tried before exact numbers; rounding may allow no less."""

OF_OPPOSITE = "the solution is of the opposite event: its values are one less those of the formula"
OF_PRODUCT = "the solution is of the product of the model with the formula, so its policy remembers"
"""What is said of solutions of another question."""

MOST_EXACT = 2_000_000
"""The largest number of transitions of a model that is solved exactly."""


@attrs.define(eq=False)
class Asking:
    """Answers formulas about one model.

    Attributes
    ----------
    loaded : LoadedModel
    solve : function
        ``solve(model, objective, closely)`` returns a solution; `closely` is `AS_ASKED`, `CLOSELY`
        or `EXACTLY`.
    notes : list of str
        What has been left undecided, and why; no note twice.
    """

    loaded: LoadedModel
    solve: Callable[[Model, Objective, int], Any]
    notes: list[str] = attrs.field(factory=list)
    states: States = attrs.field(init=False)
    _last: Any = attrs.field(init=False, default=None)
    _known: dict[int, tuple[Formula, Truth]] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        """Collect variables, labels and constants."""
        self.states = states_of(self.loaded)

    def answer(self, formula: Formula) -> tuple[bool, Floats, Floats, Any]:
        """Return whether a formula is true or false, its bounds, and the solution behind it."""
        if self.is_boolean(formula):
            starts = np.zeros(self.states.count, np.bool_)
            starts[self.loaded.with_coalition(range(self.loaded.num_players)).model.initial_states] = True  # fmt: skip
            truth = self.truth(formula, starts)
            lower, upper = truth.certain.astype(float), truth.possible.astype(float)
            return True, lower, upper, self._last
        numbers = self.numbers(formula)
        lower, upper = (np.broadcast_to(each, self.states.count) for each in (numbers.lower, numbers.upper))  # fmt: skip
        return False, lower, upper, numbers.solution

    # States

    def is_boolean(self, formula: Formula) -> bool:
        """Return whether a formula of states is true or false, and no number."""
        if not _asks(formula):
            return self.states.type_of(self.states.resolved(formula)) == BOOL
        return is_boolean(formula, {})

    def truth(self, formula: Formula, needed: np.ndarray[Any, Any] | None = None) -> Truth:
        """Return where a formula holds.

        Parameters
        ----------
        formula : Formula
            Of states, true or false.
        needed : (S,) bool, optional
            The states in which it has to be decided, if that is possible; all if not given.
        """
        if not _asks(formula):
            return Truth.of(self.states.mask(self.states.resolved(formula)))
        if id(formula) in self._known:
            return self._known[id(formula)][1]
        found = self._truth(formula, needed)
        if needed is None:
            self._known[id(formula)] = formula, found
        return found

    def _truth(self, formula: Formula, needed: Any) -> Truth:
        if isinstance(formula, Query):
            if formula.comparison is None:
                formula.place.refuse("this is a number, and should be true or false.")
            return self._compared(
                formula.comparison,
                lambda closely: self._query(formula, closely),
                lambda _: self._bound(formula),
                needed,
            )
        if isinstance(formula, Filter):
            return self._filter_truth(formula)
        assert isinstance(formula, Operation)  # noqa: S101 - others have no operators inside
        symbol, parts = formula.operator, formula.operands
        if symbol == "!":
            return ~self.truth(parts[0], needed)
        if symbol in ("=", "!=") and self.is_boolean(parts[0]):
            same = self.truth(parts[0], needed).equals(self.truth(parts[1], needed))
            return same if symbol == "=" else ~same
        if symbol in ("=", "!=", *COMPARISONS):
            left, right = parts
            return self._compared(
                symbol,
                lambda closely: self.numbers(left, closely),
                lambda closely: self.numbers(right, closely),
                needed,
            )
        if symbol not in ("&", "|", "=>", "<=>"):
            formula.place.refuse(f"{symbol!r} cannot join answers to formulas.")
        found = self.truth(parts[0], needed)
        for part in parts[1:]:
            other = self.truth(part, needed)
            if symbol == "&":
                found = found & other
            elif symbol == "<=>":
                found = found.equals(other)
            else:
                found = (~found if symbol == "=>" else found) | other
        return found

    def _bound(self, query: Query) -> Numbers:
        assert query.bound is not None  # noqa: S101 - there is a comparison
        value = self.states.constant(query.bound)
        if isinstance(value, bool):
            query.bound.place.refuse("a bound is a number.")
        if query.kind == "P" or query.kind == "LRA":
            if not 0 <= value <= 1:
                query.bound.place.refuse(f"a probability is from 0 to 1, and never {value}.")
        table = np.empty(1, object)
        table[0] = value
        return Numbers.of(table)

    def _compared(
        self,
        comparison: str,
        left: Callable[[int], Numbers],
        right: Callable[[int], Numbers],
        needed: Any,
    ) -> Truth:
        """Return where two numbers compare as wanted, computed as closely as that takes."""
        found = None
        for closely in (AS_ASKED, CLOSELY, EXACTLY):
            try:
                now = left(closely).compared(comparison, right(closely))
            except _NotExactError as reason:
                self._note(f"undecided at the bound: {reason}")
                break
            if now.certain.shape != (self.states.count,):
                now = Truth(*np.broadcast_arrays(now.certain, now.possible, np.zeros(self.states.count))[:2])  # fmt: skip
            if found is not None:  # what was decided before, stays
                now = Truth(found.certain | now.certain, found.possible & now.possible)
            found = now
            undecided = found.certain != found.possible
            if not (undecided if needed is None else undecided & needed).any():
                break
        assert found is not None  # noqa: S101 - numbers as asked raise errors of their own
        return found

    def _note(self, words: str) -> None:
        if words not in self.notes:
            self.notes.append(words)

    # Numbers

    def numbers(self, formula: Formula, closely: int = AS_ASKED) -> Numbers:
        """Return the numbers that a formula stands for.

        Raises
        ------
        GamedpError
            If it is no number, or the model does not have what it names.
        """
        if not _asks(formula):
            return Numbers.of(self.states.values(self.states.resolved(formula)))
        if self.is_boolean(formula):
            formula.place.refuse("this is true or false, and should be a number.")
        if isinstance(formula, Query):
            return self._query(formula, closely)
        if isinstance(formula, Filter):
            return self._filter_numbers(formula, closely)
        assert isinstance(formula, Operation)  # noqa: S101 - others have no operators inside
        parts = [self.numbers(part, closely) for part in formula.operands]
        return _combined(formula, parts)

    def _filter_truth(self, given: Filter) -> Truth:
        chosen, inner = self._chosen(given), given.formula
        if given.kind in ("argmin", "argmax"):
            kind, comparison = ("min", "<=") if given.kind == "argmin" else ("max", ">=")
            best = attrs.evolve(given, kind=kind)
            found = self._compared(
                comparison,
                lambda closely: self.numbers(inner, closely),
                lambda closely: self._filter_numbers(best, closely),
                chosen,
            )
            return found & Truth.of(chosen)
        found_truth = filtered(given, self.truth(inner), chosen)
        assert isinstance(found_truth, Truth)  # noqa: S101 - by the kind of the filter
        return found_truth

    def _filter_numbers(self, given: Filter, closely: int) -> Numbers:
        chosen, inner = self._chosen(given), given.formula
        known = self.truth(inner) if given.kind == "count" else self.numbers(inner, closely)
        found = filtered(given, known, chosen)
        assert isinstance(found, Numbers)  # noqa: S101 - by the kind of the filter
        return found

    def _chosen(self, given: Filter) -> Flags:
        """Return the states that a filter looks at."""
        if given.states is None:
            return np.ones(self.states.count, np.bool_)
        chosen = self.truth(given.states)
        if not chosen.is_known:
            given.place.refuse("it is undecided in some state whether the filter looks at it.")
        if not chosen.certain.any():
            given.place.refuse("there is no state that the filter looks at.")
        return chosen.certain

    def _query(self, query: Query, closely: int) -> Numbers:
        """Return the numbers of an operator P, R or LRA."""
        sides, optimum = self._sides(query)
        if query.kind == "P":
            assert not isinstance(query.path, Earned)  # noqa: S101 - see the reader
            found = self._path(query.path, bare(sides.model), optimum, closely)
            lower, upper = (np.clip(each, 0.0, 1.0) for each in (found.lower, found.upper))
            return attrs.evolve(found, lower=lower, upper=upper)
        if query.kind == "LRA":
            return self._long_run(self.truth(query.path), sides.model, optimum, closely)  # type: ignore[arg-type]
        return self._reward(query, sides, optimum, closely)

    def _sides(self, query: Query) -> tuple[LoadedModel, Optimum]:
        """Return the model with the sides of a formula, and what player 0 wants.

        If only one side ever has a choice, it plays alone.
        """
        loaded = self.loaded
        named = query.coalition is not None or loaded.coalition is not None
        everybody = range(loaded.num_players)
        if query.coalition is not None:
            chosen = {self._player(name, query) for name in query.coalition if name != EVERYBODY}
            members = set(everybody) if EVERYBODY in query.coalition else chosen
        else:
            members = set(everybody if loaded.coalition is None else loaded.coalition)
        together = loaded.with_coalition(everybody)
        chooses = np.diff(together.model.choice_offsets) > 1
        optimum = self._optimum(query, has_choice=bool(chooses.any()), named=named)
        inside = np.isin(loaded.owners, list(members))
        if not (chooses & ~inside).any():
            return together, optimum
        if not (chooses & inside).any():
            return together, OPPOSITE[optimum]
        return loaded.with_coalition(sorted(members)), optimum

    def _player(self, name: str, query: Query) -> int:
        """Return the number of a player that a formula names; its numbers count from one."""
        names, count = self.loaded.player_names, self.loaded.num_players
        if name in names:
            return names.index(name)
        number = int(name) if name.isdecimal() and len(name) < 10 else 0
        if not 1 <= number <= count:
            known = ", ".join(names) or f"1 to {count}"
            query.place.refuse(f"there is no player {name!r}; the players are {known}.")
        return number - 1

    def _optimum(self, query: Query, *, has_choice: bool, named: bool) -> Optimum:
        """Return what those who play together want."""
        if query.optimum is not None:
            return query.optimum  # type: ignore[return-value]
        if query.comparison is None:
            if has_choice:
                query.place.refuse(
                    f"say {query.kind}min or {query.kind}max: there are choices to make."
                )
            return "max"
        # Alone, a bound holds if it does whatever is chosen; a coalition makes it hold.
        wanted: Optimum = "min" if query.comparison in (">", ">=") else "max"
        return OPPOSITE[wanted] if named else wanted

    # Paths

    def _path(self, path: Formula, model: Model, optimum: Optimum, closely: int) -> Numbers:
        """Return the probabilities of the paths on which a formula holds."""
        if isinstance(path, Operation) and path.operator == "!" and _is_path(path):
            self._note(OF_OPPOSITE)
            inner = path.operands[0]
            return self._path(inner, model, OPPOSITE[optimum], closely).opposite()
        if not _is_path(path):
            return self._as_numbers(self.truth(path))
        if isinstance(path, Temporal) and not any(map(_is_path, path.operands)):
            return self._temporal(path, model, optimum, closely)
        return self._long_path(path, model, optimum, closely)

    def _as_numbers(self, truth: Truth) -> Numbers:
        lower, upper = truth.certain.astype(float), truth.possible.astype(float)
        exact = _fractions(lower) if truth.is_known else None
        return Numbers(lower, upper, exact)

    def _temporal(self, path: Temporal, model: Model, optimum: Optimum, closely: int) -> Numbers:
        """Return the probabilities of a path formula without others inside."""
        states = [self.truth(part) for part in path.operands]
        steps = self._steps(path)
        everywhere = Truth.of(np.ones(self.states.count, np.bool_))
        symbol = path.operator
        if symbol == "X":
            return self._after(self._as_numbers(states[0]), model, optimum, 1, closely)
        if symbol == "F":
            return self._until(everywhere, states[0], steps, model, optimum, closely)
        if symbol == "U":
            return self._until(*states, steps, model, optimum, closely)
        # The others hold where their opposite does not.
        if symbol == "G":
            allowed, target = everywhere, ~states[0]
        elif symbol == "W":
            allowed, target = states[0] & ~states[1], ~states[0] & ~states[1]
        else:
            allowed, target = ~states[0], ~states[1]
        self._note(OF_OPPOSITE)
        found = self._until(allowed, target, steps, model, OPPOSITE[optimum], closely)
        return found.opposite()

    def _steps(self, path: Temporal) -> tuple[int, int | None]:
        """Return the first and the last step within which a formula counts."""
        first = 0 if path.first is None else self._whole(path.first)
        last = None if path.last is None else self._whole(path.last)
        if first < 0 or (last is not None and last < first):
            path.place.refuse(
                f"{path.operator} counts from step {first} to {last}: there are no such steps."
            )
        return first, last

    def _whole(self, expression: Expression) -> int:
        value = self.states.constant(expression)
        if isinstance(value, bool) or isinstance(value, float) or value != int(value):
            expression.place.refuse(f"{value} is no number of steps.")
        return int(value)

    def _until(
        self,
        allowed: Truth,
        target: Truth,
        steps: tuple[int, int | None],
        model: Model,
        optimum: Optimum,
        closely: int,
    ) -> Numbers:
        """Return the probabilities of reaching some states by way of others."""
        first, last = steps
        found = self._between(
            lambda one, other: self._reached(
                one, other, None if last is None else last - first, model, optimum, closely
            ),
            allowed,
            target,
        )
        if first == 0:
            return found
        return self._between_numbers(
            lambda numbers, one: self._delayed(numbers, one, model, optimum, first, closely),
            found,
            allowed,
        )

    def _between(self, reached: Callable[[Any, Any], Numbers], allowed: Truth, target: Truth) -> Numbers:  # fmt: skip
        """Return bounds that hold whatever the undecided states are: more of them, more paths."""
        if allowed.is_known and target.is_known:
            return reached(allowed.certain, target.certain)
        low = reached(allowed.certain, target.certain)
        high = reached(allowed.possible, target.possible)
        return Numbers(low.lower, high.upper, None, high.solution)

    def _between_numbers(
        self, delayed: Callable[[Numbers, Any], Numbers], found: Numbers, allowed: Truth
    ) -> Numbers:
        if allowed.is_known:
            return delayed(found, allowed.certain)
        low, high = delayed(found, allowed.certain), delayed(found, allowed.possible)
        return Numbers(low.lower, high.upper, None, high.solution)

    def _reached(
        self,
        allowed: Any,
        target: Any,
        steps: int | None,
        model: Model,
        optimum: Optimum,
        closely: int,
    ) -> Numbers:
        """Return the probabilities of reaching known states, perhaps within some steps."""
        if steps is None:
            model = self._written_if(model, closely)
            goal = Reachability(target, None if allowed.all() else allowed, optimum)
            return self._solved(model, goal, closely)
        ended = cut(model, target | ~allowed, target.astype(float))
        ended = self._written_if(ended, closely)
        return self._solved(ended, FiniteHorizon(steps, optimum), closely)

    def _delayed(
        self,
        numbers: Numbers,
        allowed: Any,
        model: Model,
        optimum: Optimum,
        steps: int,
        closely: int,
    ) -> Numbers:
        """Return what numbers are expected to be after some steps, all in allowed states."""
        if allowed.all():
            return self._after(numbers, model, optimum, steps, closely)
        # The state after all steps need not be allowed, so the last step stands alone.
        last = self._after(numbers, model, optimum, 1, closely)
        exact = None if last.exact is None else np.where(allowed, last.exact, Fraction(0))
        lower, upper = (np.where(allowed, each, 0.0) for each in (last.lower, last.upper))
        before = Numbers(lower, upper, exact, last.solution)
        if steps == 1:
            return before
        ended = cut(model, ~allowed, np.zeros(len(allowed)))
        return self._after(before, ended, optimum, steps - 1, closely)

    def _after(
        self, last: Numbers, model: Model, optimum: Optimum, steps: int, closely: int
    ) -> Numbers:
        """Return what numbers are expected to be after some steps."""
        model, goal = self._written_if(model, closely), FiniteHorizon(steps, optimum)
        if last.exact is not None:
            number = last.exact if closely == EXACTLY else last.lower
            if closely == EXACTLY or (last.lower == last.upper).all():
                return _added(self._solved(towards(model, number), goal, closely), last)
        low = self._solved(towards(model, last.lower), goal, closely)
        high = self._solved(towards(model, last.upper), goal, closely)
        found = Numbers(low.lower, high.upper, None, high.solution)
        return _added(found, attrs.evolve(last, exact=None))

    def _long_path(self, path: Formula, model: Model, optimum: Optimum, closely: int) -> Numbers:
        """Return the probabilities of a formula of LTL that is co-safe, or the opposite of one."""
        product = product_of(path, model, self.truth, self._steps)
        self._note(OF_PRODUCT)
        if product.is_opposite:
            self._note(OF_OPPOSITE)
            optimum = OPPOSITE[optimum]
        found = []
        for ended in product.ended:
            starts = ended.starts
            goal = Reachability(ended.target, None, optimum)
            written = self._written_if(ended.model, closely)
            numbers = self._solved(written, goal, closely)
            exact = None if numbers.exact is None else numbers.exact[starts]
            found.append(
                Numbers(numbers.lower[starts], numbers.upper[starts], exact, numbers.solution)
            )
        low, high = found[0], found[-1]
        exact = low.exact if low is high else None
        between = Numbers(low.lower, high.upper, exact, high.solution)
        return between.opposite() if product.is_opposite else between

    # Rewards

    def _reward(self, query: Query, sides: LoadedModel, optimum: Optimum, closely: int) -> Numbers:
        """Return what is earned."""
        name, earned = self._reward_name(query), query.path
        assert isinstance(earned, Earned)  # noqa: S101 - see the reader
        if earned.kind == "I":
            assert earned.steps is not None  # noqa: S101 - see the reader
            return self._at_step(name, self._number_of_steps(earned.steps), query, sides, optimum, closely)  # fmt: skip
        model = sides.with_rewards(name)
        if earned.kind == "S":
            return self._solved(
                self._written_if(without_payoffs(model), closely), AverageReward(optimum), closely
            )
        if earned.kind == "C" and earned.steps is not None:
            steps = self._number_of_steps(earned.steps)
            written = self._written_if(without_payoffs(model), closely)
            return self._solved(written, FiniteHorizon(steps, optimum), closely)
        if earned.kind == "C":
            return self._solved(self._written_if(model, closely), TotalReward(optimum), closely)
        assert earned.until is not None  # noqa: S101 - see the reader
        return self._until_target(self.truth(earned.until), earned.kind, query, model, optimum, closely)  # fmt: skip

    def _until_target(
        self,
        until: Truth,
        kind: str,
        query: Query,
        model: Model,
        optimum: Optimum,
        closely: int,
    ) -> Numbers:
        """Return the total until some states are reached."""

        def total(states: Any) -> Numbers:
            if kind == "F":
                goal = TotalReward(optimum, until=states)
                return self._solved(self._written_if(model, closely), goal, closely)
            ended = cut(model, states, np.zeros(len(states)))
            return self._solved(self._written_if(ended, closely), TotalReward(optimum), closely)

        if until.is_known:
            return total(until.certain)
        if (model.rewards < 0).any():
            query.place.refuse(
                "it is undecided in some state whether the total ends there, and rewards have "
                "both signs, so nothing is known of it."
            )
        # Who stops earlier, earns less.
        low, high = total(until.possible), total(until.certain)
        return Numbers(low.lower, high.upper, None, high.solution)

    def _number_of_steps(self, expression: Expression) -> int:
        steps = self._whole(expression)
        if steps < 0:
            expression.place.refuse(f"{steps} is no number of steps.")
        return steps

    def _reward_name(self, query: Query) -> str:
        """Return the name of the reward structure that a formula is about."""
        names = list(self.loaded.rewards)
        known = ", ".join(map(repr, names)) or "none"
        if isinstance(query.reward, str):
            if query.reward not in names:
                found = UnknownNameError.nearest("reward structure", query.reward, names)
                place = f"{query.place.source.name}, {query.place}"
                raise UnknownNameError(f"{place}: {found}")
            return query.reward
        if query.reward is None:
            if len(names) != 1:
                query.place.refuse(f'say which reward, as in R{{"name"}}; there are {known}.')
            return names[0]
        if not 1 <= query.reward <= len(names):
            query.place.refuse(f"there is no reward structure {query.reward}; there are {known}.")
        return names[query.reward - 1]

    def _at_step(
        self,
        name: str,
        steps: int,
        query: Query,
        sides: LoadedModel,
        optimum: Optimum,
        closely: int,
    ) -> Numbers:
        """Return the reward of the state after some steps."""
        if name not in self.loaded.state_rewards:
            query.place.refuse(f"I=k is about rewards of states, and {name!r} has none.")
        given = self.loaded.state_rewards[name]
        exact = given if given.dtype == object else _fractions(given)
        lower = upper = given.astype(float)
        if given.dtype == object:
            lower, upper = Numbers.of(exact).lower, Numbers.of(exact).upper
        elif closely == EXACTLY:
            exact = np.array([Fraction(repr(float(number))) for number in given], object)
        numbers = Numbers(lower, upper, exact)
        return self._after(numbers, bare(sides.model), optimum, steps, closely)

    def _long_run(self, states: Truth, model: Model, optimum: Optimum, closely: int) -> Numbers:
        """Return the share of the steps that play is in some states, in the long run."""
        model = looped(bare(model))
        sources = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))

        def share(_: Any, mask: Any) -> Numbers:
            counting = attrs.evolve(model, rewards=mask[sources].astype(float))
            return self._solved(
                self._written_if(counting, closely), AverageReward(optimum), closely
            )

        return self._between(share, states, states)

    # Solving

    def _written_if(self, model: Model, closely: int) -> Model:
        """Return a model to be solved as closely as asked: exactly, its decimals are as written."""
        if closely != EXACTLY:
            return model
        if model.num_transitions > MOST_EXACT:
            message = f"the model has {model.num_transitions:,} transitions, too many to be exact."
            raise _NotExactError(message)
        written = as_written(model)
        if written is None:
            message = "the decimals of the model do not add up to one, so they are rounded."
            raise _NotExactError(message)
        return written

    def _solved(self, model: Model, objective: Objective, closely: int) -> Numbers:
        """Return the values of a model, as closely as asked."""
        try:
            solution = self.solve(model, objective, closely)
        except NotSolvedError as error:
            if closely == AS_ASKED:
                raise
            if closely == EXACTLY:
                raise _NotExactError(str(error)) from error
            solution = error.solution
        except UnsupportedProblemError as error:
            if closely != EXACTLY:
                raise
            raise _NotExactError(str(error)) from error
        lower, upper = solution.lower, solution.upper
        if solution.guarantee is not Guarantee.TWO_SIDED:
            lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
            self._note(f"the solver proves nothing: {solution.guarantee.value}")
        exact = None
        if closely == EXACTLY:
            if solution.exact is None:
                message = f"{type(solution.solver).__name__} finds no exact values."
                raise _NotExactError(message)
            exact = np.empty(len(lower), object)
            exact[:] = solution.exact
        self._last = solution
        return Numbers(lower, upper, exact, solution)


class _NotExactError(Exception):
    """There are no exact numbers; the message says why."""


def _asks(formula: Formula) -> bool:
    """Return whether there is an operator of a formula in it, so that it is no expression."""
    return any(not isinstance(part, (Literal, Name, Label, Operation)) for part in walk(formula))


def _is_path(formula: Formula) -> bool:
    return any(isinstance(part, Temporal) for part in walk(formula))


def _fractions(numbers: Any) -> Any:
    found = np.empty(len(numbers), object)
    found[:] = [Fraction(number) for number in numbers.tolist()]
    return found


def _added(change: Numbers, start: Numbers) -> Numbers:
    """Return numbers after a change of them, rounded outward."""
    exact = None
    if change.exact is not None and start.exact is not None:
        exact = change.exact + start.exact
    if exact is not None:
        return attrs.evolve(Numbers.of(exact), solution=change.solution)
    lower, upper = change.lower + start.lower, change.upper + start.upper
    low = np.where(change.lower == 0, lower, np.nextafter(lower, -np.inf))
    high = np.where(change.upper == 0, upper, np.nextafter(upper, np.inf))
    return Numbers(low, high, None, change.solution)


def _combined(formula: Operation, parts: list[Numbers]) -> Numbers:
    """Return the numbers that an operator makes of others, by their bounds."""
    join = JOINED.get(formula.operator)
    if join is None:
        formula.place.refuse(
            f"{formula.operator!r} cannot join answers to formulas; {' '.join(JOINED)} can."
        )
    solution = next((part.solution for part in parts if part.solution is not None), None)
    if all(part.exact is not None for part in parts):
        found = parts[0].exact
        if len(parts) == 1:  # a sign
            found = 0 - found
        for part in parts[1:]:
            found = join(found, part.exact)
        if not any(isinstance(number, float) for number in found.tolist()):
            return attrs.evolve(Numbers.of(found), solution=solution)
    if len(parts) == 1:
        return Numbers(-parts[0].upper, -parts[0].lower, None, solution)
    lower, upper = parts[0].lower, parts[0].upper
    for part in parts[1:]:
        with np.errstate(invalid="ignore"):
            corners = [join(one, its) for one in (lower, upper) for its in (part.lower, part.upper)]
        lower, upper = np.minimum.reduce(corners), np.maximum.reduce(corners)
        if formula.operator in ("+", "-", "*"):
            lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
        # Infinity less infinity may be anything.
        lower, upper = (
            np.where(np.isnan(lower), -np.inf, lower),
            np.where(np.isnan(upper), np.inf, upper),
        )
    return Numbers(lower, upper, None, solution)


JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
"""What can be computed of answers."""
