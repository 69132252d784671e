"""The options that several commands share, and their translation for :func:`gamedp.solve`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli.games import is_program
from gamedp.cli.texts import assignments, make, refuse
from gamedp.errors import shown
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Objective,
    Optimum,
    TotalReward,
)
from gamedp.runtime.options import CompileMode
from gamedp.runtime.registry import GAMES, SOLVERS, find, registered

if TYPE_CHECKING:
    from cyclopts import Token

    from gamedp.adapters import LoadedModel
    from gamedp.runtime.limit import ProgressCallback


def names_in(group: str) -> Callable[[object], Iterable[str]]:
    """Return the function by which a shell completes a name registered in `group`."""
    return lambda _: list(registered(group))


Flag: TypeAlias = Annotated[bool, Parameter(show_default=False)]

MULTIPLES = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
"""Bytes that a letter after a number stands for."""


def _bytes_of(_type: object, tokens: Sequence[Token]) -> float:
    """Return a number of bytes, such as 4e9 or 4G; raise ValueError, as cyclopts asks for."""
    text = tokens[0].value
    multiple = MULTIPLES.get(text[-1:].upper())
    try:
        return float(text) if multiple is None else float(text[:-1]) * multiple
    except ValueError:
        message = f"{shown(text)} is not a number of bytes, such as 4e9 or 4G."
        raise ValueError(message) from None


Bytes: TypeAlias = Annotated[float | None, Parameter(converter=_bytes_of)]

GameOrFile: TypeAlias = Annotated[
    str,
    Parameter(
        help="A name that `gamedp games` lists, also with its first parameter as in `wubbel:20`; "
        "`path/to/file.py:ClassName`, or `package.module:ClassName`; or a file with a model: "
        "`.umb`, `.drn`, `.tra`, or a program in PRISM's language or in JANI.",
        completer=names_in(GAMES),
    ),
]

GameName: TypeAlias = Annotated[
    str,
    Parameter(
        help="A name that `gamedp games` lists, also with its first parameter as in `wubbel:20`; "
        "`path/to/file.py:ClassName`, or `package.module:ClassName`.",
        completer=names_in(GAMES),
    ),
]

GameSettings: TypeAlias = Annotated[
    list[str] | None,
    Parameter(name="--set", help="Set a parameter of the game, as name=value; repeatable."),
]

SavedGame: TypeAlias = Annotated[
    str | None,
    Parameter(
        name="--game",
        help="Name the game of a saved solution, if it is a class of your own, as in "
        "`path/to/file.py:ClassName`; give its parameters by --set.",
    ),
]

StateTexts: TypeAlias = Annotated[
    list[str] | None,
    Parameter(
        name="--state",
        help="Name the position, as in `player=1,left=6`; the start if not given. Fields that you "
        "leave out are as at the start.",
    ),
]

Compile: TypeAlias = Annotated[
    CompileMode,
    Parameter(
        help="Compile the rules with numba or not; auto compiles those of large games, and runs "
        "them as plain Python if that fails."
    ),
]

Fresh: TypeAlias = Annotated[
    bool,
    Parameter(
        show_default=False,
        help="Solve a staged game again instead of reading the table kept from last time.",
    ),
]


@Parameter(name="*", group=Group("Objective", sort_key=1))
@attrs.frozen(kw_only=True)
class ObjectiveOptions:
    """The objective.

    Parameters
    ----------
    objective : {"total", "discounted", "horizon", "average"}
        Choose what to compute; total, unless --discount, --horizon or --average says otherwise.
    discount : float
        Set the discount factor of a step: at least 0, below 1.
    horizon : int
        Set the number of steps.
    draw : float
        Set what endless play counts for the first player, where all is paid at the end.
    average : bool
        Compute the reward per step in the long run, as `--objective average`.
    optimum : {"max", "min"}
        Choose what the first player wants; max if not given.
    max : bool
        As `--optimum max`.
    min : bool
        As `--optimum min`.
    """

    objective: Literal["total", "discounted", "horizon", "average"] | None = None
    discount: float | None = None
    horizon: int | None = None
    draw: float | None = None
    average: Flag = False
    optimum: Optimum | None = None
    max: Flag = False
    min: Flag = False

    def wanted(self) -> Optimum:
        """Return the first player's optimum; raise InvalidParameterError if both are given."""
        flags: list[tuple[Optimum, bool]] = [("max", self.max), ("min", self.min)]
        wishes = {wish for wish, given in (*flags, (self.optimum, True)) if given and wish}
        if len(wishes) > 1:
            refuse("--min cannot be combined with max: the first player wants one of them.")
        return wishes.pop() if wishes else "max"

    def name(self) -> str:
        """Return the name of the objective; raise InvalidParameterError if the options differ."""
        numbers = {"discounted": self.discount, "horizon": self.horizon}
        given = [name for name, number in numbers.items() if number is not None]
        given += ["average"] * self.average
        name = self.objective or (given[0] if given else "total")
        options = {"discounted": "--discount", "horizon": "--horizon", "average": "--average"}
        for other in given:
            if other != name:
                refuse(f"{options[other]} cannot be combined with the objective {name}.")
        if name in numbers and not given:
            refuse(f"--objective {name} needs {options[name]}.")
        if self.draw is not None and name != "total":
            refuse(f"--draw cannot be combined with the objective {name}.")
        return name

    def refuse(self, reason: str) -> None:
        """Raise InvalidParameterError if any option is set."""
        for name, value in attrs.asdict(self).items():
            if value:
                refuse(f"--{name} cannot be combined with it: {reason}.")

    def make(self) -> Objective:
        """Return the objective; raise InvalidParameterError if the options contradict."""
        name, optimum = self.name(), self.wanted()
        if self.discount is not None:
            return Discounted(self.discount, optimum)
        if self.horizon is not None:
            return FiniteHorizon(self.horizon, optimum)
        if name == "average":
            return AverageReward(optimum)
        return TotalReward(optimum, draw=self.draw)


@Parameter(name="*", group=Group("Solver", sort_key=3))
@attrs.frozen(kw_only=True)
class SolverOptions:
    """The solver and its tolerance.

    Parameters
    ----------
    solver : str
        Use this solver; `gamedp solvers` lists them. If not given, gamedp picks one.
    option : list of str
        Set an option of that solver, as name=value; repeatable.
    tolerance : float
        Allow this distance between the bounds of a value. If not given, 1e-6, or a millionth of the
        value where that is more.
    relative : bool
        Make the tolerance relative to each value.
    """

    solver: Annotated[str | None, Parameter(completer=names_in(SOLVERS))] = None
    option: list[str] | None = None
    tolerance: float | None = None
    relative: Flag = False

    def keywords(self) -> dict[str, Any]:
        """Return the options that are set, as keywords of :func:`gamedp.solve`."""
        keywords: dict[str, Any] = {}
        if self.solver is not None:
            texts = self.option or []
            keywords["solver"] = make(
                find(SOLVERS, self.solver),
                texts,
                name=self.solver,
                option="--option",
                word="option",
            )
        elif self.option:
            refuse(f"--option {self.option[0]} needs --solver, whose option it is.")
        if self.tolerance is not None:
            keywords["tolerance"] = self.tolerance
        if self.relative:
            keywords["relative"] = True
        return keywords


@Parameter(name="*", group=Group("Building the model", sort_key=4))
@attrs.frozen(kw_only=True)
class ExploreOptions:
    """Limits and compilation for exploring the states.

    Parameters
    ----------
    compile : {"auto", "always", "never"}
        Compile the rules with numba or not; auto compiles those of large games, and runs them as
        plain Python if that fails.
    max_states : float
        Stop with an error after this many states.
    max_seconds : float
        Stop with an error after this many seconds of exploring and solving.
    max_bytes : float
        Stop with an error before the model takes so much memory; nine tenths of what is free if
        not given. For a model in a file: what reading it may take, 1 GiB if not given. 4G is 4e9.
    """

    compile: CompileMode = "auto"
    max_states: float | None = None
    max_seconds: float | None = None
    max_bytes: Bytes = None

    def keywords(self) -> dict[str, Any]:
        """Return the options, as keywords of :func:`gamedp.solve` and :func:`gamedp.compile`."""
        return {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in attrs.asdict(self).items()
            if value is not None
        }


@Parameter(name="*")
@attrs.frozen(kw_only=True)
class Method:
    """The method and the objective of solving a game."""

    objective: ObjectiveOptions = attrs.field(factory=ObjectiveOptions)
    solver: SolverOptions = attrs.field(factory=SolverOptions)
    explore: ExploreOptions = attrs.field(factory=ExploreOptions)

    def keywords(self) -> dict[str, Any]:
        """Return the options that are set, as keywords of :func:`gamedp.solve`."""
        return {
            "objective": self.objective.make(),
            **self.solver.keywords(),
            **self.explore.keywords(),
        }


@Parameter(name="*", group=Group("Output", sort_key=5))
@attrs.frozen(kw_only=True)
class OutputOptions:
    """The form of the output.

    Parameters
    ----------
    json : bool
        Print one JSON object, with every digit; infinite numbers are texts in it.
    quiet : bool
        Do not show progress.
    """

    json: Flag = False
    quiet: Flag = False


@Parameter(name="*", group=Group("Files", sort_key=6))
@attrs.frozen(kw_only=True)
class KeepOptions:
    """The files and folders for the answer.

    Parameters
    ----------
    save : Path
        Keep the solution in this folder, for `gamedp query`, `gamedp play` and `gamedp.load`.
    certificate : Path
        Keep a proof of the bounds in this folder, for `gamedp verify`.
    csv : Path
        Write all states with their values, bounds and best actions to this file, as text for
        spreadsheets: one state a line, commas between the columns.
    policy : Path
        Write the action of each state by name to this file: a table if it ends in .csv or .json,
        the model as a graph for Graphviz if it ends in .dot.
    """

    save: Path | None = None
    certificate: Path | None = None
    csv: Path | None = None
    policy: Path | None = None

    def check(self) -> None:
        """Refuse a path that cannot be written, before hours of solving."""
        for name, folder in (("save", self.save), ("certificate", self.certificate)):
            if folder is not None and folder.exists() and not folder.is_dir():
                refuse(f"{folder} is a file; --{name} takes a folder: name one that is new.")
        check_file(self.csv, "--csv")
        check_file(self.policy, "--policy")
        if self.policy is not None:
            from gamedp.storage.texts import check_suffix  # noqa: PLC0415 - for this option alone

            check_suffix(self.policy)


def check_file(path: Path | None, option: str) -> None:
    """Refuse a path for a file that cannot be written, before hours of work."""
    if path is None:
        return
    if path.is_dir():
        refuse(f"{path} is a folder; {option} takes a file: name one in it.")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        kinds = "a link, a device or a pipe"
        refuse(f"{path} is {kinds}; {option} takes a file: name one that is new.")
    if not path.parent.is_dir():
        refuse(f"there is no folder {path.parent} to write {path.name} in.")


@Parameter(name="*", group=Group("Models in files", sort_key=2))
@attrs.frozen(kw_only=True)
class FileOptions:
    """The question about a model in a file.

    A set of states is a label, 3,5,7, or an expression such as x=2 & !"bad".

    Parameters
    ----------
    property : str
        Answer this formula, such as 'Pmax=? [F "goal"]', or the property of the file with this
        name.
    properties : str
        A file of properties in PRISM's language, .props or .pctl, for --property by name or number.
    reach : str
        Compute the probability that one of these states is reached.
    allowed : str
        Allow only these states on the way; all if not given.
    reward : str
        Count these rewards of the file; needed if there are several.
    target : str
        End the total reward at these states.
    coalition : list of str
        Put a player on the first side, by name or number; repeatable.
    normalise : bool
        Divide probabilities of few digits by their sum, if that is from 0.9 to 1.1.
    """

    property: str | None = None
    properties: str | None = None
    reach: str | None = None
    allowed: str | None = None
    reward: str | None = None
    target: str | None = None
    coalition: list[str] | None = None
    normalise: Flag = False

    def read(
        self,
        path: str,
        settings: Iterable[str] | None = None,
        explore: ExploreOptions | None = None,
        progress: ProgressCallback | None = None,
    ) -> LoadedModel:
        """Return the model in a file; of a program, with these constants and within limits."""
        explore = ExploreOptions() if explore is None else explore
        constants = assignments(settings or (), option="--set")
        options: dict[str, Any] = {"max_bytes": explore.max_bytes, "properties": self.properties}
        if constants:
            options["constants"] = constants
        if is_program(path):
            if explore.compile != ExploreOptions().compile:
                refuse("--compile is for games; a program is read by loops that are kept.")
            options |= {"progress": progress} | explore.keywords()
            del options["compile"]
        elif constants and self.properties is None:
            refuse(f"--set is for games and programs; {path} lists all of its states.")
        elif attrs.evolve(explore, max_bytes=None) != ExploreOptions():
            refuse(
                f"the options for exploring are for games and programs; {path} lists its states."
            )
        return gamedp.read_model(
            path, coalition=self.coalition, normalise=self.normalise, **options
        )

    def refuse(self) -> None:
        """Raise InvalidParameterError if any option is set: for games, which have no labels."""
        for name, value in attrs.asdict(self).items():
            if value:
                refuse(f"--{name} is for a model in a file, not for a game.")


METHOD, OBJECTIVE, EXPLORE, OUTPUT = Method(), ObjectiveOptions(), ExploreOptions(), OutputOptions()
FILE, KEEP = FileOptions(), KeepOptions()
"""The defaults."""
