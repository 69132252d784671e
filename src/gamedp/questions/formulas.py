"""Answers to formulas: each operator becomes a model and an objective, and its bounds are kept.

A number is computed to the requested tolerance. If that does not decide a comparison, it is
computed more closely, and then exactly. What is still undecided stays undecided, and so does every
formula that depends on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.languages.expressions import BOOL, Expression, Label, Literal, Name, Operation
from gamedp.languages.formulas import (
    COMPARISONS,
    EVERYBODY,
    Filter,
    Formula,
    Query,
    RewardPath,
    Temporal,
    is_boolean,
    walk,
)
from gamedp.questions.expressions import States, states_of, unknown
from gamedp.questions.filters import filtered
from gamedp.questions.paths import product_of
from gamedp.questions.quantities import (
    AS_ASKED,
    CLOSELY,
    EXACTLY,
    OPPOSITE,
    NotExactError,
    Quantities,
)
from gamedp.questions.truth import StateNumbers, Truth
from gamedp.results.status import Guarantee

if TYPE_CHECKING:
    from typing import TypeGuard

    from gamedp.adapters.loaded import LoadedModel
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective, Optimum
    from gamedp.questions.quantities import Solve
    from gamedp.runtime.arrays import Flags, Floats

MOST_DECIDED = 2_000
"""The largest number of states in all of which a bound is decided; in more, only in the start."""

OF_OPPOSITE = "the solution is of the opposite event: its values are one less those of the formula"
OF_PRODUCT = "the solution is of the product of the model with the formula, so its policy remembers"
"""Notes about solutions of another question."""


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
    solve: Solve
    notes: list[str] = attrs.field(factory=list)
    states: States = attrs.field(init=False)
    last: Any = attrs.field(init=False, default=None)
    _known: dict[int, tuple[Formula, Truth]] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        """Collect variables, labels and constants."""
        self.states = states_of(self.loaded)

    def answer(self, formula: Formula) -> tuple[bool, Floats, Floats, Any]:
        """Return whether a formula is true or false, its bounds, and the solution behind it."""
        if self.is_boolean(formula):
            is_large = self.states.count > MOST_DECIDED
            truth = self.truth(formula, self.states.starts if is_large else None)
            lower, upper = truth.certain.astype(float), truth.possible.astype(float)
            return True, lower, upper, self.last
        numbers = self.numbers(formula)
        return False, numbers.lower, numbers.upper, numbers.solution

    # States

    def is_boolean(self, formula: Formula) -> bool:
        """Return whether a formula of states is true or false, and no number."""
        if _is_plain(formula):
            return self.states.type_of(self.states.resolved(formula)) == BOOL
        if isinstance(formula, Filter) and formula.kind in ("first", "state", "print"):
            return self.is_boolean(formula.formula)
        assert isinstance(formula, (Query, Filter, Operation))  # noqa: S101 - see the reader
        return is_boolean(formula)

    def truth(self, formula: Formula, needed: np.ndarray[Any, Any] | None = None) -> Truth:
        """Return where a formula holds.

        Parameters
        ----------
        formula : Formula
            Of states, true or false.
        needed : (S,) bool, optional
            The states in which it has to be decided, if that is possible; all if not given.
        """
        if _is_plain(formula):
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
        symbol, (first, *others) = formula.operator, formula.operands
        if symbol == "!":
            return ~self.truth(first, needed)
        is_equality = symbol in ("=", "!=")
        if symbol in COMPARISONS or (is_equality and not self.is_boolean(first)):
            return self._compared(
                symbol,
                lambda closely: self.numbers(first, closely),
                lambda closely: self.numbers(others[0], closely),
                needed,
            )
        if symbol not in CONNECTIVES:
            formula.place.refuse(f"{symbol!r} cannot join answers to formulas.")
        found = self.truth(first, needed)
        for part in others:
            found = CONNECTIVES[symbol](found, self.truth(part, needed))
        return found

    def _bound(self, query: Query) -> StateNumbers:
        assert query.bound is not None  # noqa: S101 - there is a comparison
        value = self.states.constant(query.bound)
        if isinstance(value, bool):
            query.bound.place.refuse("a bound is a number.")
        if query.kind != "R" and not 0 <= value <= 1:
            query.bound.place.refuse(f"a probability is from 0 to 1, and never {value}.")
        return StateNumbers.of(np.full(self.states.count, value, object))

    def _compared(
        self,
        comparison: str,
        left: Callable[[int], StateNumbers],
        right: Callable[[int], StateNumbers],
        needed: Any,
    ) -> Truth:
        """Return where two numbers compare as wanted, computed as closely as that takes."""
        found = None
        for closely in (AS_ASKED, CLOSELY, EXACTLY):
            try:
                now = left(closely).compared(comparison, right(closely))
            except NotExactError as reason:
                self._note(f"undecided at the bound: {reason}")
                break
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

    # StateNumbers

    def numbers(self, formula: Formula, closely: int = AS_ASKED) -> StateNumbers:
        """Return the numbers that a formula stands for.

        Raises
        ------
        GamedpError
            If it is not a number, or the model does not have what it names.
        """
        if self.is_boolean(formula):
            formula.place.refuse("this is true or false, and should be a number.")
        if _is_plain(formula):
            return StateNumbers.of(self.states.values(self.states.resolved(formula)))
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

    def _filter_numbers(self, given: Filter, closely: int) -> StateNumbers:
        chosen, inner = self._chosen(given), given.formula
        known = self.truth(inner) if given.kind == "count" else self.numbers(inner, closely)
        found = filtered(given, known, chosen)
        assert isinstance(found, StateNumbers)  # noqa: S101 - by the kind of the filter
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

    def _query(self, query: Query, closely: int) -> StateNumbers:
        """Return the numbers of an operator P, R or LRA."""
        sides, optimum = self._sides(query)
        of = Quantities(self._solve, sides.model, optimum, closely)
        if isinstance(query.path, RewardPath):
            return self._reward(query, query.path, of, sides)
        if query.kind == "LRA":
            found = of.long_run(self.truth(query.path))
        else:
            found = self._path(query.path, of.chances())
        lower, upper = (np.clip(each, 0.0, 1.0) for each in (found.lower, found.upper))
        return attrs.evolve(found, lower=lower, upper=upper)

    def _solve(self, model: Model, objective: Objective, closely: int) -> Any:
        self.last = self.solve(model, objective, closely)
        if self.last.guarantee is not Guarantee.TWO_SIDED:
            self._note(f"the solver proves nothing: {self.last.guarantee.value}")
        return self.last

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

    def _path(self, path: Formula, of: Quantities) -> StateNumbers:
        """Return the probabilities of the paths on which a formula holds."""
        if isinstance(path, Operation) and path.operator == "!" and _is_path(path):
            self._note(OF_OPPOSITE)
            return self._path(path.operands[0], of.opposite()).one_less()
        if not _is_path(path):
            return self.truth(path).numbers()
        if isinstance(path, Temporal) and not any(map(_is_path, path.operands)):
            return self._temporal(path, of)
        product = product_of(path, of.model, self.truth, self._steps)
        self._note(OF_PRODUCT)
        if not product.is_opposite:
            return of.long_path(product)
        self._note(OF_OPPOSITE)
        return of.opposite().long_path(product).one_less()

    def _temporal(self, path: Temporal, of: Quantities) -> StateNumbers:
        """Return the probabilities of a path formula without others inside."""
        *before, states = [self.truth(part) for part in path.operands]
        first, last = self._steps(path)
        allowed = before[0] if before else Truth.of(np.ones(self.states.count, np.bool_))
        symbol = path.operator
        if symbol == "X":
            return of.after(states.numbers(), 1)
        if symbol in ("F", "U"):
            return of.until(allowed, states, first, last)
        # The others hold where their opposite does not.
        self._note(OF_OPPOSITE)
        target = ~states
        if symbol == "W":
            allowed, target = allowed & ~states, ~allowed & ~states
        elif symbol == "R":
            allowed = ~allowed
        return of.opposite().until(allowed, target, first, last).one_less()

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
        if isinstance(value, (bool, float)) or value != int(value):
            expression.place.refuse(f"{value} is not a number of steps.")
        return int(value)

    # Rewards

    def _reward(
        self, query: Query, earned: RewardPath, of: Quantities, sides: LoadedModel
    ) -> StateNumbers:
        """Return what is earned."""
        name = self._reward_name(query)
        steps = None if earned.steps is None else self._whole(earned.steps)
        if steps is not None and steps < 0:
            query.place.refuse(f"{steps} is not a number of steps.")
        if earned.kind == "I":
            if name not in self.loaded.state_rewards:
                query.place.refuse(f"I=k is about rewards of states, and {name!r} has none.")
            return of.chances().after(
                StateNumbers.as_given(self.loaded.state_rewards[name]), steps or 0
            )
        of = attrs.evolve(of, model=sides.with_rewards(name))
        if earned.kind == "S":
            return of.average()
        if earned.until is None:
            return of.earn_within(steps)
        until = self.truth(earned.until)
        if not until.is_known and (of.model.rewards < 0).any():
            query.place.refuse(
                "it is undecided in some state whether the total ends there, and rewards have "
                "both signs, so nothing is known of it."
            )
        return of.until_target(until, or_missed=earned.kind == "Fc")

    def _reward_name(self, query: Query) -> str:
        """Return the name of the reward structure that a formula is about."""
        names = list(self.loaded.rewards)
        known = ", ".join(map(repr, names)) or "none"
        if isinstance(query.reward, str):
            if query.reward not in names:
                raise unknown(query.place, "reward structure", query.reward, names)
            return query.reward
        if query.reward is None:
            if len(names) != 1:
                query.place.refuse(f'say which reward, as in R{{"name"}}; there are {known}.')
            return names[0]
        if not 1 <= query.reward <= len(names):
            query.place.refuse(f"there is no reward structure {query.reward}; there are {known}.")
        return names[query.reward - 1]


def _is_plain(formula: Formula) -> TypeGuard[Expression]:
    """Return whether it is an expression: no operator of formulas is in it."""
    return all(isinstance(part, (Literal, Name, Label, Operation)) for part in walk(formula))


def _is_path(formula: Formula) -> bool:
    return any(isinstance(part, Temporal) for part in walk(formula))


def _combined(formula: Operation, parts: list[StateNumbers]) -> StateNumbers:
    """Return the result of an operator, by the bounds of its operands."""
    join = JOINED.get(formula.operator)
    if join is None:
        formula.place.refuse(
            f"{formula.operator!r} cannot join answers to formulas; {' '.join(JOINED)} can."
        )
    solution = next((part.solution for part in parts if part.solution is not None), None)
    exact = [part.exact for part in parts if part.exact is not None]
    if len(exact) == len(parts):
        found = -exact[0] if len(parts) == 1 else functools.reduce(join, exact)
        if not any(isinstance(number, float) for number in found.tolist()):
            return attrs.evolve(StateNumbers.of(found), solution=solution)
    if len(parts) == 1:
        return StateNumbers(-parts[0].upper, -parts[0].lower, None, solution)
    lower, upper = parts[0].lower, parts[0].upper
    for part in parts[1:]:
        with np.errstate(invalid="ignore"):
            corners = [join(one, its) for one in (lower, upper) for its in (part.lower, part.upper)]
        lower, upper = np.minimum.reduce(corners), np.maximum.reduce(corners)
        if formula.operator in ("+", "-", "*"):
            lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
        # Infinity less infinity may be anything.
        lower = np.where(np.isnan(lower), -np.inf, lower)
        upper = np.where(np.isnan(upper), np.inf, upper)
    return StateNumbers(lower, upper, None, solution)


CONNECTIVES: dict[str, Callable[[Truth, Truth], Truth]] = {
    "&": Truth.__and__,
    "|": Truth.__or__,
    "=>": lambda one, other: ~one | other,
    "<=>": Truth.equals,
    "=": Truth.equals,
    "!=": lambda one, other: ~one.equals(other),
}

JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
"""The operators that join answers which are numbers."""
