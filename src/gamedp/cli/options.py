"""The options that several commands share, and what they mean to :func:`gamedp.solve`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import attrs
from cyclopts import Group, Parameter

from gamedp.cli.parameters import make
from gamedp.errors import InvalidParameterError
from gamedp.objectives import Discounted, FiniteHorizon, Objective, Optimum, TotalReward
from gamedp.registry import SOLVERS, find

__all__ = [
    "EXPLORE",
    "METHOD",
    "OBJECTIVE",
    "OUTPUT",
    "Compile",
    "ExploreOptions",
    "Fresh",
    "GameName",
    "GameSettings",
    "Method",
    "ObjectiveOptions",
    "OutputOptions",
    "SolverOptions",
    "StateTexts",
]

Flag: TypeAlias = Annotated[bool, Parameter(show_default=False)]

GameName: TypeAlias = Annotated[
    str,
    Parameter(
        help="A name that `gamedp games` lists, `path/to/file.py:ClassName`, or "
        "`package.module:ClassName`."
    ),
]

GameSettings: TypeAlias = Annotated[
    list[str] | None,
    Parameter(name="--set", help="A parameter of the game, name=value; as often as needed."),
]

StateTexts: TypeAlias = Annotated[
    list[str] | None,
    Parameter(
        name="--state",
        help="The position, as in `player=1,left=6`; the start if not given. Fields that are not "
        "named are as at the start.",
    ),
]

Compile: TypeAlias = Annotated[
    Literal["auto", "always", "never"],
    Parameter(
        help="Whether the rules are compiled by numba; auto runs them as plain Python if that "
        "fails."
    ),
]

Fresh: TypeAlias = Annotated[
    bool,
    Parameter(
        show_default=False,
        help="Compute a staged game anew: else its table is kept, and read the next time.",
    ),
]


@Parameter(name="*", group=Group("Objective", sort_key=1))
@attrs.frozen(kw_only=True)
class ObjectiveOptions:
    """What is to be computed.

    Parameters
    ----------
    objective : {"total", "discounted", "horizon"}
        What is computed; total, unless --discount or --horizon says otherwise.
    discount : float
        What the value one step later counts: at least 0, below 1.
    horizon : int
        Number of steps.
    optimum : {"max", "min"}
        What the first player wants.
    """

    objective: Literal["total", "discounted", "horizon"] | None = None
    discount: float | None = None
    horizon: int | None = None
    optimum: Optimum = "max"

    def make(self) -> Objective:
        """Return the objective; raise InvalidParameterError if the options contradict."""
        numbers = {"discounted": self.discount, "horizon": self.horizon}
        given = [name for name, number in numbers.items() if number is not None]
        name = self.objective or (given[0] if given else "total")
        options = {"discounted": "--discount", "horizon": "--horizon"}
        for other in given:
            if other != name:
                message = f"{options[other]} does not go with the objective {name}."
                raise InvalidParameterError(message)
        if name in options and not given:
            message = f"--objective {name} needs {options[name]}."
            raise InvalidParameterError(message)
        if self.discount is not None:
            return Discounted(self.discount, self.optimum)
        if self.horizon is not None:
            return FiniteHorizon(self.horizon, self.optimum)
        return TotalReward(self.optimum)


@Parameter(name="*", group=Group("Solver", sort_key=2))
@attrs.frozen(kw_only=True)
class SolverOptions:
    """By which solver, and how exactly.

    Parameters
    ----------
    solver : str
        A solver that `gamedp solvers` lists; chosen by the model's structure if not given.
    option : list of str
        An option of that solver, name=value; as often as needed.
    tolerance : float
        How far apart the bounds of a value may be.
    """

    solver: str | None = None
    option: list[str] | None = None
    tolerance: float | None = None

    def keywords(self) -> dict[str, Any]:
        """Return what is set, as keywords of :func:`gamedp.solve`."""
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
            message = f"--option {self.option[0]} needs --solver, whose option it is."
            raise InvalidParameterError(message)
        if self.tolerance is not None:
            keywords["tolerance"] = self.tolerance
        return keywords


@Parameter(name="*", group=Group("Building the model", sort_key=3))
@attrs.frozen(kw_only=True)
class ExploreOptions:
    """How the states are found.

    Parameters
    ----------
    compile : {"auto", "always", "never"}
        Whether the rules are compiled by numba; auto runs them as plain Python if that fails.
    max_states : float
        Stop with an error beyond so many states.
    max_seconds : float
        Stop with an error after so many seconds of looking for states.
    max_bytes : float
        Stop with an error before the model takes so much memory; nine tenths of what is free if
        not given.
    """

    compile: Literal["auto", "always", "never"] = "auto"
    max_states: float | None = None
    max_seconds: float | None = None
    max_bytes: float | None = None

    def keywords(self) -> dict[str, Any]:
        """Return what is set, as keywords of :func:`gamedp.solve` and :func:`gamedp.compile`."""
        return {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in attrs.asdict(self).items()
            if value is not None
        }


@Parameter(name="*")
@attrs.frozen(kw_only=True)
class Method:
    """How a game is solved, and for what."""

    objective: ObjectiveOptions = attrs.field(factory=ObjectiveOptions)
    solver: SolverOptions = attrs.field(factory=SolverOptions)
    explore: ExploreOptions = attrs.field(factory=ExploreOptions)

    def keywords(self) -> dict[str, Any]:
        """Return what is set, as keywords of :func:`gamedp.solve`."""
        return {
            "objective": self.objective.make(),
            **self.solver.keywords(),
            **self.explore.keywords(),
        }


@Parameter(name="*", group=Group("Output", sort_key=4))
@attrs.frozen(kw_only=True)
class OutputOptions:
    """What is shown.

    Parameters
    ----------
    json : bool
        Print one JSON object, with every digit; infinite numbers are texts in it.
    quiet : bool
        Do not show progress.
    """

    json: Flag = False
    quiet: Flag = False


METHOD, OBJECTIVE, EXPLORE, OUTPUT = Method(), ObjectiveOptions(), ExploreOptions(), OutputOptions()
"""What holds where nothing is said."""
