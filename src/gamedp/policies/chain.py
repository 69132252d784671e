"""The model induced by fixing some players' policies."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import enclosed_difference, enclosed_sums, estimated_sums
from gamedp.errors import InvalidParameterError, UnknownStateError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.model.objectives import AverageReward, Reachability, TotalReward, has_target, resolved
from gamedp.policies import kernels
from gamedp.policies.policy import Policy, PolicyLike, as_policies
from gamedp.results.base import of_player
from gamedp.runtime.floats import UNIT, UPWARD
from gamedp.runtime.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gamedp.model.objectives import Objective
    from gamedp.runtime.arrays import Flags

    Integers = NDArray[np.int64]

MOST_CODES = 2**31
"""Largest number of codes of nodes that can be numbered."""


@attrs.frozen(eq=False)
class Seats:
    """The policies of the players.

    Attributes
    ----------
    policies : tuple of tuple of Policy
        For each player, none if the player is free, one, or several: a field, of which one plays.
    weights : tuple of float
        The probability of each member of the field; 1 without a field.
    """

    policies: tuple[tuple[Policy, ...], ...]
    weights: tuple[float, ...] = (1.0,)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probability of a subset of the field, indexed by its bits."""
        exact = [Fraction(weight) for weight in self.weights]
        sums = [Fraction(0)]
        for weight in exact:
            sums += [total + weight for total in sums]
        return np.array([float(total) for total in sums])


@attrs.frozen(eq=False)
class Process:
    """The induced process, and the correspondence of its states to those of the model.

    Attributes
    ----------
    of : Model
        The model, of S states.
    model : Model
        The process: `nodes` first, then the throws of policies that randomise, one for each action
        that may be drawn. Its values are player 0's; with three players or more, those of the
        player `column`.
    column : int
    codes : (nodes,) int64
        See :mod:`gamedp.policies.kernels`.
    numbers : (codes,) int32
        The number of the node of each code; -1 if it is not visited.
    sources : (C',) int64
        The choice of the model behind each choice; -1 where a policy randomises.
    probabilities_off : float
        The relative distance of probabilities from the intended ones, beyond the two units in the
        last place of any model: they may be products.
    """

    of: Model
    model: Model
    column: int
    codes: Integers
    numbers: NDArray[np.int32]
    sources: Integers
    probabilities_off: float = 0.0

    @property
    def num_nodes(self) -> int:
        """The number of states of the process that are not throws."""
        return len(self.codes)

    @property
    def states(self) -> Integers:
        """The state of the model of each node; (nodes,)."""
        return self.codes % self.of.num_states

    @property
    def is_changed(self) -> Flags:
        """Whether the players' places are swapped in each node; (nodes,)."""
        return (self.codes // self.of.num_states & 1).astype(np.bool_)

    def node(self, index: int, changed: bool, members: int = 1) -> int:
        """Return the number of a node, -1 if it is not visited."""
        code = ((members - 1) * 2 + changed) * self.of.num_states + index
        return int(self.numbers[code]) if code < len(self.numbers) else -1

    def node_of(self, state: Any, members: int = 1) -> int:
        """Return the number of the node of a game's own state.

        Raises
        ------
        UnknownStateError
            If the model does not have it, or play does not reach it.
        """
        index, changed = self.of.index(state)
        node = self.node(index, changed, members)
        if node < 0:
            message = (
                f"{shown(state)} is not reached when these policies play; everywhere=True looks at "
                "all states."
            )
            raise UnknownStateError(message)
        return node

    def initial_nodes(self, changed: int) -> Integers:
        """Return the initial nodes without a field, with the players' places swapped or not."""
        return self.numbers[_initial_codes(self.of, 1, changed)].astype(np.int64)

    def refuse_steps(self, objective: Objective) -> None:
        """Raise if the objective counts steps, and would count throws among them."""
        if self.num_nodes == self.model.num_states:
            return
        message = (
            f"{objective!r} counts steps, and a policy here leaves actions to chance, which takes "
            "a step of its own. Use another objective."
        )
        raise UnsupportedProblemError(message)

    def changed(self, sources: Integers, **arrays: Any) -> Process:
        """Return the process with other choices: their sources, and the arrays of the model."""
        model = Model.unchecked(**self.model.__getstate__() | arrays)
        return attrs.evolve(self, model=model, sources=sources)

    def objective(self, objective: Objective, draw: float) -> Objective:
        """Return an objective of the model, translated to the process.

        Parameters
        ----------
        objective : Objective
        draw : float
            The value of endless play for player 0 if the objective does not define it.
        """
        changes: dict[str, Any] = {}
        if has_target(objective):
            asked = resolved(objective, self.of)
            for name, of_throws in (("target", False), ("allowed", True), ("until", False)):
                mask = getattr(asked, name, None)
                if mask is not None:
                    filled = np.full(self.model.num_states, of_throws)
                    filled[: self.num_nodes] = mask[self.states]
                    changes[name] = filled
        elif isinstance(objective, TotalReward):
            changes["draw"] = draw
        elif getattr(objective, "final", None) is not None:
            final = resolved(objective, self.of).final[self.states]  # type: ignore[union-attr]
            changes["final"] = np.where(self.is_changed, -final, final)
        return attrs.evolve(objective, **changes)


def induce(
    model: Model,
    seats: Seats,
    *,
    column: int = 0,
    everywhere: bool = False,
    both: bool = False,
) -> Process:
    """Return the process induced by the policies of some players.

    Parameters
    ----------
    model : Model
    seats : Seats
    column : int
        With three players or more, the player whose values the process has.
    everywhere : bool
        Whether to begin in all states, not only in the initial states of the model.
    both : bool
        Whether to begin with the players' places swapped, too.

    Raises
    ------
    InvalidParameterError
        If a policy takes no existing action in a state that it reaches.
    UnsupportedProblemError
        If a field has too many members for the number of states.
    """
    _refuse_columns(model, seats)
    has_sides = model.has_swaps or both or bool((model.initial_probabilities < 0).any())
    members = 2 ** len(seats.weights) - 1
    room = members * 2 * model.num_states if has_sides or members > 1 else model.num_states
    if room > MOST_CODES:
        message = f"{len(seats.weights)} opponents in {model.num_states:,} states are too many."
        raise UnsupportedProblemError(message)
    numbers, codes = np.full(room, -1, np.int32), np.empty(room, np.int64)
    begin = _starts(model, members, everywhere, has_sides, both)
    codes[: len(begin)] = begin
    numbers[begin] = np.arange(len(begin), dtype=np.int32)
    counts = np.array([len(policies) for policies in seats.policies], np.int64)
    firsts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    flat = [policy for policies in seats.policies for policy in policies]
    weights = np.zeros((max(len(flat), 1), model.num_choices))
    for row, policy in enumerate(flat):
        weights[row] = policy.probabilities
    given = kernels.Given(
        model.choice_offsets,
        model.transition_offsets,
        model.successors,
        model.probabilities,
        model.players,
        model.has_opponents,
        firsts,
        counts,
        weights,
    )
    sizes = np.array([len(begin), 0, 0, 0])
    stuck = kernels.explore_jit(given, numbers, codes, sizes)
    if stuck != kernels.ALL_MET:
        _refuse(model, seats, int(codes[stuck]))
    num_nodes, throws, num_rows, num_transitions = sizes.tolist()
    codes = codes[:num_nodes].copy()
    choice_offsets = np.empty(num_nodes + throws + 1, np.int64)
    transition_offsets = np.empty(num_rows + 1, np.int64)
    successors, probabilities = np.empty(num_transitions, np.int32), np.empty(num_transitions)
    sources, sides = np.empty(num_rows, np.int64), np.empty(num_rows, np.int8)
    kernels.lay_out_jit(
        given, seats.shares, numbers, codes, num_nodes,
        choice_offsets, transition_offsets, successors, probabilities, sources, sides,
        np.empty((throws, 2), np.int64),
    )  # fmt: skip
    terminals, payoffs, rounding = _ends(model, codes, column)
    starts = np.abs(model.initial_probabilities)
    mover = int(model.has_opponents and not seats.policies[1])  # the one of them who is free
    process = Model.unchecked(
        choice_offsets=choice_offsets,
        transition_offsets=transition_offsets,
        successors=successors,
        probabilities=probabilities,
        rewards=_rewards(model, sources, sides, column),
        players=np.full(num_nodes + throws, mover, np.int8),
        terminals=terminals,
        payoffs=payoffs,
        action_labels=np.where(sources < 0, 0, model.action_labels[sources]),
        actions=model.actions,
        initial_states=numbers[_initial_codes(model, members)].astype(np.int64),
        initial_probabilities=starts,
        num_players=model.num_players if not model.is_general_sum else 1,
        constant_sum=model.constant_sum if model.has_opponents else 0.0,
        rounding=rounding,
    )
    return Process(model, process, column, codes, numbers, sources)


def _refuse_columns(model: Model, seats: Seats) -> None:
    if len(seats.policies) != model.num_players:
        message = (
            f"{len(seats.policies)} policies are given for a model of {model.num_players} "
            "players; each player needs one."
        )
        raise InvalidParameterError(message)
    if len(seats.weights) > 1 and any(
        policy.is_mixed for policies in seats.policies if len(policies) > 1 for policy in policies
    ):
        message = (
            "a policy of the field leaves actions to chance: what one then knows of who plays "
            "changes with every action, without end. Give policies without chance."
        )
        raise UnsupportedProblemError(message)


def _initial_codes(model: Model, members: int, changed: int = 0) -> Integers:
    """Return the codes of the model's initial states."""
    sides = (model.initial_probabilities < 0).astype(np.int64) ^ changed
    codes: Integers = ((members - 1) * 2 + sides) * model.num_states + model.initial_states
    return codes


def _starts(model: Model, members: int, everywhere: bool, has_sides: bool, both: bool) -> Integers:
    """Return the distinct codes of the first nodes."""
    parts = [_initial_codes(model, members)]
    if both:
        parts.append(_initial_codes(model, members, 1))
    if everywhere:
        every = np.arange(model.num_states * (2 if has_sides else 1))
        parts.append((members - 1) * 2 * model.num_states + every)
    return np.array(list(dict.fromkeys(np.concatenate(parts).tolist())), np.int64)


def _refuse(model: Model, seats: Seats, code: int) -> None:
    """Raise for a node in which no policy takes an existing action."""
    index, changed = code % model.num_states, code // model.num_states & 1
    mover = int(model.players[index]) ^ (changed if model.has_opponents else 0)
    state = model.state(index)
    first, stop = model.choice_offsets[index : index + 2].tolist()
    members = code // model.num_states // 2 + 1
    policy = next(
        policy
        for place, policy in enumerate(seats.policies[mover])
        if (members >> place & 1 or len(seats.policies[mover]) == 1)
        and not policy.probabilities[first:stop].any()
    )
    rule = getattr(policy.rule, "choose", policy.rule)
    answer = shown(rule(state)) if callable(rule) else "nothing"
    message = (
        f"{policy.name} chooses {answer} in {shown(state)}, where the actions are "
        f"{shown(model.actions_of(first, stop))}."
    )
    raise InvalidParameterError(message)


def _rewards(
    model: Model, sources: Integers, sides: NDArray[np.int8], column: int
) -> NDArray[np.float64]:
    """Return the reward of each choice of the process."""
    rewards = np.where(sources < 0, 0.0, of_player(model.rewards, column)[sources])
    if model.has_opponents:
        rewards[sides != 0] *= -1.0
        rewards += 0.0  # no negative zero
    return rewards


def _ends(
    model: Model, codes: Integers, column: int
) -> tuple[Integers, NDArray[np.float64], tuple[float, float, float]]:
    """Return the terminal nodes, their payoffs, and the rounding of the process."""
    states = codes % model.num_states
    nodes = np.flatnonzero(model.is_terminal[states])
    places = np.searchsorted(model.terminals, states[nodes])
    if model.is_general_sum:
        return nodes, model.payoffs[places, column].copy(), model.rounding
    payoffs = model.payoffs[places].astype(np.float64)
    if model.num_players < 2:
        return nodes, payoffs, model.rounding
    other = (codes[nodes] // model.num_states & 1) != 0
    given = payoffs[other]
    payoffs[other] = paid = model.constant_sum - given
    lower, upper = enclosed_difference(model.constant_sum, given, given)
    missed = np.maximum(upper - paid, paid - lower)  # of neighbours, exactly
    payoff_off, reward_off, part = model.rounding
    if missed.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(missed > 0, missed / np.abs(paid), 0.0)
        payoff_off = (payoff_off + float(missed.max())) * UPWARD
        part = (part + float(parts.max())) * UPWARD
    return nodes, payoffs, (payoff_off, reward_off, part)


@attrs.frozen(eq=False, init=False, repr=False)
class InducedChain:
    """The Markov chain induced on a model by a policy for every player.

    It contains only the states that are reached from the start. Where `canonical` merges the two
    players' positions, a state is distinguished by whether their places are swapped, so that two
    different policies keep their seats.

    Parameters
    ----------
    model : Model
    policies : sequence
        One for each player: Policies, Solutions, objects with ``choose(state)``, or functions.
    everywhere : bool
        Whether to include all states, also those that are not reached.

    Attributes
    ----------
    of : Model
        The model.
    policies : tuple of Policy
    model : Model
        The chain: one choice in each state. Its first `num_nodes` states are positions; they are
        followed by the throws of policies that randomise, one for each action that may be drawn.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If an argument is not a policy, or takes no existing action.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=5), compile="never")
    >>> one = gamedp.Policy.from_function(model, lambda state: 1, "one")
    >>> chain = InducedChain(model, [one, gamedp.Policy.uniform(model)])
    >>> chain
    <InducedChain of one, uniform: 14 states, of which 5 throws>
    >>> chain.state(1), chain.is_changed(1)
    (MatchesState(player=0, left=4), True)
    """

    of: Model
    policies: tuple[Policy, ...]
    process: Process

    def __init__(
        self, model: Model, policies: Sequence[PolicyLike], *, everywhere: bool = False
    ) -> None:
        made = tuple(as_policies(policies, model))
        seats = Seats(tuple((policy,) for policy in made))
        self.__attrs_init__(model, made, induce(model, seats, everywhere=everywhere))

    def __repr__(self) -> str:
        """Return the policies and the size in short."""
        names = ", ".join(policy.name for policy in self.policies)
        states = self.model.num_states
        throws = states - self.num_nodes
        words = f", of which {throws:,} throws" if throws else ""
        return f"<InducedChain of {names}: {states:,} states{words}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {f"player {place}": one.name for place, one in enumerate(self.policies)}
        rows["positions"] = f"{self.num_nodes:,}"
        rows["throws between them"] = f"{self.model.num_states - self.num_nodes:,}"
        return html_table(rows)

    @property
    def model(self) -> Model:
        """The chain as a model, with one choice in each state."""
        return self.process.model

    @property
    def num_nodes(self) -> int:
        """The number of states of the chain that are positions."""
        return self.process.num_nodes

    def state(self, number: int) -> Any:
        """Return the game's state, as its representative, of a state of the chain.

        Raises
        ------
        UnknownStateError
            If it is a throw, or there is no state of that number.
        """
        return self.of.state(int(self.process.codes[self._checked(number)]) % self.of.num_states)

    def is_changed(self, number: int) -> bool:
        """Return whether the players' places are swapped in a state of the chain."""
        return bool(self.process.is_changed[self._checked(number)])

    def number(self, state: Any) -> int:
        """Return the number of a game's own state in the chain.

        Raises
        ------
        UnknownStateError
            If the model does not have it, or play does not reach it.
        """
        return self.process.node_of(state)

    def _checked(self, number: int) -> int:
        if not 0 <= number < self.num_nodes:
            message = f"there is no position {number}; the chain has {self.num_nodes:,}."
            raise UnknownStateError(message)
        return number


PROBABILITIES_OFF = 6 * UNIT
"""Relative error of a product of two probabilities, beyond that of any stored one: as much again,
and its own rounding."""


def even_steps(process: Process, objective: Objective) -> Process:
    """Return a process in which all actions take the same number of steps, if steps count."""
    is_even = process.num_nodes == process.model.num_states
    if is_even or isinstance(objective, (TotalReward, Reachability)):
        return process
    if isinstance(objective, AverageReward):
        return _two_steps_each(process)
    return _one_step_each(process)


def _two_steps_each(process: Process) -> Process:
    """Return a process with a throw before every action, and twice the rewards.

    The average per step is then the average per action, and no probabilities are multiplied: the
    effect of a rounding error on a long-run average has no bound.
    """
    model, num_nodes = process.model, process.num_nodes
    last = int(model.choice_offsets[num_nodes])
    lengths = np.diff(model.transition_offsets)
    old = np.flatnonzero(process.sources[:last] >= 0)  # without a throw so far
    rows = np.concatenate([np.arange(model.num_choices), old])
    sizes = lengths[rows]
    is_certain = np.zeros(len(rows), np.bool_)
    is_certain[old] = True
    starts = np.repeat(model.transition_offsets[rows], sizes)
    places = np.arange(len(starts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = (places == 0) | ~np.repeat(is_certain, sizes)
    successors = model.successors[starts + places]
    probabilities = model.probabilities[starts + places]
    is_new = np.repeat(is_certain, sizes) & kept
    successors[is_new] = model.num_states + np.arange(len(old))
    probabilities[is_new] = 1.0
    ends = np.cumsum(np.where(is_certain, 1, sizes))
    sources = process.sources[rows]
    sources[old] = -1
    total = model.num_choices
    payoffs_off, rewards_off, relative = model.rounding
    return process.changed(
        sources,
        choice_offsets=np.concatenate([model.choice_offsets, total + 1 + np.arange(len(old))]),
        transition_offsets=np.concatenate([[0], ends]),
        successors=successors[kept],
        probabilities=probabilities[kept],
        rewards=np.where(sources < 0, 0.0, 2 * model.rewards[rows]),
        players=np.concatenate([model.players, np.zeros(len(old), model.players.dtype)]),
        action_labels=np.where(sources < 0, 0, model.action_labels[rows]),
        rounding=(payoffs_off, 2 * rewards_off, relative),
    )


def _one_step_each(process: Process) -> Process:
    """Return a process without throws.

    The random choice of a policy and its outcome are then drawn in one step.
    """
    model, num_nodes = process.model, process.num_nodes
    last = int(model.choice_offsets[num_nodes])
    lengths = np.diff(model.transition_offsets)
    drawn = process.sources[:last] < 0
    # Parts of the new rows: an old row, or the row of a throw, with its probability.
    counts = np.where(drawn, lengths[:last], 1)
    rows = np.repeat(np.arange(last), counts)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    transitions = model.transition_offsets[rows] + places
    is_part = drawn[rows]
    shares = np.where(is_part, model.probabilities[transitions], 1.0)
    old = np.where(is_part, model.choice_offsets[model.successors[transitions]], rows)
    sizes = lengths[old]
    starts = np.repeat(model.transition_offsets[old], sizes)
    taken = starts + np.arange(len(starts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    parts = np.concatenate([[0], np.cumsum(counts)])
    ends = np.concatenate([[0], np.cumsum(sizes)])[parts]
    earned = model.rewards[old]
    rewards = estimated_sums(parts, shares, earned)
    low, high = enclosed_sums(parts, shares, earned, earned)
    reward_off = np.maximum(rewards - low, high - rewards).max(initial=0.0)
    payoff_off, known_off, part = model.rounding
    merged = process.changed(
        process.sources[:last],
        choice_offsets=model.choice_offsets[: num_nodes + 1].copy(),
        transition_offsets=ends,
        successors=model.successors[taken],
        probabilities=model.probabilities[taken] * np.repeat(shares, sizes),
        rewards=rewards,
        players=model.players[:num_nodes].copy(),
        action_labels=model.action_labels[:last].copy(),
        rounding=(payoff_off, float(known_off + reward_off) * UPWARD, part),
    )
    return attrs.evolve(merged, probabilities_off=PROBABILITIES_OFF if drawn.any() else 0.0)
