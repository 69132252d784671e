"""The values of policies against each other, and statistics of their games."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import enclosed_sums, estimated_sums, rounded_outward
from gamedp.errors import UnknownStateError, UnsupportedProblemError, shown
from gamedp.model.objectives import Discounted, Objective, Reachability, TotalReward
from gamedp.model.problem import Problem
from gamedp.policies import lengths
from gamedp.policies.arguments import as_list, as_model, flatten_policies, is_of_stages
from gamedp.policies.chain import InducedChain, Process, Seats, even_steps, induce
from gamedp.policies.lengths import Survival
from gamedp.policies.policy import Policy, choices_in
from gamedp.policies.solving import lengths_of, solved, solved_problem, visits
from gamedp.policies.statistics import as_paid, p_value
from gamedp.results.base import of_player
from gamedp.results.columns import fields_of, joined, numbers
from gamedp.results.solution import Solution
from gamedp.results.status import (
    ActionValue,
    Best,
    Guarantee,
    Status,
    check_player,
    opposite_bounds,
)
from gamedp.runtime.notebook import html_table
from gamedp.runtime.options import CompileMode, checked_whole
from gamedp.solvers.request import checked_number, checked_objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.policies.policy import PolicyLike
    from gamedp.rules.game import Game, StagedGame
    from gamedp.runtime.arrays import Floats
    from gamedp.stages.model import StagedModel


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Evaluation:
    """The values of policies against each other, and statistics of their games.

    Attributes
    ----------
    chain : InducedChain
    objective : Objective
        The meaning of the values.
    solutions : tuple of Solution
        Solutions of the chain: one with player 0's values, or with three players or more one for
        each. ``gamedp.certify(solution)`` proves them.
    """

    chain: InducedChain
    objective: Objective
    solutions: tuple[Solution, ...]
    _processes: tuple[Process, ...]
    _tolerance: float

    def __repr__(self) -> str:
        """Return the policies in short."""
        names = " against ".join(policy.name for policy in self.chain.policies)
        low, high = self.bounds()
        return f"<Evaluation of {names}: player 0 gets {low:.10g} ... {high:.10g}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {f"player {place}": one.name for place, one in enumerate(self.policies)}
        for player in range(len(self.solutions)):
            low, high = self.bounds(player=player)
            rows[f"bounds for player {player}"] = f"{low!r} … {high!r}"
        rows |= {
            "guarantee": self.guarantee.value,
            "status": self.status.value,
            "states": f"{self.chain.num_nodes:,}",
        }
        return html_table(rows)

    def facts(self, plies: int | None = None) -> dict[str, Any]:
        """Return the results by name, as ``gamedp evaluate --json`` prints them.

        With `plies`, they contain bounds of the probability that a game is not over after so many.
        """
        players = range(self.chain.of.num_players)
        bounds = [self.bounds(player=player) for player in players]
        left = {} if plies is None else {"plies": plies, "unfinished": self.unfinished(plies)}
        return {
            "values": [self.value(player=player) for player in players],
            "lower": [low for low, _ in bounds],
            "upper": [high for _, high in bounds],
            "mean_plies": self.mean_plies,
            "mean_plies_bounds": self.mean_plies_bounds,
            **left,
            "guarantee": self.guarantee.name,
            "status": self.status.name,
            "states": self.chain.model.num_states,
        }

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies, that of player 0 first."""
        return self.chain.policies

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that the bounds carry."""
        proven = all(one.guarantee is Guarantee.TWO_SIDED for one in self.solutions)
        return Guarantee.TWO_SIDED if proven else Guarantee.NONE

    @property
    def status(self) -> Status:
        """The status of the solver."""
        others = (one.status for one in self.solutions if one.status is not Status.SOLVED)
        return next(others, Status.SOLVED)

    def value(self, state: Any = None, player: int = 0) -> float:
        """Return the expectation of a player in a state, or from the start.

        Raises
        ------
        UnknownStateError
            If the model has no such state, or play does not reach it.
        """
        place, seen = self._column(player)
        return self.solutions[place].value(self._node(state), seen)

    def bounds(self, state: Any = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of the expectation of a player in a state, or from the start."""
        place, seen = self._column(player)
        return self.solutions[place].bounds(self._node(state), seen)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return a row for each position that play reaches, with its value and bounds, as columns.

        First come the fields of the state, and whether the players' places are `swapped` in it, if
        they may be; then player 0's `value` with the proven bounds `lower` and `upper`. With three
        or more players, each has three columns, such as ``value_0``. With ``everywhere=True``, all
        states have a row.

        Returns
        -------
        dict of str to (chain.num_nodes,) array

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches
        >>> model = gamedp.compile(Matches(matches=5), compile="never")
        >>> chance = gamedp.Policy.uniform(model)
        >>> columns = gamedp.evaluate(model, [chance, chance]).to_columns()
        >>> list(columns)
        ['player', 'left', 'swapped', 'value', 'lower', 'upper']
        >>> bool((columns["lower"] <= columns["upper"]).all())
        True
        """
        process, count = self.chain.process, self.chain.num_nodes
        values, lower, upper = (
            np.column_stack([getattr(one, side)[:count] for one in self.solutions])
            for side in ("values", "lower", "upper")
        )
        if len(self.solutions) == 1:
            values, lower, upper = values[:, 0], lower[:, 0], upper[:, 0]
        found = numbers(values, lower, upper)
        if self.chain.of.has_swaps or process.is_changed.any():
            found = {"swapped": process.is_changed} | found
        fields = fields_of(self.chain.of)
        return joined({name: field[process.states] for name, field in fields.items()}, found)

    def _node(self, state: Any) -> int | None:
        return None if state is None else self.chain.number(state)

    def _column(self, player: int) -> tuple[int, int]:
        """Return the solution with a player's values, and the player's number in it."""
        check_player(self.chain.of.num_players, player)
        return (player, 0) if len(self.solutions) > 1 else (0, player)

    @functools.cached_property
    def mean_plies_bounds(self) -> tuple[float, float]:
        """Bounds of the expected number of actions of a game; infinite if it may never end."""
        return self._lengths(self._processes[0].sources >= 0).bounds()

    @property
    def mean_plies(self) -> float:
        """The expected number of actions of a game; infinite if it may never end."""
        low, high = self.mean_plies_bounds
        return low if low == high else low + (high - low) / 2

    def survival(self, plies: int, *, actions: Collection[Hashable] | None = None) -> Survival:
        """Return bounds of the probability that a game lasts beyond n actions, for n up to `plies`.

        See :func:`gamedp.policies.greatest_survival` for the maximum over all policies, and
        :func:`gamedp.pictures.plot_survival` for the picture.

        Parameters
        ----------
        plies : int
        actions : collection, optional
            The actions that count; all if not given.

        Raises
        ------
        InvalidParameterError
            If `plies` is not a number of plies, or there is no such action.
        UnsupportedProblemError
            If play may continue for ever with actions that do not count.
        """
        number, model = checked_whole("plies", plies, 0, lengths.MOST_PLIES), self.chain.of
        listed = lengths.listed_actions(model, actions)
        process = self._processes[0]
        counted = lengths.counted_choices(model, process.model.action_labels, listed)
        counted &= process.sources >= 0
        names = tuple(policy.name for policy in self.policies)
        return lengths.survival(process.model, number, counted, names, listed)

    def unfinished(
        self, plies: int, *, actions: Collection[Hashable] | None = None
    ) -> tuple[float, float]:
        """Return bounds of the probability that a game is not over after a number of actions.

        They are the last ones of :meth:`survival`, which has the same parameters and errors.
        """
        found = self.survival(plies, actions=actions)
        return found.bounds(found.plies)

    def distribution(self, player: int = 0) -> dict[float, tuple[float, float]]:
        """Return bounds of the probability of each payoff of a player.

        The probabilities sum to one minus the probability that play never ends.

        Raises
        ------
        UnsupportedProblemError
            If something is earned on the way.
        """
        model, payoffs = self._payoffs(player)
        return {
            payoff: self._chance(model, payoffs == payoff) for payoff in np.unique(payoffs).tolist()
        }

    def results(self, player: int = 0) -> tuple[tuple[float, float], ...]:
        """Return bounds of the probabilities that one of two players wins, draws and loses.

        A player wins by getting more than the other one.

        Raises
        ------
        UnsupportedProblemError
            If something is earned on the way, or there are not two players with a constant sum.
        """
        model, payoffs = self._payoffs(player)
        if not model.has_opponents:
            message = (
                "to win is to get more than the other one, and that is computed for two players "
                "with a constant sum alone. Play the games of others."
            )
            raise UnsupportedProblemError(message)
        leads = payoffs - (model.constant_sum - payoffs)
        return tuple(self._chance(model, chosen) for chosen in (leads > 0, leads == 0, leads < 0))

    def p_value(self, counts: Mapping[float, int], player: int = 0) -> float:
        """Return the probability of a deviation at least as large as that of observed games.

        Only games that have ended are counted, and their number must have been fixed beforehand:
        where play may never end, the probabilities of the payoffs are conditional on its end. With
        two possible payoffs, the exact binomial test is used; otherwise the normal distribution of
        the mean, with the true deviation.

        Parameters
        ----------
        counts : mapping of float to int
            The number of games by payoff of the player.
        player : int

        Raises
        ------
        InvalidParameterError
            If an entry is not a count, or there are no games.
        UnsupportedProblemError
            If something is earned on the way, or the objective is not a total.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches
        >>> model = gamedp.compile(Matches(matches=6), compile="never")
        >>> chance = gamedp.Policy.uniform(model)
        >>> found = gamedp.evaluate(model, [chance, chance])
        >>> round(found.p_value({1.0: 480, -1.0: 520}), 3)
        0.281
        """
        if not isinstance(self.objective, TotalReward):
            message = f"games are counted as they are, and {self.objective!r} does not."
            raise UnsupportedProblemError(message)
        return p_value(counts, self.distribution(player))

    def _payoffs(self, player: int) -> tuple[Model, Floats]:
        """Return the chain, and a player's payoffs at its ends."""
        place, seen = self._column(player)
        model = self._processes[place].model
        if model.rewards.any() or self.chain.of.mean_rewards:
            message = "rewards are earned on the way; the distribution is that of payoffs alone."
            raise UnsupportedProblemError(message)
        if not self.chain.of.has_opponents:
            return model, model.payoffs
        return model, as_paid(model.payoffs, model.constant_sum, of_other=seen == 1)

    def _chance(self, model: Model, ends: NDArray[np.bool_]) -> tuple[float, float]:
        """Return bounds of the probability that play ends in some of the ends of a chain."""
        if not ends.any():
            return 0.0, 0.0
        target = np.zeros(model.num_states, np.bool_)
        target[model.terminals[ends]] = True
        low, high = solved_problem(Problem(model, Reachability(target)), self._tolerance).bounds()
        return max(low, 0.0), min(high, 1.0)

    def visits(self) -> tuple[Floats, Floats]:
        """Return bounds of the expected number of visits of each position of the chain.

        Returns
        -------
        lower, upper : (chain.num_nodes,) float64

        Raises
        ------
        UnsupportedProblemError
            If play may never end: then some positions are visited for ever.
        """
        process = self._processes[0]
        lengths = self._lengths(np.ones(process.model.num_choices, np.bool_))
        if not np.isfinite(lengths.upper).all():
            message = "these policies may play for ever, and then visit positions without end."
            raise UnsupportedProblemError(message)
        lower, upper = visits(process.model, lengths.upper)
        return lower[: process.num_nodes], upper[: process.num_nodes]

    def _lengths(self, counted: NDArray[np.bool_]) -> Solution:
        """Solve for the expected number of some choices that are taken until the end."""
        return lengths_of(self._processes[0].model, counted, self._tolerance)

    def action_values(self, state: Any = None, player: int = 0) -> list[ActionValue]:
        """Return the value of each action in a state if all follow their policies afterwards.

        The loss of the mover by a single mistake is the difference to the value of the policy's
        action.

        Parameters
        ----------
        state : optional
            The start if not given.
        player : int
            The player whose expectation is returned.

        Raises
        ------
        UnknownStateError
            If the model has no such state, or an action leads to a state that the policies do not
            reach; ``everywhere=True`` evaluates all states.
        UnsupportedProblemError
            If the objective is neither a total nor discounted, or there is no single start.
        """
        self._refuse_other_than_totals()
        model, process = self.chain.of, self._processes[0]
        place, seen = self._column(player)
        self.bounds(player=player)  # refuses if the other player's values do not follow
        if state is None:
            if len(model.initial_states) != 1 or model.initial_probabilities[0] < 0:
                message = "play begins in several states; ask for one of them."
                raise UnsupportedProblemError(message)
            state = model.state(int(model.initial_states[0]))
        state = model.own_state(state)
        index, changed = model.index(state)
        found = []
        for action, choice in choices_in(model, state):
            low, value, high = self._after(process, choice, changed, place, state)
            if seen == 1:
                low, high = opposite_bounds(model.constant_sum, low, high)
                value = model.constant_sum - value
            name = model.action_name(action, state)
            found.append(ActionValue(action, name, value, low, high))
        mover = int(model.players[index]) ^ (changed if model.has_opponents else 0)
        optimum, own = self.objective.optimum, model.is_general_sum
        return _with_best(found, mover, player, optimum, own=own)

    def _refuse_other_than_totals(self) -> None:
        """Raise UnsupportedProblemError unless the objective is a total, discounted or not."""
        objective = self.objective
        total = isinstance(objective, TotalReward) and objective.until is None
        if not (total or isinstance(objective, Discounted)):
            message = f"this is for totals, discounted or not, and not for {objective!r}."
            raise UnsupportedProblemError(message)

    def _after(
        self, process: Process, choice: int, changed: bool, place: int, state: Any
    ) -> tuple[float, float, float]:
        """Return bounds of the solution's value after a choice, and a value between."""
        model, solution = self.chain.of, self.solutions[place]
        begin, end = model.transition_offsets[choice : choice + 2].tolist()
        signed = model.probabilities[begin:end]
        nodes = [
            process.node(int(successor), changed ^ bool(chance < 0))
            for successor, chance in zip(model.successors[begin:end], signed, strict=True)
        ]
        if min(nodes) < 0:
            message = (
                f"an action in {shown(state)} leads where play does not get by these policies; "
                "everywhere=True evaluates all states."
            )
            raise UnknownStateError(message)
        reward = of_player(model.rewards, place)[[choice]] * (-1.0 if changed else 1.0)
        discount = self.objective.discount if isinstance(self.objective, Discounted) else 1.0
        row, chances = np.array([0, end - begin]), np.abs(signed)
        lower, upper = enclosed_sums(
            row,
            chances,
            solution.lower[nodes],
            solution.upper[nodes],
            factor=discount,
            constants=rounded_outward(reward, reward, model.rounding[1]),
        )
        low, high = float(lower[0]), float(upper[0])
        after = estimated_sums(row, chances, solution.values[nodes])
        value = float((reward + discount * after)[0])
        return low, value if math.isnan(value) else min(max(value, low), high), high


def _with_best(
    found: list[ActionValue], mover: int, player: int, optimum: str, *, own: bool
) -> list[ActionValue]:
    """Return the values by which actions are best for the mover."""
    if own and mover != player:
        return found
    wants_more = (mover == player) == (optimum == "max")
    ranges = [(one.lower, one.upper) if wants_more else (-one.upper, -one.lower) for one in found]
    marked = []
    for place, one in enumerate(found):
        others = ranges[:place] + ranges[place + 1 :]
        best: Best = "possible"
        if any(low > ranges[place][1] for low, _ in others):
            best = "no"
        elif all(high <= ranges[place][0] for _, high in others):
            best = "certain"
        marked.append(attrs.evolve(one, best=best))
    return marked


def evaluate(
    game_or_model: Game | Model | StagedGame | StagedModel,
    policies: PolicyLike | Sequence[PolicyLike],
    objective: Objective | None = None,
    *,
    tolerance: float = 1e-9,
    everywhere: bool = False,
    compile: CompileMode = "auto",
) -> Evaluation:
    """Compute the values of policies against each other, between proven bounds.

    The policies induce a Markov chain, :class:`gamedp.policies.InducedChain`; it is solved by the
    same methods as any model, with the same guarantees of the bounds.

    A staged game is followed from position to position, as in :class:`gamedp.stages.Flattened`, but
    only to the positions that its policies reach: in plain Python, up to a million positions. Each
    state is then a :class:`gamedp.stages.Position`, and moving on to the next context is an action.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`, a
        Model or a StagedModel.
    policies : policy or sequence of policies
        One for each player; for a single player it need not be in a sequence. Each is a
        :class:`gamedp.Solution`, a :class:`gamedp.Policy`, an object with ``choose(state)``, or a
        function of a state that returns an action, or the probability of each action; for a Model
        also an array, see :meth:`gamedp.Policy.from_array`. For a staged game, as for
        :func:`gamedp.simulate`.
    objective : optional
        The quantity to compute; the total reward, payoff at the end included, if not given.
    tolerance : float
        Allowed distance between the bounds of a value. If rounding prevents it, wider bounds are
        returned, and the status says so.
    everywhere : bool
        Whether to evaluate all states, also those that are not reached; not for staged games.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Evaluation

    Raises
    ------
    InvalidParameterError
        If an argument is not a policy, or takes no existing action.
    NotSolvedError
        If the policies may play for ever, and the value of endless play is not declared.
    UnsupportedProblemError
        If the policies of a staged game reach too many positions.

    Examples
    --------
    Always taking one match, against random play:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=5), compile="never")
    >>> one = gamedp.Policy.from_function(model, lambda state: 1, "one")
    >>> found = gamedp.evaluate(model, [one, gamedp.Policy.uniform(model)])
    >>> found.value(), found.guarantee.name
    (0.0, 'TWO_SIDED')

    A small Kniffel, played at random:

    >>> from gamedp.games.kniffel import Kniffel
    >>> small = Kniffel(dice=1, faces=2, throws=1, threshold=3)
    >>> found = gamedp.evaluate(small, gamedp.play.RandomPlayer(small))
    >>> found.value() < gamedp.solve(small, compile="never").value()
    True
    """
    given = as_list(policies)
    objective = checked_objective(objective)
    tolerance = checked_number("tolerance", tolerance)
    if is_of_stages(game_or_model):
        if everywhere:
            message = "everywhere takes a table of all positions, which a staged game has not."
            raise UnsupportedProblemError(message)
        model, given = flatten_policies(game_or_model, given)
    else:
        model = as_model(game_or_model, given, compile)
    Problem(model, objective)  # refuses what no solver would do either
    chain = InducedChain(model, given, everywhere=everywhere)
    processes = [chain.process]
    for column in range(1, model.num_players if model.is_general_sum else 1):
        seats = Seats(tuple((policy,) for policy in chain.policies))
        processes.append(induce(model, seats, column=column, everywhere=everywhere))
    solutions = tuple(
        solved(even_steps(process, objective), objective, tolerance) for process in processes
    )
    return Evaluation(
        chain=chain,
        objective=objective,
        solutions=solutions,
        processes=tuple(processes),
        tolerance=tolerance,
    )
