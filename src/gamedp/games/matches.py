"""Two games of taking matches: from one row, and from several heaps (Nim).

The game with one row is that of "Gewinnstrategie für ein Streichholzspiel" (Jochen Könemann,
14. Algorithmus der Woche): two players in turn take 1, 2 or 3 of 18 matches, and the one who takes
the last one loses. Nim, which the article names as its relative, has several heaps, from one of
which a player takes as many as they like. Either can be played so that the last match loses
(misère) or wins (normal play).

Known values: in the article's game the player to move loses exactly when the number of matches
leaves the remainder 1 on division by 4. For Nim they are those of C. L. Bouton, "Nim, a game with a
complete mathematical theory", Annals of Mathematics 3 (1901). Both closed forms are functions of
this module, which use no solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.games._parameters import (
    a_truth_value,
    as_whole,
    as_whole_tuple,
    texts_of,
    whole_at_least,
    wholes_at_least,
)

__all__ = [
    "Matches",
    "MatchesState",
    "Nim",
    "NimState",
    "matches_winning",
    "nim_winning",
    "nim_winning_moves",
    "winning_takes",
]

MOST_IN_A_ROW = 60
"""Largest number of matches more than the fewest in a row of a pattern."""

PLAYER_NAMES = ("first player", "second player")


class MatchesState(NamedTuple):
    """A position of :class:`Matches`: the player to move, and the number of remaining matches."""

    player: int
    left: int


class NimState(NamedTuple):
    """A position of :class:`Nim`: the player to move, and the remaining matches of each heap."""

    player: int
    heaps: tuple[int, ...]


def _ascending(values: int | Iterable[int]) -> tuple[int, ...]:
    """Convert a parameter to a tuple in ascending order, if its items can be compared."""
    wholes = as_whole_tuple(values)
    try:
        return tuple(sorted(wholes))
    except TypeError:
        return wholes  # the validator refuses it


@attrs.frozen
class Matches:
    """One row of matches, of which the players in turn take a few.

    A player who can take nothing ends the game: under normal play they have lost, under misère
    they have won. With a 1 among `takes` that is the rule about the last match. Without it some
    matches may be left over, and the usual convention for such games stays the same.

    An action is the number of matches taken.

    Parameters
    ----------
    matches : int
        How many there are at the start.
    takes : tuple of int
        The numbers that may be taken at once, kept in ascending order.
    misere : bool
        Whether taking the last match loses; if not, it wins.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> game = Matches()
    >>> list(game.actions(MatchesState(player=0, left=2)))
    [1, 2]
    >>> game.payoff(MatchesState(player=0, left=0), player=0)
    1.0
    """

    matches: int = attrs.field(default=18, converter=as_whole, validator=whole_at_least(0))
    takes: tuple[int, ...] = attrs.field(
        default=(1, 2, 3), converter=_ascending, validator=wholes_at_least(1)
    )
    misere: bool = attrs.field(default=True, validator=a_truth_value)

    num_players = 2
    constant_sum = 0.0
    acyclic = True
    icon = gamedp.views.Heaps((7,))
    texts = texts_of("matches")

    @takes.validator
    def _takes_differ(self, _attribute: object, takes: tuple[int, ...]) -> None:
        if len(set(takes)) != len(takes):
            message = f"takes={shown(takes)} names a number twice; leave one out."
            raise gamedp.errors.InvalidParameterError(message)

    @classmethod
    def presets(cls) -> dict[str, Matches]:
        """Return the games with a name, for the page in the browser."""
        return {"Article": cls(), "Last match wins": cls(misere=False)}

    def initial_state(self) -> MatchesState:
        """Return the whole row, with player 0 to move."""
        return MatchesState(0, self.matches)

    def is_terminal(self, state: MatchesState) -> bool:
        """Return whether fewer matches are left than the least number that may be taken."""
        return state.left < self.takes[0]

    def player(self, state: MatchesState) -> int:
        """Return the player to move."""
        return state.player

    def actions(self, state: MatchesState) -> Iterator[int]:
        """Yield the numbers that may be taken, up to the number of matches left."""
        for take in self.takes:
            if take <= state.left:
                yield take

    def outcomes(self, state: MatchesState, action: int) -> Iterator[tuple[float, MatchesState]]:
        """Yield the only position that follows."""
        yield 1.0, MatchesState(1 - state.player, state.left - action)

    def payoff(self, state: MatchesState, player: int) -> float:
        """Return +1 for the winner and -1 for the loser."""
        return 1.0 if (player == state.player) == self.misere else -1.0

    def canonical(self, state: MatchesState) -> tuple[MatchesState, bool]:
        """Return the position with player 0 to move: the players are symmetric."""
        return MatchesState(0, state.left), state.player == 1

    def action_name(self, state: MatchesState, action: int) -> str:
        """Return the action in words: ``take 2``."""
        return f"take {action}"

    def render(self, state: MatchesState) -> str:
        """Return the position in words.

        Examples
        --------
        >>> Matches().render(MatchesState(player=1, left=17))
        'second player to move: 17 left'
        """
        return f"{PLAYER_NAMES[state.player]} to move: {state.left} left"

    def view(self, state: MatchesState) -> gamedp.views.Heaps:
        """Return the row.

        Examples
        --------
        >>> print(Matches().view(MatchesState(player=1, left=5)))
        1  | | | | |  5
        """
        spots = {take: (0, take) for take in self.actions(state)}
        return gamedp.views.Heaps((state.left,), spots=spots)

    def steps(
        self, state: MatchesState, action: int, outcome: int
    ) -> list[tuple[str, gamedp.views.Heaps]]:
        """Return the take as its only step.

        Examples
        --------
        >>> [(words, _)] = Matches().steps(MatchesState(player=1, left=5), 2, 0)
        >>> words
        '2 taken, 3 left'
        """
        left = state.left - action
        return [(f"{action} taken, {left} left", gamedp.views.Heaps((left,)))]

    def pattern(self, state: MatchesState) -> gamedp.views.Pattern:
        """Return the row of all numbers of matches, or of the nearest ones if there are many.

        Examples
        --------
        >>> pattern = Matches(matches=4).pattern(MatchesState(player=1, left=3))
        >>> [name for name, _ in pattern.row], pattern.here
        (['0', '1', '2', '3', '4'], 3)
        """
        last = min(self.matches, max(MOST_IN_A_ROW, state.left))
        first = max(0, last - MOST_IN_A_ROW)
        row = [(str(left), state._replace(left=left)) for left in range(first, last + 1)]
        return gamedp.views.Pattern(row=row, here=state.left - first)


@gamedp.helper
def in_ascending_order(values: tuple[int, ...]) -> tuple[int, ...]:
    """Return the tuple sorted, in a way that also compiles: by insertion.

    Examples
    --------
    >>> in_ascending_order((7, 3, 5))
    (3, 5, 7)
    """
    for end in range(1, len(values)):
        for place in range(end, 0, -1):
            before, here = values[place - 1], values[place]
            if before <= here:
                break
            values = gamedp.with_item(values, place - 1, here)
            values = gamedp.with_item(values, place, before)
    return values


@attrs.frozen
class Nim:
    """Heaps of matches; the players in turn take one or more from a single heap.

    An action is ``heap * (largest + 1) + taken``, where ``heap`` counts from 0, ``taken`` from 1,
    and ``largest`` is the size of the largest heap at the start: see :meth:`action`. Positions
    that differ in the order of the heaps count as one, in which the heaps ascend.

    Parameters
    ----------
    heaps : tuple of int
        The sizes of the heaps at the start.
    misere : bool
        Whether taking the last match loses; if not, it wins.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> game = Nim()
    >>> action = game.action(heap=2, taken=4)
    >>> game.action_name(game.initial_state(), action)
    'take 4 from heap 3'
    >>> list(game.outcomes(game.initial_state(), action))
    [(1.0, NimState(player=1, heaps=(3, 5, 3)))]
    """

    heaps: tuple[int, ...] = attrs.field(
        default=(3, 5, 7), converter=as_whole_tuple, validator=wholes_at_least(0)
    )
    misere: bool = attrs.field(default=True, validator=a_truth_value)

    num_players = 2
    constant_sum = 0.0
    acyclic = True
    icon = gamedp.views.Heaps((3, 5))
    texts = texts_of("nim")

    @classmethod
    def presets(cls) -> dict[str, Nim]:
        """Return the games with a name, for the page in the browser."""
        return {
            "Article": cls(),
            "Last match wins": cls(misere=False),
            "Four heaps": cls(heaps=(1, 3, 5, 7)),
        }

    def initial_state(self) -> NimState:
        """Return the full heaps, with player 0 to move."""
        return NimState(0, self.heaps)

    def is_terminal(self, state: NimState) -> bool:
        """Return whether no matches are left."""
        return max(state.heaps) == 0

    def player(self, state: NimState) -> int:
        """Return the player to move."""
        return state.player

    def actions(self, state: NimState) -> Iterator[int]:
        """Yield every way to take something from one heap, heap by heap."""
        for heap in range(len(state.heaps)):
            for taken in range(1, state.heaps[heap] + 1):
                yield self.action(heap, taken)

    def outcomes(self, state: NimState, action: int) -> Iterator[tuple[float, NimState]]:
        """Yield the only position that follows."""
        heap = action // self._codes_per_heap()
        taken = action % self._codes_per_heap()
        left = gamedp.with_item(state.heaps, heap, state.heaps[heap] - taken)
        yield 1.0, NimState(1 - state.player, left)

    def payoff(self, state: NimState, player: int) -> float:
        """Return +1 for the winner and -1 for the loser."""
        return 1.0 if (player == state.player) == self.misere else -1.0

    def canonical(self, state: NimState) -> tuple[NimState, bool]:
        """Return the position with player 0 to move and ascending heaps; the winner is the same."""
        return NimState(0, in_ascending_order(state.heaps)), state.player == 1

    def action(self, heap: int, taken: int) -> int:
        """Return the action that takes `taken` from the heap with index `heap`."""
        return heap * self._codes_per_heap() + taken

    def _codes_per_heap(self) -> int:
        return max(self.heaps) + 1

    def action_name(self, state: NimState, action: int) -> str:
        """Return the action in words, the heaps counted from 1: ``take 2 from heap 1``."""
        heap, taken = divmod(action, self._codes_per_heap())
        return f"take {taken} from heap {heap + 1}"

    def render(self, state: NimState) -> str:
        """Return the position in words.

        Examples
        --------
        >>> Nim().render(NimState(player=0, heaps=(3, 5, 7)))
        'first player to move: heaps of 3, 5, 7'
        """
        heaps = ", ".join(str(left) for left in state.heaps)
        return f"{PLAYER_NAMES[state.player]} to move: heaps of {heaps}"

    def view(self, state: NimState) -> gamedp.views.Heaps:
        """Return the heaps.

        Examples
        --------
        >>> print(Nim().view(Nim().initial_state()))
        1  | | |          3
        2  | | | | |      5
        3  | | | | | | |  7
        """
        few = sum(state.heaps) <= gamedp.views.MOST_PARTS
        actions = self.actions(state) if few else ()
        spots = {each: divmod(each, self._codes_per_heap()) for each in actions}
        return gamedp.views.Heaps(state.heaps, spots=spots)

    def steps(
        self, state: NimState, action: int, outcome: int
    ) -> list[tuple[str, gamedp.views.Heaps]]:
        """Return the take as its only step.

        Examples
        --------
        >>> game = Nim()
        >>> [(words, _)] = game.steps(game.initial_state(), game.action(heap=2, taken=4), 0)
        >>> words
        '4 taken from heap 3, 3 left there'
        """
        heap, taken = divmod(action, self._codes_per_heap())
        [(_, following)] = self.outcomes(state, action)
        words = f"{taken} taken from heap {heap + 1}, {following.heaps[heap]} left there"
        return [(words, gamedp.views.Heaps(following.heaps))]

    def pattern(self, state: NimState) -> gamedp.views.Pattern:
        """Return the heaps in binary digits, with the nim-sum and what it says (Bouton, 1901).

        Examples
        --------
        >>> pattern = Nim().pattern(NimState(player=0, heaps=(1, 2, 3)))
        >>> print(pattern.view)
        heap 1   1  0 1
        heap 2   2  1 0
        heap 3   3  1 1
        nim-sum  0  0 0
        >>> pattern.claim, pattern.words
        ('loss', 'the nim-sum is 0: whoever is to move loses')
        """
        heaps, total = state.heaps, gamedp.sums.nim_sum(*state.heaps)
        width = max(heaps).bit_length()
        rows = [
            (name, heap, " ".join(f"{heap:0{width}b}"))
            for name, heap in (
                *((f"heap {number}", heap) for number, heap in enumerate(heaps, start=1)),
                ("nim-sum", total),
            )
        ]
        large = sum(heap > 1 for heap in heaps)
        wins = nim_winning(heaps, misere=self.misere)
        if self.misere and large == 0:
            words = f"{sum(heaps)} single matches are left: with an even number the mover wins"
        elif self.misere and large == 1:
            words = "one heap alone has more than 1: leave an odd number of single matches"
        elif wins:
            words = f"the nim-sum is {total}: whoever is to move wins by making it 0"
        else:
            words = "the nim-sum is 0: whoever is to move loses"
        view = gamedp.views.Card(rows) if len(rows) * 3 <= gamedp.views.MOST_PARTS else None
        return gamedp.views.Pattern(words, claim="win" if wins else "loss", view=view)


def matches_winning(left: int, takes: Sequence[int] = (1, 2, 3), *, misere: bool = True) -> bool:
    """Return whether the player to move can force a win of :class:`Matches`, by the closed form.

    With takes of 1 to k, the mover loses exactly when the number of matches leaves on division
    by k + 1 the remainder 1 (misère) or 0 (normal play): the other one answers a take of y with a
    take of k + 1 - y.

    Parameters
    ----------
    left : int
        The number of matches.
    takes : sequence of int
        1 to some k; there is no closed form here for others.
    misere : bool
        Whether taking the last match loses.

    Raises
    ------
    ValueError
        If `takes` is anything other than 1 to k, or `left` is negative.

    References
    ----------
    "Gewinnstrategie für ein Streichholzspiel", 14. Algorithmus der Woche.

    Examples
    --------
    >>> "".join("J" if matches_winning(left) else "N" for left in range(1, 19))
    'NJJJNJJJNJJJNJJJNJ'
    """
    return _excess(left, takes, misere=misere) != 0


def winning_takes(
    left: int, takes: Sequence[int] = (1, 2, 3), *, misere: bool = True
) -> tuple[int, ...]:
    """Return the takes of :class:`Matches` that force a win: none, or a single one.

    Parameters and errors are those of :func:`matches_winning`.

    Examples
    --------
    >>> winning_takes(18), winning_takes(17), winning_takes(15)
    ((1,), (), (2,))
    """
    excess = _excess(left, takes, misere=misere)
    return (excess,) if 0 < excess <= left else ()


def _excess(left: int, takes: Sequence[int], *, misere: bool) -> int:
    """Return the excess of `left` over the nearest lost number below, modulo k + 1."""
    largest = len(takes)
    if largest == 0 or sorted(takes) != list(range(1, largest + 1)):
        message = (
            f"takes={shown(tuple(takes))} has no closed form here, only (1, 2, ..., k) has; "
            "solve the game Matches instead."
        )
        raise ValueError(message)
    if left < 0:
        message = f"left={left} matches cannot be; give 0 or more."
        raise ValueError(message)
    return (left - misere) % (largest + 1)


def nim_winning(heaps: Sequence[int], *, misere: bool = True) -> bool:
    """Return whether the player to move can force a win of :class:`Nim`, by Bouton's theorem.

    The mover loses exactly when the binary digits of the heaps, added without carrying, are all
    zero. Under misère this holds only while some heap has two matches or more; with only heaps of
    one match, it is reversed, and an odd number of them loses.

    Parameters
    ----------
    heaps : sequence of int
        The sizes of the heaps.
    misere : bool
        Whether taking the last match loses.

    References
    ----------
    C. L. Bouton, "Nim, a game with a complete mathematical theory", Annals of Mathematics 3 (1901),
    35-39.

    Examples
    --------
    >>> nim_winning((3, 5, 7)), nim_winning((1, 2, 3))
    (True, False)
    >>> nim_winning((1, 1), misere=True), nim_winning((1, 1), misere=False)
    (True, False)
    """
    reversed_end = misere and max(heaps, default=0) <= 1
    return (gamedp.sums.nim_sum(*heaps) != 0) != reversed_end


def nim_winning_moves(heaps: Sequence[int], *, misere: bool = True) -> tuple[tuple[int, int], ...]:
    """Return the moves of :class:`Nim` that force a win, as pairs (index of the heap, taken).

    A heap is reduced to the sum of the other heaps without carrying, which makes the whole sum
    zero. Only if all other heaps have at most one match, misère play reverses this and leaves an
    odd number of single matches. Each heap thus has at most one winning move.

    Parameters and references are those of :func:`nim_winning`.

    Examples
    --------
    >>> nim_winning_moves((3, 5, 7))
    ((0, 1), (1, 1), (2, 1))
    >>> nim_winning_moves((1, 4), misere=True), nim_winning_moves((1, 4), misere=False)
    (((1, 4),), ((1, 3),))
    """
    moves = []
    for index, heap in enumerate(heaps):
        others = (*heaps[:index], *heaps[index + 1 :])
        reversed_end = misere and max(others, default=0) <= 1
        left = gamedp.sums.nim_sum(*others) ^ reversed_end
        if left < heap:
            moves.append((index, heap - left))
    return tuple(moves)
