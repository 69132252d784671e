"""The rules of Mancala and its relatives, on packed integers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

import gamedp
from gamedp.games._parameters import (
    a_truth_value,
    as_whole,
    one_of,
    texts_of,
    whole_at_least,
)
from gamedp.games.mancala.board import (
    Board,
    MancalaState,
    checked_board,
    name_of,
    pack,
    render,
    unpack,
)
from gamedp.games.mancala.endings import (
    boards_before,
    following_rows,
    num_boards,
    rank_rows,
    sums_up_to,
    unrank_rows,
    winning_range,
)

__all__ = ["Mancala"]

CAPTURED = ("the first player", "the second player")

BITS = 63
"""Largest number of bits of a side in a compiled integer, which also has a sign."""

MOST_STONES = 255
"""Largest number of stones in a table of endings."""

(
    SKIP_SOURCE,
    CHAINS,
    CHAINS_BY_MOVE,
    OCCUPIED_BEFORE,
    RUNS,
    RUNS_AFTER_CHAINS,
    EMPTY_CAPTURES,
    MOVE_AGAIN,
    ENDS_EITHER,
    LEFT_TO_OWNER,
    LEFT_TO_NOBODY,
) = (1 << bit for bit in range(11))

Chains: TypeAlias = Literal["sowing", "move", "never"]
Occupied: TypeAlias = Literal["now", "before"]
Captures: TypeAlias = Literal["run", "run-unchained", "opposite", "opposite-empty"]
Ends: TypeAlias = Literal["mover", "either"]
Leftover: TypeAlias = Literal["owner", "out", "nobody"]


@attrs.frozen
class Mancala:
    """Sow the stones of a pit and capture twos and threes, as in "Eine Strategie für Mancala".

    Every other reading of its rules is a parameter. A player takes all stones out of one of the own
    pits and sows them one by one: into the own pits after it, the own kalah, the opponent's pits
    from the first on, and round again. If the last stone falls into an own pit that held some just
    before, and this sowing has dropped a stone on the opponent's side, that pit is sown in turn,
    and so on: a chain. If it falls into an opponent's pit that now holds two or three, these go to
    the own kalah, and so do those of the pits before it, back against the sowing, as long as each
    holds two or three. The game ends when the mover has more than half of all stones in the kalah;
    else when the player to move has none in the pits, in which case what is left goes to the kalah
    of whose side it lies on. The payoff is the difference of the kalahs.

    An action is the number of a pit, 1 to `pits`, counted in the direction of sowing: the last pit
    lies before the own kalah.

    No position can come back, whatever the options, and chains end. A sowing that reaches the own
    kalah takes a stone out of play; one that does not moves stones on within the own row. So each
    sowing lowers the number of stones in play, or leaves it and lowers the sum of the distances
    from the stones to the kalahs of their sides; captures lower the former, too.

    Three and more sit in a ring (the article's "Triancala"). The turn passes in the direction of
    sowing, which goes through the pits of every side and leaves out the kalahs of all opponents. A
    capture stays on the side on which it begins. The payoff of each is what their own kalah holds.

    Parameters
    ----------
    pits : int
        Pits in a row.
    stones : int
        Stones in each pit at the start.
    players : int
        Two or more.
    skip_source : bool
        Whether sowing leaves out the pit that it began with. If not, a sowing of more stones than
        there are other fields drops one there, too.
    chains : {"sowing", "move", "never"}
        What lets a chain go on: that this very sowing has dropped a stone on an opponent's side;
        that this or an earlier one of the same move has; nothing.
    occupied : {"now", "before"}
        Whether the pit of the last stone must have held some just before that stone fell, or before
        this sowing began. The pit that this sowing has emptied held its stones before: with
        ``before`` it counts as occupied, even where the stone falls into it while it is empty.
    captures : {"run", "run-unchained", "opposite", "opposite-empty"}
        ``run``: twos and threes, as above; ``run-unchained``: the same, but not after a chain.
        ``opposite``: that of Kalah. If the last stone falls into an own pit that was empty, it goes
        to the own kalah with all stones in the opponent's pit across the board, if there are any;
        ``opposite-empty``: even if there are none. These two are for two players.
    move_again : bool
        Whether a player whose last stone falls into the own kalah moves once more.
    majority_stop : bool
        Whether the game ends as soon as someone has more than half of all stones. What is left in
        the pits then counts for nobody.
    ends : {"mover", "either"}
        Whether the game ends when the player to move has no stones in the pits, or as soon as
        anybody has none.
    leftover : {"owner", "out", "nobody"}
        Whose are the stones that are left when somebody has none: those of the player on whose side
        they lie; of the player who has none (of several, the one whose turn comes first); nobody's.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter is invalid, or a side does not fit into 63 bits.

    Examples
    --------
    >>> game = Mancala(pits=3, stones=2)
    >>> state = game.position((0, 2, 3), (1, 1, 0), kalahs=(3, 2), player=0)
    >>> [game.action_name(state, action) for action in game.actions(state)]
    ['pit 2', 'pit 3']
    >>> [(_, captures)] = game.outcomes(state, 3)
    >>> game.board(captures)
    Board(rows=((0, 2, 0), (0, 0, 0)), kalahs=(8, 2), player=1)
    """

    pits: int = attrs.field(default=6, converter=as_whole, validator=whole_at_least(1))
    stones: int = attrs.field(default=6, converter=as_whole, validator=whole_at_least(1))
    players: int = attrs.field(default=2, converter=as_whole, validator=whole_at_least(2))
    skip_source: bool = attrs.field(default=False, validator=a_truth_value)
    chains: Chains = attrs.field(default="sowing", validator=one_of(Chains))
    occupied: Occupied = attrs.field(default="now", validator=one_of(Occupied))
    captures: Captures = attrs.field(default="run", validator=one_of(Captures))
    move_again: bool = attrs.field(default=False, validator=a_truth_value)
    majority_stop: bool = attrs.field(default=True, validator=a_truth_value)
    ends: Ends = attrs.field(default="mover", validator=one_of(Ends))
    leftover: Leftover = attrs.field(default="owner", validator=one_of(Leftover))

    constant_sum = 0.0
    acyclic = True
    icon = gamedp.views.Pits(((3, 3, 3), (3, 3, 3)), (0, 0), ("second player", "first player"))
    texts = texts_of("mancala")

    def __attrs_post_init__(self) -> None:
        """Refuse parameters that are invalid together."""
        if self.players > 2 and self.captures.startswith("opposite"):
            message = (
                f"captures={self.captures!r} is for two players: with players={self.players} no "
                "pit lies opposite to another; choose 'run' or 'run-unchained'."
            )
            raise gamedp.errors.InvalidParameterError(message)
        needed = (self.pits + 1) * self._width
        if needed > BITS:
            most = ((1 << BITS // (self.pits + 1)) - 1) // (self.players * self.pits)
            way_out = f"at most {most} stones a pit, or fewer pits" if most else "fewer pits"
            message = (
                f"pits={self.pits} with stones={self.stones} does not fit: a side of "
                f"{self.pits + 1} fields, each for up to {self._total} stones, takes {needed} "
                f"bits, and there are {BITS}; take {way_out}."
            )
            raise gamedp.errors.InvalidParameterError(message)

    @classmethod
    def kalah(cls, pits: int = 6, stones: int = 4) -> Mancala:
        """Return Kalah, as it has been sold since the 1950s.

        There are no chains; a last stone in the own kalah gives another move, one in an own pit
        that was empty captures the opposite pit, unless that is empty; the game ends when either
        row is empty, and the remaining stones belong to the owner of their side.

        References
        ----------
        G. Irving, J. Donkers and J. Uiterwijk, "Solving Kalah", ICGA Journal 23 (2000), 139-147.

        Examples
        --------
        >>> Mancala.kalah().move_again
        True
        """
        return cls(
            pits=pits,
            stones=stones,
            chains="never",
            captures="opposite",
            move_again=True,
            majority_stop=False,
            ends="either",
        )

    @classmethod
    def oware_style(cls, pits: int = 6, stones: int = 4) -> Mancala:
        """Return the closest relative of Oware: no chains, and the source is left out.

        It is not Oware, since these rules are missing: sowing there drops no stone into the own
        store; a move must, if possible, give stones to an opponent who has none; a capture of all
        the opponent's stones is not allowed, or takes nothing; and cyclic play is ended. The first
        of them is the reason why play can be cyclic there, but never here.

        Examples
        --------
        >>> Mancala.oware_style().chains
        'never'
        """
        return cls(pits=pits, stones=stones, skip_source=True, chains="never")

    @classmethod
    def presets(cls) -> dict[str, Mancala]:
        """Return the games with a name, for the page in the browser."""
        return {
            "Article": cls(),
            "Three pits": cls(pits=3, stones=3),
            "Kalah": cls.kalah(),
            "Oware style": cls.oware_style(),
            "Triancala": cls(players=3),
            "Small Triancala": cls(pits=3, stones=1, players=3),
        }

    @property
    def num_players(self) -> int:
        """The number of players."""
        return self.players

    # Numbers that compiled rules read: only a few, since every call passes all of them.

    @functools.cached_property
    def _total(self) -> int:
        """The number of all stones."""
        return self.players * self.pits * self.stones

    @functools.cached_property
    def _width(self) -> int:
        """The number of bits of a field."""
        return self._total.bit_length()

    @functools.cached_property
    def _home(self) -> int:
        """The place of the kalah: the number of bits below it, as for all fields."""
        return self._width * self.pits

    @functools.cached_property
    def _ones(self) -> int:
        """One stone in each field."""
        return pack([1] * (self.pits + 1), self._width)

    @functools.cached_property
    def _lap(self) -> int:
        """The number of bits of the fields that a sowing passes before it returns."""
        return (self.players * self.pits + 1 - self.skip_source) * self._width

    @functools.cached_property
    def _largest(self) -> int:
        """The largest side with which the game continues."""
        most = self._half if self.majority_stop else self._total
        return most << self._home | (1 << self._home) - 1

    @functools.cached_property
    def _options(self) -> int:
        """The other options, one bit each."""
        return (
            SKIP_SOURCE * self.skip_source
            + CHAINS * (self.chains != "never")
            + CHAINS_BY_MOVE * (self.chains == "move")
            + OCCUPIED_BEFORE * (self.occupied == "before")
            + RUNS * self.captures.startswith("run")
            + RUNS_AFTER_CHAINS * (self.captures == "run")
            + EMPTY_CAPTURES * (self.captures == "opposite-empty")
            + MOVE_AGAIN * self.move_again
            + ENDS_EITHER * (self.ends == "either")
            + LEFT_TO_OWNER * (self.leftover == "owner")
            + LEFT_TO_NOBODY * (self.leftover == "nobody")
        )

    @property
    def _half(self) -> int:
        return self._total // 2

    # The rules.

    def initial_state(self) -> MancalaState:
        """Return the start: all pits full, all kalahs empty, player 0 to move."""
        side = (self._ones >> self._width) * self.stones
        return MancalaState(0, (side,) * self.players)

    def is_terminal(self, state: MancalaState) -> bool:
        """Return whether a player has the majority, or an empty row of pits ends the game."""
        row = (1 << self._home) - 1
        if self._has_majority(state):
            return True
        for seat in range(len(state.sides)):
            if state.sides[seat] & row == 0 and (seat == 0 or self._options & ENDS_EITHER):
                return True
        return False

    def _has_majority(self, state: MancalaState) -> bool:
        """Return whether a majority has ended the game.

        For rows alone, the earlier content of the kalahs is unknown, and so is the majority: they
        are played to the end.
        """
        if max(state.sides) <= self._largest:
            return False
        held = self.tier(state)
        for seat in range(len(state.sides)):
            held += state.sides[seat] >> self._home
        return held == self._total

    def player(self, state: MancalaState) -> int:
        """Return the player to move."""
        return state.player

    def actions(self, state: MancalaState) -> Iterator[int]:
        """Yield the numbers of the own pits that hold stones, in order."""
        field = (1 << self._width) - 1
        row = state.sides[0] & ((1 << self._home) - 1)
        pit = 1
        while row > 0:
            if row & field:
                yield pit
            row >>= self._width
            pit += 1

    def outcomes(self, state: MancalaState, action: int) -> Iterator[tuple[float, MancalaState]]:
        """Yield the only position that follows."""
        yield 1.0, self._after(state, action)

    def payoff(self, state: MancalaState, player: int) -> float:
        """Return the difference of the kalahs for `player`; with three or more, the own kalah."""
        seat = player - state.player
        if seat < 0:
            seat += len(state.sides)
        kept = self._kept(state, seat)
        if len(state.sides) == 2:
            kept -= self._kept(state, 1 - seat)
        return float(kept)

    def canonical(self, state: MancalaState) -> tuple[MancalaState, bool]:
        """Return the position with player 0 to move if there are two, who are symmetric."""
        if len(state.sides) == 2:
            return MancalaState(0, state.sides), state.player == 1
        return state, False

    def _after(self, state: MancalaState, action: int) -> MancalaState:
        """Return the position after a move: at least one sowing, and the capture."""
        own, others = state.sides[0], state.sides[1:]
        place = (action - 1) * self._width
        crossed = chained = False
        while True:
            before = own
            own, others, seat, place, crosses = self._sow(own, others, place)
            crossed = crosses or (crossed and self._options & CHAINS_BY_MOVE != 0)
            if seat > 0 or not (crossed and self._may_chain(before, own, place)):
                break
            chained = True
        if seat == 0 and place == self._home and self._options & MOVE_AGAIN:
            return MancalaState(state.player, (own,) + others)  # noqa: RUF005 - for numba
        own, others = self._capture(own, others, seat, place, chained)
        following = state.player + 1
        if following == len(state.sides):
            following = 0
        return MancalaState(following, others + (own,))  # noqa: RUF005 - for numba

    def _sow(
        self, own: int, others: tuple[int, ...], place: int
    ) -> tuple[int, tuple[int, ...], int, int, bool]:
        """Sow the pit at `place`.

        Return the sides, the seat (0 for the own side) and the place of the last stone, and whether
        the sowing has dropped a stone on another side.

        The number of remaining stones equals the number of remaining fields, which is counted in
        bits here: then one shift of `_ones` gives each of them a stone.
        """
        ones, width, home = self._ones, self._width, self._home
        end = home + width
        stones = (own >> place) & ((1 << width) - 1)
        left = stones * width
        own -= stones << place
        crosses = False
        while left > self._lap:
            left -= self._lap
            own += ones
            if self._options & SKIP_SOURCE:
                own -= 1 << place
            for seat in range(len(others)):
                others = gamedp.with_item(others, seat, others[seat] + (ones >> width))
            crosses = True
        part = min(left, home - place)
        own += (ones >> (end - part)) << (place + width)
        left -= part
        if left == 0:
            return own, others, 0, place + part, crosses
        for seat in range(len(others)):
            part = min(left, home)
            others = gamedp.with_item(others, seat, others[seat] + (ones >> (end - part)))
            left -= part
            if left == 0:
                return own, others, seat + 1, part - width, True
        own += ones >> (end - left)
        return own, others, 0, left - width, True

    def _may_chain(self, before: int, own: int, place: int) -> bool:
        """Return whether the own field of the last stone is a pit that held stones."""
        if place == self._home or self._options & CHAINS == 0:
            return False
        held = before if self._options & OCCUPIED_BEFORE else own - (1 << place)
        return (held >> place) & ((1 << self._width) - 1) > 0

    def _capture(
        self, own: int, others: tuple[int, ...], seat: int, place: int, chained: bool
    ) -> tuple[int, tuple[int, ...]]:
        """Return the sides after the capture, if any, that follows the last stone of a move."""
        field = (1 << self._width) - 1
        if seat > 0:
            if self._options & RUNS_AFTER_CHAINS or (self._options & RUNS and not chained):
                side, taken = self._run(others[seat - 1], place)
                others = gamedp.with_item(others, seat - 1, side)
                own += taken << self._home
        elif self._options & RUNS == 0 and place < self._home and (own >> place) & field == 1:
            across = self._home - self._width - place
            taken = (others[0] >> across) & field
            if taken > 0 or self._options & EMPTY_CAPTURES:
                others = gamedp.with_item(others, 0, others[0] - (taken << across))
                own += ((taken + 1) << self._home) - (1 << place)
        return own, others

    def _run(self, side: int, place: int) -> tuple[int, int]:
        """Take the twos and threes at `place` and before; return the rest, and the number taken."""
        taken = 0
        while place >= 0:
            stones = (side >> place) & ((1 << self._width) - 1)
            if stones | 1 != 3:
                break
            side -= stones << place
            taken += stones
            place -= self._width
        return side, taken

    def _kept(self, state: MancalaState, seat: int) -> int:
        """Return the final stones of the player in a seat; 0 is the player to move."""
        kept = state.sides[seat] >> self._home
        if self._options & LEFT_TO_NOBODY or self._has_majority(state):
            return kept
        if self._options & LEFT_TO_OWNER:
            return kept + self._in_play(state.sides[seat])
        for first in range(len(state.sides)):
            if state.sides[first] & ((1 << self._home) - 1) == 0:
                return kept + self.tier(state) if first == seat else kept
        return kept

    def _in_play(self, side: int) -> int:
        """Return the stones in the pits of a side."""
        row = side & ((1 << self._home) - 1)
        return sums_up_to(row, self._width, self._home) >> (self._home - self._width)

    # Methods for search and tables of endings.

    def heuristic(self, state: MancalaState, player: int) -> float:
        """Estimate the payoff by the current content of the kalahs."""
        seat = player - state.player
        if seat < 0:
            seat += len(state.sides)
        estimate = state.sides[seat] >> self._home
        if len(state.sides) == 2:
            estimate -= state.sides[1 - seat] >> self._home
        return float(estimate)

    def tier(self, state: MancalaState) -> int:
        """Return the number of stones in play. No move raises it."""
        rows = 0
        for seat in range(len(state.sides)):
            rows += state.sides[seat] & ((1 << self._home) - 1)
        return self._in_play(rows)  # a field can hold all stones

    def value_range(self, state: MancalaState, player: int) -> tuple[float, float]:
        """Return bounds of the final payoff of `player`: at worst without any stone in play."""
        if self.is_terminal(state):
            payoff = self.payoff(state, player)
            return payoff, payoff
        now = self.heuristic(state, player)
        left = float(self.tier(state))
        return (now - left if len(state.sides) == 2 else now), now + left

    # For tables of all boards, which hold the value for the mover with empty kalahs.

    @functools.cached_property
    def _rows(self) -> int:
        """The mask of the pits of a side."""
        return (1 << self._home) - 1

    @functools.cached_property
    def _largest_ending(self) -> int:
        """The largest number of stones in play that tables support."""
        if self.players > 2:
            return -1
        most = min(self._total - self.majority_stop, MOST_STONES)
        while num_boards(self.pits, most) >= 2**63:
            most -= 1
        return most

    @functools.cached_property
    def _ending_sums(self) -> int:
        """The number of sums of stones in a table."""
        return self._largest_ending + 1

    @functools.cached_property
    def _ending_counts(self) -> NDArray[np.int64]:
        """The number of boards by the number of stones."""
        counts = [num_boards(self.pits, stones) for stones in range(self._ending_sums)]
        return np.array(counts, np.int64)

    @functools.cached_property
    def _boards_before(self) -> NDArray[np.int64]:
        return boards_before(self.pits, self._largest_ending)

    def settled(self, state: MancalaState, player: int) -> float:
        """Return the part of the payoff that is settled: the difference of the kalahs for `player`.

        For two players. The rest depends on the board alone, unless the game stops at the majority:
        the value of a state is the sum of the settled part and the value of the same board with
        empty kalahs.
        """
        return self.heuristic(state, player)

    def remainder(self, state: MancalaState) -> MancalaState:
        """Return the same board with empty kalahs, if these do not matter for the rest of play."""
        if self.majority_stop or self.players > 2:
            return state
        return MancalaState(
            state.player, (state.sides[0] & self._rows, state.sides[1] & self._rows)
        )

    def tier_size(self, tier: int) -> int:
        """Return the number of boards with exactly this many stones in play; 0 without tables.

        Tables are for two players; if the game stops at the majority, for fewer than all stones,
        since the values with empty kalahs must ignore the stop; and for at most 255 stones, and as
        many boards as 64 bits can number.

        Examples
        --------
        >>> Mancala().tier_size(12)
        1352078
        """
        if 0 <= tier <= self._largest_ending:
            return int(self._ending_counts[tier])
        return 0

    def tier_index(self, state: MancalaState) -> int:
        """Return the number of the board among those with equally many stones in play, from 0 on.

        The board is seen from the mover's side, and kalahs do not count. A move that keeps all
        stones in play leads to a board with a smaller number.
        """
        return rank_rows(
            state.sides[0],
            state.sides[1],
            self._width,
            self._home,
            self._boards_before,
            self._ending_sums,
        )

    def tier_state(self, tier: int, index: int) -> MancalaState:
        """Return the board with that number: empty kalahs, player 0 to move.

        Raises
        ------
        ValueError
            If there is no such board in tables.

        Examples
        --------
        >>> game = Mancala(pits=3, stones=2)
        >>> game.board(game.tier_state(tier=4, index=100))
        Board(rows=((1, 0, 0), (0, 3, 0)), kalahs=(0, 0), player=0)
        """
        if not 0 <= index < self.tier_size(tier):
            raise ValueError("tier_state: no board has this number")  # noqa: EM101, TRY003
        rows = unrank_rows(
            index, tier, self._width, self._home, self._boards_before, self._ending_sums
        )
        return MancalaState(0, rows)

    def next_in_tier(self, state: MancalaState) -> MancalaState:
        """Return the board with the next number, faster than by `tier_state`.

        Examples
        --------
        >>> game = Mancala(pits=3, stones=2)
        >>> game.tier_index(game.next_in_tier(game.tier_state(tier=4, index=100)))
        101
        """
        return MancalaState(
            0, following_rows(state.sides[0], state.sides[1], self._width, self._home)
        )

    def ending_range(self, state: MancalaState, value: float) -> tuple[float, float]:
        """Return bounds of the mover's final payoff from the value in a table.

        Parameters
        ----------
        state : MancalaState
            A position of two players.
        value : float
            The value of the same board for the mover with empty kalahs and without a stop at the
            majority; an integer.

        Returns
        -------
        low, high : float
            The same number twice, unless the game stops at the majority. The winner is then known,
            since the majority wins; the difference is bounded.
        """
        if self.is_terminal(state):
            payoff = self.payoff(state, state.player)
            return payoff, payoff
        own, opponent = state.sides[0] >> self._home, state.sides[1] >> self._home
        end = own - opponent + int(value)
        half = self._largest >> self._home
        held = own + opponent + self.tier(state)
        if end == 0 or half >= held:
            return float(end), float(end)
        if end > 0:
            low, high = winning_range(end, opponent, held, half)
            return float(low), float(high)
        low, high = winning_range(-end, own, held, half)
        return float(-high), float(-low)

    # Text and drawings.

    def position(
        self, *rows: Sequence[int], kalahs: Sequence[int] | None = None, player: int = 0
    ) -> MancalaState:
        """Return the position with these stones.

        Parameters
        ----------
        *rows : sequence of int
            For each player, the stones in their pits, in the order of the numbers of the pits.
        kalahs : sequence of int, optional
            For each player, the stones in their kalah; all stones of the game must then be there.
            If not given, the kalahs are empty, and stones may be missing: these are the rows alone,
            as in a table of endings, and no majority ends their game.
        player : int
            The player to move.

        Raises
        ------
        gamedp.errors.InvalidParameterError
            If the numbers are not a board, or the number of stones is wrong.

        Examples
        --------
        >>> game = Mancala(pits=2, stones=2)
        >>> state = game.position((0, 3), (1, 1), kalahs=(2, 1), player=1)
        >>> game.board(state)
        Board(rows=((0, 3), (1, 1)), kalahs=(2, 1), player=1)
        """
        board = checked_board(
            rows, kalahs, player, players=self.players, pits=self.pits, total=self._total
        )
        sides = [
            pack((*row, kalah), self._width)
            for row, kalah in zip(board.rows, board.kalahs, strict=True)
        ]
        return MancalaState(board.player, tuple(sides[board.player :] + sides[: board.player]))

    def board(self, state: MancalaState) -> Board:
        """Return the position in lists, by players."""
        first = self.players - state.player
        sides = [*state.sides[first:], *state.sides[:first]]
        return Board(
            tuple(unpack(side, self._width, self.pits) for side in sides),
            tuple(side >> self._home for side in sides),
            state.player,
        )

    def action_name(self, state: MancalaState, action: int) -> str:
        """Return the action in words: ``pit 3``."""
        return f"pit {action}"

    def render(self, state: MancalaState) -> str:
        """Return the position as a drawing, with the player to move or the result.

        Examples
        --------
        >>> game = Mancala(pits=3, stones=2)
        >>> print(game.render(game.initial_state()))
        first player to move
                    3  2  1
           second   2  2  2
                 0           0
            first   2  2  2
                    1  2  3
        """
        if self.is_terminal(state):
            kept = [
                self._kept(state, (seat - state.player) % self.players)
                for seat in range(self.players)
            ]
            standing = "game over: " + ", ".join(
                f"{name_of(player, self.players)} {stones}" for player, stones in enumerate(kept)
            )
        else:
            standing = f"{name_of(state.player, self.players)} to move"
        return f"{standing}\n{render(self.board(state))}"

    def view(self, state: MancalaState) -> gamedp.views.Pits:
        """Return the board; for two players, the first one's row is below.

        Examples
        --------
        >>> game = Mancala(pits=3, stones=2)
        >>> print(game.view(game.initial_state()))
                         3 2 1
        second player    2 2 2
                       0       0
        first player     2 2 2
                         1 2 3
        """
        board = self.board(state)
        pits = () if self.is_terminal(state) else tuple(self.actions(state))
        spots = {pit: (state.player, pit - 1) for pit in pits}
        if self.players == 2:
            places = [(1, pit - 1) if state.player == 0 else (0, self.pits - pit) for pit in pits]
            spots = dict(zip(pits, places, strict=True))
        return self._picture(board.rows, board.kalahs, spots)

    def _picture(
        self,
        rows: Sequence[Sequence[int]],
        stores: Sequence[int],
        spots: dict[int, tuple[int, int]] | None = None,
    ) -> gamedp.views.Pits:
        """Return the picture of a board that is given by players."""
        called = (tuple(map(str, range(1, self.pits + 1))),) * self.players
        names = tuple(name_of(player, self.players) for player in range(self.players))
        if self.players == 2:  # sowing goes counterclockwise
            rows, stores, names = (rows[1][::-1], rows[0]), stores[::-1], names[::-1]
            called = (called[0][::-1], called[1])
        return gamedp.views.Pits(rows, stores, names, called, spots=spots or {})

    def steps(
        self, state: MancalaState, action: int, outcome: int
    ) -> Iterator[tuple[str, gamedp.views.Pits]]:
        """Yield what a move does stone by stone, in words and pictures.

        Examples
        --------
        >>> game = Mancala(pits=3, stones=2)
        >>> state = game.position((0, 2, 3), (1, 1, 0), kalahs=(3, 2), player=0)
        >>> for words, _ in game.steps(state, 3, 0):
        ...     if words:
        ...         print(words)
        3 stones of pit 3 are sown
        2 stones in pit 2 of the second player are captured
        2 stones in pit 1 of the second player are captured
        the first player has more than half of all stones
        """
        sowing = _Sowing.of(self, state)
        yield from sowing.move(action - 1)
        ((_, following),) = self.outcomes(state, action)
        if self.is_terminal(following):
            yield from sowing.end(following)


@attrs.define
class _Sowing:
    """A move in lists instead of packed integers, described stone by stone.

    Attributes
    ----------
    game : Mancala
    player : int
        Who sows.
    rows : list of list of int
        The stones in the pits of each player, who count from 0.
    stores : list of int
    """

    game: Mancala
    player: int
    rows: list[list[int]]
    stores: list[int]

    @classmethod
    def of(cls, game: Mancala, state: MancalaState) -> _Sowing:
        """Return a state in lists."""
        board = game.board(state)
        return cls(game, state.player, [list(row) for row in board.rows], list(board.kalahs))

    def picture(self) -> gamedp.views.Pits:
        """Return the board as it is now."""
        return self.game._picture(self.rows, self.stores)  # noqa: SLF001 - in this file

    def move(self, pit: int) -> Iterator[tuple[str, gamedp.views.Pits]]:
        """Yield the steps of a move that begins with a pit of the player who sows."""
        game, own = self.game, self.rows[self.player]
        stones, crossed, chained = own[pit], False, False
        words = "1 stone of" if stones == 1 else f"{stones} stones of"
        words += f" pit {pit + 1} {'is' if stones == 1 else 'are'} sown"
        while True:
            before = list(own)
            own[pit] = 0
            yield words, self.picture()
            crosses = False
            for field in itertools.islice(self._fields(pit), stones):
                side, pit = field
                if pit == game.pits:
                    self.stores[side] += 1
                else:
                    self.rows[side][pit] += 1
                crosses |= side != self.player
                yield "", self.picture()
            crossed = crosses or (crossed and game.chains == "move")
            if side != self.player or pit == game.pits or game.chains == "never" or not crossed:
                break
            if not (before[pit] if game.occupied == "before" else own[pit] - 1):
                break
            stones, chained = own[pit], True
            words = f"the last stone falls into pit {pit + 1}: a chain goes on with {stones}"
        if side == self.player and pit == game.pits:
            if game.move_again:
                yield (
                    "the last stone falls into the own store, which gives another move",
                    (self.picture()),
                )
            return
        yield from self._capture(side, pit, chained=chained)

    def called(self, side: int) -> str:
        """Return the name of a player."""
        return f"player {side + 1}" if self.game.players > 2 else CAPTURED[side]

    def end(self, last: MancalaState) -> Iterator[tuple[str, gamedp.views.Pits]]:
        """Yield why the game is over, and whose the stones are that are left."""
        for side, stored in enumerate(self.stores):
            left = self.game._kept(last, (side - last.player) % self.game.players) - stored  # noqa: SLF001 - in this file
            if left:
                words = f"what is left in the pits counts for {self.called(side)}: {left}"
                yield words, self.picture()
            elif stored > self.game._half and self.game._has_majority(last):  # noqa: SLF001 - likewise
                yield f"{self.called(side)} has more than half of all stones", self.picture()

    def _fields(self, source: int) -> Iterator[tuple[int, int]]:
        """Yield the fields after a pit for ever, each as a side and a place; the store is last."""
        game, own = self.game, self.player
        others = [(own + later) % game.players for later in range(1, game.players)]
        ring = [(own, place) for place in range(game.pits + 1)]
        ring += [(side, place) for side in others for place in range(game.pits)]
        ring = ring[source + 1 :] + ring[: source + (not game.skip_source)]
        return itertools.cycle(ring)

    def _capture(
        self, side: int, pit: int, *, chained: bool
    ) -> Iterator[tuple[str, gamedp.views.Pits]]:
        """Yield the steps of the capture, if any, that follows the last stone."""
        game, own = self.game, self.player
        if side != own:
            if game.captures != "run" and not (game.captures == "run-unchained" and not chained):
                return
            whose = self.called(side)
            while pit >= 0 and self.rows[side][pit] in {2, 3}:
                taken, self.rows[side][pit] = self.rows[side][pit], 0
                self.stores[own] += taken
                yield f"{taken} stones in pit {pit + 1} of {whose} are captured", self.picture()
                pit -= 1
        elif game.captures.startswith("opposite") and self.rows[own][pit] == 1:
            across = game.pits - 1 - pit
            taken = self.rows[1 - own][across]
            if taken or game.captures == "opposite-empty":
                self.rows[own][pit] = self.rows[1 - own][across] = 0
                self.stores[own] += taken + 1
                words = f"the last stone and {taken} across the board are captured"
                yield words if taken else "the last stone is captured", self.picture()
