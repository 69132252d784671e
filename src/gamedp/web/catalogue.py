"""The games of a server: registered ones, and those named by the person who starts it."""

from __future__ import annotations

import collections
import inspect
import itertools
import json
import logging
import math
import re
import types
import typing
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs

from gamedp.errors import GamedpError, shown
from gamedp.rules.game import Rules
from gamedp.runtime.options import REQUIRED, Setting, settings_of, values_of
from gamedp.runtime.registry import GAMES, find
from gamedp.views import to_plain
from gamedp.web.refusals import Refused
from gamedp.web.sentences import texts_of
from gamedp.web.states import plain_state
from gamedp.web.surface import AXES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gamedp.policies.lengths import Remoteness
    from gamedp.results.solution import Solution
    from gamedp.web.plugin import Page

__all__ = [
    "Basis",
    "Listed",
    "Made",
    "NoLengths",
    "description_of",
    "from_registry",
    "presets_of",
    "said_by",
]

LARGEST_PARAMETER = 100_000
"""Largest number in the parameters of a request."""

MAX_LEN = 64
"""Largest number of items in a list, and of characters in a text."""

MOST_PARTS = 400
"""Largest number of numbers and texts in the start of a game; more do not fit the page."""

MOST_LETTERS = 2_000
"""Largest number of characters of a docstring that a page shows."""

MOST_MADE = 32
"""Largest number of games of one name that are kept, with different parameters."""

MOST_OUTCOMES = 4_000
"""Largest number of outcomes of all actions at the start."""

logger = logging.getLogger("gamedp")

NoLengths: TypeAlias = Literal["states", "time", "unknown"]
"""Reason why the length of play is unknown: too many states, no time left, or another one."""


@attrs.frozen(eq=False)
class Basis:
    """The source of a game's values.

    Attributes
    ----------
    solution : Solution or None
        The table; None for a game that is searched.
    why_not : str
        The reason why there is no table.
    range : tuple of two floats or None
        The approximate range of the values.
    bytes : int
    remoteness : Remoteness or None
        The remaining length of play; None if unknown.
    why_no_lengths : str or None
        The reason why it is unknown for a table.
    stakes : mapping
        The meaning of its values: :func:`gamedp.web.stakes.stakes_of`.
    """

    solution: Solution | None
    why_not: str
    range: tuple[float, float] | None
    bytes: int = 0
    remoteness: Remoteness | None = None
    why_no_lengths: NoLengths | None = None
    stakes: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Made:
    """A game with its parameters.

    Attributes
    ----------
    name : str
    rules : Rules
    parameters : dict
        All parameters, as JSON values.
    solution : Solution or None
        A solution provided by the person who started the server.
    is_foreign : bool
        Whether a request has set parameters.
    """

    name: str
    rules: Rules
    parameters: dict[str, Any]
    solution: Solution | None = attrs.field(default=None, eq=False)
    is_foreign: bool = attrs.field(default=False, eq=False)

    @property
    def key(self) -> tuple[str, str]:
        """A key that is equal for equal games only."""
        return self.name, repr(sorted(self.parameters.items()))

    @property
    def shape(self) -> tuple[str, str]:
        """The types and lengths in parameters and start for which rules are compiled anew."""
        start = plain_state(self.rules.initial()[0][1])
        return self.name, repr(_shape(self.parameters)) + repr(_shape(start))


@attrs.frozen
class Listed:
    """A game that the server offers.

    Attributes
    ----------
    name : str
    kind : type
        The class.
    given : dict
        Parameters set by the person who started the server; used as defaults.
    fixed : Made or None
        The only game of a class that takes no parameters from requests.
    is_registered : bool
        Whether the name is that of a registered game.
    """

    name: str
    kind: type
    given: Mapping[str, Any] = attrs.field(factory=dict)
    fixed: Made | None = None
    is_registered: bool = False
    _made: collections.OrderedDict[str, Made] = attrs.field(
        factory=collections.OrderedDict, init=False, eq=False, repr=False
    )

    def make(self, parameters: Mapping[str, Any]) -> Made:
        """Return the game with some parameters, the same one for the same parameters.

        Raises
        ------
        Refused
            If there is no such parameter, or the game refuses it, or its start is too large.
        """
        if self.fixed is not None:
            own = self.fixed.parameters
            others = [name for name in parameters if (name, parameters[name]) not in own.items()]
            if others:
                sentence = "{name} is served as it is, and not with another {list}."
                raise Refused(422, sentence, name=self.name, list=", ".join(map(shown, others)))
            return self.fixed
        try:
            key = json.dumps(parameters, sort_keys=True)
        except RecursionError:
            return self._new(parameters)  # which reports what is wrong with them
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._new(parameters)
            while len(self._made) > MOST_MADE:
                self._made.popitem(last=False)
        return found

    def _new(self, parameters: Mapping[str, Any]) -> Made:
        """Return a new game with some parameters."""
        settings = settings_of(self.kind)
        values = dict(self.given)
        for name, plain in parameters.items():
            if name not in settings:
                sentence = "{game} has no parameter {name}; it has: {list}."
                parts: dict[str, Any] = {
                    "game": self.name,
                    "name": shown(name),
                    "list": ", ".join(settings),
                }
                raise Refused(422, sentence, **parts)
            values[name] = _value(settings[name], plain)
        missing = [
            each.name
            for each in settings.values()
            if each.default is REQUIRED and each.name not in values
        ]
        if missing:
            raise Refused(422, "{name} needs {list}.", name=self.name, list=", ".join(missing))
        try:
            return attrs.evolve(made(self.name, self.kind(**values)), is_foreign=bool(parameters))
        except GamedpError as error:
            raise Refused(422, "{reason}", german=self._german, reason=error) from None
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError) as error:
            sentence = "{name} refuses its parameters: {reason}"
            raise Refused(
                422, sentence, german=self._german, name=self.name, reason=error
            ) from None

    @property
    def _german(self) -> dict[str, str]:
        """The German sentences of the game's own messages."""
        sentences: dict[str, str] = texts_of(self.kind).get("de", {}).get("sentences", {})
        return sentences

    def _chosen(self) -> dict[str, Any]:
        """Return the parameters that were chosen where the game is served, as plain data."""
        if self.fixed is None:
            return {name: _plain(value) for name, value in self.given.items()}
        own, kept = self.fixed.parameters, values_of(self.fixed.rules.game)
        return {
            name: own[name]
            for name, setting in settings_of(self.kind).items()
            if kept[name] is not REQUIRED and own[name] not in (None, _plain(setting.default))
        }

    def list_facts(self, basis: Basis | None) -> dict[str, Any]:
        """Return the game's list entry; `basis` is None if the game was never requested."""
        example = self.fixed or self.make({})
        about = _abouts(self.kind)
        return {
            "name": self.name,
            "title": (inspect.getdoc(self.kind) or "").partition("\n")[0],
            "players": example.rules.num_players,
            "parameters": [
                {
                    "name": each.name,
                    **_kind(each),
                    "default": example.parameters[each.name],
                    "about": about.get(each.name, ""),
                }
                for each in settings_of(self.kind).values()
            ],
            "given": self._chosen(),
            "fixed": self.fixed is not None,
            "registered": self.is_registered,
            "kind": None if basis is None else "search" if basis.solution is None else "table",
            "states": basis.solution.model.num_states if basis and basis.solution else None,
            "surface": _surface(example.rules),
            "docstring": description_of(self.kind),
            "example": _example(example.rules),
            "presets": [] if self.fixed else presets_of(self.kind),
            **said_by(self.kind),
        }


def made(name: str, game: Any, solution: Solution | None = None) -> Made:
    """Return a game in the form that the server keeps.

    Raises
    ------
    Refused
        If its start is too large.
    """
    rules = Rules(game)
    starts = rules.initial()
    if len(starts) > MOST_PARTS or _size(plain_state(starts[0][1])) > MOST_PARTS:
        sentence = "the start of {name} has more than {most:,} parts with these parameters."
        raise Refused(409, sentence, "size", name=name, most=MOST_PARTS)
    if _is_wide(rules, starts[0][1]):
        sentence = "the start of {name} has more than {most:,} outcomes of its actions."
        raise Refused(409, sentence, "size", name=name, most=MOST_OUTCOMES)
    parameters = {name: _plain(value) for name, value in values_of(game).items()}
    return Made(name, rules, parameters, solution)


def from_registry(name: str, given: Mapping[str, Any] | None = None) -> Listed:
    """Return the game that is registered under a name.

    Raises
    ------
    UnknownNameError
        If there is no such game.
    """
    return Listed(name, find(GAMES, name), dict(given or {}), is_registered=True)


def _is_wide(rules: Rules, state: Any) -> bool:
    """Return whether a state has more outcomes than a page can show, without examining all."""
    game = rules.game
    try:
        actions = () if game.is_terminal(state) else game.actions(state)
        following = (None for action in actions for _ in game.outcomes(state, action))
        return sum(1 for _ in itertools.islice(following, MOST_OUTCOMES + 1)) > MOST_OUTCOMES
    except Exception:  # noqa: BLE001 - solving says better what is wrong with the rules
        return False


def said_by(thing: type | Page) -> dict[str, Any]:
    """Return the texts and the icon of a game's class, or of a page, as they are listed."""
    icon = getattr(thing, "icon", None)
    return {"texts": texts_of(thing), "icon": None if icon is None else to_plain(icon)}


def presets_of(kind: type) -> list[dict[str, Any]]:
    """Return the named games of a class, each with all its parameters; none if they are invalid."""
    presets = getattr(kind, "presets", None)
    if not callable(presets):
        return []
    try:
        return [
            {
                "name": str(name),
                "players": Rules(game).num_players,
                "parameters": {each: _plain(value) for each, value in values_of(game).items()},
                "example": _example(Rules(game)),
            }
            for name, game in presets().items()
        ]
    except Exception:  # of any author: the page offers the parameters alone
        logger.exception("%r has presets that cannot be read", kind)
        return []


def _example(rules: Rules) -> dict[str, Any] | None:
    """Return the middle action of the start, in words and as views before and after; or None."""
    game, state = rules.game, rules.initial()[0][1]
    if not hasattr(game, "view") or game.is_terminal(state):
        return None
    actions = list(itertools.islice(game.actions(state), MOST_OUTCOMES))
    action = actions[len(actions) // 2]
    following = list(itertools.islice(game.outcomes(state, action), MOST_OUTCOMES))
    outcome = len(following) // 2
    views = [to_plain(rules.view(each)) for each in (state, following[outcome][1])]
    return {
        "name": rules.action_name(state, action),
        "outcome": rules.outcome_name(state, action, outcome) if len(following) > 1 else "",
        **{
            when: {key: part for key, part in view.items() if key not in {"spots", "text"}}
            for when, view in zip(("before", "after"), views, strict=True)
        },
    }


def _surface(rules: Rules) -> dict[str, Any] | None:
    """Return the game's description of its decision surface; None without one."""
    said = getattr(rules.game, "surface", None)
    if not isinstance(said, tuple):
        return None
    axes = dict(zip(AXES, said[: len(AXES)], strict=True))
    try:
        name = rules.action_name(rules.initial()[0][1], axes["action"])
    except Exception:  # noqa: BLE001 - the start may not have this action
        name = str(axes["action"])
    return {**axes, "name": name, "at": list(said[len(AXES)]) if len(said) > len(AXES) else None}


def _size(plain: Any) -> int:
    """Return the number of numbers and texts."""
    if isinstance(plain, dict):
        plain = list(plain.values())
    if isinstance(plain, list):
        return sum(_size(part) for part in plain)
    return 1 + len(plain) // 20 if isinstance(plain, str) else 1


def _shape(plain: Any) -> Any:
    """Return the types and lengths in a JSON value, without the numbers themselves."""
    if isinstance(plain, dict):
        return {name: _shape(value) for name, value in plain.items()}
    if isinstance(plain, list):
        return [_shape(value) for value in plain]
    return type(plain).__name__


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return plain_state(value)


def _bare(kind: Any) -> Any:
    """Return a type without an optional None."""
    if typing.get_origin(kind) in {typing.Union, types.UnionType}:
        others = [each for each in typing.get_args(kind) if each is not type(None)]
        return others[0] if len(others) == 1 else Any
    return kind


def _kind(setting: Setting) -> dict[str, Any]:
    """Return a description of the values of a parameter."""
    kind = _bare(setting.kind)
    if typing.get_origin(kind) is typing.Literal:
        return {"kind": "choice", "choices": list(typing.get_args(kind))}
    if typing.get_origin(kind) is tuple and set(typing.get_args(kind)) <= {int, ...}:
        return {"kind": "ints"}
    names: dict[Any, str] = {int: "int", float: "float", bool: "bool", str: "text"}
    return {"kind": names.get(kind, "other")}


def _value(setting: Setting, plain: Any) -> Any:
    """Return the value of a parameter in a request by its type; the game validates it further.

    Raises
    ------
    Refused
        If it is of another type, or too large.
    """
    allowed = _kind(setting)
    match allowed["kind"]:
        case "int" if _is_whole(plain):
            return plain
        case "bool" if type(plain) is bool:
            return plain
        case "float" if type(plain) in {int, float} and math.isfinite(plain):
            return float(plain)
        case "text" if type(plain) is str and len(plain) <= MAX_LEN:
            return plain
        case "choice" if plain in allowed["choices"]:
            return plain
        case "ints" if type(plain) is list and len(plain) <= MAX_LEN and all(map(_is_whole, plain)):
            return tuple(plain)
        case "other":
            raise Refused(422, "{name} cannot be set here.", name=setting.name)
    sentence = "{name} is not of its kind, {kind}, or too large."
    raise Refused(422, sentence, name=setting.name, kind=allowed["kind"])


def _is_whole(plain: Any) -> bool:
    return type(plain) is int and abs(plain) <= LARGEST_PARAMETER


def description_of(kind: type) -> list[str]:
    """Return the paragraphs of a docstring between its first line and its sections.

    >>> class Game:
    ...     '''Take stones.
    ...
    ...     Who takes the last one
    ...     loses.
    ...
    ...     Parameters
    ...     ----------
    ...     stones : int
    ...     '''
    >>> description_of(Game)
    ['Who takes the last one loses.']
    """
    text = (inspect.getdoc(kind) or "").partition("\n")[2]
    prose = re.split(r"(?m)^[A-Z][A-Za-z ]*\n-{3,}$", text)[0][:MOST_LETTERS]
    return [" ".join(part.split()) for part in prose.split("\n\n") if part.strip()]


def _abouts(kind: type) -> dict[str, str]:
    """Return the descriptions of parameters in the docstring of a class, by name."""
    text = inspect.getdoc(kind) or ""
    _, found, rest = text.partition("\nParameters\n----------\n")
    if not found:
        return {}
    section = re.split(r"\n\n[A-Z][A-Za-z ]*\n-{3,}\n", rest)[0]
    parts = re.split(r"(?m)^(\w[\w, ]*?)(?: : .*)?$\n", section)
    return {
        name.strip(): " ".join(about.split())
        for names, about in zip(parts[1::2], parts[2::2], strict=False)
        for name in names.split(",")
    }
