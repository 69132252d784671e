"""The rules of a game: the methods that a class must have, and the defaults of the others.

A game is a plain class, preferably a frozen attrs class of numbers, tuples and arrays. It inherits
from nothing; :class:`Game` only documents the protocol. Nothing here solves anything.

In a staged game the same sub-game, the stage, is played again and again, in many contexts. A turn
at Kniffel is such a stage and the score card its context; the value of the turn depends on the
card. The stage is an ordinary game, explored once; a solver sweeps it for many contexts at a time.
"""

from __future__ import annotations

import enum
import functools
import itertools
import operator
from collections.abc import Hashable, Iterable, Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import attrs
import numpy as np

from gamedp.errors import SEVERAL_STARTS, InvalidModelError, UnknownStateError, shown
from gamedp.rules.exactness import added, as_exact, as_sum_of_two, as_truth
from gamedp.rules.layout import shaped_like
from gamedp.rules.slips import (
    Calling,
    nearest,
    refuse_arguments,
    refuse_hidden,
    refuse_no_mover,
    refuse_properties,
    refuse_value,
    warn_of_slips,
    way_of_neighbour,
)
from gamedp.views import MOST_LETTERS, Pattern, Text, View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

__all__ = [
    "AnyRules",
    "Game",
    "Rules",
    "StagedGame",
    "StagedRules",
    "helper",
    "is_staged",
    "with_item",
]

State: TypeAlias = Hashable
Item = TypeVar("Item")
Function = TypeVar("Function", bound="Callable[..., Any]")

MOST_PLAYERS = 127
"""Largest number of players that the model's array of players can hold."""

REQUIRED = ("initial_state", "is_terminal", "actions", "outcomes", "payoff")
"""The methods that every game must have."""

HELPER_MARK = "__gamedp_helper__"

PLAIN_MARK = "__gamedp_plain__"
"""Set by a class whose rules ask others, as of another library: no news that they stay plain."""


class Game(Protocol):
    """The methods of a game; only these five are required.

    A state is a NamedTuple of ints, or of fixed-length tuples of ints (then the rules are compiled
    by numba, if it can), or any hashable object (then they run as plain Python). An action is an
    int, or in plain Python any hashable object: a text, a NamedTuple, a member of an Enum. Integers
    of compiled rules have 64 bits: a result that does not fit is an error.

    A game has perfect information, and players take turns: in each state one player moves, who sees
    the whole state, and only chance, with the probabilities of `outcomes`, is unknown beforehand.
    Simultaneous moves, or cards that only one player sees, cannot be expressed. Written with open
    turns, rock-paper-scissors is a game that the second player always wins, and this is then the
    proven value. The results of all methods depend only on their arguments and on the game's
    fields: the rules draw no random numbers and keep no counts.

    The objective, not the game, sets the value of endless play: ``gamedp.TotalReward(draw=...)``.

    Optional members, with their defaults:

    ``num_players = 1``
        2 for two opponents (player 0 maximises the value, player 1 minimises it); more for max-n.
    ``constant_sum = 0.0``
        The sum of two players' payoffs, such as 1.0 for winning probabilities; the sum of their
        rewards on the way is 0. None for two players who each have payoffs of their own, as three
        and more have: the solution is then a subgame-perfect equilibrium.
    ``player(state) -> int``
        The player to move; 0. Required with two or more players; not with two opponents if
        `canonical` makes the players change places: then player 0 moves in the representatives,
        and player 1 where the players change places to get there.
    ``reward(state, action, player) -> float``
        The immediate reward of `player` for the action; 0. In plain Python, a reward that depends
        on the next state is the third item of an outcome, ``(probability, state, reward)``: player
        0's, or a tuple of one for each player. Values use its mean, exactly.
    ``canonical(state) -> (representative, swapped)``
        Symmetry. All states with the same representative have the same value; where `swapped` is
        true the two players have changed places. ``(state, False)``.
    ``box() -> mapping``
        The range of each field of a state, ``{"left": (0, 18)}``, both ends included: where
        ``gamedp.compile(game, states="all")`` looks for states. A field within a tuple is named
        ``board[3]``. None.
    ``is_state(state) -> bool``
        Whether a combination of the box is a real state; ``True``.
    ``acyclic``
        A claim: no state can be reached from itself. Checked by :func:`gamedp.testing.check_game`.
    ``action_name(state, action) -> str``, ``render(state) -> str``
        A description for people.
    ``outcome_name(state, action, outcome) -> str``
        The outcome of chance in words, such as ``a 3``: `outcome` is its place, from 0, among the
        `outcomes` of the action. Empty if there are no words for it; ``""``.
    ``view(state) -> gamedp.views.View``
        A picture of the state: heaps, a grid, dice, ... Drawn by the page in the browser and in the
        terminal; the text of `render`.
    ``outcome_view(state, action, outcome) -> gamedp.views.View or None``
        A picture of an outcome of chance, such as dice; None.
    ``steps(state, action, outcome) -> list of (str, gamedp.views.View)``
        What happens until the next position, step by step: words, which may be empty, and the
        picture then; the last one is that of the next state, without spots. `outcome` is 0 where
        there is no chance. The page in the browser plays and tells them one by one. It is never
        compiled, and its words are translated as ``names`` of `texts`; no steps.
    ``pattern(state) -> gamedp.views.Pattern or None``
        Why a position where play goes on is won or lost, as far as there is a pattern, such as the
        nim-sum. The page in the browser shows it under "Why?", and only what the solution proves.
        It is never compiled, and its words are translated as ``names`` of `texts`; none.
    ``surface``
        Three fields of the state and an action, ``(x, y, z, action)``: the page in the browser
        draws the states in which the policy takes the action; none. A fifth part, ``(x, y)``, says
        where it shows them first.
    ``texts(language) -> mapping``
        The words of the game in a language, ``"en"`` or ``"de"``, for the page in the browser; a
        static method, which is never compiled. Any of: ``about``, a sentence for the list of games;
        ``parameters``, what each parameter means, by its name; ``names``, what the game calls its
        parameters, fields, actions and outcomes, such as ``{"take {}": "nimm {}"}``;
        ``payoff_unit``, what is won, ``{"one": "{} point", "other": "{} points"}``;
        ``sentences``, its error messages, such as ``{"{} is below {}.": "{0} ist unter {1}."}``. An
        original that fits comes first; ``{}`` stands for any text in it. A name such as
        ``misere=true`` is what the title says of a parameter with that value; ``rules``, the rules
        in a few sentences, by the condition under which each holds, such as
        ``{"take": "You take {takes} of {matches} matches.", "misere=true": "...", "misere!=true &
        takes=1": "..."}``; a key without ``=`` always holds, and ``{takes}`` stands for the value
        of a parameter, several joined by ``{takes:or}`` or ``{takes:and}``. The docstring, and the
        names as they are.
    ``presets() -> mapping``
        Games of this class that have a name, such as ``{"Wubbel": cls(), "Pig": cls.pig()}``, to be
        chosen in the browser; a class method, which is never compiled. The first one is the game
        with the defaults; one for another number of players has an entry of its own in the list of
        games. None.
    ``icon``
        A view, drawn small in the list of games; the first letter of the name.

    Search, which builds no model, reads some more; all are about what `player` gets from `state`
    onwards:

    ``heuristic(state, player) -> float``
        An estimate, used where the depth of a search ends; half of `constant_sum`, else 0.
    ``value_range(state, player) -> (low, high)``
        Certain bounds of the value without looking ahead; infinite ones.

    Tables of all positions on disk ask for ``tier(state)`` and others, ``box()`` among them; see
    :func:`gamedp.tables.tabulate`.

    Examples
    --------
    >>> import gamedp
    >>> class Dice:  # roll until you stop; you get the points of the last roll, and none for a 1
    ...     def initial_state(self):
    ...         return 0, False
    ...     def is_terminal(self, state):
    ...         return state[1]
    ...     def actions(self, state):
    ...         return [0, 1] if state[0] else [1]
    ...     def outcomes(self, state, action):
    ...         if action == 0:
    ...             return [(1.0, (state[0], True))]
    ...         return [(1 / 6, (face, face == 1)) for face in range(1, 7)]
    ...     def payoff(self, state, player):
    ...         return 0.0 if state[0] == 1 else float(state[0])
    >>> solution = gamedp.solve(Dice(), compile="never")
    >>> [solution.best_action((face, False)) for face in range(2, 7)]  # 1 to roll, 0 to stop
    [1, 1, 0, 0, 0]
    """

    def initial_state(self) -> Any:
        """Return the state at the start, or a list (or generator) of ``(probability, state)``."""

    def is_terminal(self, state: Any, /) -> bool:
        """Return whether the game is over in `state`."""

    def actions(self, state: Any, /) -> Iterable[Any]:
        """Yield the actions of the player to move in `state`, in a fixed order; at least one."""

    def outcomes(self, state: Any, action: Any, /) -> Iterable[tuple[float, Any]]:
        """Yield ``(probability, next state)`` pairs whose probabilities sum to one."""

    def payoff(self, state: Any, player: int, /) -> float:
        """Return what `player` receives when the game ends in `state`.

        It comes one step after the action that ends the game: under :class:`gamedp.Discounted` it
        is discounted once more than a `reward` of that action.
        """


def helper(function: Function) -> Function:
    """Mark a module-level function as part of the rules, to be compiled along with them.

    Without numba nothing changes: the function is returned unchanged.

    Examples
    --------
    >>> import gamedp
    >>> @gamedp.helper
    ... def stones_in(board):
    ...     return sum(board)
    >>> stones_in((1, 2, 3))
    6
    """
    setattr(function, HELPER_MARK, True)
    return function


def with_item(values: tuple[Item, ...], index: int, value: Item) -> tuple[Item, ...]:
    """Return a copy of the tuple `values` in which `value` stands at `index`.

    Works the same in plain Python and in compiled rules, where numba alone cannot build a tuple by
    a running index.

    Parameters
    ----------
    values : tuple
        All of one type when used in compiled rules.
    index : int
        ``0 <= index < len(values)``.
    value
        The new item.

    Raises
    ------
    IndexError
        If `index` is out of range (negative ones are too).

    Examples
    --------
    >>> with_item((3, 5, 7), 1, 0)
    (3, 0, 7)
    """
    if not 0 <= index < len(values):
        message = "with_item: the index is outside the tuple"
        raise IndexError(message)
    return (*values[:index], value, *values[index + 1 :])


def _player(self: Any, state: State) -> int:  # noqa: ARG001 - the protocol's signature
    return 0


def _player_by_places(self: Any, state: State) -> int:
    return 1 if self.canonical(state)[1] else 0


def _reward(self: Any, state: State, action: Any, player: int) -> float:  # noqa: ARG001
    return 0.0


def _canonical(self: Any, state: Any) -> tuple[Any, bool]:  # noqa: ARG001
    return state, False


def _is_state(self: Any, state: State) -> bool:  # noqa: ARG001
    return True


def _heuristic(self: Any, state: State, player: int) -> float:  # noqa: ARG001
    return 0.0


def _value_range(self: Any, state: State, player: int) -> tuple[float, float]:  # noqa: ARG001
    return -float("inf"), float("inf")


def _tier(self: Any, state: State) -> int:  # noqa: ARG001
    return 0


def _tier_index(self: Any, state: State) -> int:  # noqa: ARG001
    return 0


def _next_in_tier(self: Any, state: State) -> State:  # noqa: ARG001
    return state  # a loop that steps asks first whether the game can


def _ending_range(self: Any, state: State, value: float) -> tuple[float, float]:
    settled = self.settled(state, self.player(state))
    return settled + value, settled + value


def _remainder(self: Any, state: State) -> State:  # noqa: ARG001
    return state


def _settled(self: Any, state: State, player: int) -> float:  # noqa: ARG001
    return 0.0


DEFAULTS: dict[str, Callable[..., Any]] = {
    "player": _player,
    "reward": _reward,
    "canonical": _canonical,
    "is_state": _is_state,
}
"""The optional methods that take part in the compiled rules, each with its default.
The bodies stay within what numba compiles."""

SEARCH_DEFAULTS: dict[str, Callable[..., Any]] = {
    **DEFAULTS,
    "heuristic": _heuristic,
    "value_range": _value_range,
    "tier": _tier,
    "settled": _settled,
    "remainder": _remainder,
    "tier_index": _tier_index,
    "ending_range": _ending_range,
    "next_in_tier": _next_in_tier,
}
"""The same with those that only searches and tables read."""

OF_TABLES = (
    "tier", "is_state", "player", "reward", "canonical",
    "settled", "tier_size", "tier_index", "tier_state", "next_in_tier",
)  # fmt: skip
"""Methods on which tables depend, besides those of every game."""


def default_of(
    kind: type, name: str, defaults: Mapping[str, Callable[..., Any]] = SEARCH_DEFAULTS
) -> Callable[..., Any]:
    """Return what stands in for a method that a class lacks.

    If `canonical` alone says who moves, player 0 does in the representatives, and player 1 where
    the players change places to get there.
    """
    if name == "player" and hasattr(kind, "canonical"):
        return _player_by_places
    return defaults[name]


def numbers_positions(game: object) -> bool:
    """Return whether a game numbers the positions of its tiers, as for tables of whole numbers."""
    return callable(getattr(game, "tier_size", None))


def method(game: object, name: str) -> Callable[..., Any]:
    """Return the game's method `name` as a plain function of (self, ...), or its default."""
    function: Callable[..., Any] = getattr(type(game), name, None) or default_of(type(game), name)
    return function


def missing_methods(game: object, required: Iterable[str]) -> list[str]:
    """Return the methods that a game, or its class, lacks; those of the protocols are empty."""
    missing = []
    for name in required:
        member = getattr(game, name, None)
        body = getattr(member, "__func__", member)
        is_empty = any(body is getattr(protocol, name, None) for protocol in (Game, StagedGame))
        if is_empty or not callable(member):
            missing.append(name)
    return missing


def require_methods(game: object, required: tuple[str, ...], kind: str) -> None:
    """Raise TypeError if `game` is a class, or lacks a method that its kind requires."""
    if isinstance(game, type):
        message = f"{game.__name__} is a class; pass an instance of it, {game.__name__}()."
        raise TypeError(message)
    missing = missing_methods(game, required)
    if missing:
        refuse_properties(game, missing)
        if all(hasattr(game, name) for name in missing):  # else it is not a game at all
            refuse_value(game, missing[0])
        message = (
            f"{type(game).__name__} is not a {kind}: it has no method {', '.join(missing)}. "
            f"A {kind} needs {', '.join(required)}."
        )
        for name in missing:
            if (given := nearest(game, name)) is not None:
                message += f" Does {given} mean {name}?"
        if hasattr(game, "model"):  # a loaded file, a solution
            message += f" If a model will do, pass the `.model` of this {type(game).__name__}."
        message += way_of_neighbour(game)
        raise TypeError(message)
    refuse_arguments(game, required)


MOST_STEPS = 1_000
"""Largest number of steps between two positions."""

MOST_STARTS = 1 << 20
"""Largest number of initial states that a generator may yield; more count as endless."""


def is_distribution(start: object) -> bool:
    """Return whether a start is a list or generator of (probability, state) pairs."""
    return isinstance(start, (list, Iterator)) and not hasattr(start, "_fields")


def _is_of_no_chance(pair: object) -> bool:
    """Return whether this is a pair of a probability of 0 and a state."""
    if not isinstance(pair, (tuple, list)) or hasattr(pair, "_fields") or len(pair) != 2:
        return False
    is_number = isinstance(pair[0], Number)
    return is_number and not pair[0]


@attrs.frozen
class AnyRules:
    """Base class of the rules of all games, with defaults for methods that their classes lack."""

    game: Any = attrs.field()

    def __attrs_post_init__(self) -> None:
        """Refuse invalid numbers of players and constant sums."""
        number = getattr(self.game, "num_players", 1)
        if not hasattr(number, "__index__") or not 1 <= number <= MOST_PLAYERS:
            message = f"num_players is {shown(number)}; it must be an integer, 1 to {MOST_PLAYERS}."
            raise InvalidModelError(message)
        total = getattr(self.game, "constant_sum", 0.0)
        if total is not None:
            as_sum_of_two(total)

    @functools.cached_property
    def num_players(self) -> int:
        """The number of players; 1 for a Markov decision process."""
        return int(getattr(self.game, "num_players", 1))

    @property
    def constant_sum(self) -> float:
        """The sum of two opponents' payoffs; 0 if there are no two opponents."""
        total = getattr(self.game, "constant_sum", 0.0)
        return 0.0 if total is None else float(total)

    @functools.cached_property
    def is_general_sum(self) -> bool:
        """Whether each player has payoffs of their own: three and more, or two that say so."""
        own = getattr(self.game, "constant_sum", 0.0) is None
        return self.num_players > 2 or (own and self.num_players == 2)

    @property
    def has_opponents(self) -> bool:
        """Whether there are two players, of whom one gets what a constant sum leaves."""
        return self.num_players == 2 and not self.is_general_sum

    def initial(self) -> list[tuple[float, Any]]:
        """Return the initial distribution as (probability, state) pairs, as the rules give it.

        Play never starts in states of probability 0: they are left out.
        """
        start = self.game.initial_state()
        if not is_distribution(start):
            return [(1.0, start)]
        is_list = isinstance(start, list)
        pairs = list(start if is_list else itertools.islice(start, MOST_STARTS + 1))
        if not is_list and len(pairs) > MOST_STARTS:
            message = (
                f"initial_state() yields {MOST_STARTS:,} pairs and no end. Does the loop that "
                "yields them end? If it does, return a list."
            )
            raise InvalidModelError(message)
        return [pair for pair in pairs if not _is_of_no_chance(pair)] or pairs

    def only_start(self) -> Any:
        """Return the state that play starts in.

        Raises
        ------
        UnknownStateError
            If it starts in one of several.
        """
        starts = {state for _, state in self.initial()}
        if len(starts) > 1:
            raise UnknownStateError(SEVERAL_STARTS)
        return starts.pop()

    def own_state(self, state: Any) -> Any:
        """Return a state in the form of the rules: for a plain tuple, the object with these fields.

        It is made like the initial state, so (3, 4) becomes ``Position(3, 4)``. Anything but a
        tuple is returned unchanged.
        """
        if type(state) is not tuple:
            return state
        starts = self.initial()
        return shaped_like(starts[0][1], state) if starts else state

    def render(self, state: Any) -> str:
        """Return the state in words, or its drawing if there are none."""
        for name in ("render", "view"):
            if getattr(self.game, name, None):
                return str(self._told(name, state))
        return str(state)

    def _told(self, name: str, *arguments: Any) -> Any:
        """Return what a method for people says, None if there is none; errors name the method."""
        told = getattr(self.game, name, None)
        with Calling(name, *arguments):
            return told(*arguments) if told else None

    def view(self, state: Any) -> View:
        """Return a picture of a state; its words if the game has no `view`.

        Raises
        ------
        InvalidModelError
            If the game does not return a view.
        """
        if not getattr(self.game, "view", None):
            return Text(self.render(state)[:MOST_LETTERS])
        return _as_view(self._told("view", state), f"view({shown(state)})")


def _reward_of(outcome: Any, player: int) -> Any:
    """Return what an outcome, as the rules yield it, gives a player; 0 if it has no reward."""
    if len(outcome) < 3:
        return 0.0
    given = outcome[2] if isinstance(outcome[2], tuple) else (outcome[2],)
    is_of_opponent = len(given) == 1 and player == 1
    return -given[0] if is_of_opponent else given[player]


@attrs.frozen
class Rules(AnyRules):
    """A game with all optional methods: those that its class lacks have their defaults.

    Plain Python, one state at a time; compiled exploration is checked against it.

    Parameters
    ----------
    game
        An instance of any class that fulfils :class:`Game`.

    Raises
    ------
    TypeError
        If the game lacks one of the five methods, or is a class and not an instance.
    InvalidModelError
        If the game has several players and does not say who moves.
    """

    game: Any = attrs.field()

    def __attrs_post_init__(self) -> None:
        """Refuse invalid numbers of players, and games that do not say who moves."""
        super().__attrs_post_init__()
        refuse_no_mover(self.game, self.num_players)

    @game.validator
    def _has_the_methods(self, _attribute: object, game: object) -> None:
        require_methods(game, REQUIRED, "game")
        refuse_hidden(game, DEFAULTS)
        warn_of_slips(game)

    @functools.cached_property
    def has_rewards(self) -> bool:
        """Whether actions may have immediate rewards."""
        return hasattr(type(self.game), "reward")

    @property
    def claims_acyclic(self) -> bool:
        """Whether the game claims that no state can be reached from itself."""
        return bool(getattr(self.game, "acyclic", False))

    def is_terminal(self, state: Any) -> bool:
        """Return whether the game is over in `state`; raise InvalidModelError if rules do not."""
        return as_truth(self.game.is_terminal(state), "is_terminal", state)

    def player(self, state: Any) -> int:
        """Return the player to move in `state`; raise InvalidModelError if it is not an integer."""
        mover = method(self.game, "player")(self.game, state)
        try:
            return operator.index(mover)
        except TypeError:
            hint = "Players are numbered from 0."
            if mover is None:
                hint = "Is a return missing?"
            elif isinstance(mover, enum.Enum):
                hint = f"Make {type(mover).__name__} an enum.IntEnum, numbered from 0."
            message = (
                f"player({shown(state)}) is {shown(mover)}; it must be one player's number. {hint}"
            )
            if isinstance(mover, (tuple, list, set, frozenset)):
                message = (
                    f"player({shown(state)}) is {shown(mover)}; one player moves at a time and "
                    "sees the whole state. Simultaneous moves and hidden information are not "
                    "supported."
                )
            raise InvalidModelError(message) from None

    def reward(self, state: Any, action: Any, player: int = 0) -> float:
        """Return the immediate reward of `player` for `action`."""
        return float(method(self.game, "reward")(self.game, state, action, player))

    def outcome_reward(self, outcome: Any, player: int = 0) -> float:
        """Return what an outcome, as the rules yield it, gives a player; 0 if it has no reward."""
        return float(_reward_of(outcome, player))

    def earned(self, state: Any, action: Any, outcome: Any, player: int = 0) -> Fraction | float:
        """Return what a player gets for an action and its outcome; exactly, if it is rational."""
        reward = method(self.game, "reward")(self.game, state, action, player)
        return added(as_exact(reward), as_exact(_reward_of(outcome, player)))

    def canonical(self, state: Any) -> tuple[Any, bool]:
        """Return the representative of `state` and whether the players changed places."""
        representative, swapped = method(self.game, "canonical")(self.game, state)
        return representative, bool(swapped)

    def is_state(self, state: Any) -> bool:
        """Return whether a combination from a declared box is a real state."""
        return bool(method(self.game, "is_state")(self.game, state))

    def action_name(self, state: Any, action: Any) -> str:
        """Return the action in words."""
        name = self._told("action_name", state, action)
        return str(name) if getattr(self.game, "action_name", None) else str(action)

    def outcome_name(self, state: Any, action: Any, outcome: int) -> str:
        """Return an outcome of an action in words; empty if there are none."""
        name = self._told("outcome_name", state, action, outcome)
        return str(name) if getattr(self.game, "outcome_name", None) else ""

    def outcome_view(self, state: Any, action: Any, outcome: int) -> View | None:
        """Return a picture of an outcome of an action; None if there is none.

        Raises
        ------
        InvalidModelError
            If the game does not return a view.
        """
        seen = self._told("outcome_view", state, action, outcome)
        if seen is None:
            return None
        return _as_view(seen, f"outcome_view({shown(state)}, {shown(action)}, {outcome})")

    @property
    def has_pattern(self) -> bool:
        """Whether the game knows a pattern of its positions."""
        return callable(getattr(type(self.game), "pattern", None))

    def pattern(self, state: Any) -> Pattern | None:
        """Return the pattern of a position where play goes on; None if the game knows none.

        Raises
        ------
        InvalidModelError
            If the game returns something else.
        """
        found = self._told("pattern", state) if self.has_pattern else None
        if not (found is None or isinstance(found, Pattern)):
            message = (
                f"pattern({shown(state)}) is {shown(found)}; it must be a gamedp.views.Pattern or "
                "None."
            )
            raise InvalidModelError(message)
        return found

    @property
    def has_steps(self) -> bool:
        """Whether the game describes step by step what happens between positions."""
        return callable(getattr(type(self.game), "steps", None))

    def steps(self, state: Any, action: int, outcome: int) -> list[tuple[str, View]]:
        """Return the words and the picture of each step to the next position, if the game has any.

        Raises
        ------
        InvalidModelError
            If the game does not return pairs of a text and a view, or more than `MOST_STEPS`.
        """
        if not self.has_steps:
            return []
        asked = f"steps({shown(state)}, {shown(action)}, {outcome})"
        with Calling("steps", state, action, outcome):
            told = list(itertools.islice(self.game.steps(state, action, outcome), MOST_STEPS + 1))
        if len(told) > MOST_STEPS:
            message = f"{asked} has more than {MOST_STEPS:,} steps; tell several in one."
            raise InvalidModelError(message)
        for step in told:
            if not (isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)):
                message = f"{asked} has the step {shown(step)}; a step is (words, view)."
                raise InvalidModelError(message)
            _as_view(step[1], asked)
        return told


def _as_view(seen: Any, asked: str) -> View:
    if not isinstance(seen, View):
        message = f"{asked} is {shown(seen)}; it must be one of the classes of gamedp.views."
        raise InvalidModelError(message)
    return seen


STAGED_METHODS = ("is_terminal", "payoff", "following")
"""Methods that every staged game must have: first those that are compiled, then the others."""

STAGED_REQUIRED = ("stage", "box", "initial_state", *STAGED_METHODS)


class StagedGame(Protocol):
    """The methods of a staged game.

    A context is a NamedTuple of ints, or of fixed-length tuples of ints. In each, the same stage is
    played from its start to one of its ends (its terminal states), which leads to the next context.
    The stage's rewards on the way (``reward``) count; its own ``payoff`` counts only when the
    stage is solved alone.

    Optional members, with their defaults:

    ``num_players = 1``, ``constant_sum = 0.0``
        As in :class:`gamedp.Game`. The stage says who moves.
    ``allows(context, end) -> bool``
        Whether the stage may end in `end` in this context; ``True``. A decision that would lead to
        an end that is not allowed cannot be taken.
    ``reward(context, end, player) -> float``
        The reward of `player` for this end of the stage; 0.
    ``canonical(context) -> (representative, swapped)``
        Symmetry, as in :class:`gamedp.Game`.
    ``tier(context) -> int``
        An integer that never rises from one context to the next; 0. Contexts of the same tier are
        solved together, by repeated sweeps if they lead to one another; those of higher tier after
        all those of lower tier.
    ``is_state(context) -> bool``
        Whether a combination in the box of contexts is a real context; ``True``.
    ``render(context) -> str``
        A description for people.
    """

    def stage(self) -> Any:
        """Return the game that is played in every context: acyclic, with one initial state."""

    def box(self) -> Mapping[str, tuple[int, int]]:
        """Return the range of each field of a context, both ends included."""

    def initial_state(self) -> Any:
        """Return the context at the start, or a list of ``(probability, context)``."""

    def is_terminal(self, context: Any, /) -> bool:
        """Return whether the game is over in `context`."""

    def payoff(self, context: Any, player: int, /) -> float:
        """Return what `player` receives when the game is over."""

    def following(self, context: Any, end: Any, /) -> Any:
        """Return the context after the stage has ended in the terminal state `end`."""


def _allows(self: Any, context: Any, end: Any) -> bool:  # noqa: ARG001 - the protocol's signature
    return True


def _context_reward(self: Any, context: Any, end: Any, player: int) -> float:  # noqa: ARG001
    return 0.0


STAGED_DEFAULTS: dict[str, Callable[..., Any]] = {
    "allows": _allows,
    "reward": _context_reward,
    "canonical": DEFAULTS["canonical"],
    "tier": SEARCH_DEFAULTS["tier"],
    "is_state": DEFAULTS["is_state"],
}
"""The optional methods, each with its default; within what numba compiles."""


def is_staged(game: object) -> bool:
    """Return whether a game is staged: it has a stage, and no outcomes of its own."""
    return callable(getattr(game, "stage", None)) and not hasattr(game, "outcomes")


@attrs.frozen
class StagedRules(AnyRules):
    """A staged game with all optional methods: those that its class lacks have their defaults.

    Parameters
    ----------
    game
        An instance of any class that fulfils :class:`StagedGame`.

    Raises
    ------
    TypeError
        If the game lacks one of the methods, or is a class and not an instance.
    InvalidModelError
        If the game has several players and its stage does not say who moves.
    """

    game: Any = attrs.field()

    def __attrs_post_init__(self) -> None:
        """Refuse invalid numbers of players, and games that do not say who moves."""
        super().__attrs_post_init__()
        refuse_no_mover(self.game, self.num_players, self.game.stage)

    @game.validator
    def _has_the_methods(self, _attribute: object, game: object) -> None:
        require_methods(game, STAGED_REQUIRED, "staged game")
        refuse_hidden(game, STAGED_DEFAULTS)

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a method of the game, or its default."""
        function = getattr(type(self.game), name, None) or STAGED_DEFAULTS[name]
        return function(self.game, *arguments)

    def is_terminal(self, context: Any) -> bool:
        """Return whether the game is over; raise InvalidModelError if the rules do not say so."""
        return as_truth(self.call("is_terminal", context), "is_terminal", context)

    def canonical(self, context: Any) -> tuple[Any, bool]:
        """Return the representative of `context` and whether the players changed places."""
        representative, swapped = self.call("canonical", context)
        return representative, bool(swapped)

    def tier(self, context: Any) -> int:
        """Return the tier of `context`; raise InvalidModelError if it is not a 64-bit integer."""
        given = self.call("tier", context)
        try:
            return int(np.int64(operator.index(given)))
        except (TypeError, OverflowError):
            message = f"tier({shown(context)}) is {shown(given)}; it must be an integer of 64 bits."
            raise InvalidModelError(message) from None
