"""Methods side by side on the same problems: `compare`."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.comparison.comparison import Comparison
from gamedp.comparison.measure import measured, measured_apart
from gamedp.comparison.measurement import Measurement
from gamedp.comparison.methods import PEER_TOLERANCE, ComparisonLimits, Task, methods_of, peers_of
from gamedp.errors import InvalidParameterError, UnknownNameError, shown
from gamedp.model.model import Model
from gamedp.model.problem import Problem
from gamedp.runtime.files import as_path, open_plain
from gamedp.runtime.limit import Progress, callback_of, shows_progress
from gamedp.runtime.machine import processors
from gamedp.runtime.options import settings_of, values_of
from gamedp.solvers.request import checked_number, checked_objective, checked_tolerance
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gamedp.comparison.methods import ComparedMethod
    from gamedp.model.objectives import Objective
    from gamedp.runtime.limit import ProgressCallback


@shows_progress
def compare(  # noqa: PLR0913 - what is usually set in one call
    problems: Any,
    objective: Objective | None = None,
    solvers: Any = None,
    *,
    sizes: Mapping[str, Sequence[Any]] | None = None,
    peers: Sequence[str] | bool = False,
    tolerance: float | None = None,
    max_seconds: float = 1.0,
    max_bytes: float | None = None,
    seconds: float = 0.1,
    processes: bool = False,
    save: Path | str | None = None,
    progress: ProgressCallback | bool | None = None,
) -> Comparison:
    """Compare solvers, searchers and other programs on the same problems: answers and time.

    Each method is called once, which may compile kernels or read them from disk; then again, with
    all kernels compiled; and then, warm, until `seconds` are full, at least three times unless it
    is slow, all methods in turns. Each call gets the model without what an earlier one has found
    out about its graph. Seconds are of processor time.

    A method that is wrong cannot look fast: bounds that do not overlap are a conflict, and values
    without bounds count only within the tolerance of proven ones; see
    :meth:`gamedp.comparison.Comparison.verdict`.

    Parameters
    ----------
    problems
        A game, a model or a :class:`gamedp.Problem`, which has an objective of its own; or several,
        in a list or a dict with their names.
    objective : optional
        As for :func:`gamedp.solve`, for all problems. Searchers find the total reward alone.
    solvers : optional
        Names or objects of solvers and searchers, or one; ``"default"`` is what
        :func:`gamedp.solve` does on its own. If not given: that, and all registered ones with their
        default options; those that do not support a problem have a row that says why.
    sizes : dict, optional
        The name of one parameter and its values, for one game.
    peers : bool or sequence of str
        Whether to ask all registered programs as well, or which of them.
    tolerance : float, optional
        As for :func:`gamedp.solve`; other programs are asked for 1e-6 if it is not given.
    max_seconds : float
        The time limit of each call; compilation by numba is not counted, nor is building a model.
    max_bytes : float, optional
        The memory limit of building each model and, with `processes`, of each method.
    seconds : float
        Seconds of warm calls of each method.
    processes : bool
        Whether each method runs in a process of its own, which is ended if it does not stop at the
        limit of time or takes too much memory. Without, one that never returns never does.
    save : path, optional
        A file to which each row is appended as a line of JSON; what it holds already, by the same
        version on the same machine, is not measured again.
    progress : callable or bool, optional
        As for :func:`gamedp.solve`.

    Returns
    -------
    Comparison

    Raises
    ------
    UnknownNameError
        If there is no solver, searcher, peer or parameter of a given name.
    InvalidParameterError
        If an argument makes no sense, a file holds something else than rows, or a process cannot
        get a game: its class must be in a file.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> table = gamedp.compare(Matches(matches=18), solvers=["alpha-beta", "retrograde"])
    >>> [(row.method, row.value, table.verdict(row)) for row in table.rows]
    [('alpha-beta', 1.0, 'proven'), ('retrograde', 1.0, 'proven')]
    """
    report = callback_of(progress)
    limits = ComparisonLimits(
        tolerance=None
        if tolerance is None
        else checked_tolerance(tolerance, relative=False).absolute,
        max_seconds=checked_number("max_seconds", max_seconds),
        max_bytes=None if max_bytes is None else checked_number("max_bytes", max_bytes),
        seconds=checked_number("seconds", seconds),
    )
    if objective is not None:
        checked_objective(objective)
    tasks = _tasks(problems, objective, sizes)
    methods = [*methods_of(solvers), *peers_of(peers)]
    kept = _KeptRows(save, [limits, processes])
    total, began = len(tasks) * len(methods), time.perf_counter()
    rows: list[Measurement] = []
    for task in tasks:
        task.explore(limits, report)
        found = {method.name: kept.row(task, method) for method in methods}
        left = [method for method in methods if found[method.name] is None]
        tell = _teller(report, total, began, task, rows)
        for row in (measured_apart if processes else measured)(task, left, limits, tell):
            kept.add(task, methods, row)
            found[row.method] = row
        rows += [row for row in found.values() if row is not None]
    return Comparison(tuple(rows), limits.tolerance or PEER_TOLERANCE)


def _teller(
    progress: ProgressCallback | None,
    total: int,
    began: float,
    task: Task,
    rows: list[Measurement],
) -> Callable[[ComparedMethod], None]:
    """Return a function that reports which method is at work."""

    def tell(method: ComparedMethod) -> None:
        if progress is not None:
            spent = time.perf_counter() - began
            progress(Progress("compare", len(rows), total, spent, f"{task.name}: {method.name}"))

    return tell


def _tasks(
    problems: Any, objective: Objective | None, sizes: Mapping[str, Sequence[Any]] | None
) -> list[Task]:
    """Return the problems to be solved, each with a name of its own."""
    if isinstance(problems, Mapping):
        named = {str(name): thing for name, thing in problems.items()}
    else:
        several = problems if isinstance(problems, (list, tuple)) else [problems]
        named = {}
        for number, thing in enumerate(several, 1):
            name = f"model {number}" if _is_model(thing) else _call(thing)
            named[name if name not in named else f"{name}, number {number}"] = thing
    if not named:
        message = "there is nothing to compare on; give a game or a model."
        raise InvalidParameterError(message)
    if objective is not None and all(isinstance(thing, Problem) for thing in named.values()):
        message = "each problem has an objective of its own; give it there alone."
        raise InvalidParameterError(message)
    if sizes is None:
        return [_task(name, thing, objective, None) for name, thing in named.items()]
    ((_, thing), *others) = named.items()
    if others or len(sizes) != 1 or _is_model(thing):
        message = "sizes are for one parameter of one game, as in sizes={'goal': [10, 20, 40]}."
        raise InvalidParameterError(message)
    ((parameter, values),) = sizes.items()
    settings = settings_of(type(thing))
    if parameter not in settings:
        what = f"parameter of {type(thing).__name__} called"
        raise UnknownNameError.nearest(what, parameter, settings)
    given = values_of(thing)
    return [
        _task(
            _call(game, parameter),
            game,
            objective,
            float(value) if isinstance(value, (int, float)) else None,
        )
        for value in values
        for game in [type(thing)(**(given | {parameter: value}))]
    ]


def _is_model(thing: Any) -> bool:
    return isinstance(thing, (Model, Problem, StagedModel))


def _task(name: str, thing: Any, objective: Objective | None, size: float | None) -> Task:
    if isinstance(thing, Problem):
        thing, objective = thing.model, thing.objective
    if not _is_model(thing):
        return Task(name, thing, objective, size)
    return Task(name, None, objective, size, model=thing)


def _call(game: Any, varied: str = "") -> str:
    """Return a game as a constructor call with the parameters that are not at their defaults.

    The one that is varied is named in any case.
    """
    settings = settings_of(type(game))
    words = [
        f"{name}={shown(value)}"
        for name, value in values_of(game).items()
        if name == varied or value != settings[name].default
    ]
    return f"{type(game).__name__}({', '.join(words)})" if words else type(game).__name__


class _KeptRows:
    """The rows in a file, each with a digest of all that it depends on.

    Parameters
    ----------
    path : path or None
        Without one, nothing is kept.
    about : list
        ComparisonLimits and options of the comparison.
    """

    def __init__(self, path: Path | str | None, about: list[Any]) -> None:
        self.path = None if path is None else as_path(path)
        self.about = [repr(each) for each in about]
        self.rows: dict[str, Measurement] = {}
        if self.path is not None and self.path.exists():
            lines, length = _lines(self.path)
            self.rows = {line["key"]: Measurement.from_facts(line["row"]) for line in lines}
            with self.path.open("r+b") as file:
                file.truncate(length)  # a line is cut off that was being written at the end

    def _key(self, task: Task, method: ComparedMethod) -> str:
        parts = [
            _here(),
            task.name,
            task.digest,
            _words(task.objective),
            method.name,
            repr(method.tool),
            self.about,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def row(self, task: Task, method: ComparedMethod) -> Measurement | None:
        """Return the row that is kept, or None."""
        return self.rows.get(self._key(task, method)) if self.rows else None

    def add(self, task: Task, methods: Sequence[ComparedMethod], row: Measurement) -> None:
        """Append a row to the file."""
        if self.path is None:
            return
        (method,) = (each for each in methods if each.name == row.method)
        line = {
            "key": self._key(task, method),
            **_here(),
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "row": json.loads(row.to_json()),
        }
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")


def _here() -> dict[str, str]:
    """Return the version and the machine."""
    return {
        "version": version("gamedp"),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {processors()} processors",
    }


def _words(objective: Objective | None) -> str:
    """Return an objective as text, with sets of states by their content."""

    def text(value: Any) -> str:
        is_mask = isinstance(value, np.ndarray)
        return hashlib.sha256(value.tobytes()).hexdigest() if is_mask else repr(value)

    values = {} if objective is None else attrs.asdict(objective)
    return f"{type(objective).__name__} {json.dumps(values, default=text)}"


def _lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the whole lines of a file of rows, and their length in bytes.

    Raises
    ------
    InvalidParameterError
        If a line is not a row.
    """
    with open_plain(path, links=True) as file:
        whole, newline, _ = file.read().rpartition(b"\n")
    lines = []
    for number, line in enumerate(whole.split(b"\n") if newline else [], 1):
        try:
            found = json.loads(line)
            Measurement.from_facts(found["row"])
            hash(found["key"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            message = f"{path}, line {number}, is not a row of a comparison; name another file."
            raise InvalidParameterError(message) from error
        lines.append(found)
    return lines, len(whole) + len(newline)


def read_rows(path: Path | str, tolerance: float = PEER_TOLERANCE) -> Comparison:
    """Return the comparison in a file that :func:`gamedp.compare` has saved.

    Parameters
    ----------
    path
    tolerance : float
        What the methods were asked for.

    Raises
    ------
    InvalidParameterError
        If a line is not a row.

    Examples
    --------
    >>> import gamedp, pathlib, tempfile
    >>> from gamedp.games.matches import Matches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "rows.jsonl")
    ...     table = gamedp.compare(Matches(matches=9), solvers="retrograde", save=file)
    ...     gamedp.comparison.read_rows(file).rows == table.rows
    True
    """
    lines, _ = _lines(as_path(path))
    return Comparison(tuple(Measurement.from_facts(line["row"]) for line in lines), tolerance)
