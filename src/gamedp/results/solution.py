"""Solutions: values, bounds and a policy, as solvers return them."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import SEVERAL_STARTS, UnknownStateError, UnsupportedProblemError
from gamedp.model.model import given_numbers
from gamedp.model.objectives import FiniteHorizon
from gamedp.results.base import Table, exact_mean
from gamedp.results.choice_values import choice_values
from gamedp.results.columns import choice_columns_of, columns_of
from gamedp.results.optimal_choices import OptimalChoices
from gamedp.results.plies import plies_of
from gamedp.results.status import ActionValue, check_player, opposite_bounds, width_of
from gamedp.results.step_values import step_values, steps_left

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from gamedp.results.base import Numbers
    from gamedp.results.plies import Plies
    from gamedp.results.status import Best
    from gamedp.rules.symmetry import Counterparts


def _is_same(state: Hashable, representative: Any) -> bool:
    """Return whether a state represents itself."""
    return representative is state or bool(representative == state)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Solution(Table):
    """The value of every state, between proven bounds, and a policy.

    The bounds hold for every game whose probabilities sum to one exactly and agree with the stored
    ones to two units in the last place: that is, for the rules as intended, although 1/6 is not a
    64-bit number. This also applies to the start, but Fractions in it count exactly. Rewards and
    payoffs count as given, Fractions exactly and floats as stored. (Bounds next to `exact` values
    hold only for the rational numbers that were solved.)

    S states, N players. Values are player 0's; with three or more players there is one column for
    each. In the methods, a state is one of the game's own, or an index for a model without a game;
    its actions are those that the rules give it, whichever state represents it.

    Attributes
    ----------
    model : Model
    objective : Objective
        The meaning of the values.
    solver : object
        The solver with its options.
    values : (S,) float64, or (S, N) for N > 2
    lower, upper : like `values`
        The true value lies between these if `guarantee` says so.
    policy : (S,) int64
        The number of the best choice in each state; -1 in terminal states.
    status : Status
        Why the solver stopped.
    guarantee : Guarantee
        The guarantee that the bounds carry.
    statistics : Statistics
    step_policies : (H, S) unsigned integers or None
        For a finite horizon of H steps: the best action's position among those of its state; row h
        is for h + 1 steps to go.
    exact : tuple of S Fraction or float, or None
        The exact values, if the solver finds them
        (:class:`gamedp.solvers.ExactPolicyIteration`); a float if infinite. The bounds are then the
        doubles next to them.
    distances : (S,) int64 or None
        If the solver counts them (:class:`gamedp.solvers.Retrograde`): the number of steps to the
        end with best play, where the winner takes the shortest way and the loser the longest; -1
        where play goes on for ever.
    biases : tuple of two (S,) float64, or None
        For :class:`gamedp.AverageReward`: numbers h that prove `lower`, and numbers that prove
        `upper`; see :class:`gamedp.solvers.RelativeValueIteration`. Those of exact averages are
        rounded, and prove slightly wider bounds.
    is_part : bool
        Whether the ends are not those of the game, as for one context of a stage.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> solution.value(), solution.bounds(), solution.best_actions()
    (1.0, (1.0, 1.0), [1])
    """

    def _numbers(self, states: NDArray[np.int64]) -> Numbers:
        """Return values, lower and upper bounds of player 0 (or each player) in some states."""
        return self.values[states], self.lower[states], self.upper[states]

    def exact_value(self, state: Hashable | None = None, player: int = 0) -> Fraction | float:
        """Return what `player` can expect in `state`, or from the start, as a rational number.

        It is the value of the input as given, if that is rational: probabilities of outcomes and of
        initial states, rewards and payoffs as :class:`fractions.Fraction`, :class:`decimal.Decimal`
        or int, from rules, arrays or files. A float counts as stored, with probabilities scaled
        to sum to one.

        Returns
        -------
        Fraction or float
            A float if it is infinite.

        Raises
        ------
        UnsupportedProblemError
            If the solver does not find exact values, or the start has none: it leads by chance to
            totals that are infinite both ways.
        UnknownStateError
            If the model has no such state.
        """
        if self.exact is None:
            message = (
                f"{type(self.solver).__name__} does not find exact values; ExactPolicyIteration "
                "does."
            )
            raise UnsupportedProblemError(message)
        check_player(self.model.num_players, player)
        if state is not None:
            index, swapped = self._index(state)
            number = self.exact[index]
            return Fraction(self._sum) - number if swapped ^ (player == 1) else number
        model = self.model
        numbers = [self.exact[index] for index in model.initial_states.tolist()]
        probabilities = given_numbers(model, "initial_probabilities").tolist()
        mean = exact_mean(numbers, probabilities, self._start_sum)
        if isinstance(mean, float) and math.isnan(mean):
            message = "the total from the start is infinite both ways, so it has no exact value."
            raise UnsupportedProblemError(message)
        return Fraction(self._sum) - mean if player == 1 else mean

    def best_actions(
        self, state: Hashable | None = None, tolerance: float = 0.0, *, certain: bool = False
    ) -> list[Any]:
        """Return the actions in `state` that may be best, or those that certainly are.

        An action is best if a policy that always takes it in `state` can attain the value of
        `state`; an action that only waits for ever is therefore not best. Actions that the bounds
        cannot distinguish may all be best; after :class:`gamedp.solvers.ExactPolicyIteration`, ties
        are exact, and every action that may be best is. The policy's own action is always included.

        For a finite horizon, all steps are still to go. For the long-run average, a single step has
        no effect: of the actions with the best average after them, the best are those with the best
        bias, to within the accuracy of the average (only the policy's own, if the solution has no
        `biases`). If distances are known, equally good actions must also lead to the end in the
        right number of steps. If the total is infinite, the best actions are those that lead the
        policy to its infinite gain, or with which a target may be missed for ever. With more than
        two players, only the policy's own: no other is better for the player to move, if all keep
        to the policy afterwards. If play may go on for ever and rewards have both signs, some
        equally good actions may be missing.

        Parameters
        ----------
        state
            The start if not given; no action is best if the game is over.
        tolerance : float
            Actions that are worse by at most this much count as best, too.
        certain : bool
            Whether to leave out actions that the bounds allow to be worse. The list may be empty.

        Raises
        ------
        InvalidModelError
            If the state is not symmetric to its representative, as `canonical` says it is.

        Examples
        --------
        Staking everything at even odds wins as often as staking one at a time:

        >>> import gamedp
        >>> model = gamedp.Model.from_arrays(
        ...     [0, 0, 1, 3, 4, 4], [0, 2, 4, 6, 8], [0, 2, 1, 3, 0, 4, 2, 4], [0.5] * 8,
        ...     payoffs=[0.0, 1.0],
        ... )
        >>> gamedp.solve(model).best_actions(2)
        [0, 1]
        >>> exact = gamedp.solve(model, solver=gamedp.solvers.ExactPolicyIteration())
        >>> exact.best_actions(2, certain=True)
        [0, 1]
        """
        wanted = ("certain",) if certain else ("certain", "possible")
        state = self._or_start(state)
        index, swapped, pairs = self._choices(state)
        self._check_side(state, index, swapped)
        standings = self._standings(index, tolerance)
        first = int(self.model.choice_offsets[index])
        return [action for action, choice in pairs if standings[choice - first] in wanted]

    def _standings(self, index: int, tolerance: float = 0.0) -> list[Best]:
        """Return for each choice of a state whether it is best."""
        first, end = self.model.choice_offsets[index : index + 2].tolist()
        unknown = self.counts_steps and self.following is None and self.tight is None
        if self.values.ndim == 1 and not unknown:
            return self._optimal_choices.of_state(index, tolerance)
        own: Best = "certain" if end - first == 1 else "possible"
        if self.values.ndim > 1 and end > first:
            numbers = choice_values(self, first, end, int(self.model.players[index]))
            low, high = numbers.lower, numbers.upper
            if self.objective.optimum == "min":
                low, high = -high, -low
            chosen = int(self.policy[index]) - first
            if (low[chosen] >= np.delete(high, chosen)).all():
                own = "certain"
        return [own if choice == self.policy[index] else "no" for choice in range(first, end)]

    @functools.cached_property
    def _optimal_choices(self) -> OptimalChoices:
        """The classifier of best choices; it examines all states together if it has to."""
        return OptimalChoices(self)

    def actions(self, state: Hashable | None = None) -> list[Any]:
        """Return the actions in `state` (the start if not given), in the game's order.

        There are none if the game is over.

        Raises
        ------
        InvalidModelError
            If the state is not symmetric to its representative, as `canonical` says it is.
        UnknownStateError
            If the model has no such state.
        """
        return [action for action, _ in self._choices(self._or_start(state))[2]]

    def _choices(self, state: Hashable) -> tuple[int, bool, list[tuple[Any, int]]]:
        """Return the model's entry for a state.

        Returns
        -------
        index : int
        swapped : bool
            As in :meth:`gamedp.Model.index`.
        pairs : list of (action, int)
            The actions in this state itself, in the game's order, each with a choice of the
            representative that has the same effect.
        """
        model = self.model
        representative, index, swapped = model.represented(state)
        first, end = model.choice_offsets[index : index + 2].tolist()
        pairs = list(zip(model.actions_of(first, end), range(first, end), strict=True))
        if _is_same(state, representative):
            return index, swapped, pairs
        numbers = dict(pairs)
        same = self._counterparts(state, representative, swapped).of_state
        # A model may know fewer choices than the rules: the part of a stage that a context allows.
        return index, swapped, [(own, numbers[its]) for own, its in same.items() if its in numbers]

    def _counterparts(self, state: Hashable, representative: Any, swapped: bool) -> Counterparts:
        from gamedp.rules.symmetry import counterparts  # noqa: PLC0415 - brings the compiler along

        assert self.model.rules is not None  # noqa: S101 - without, states are indices
        return counterparts(self.model.rules, state, representative, swapped)

    @functools.cached_property
    def _plies(self) -> Plies | None:
        """Length of play and the choices that lead to it; computed when first needed."""
        return None if self.distances is not None else plies_of(self, self._optimal_choices)

    @property
    def played(self) -> NDArray[np.int64]:
        """The recommended choice in each state; (S,), -1 where the game is over.

        The policy's own, or an equally good one that wins sooner or loses later; see
        :meth:`best_action`.
        """
        return self.policy if self._plies is None else self._plies.policy

    def plies(self, state: Hashable | None = None) -> float:
        """Return the expected number of plies left if all take the :meth:`best_action`.

        `state` is the start if not given.

        Returns
        -------
        float
            Infinite if play goes on for ever, or if its length is unknown.

        Raises
        ------
        UnknownStateError
            If the model has no such state.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches, MatchesState
        >>> solution = gamedp.solve(Matches(matches=18), compile="never")
        >>> solution.plies(), solution.plies(MatchesState(0, 4)), solution.plies(MatchesState(0, 1))
        (10.0, 2.0, 1.0)
        """
        index, _ = self.model.index(self._or_start(state))
        if self.distances is not None:
            steps = int(self.distances[index])
            return math.inf if steps < 0 else float(steps)
        if self.model.is_terminal[index]:
            return 0.0
        return math.inf if self._plies is None else float(self._plies.left[index])

    def quickest_actions(self, state: Hashable | None = None) -> list[Any]:
        """Return the actions to choose from for play that attains the value and wins soonest.

        Those of the :meth:`best_actions` that are as good as the :meth:`best_action`, in length
        as well. If nobody is ahead, all best ones, provided that they are certainly best and either
        no position recurs or each brings the end nearer, since alternating between equally good
        actions may lead round in circles; otherwise the best action alone.

        Parameters
        ----------
        state
            The start if not given; there are none if the game is over.

        Raises
        ------
        InvalidModelError
            If the state is not symmetric to its representative, as `canonical` says it is.
        UnknownStateError
            If the model has no such state.
        """
        state = self._or_start(state)
        index, _, pairs = self._choices(state)
        if self._plies is not None and self._plies.counts[index]:
            return [action for action, choice in pairs if self._plies.equal[choice]]
        nearer = self.distances is not None and self.distances[index] >= 0
        if self.values.ndim == 1 and (nearer or self.model.structure.is_acyclic):
            best = self.best_actions(state)
            if best == self.best_actions(state, certain=True):
                return best
        own = self.best_action(state)
        return [] if own is None else [own]

    def best_action(self, state: Hashable | None = None) -> Any:
        """Return the action to take, as the rules have it, or None if the game is over.

        `state` is the start if not given.

        The policy's own, or an equally good one of better length: of equally good actions, the
        player who is ahead takes the one that wins soonest, the one behind the one that loses
        latest; with chance, by the expected number of plies. A player is ahead who gets more than a
        draw counts. A single player takes the shortest way, unless it ends with less than a draw.
        Length does not count with a discount, with a horizon, for the long-run average, inside a
        stage, with three or more players, or with two who are rewarded on the way; nor in models of
        more than ten million transitions, or where the bounds leave open which actions are best.

        In a state that is not its own representative, it is the action with the same effect as
        the one that is taken there. For a finite horizon, all steps are still to go.

        Raises
        ------
        InvalidModelError
            If the state is not symmetric to its representative, as `canonical` says it is.
        UnknownStateError
            If the model has no such state.
        """
        return self._action_after(0, self._or_start(state))

    def _action_after(self, steps: int, state: Hashable) -> Any:
        """Return the action to take after a number of steps, or None for the end."""
        representative, index, swapped = self.model.represented(state)
        choice = self._choice_after(steps, index)
        if choice < 0:
            return None
        (action,) = self.model.actions_of(choice, choice + 1)
        if _is_same(state, representative):
            return action
        return self._counterparts(state, representative, swapped).of_representative[action]

    def _choice_after(self, steps: int, index: int) -> int:
        """Return the choice to make after some steps; -1 at the end, and if it is unknown."""
        choice = int(self.played[index])
        if choice < 0 or not self.counts_steps or steps == 0:
            return choice
        left = 0 if self.step_policies is None else len(self.step_policies) - steps
        if left <= 0:
            return -1
        place = self.step_policies[left - 1, index]  # type: ignore[index] # some steps are left
        return int(self.model.choice_offsets[index]) + int(place)

    @property
    def counts_steps(self) -> bool:
        """Whether the best choice depends on the steps that are left; `policy` has all of them."""
        return isinstance(self.objective, FiniteHorizon)

    @functools.cached_property
    def _steps(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Values, lower and upper bounds by the number of steps to go, (H+1, S) each."""
        return step_values(self)

    @property
    def step_values(self) -> NDArray[np.float64]:
        """For a finite horizon of H steps: the values with 0, 1, …, H steps to go; (H+1, S).

        They are computed when first needed, from those with one step fewer, and kept with their
        bounds: ``24 * (H + 1) * S`` bytes. :meth:`steps_left` has the bounds of each row.

        Raises
        ------
        UnsupportedProblemError
            If the objective is not :class:`gamedp.FiniteHorizon`.
        LimitExceededError
            If there is not enough memory.
        """
        return self._steps[0]

    def steps_left(self, steps: int) -> Solution:
        """Return the solution of a finite horizon with `steps` steps to go, of the original H.

        Its bounds are proven as those of the whole horizon are: each step adds the possible
        rounding of its sums.

        Parameters
        ----------
        steps : int
            0 to H.

        Raises
        ------
        InvalidParameterError
            If it is not such a number.
        UnsupportedProblemError
            As for :attr:`step_values`.

        Examples
        --------
        Wait for a reward of 3 in the last step, or take 1 in each:

        >>> import gamedp
        >>> model = gamedp.Model.from_arrays(
        ...     [0, 2, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0] * 3, rewards=[1, 0, 3], terminals=[2]
        ... )
        >>> solution = gamedp.solve(model, gamedp.FiniteHorizon(3))
        >>> solution.step_values[:, 0].tolist()
        [0.0, 1.0, 3.0, 4.0]
        >>> solution.best_action(0), solution.steps_left(2).best_action(0)
        (0, 1)
        """
        return steps_left(self, self._steps, steps)

    def distance(self, state: Hashable | None = None) -> int | None:
        """Return the number of steps left from `state`, or from the start, if both play well.

        Returns
        -------
        int or None
            None if play goes on for ever.

        Raises
        ------
        UnsupportedProblemError
            If the solver does not count steps.
        UnknownStateError
            If the model has no such state.
        """
        if self.distances is None:
            message = (
                f"{type(self.solver).__name__} does not count the steps to the end; Retrograde "
                "does, for games without chance."
            )
            raise UnsupportedProblemError(message)
        if state is None:
            starts = self.distances[self.model.initial_states]
            if (starts != starts[0]).any():
                raise UnknownStateError(SEVERAL_STARTS)
            steps = int(starts[0])
        else:
            steps = int(self.distances[self.model.index(state)[0]])
        return None if steps < 0 else steps

    def action_values(self, state: Hashable | None = None, player: int = 0) -> list[ActionValue]:
        """Return for each action what `player` can expect after it, by the objective.

        `state` is the start if not given.

        Rewards therefore do not count if the objective is to reach a target; where the objective
        has ended, every action has the value of the state. For a finite horizon, all steps are
        still to go. For the long-run average: the average after this one step. With more than two
        players: if all keep to the policy after the action. A total that is infinite both ways, by
        different outcomes of an action, has infinite bounds.

        Raises
        ------
        UnsupportedProblemError
            If the solver keeps no values for the steps of a finite horizon.
        InvalidModelError
            If the state is not symmetric to its representative, as `canonical` says it is.
        UnknownStateError
            If the model has no such state.
        """
        check_player(self.model.num_players, player)
        state = self._or_start(state)
        index, swapped, pairs = self._choices(state)
        self._check_side(state, index, swapped)
        first, end = self.model.choice_offsets[index : index + 2].tolist()
        rows = np.column_stack(choice_values(self, first, end, player)).tolist()
        standings = self._standings(index)
        other_side = swapped ^ (player == 1 and self.values.ndim == 1)
        entries = []
        for action, choice in pairs:
            value, low, high = rows[choice - first]
            if other_side:
                value = self._sum - value
                low, high = opposite_bounds(self._sum, low, high)
            name = self.model.action_name(action, state)
            entries.append(ActionValue(action, name, value, low, high, standings[choice - first]))
        return entries

    def principal_variation(self, state: Hashable | None = None, length: int = 100) -> list[Any]:
        """Return the states of a game from `state` in which both take the :meth:`best_action`.

        Continues while the outcome of the best action is certain: with chance there is no single
        line. For a finite horizon, it has at most as many steps as the horizon.

        Parameters
        ----------
        state
            The first state; the start if not given.
        length : int
            Largest number of states.
        """
        model = self.model
        if state is None:
            try:
                state = self._or_start(None)
            except UnknownStateError:
                return []
        state = model.own_state(state)
        model.index(state)  # refuses what is no state
        line = [state]
        while len(line) < length:
            following = self._sure_successor(len(line) - 1, state)
            if following is None:
                break
            state = following
            line.append(state)
        return line

    def initial_state(self) -> Any:
        """Return the game's own initial state (the index without a game).

        Raises
        ------
        UnknownStateError
            If play starts in one of several.
        """
        return self.model.only_start()

    def _or_start(self, state: Hashable | None) -> Hashable:
        """Return the given state, or the start."""
        if state is not None:
            return self.model.own_state(state)  # type: ignore[no-any-return]
        return self.initial_state()  # type: ignore[no-any-return]

    def _sure_successor(self, steps: int, state: Any) -> Any:
        """Return the certain successor if play goes on after a number of steps, else None."""
        model = self.model
        if model.rules is not None:
            action = self._action_after(steps, state)
            if action is None:
                return None
            outcomes = [pair for pair in model.rules.game.outcomes(state, action) if pair[0] > 0]
            states = {outcome[1] for outcome in outcomes}
            return states.pop() if len(states) == 1 else None
        choice = self._choice_after(steps, state)
        if choice < 0:
            return None
        row = slice(*model.transition_offsets[choice : choice + 2].tolist())
        successors = model.successors[row]
        return int(successors[0]) if len(successors) == 1 else None

    @functools.cached_property
    def width(self) -> float:
        """The largest distance of an upper from a lower bound."""
        return width_of(self.lower, self.upper)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return one column for each field of the state, and value, bounds and best action.

        Distances, if known, are a column as well. With three or more players, values and bounds
        have a column for each, such as ``value_0``. A field of the state that is named like one of
        the other columns gets the prefix ``state_``.

        ``pandas.DataFrame`` and ``polars.DataFrame`` accept the result unchanged. States that are
        not packed into integers have a single column ``state``, and one for each of the model's
        `variables`. If actions have names in the model, there is a column ``action_name``.
        """
        return columns_of(self)

    def q_table(self, player: int = 0) -> dict[str, NDArray[Any]]:
        """Return the values of all actions in all states: one row for each, as columns.

        The columns of the state and of the action are as in :meth:`to_columns`; then come the
        action's `value` for `player` with the bounds `lower` and `upper`, as :meth:`action_values`
        has them, and `taken`, whether the policy takes it. A field of the state that is named like
        one of these gets the prefix ``state_``.

        Returns
        -------
        dict of str to (C,) array

        Raises
        ------
        UnsupportedProblemError
            If the solver keeps no values for the steps of a finite horizon, or the second player's
            values do not follow from the first player's.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches
        >>> table = gamedp.solve(Matches(matches=3), compile="never").q_table()
        >>> list(table)
        ['player', 'left', 'action', 'value', 'lower', 'upper', 'taken']
        >>> first = (table["player"] == 0) & (table["left"] == 3)
        >>> dict(zip(table["action"][first].tolist(), table["value"][first].tolist()))
        {1: -1.0, 2: 1.0, 3: -1.0}
        """
        check_player(self.model.num_players, player)
        other_side = player == 1 and self.values.ndim == 1
        return choice_columns_of(self, player, self._sum if other_side else None)
