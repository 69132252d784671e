"""Solutions of staged games: a value for every context, and a solution inside each."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.model.model import Model
from gamedp.results.base import BaseSolution, Numbers
from gamedp.results.columns import joined, numbers
from gamedp.results.solution import Solution
from gamedp.results.status import (
    ActionValue,
    Guarantee,
    Statistics,
    check_player,
    opposite_bounds,
)
from gamedp.rules.layout import PackedTable
from gamedp.runtime.floats import UNIT
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from gamedp.runtime.arrays import Floats


@attrs.frozen(eq=False, kw_only=True, repr=False)
class StagedSolution(BaseSolution[StagedModel]):
    """The value of every context of a staged game, between proven bounds.

    Values are player 0's. The best play inside the stage is computed on request: :meth:`inside`
    returns the stage's own solution in one context.

    Attributes
    ----------
    model : StagedModel
    objective : Objective
    solver : object
        The solver with its options.
    values : (B,) float64
        Indexed by the code of the context; NaN where there is no such context.
    errors : (B,) float64
        The true value is within this distance if `guarantee` says so.
    status : Status
    guarantee : Guarantee
    statistics : Statistics
        Those of the whole game: the stage's size times the number of contexts.
    """

    counted = "contexts"

    errors: NDArray[np.float64]
    _inside: dict[Any, Solution] = attrs.field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Lock the arrays."""
        self.values.flags.writeable = False
        self.errors.flags.writeable = False

    @functools.cached_property
    def lower(self) -> NDArray[np.float64]:
        """Lower bounds, like `values`."""
        return moved_outward(self.values, self.errors, -1)

    @functools.cached_property
    def upper(self) -> NDArray[np.float64]:
        """Upper bounds, like `values`."""
        return moved_outward(self.values, self.errors, 1)

    def _numbers(self, states: NDArray[np.int64]) -> Numbers:
        """Return values, lower and upper bounds of some contexts, by their codes."""
        values, errors = self.values[states], self.errors[states]
        return values, moved_outward(values, errors, -1), moved_outward(values, errors, 1)

    @property
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""
        return 2 * float(self.errors.max(initial=0.0))

    def inside(self, context: Hashable) -> Solution:
        """Return the solution of the stage in one context: each state's value in the whole game.

        It is an ordinary solution, of the states from which the stage can be played to an end that
        this context allows; its certificate is one of the stage, with the stored values for its
        ends. Its players are the stage's: where `canonical` says that the players have changed
        places, player 0 of the stage is player 1 of the game.

        Raises
        ------
        InvalidModelError
            If the value of the context is not that of its representative, as `canonical` claims.
        UnknownStateError
            If there is no such context, or the game is over there.
        """
        context = self.model.rules.own_state(context)
        code, swapped = self.model.index(context)
        if self.model.code(context) == code:
            context = self.model.state(code)
        part = self._inside.get(context)
        if part is None:
            part = _solve_inside(self, context, swapped=swapped)
            self._check_symmetry(context, swapped, part)
            if len(self._inside) >= 64:
                self._inside.clear()
            self._inside[context] = part  # another thread may clear them now
        return part

    def _check_symmetry(self, context: Any, swapped: bool, part: Solution) -> None:
        """Raise if a context and its representative have different values."""
        if self.guarantee is not Guarantee.TWO_SIDED:
            return
        low, high = self.bounds(context, player=int(swapped))
        least, most = part.bounds()
        if least > high or low > most:
            representative, _ = self.model.rules.canonical(context)
            if representative != context:
                message = (
                    f"{shown(context)} has the value {least!r} to {most!r}, and "
                    f"{shown(representative)}, which canonical() says is the "
                    f"same{', with the players swapped,' * swapped} {low!r} to {high!r}. Mend "
                    "canonical()."
                )
                raise InvalidModelError(message)

    def best_actions(
        self, context: Hashable, state: Hashable, *, certain: bool = False
    ) -> list[int]:
        """Return the best actions in a state of the stage, played in `context`.

        As in :meth:`gamedp.Solution.best_actions`, for the rest of the stage. Actions that leave it
        for the same context again and again are not recognised as waiting.
        """
        return self.inside(context).best_actions(state, certain=certain)

    def action_values(
        self, context: Hashable, state: Hashable, player: int = 0
    ) -> list[ActionValue]:
        """Return what `player` can expect after each action in a state of the stage.

        Parameters
        ----------
        context
            The context in which the stage is played.
        state
            A state of the stage.
        player : int
        """
        check_player(self.model.num_players, player)
        entries = self.inside(context).action_values(state)
        if self.model.index(context)[1] == (player == 1):
            return entries
        return [
            ActionValue(
                entry.action,
                entry.name,
                *self._for_the_other(entry.value, entry.lower, entry.upper),
                entry.best,
            )
            for entry in entries
        ]

    def value_inside(self, context: Hashable, state: Hashable) -> tuple[float, float, float]:
        """Return player 0's value in a state of the stage, played in `context`, and its bounds."""
        part = self.inside(context)
        numbers = part.value(state), *part.bounds(state)
        return self._for_the_other(*numbers) if self.model.index(context)[1] else numbers

    def _for_the_other(self, value: float, low: float, high: float) -> tuple[float, float, float]:
        """Return one of two players' value and bounds from those of the other."""
        total = self.model.constant_sum
        return total - value, *opposite_bounds(total, low, high)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return one column for each field of the context, and its value and bounds.

        The result can be passed to ``pandas.DataFrame`` or ``polars.DataFrame``. Contexts ascend by
        their codes; those that are not real are left out. Where the game is over, the value is the
        payoff. A field with the name of one of the other columns gets the prefix ``state_``.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.kniffel import Kniffel
        >>> columns = gamedp.solve(Kniffel(dice=2, faces=2), compile="never").to_columns()
        >>> list(columns)
        ['state_upper', 'boxes', 'bonus', 'value', 'lower', 'upper']
        """
        model = self.model
        codes = np.flatnonzero(~np.isnan(self.values))
        fields = model.codec.unpack(codes[:, None])
        found = numbers(self.values[codes], self.lower[codes], self.upper[codes])
        return joined(dict(zip(model.layout.names(), fields.T, strict=True)), found)


def moved_outward(
    values: NDArray[np.float64], errors: NDArray[np.float64], direction: int
) -> NDArray[np.float64]:
    """Return values less errors, rounded down, for direction -1; plus errors, rounded up, for 1."""
    outward = np.nextafter(values + direction * errors, direction * np.inf)
    bounds = np.where(errors == 0, values, outward)
    return np.where(errors == np.inf, direction * np.inf, bounds)


def _solve_inside(solution: StagedSolution, context: Any, *, swapped: bool) -> Solution:
    """Solve the stage in one context, given the values of the next contexts.

    Parameters
    ----------
    solution : StagedSolution
    context
    swapped : bool
        Whether player 1 of the game is player 0 of the stage.
    """
    from gamedp.bellman.equation import Equation  # noqa: PLC0415 - numba takes long to load
    from gamedp.stages import kernels  # noqa: PLC0415 - numba takes long to load

    begin = time.perf_counter()
    model = solution.model
    if model.rules.is_terminal(context):
        message = f"the game is over in {shown(context)}: there is nothing to play inside."
        raise UnknownStateError(message)
    part, errors_of_ends = _restricted(solution, context, int(swapped))
    values, off = np.zeros(part.num_states), np.zeros(part.num_states)
    values[part.terminals], off[part.terminals] = part.payoffs, errors_of_ends
    policy = np.full(part.num_states, -1)
    structure = part.structure
    equation = Equation(
        graph=structure.graph,
        probabilities=part.probabilities,
        codebook=None,
        constants=part.rewards,
        sizes=part.rewards,
        maximise=(part.players == 0) == (solution.objective.optimum == "max"),
        discount=1.0,
        order=structure.order,
        place=structure.place,
    )
    kernels.evaluate_jit(structure.order, equation, values, off, policy)
    return Solution(
        model=part,
        objective=solution.objective,
        solver=solution.solver,
        values=values,
        lower=np.nextafter(values - off, -np.inf),
        upper=np.nextafter(values + off, np.inf),
        policy=policy,
        status=solution.status,
        guarantee=solution.guarantee,
        is_part=True,
        statistics=Statistics(
            states=part.num_states,
            choices=part.num_choices,
            transitions=part.num_transitions,
            sweeps=1,
            seconds={"compile": 0.0, "explore": 0.0, "solve": time.perf_counter() - begin},
            bytes=part.num_bytes,
        ),
    )


def _value_after(solution: StagedSolution, context: Any, player: int) -> tuple[float, float]:
    """Return the value of a context to a player, and its error bound."""
    code, swapped = solution.model.index(context)
    value, error = float(solution.values[code]), float(solution.errors[code])
    if swapped == (player == 1):
        return value, error
    total = solution.model.constant_sum
    other = total - value
    return other, error if total == 0 else error + 2 * UNIT * abs(other)


def _restricted(solution: StagedSolution, context: Any, player: int) -> tuple[Model, Floats]:
    """Return the stage with the ends that a context allows, and their values as payoffs.

    Parameters
    ----------
    player : int
        The player who is the stage's player 0: the other one where places are changed.

    Returns
    -------
    model : Model
    errors : (E,) float64
        The error bounds of its payoffs.
    """
    from gamedp.stages import kernels  # noqa: PLC0415

    stage, rules = solution.model.stage, solution.model.rules
    possible = np.zeros(stage.num_states, np.bool_)
    payoffs, off = np.zeros(stage.num_states), np.zeros(stage.num_states)
    for index, end in solution.model.ends:
        if rules.call("allows", context, end):
            possible[index] = True
            following = rules.call("following", context, end)
            value, error = _value_after(solution, following, player)
            payoffs[index] = value + rules.call("reward", context, end, player)
            off[index] = error + 2 * UNIT * abs(payoffs[index])
    kept, reached = np.zeros(stage.num_choices, np.bool_), np.zeros(stage.num_states, np.bool_)
    kernels.restrict_jit(
        stage.structure.order, stage.choice_offsets, stage.transition_offsets, stage.successors,
        int(stage.initial_states[0]), possible, kept, reached,
    )  # fmt: skip
    numbers = np.cumsum(reached) - 1
    counts = np.add.reduceat(np.append(kept, False), stage.choice_offsets[:-1])
    counts[np.diff(stage.choice_offsets) == 0] = 0
    lengths = np.diff(stage.transition_offsets)
    transitions = np.repeat(kept, lengths)
    ends = stage.terminals[reached[stage.terminals]]
    part = Model.unchecked(
        choice_offsets=np.concatenate([[0], np.cumsum(counts[reached])]),
        transition_offsets=np.concatenate([[0], np.cumsum(lengths[kept])]),
        successors=numbers[stage.successors[transitions]],
        probabilities=stage.probabilities[transitions],
        rewards=stage.rewards[kept],
        players=stage.players[reached],
        terminals=numbers[ends],
        payoffs=payoffs[ends],
        action_labels=stage.action_labels[kept],
        actions=stage.actions,
        initial_states=numbers[stage.initial_states],
        initial_probabilities=stage.initial_probabilities.copy(),
        num_players=stage.num_players,
        constant_sum=rules.constant_sum,
        states=_some_of(stage, reached),
        rules=stage.rules,
    )
    return part, off[ends]


def _some_of(stage: Model, chosen: NDArray[np.bool_]) -> PackedTable:
    """Return the chosen states, in their order."""
    table = stage.states
    if not isinstance(table, PackedTable):
        message = "the states of a stage must be packed."
        raise TypeError(message)
    return attrs.evolve(table, codes=table.codes[chosen])
