"""Alpha-beta search: principal variation search with a transposition table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.results.search_result import SearchResult
from gamedp.results.status import Guarantee, Status
from gamedp.runtime.machine import allocate_lazily
from gamedp.runtime.options import limits_last
from gamedp.searchers import alpha_beta_loop as loop
from gamedp.searchers.base import INFINITY, RootAction, Search, Searcher, plies_ahead
from gamedp.searchers.bound_rules import table_entries
from gamedp.searchers.driver import Loop, OutOfTime, values_of_tables
from gamedp.searchers.node_loop import ACTIONS_KEPT, NO_ACTION
from gamedp.searchers.position_loop import enter, estimate, follow, list_actions
from gamedp.searchers.root import checked_range, payoff_of, root_of, step
from gamedp.searchers.stacks import LOWER, UPPER, flipped

if TYPE_CHECKING:
    from gamedp.results.search_result import SearchedAction
    from gamedp.searchers.root import Root, RootChoice, RoundingLog

EAGER_PLIES = 2
"""Number of plies left above which all positions after the actions are looked up in the table
before the first of them is searched: enhanced transposition cutoffs."""


FIRST_ATTEMPT, FIRST_WITH_ENDINGS = 1 << 14, 1 << 12
"""Number of nodes of deepening before the first attempt of a proof through the ends of the game;
tables bring the ends closer."""

SHARE, SHARE_WITH_ENDINGS = 4, 128
"""Largest multiples of the nodes of deepening that such an attempt may take."""

TABLE_OF_LENGTHS = 2.0**20
"""Bytes of the table for the search for the length of a win or a loss."""

LOOP = Loop(loop.alpha_beta_jit, (enter, list_actions, follow, estimate), loop.PLY)


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class AlphaBeta(Searcher[SearchResult]):
    """Search one position of a game without chance: to a depth, or until its value is proven.

    Principal variation search [1]_ with iterative deepening and aspiration windows; a transposition
    table, in which positions are compared whole, so that no collision can change a value; actions
    ordered by the table, by killers and by history; enhanced transposition cutoffs [2]_; and bounds
    from the game itself (``value_range``) or a table.

    The value at a depth is that of plain minimax, whatever the size of the table: it only saves
    work. As there, the score of every position is clipped to the game's ``value_range``, and
    actions are compared before the range of the root is applied. Proven values are distinguished
    from these: a position counts as proven when its value rests only on ends of the game, certain
    bounds and tables.

    Parameters
    ----------
    depth : int or None
        The number of plies to look ahead; None looks further until the value is proven. A game that
        can go on for ever may never reach that, so give a limit then, or use
        :class:`gamedp.solvers.Retrograde`.
    extends : bool
        Whether an action after which the same player moves again costs no depth, down to twice the
        depth.
    endings : Tables, optional
        Of exactly this game, which numbers its positions: see :func:`gamedp.tables.tabulate`.
    table_bytes : float
        The size limit of the transposition table; 0 for none.
    all_best : bool
        Whether to find all best actions, or only one.
    max_seconds, max_nodes : float
        Limits at which the best result so far is returned, with a status that says so.

    References
    ----------
    .. [1] T. A. Marsland, M. Campbell, "Parallel search of strongly ordered game trees", ACM
       Computing Surveys 14 (1982).
    .. [2] A. Plaat, J. Schaeffer, W. Pijls, A. de Bruin, "Exploiting graph properties of game
       trees", AAAI 1996.
    .. [3] A. Plaat, J. Schaeffer, W. Pijls, A. de Bruin, "Best-first fixed-depth minimax
       algorithms", Artificial Intelligence 87 (1996).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> result = gamedp.searchers.AlphaBeta().search(Matches(matches=17), compile="never")
    >>> result.value(), result.is_proven
    (-1.0, True)
    """

    takes_chance = False
    depth: int | None = plies_ahead()
    extends: bool = False
    endings: Any = None
    table_bytes: float = 2**26
    all_best: bool = True

    def _start(self, root: Root, *asked: Any) -> AlphaBetaSearch:
        return AlphaBetaSearch(self, root, *asked)


@attrs.define
class TimedAction(RootAction):
    """The results for one action at the root, and when they were proven.

    Attributes
    ----------
    sign : float
        1 if the same player moves again, else -1.
    past : list of (float, float)
        The bounds before the search looked ahead, and after each depth that was finished.
    """

    sign: float = 0.0
    past: list[tuple[float, float]] = attrs.Factory(list)

    @classmethod
    def of(cls, choice: RootChoice, player: int) -> TimedAction:
        """Return an action of a player of which nothing is known yet."""
        return cls(choice, sign=choice.outcomes[0].sign(player))

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
    roundings : RoundingLog
    all_best : bool
        Whether it is to be found out which of them are equally good.

    Attributes
    ----------
    found : list of TimedAction
        In the game's order.
    low, high : float
        The game's own range of the root, from the mover's side, half the constant sum off; after
        `start`.
    """

    def __init__(self, root: Root, roundings: RoundingLog, *, all_best: bool) -> None:
        self.root = root
        self.all_best = all_best
        self.half = root.half
        self.roundings = roundings
        self.low, self.high = -INFINITY, INFINITY
        self.found = [TimedAction.of(choice, root.player) for choice in root.choices]

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

    def narrow(self, entry: TimedAction, low: float, high: float, reward: float) -> None:
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

    def best(self, best: float, room: float, *, is_decided: bool) -> list[TimedAction]:
        """Return the actions that are certainly as good as the best, or seem to be.

        What seems so is what the depth shows: not once it is decided which actions reach the value,
        unless rounding alone has kept all of them from it. Where the range of the root cuts off
        what was found, it makes no two actions equal. No score is distinguished from one that is
        greater by no more than `room`.
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


class _NotYet(Exception):  # noqa: N818 - not an error: the search goes on in another way
    """An attempt to prove the value has used up its share of the nodes."""


class AlphaBetaSearch(Search[SearchResult]):
    """A running search: its arrays, and the results at the root so far."""

    loop = LOOP

    def __init__(self, options: AlphaBeta, root: Root, *asked: Any) -> None:
        self.history_of_values: list[float] = []
        self.banks = hasattr(root.rules.game, "remainder")
        self.depth = 0
        self.reach = 0
        self.attempted = 0
        self.next_attempt = FIRST_ATTEMPT if options.endings is None else FIRST_WITH_ENDINGS
        self.last_node = INFINITY
        super().__init__(
            options,
            root,
            *asked,
            with_plies=("killers",),
            endings=values_of_tables(options.endings, root.rules),
            banks=self.banks,
        )
        self.at_root = RootActions(root, self.roundings, all_best=options.all_best)

    def _arrays(self, num_fields: int) -> dict[str, Any]:
        """Return the transposition table, the arrays for move ordering, and the options."""
        self.entries = table_entries(self.options.table_bytes, num_fields)
        return {
            "killers": np.full((64, 2), NO_ACTION, np.int64),
            "history": np.zeros((2, ACTIONS_KEPT), np.int64),
            "keys": allocate_lazily((self.entries, num_fields), np.int64),
            "scores": allocate_lazily((self.entries,), np.float64),
            "infos": allocate_lazily((self.entries,), np.int64),
            "strict": self.options.depth is not None,
            "extends": bool(self.options.extends),
            "eager": EAGER_PLIES,
        }

    def run(self) -> SearchResult:
        """Search deeper and deeper; stop at a proof, at the requested depth, or at a limit."""
        self.at_root.start()
        status = Status.SOLVED
        try:
            while not self.at_root.is_decided():
                if self.options.depth is not None and self.depth >= self.options.depth:
                    status = Status.DEPTH_LIMIT
                    break
                self._deepen(self.depth + 1)
                self.budget.look()
                self._attempt()
        except OutOfTime:
            status = self.budget.status
        return self._result(status)

    def _attempt(self) -> None:
        """Try to prove the value by looking to the ends of the game, if it is due.

        Deepening finds what is near, but searches estimated positions again. A test that goes to
        the ends searches nothing twice, but may get lost. So the two alternate, each time for
        longer. Proven values stay in the table.
        """
        deepened = self.driver.nodes - self.attempted
        if (
            self.options.depth is not None
            or not self.root.rules.claims_acyclic
            or deepened < self.next_attempt
        ):
            return
        before = self.driver.nodes
        share = SHARE if self.options.endings is None else SHARE_WITH_ENDINGS
        self.last_node = before + share * deepened
        self.next_attempt = 4 * deepened
        self.tally.age = 0  # all attempts are one search
        self.tally.most_plies = loop.UNLIMITED
        self.budget.detail = "to the end, "
        try:
            self._prove()
        except _NotYet:
            pass
        finally:
            self.last_node = INFINITY
            self.attempted += self.driver.nodes - before
        if self.at_root.is_decided():
            self.reach = loop.UNLIMITED
            self.depth = int(self.tally.deepest) + 2

    def _prove(self) -> None:
        """Narrow the value down by tests [3]_: first who wins, then from the result of deepening.

        A failed test is the most informative, as it examines all actions. So the first one is for a
        win, and its results for the actions order them in the next one.
        """
        guess, deepened = 0.0, max(entry.score for entry in self.at_root.found)
        says_who_wins, is_first = False, True
        while not self.at_root.is_decided():
            low, high = self.at_root.bounds()
            # Is it more than `wanted`? Else, is it as much?
            asks_more = low < high and (guess <= low or (is_first and guess < high))
            wanted = low if guess <= low else min(guess, high)
            end = loop.JUST_ABOVE if asks_more else loop.JUST_BELOW
            known = [(entry.low, entry.high) for entry in self.at_root.found]
            succeeds = is_first = False
            order = self.at_root.found[::-1]  # of equals the last, as in the loop
            order.sort(key=lambda entry: -entry.promise)
            for entry in order:
                is_open = entry.high > wanted if asks_more else entry.low < wanted <= entry.high
                if not is_open or (succeeds and (low < high or not self.options.all_best)):
                    continue
                self._try(entry, loop.UNLIMITED, wanted, wanted, end)
                succeeds = succeeds or (entry.low > wanted if asks_more else entry.low >= wanted)
            if known == [(entry.low, entry.high) for entry in self.at_root.found]:
                return  # by rounding; deepening may still tell
            low, high = self.at_root.bounds()
            guess = low if succeeds else high
            if not says_who_wins and not low <= 0.0 <= high:
                says_who_wins = True
                guess = max(low, min(deepened, high))

    def _timed(self, best: float) -> AlphaBetaSearch | None:
        """Return a search that knows the length of a win or a loss; None if it is unknown.

        A search to a given depth knows it itself: its table entries are no deeper. A search to the
        ends of the game does not, so another one is run, with at most a tenth of the work.
        """
        options = self.options
        if not self.at_root.is_decisive(best) or hasattr(self.root.rules.game, "reward"):
            return None
        if options.depth is not None:
            return None if options.extends else self
        if self.budget.interrupted:
            return None
        shorter = attrs.evolve(
            options,
            depth=loop.UNLIMITED >> 2,
            extends=False,
            endings=None,
            table_bytes=min(options.table_bytes, TABLE_OF_LENGTHS),
        )
        clock = AlphaBetaSearch(shorter, self.root, self.compile, None)
        clock.budget = self.budget.for_lengths(lambda: clock.driver.nodes)
        try:
            clock.at_root.start()
            while not clock.at_root.is_timed(best):
                clock._deepen(clock.depth + 1)
                clock.budget.look()
        except OutOfTime:
            pass  # as far as that
        return clock

    def plies_of(self, best: float, actions: list[Any]) -> dict[Any, int]:
        """Return the known numbers of plies to a win or a loss after some actions."""
        found = {entry.choice.action: entry.plies(best) for entry in self.at_root.found}
        return {action: plies for action in actions if (plies := found[action]) is not None}

    def line(
        self, best: float, taken: RootChoice, *, is_proven: bool, within: int | None = None
    ) -> list[tuple[int, Any]]:
        """Return the principal variation, as far as it takes no more work than the search.

        It may exceed a limit of time or nodes by a tenth.

        At every position the first action that keeps the score is taken, by the same search with as
        many plies less as have been played. If the number of plies to the win or the loss is known,
        `within`, it takes exactly that many.
        """
        game = self.root.rules.game
        self.budget = self.budget.for_line()
        root, score, line = self.root, best, []
        rest = max(self.depth, self.reach) if within is None else within
        while True:
            successor = step(root, taken)
            line.append((taken.action, successor))
            outcome = taken.outcomes[0]
            same_mover = outcome.sign(root.player) > 0
            score = (score - taken.reward) * outcome.sign(root.player)
            rest -= not (same_mover and self.options.extends)
            following = root_of(game, successor, "AlphaBeta", with_chance=False)
            if not following.choices or (rest < 1 and not is_proven):
                return line
            try:
                if within is not None and score < 0 and rest > 1:
                    found = self._delaying(following, score, rest - 1)
                else:
                    found = self._keeping(following, score, max(rest, 1), is_proven=is_proven)
            except OutOfTime:
                return line
            if found is None:
                return line
            root, taken = following, found

    def _keeping(
        self, root: Root, score: float, depth: int, *, is_proven: bool
    ) -> RootChoice | None:
        """Return an action that keeps a score, or None if the search cannot tell.

        All are tried with few nodes first, then with more and more: the result is the first one in
        the game's order among those found with the fewest.
        """
        waiting, share = list(root.choices), 1 << 10
        try:
            while waiting:
                unknown = []
                for choice in waiting:
                    entry = TimedAction.of(choice, root.player)
                    self.last_node = self.driver.nodes + share
                    try:
                        _, kind = self._try(entry, depth, score, score, loop.JUST_BELOW, root)
                    except _NotYet:
                        unknown.append(choice)
                        continue
                    if entry.low >= score if is_proven else kind & LOWER:
                        return choice
                waiting, share = unknown, 4 * share
        finally:
            self.last_node = INFINITY
        return None

    def _delaying(self, root: Root, score: float, depth: int) -> RootChoice | None:
        """Return an action that does not lose within a depth, or None."""
        for choice in root.choices:
            entry = TimedAction.of(choice, root.player)
            self._try(entry, depth, score, score, loop.JUST_ABOVE, root)
            if entry.high > score:
                return choice
        return None

    def _deepen(self, depth: int) -> None:
        """Search all actions to a depth; the best of the last search first."""
        self.tally.age = depth
        self.tally.most_plies = 2 * depth
        order = sorted(self.at_root.found, key=lambda entry: -entry.score)
        best = -INFINITY
        results: list[tuple[TimedAction, float, int]] = []
        for number, entry in enumerate(order):
            self.budget.detail = f"depth {depth}, action {number + 1} of {len(order)}, "
            if number == 0:
                score, kind = self._first(entry, depth)
            else:
                score, kind = self._other(entry, depth, best)
            results.append((entry, score, kind))
            best = max(best, score)
        for entry, score, kind in results:
            entry.score, entry.kind = score, kind
        self.history_of_values.append(best)
        self.depth = depth
        self.at_root.note()

    def _first(self, entry: TimedAction, depth: int) -> tuple[float, int]:
        """Search the most promising action, in a window around the previous result."""
        past = self.history_of_values
        if len(past) < 2:
            return self._try(entry, depth, -INFINITY, INFINITY, 0)
        # Values often oscillate between odd and even depths.
        center, room = past[-2], abs(past[-1] - past[-2])
        alpha, beta = center - room, center + room
        score, kind = self._try(entry, depth, alpha, beta, loop.JUST_BELOW | loop.JUST_ABOVE)
        if kind == UPPER:
            score, kind = self._try(entry, depth, -INFINITY, score, loop.JUST_ABOVE)
        elif kind == LOWER:
            score, kind = self._try(entry, depth, score, INFINITY, loop.JUST_BELOW)
        if kind != LOWER | UPPER:
            # Only rounding can bring it back to where it was.
            score, kind = self._try(entry, depth, -INFINITY, INFINITY, 0)
        return score, kind

    def _other(self, entry: TimedAction, depth: int, best: float) -> tuple[float, int]:
        """Search another action only as far as needed to compare it with the best so far."""
        if self.options.all_best:
            score, kind = self._try(entry, depth, best, best, loop.JUST_BELOW)
            if kind & UPPER:  # it is less, or known whatever was asked
                return score, kind
        score, kind = self._try(entry, depth, best, best, loop.JUST_ABOVE)
        if kind & LOWER and score > best:
            return self._try(entry, depth, best, INFINITY, 0)
        return score, LOWER | UPPER if self.options.all_best else kind

    def _try(
        self,
        entry: TimedAction,
        depth: int,
        alpha: float,
        beta: float,
        ends: int,
        root: Root | None = None,
    ) -> tuple[float, int]:
        """Search one action within a window; return the score and the kind of bound that it is."""
        player = (root or self.root).player
        child, reward = entry.choice.outcomes[0], entry.choice.reward
        state = child.state
        if self.banks and not child.is_terminal:
            game = self.root.rules.game
            side = player ^ child.swapped
            reward = self.roundings.add(reward, float(game.settled(state, side)))
            state = game.remainder(state)
            reward = self.roundings.add(reward, -float(game.settled(state, side)))
        alpha, beta = alpha - reward, beta - reward
        rest = depth - 1
        if entry.sign < 0:
            alpha, beta = -beta, -alpha
            ends = flipped(ends)
        elif self.options.extends and not child.is_terminal:
            rest = depth
        score, kind, proof = self._search(state, rest, alpha, beta, ends)
        low = score if proof & LOWER else -INFINITY
        high = score if proof & UPPER else INFINITY
        if entry.sign < 0:
            score, low, high = -score, -high, -low
            kind = flipped(kind)
        self.at_root.narrow(entry, low, high, reward)
        return score + reward, kind

    def _search(
        self, state: Any, rest: int, alpha: float, beta: float, ends: int
    ) -> tuple[float, int, int]:
        """Run the loop on a position until it is done; from the side of its mover."""
        driver, tally = self.driver, self.tally
        first = driver.enter(state)
        tally.phase = loop.LOOK
        first.rest, first.ends, first.alpha, first.beta = rest, ends, alpha, beta
        if not driver.run(self.budget, last_node=self.last_node):
            raise _NotYet
        return float(tally.score), int(tally.kind), int(tally.proven)

    def _result(self, status: Status) -> SearchResult:
        """Return the result, as values of player 0."""
        root = self.root
        low, high = self.at_root.bounds()
        slack = self.at_root.slack(self.tally)
        is_proven = low == high
        has_value = is_proven or self.depth > 0
        if has_value:
            best = low if is_proven else max(entry.score for entry in self.at_root.found)
            chosen = self.at_root.best(best, 2 * slack, is_decided=status is Status.SOLVED)
        else:
            best, chosen = min(max(root.estimate(), low), high), []
        lower, upper = root.values(low, high, slack)
        # A proof without a search looked at each action.
        common = self.common(status, self.depth or int(is_proven))
        clock = self._timed(best) if chosen else None
        plies = (
            {} if clock is None else clock.plies_of(best, [entry.choice.action for entry in chosen])
        )
        result = SearchResult(
            **common,
            value=root.value(min(max(best, self.at_root.low), self.at_root.high)),
            lower=lower,
            upper=upper,
            best_actions=tuple(entry.choice.action for entry in chosen),
            actions=self.at_root.searched(slack, plies),
            principal_variation=(),
            guarantee=Guarantee.TWO_SIDED,
            has_value=has_value,
        )
        if not chosen:
            return result
        first = next(entry for entry in chosen if entry.choice.action == result.quickest_actions[0])
        if clock is not None and first.choice.action in plies:
            line = clock.line(best, first.choice, is_proven=True, within=plies[first.choice.action])
        else:
            is_certain = is_proven and first.low >= best
            score = best if is_certain else first.score
            line = self.line(score, first.choice, is_proven=is_certain)
        return attrs.evolve(result, principal_variation=tuple(line))
