"""Axes, colours, the words for the values drawn, and the choice of the states drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.errors import (
    InvalidParameterError,
    MissingPackageError,
    UnknownNameError,
    UnsupportedProblemError,
    shown,
)
from gamedp.model.model import Model
from gamedp.model.objectives import Reachability, TotalReward, sum_of_values
from gamedp.results.columns import fields_of
from gamedp.results.status import Guarantee, check_player
from gamedp.runtime.encoding import declared_fields
from gamedp.stages.model import StagedModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

    Integers = NDArray[np.int64]


COLOURS = (
    *("#0072B2", "#E69F00", "#F0E442", "#D55E00", "#56B4E9", "#009E73", "#CC79A7", "#999999"),
)
"""Colours of Okabe and Ito, for the colour-blind; the first three differ in grey print, too."""

MOST_LETTERS = 24
"""Largest number of characters of a name or a state in a picture."""

HATCHES = ("", "", "", "///", "...", "xxx", "\\\\\\", "ooo")
"""Hatches for colours whose greys are too similar."""


def canvas(ax: Any = None, *, space: bool = False, size: tuple[float, float] | None = None) -> Any:
    """Return the given axes, or new ones of some size in inches.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.
    InvalidParameterError
        If the axes are flat for a picture in space, or conversely.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        message = "pictures need matplotlib; install it with: pip install gamedp[plots]"
        raise MissingPackageError(message) from error
    if ax is None:
        _, ax = plt.subplots(
            figsize=size,
            layout="constrained",
            subplot_kw={"projection": "3d"} if space else None,
        )
    elif hasattr(ax, "set_zlabel") != space:
        wanted = "axes made with projection='3d'" if space else "flat axes"
        message = f"this picture needs {wanted}; ax is {type(ax).__name__}."
        raise InvalidParameterError(message)
    ax.title.set_wrap(True)  # a long one takes several lines, and ends at no edge
    return ax


def whole_ticks(*lines: Any, most: int | None = None) -> None:
    """Put the ticks of coordinate axes at whole numbers."""
    from matplotlib.ticker import MaxNLocator

    for line in lines:
        line.set_major_locator(
            MaxNLocator(nbins=most or "auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
        )


def colour_bar(ax: Axes, shown: Any, label: str) -> None:
    """Draw the colour bar of an image in some axes."""
    figure = ax.get_figure()
    if figure is not None:
        figure.colorbar(shown, ax=ax, label=label, shrink=0.8)


def legend_beside(ax: Axes, handles: list[Any] | None = None) -> None:
    """Draw a legend to the right of some axes: of some handles, or of everything with a label."""
    ax.legend(
        **({} if handles is None else {"handles": handles}),
        loc="upper left",
        bbox_to_anchor=(1.02, 1),
        borderaxespad=0,
        frameon=False,
    )


def in_words(state: Any) -> str:
    """Return the fields of a state except the player to move."""
    fields = declared_fields(state)
    if fields is None:
        return str(state)
    return ", ".join(str(part) for name, part in fields.items() if name != "player")


def literal(text: str) -> str:
    r"""Return a text that is drawn literally: matplotlib reads formulas between two dollars.

    >>> print(literal("pay $1 of $5"))
    pay \$1 of \$5
    """
    return text.replace("$", r"\$")


def short(text: str, most: int = MOST_LETTERS) -> str:
    """Return a line of text, cut in the middle if too long, as names often differ at the end."""
    half = (most - 1) // 2
    return literal(text if len(text) <= most else f"{text[: most - 1 - half]}…{text[-half:]}")


def values_of(
    solution: Solution | StagedSolution, player: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return a player's value in each state, and its lower and upper bounds; (S,) each.

    Raises
    ------
    UnknownNameError
        If there is no such player.
    UnsupportedProblemError
        If the second player's values do not follow from the first one's.
    """
    check_player(solution.model.num_players, player)
    values, lower, upper = solution.values, solution.lower, solution.upper
    if values.ndim > 1:
        return values[:, player], lower[:, player], upper[:, player]
    if player == 0:
        return values, lower, upper
    total = sum_of_values(solution.objective, solution.model.constant_sum)
    if total is None:
        message = "the values of the two players do not add up to a constant; draw player 0's."
        raise UnsupportedProblemError(message)
    return total - values, total - upper, total - lower


def what_values_are(solution: Solution | StagedSolution, player: int = 0) -> str:
    """Return words for the values and their player, for a title or a colour bar."""
    model, objective = solution.model, solution.objective
    what = "value"
    if isinstance(objective, Reachability):
        what = "probability"
    elif isinstance(objective, TotalReward) and objective.until is None and objective.draw is None:
        one_wins = model.has_opponents and model.constant_sum == 1
        if isinstance(model, Model) and one_wins and not model.rewards.any():
            what = "winning probability" if np.isin(model.payoffs, (0.0, 1.0)).all() else what
    whose = f" of player {player}" if model.num_players > 1 else ""
    doubt = " (not proven)" if solution.guarantee is Guarantee.NONE else ""
    return f"{what}{whose}{doubt}"


FIELD = "field of the state"
MOST_CELLS = 4_000_000
"""Largest number of cells: more than the points of a picture."""


@attrs.frozen(eq=False)
class Selection:
    """Some states of a model, each in a cell of its own.

    Attributes
    ----------
    names : tuple of str
        The fields along the picture's axes.
    states : (n,) int64
        The numbers of the states.
    places : (n, number of axes) int64
        Their fields.
    where : str
        What all of them have in common, in words; empty if nothing was asked for.
    """

    names: tuple[str, ...]
    states: Integers
    places: Integers
    where: str

    @property
    def low(self) -> Integers:
        """The least of each field."""
        least: Integers = self.places.min(axis=0)
        return least

    def grid(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the states' numbers in an array with an axis for each field, NaN elsewhere."""
        sizes = np.ptp(self.places, axis=0) + 1
        table = np.full(sizes, np.nan)
        table[tuple((self.places - self.low).T)] = numbers
        return table

    def edges(self, axis: int) -> NDArray[np.float64]:
        """Return the edges of the cells along an axis."""
        low, high = self.places[:, axis].min(), self.places[:, axis].max()
        ends: NDArray[np.float64] = np.arange(low, high + 2) - 0.5
        return ends


def fields_in(thing: Any) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
    """Return the fields of the states of a solution or policy, and which states exist."""
    model = thing.model
    if not isinstance(model, StagedModel):
        return fields_of(model), np.ones(model.num_states, np.bool_)
    packed = model.codec.unpack(np.arange(model.num_states)[:, None])
    return dict(zip(model.layout.names(), packed.T, strict=True)), ~np.isnan(thing.values)


def select(thing: Any, names: Sequence[str], where: Mapping[str, int] | None) -> Selection:
    """Return the states that have the given fields, placed by some of their other fields.

    Parameters
    ----------
    thing : Solution, StagedSolution or Policy
        Whose states; of a staged game, the contexts.
    names : sequence of str
        The fields along the picture's axes.
    where : mapping of str to int, or None

    Raises
    ------
    UnknownNameError
        If the states have no such field.
    InvalidParameterError
        If a field is named twice, no state is left, or several are in one place.
    UnsupportedProblemError
        If a field is not an integer, or the picture would have too many cells.
    """
    fields, chosen = fields_in(thing)
    wanted = {} if where is None else dict(where)
    for name in (*names, *wanted):
        if name not in fields:
            raise UnknownNameError.nearest(FIELD, str(name), fields)
        if [*names, *wanted].count(name) > 1:
            message = f"the field {name} is named twice: {', '.join([*names, *wanted])}."
            raise InvalidParameterError(message)
    for name, value in wanted.items():
        chosen &= np.asarray(fields[name] == value, np.bool_)
    said = ", ".join(f"{name} = {value}" for name, value in wanted.items())
    states = np.flatnonzero(chosen)
    if not len(states):
        message = f"no state has {said}."
        raise InvalidParameterError(message)
    places = np.column_stack([_integers(name, fields[name][states]) for name in names])
    extents = np.ptp(places, axis=0).astype(float) + 1
    if math.prod(extents.tolist()) > MOST_CELLS:
        ranges = " by ".join(f"{extent:,.0f}" for extent in extents)
        message = f"the picture would have {ranges} cells; {MOST_CELLS:,} are the most."
        raise UnsupportedProblemError(message)
    if len(np.unique(places, axis=0)) < len(places):
        raise InvalidParameterError(_shared(fields, names, wanted, states))
    return Selection(tuple(names), states, places, said)


def _integers(name: str, column: NDArray[Any]) -> Integers:
    """Return a column as integers."""
    if column.dtype == object:
        strange = next((item for item in column if type(item) is not int), None)
        if strange is not None:
            message = f"the field {name} is not an integer: {shown(strange)}."
            raise UnsupportedProblemError(message)
    return column.astype(np.int64)


def _shared(
    fields: dict[str, NDArray[Any]],
    names: Sequence[str],
    wanted: Mapping[str, int],
    states: Integers,
) -> str:
    """Return the message that states share a place, with the fields that distinguish them."""
    others = [name for name in fields if name not in names and name not in wanted]
    varying = [name for name in others if (fields[name][states] != fields[name][states[0]]).any()]
    example = ", ".join(f"{name!r}: {fields[name][states[0]]}" for name in varying)
    return (
        f"several states have the same {' and '.join(names)}; name a value of "
        f"{', '.join(varying)}, as where={{{example}}}."
    )
