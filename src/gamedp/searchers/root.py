"""Parts common to all searchers: the root, checked in plain Python, and error messages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import attrs

from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.results.search_result import SearchedAction, SearchResult, SearchStatistics
from gamedp.results.status import Guarantee, Status
from gamedp.rules.expand import expand, refuse_no_state, refuse_rewards_of_outcomes, start
from gamedp.rules.game import Rules, method
from gamedp.rules.slips import Calling, refuse_hidden
from gamedp.runtime.floats import check_arithmetic, rounds
from gamedp.searchers.bound_rules import refuse_rounded_payments
from gamedp.searchers.stacks import EXACT, LOWER

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from gamedp.searchers.bound_rules import SearchRules

ASKED = ("heuristic", "value_range", "settled", "remainder")
"""The optional methods that every search calls, besides those that solving calls."""


@attrs.frozen
class Outcome:
    """A position that an action at the root may lead to.

    Attributes
    ----------
    probability : float
    state
        The representative of the position.
    swapped : bool
        Whether the players have changed places in the representative.
    is_terminal : bool
    player : int
        The player to move in the representative; 0 where the game is over.
    """

    probability: float
    state: Any
    swapped: bool
    is_terminal: bool
    player: int

    def sign(self, mover: int) -> float:
        """Return 1 if `mover`, who moves at the root, moves here, too; else -1."""
        return 1.0 if (self.player ^ self.swapped) == mover else -1.0


@attrs.frozen
class RootChoice:
    """One action at the root.

    Attributes
    ----------
    action
    reward : float
        The mover's reward for it.
    outcomes : tuple of Outcome
    """

    action: Any
    reward: float
    outcomes: tuple[Outcome, ...]


@attrs.frozen
class Root:
    """A position to search, checked in plain Python.

    Attributes
    ----------
    rules : Rules
    state
        The position as it was given.
    player : int
        The player to move; 0 where the game is over.
    payoff : float or None
        Player 0's payoff, where the game is over.
    choices : tuple of RootChoice
        In the game's order; none where the game is over.
    """

    rules: Rules
    state: Any
    player: int
    payoff: float | None
    choices: tuple[RootChoice, ...]

    @property
    def half(self) -> float:
        """Half of what two players' payoffs add up to: with it taken off, they add up to 0."""
        return self.rules.constant_sum / 2 if self.rules.has_opponents else 0.0

    def value(self, score: float) -> float:
        """Return player 0's value, from a score of the mover's with half the sum taken off."""
        return (score if self.player == 0 else -score) + self.half

    def estimate(self) -> float:
        """Return the mover's score where nothing has been searched, as at a horizon."""
        return estimate_of(self.rules, self.state, self.player) - self.half

    def values(self, low: float, high: float, slack: float = 0.0) -> tuple[float, float]:
        """Return player 0's bounds, from those of the mover."""
        ends = sorted((self.value(low), self.value(high)))
        return ends[0] - slack, ends[1] + slack

    def searched_action(
        self,
        choice: RootChoice,
        score: float,
        kind: int,
        ends: tuple[float, float],
        slack: float,
        plies: int | None = None,
    ) -> SearchedAction:
        """Return the result for an action: its score, what that bounds, and its proven bounds.

        All are the mover's, with half the sum taken off; `slack` is how far rounding may have taken
        the bounds; `plies` are those that the action takes to win or to lose, if that is known.
        """
        bound: Literal["exact", "at least", "at most"] = "exact"
        if kind != EXACT:
            bound = "at least" if (kind == LOWER) == (self.player == 0) else "at most"
        return SearchedAction(
            choice.action,
            self.rules.action_name(self.state, choice.action),
            self.value(score),
            bound,
            *self.values(*ends, slack),
            plies=self.plies_of(choice, score) if plies is None else plies,
        )

    def plies_of(self, choice: RootChoice, score: float) -> int | None:
        """Return 1 for an action that ends the game other than in a draw; else None."""
        ends = all(outcome.is_terminal for outcome in choice.outcomes)
        return 1 if ends and score != 0 and not hasattr(self.rules.game, "reward") else None

    def suited(self, choices: list[RootChoice], score: float) -> RootChoice:
        """Return one of equally good actions: if winning one that ends the game, else another."""
        wanted = 1 if score > 0 else None
        found = (choice for choice in choices if self.plies_of(choice, score) == wanted)
        return next(found, choices[0])


@attrs.define
class RoundingLog:
    """Adds numbers at the root as the loops add them below.

    Attributes
    ----------
    are_exact : bool
        Whether no sum so far was rounded.
    largest : float
        Size of the largest finite number.
    """

    are_exact: bool = True
    largest: float = 0.0

    def add(self, first: float, second: float) -> float:
        """Return the sum of two numbers, of which one may be infinite."""
        total = first + second
        if math.isfinite(total):
            self.largest = max(self.largest, abs(first), abs(second), abs(total))
            self.are_exact = self.are_exact and not rounds(first, second, total)
        return total

    def put_back(self, root: Root, scores: Iterable[float]) -> None:
        """Record the rounding when the mover's scores at the root become values of player 0."""
        for score in scores:
            self.add(score if root.player == 0 else -score, root.half)


def refuse_chance(state: Any, action: Any, searcher: str) -> NoReturn:
    """Raise the error of a searcher that does not support chance."""
    message = (
        f"{searcher} is for games without chance; action {shown(action)} in {shown(state)} has "
        "more than one outcome. Use Expectiminimax (--searcher expectiminimax), or gamedp.solve."
    )
    raise UnsupportedProblemError(message)


def refuse_contradiction(state: Any) -> NoReturn:
    """Raise the error of claims about a position that cannot all be true."""
    message = (
        f"value_range, settled and the tables contradict each other in {shown(state)}; "
        "gamedp.testing.check_game and Tables.verify tell more."
    )
    raise InvalidModelError(message)


def root_of(game: Any, state: Any, searcher: str, *, with_chance: bool) -> Root:
    """Check the position to be searched, and the positions after it.

    Parameters
    ----------
    game
    state
        The position; None for the start of the game.
    searcher : str
        The searcher's name, for error messages.
    with_chance : bool
        Whether it can do games with chance.

    Raises
    ------
    TypeError
        If something else has the name of a method that a search asks.
    UnsupportedArithmeticError
        If numbers are not computed as proofs assume.
    UnsupportedProblemError
        If the game has more players than two, chance although it must not, or no single start.
    InvalidModelError
        If the rules are wrong there.
    """
    check_arithmetic()
    rules = Rules(game)
    if rules.is_general_sum:
        two = rules.num_players == 2
        message = (
            f"{searcher} is for one player, or two opponents; {type(game).__name__} has "
            f"{rules.num_players} players{' with payoffs of their own' if two else ''}. Use MaxN."
        )
        raise UnsupportedProblemError(message)
    refuse_hidden(rules.game, ASKED)
    state = root_state(rules, state)
    expansion = expand(rules, state)
    refuse_rewards_of_outcomes(expansion, state)
    if expansion.payoffs is not None:
        return Root(rules, state, 0, payoff_of(rules, state, 0), ())
    sign = 1.0 if expansion.player == 0 else -1.0
    choices = []
    for choice in expansion.choices:
        if len(choice.outcomes) > 1 and not with_chance:
            refuse_chance(state, choice.action, searcher)
        refuse_rounded_rewards(rules, state, choice.action)
        outcomes = []
        for (following, swapped), probability in choice.outcomes.items():
            is_terminal = rules.is_terminal(following)
            player = 0 if is_terminal else rules.player(following)
            outcomes.append(Outcome(probability, following, swapped, is_terminal, player))
        choices.append(RootChoice(choice.action, sign * choice.rewards[0], tuple(outcomes)))
    return Root(rules, state, expansion.player, None, tuple(choices))


def payoff_of(rules: Rules, state: Any, player: int) -> float:
    """Return the payoff at the end of a game.

    Raises
    ------
    InvalidModelError
        If no double is equal to it.
    """
    payoff = rules.game.payoff(state, player)
    refuse_rounded_payments(payoff, "payoff", (state, player))
    return float(payoff)


def refuse_rounded_rewards(rules: Rules, state: Any, action: Any) -> None:
    """Raise InvalidModelError if no double is equal to a player's reward for an action."""
    if hasattr(rules.game, "reward"):
        for player in range(rules.num_players):
            reward = rules.game.reward(state, action, player)
            refuse_rounded_payments(reward, "reward", (state, action, player))


def root_state(rules: Rules, state: Any | None) -> Any:
    """Return the state to search: the one given, or the game's one initial state.

    Raises
    ------
    InvalidModelError
        If it cannot be a state.
    UnsupportedProblemError
        If none is given, and the game begins at random.
    """
    if state is not None:
        refuse_no_state(state, "the positions to search")
        return rules.own_state(state)
    start(rules)  # its checks: what it returns has representatives in the places of the states
    starts = [state for probability, state in rules.initial() if probability > 0]
    if len(starts) != 1:
        message = f"{shown(rules.game)} begins at random; name the state to search."
        raise UnsupportedProblemError(message)
    return starts[0]


def result_of_end(root: Root, searcher: Any, kind: Any = SearchResult, **more: Any) -> Any:
    """Return the result of a game that is over; of a given class, which may have more fields."""
    value = float(root.payoff if root.payoff is not None else math.nan)
    return kind(
        rules=root.rules,
        state=root.state,
        searcher=searcher,
        value=value,
        lower=value,
        upper=value,
        best_actions=(),
        actions=(),
        principal_variation=(),
        status=Status.SOLVED,
        guarantee=Guarantee.TWO_SIDED,
        statistics=SearchStatistics(nodes=1, depth=0),
        **more,
    )


def checked_range(rules: Rules, state: Any, player: int) -> tuple[float, float]:
    """Return the game's `value_range`, which must be a valid range.

    Raises
    ------
    InvalidModelError
        If its ends are in the wrong order, or both infinite and the same; or no doubles.
    """
    ends = method(rules.game, "value_range")(rules.game, state, player)
    refuse_rounded_payments(ends, "value_range", (state, player))
    low, high = map(float, ends)
    if not low <= high or low == math.inf or high == -math.inf:
        message = (
            f"value_range({shown(state)}, {player}) is ({shown(low)}, {shown(high)}), which holds "
            "no number; the first must not be greater than the second."
        )
        raise InvalidModelError(message)
    return low, high


def estimate_of(rules: Rules, state: Any, player: int) -> float:
    """Return the game's `heuristic`, which must be a finite number; without one, nobody is ahead.

    Raises
    ------
    InvalidModelError
        If it is not.
    """
    if not hasattr(rules.game, "heuristic"):
        return rules.constant_sum / 2 if rules.has_opponents else 0.0
    with Calling("heuristic", state, player):
        estimate = rules.game.heuristic(state, player)
    if not math.isfinite(estimate):
        message = (
            f"heuristic({shown(state)}, {player}) is {shown(estimate)}; it must be one finite "
            "number."
        )
        raise InvalidModelError(message)
    return float(estimate)


def refuse_estimate(rules: Rules, state: Any) -> None:
    """Check the `heuristic` of a position for all players, if the game is not over there.

    Raises
    ------
    InvalidModelError
        If it is not one finite number.
    """
    if not rules.game.is_terminal(state):
        for player in range(rules.num_players):
            estimate_of(rules, state, player)


def refuse_cycles(rules: SearchRules, stack: NDArray[np.int64]) -> None:
    """Raise if a line of play that is to be followed to the end of the game repeats a position.

    Parameters
    ----------
    rules : SearchRules
    stack : (P, K) int64
        The positions on the line, each with all that distinguishes it.

    Raises
    ------
    UnsupportedProblemError
        If it has.
    """
    seen = set()
    for row in stack:
        key = row.tobytes()
        if key in seen:
            message = (
                f"{shown(rules.build(row))} can recur, so the game may go on for ever, "
                "and a search without a depth or a limit looks for its end. Give a depth or a "
                "limit, such as max_seconds, or use gamedp.solve."
            )
            raise UnsupportedProblemError(message)
        seen.add(key)


def step(root: Root, choice: RootChoice) -> Any | None:
    """Return the game's own position after an action; None if chance decides."""
    outcomes = root.rules.game.outcomes(root.state, choice.action)
    following = [state for probability, state, *_ in outcomes if probability > 0]
    return following[0] if len(following) == 1 else None
