"""Mistakes of rules: those visible in a class, as misspelt members; and where one was raised."""

from __future__ import annotations

import dis
import functools
import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gamedp.errors import InvalidModelError, LimitExceededError, shown, warn

__all__ = [
    "Calling",
    "nearest",
    "note_rules",
    "refuse_arguments",
    "refuse_hidden",
    "refuse_no_mover",
    "refuse_properties",
    "refuse_value",
    "warn_of_slips",
    "way_of_neighbour",
]

METHODS = (
    "player",
    "reward",
    "canonical",
    "is_state",
    "action_name",
    "outcome_name",
    "outcome_view",
    "heuristic",
    "value_range",
)
VALUES = ("num_players", "constant_sum", "acyclic")
"""Optional members of a game with names long enough for one wrong letter to be a slip."""

ARGUMENTS = {
    "initial_state": (),
    "outcomes": ("state", "action"),
    "payoff": ("state", "player"),
    "reward": ("state", "action", "player"),
    "heuristic": ("state", "player"),
    "value_range": ("state", "player"),
    "settled": ("state", "player"),
    "ending_range": ("state", "value"),
    "box": (),
    "stage": (),
    "following": ("context", "end"),
    "allows": ("context", "end"),
}
"""Arguments of the methods of a game, or a staged game, that take other than a state alone."""

DECISIVE = frozenset({"player", "reward"})
"""Methods whose absence makes the game a different one."""


_looked_at: weakref.WeakValueDictionary[int, type] = weakref.WeakValueDictionary()
"""The classes already checked, by their ids: not every class has a hash."""


def warn_of_slips(game: object) -> None:
    """Warn, once for each class, of names that are one letter off, and of a forgotten `player`."""
    kind = type(game)
    if id(kind) in _looked_at:
        return
    _looked_at[id(kind)] = kind
    for given, meant in _misspelt(game):
        message = (
            f"{kind.__name__} has {given}, which gamedp does not read. If you mean {meant}, "
            "rename it."
        )
        warn(message, RuntimeWarning)
    if not hasattr(game, "num_players") and _reads_player(_only_payoff(kind)):
        message = (
            f"{kind.__name__}.payoff depends on the player, but the class does not say how many "
            "there are, so gamedp takes it for a game of one player. If there are two, set "
            "num_players = 2 and write player(state), which returns who is to move, 0 or 1."
        )
        warn(message, RuntimeWarning)


def refuse_no_mover(
    game: object, num_players: int, stage: Callable[[], object] | None = None
) -> None:
    """Raise InvalidModelError if there are several players and no method says who moves.

    Of two, `canonical` may have the players change places, so that player 0 is always the mover.

    Parameters
    ----------
    game : object
    num_players : int
    stage : callable, optional
        For a staged game: returns the game that says who moves.
    """
    are_opponents = num_players == 2 and getattr(game, "constant_sum", 0.0) is not None
    if num_players == 1 or (are_opponents and hasattr(type(game), "canonical")):
        return
    mover = game if stage is None else stage()
    if hasattr(type(mover), "player"):
        return
    ways = "write player(state), which returns who is to move"
    if are_opponents:
        ways += ", or canonical, which lets the players change places"
    given = nearest(mover, "player")
    hint = "" if given is None else f" Does {given} mean player?"
    message = (
        f"{type(game).__name__} has num_players = {num_players}, and {type(mover).__name__} does "
        f"not say who moves: every move would be player 0's. So {ways}.{hint}"
    )
    raise InvalidModelError(message)


def refuse_properties(game: object, names: Iterable[str]) -> None:
    """Raise TypeError if all of the methods are written as properties."""
    members = {name: inspect.getattr_static(type(game), name, None) for name in names}
    if all(isinstance(each, (property, functools.cached_property)) for each in members.values()):
        raise _no_method(game, next(iter(members)), "is a property, which takes no arguments")


def refuse_arguments(game: object, names: Iterable[str]) -> None:
    """Raise TypeError if a method lacks the argument for the game, or another one."""
    for name in names:
        member = inspect.getattr_static(type(game), name, None)
        if isinstance(member, (staticmethod, classmethod)):
            raise _no_method(game, name, f"is a {type(member).__name__}")
        code = getattr(member, "__code__", None)
        if code is None or hasattr(member, "__wrapped__"):
            continue
        most = code.co_argcount
        least = most - len(getattr(member, "__defaults__", None) or ())
        given = 1 + len(ARGUMENTS.get(name, ("state",)))
        if given < least or (given > most and not code.co_flags & inspect.CO_VARARGS):
            raise _no_method(game, name, f"takes ({', '.join(code.co_varnames[:most])})")


def refuse_value(game: object, name: str) -> None:
    """Raise TypeError if the class has a value in place of a method."""
    member = getattr(type(game), name, None)
    if not (member is None or callable(member) or inspect.isdatadescriptor(member)):
        raise _no_method(game, name, f"is {shown(member)}")


def refuse_hidden(game: object, names: Iterable[str]) -> None:
    """Raise TypeError if an optional method of the rules is not a method, or not in the class.

    Only members of the class are called; those of an object or its `__getattr__` are ignored. This
    is refused for a method without which the game would be another one.
    """
    for name in names:
        member = getattr(type(game), name, None)
        if member is None:
            if name in DECISIVE and callable(getattr(game, name, None)):
                raise _no_method(game, name, "is not in the class, so it would be passed over")
            continue
        refuse_properties(game, [name])
        refuse_arguments(game, [name])
        refuse_value(game, name)
        if inspect.isdatadescriptor(member):
            message = (
                f"{type(game).__name__}.{name} is a field, where rules have a method; rename it."
            )
            raise TypeError(message)


def _no_method(game: object, name: str, found: str) -> TypeError:
    """Return the error for a member that should be a method."""
    arguments = ", ".join(("self", *ARGUMENTS.get(name, ("state",))))
    if hasattr(type(game), "stage"):
        arguments = arguments.replace("state", "context").replace("action", "end")
    return TypeError(
        f"{type(game).__name__}.{name} {found}; write it as a method, def {name}({arguments})."
    )


def nearest(game: object, missing: str) -> str | None:
    """Return the method of `game` whose name is nearly `missing`, if there is one."""
    for name in _names(game):
        if name != missing and _one_off(name, missing) and _is_method(game, name):
            return name
    return None


WAYS = {
    "pettingzoo": " An environment of PettingZoo has no table of its transitions: write its rules "
    "as a class, see gamedp.Game. The other way, gamedp.adapters.as_pettingzoo(game) makes one.",
    "gymnasium": " An environment of Gymnasium is solved as gamedp.adapters.Gymnasium(env).",
    "pyspiel": " A game of OpenSpiel is solved as gamedp.adapters.OpenSpiel(game).",
    "quantecon": " A program of QuantEcon is solved as a model: pairs = program.to_sa_pair_form(); "
    "gamedp.Model.from_arrays(pairs.a_indptr, pairs.Q.indptr, pairs.Q.indices, pairs.Q.data, "
    "rewards=pairs.R).",
}
"""The way in for what belongs to another library, by the name of its package."""


def way_of_neighbour(given: object) -> str:
    """Return how to solve what belongs to another library; empty if it does not."""
    packages = {kind.__module__.partition(".")[0] for kind in type(given).__mro__}
    for package, words in WAYS.items():
        if package in packages:
            return words
    rows = given.values() if isinstance(given, Mapping) else ()
    if rows and all(isinstance(row, (Mapping, list)) for row in rows):
        return (
            " A table P of Gymnasium is solved with its environment, which knows the start, as "
            "gamedp.adapters.Gymnasium(env)."
        )
    return WAYS["gymnasium"] if hasattr(given, "action_space") else ""


def _names(game: object) -> list[str]:
    """Return the names of the members, in order, without asking the class for them."""
    return sorted(set(object.__dir__(game)))


def _is_method(game: object, name: str) -> bool:
    """Return whether a member is a method; a property is not, and is not evaluated."""
    # In the class: since Python 3.13, only objects whose class can be hashed are inspected.
    member = inspect.getattr_static(type(game), name, None)
    if member is None:
        member = object.__getattribute__(game, name)
    return callable(member) or isinstance(member, classmethod)


def _misspelt(game: object) -> Iterator[tuple[str, str]]:
    """Yield the names that are one letter off an optional member that the game does not have."""
    names = [name for name in _names(game) if not name.startswith("_")]
    for optional, is_method in ((METHODS, True), (VALUES, False)):
        for meant in optional:
            if meant in names:
                continue
            for name in names:
                is_off = name != "cyclic" and _one_off(name, meant)
                if is_off and _is_method(game, name) == is_method:
                    yield name, meant


def _one_off(given: str, meant: str) -> bool:
    """Return whether one letter is missing, extra or wrong, or two neighbours are exchanged."""
    if abs(len(given) - len(meant)) > 1:
        return False
    same = next((i for i, (a, b) in enumerate(zip(given, meant, strict=False)) if a != b), None)
    if same is None:
        return len(given) != len(meant)
    rest, wanted = given[same:], meant[same:]
    exchanged = rest[1::-1] + rest[2:]
    return wanted in (rest[1:], exchanged) or wanted[1:] in (rest, rest[1:])


def _only_payoff(kind: type) -> Any:
    """Return the method `payoff`, unless it overrides another one and may pass its player on."""
    written = [vars(base)["payoff"] for base in kind.__mro__ if "payoff" in vars(base)]
    return written[0] if len(written) == 1 else None


def _reads_player(payoff: Any) -> bool:
    """Return whether a method `payoff(self, state, player)` uses its last argument."""
    code = getattr(payoff, "__code__", None)
    if code is None or code.co_argcount < 3 or hasattr(payoff, "__wrapped__"):
        return False  # a wrapper hands its player on
    name = code.co_varnames[2]
    for step in dis.get_instructions(code):
        read = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if ("LOAD_FAST" in step.opname or step.opname == "LOAD_DEREF") and name in read:
            return True
    return False


class Calling:
    """Adds the method called and its arguments to any error that the rules raise."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self.arguments = arguments

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Add the note."""
        if isinstance(error, Exception):
            note_rules(error, self.name, *self.arguments)


def note_rules(error: Exception, name: str, *arguments: Any) -> None:
    """Add to an error the method of the rules that raised it, unless the error names it already."""
    if isinstance(error, (InvalidModelError, LimitExceededError)):
        return
    if not any(note.startswith("gamedp:") for note in getattr(error, "__notes__", ())):
        words = ", ".join(map(shown, arguments))
        error.add_note(f"gamedp: raised by the rules in {name}({words})")
