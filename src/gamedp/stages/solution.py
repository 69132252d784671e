"""Solutions of staged games: a value for every context, and a solution inside each."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnknownStateError, shown
from gamedp.model.model import Model
from gamedp.results.base import BaseSolution
from gamedp.results.columns import joined, numbers
from gamedp.results.solution import (
    ActionValue,
    Guarantee,
    Solution,
    Statistics,
    check_player,
    opposite_bounds,
)
from gamedp.rules.layout import PackedTable
from gamedp.runtime.floats import TINY, UNIT
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray


__all__ = ["StagedSolution"]


@attrs.frozen(eq=False, kw_only=True, repr=False)
class StagedSolution(BaseSolution[StagedModel]):
    """The value of every context of a staged game, between proven bounds.

    Values are player 0's. What is best inside the stage is found when asked for: :meth:`inside`
    gives the stage's own solution in one context.

    Attributes
    ----------
    model : StagedModel
    objective : Objective
    solver : object
        The solver with its options.
    values : (B,) float64
        By the code of the context; NaN where there is no such context.
    errors : (B,) float64
        The true value is no farther away than this if `guarantee` says so.
    status : Status
    guarantee : Guarantee
    statistics : Statistics
        Of the whole game: the stage's size times the number of contexts.
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
        return np.where(
            self.errors == np.inf, -np.inf, np.nextafter(self.values - self.errors, -np.inf)
        )

    @functools.cached_property
    def upper(self) -> NDArray[np.float64]:
        """Upper bounds, like `values`."""
        return np.where(
            self.errors == np.inf, np.inf, np.nextafter(self.values + self.errors, np.inf)
        )

    @property
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""
        return 2 * float(self.errors.max(initial=0.0))

    def value(self, context: Hashable | None = None, player: int = 0) -> float:
        """Return what `player` can expect in `context`, or from the start.

        Raises
        ------
        UnknownStateError
            If there is no such context.
        """
        return self._expected(context, player)[0]

    def bounds(self, context: Hashable | None = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in `context`, or from the start."""
        value, error = self._expected(context, player)
        if error == 0:
            return value, value
        if error == np.inf:
            return -np.inf, np.inf
        return float(np.nextafter(value - error, -np.inf)), float(
            np.nextafter(value + error, np.inf)
        )

    def _expected(self, context: Hashable | None, player: int) -> tuple[float, float]:
        """Return a value and its error."""
        check_player(self.model.num_players, player)
        starts = self.model.starts if context is None else [(1.0, context)]
        value = error = size = 0.0
        rounds = len(starts) > 1
        for chance, start in starts:
            code, swapped = self.model.index(start)
            number = float(self.values[code])
            if swapped ^ (player == 1):
                number = self.model.constant_sum - number
                rounds = rounds or self.model.constant_sum != 0
            value += chance * number
            size += chance * (abs(number) + abs(self.model.constant_sum))
            error += chance * float(self.errors[code])
        if error == np.inf:
            return value, error
        return value, error + (len(starts) + 8) * (UNIT * size + TINY) * rounds

    def inside(self, context: Hashable) -> Solution:
        """Return the solution of the stage in one context: each state's value in the whole game.

        It is an ordinary solution, of the states from which the stage can be played to an end that
        this context allows; its certificate is one of the stage, with ends that are worth what is
        stored. Its players are the stage's: where `canonical` says that the players
        have changed places, player 0 of the stage is player 1 of the game.

        Raises
        ------
        InvalidModelError
            If the context is not worth what its representative is, as `canonical` says.
        UnknownStateError
            If there is no such context, or the game is over there.
        """
        code, swapped = self.model.index(context)
        if self.model.code(context) == code:
            context = self.model.state(code)
        if context not in self._inside:
            if len(self._inside) >= 64:
                self._inside.clear()
            part = _solve_inside(self, context, swapped)
            self._check_symmetry(context, swapped, part)
            self._inside[context] = part
        return self._inside[context]

    def _check_symmetry(self, context: Any, swapped: bool, part: Solution) -> None:
        """Raise if a context and its representative are not worth the same."""
        if self.guarantee is not Guarantee.TWO_SIDED:
            return
        low, high = self.bounds(context, player=int(swapped))
        least, most = part.bounds()
        if least > high or low > most:
            representative, _ = self.model.rules.canonical(context)
            if representative != context:
                message = (
                    f"{shown(context)} is worth {least!r} to {most!r}, and "
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
            In which the stage is played.
        state
            Of the stage.
        player : int
        """
        check_player(self.model.num_players, player)
        entries = self.inside(context).action_values(state)
        if self.model.index(context)[1] == (player == 1):
            return entries
        total = self.model.constant_sum
        return [
            ActionValue(
                entry.action,
                entry.name,
                total - entry.value,
                *opposite_bounds(total, entry.lower, entry.upper),
                entry.best,
            )
            for entry in entries
        ]

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return one column for each field of the context, and its value and bounds.

        What ``pandas.DataFrame`` or ``polars.DataFrame`` takes as it is. Contexts ascend by their
        codes; those that are not real are left out. Where the game is over, the value is the
        payoff. A field called as one of the other columns has ``state_`` before its name.

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


def _solve_inside(solution: StagedSolution, context: Any, swapped: bool) -> Solution:
    """Solve the stage in one context, whose following contexts have their values."""
    from gamedp.bellman import equation  # noqa: PLC0415 - numba takes long to load
    from gamedp.stages import kernels  # noqa: PLC0415 - numba takes long to load

    begin = time.perf_counter()
    model = solution.model
    if model.rules.call("is_terminal", context):
        message = f"the game is over in {shown(context)}: there is nothing to play inside."
        raise UnknownStateError(message)
    part, errors_of_ends = _restricted(solution, context, int(swapped))
    values, errors = np.zeros(part.num_states), np.zeros(part.num_states)
    values[part.terminals], errors[part.terminals] = part.payoffs, errors_of_ends
    policy = np.full(part.num_states, -1)
    structure = part.structure
    maximise = (part.players == 0) == (solution.objective.optimum == "max")
    rows = equation.Rows(
        structure.order, structure.place, part.choice_offsets, part.transition_offsets,
        part.successors, part.probabilities, part.rewards, part.rewards, maximise, 1.0,
    )  # fmt: skip
    kernels.evaluate_jit(structure.order, rows, values, errors, policy)
    return Solution(
        model=part,
        objective=solution.objective,
        solver=solution.solver,
        values=values,
        lower=np.nextafter(values - errors, -np.inf),
        upper=np.nextafter(values + errors, np.inf),
        policy=policy,
        status=solution.status,
        guarantee=solution.guarantee,
        statistics=Statistics(
            states=part.num_states,
            choices=part.num_choices,
            transitions=part.num_transitions,
            sweeps=1,
            seconds={"compile": 0.0, "explore": 0.0, "solve": time.perf_counter() - begin},
            bytes=part.num_bytes,
        ),
    )


def _restricted(
    solution: StagedSolution, context: Any, player: int
) -> tuple[Model, NDArray[np.float64]]:
    """Return the stage with the ends that a context allows, and what they are worth there.

    Parameters
    ----------
    solution : StagedSolution
    context
    player : int
        The player who is the stage's player 0: the other one where places are changed.

    Returns
    -------
    model : Model
    errors : (E,) float64
        How far off its payoffs may be.
    """
    from gamedp.stages import kernels  # noqa: PLC0415

    stage, rules = solution.model.stage, solution.model.rules
    possible = np.zeros(stage.num_states, np.bool_)
    worth, errors = np.zeros(stage.num_states), np.zeros(stage.num_states)
    for index, end in solution.model.ends:
        if rules.call("allows", context, end):
            possible[index] = True
            following = rules.call("following", context, end)
            value, error = solution._expected(following, player)  # noqa: SLF001 - of this module
            worth[index] = value + rules.call("reward", context, end, player)
            errors[index] = error + 2 * UNIT * abs(worth[index])
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
        payoffs=worth[ends],
        action_labels=stage.action_labels[kept],
        initial_states=numbers[stage.initial_states],
        initial_probabilities=stage.initial_probabilities.copy(),
        num_players=stage.num_players,
        constant_sum=rules.constant_sum,
        states=_some_of(stage, reached),
        rules=stage.rules,
    )
    return part, errors[ends]


def _some_of(stage: Model, chosen: NDArray[np.bool_]) -> PackedTable:
    """Return the states that are chosen, in their order."""
    table = stage.states
    if not isinstance(table, PackedTable):
        message = "the states of a stage must be packed."
        raise TypeError(message)
    return attrs.evolve(table, codes=table.codes[chosen])
