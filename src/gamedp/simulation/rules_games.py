"""Simulation of games by their rules, position by position, without a table of positions.

The loop of :mod:`gamedp.simulation.rules_loop`, and the rules and policies that it calls, run
compiled or as plain Python, with the same games either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numba
import numpy as np

from gamedp.compiler.build import fall_back
from gamedp.compiler.methods import disagree, refuse_overflow
from gamedp.compiler.reasons import first_reason
from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.policies.tally import Played, Tally, in_blocks
from gamedp.rules.expand import expand, start
from gamedp.rules.game import method
from gamedp.rules.layout import Layout
from gamedp.simulation.joined_rules import JoinedRules
from gamedp.simulation.ply_loop import NUM_ASKED, NUM_FOUND
from gamedp.simulation.rules_loop import CHECKED, DONE, WRONG

if TYPE_CHECKING:
    from gamedp.rules.game import Rules
    from gamedp.runtime.options import CompileMode

__all__ = ["RulesGames"]

SLICE = 1_000_000
"""Number of plies after which a call of the loop returns, since it cannot be interrupted."""

POSITIONS, OUTCOMES = 1 << 16, 1 << 18
"""Numbers of positions and outcomes that a thread caches. With more, reading them takes longer than
calling the rules."""


class RulesGames:
    """Plays the games of given policies.

    Parameters
    ----------
    rules : Rules
    policies : sequence
        One for each seat: an object with ``choose(state)``, a function of a state, or RandomPlayer.
    key : uint64
        What the games are drawn from.
    most : int
        Plies after which a game is left unfinished.
    threads : int
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    in_pairs : bool
        Whether games come in pairs, with the same dice and swapped seats.
    """

    def __init__(
        self,
        rules: Rules,
        policies: Sequence[Any],
        key: np.uint64,
        most: int,
        threads: int,
        compile: CompileMode,
        *,
        in_pairs: bool = False,
    ) -> None:
        self.rules = rules
        self.policies = policies
        self.has_rewards = hasattr(rules.game, "reward")
        self._threads = threads
        self._values = {
            "key": key,
            "most": most,
            "in_pairs": in_pairs,
            "has_rewards": self.has_rewards,
            "num_players": rules.num_players,
            "total": float(rules.constant_sum),
            "patience": SLICE,
            "checked": CHECKED,
        }
        start(rules)  # refuses an invalid distribution
        pairs = [(float(chance), state) for chance, state in rules.initial() if chance > 0]
        self._starts = [state for _, state in pairs]
        self._start_sums = np.cumsum([chance for chance, _ in pairs])
        self._joined = JoinedRules.plain(rules, policies)
        self._games = 0
        self._blocks: dict[int, Tally] = {}
        self._known: list[dict[str, Any]] = []
        if compile != "never" and not numba.config.DISABLE_JIT:
            self._compile(must=compile == "always")

    def _compile(self, *, must: bool) -> None:
        """Compile game and policies, if possible, by a call that plays no game."""
        game, state = self.rules.game, self._starts[0]
        layout = Layout.of(state)
        if layout is None or layout.is_leaf:
            reason = f"its states ({shown(state)}) are not NamedTuples of ints and tuples of ints"
            fall_back(game, reason, must=must)
            return
        try:
            joined = JoinedRules.compiled(self.rules, self.policies, layout, state)
            joined.playing(self._page(joined, 0, 0) | self._nothing_known(joined))(0, 0)
        except Exception as error:  # noqa: BLE001 - numba has errors outside its own family
            expand(self.rules, state)  # rules that do not compile are often simply wrong
            fall_back(game, first_reason(error), must=must)
            return
        self._joined = joined

    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return None for the unknown payoffs of player 0, and the least and the greatest one."""
        value_range = method(self.rules.game, "value_range")
        ranges = [value_range(self.rules.game, state, 0) for state in self._starts]
        lows, highs = zip(*ranges, strict=True)
        return None, float(min(lows)), float(max(highs))

    def play(self, end: int) -> None:
        """Play on, up to so many games."""

        def play(_thread: int, block: int, first: int, last: int) -> None:
            self._blocks[block] = self.played(first, last).tally()

        in_blocks(self._games, end, self._threads, play)
        self._games = end

    def tally(self) -> Tally:
        """Return what all games have brought so far."""
        return Tally.total(self._blocks[block] for block in sorted(self._blocks))

    def played(self, begin: int, end: int) -> Played:
        """Play the games with the numbers from `begin` to `end`.

        Raises
        ------
        InvalidModelError
            If the rules are wrong in a position that is visited.
        InvalidParameterError
            If a policy takes no existing action.
        """
        joined = self._joined
        try:
            known = self._known.pop()
        except IndexError:  # one for each thread that plays
            known = self._nothing_known(joined)
        page = self._page(joined, begin, end - begin) | known
        play = joined.playing(page)
        first = begin
        while first < end:
            status, error = WRONG, None
            try:
                with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
                    status = play(first, end)
            except Exception as raised:  # noqa: BLE001 - whatever the rules may raise
                error = raised
            first = int(page["number"][0])
            if status != DONE:
                self._explain(first, error)
        self._known.append(known)
        plies = page["plies"]
        is_over = plies >= 0
        return Played(page["earned"], page["paid"], np.where(is_over, plies, -1 - plies), is_over)

    def played_pairs(self, begin: int, end: int) -> tuple[Played, Played]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""
        both = self.played(2 * begin, 2 * end)
        first, second = (
            Played(
                both.earned[place::2],
                both.paid[place::2],
                both.plies[place::2],
                both.is_over[place::2],
            )
            for place in (0, 1)
        )
        return first, second

    def _page(self, joined: JoinedRules, begin: int, count: int) -> dict[str, Any]:
        """Return the fields of a page for a number of games from `begin` on."""
        num_players, rows = self.rules.num_players, joined.rows(self._starts)
        streams = num_players * (1 + bool(joined.is_mixed.any()))
        fields = np.zeros((3, rows.shape[1] + 1), rows.dtype)
        return {
            **self._values,
            "is_mixed": joined.is_mixed,
            "start_sums": self._start_sums,
            "starts": rows,
            "fields": fields[0],
            "following": fields[1],
            "drawn": fields[2],
            "asked": np.zeros(NUM_ASKED, np.int64),
            "found": np.zeros(NUM_FOUND, np.int64),
            "chance": np.zeros(1),
            "streams": np.zeros(streams, np.uint64),
            "coming": np.zeros(streams, np.uint64),
            "number": np.zeros(1, np.int64),
            "origin": begin,
            "earned": np.zeros((count, num_players)),
            "paid": np.zeros((count, num_players)),
            "plies": np.zeros(count, np.int64),
        }

    def _nothing_known(self, joined: JoinedRules) -> dict[str, Any]:
        """Return an empty cache of positions for a thread; without space for plain objects."""
        nodes, edges = (POSITIONS, OUTCOMES) if joined.has_fields else (0, 0)
        starts = joined.rows(self._starts)
        return {
            "used": np.zeros(2, np.int64),
            "slots": np.zeros(1 << (2 * nodes).bit_length(), np.int32),
            "start_nodes": np.zeros((2, len(starts)), np.int32),
            "keys": np.zeros((nodes, starts.shape[1] + 1), np.int64),
            "firsts": np.zeros(nodes, np.int32),
            "sizes": np.zeros(nodes, np.int32),
            "drawers": np.zeros(nodes, np.uint8),
            "rewards": np.zeros((nodes if self.has_rewards else 0, self.rules.num_players)),
            "cumulative": np.zeros(edges),
            "successors": np.zeros(edges, np.int32),
        }

    def _explain(self, number: int, error: Exception | None) -> NoReturn:
        """Play a game again in plain Python, and raise the error of the position it stops at."""
        plain = JoinedRules.plain(self.rules, self.policies, keep=True)
        page = self._page(plain, number, 1) | self._nothing_known(plain) | {"checked": 1}
        status, again = DONE, None
        try:
            with np.errstate(over="ignore"):
                status = plain.playing(page)(number, number + 1)
        except (InvalidModelError, InvalidParameterError):
            raise
        except Exception as raised:  # noqa: BLE001 - whatever the rules may raise
            again = raised
        state = plain.met[-1]
        if status != DONE or again is not None:
            expand(self.rules, state)
        if again is not None:
            raise again
        if self._joined.is_compiled:
            refuse_overflow(self.rules, self._joined.game.record, plain.met, error)
        disagree(f"in game {number}", error)
