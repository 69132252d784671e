"""Results of alpha-beta search for the actions at its root, and for the root itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.searchers.root import RoundingLog, checked_range, payoff_of
from gamedp.searchers.transposition import LOWER, UPPER

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchedAction
    from gamedp.searchers.root import Choice, Root

__all__ = ["Found", "RootActions"]

INFINITY = math.inf


@attrs.define
class Found:
    """The results for one action at the root, from the mover's side, less half the constant sum.

    Attributes
    ----------
    score, kind
        The result of the last search, and the kind of bound that it is.
    low, high
        Bounds of the true score.
    past : list of (float, float)
        The same before the search looked ahead, and after each depth that was finished.
    """

    choice: Choice
    sign: float
    score: float = 0.0
    kind: int = 0
    low: float = -INFINITY
    high: float = INFINITY
    past: list[tuple[float, float]] = attrs.Factory(list)

    def plies(self, best: float) -> int | None:
        """Return the first depth at which it was proven that a win or a loss is reached, if any."""
        for depth, (low, high) in enumerate(self.past):
            if (best > 0 and low >= best) or (best < 0 and high <= best):
                return max(depth, 1)
        return None

    @property
    def promise(self) -> float:
        """The expected score, as in the loop: the middle of the proven bounds, or an estimate."""
        middle = (self.low + self.high) / 2
        return middle if math.isfinite(middle) else self.score


class RootActions:
    """The actions at the root of a search.

    Parameters
    ----------
    root : Root
    all_best : bool
        Whether it is to be found out which of them are equally good.

    Attributes
    ----------
    found : list of Found
        In the game's order.
    roundings : RoundingLog
    low, high : float
        The game's own range of the root, from the mover's side, half the constant sum off; after
        `start`.
    """

    def __init__(self, root: Root, *, all_best: bool) -> None:
        self.root = root
        self.all_best = all_best
        self.half = root.half
        self.roundings = RoundingLog()
        self.low, self.high = -INFINITY, INFINITY
        self.found = [
            Found(choice, choice.outcomes[0].sign(root.player)) for choice in root.choices
        ]

    def start(self) -> None:
        """Record the rules' answers for the root and each action without looking ahead."""
        rules, root = self.root.rules, self.root
        low, high = checked_range(rules, root.state, root.player)
        self.low, self.high = (self.roundings.add(end, -self.half) for end in (low, high))
        for entry in self.found:
            child = entry.choice.outcomes[0]
            if child.is_terminal:
                ends = (payoff_of(rules, child.state, 0),) * 2
            else:
                ends = checked_range(rules, child.state, child.player)
            low, high = (self.roundings.add(end, -self.half) for end in ends)
            if entry.sign < 0:
                low, high = -high, -low
            self.narrow(entry, low, high, entry.choice.reward)
            entry.score = entry.low if math.isfinite(entry.low) else -INFINITY
        self.note()

    def note(self) -> None:
        """Record that a depth is finished."""
        for entry in self.found:
            entry.past.append((entry.low, entry.high))

    def is_decisive(self, best: float) -> bool:
        """Whether the best score is proven to be a win that is reached, or a loss."""
        low, high = self.bounds()
        return (best > 0 and low >= best) or (best < 0 and high <= best)

    def is_timed(self, best: float) -> bool:
        """Whether the finished depths show the length of the shortest win, or of every loss."""
        known = (entry.plies(best) is not None for entry in self.found)
        return any(known) if best > 0 else all(known)

    def narrow(self, entry: Found, low: float, high: float, reward: float) -> None:
        """Record bounds of the position after an action, from the mover's side, less the reward."""
        entry.low = max(entry.low, self.roundings.add(reward, low))
        entry.high = min(entry.high, self.roundings.add(reward, high))

    def bounds(self) -> tuple[float, float]:
        """Return proven bounds of the root, from the mover's side."""
        low = max(entry.low for entry in self.found)
        high = max(entry.high for entry in self.found)
        return max(low, self.low), min(high, self.high)

    def is_decided(self) -> bool:
        """Whether the value and the actions that attain it are proven."""
        low, high = self.bounds()
        if low < high:
            return False
        if not any(entry.low < low <= entry.high for entry in self.found):
            return True
        # The range that the game gives for the root says of no action that it reaches the value.
        return not self.all_best and any(entry.low >= low for entry in self.found)

    def slack(self, tally: Any) -> float:
        """Return the largest error of a bound by rounding."""
        ends = [end for entry in self.found for end in (entry.low, entry.high)]
        self.roundings.put_back(self.root, [*self.bounds(), *ends])
        if self.roundings.are_exact and not tally.inexact:
            return 0.0
        plies = int(tally.deepest) + 4
        largest = max(float(tally.largest), self.roundings.largest)
        return plies * 2.0**-52 * (largest + abs(self.half))

    def best(self, best: float, room: float, *, is_decided: bool) -> list[Found]:
        """Return the actions that are certainly as good as the best, or seem to be.

        What seems so is what the depth shows: not once it is decided which actions reach the value,
        unless rounding alone has kept all of them from it. Where the range of the root cuts off
        what was found, it makes no two actions equal. No score is told from one that is greater by
        no more than `room`.
        """
        sure = [entry for entry in self.found if entry.low >= best - room]
        if is_decided and sure:
            if room == 0.0 or not self.all_best:
                return sure
            return [entry for entry in self.found if entry.high >= best - room]
        open_ones = [entry for entry in self.found if entry.high >= best - room] or self.found
        top = best if sure else max(entry.score for entry in open_ones)
        return [
            entry
            for entry in self.found
            if entry in sure
            or (entry in open_ones and entry.kind & LOWER and abs(entry.score - top) <= room)
        ]

    def searched(self, slack: float, plies: dict[int, int]) -> tuple[SearchedAction, ...]:
        """Return the results for each action; proven scores before those of the last depth.

        `plies` has how long it takes, of those actions of which that is known.
        """
        low, high = self.bounds()
        actions = []
        for entry in self.found:
            score, kind = entry.score, entry.kind
            if entry.low == entry.high:
                score, kind = entry.low, LOWER | UPPER
            elif low == high:
                score, kind = entry.high, UPPER  # whether it is as good as the best may be open
            elif not kind:
                score, kind = entry.low, LOWER  # nothing was searched
            ends = entry.low, entry.high
            length = plies.get(entry.choice.action)
            actions.append(
                self.root.searched_action(entry.choice, score, kind, ends, slack, length)
            )
        return tuple(actions)
