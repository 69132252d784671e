"""Games and their positions by their names on the command line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

import gamedp
from gamedp.cli.texts import assignments, kind_of, make, read_as, refuse
from gamedp.errors import (
    GamedpError,
    UnknownNameError,
    UnsupportedProblemError,
)
from gamedp.questions.expressions import states_of, states_where
from gamedp.rules.game import (
    REQUIRED,
    STAGED_REQUIRED,
    Rules,
    StagedRules,
    is_staged,
    missing_methods,
)
from gamedp.runtime.encoding import declared_fields, fields_of
from gamedp.runtime.options import settings_of
from gamedp.runtime.registry import FORMATS, GAMES, find, registered

if TYPE_CHECKING:
    from gamedp.adapters import LoadedModel
    from gamedp.model.model import Model


def make_game(name: str, texts: Iterable[str]) -> Any:
    """Make the game that `name` stands for, with the parameters in ``name=value`` texts.

    Parameters
    ----------
    name : str
        A registered name, alone or as ``name:value`` with the value of the first parameter;
        ``path/to/file.py:ClassName`` or ``package.module:ClassName``.
    texts : iterable of str
        The texts given to ``--set``.

    Raises
    ------
    UnknownNameError
        If there is no such game, file, module, class or parameter.
    InvalidParameterError
        If the object found is not a game, or refuses the parameters.
    """
    if is_model_file(name) and Path(name).is_file():
        refuse(
            f"{name} is a model in a file, and this is for games; `gamedp solve`, `gamedp query`, "
            "`gamedp explain`, `gamedp compare` and `gamedp plot` take both."
        )
    name, value = first_value(name)
    kind = class_named(name)
    missing = missing_methods(kind, _required_methods(kind))
    if missing:
        refuse(
            f"{name} is not a game: it has no {', '.join(missing)}. "
            f"A game has the methods {', '.join(_required_methods(kind))}."
        )
    given = {} if value is None else _first_parameter(name, kind, value)
    game = make(kind, texts, name=name, option="--set", word="parameter", given=given)
    try:
        _ = StagedRules(game) if is_staged(game) else Rules(game)
    except TypeError as error:
        refuse(str(error))
    return game


def first_value(name: str) -> tuple[str, str | None]:
    """Return the registered name and the value in ``name:value``; a value of None for other texts.

    A registered name takes precedence over a module that is called the same.
    """
    home, colon, value = name.partition(":")
    return (home, value) if colon and home in registered(GAMES) else (name, None)


def _first_parameter(name: str, kind: type, text: str) -> dict[str, Any]:
    """Return the first parameter of a game, read from a text, by its name."""
    for setting in settings_of(kind).values():
        return {setting.name: read_as(setting.name, text, setting.kind)}
    return refuse(f"{name} has no parameters, so {name}:{text} says nothing; give {name} alone.")


def make_ordinary_game(name: str, texts: Iterable[str], *, command: str) -> Any:
    """Make a game as `make_game` does; refuse staged ones, which `command` does not support.

    Raises
    ------
    UnsupportedProblemError
        If the game is staged.
    """
    game = make_game(name, texts)
    if is_staged(game):
        message = (
            f"{name} is a staged game, which `gamedp {command}` cannot do; `gamedp solve`, "
            "`gamedp query`, `gamedp evaluate` and `gamedp simulate` can."
        )
        raise UnsupportedProblemError(message)
    return game


def is_saved(name: str) -> bool:
    """Return whether GAME is the folder of a saved solution; a registered name takes precedence."""
    return Path(name).is_dir() and name not in registered(GAMES)


def load_saved(folder: str, game: str | None, settings: Iterable[str] | None) -> Any:
    """Load a saved solution.

    Parameters
    ----------
    folder : str
    game : str or None
        The game of the solution, if it is not a registered one: ``path/to/file.py:ClassName`` or
        ``package.module:ClassName``. A folder alone never causes an import.
    settings : iterable of str or None
        The parameters of that game.
    """
    made = None if game is None else make_game(game, settings or ())
    if game is None and settings:
        refuse(f"{folder} holds a solution: --set goes with --game, for a game of your own.")
    found = gamedp.load(folder, game=made)
    if not isinstance(found, (gamedp.Solution, gamedp.StagedSolution)):
        refuse(f"{folder} holds a {type(found).__name__.lower()}, not a solution.")
    return found


def is_model_file(name: str) -> bool:
    """Return whether GAME is a file other than Python code: a model of another tool."""
    suffix = Path(name).suffix
    if suffix in {"", ".py"} or ":" in suffix:
        return False
    return first_value(name)[1] is None  # such as openspiel:pig(p=0.5)


def is_program(name: str) -> bool:
    """Return whether GAME is a file with a program, whose states are explored."""
    kind = Path(name).suffix.lower().removeprefix(".")
    known = registered(FORMATS)
    return kind in known and bool(getattr(find(FORMATS, kind), "is_program", False))


def class_named(name: str, group: str = GAMES) -> type:
    """Return the class of a registered name, of ``path/to/file.py:Class`` or ``module:Class``.

    Parameters
    ----------
    name : str
    group : str
        Of entry points.

    Raises
    ------
    UnknownNameError
        If there is no such name, file, module or class.
    InvalidParameterError
        If the object found is not a class.
    """
    home, colon, class_name = name.rpartition(":")
    if colon:
        module = _module_of_file(Path(home)) if home.endswith(".py") else _module(home)
        if not hasattr(module, class_name):
            kind = f"class in {home} called"
            raise UnknownNameError.nearest(kind, class_name, _games_of(module))
        found = getattr(module, class_name)
    elif name.endswith(".py"):
        known = _games_of(_module_of_file(Path(name)))
        refuse(f"say which class is the game, as in {name}:{(*known, 'ClassName')[0]}.")
    elif name not in registered(group) and Path(f"{name}.py").is_file():
        message = f"There is no {name!r}; for the file {name}.py, say {name}.py:ClassName."
        raise UnknownNameError(message)
    elif name not in registered(group) and Path(name).is_dir():
        message = (
            f"{name} is a folder, not a game; `gamedp query` and `gamedp explain` take a saved "
            "solution."
        )
        raise UnknownNameError(message)
    else:
        found = _loaded(name, lambda: find(group, name))
    if not isinstance(found, type):
        refuse(f"{name} is not a class.")
    return found


def _required_methods(kind: type) -> tuple[str, ...]:
    return STAGED_REQUIRED if is_staged(kind) else REQUIRED


def _games_of(module: ModuleType) -> list[str]:
    """Return the names of the classes in a module that look like games."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and not missing_methods(value, _required_methods(value))
    ]


def _module(name: str) -> ModuleType:
    """Import a module, also from the directory that the command was started in."""
    _look_in(Path.cwd())
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # of the package that should contain it
        found = None
    if found is None:
        message = f"there is no module {name}, neither installed nor in this folder."
        raise UnknownNameError(message)
    module: ModuleType = _loaded(name, lambda: importlib.import_module(name))
    return module


def _module_of_file(path: Path) -> ModuleType:
    """Import a file, with its folder on the import path, as if it were run."""
    path = path.resolve()
    if not path.is_file():
        message = f"there is no file {path}."
        raise UnknownNameError(message)
    _look_in(path.parent)
    found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    if found is None or found.origin != str(path):
        refuse(f"{path} cannot be imported as a module called {path.stem}; rename the file.")
    module: ModuleType = _loaded(str(path), lambda: importlib.import_module(path.stem))
    return module


def _look_in(folder: Path) -> None:
    """Put a folder first on the import path."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()


def _loaded(name: str, load: Callable[[], Any]) -> Any:
    """Load foreign code; report any error on one line."""
    try:
        return load()
    except GamedpError:
        raise
    except (Exception, SystemExit) as error:
        *_, (frame, line) = traceback.walk_tb(error.__traceback__)
        place = (
            "" if isinstance(error, SyntaxError) else f" ({frame.f_code.co_filename}, line {line})"
        )
        message = f"{name} cannot be imported: {type(error).__name__}: {error}{place}"
        raise GamedpError(message) from error


def position_of(starts: Sequence[Any], texts: Sequence[str], option: str) -> Any:
    """Return the state in the texts; omitted fields are as in all states of the start.

    Raises
    ------
    UnknownNameError
        For a field that states do not have.
    InvalidParameterError
        For a value that is not of the field's type, and if a required field is missing.
    """
    example = starts[0]
    fields = declared_fields(example)
    if fields is None:
        if len(texts) > 1 or (not texts and len(starts) > 1):
            refuse(f"give one {option}, such as the start, {example!r}.")
        return read_as(option, texts[0], kind_of(example)) if texts else example
    values = {
        field: column[0]
        for field, column in zip(
            fields, zip(*(fields_of(each).values() for each in starts), strict=True), strict=True
        )
        if len(set(column)) == 1
    }
    for field, text in assignments(texts, option=option).items():
        if field not in fields:
            kind = f"field of {option.replace('--state', 'the state')} called"
            raise UnknownNameError.nearest(kind, field, fields)
        values[field] = read_as(field, text, kind_of(fields[field]))
    missing = [field for field in fields if field not in values]
    if missing:
        refuse(f"{option} must say {', '.join(missing)}: the game starts at random.")
    return type(example)(**values)


def state_where(thing: LoadedModel | Model, texts: Sequence[str], option: str) -> int:
    """Return the one state in which an expression is true; of several texts, all are.

    Raises
    ------
    InvalidParameterError
        If there are several such states.
    """
    text = texts[0] if len(texts) == 1 else " & ".join(f"({text})" for text in texts)
    states = np.flatnonzero(states_where(states_of(thing), text, option)).tolist()
    if len(states) > 1:
        examples = " and ".join(f"{one} ({thing.state_name(one)})" for one in states[:2])
        refuse(
            f"{option}: there are {len(states):,} states with {text}, such as "
            f"{examples}. Give more fields, or its number."
        )
    return int(states[0])


def starts_of(origin: gamedp.rules.Rules | gamedp.rules.StagedRules | Model) -> list[Any]:
    """Return the states in which play can begin."""
    if not isinstance(origin, (gamedp.rules.Rules, gamedp.rules.StagedRules)):
        return [origin.state(int(index)) for index in origin.initial_states]
    try:
        starts = [state for _, state in origin.initial()]
        starts[0]
    except (IndexError, TypeError, ValueError):
        gamedp.compile(origin.game, compile="never")  # reports what is wrong with the rules
        raise
    return starts


def picture_of(rules: gamedp.rules.Rules | gamedp.rules.StagedRules | None, position: Any) -> str:
    """Return a position as Python writes it, and the game's drawing of it."""
    written = repr(position)
    if rules is not None and rules.render(position) not in {written, str(position)}:
        written += "\n" + rules.render(position)
    return written
