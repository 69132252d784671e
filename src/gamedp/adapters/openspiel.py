"""Games of OpenSpiel with perfect information and alternate moves, as rules."""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias

import attrs

from gamedp.adapters.packages import installed, meant
from gamedp.errors import (
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)
from gamedp.runtime.options import one_of

Telling: TypeAlias = Literal["text", "counts", "history"]
"""The way to tell two states apart: see :class:`OpenSpiel`."""

DRAWN_MOVES = 20_000
"""Number of moves that are drawn to find out what distinguishes states."""

COMPARED_MOVES = 40
"""Number of moves that two histories are followed which look the same."""

LONGEST_DRAW = 300
"""Number of moves after which a drawn game is left."""

MOST_OUTCOMES = 100_000
"""Largest number of outcomes of one action."""

CACHED_STATES = 4_096
"""Number of OpenSpiel's states that are kept ready."""

BROKEN = ("morpion_solitaire",)
"""Games whose states OpenSpiel cannot copy: the process would end."""

NEAR = Fraction(1, 2**50)
"""Distance of the difference of two sums of floats from the one that is meant, for sums of one."""

MAX_SIMPLE_DENOMINATOR = 1_000
"""Largest denominator of a reward that is taken for a simple fraction."""


TEXTS: Mapping[str, Mapping[str, Any]] = {
    "en": {
        "about": "A game of OpenSpiel in which all see everything, and one moves at a time.",
        "rules": {
            "": "This is {name} of OpenSpiel, whose rules are not written here: try the moves in "
            "the list, which are all that are allowed."
        },
        "parameters": {
            "name": "The game, with its parameters: pig(winscore=15,horizon=4).",
            "tells": "What tells positions apart: the text and the number of moves; the text and "
            "how often each has moved; or the whole history.",
        },
    },
    "de": {
        "about": "Ein Spiel von OpenSpiel, in dem alle alles sehen und immer einer zieht.",
        "rules": {
            "": "Das ist {name} von OpenSpiel, dessen Regeln hier nicht stehen: Probiere die Züge "
            "in der Liste aus, es sind alle erlaubten."
        },
        "parameters": {
            "name": "Das Spiel mit seinen Parametern: pig(winscore=15,horizon=4).",
            "tells": "Was Stellungen unterscheidet: der Text und die Zahl der Züge; der Text und "
            "wie oft jeder gezogen hat; oder der ganze Verlauf.",
        },
    },
}


class _Fields(NamedTuple):
    game: str
    tells: str
    moves: str


class SpielState(_Fields):
    """A position: the game, what distinguishes its states, and the moves that have led to it.

    Two of them are equal if OpenSpiel shows the same for both; `moves`, the numbers of all actions
    and outcomes of chance so far, are only one way to get there.
    """

    @functools.cached_property
    def key(self) -> Hashable:
        """The part that equal states have in common."""
        return _spiel(self.game).key(self.tells, self.moves)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse any change, as tuples do."""
        message = f"{name} of a state cannot be changed"
        raise AttributeError(message)

    def __hash__(self) -> int:
        """Return the same number for equal states."""
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same state."""
        if not isinstance(other, SpielState):
            return False
        return self[:2] == other[:2] and (self.moves == other.moves or self.key == other.key)

    def __ne__(self, other: object) -> bool:
        """Return whether both are different states."""
        return not self == other


def _as_text(game: Any) -> Any:
    """Return the text that loads a game of OpenSpiel; anything else unchanged."""
    return game.to_string() if hasattr(game, "new_initial_state") else game


def _refuse_others(_game: object, _attribute: object, name: Any) -> None:
    if not isinstance(name, str):
        message = (
            f"name is {shown(name)}; it must be a game of OpenSpiel or its name, such as "
            "tic_tac_toe or pig(winscore=15,horizon=4)."
        )
        raise InvalidParameterError(message)


@attrs.frozen(slots=False)
class OpenSpiel:
    """A game of OpenSpiel in which all see everything, and one moves at a time.

    OpenSpiel's [1]_ states can be compared by their texts alone, and these do not always say
    everything: in ``pig(winscore=15,horizon=4)`` the limit of moves is not in the text. So states
    count as equal if their texts, movers and numbers of moves are, unless histories drawn at random
    show that games go on differently from there; then also the number of moves of each player and
    of chance must be equal, and if even that does not do, only the history itself is the state.
    Random moves prove nothing: ``tells="history"`` never merges two histories, in games that are
    small enough.

    Chance is folded into the actions before it. Its probabilities are taken as the fractions that
    they are rounded from. Two players who are not opponents (OpenSpiel's utility is neither
    zero-sum nor constant-sum) each maximise their own payoff, as in all games of three and more.

    Parameters
    ----------
    name : str or pyspiel.Game
        As ``pyspiel.load_game`` takes it: ``tic_tac_toe``, ``pig(winscore=15,horizon=4)``. A game
        of your own is registered before (``pyspiel.register_game``).
    tells : {"text", "counts", "history"}, optional
        What distinguishes states: the text, the mover and the number of moves; instead of this
        number, how often each player and chance have moved; or the history. Found by drawing games
        if not given.

    Raises
    ------
    UnknownNameError
        If OpenSpiel has no such game.
    InvalidParameterError
        If it cannot load the game with these parameters.
    UnsupportedProblemError
        If players move at the same time, do not see everything, or probabilities are not known.
    MissingPackageError
        If OpenSpiel is not installed: ``pip install gamedp[openspiel]``.

    References
    ----------
    .. [1] M. Lanctot et al., "OpenSpiel: A Framework for Reinforcement Learning in Games", 2019.
       https://github.com/google-deepmind/open_spiel

    Examples
    --------
    >>> import gamedp
    >>> solution = gamedp.solve(gamedp.adapters.OpenSpiel("tic_tac_toe"))
    >>> solution.value(), solution.model.num_states
    (0.0, 5478)
    """

    name: str = attrs.field(converter=_as_text, validator=_refuse_others)
    tells: Telling | None = attrs.field(
        default=None, validator=attrs.validators.optional(one_of(Telling))
    )

    acyclic = True  # the number of moves grows
    __gamedp_plain__ = True

    def __attrs_post_init__(self) -> None:
        """Refuse immediately what cannot be a game."""
        _spiel(self.name)

    @property
    def num_players(self) -> int:
        """The number of players."""
        return _spiel(self.name).players

    @property
    def constant_sum(self) -> float | None:
        """The sum of the payoffs of two opponents; None if each has payoffs of their own."""
        return _spiel(self.name).sum

    @functools.cached_property
    def _told_by(self) -> str:
        return self.tells or _spiel(self.name).tells

    @staticmethod
    def texts(language: str) -> Mapping[str, Any]:
        """Return what the page in the browser says of the game."""
        return TEXTS.get(language, {})

    def initial_state(self) -> list[tuple[Any, SpielState]]:
        """Return the distribution of the first state."""
        start = _spiel(self.name).game.new_initial_state()
        return [(chance, self._state(after)) for chance, after, _ in _drawn(start)]

    def is_terminal(self, state: SpielState) -> bool:
        """Return whether the game is over."""
        return bool(_at(state).is_terminal())

    def player(self, state: SpielState) -> int:
        """Return the player to move."""
        mover = _at(state).current_player()
        if mover < 0:
            message = f"nobody is to move in {shown(state)}: OpenSpiel says player {mover}."
            raise InvalidModelError(message)
        return int(mover)

    def actions(self, state: SpielState) -> list[int]:
        """Return OpenSpiel's numbers of the legal actions."""
        return list(_at(state).legal_actions())

    def outcomes(self, state: SpielState, action: int) -> Iterator[tuple[Any, ...]]:
        """Yield the next positions at which someone moves, or the game is over.

        With what player 0 gets on the way there, where that hangs on chance.
        """
        gains = self._gains(state, action)
        for number, (chance, after, _) in enumerate(_drawn(_at(state).child(action))):
            outcome = chance, self._state(after)
            yield outcome if gains is None else (*outcome, gains[number])

    def payoff(self, state: SpielState, player: int) -> float:
        """Return what a player gets at the end; nothing, if it all comes on the way."""
        spiel = _spiel(state.game)
        if spiel.pays_on_the_way:
            return 0.0
        return spiel.checked(_at(state).returns()[player])

    def reward(self, state: SpielState, action: int, player: int) -> Fraction | float:
        """Return what a player gets for an action, in games that pay on the way.

        Where that hangs on chance, and all players have payoffs of their own, it is the mean;
        otherwise the outcomes have it.
        """
        spiel = _spiel(state.game)
        if not spiel.pays_on_the_way or self._gains(state, action) is not None:
            return 0.0
        before = _at(state)
        had = before.returns()[player]
        parts = (
            Fraction(chance) * _gain(had, after.returns()[player])
            for chance, after, _ in _drawn(before.child(action))
        )
        expected = sum(parts, Fraction())
        return float(expected) if spiel.has_own_payoffs else expected

    @staticmethod
    def _gains(state: SpielState, action: int) -> list[Fraction] | None:
        """Return what player 0 gets with each outcome, if they differ and the model can have it."""
        spiel = _spiel(state.game)
        if not spiel.pays_on_the_way or spiel.has_own_payoffs:
            return None
        before = _at(state)
        had = before.returns()[0]
        gains = [_gain(had, after.returns()[0]) for _, after, _ in _drawn(before.child(action))]
        return gains if len(set(gains)) > 1 else None

    def value_range(self, state: SpielState, player: int) -> tuple[float, float]:  # noqa: ARG002 - as in the protocol
        """Return the range of payoffs that OpenSpiel states, in games that pay at the end."""
        spiel = _spiel(state.game)
        if spiel.pays_on_the_way:
            return -math.inf, math.inf
        return spiel.range

    def action_name(self, state: SpielState, action: int) -> str:
        """Return OpenSpiel's words for an action."""
        at = _at(state)
        return str(at.action_to_string(at.current_player(), action))

    def outcome_name(self, state: SpielState, action: int, outcome: int) -> str:
        """Return OpenSpiel's words for an outcome of chance."""
        return ", ".join(_drawn(_at(state).child(action))[outcome][2])

    def render(self, state: SpielState) -> str:
        """Return OpenSpiel's text of a state."""
        return str(_at(state)).rstrip("\n")

    def _state(self, at: Any) -> SpielState:
        """Return the state of gamedp for one of OpenSpiel."""
        tells = self._told_by
        state = SpielState(self.name, tells, " ".join(map(str, at.history())))
        state.__dict__["key"] = _KEYS[tells](at)
        return state


def _at(state: SpielState) -> Any:
    """Return OpenSpiel's own state, which nobody changes."""
    return _spiel(state.game).at(state.moves)


def _by_counts(at: Any) -> Hashable:
    movers = Counter(move.player for move in at.full_history())
    return str(at), at.current_player(), tuple(sorted(movers.items()))


_KEYS: dict[str, Callable[[Any], Hashable]] = {
    "text": lambda at: (str(at), at.current_player(), at.move_number()),
    "counts": _by_counts,
    "history": lambda at: tuple(at.history()),
}


def _drawn(at: Any) -> list[tuple[Any, Any, tuple[str, ...]]]:
    """Return the outcomes of chance: probabilities, states, and the words of each event.

    Raises
    ------
    UnsupportedProblemError
        If there are too many outcomes to list.
    """
    if not at.is_chance_node():
        return [(1.0, at, ())]
    found: list[tuple[Any, Any, tuple[str, ...]]] = []
    waiting: list[tuple[Any, Any, tuple[str, ...]]] = [(Fraction(1), at, ())]
    while waiting:
        chance, state, words = waiting.pop()
        if not state.is_chance_node():
            found.append((chance, state, words))
            continue
        events, probabilities = zip(*state.chance_outcomes(), strict=True)
        for event, part in reversed(list(zip(events, meant(probabilities), strict=True))):
            said = state.action_to_string(state.current_player(), event)
            waiting.append((chance * part, state.child(event), (*words, said)))
        if len(found) + len(waiting) > MOST_OUTCOMES:
            message = (
                f"chance decides among more than {MOST_OUTCOMES:,} outcomes at once in "
                f"{at.get_game().to_string()}: too many to list."
            )
            raise UnsupportedProblemError(message)
    return found


def _gain(before: float, after: float) -> Fraction:
    """Return the difference of two running sums as the fraction that is meant.

    Examples
    --------
    >>> _gain(0.1 + 0.2, 0.1 + 0.2 + 0.1)
    Fraction(1, 10)
    """
    exact = Fraction(after) - Fraction(before)
    simple = exact.limit_denominator(MAX_SIMPLE_DENOMINATOR)
    size = max(Fraction(1), abs(Fraction(after)), abs(Fraction(before)))
    return simple if abs(simple - exact) <= NEAR * size else exact


def _gains(before: Any, after: Any) -> list[Fraction]:
    """Return what each player has got between two states."""
    return [_gain(*pair) for pair in zip(before.returns(), after.returns(), strict=True)]


@attrs.frozen(eq=False, slots=False)
class _Spiel:
    """A game that OpenSpiel has loaded, with what is known of it."""

    game: Any

    @functools.cached_property
    def players(self) -> int:
        """The number of players who move."""
        return int(self.game.num_players())

    @functools.cached_property
    def pays_on_the_way(self) -> bool:
        """Whether payoffs come with the moves."""
        kind = self.game.get_type()
        return bool(kind.reward_model == type(kind).RewardModel.REWARDS)

    @functools.cached_property
    def sum(self) -> float | None:
        """The sum of all payoffs, if there is one."""
        kind = self.game.get_type()
        utility = type(kind).Utility
        if kind.utility == utility.ZERO_SUM:
            return 0.0
        total = self.game.utility_sum() if kind.utility == utility.CONSTANT_SUM else None
        return None if total is None else float(total)

    @property
    def has_own_payoffs(self) -> bool:
        """Whether each player has payoffs of their own, with no constant sum."""
        return self.players > 2 or (self.players == 2 and self.sum is None)

    @functools.cached_property
    def range(self) -> tuple[float, float]:
        """The least and the largest payoff."""
        return float(self.game.min_utility()), float(self.game.max_utility())

    def checked(self, payoff: float) -> float:
        """Return a payoff; raise InvalidModelError if OpenSpiel says it cannot be."""
        low, high = self.range
        if low <= payoff <= high:
            return float(payoff)
        message = (
            f"{self.game.to_string()} ends with a payoff of {payoff!r}, and says that all are from "
            f"{low!r} to {high!r}."
        )
        raise InvalidModelError(message)

    @functools.cached_property
    def at(self) -> Callable[[str], Any]:
        """Return the state after some moves."""
        return functools.lru_cache(CACHED_STATES)(self._replayed)

    def _replayed(self, moves: str) -> Any:
        """Play moves, which may come from anywhere.

        Raises
        ------
        UnknownStateError
            If they are none, or not legal.
        """
        at = self.game.new_initial_state()
        for number, move in enumerate(moves.split(), 1):
            legal = () if at.is_terminal() else at.legal_actions()
            action = int(move) if move.isascii() and move.isdigit() and len(move) < 19 else -1
            if action not in legal:
                message = (
                    f"the moves {shown(moves)} are not possible in {self.game.to_string()}: number "
                    f"{number} is {shown(move)}, and "
                    + (f"{_list_numbers(legal)} can be played." if legal else "the game is over.")
                )
                raise UnknownStateError(message)
            at.apply_action(action)
        if at.is_chance_node():
            message = (
                f"the moves {shown(moves)} of {self.game.to_string()} lack an outcome of chance at "
                f"the end: one of {_list_numbers(at.legal_actions())}."
            )
            raise UnknownStateError(message)
        return at

    def key(self, tells: str, moves: str) -> Hashable:
        """Return what distinguishes a state from others."""
        if tells not in _KEYS:
            message = f"tells is {shown(tells)} in a state; it must be one of {', '.join(_KEYS)}."
            raise UnknownStateError(message)
        return _KEYS[tells](self.at(moves))

    @functools.cached_property
    def tells(self) -> str:
        """The coarsest key under which no two histories that continue differently were equal."""
        return next((tells for tells in ("text", "counts") if self._agree(tells)), "history")

    def _agree(self, tells: str) -> bool:
        """Return whether histories drawn at random that look the same go on the same."""
        key, chosen = _KEYS[tells], random.Random(0)  # noqa: S311 - the same in every process
        met: dict[Hashable, Any] = {}
        left = DRAWN_MOVES
        while left > 0:
            at = self.game.new_initial_state()
            for _ in range(LONGEST_DRAW):
                left -= 1
                if not at.is_chance_node():
                    before = met.setdefault(key(at), at)
                    if before is not at and before.history() != at.history():
                        left -= COMPARED_MOVES
                        if not self._go_on_the_same(before, at, key, chosen):
                            return False
                if at.is_terminal() or left <= 0:
                    break
                if not (legal := at.legal_actions()):
                    message = f"nobody can move in {self.game.to_string()} after {at.history()}."
                    raise InvalidModelError(message)
                at = at.child(chosen.choice(legal))
        return True

    def _go_on_the_same(
        self, one: Any, other: Any, key: Callable[[Any], Hashable], chosen: random.Random
    ) -> bool:
        """Return whether two states look the same along some moves that both make."""
        for _ in range(COMPARED_MOVES):
            if self._looks(one, key) != self._looks(other, key):
                return False
            if one.is_terminal():
                return True
            action = chosen.choice(one.legal_actions())
            nexts = one.child(action), other.child(action)
            if self.pays_on_the_way and _gains(one, nexts[0]) != _gains(other, nexts[1]):
                return False
            one, other = nexts
        return True

    def _looks(self, at: Any, key: Callable[[Any], Hashable]) -> tuple[Any, ...]:
        """Return all that rules say of a state."""
        if at.is_terminal():
            return key(at), "over", None if self.pays_on_the_way else tuple(at.returns())
        if at.is_chance_node():
            return str(at), "chance", tuple(at.chance_outcomes())
        return key(at), at.current_player(), tuple(at.legal_actions())


def _list_numbers(actions: Any) -> str:
    """Return some of many numbers in words."""
    words = ", ".join(map(str, actions[:10]))
    return f"{words}, ..." if len(actions) > 10 else words


@functools.lru_cache(64)
def _spiel(text: str) -> _Spiel:
    """Return the game that a text loads.

    Raises
    ------
    UnknownNameError, InvalidParameterError, UnsupportedProblemError
        As in :class:`OpenSpiel`.
    """
    pyspiel = installed("pyspiel", "gamedp[openspiel]")
    short = text.partition("(")[0]
    known = pyspiel.registered_names()
    if short not in known:
        what = "game of OpenSpiel"
        raise UnknownNameError.nearest(what, short, known)
    _refuse_parameters(pyspiel, text, short)
    try:
        game = pyspiel.load_game(text)
        game.new_initial_state()
    except Exception as error:  # OpenSpiel and games written in Python may raise anything
        message = f"OpenSpiel cannot load {text}: {type(error).__name__}: {error}"
        raise InvalidParameterError(message) from error
    _refuse_kind(text, game.get_type())
    return _Spiel(game)


def _refuse_parameters(pyspiel: Any, text: str, short: str) -> None:
    """Raise InvalidParameterError where OpenSpiel would write its own lines before it raises."""
    if not _is_closed(text[len(short) :]):
        message = f"name is {shown(text)}; parameters are written as in pig(winscore=15,horizon=4)."
        raise InvalidParameterError(message)
    (kind,) = (each for each in pyspiel.registered_games() if each.short_name == short)
    allowed = kind.parameter_specification
    for name, value in pyspiel.game_parameters_from_string(text).items():
        if name == "name" or not allowed:
            continue
        if name not in allowed:
            what = f"parameter of {short}"
            raise UnknownNameError.nearest(what, name, allowed)
        default = allowed[name]
        if type(default) in {bool, int, str} and type(value) is not type(default):
            message = (
                f"{name} is {shown(value)} in {shown(text)}; it must be a "
                f"{type(default).__name__}, such as {default!r}."
            )
            raise InvalidParameterError(message)
        if type(default) is int and default > 0 and value < 1:  # such sizes would end the process
            message = f"{name} is {value} in {shown(text)}; it must be 1 at least."
            raise InvalidParameterError(message)


def _is_closed(brackets: str) -> bool:
    """Return whether a text is empty, or one pair of brackets with all that is in them.

    Examples
    --------
    >>> _is_closed("(game=nim())"), _is_closed("()()"), _is_closed("(")
    (True, False, False)
    """
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in brackets))
    return not depths or (depths[-1] == 0 and all(depth > 0 for depth in depths[:-1]))


def _refuse_kind(text: str, kind: Any) -> None:
    """Raise UnsupportedProblemError for games with hidden information or simultaneous moves."""
    types = type(kind)
    reasons = []
    if kind.dynamics != types.Dynamics.SEQUENTIAL:
        reasons.append("players move at the same time")
    if kind.information != types.Information.PERFECT_INFORMATION:
        reasons.append("players do not see everything")
    if kind.chance_mode == types.ChanceMode.SAMPLED_STOCHASTIC:
        reasons.append("the probabilities of chance are not told")
    if kind.short_name in BROKEN:
        reasons.append("OpenSpiel's copies of its states damage the memory")
    if reasons:
        message = (
            f"{text} cannot be solved here: {' and '.join(reasons)}. gamedp solves games in which "
            "one player moves at a time and all see everything; for others, OpenSpiel itself has "
            "algorithms, such as its CFR."
        )
        raise UnsupportedProblemError(message)
