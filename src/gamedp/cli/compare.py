"""``gamedp compare``: solvers, searchers and other programs side by side, a process each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeVar

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import is_model_file, is_program, make_game
from gamedp.cli.options import (
    FILE,
    OBJECTIVE,
    OUTPUT,
    Bytes,
    FileOptions,
    Flag,
    GameSettings,
    ObjectiveOptions,
    OutputOptions,
    check_file,
    names_in,
)
from gamedp.cli.report import watch
from gamedp.cli.solve import question_about
from gamedp.cli.texts import assignments, read_as, refuse
from gamedp.errors import GamedpError, UnknownNameError
from gamedp.runtime.options import settings_of
from gamedp.runtime.registry import SOLVERS
from gamedp.storage.texts import write_csv


@Parameter(name="*", group=Group("Methods", sort_key=3))
@attrs.frozen(kw_only=True)
class MethodsOptions:
    """The methods, and what each may take.

    Parameters
    ----------
    solvers : str
        Name solvers and searchers, with commas between; `all` if not given. `default` is what
        `gamedp solve` does on its own.
    peers : bool
        Ask other programs, too, as far as they are installed.
    sizes : str
        Vary a parameter of the one game, as in goal=10,20,40.
    tolerance : float
        Allow this distance between the bounds of a value, as for `gamedp solve`.
    max_seconds : float
        Stop each call after this many seconds; compiling is not counted.
    max_bytes : float
        End a method whose process takes more memory.
    seconds : float
        Repeat each method for this many seconds.
    save : Path
        Append each row to this file as a line of JSON; what it holds is not measured again.
    csv : Path
        Write the rows to this file, as text for spreadsheets.
    """

    solvers: Annotated[str | None, Parameter(completer=names_in(SOLVERS))] = None
    peers: Flag = False
    sizes: str | None = None
    tolerance: float | None = None
    max_seconds: float = 1.0
    max_bytes: Bytes = None
    seconds: float = 0.1
    save: Path | None = None
    csv: Path | None = None


METHODS = MethodsOptions()

Options = TypeVar("Options", FileOptions, ObjectiveOptions)


def compare(
    *problems: Annotated[
        str,
        Parameter(
            help="Games as for `gamedp solve`, with parameters after a question mark, as in "
            "'wubbel?goal=20'; or files with models, also with a question of their own, as in "
            "'model.umb?reach=goal&optimum=min'."
        ),
    ],
    settings: GameSettings = None,
    methods: MethodsOptions = METHODS,
    objective: ObjectiveOptions = OBJECTIVE,
    file: FileOptions = FILE,
    output: OutputOptions = OUTPUT,
) -> None:
    """Compare solvers on games or models, each in a process of its own: answers, time, memory."""
    if not problems:
        refuse("name a game or a file with a model to compare on, as in `gamedp compare wubbel`.")
    check_file(methods.csv, "--csv")
    things = {
        name: _problem(name, settings or [], objective, file) for name in dict.fromkeys(problems)
    }
    with watch(quiet=output.quiet) as progress:
        table = gamedp.compare(
            things if methods.sizes is None else list(things.values()),
            None if all(map(_is_file, things)) else objective.make(),
            None if methods.solvers in {None, "all"} else str(methods.solvers).split(","),
            sizes=None if methods.sizes is None else _sizes(methods.sizes, [*things.values()]),
            peers=methods.peers,
            tolerance=methods.tolerance,
            max_seconds=methods.max_seconds,
            max_bytes=methods.max_bytes,
            seconds=methods.seconds,
            processes=True,
            save=methods.save,
            progress=progress,
        )
    if methods.csv is not None:
        write_csv(methods.csv, table.to_columns())
    if output.json:
        report.print_json(table.facts())
    else:
        print(table)
    if table.conflicts:
        message = "proven bounds contradict each other: at least one method is wrong."
        raise GamedpError(message)


def _is_file(name: str) -> bool:
    """Return whether a text stands for a model in a file."""
    return is_model_file(name.partition("?")[0])


def _problem(name: str, settings: list[str], objective: ObjectiveOptions, file: FileOptions) -> Any:
    """Return the game or the problem that a text stands for, with what follows a question mark."""
    thing, _, text = name.partition("?")
    own = text.split("&") if text else []
    if not _is_file(name):
        file.refuse()
        return make_game(thing, [*settings, *own])
    names = {*settings_of(FileOptions), *settings_of(ObjectiveOptions)}
    if is_program(thing):  # anything but an option is a constant
        settings = [*settings, *(text for text in own if text.partition("=")[0] not in names)]
        own = [text for text in own if text.partition("=")[0] in names]
    file, objective = _with_own(file, own), _with_own(objective, own)
    question = question_about(file.read(thing, settings), file, objective)
    return gamedp.Problem(question.model, question.objective)


def _with_own(options: Options, texts: list[str]) -> Options:
    """Return the options with those that a problem has of its own, as in ``reach=goal``."""
    kinds, own = settings_of(type(options)), {}
    known = [*settings_of(FileOptions), *settings_of(ObjectiveOptions)]
    for text in texts:
        name, equals, value = text.partition("=")
        if name not in known or not equals:
            kind = "option of a model in a file, as in reach=goal,"
            raise UnknownNameError.nearest(kind, name, known)
        if name in kinds:
            own[name] = read_as(name, value, kinds[name].kind)
    return attrs.evolve(options, **own)


def _sizes(text: str, things: list[Any]) -> dict[str, list[Any]]:
    """Return the values of the parameter that is varied."""
    ((parameter, values),) = assignments([text], option="--sizes").items()
    settings = settings_of(type(things[0]))
    if parameter not in settings:
        return {parameter: []}  # refused by the comparison
    kind = settings[parameter].kind
    return {parameter: [read_as(parameter, value, kind) for value in values.split(",")]}
