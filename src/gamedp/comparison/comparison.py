"""A comparison of methods: who agrees with whom, who is fastest, and how time grows with size."""

from __future__ import annotations

import collections
import functools
import itertools
import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.comparison.measurement import Measurement
from gamedp.results.status import Guarantee
from gamedp.runtime.notebook import html_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


Verdict: TypeAlias = Literal[
    "proven", "partial", "confirmed", "unconfirmed", "wrong", "conflict", "stopped", "none"
]
"""The reliance on a row's answer; see :meth:`Comparison.verdict`."""


@attrs.frozen
class Conflict:
    """Two rows of one problem whose proven bounds do not overlap: at least one of them is wrong.

    Attributes
    ----------
    first, second : Measurement
    state : int
        -1 at the start, else the place among the examined states.
    """

    first: Measurement
    second: Measurement
    state: int

    def __str__(self) -> str:
        """Return what is known, in a sentence."""
        one, other = (row.intervals[self.state + 1] for row in (self.first, self.second))
        place = "at the start" if self.state < 0 else f"in examined state {self.state}"
        return (
            f"CONFLICT in {self.first.problem}: {self.first.method} proves {one[0]:.9g} to "
            f"{one[1]:.9g} {place}, {self.second.method} {other[0]:.9g} to {other[1]:.9g}; at "
            "least one of them is wrong"
        )


@attrs.frozen
class Growth:
    """Growth of the time of a method with a problem: seconds = c · transitions^exponent.

    Attributes
    ----------
    method : str
    exponent : float
        By least squares of logarithms.
    error : float
        Its standard error; NaN for two sizes.
    sizes : tuple of int
        The transitions of the problems that it solved.
    """

    method: str
    exponent: float
    error: float
    sizes: tuple[int, ...]


@attrs.frozen(repr=False)
class Comparison:
    """The rows of a comparison, and what follows from them.

    Attributes
    ----------
    rows : tuple of Measurement
    tolerance : float
        The distance of the bounds that all methods were asked for.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> table = gamedp.compare(
    ...     Matches(matches=18), solvers=["backward-induction", "value-iteration"]
    ... )
    >>> [row.method for row in table.rows], [row.value for row in table.rows], table.conflicts
    (['backward-induction', 'value-iteration'], [1.0, 1.0], ())
    """

    rows: tuple[Measurement, ...]
    tolerance: float

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems in order."""
        return tuple(dict.fromkeys(row.problem for row in self.rows))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in order."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    @functools.cached_property
    def _findings(self) -> dict[str, _Findings]:
        """The joint findings of the rows of each problem, by its name."""
        rows: dict[str, list[Measurement]] = {}
        for row in self.rows:
            rows.setdefault(row.problem, []).append(row)
        return {problem: _findings_of(found) for problem, found in rows.items()}

    def rows_of(self, problem: str) -> list[Measurement]:
        """Return the rows of a problem."""
        return list(self._findings[problem].rows)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """All pairs of rows with proven bounds that do not overlap."""
        return tuple(
            conflict for findings in self._findings.values() for conflict in findings.conflicts
        )

    def proven_bounds(self, problem: str) -> list[tuple[float, float]]:
        """Return the intersection of all trusted bounds: of the start, then the examined states.

        Empty if nothing is proven; only that of the start if no model was solved.
        """
        return list(self._findings[problem].bounds)

    def error(self, row: Measurement) -> float:
        """Return the largest possible error of a row's value, by the proven bounds of all rows.

        For values with bounds, of the middle between them. NaN if nothing is known.
        """
        known = self._findings[row.problem].bounds
        errors: list[float] = []
        for (low, high), (least, most) in zip(row.intervals, known, strict=False):
            middle = row.value if not errors and row.value is not None else (low + high) / 2
            errors.append(
                0.0 if middle == least == most else max(abs(middle - least), abs(middle - most))
            )
        return max(errors, default=math.nan)

    def verdict(self, row: Measurement) -> Verdict:
        """Return how far a row's answer can be trusted.

        - ``"proven"``: solved, with proven bounds that no other row contradicts.
        - ``"partial"``: a search came to its end, with bounds that are wider than asked for: it was
          to find out something else, such as who wins.
        - ``"confirmed"``: without bounds of its own, but within the tolerance of proven ones.
        - ``"unconfirmed"``: without bounds of its own, and nobody has proven any.
        - ``"wrong"``: without bounds of its own, and farther than that from the proven ones.
        - ``"conflict"``: its bounds contradict those of another row.
        - ``"stopped"``: a limit came first; the bounds hold, but are wider than asked for.
        - ``"none"``: no answer.

        Only rows that are proven or confirmed have a time and a rank: one that is wrong is not
        fast.
        """
        if row.value is None:
            return "none"
        if row.is_proven:
            if id(row) in self._findings[row.problem].distrusted:
                return "conflict"
            return self._extent(row) if row.is_solved else "stopped"
        known = self._findings[row.problem].bounds
        if not known:
            return "unconfirmed" if row.is_solved else "stopped"
        within = all(
            least - self.tolerance <= value <= most + self.tolerance
            for (value, _), (least, most) in zip(row.intervals, known, strict=False)
        )
        if not within:
            return "wrong"
        return "confirmed" if row.is_solved else "stopped"

    def _extent(self, row: Measurement) -> Verdict:
        """Return whether a row proves the value, or less: its bounds of the start tell."""
        low, high = row.intervals[0]
        is_close = high - low <= self.tolerance * max(1.0, abs(row.value or 0.0))
        return "proven" if is_close or row.kind != "searcher" else "partial"

    def counts(self, row: Measurement) -> bool:
        """Return whether a row has a time that may be compared."""
        return bool(row.warm_seconds) and self.verdict(row) in {"proven", "confirmed"}

    def ranking(self, problem: str) -> list[Measurement]:
        """Return the rows of a problem whose times count, the fastest first."""
        rows = [row for row in self.rows_of(problem) if self.counts(row)]
        return sorted(rows, key=lambda row: row.seconds)

    def growth(self) -> list[Growth]:
        """Return how the time of each method grows with the size, the slowest growth first.

        Needs one problem in two sizes and more. A searcher's size is that of the model which a
        solver has for the same problem.
        """
        sizes = {row.problem: row.transitions for row in self.rows if row.transitions}
        found = []
        for method in self.methods:
            points = sorted(
                (sizes[row.problem], row.seconds)
                for row in self.rows
                if row.method == method
                and row.size is not None
                and self.counts(row)
                and sizes.get(row.problem)
                and row.seconds > 0
            )
            if len({size for size, _ in points}) < 2:
                continue
            exponent, error = _slope(*np.log(np.array(points, dtype=float)).T)
            found.append(Growth(method, exponent, error, tuple(size for size, _ in points)))
        return sorted(found, key=lambda growth: growth.exponent)

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return the rows as columns of a table, one for each attribute.

        Beside the attributes of :class:`Measurement`, but for the examined states and single calls:
        the verdict, whether the time counts, the median, least and largest warm time (NaN if it
        does not count), and the largest possible error.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches
        >>> table = gamedp.compare(Matches(matches=18), solvers=["retrograde", "policy-iteration"])
        >>> table.to_columns()["verdict"].tolist()
        ['proven', 'proven']
        """
        names = [
            field.name
            for field in attrs.fields(Measurement)
            if field.name not in {"examined", "warm_seconds"}
        ]
        columns: dict[str, list[Any]] = {name: [] for name in names}
        more = ("verdict", "seconds", "fastest", "slowest", "calls", "touched", "error")
        columns |= {name: [] for name in more}
        for row in self.rows:
            times = (row.seconds, *row.spread) if self.counts(row) else (math.nan,) * 3
            for name in names:
                columns[name].append(getattr(row, name))
            values = (self.verdict(row), *times, len(row.warm_seconds), row.touched)
            for name, value in zip(more, (*values, self.error(row)), strict=True):
                columns[name].append(value)
        return {name: _column(values) for name, values in columns.items()}

    def facts(self) -> dict[str, Any]:
        """Return all that is known as values for JSON."""
        columns = {name: column.tolist() for name, column in self.to_columns().items()}
        rows = [
            {name: values[number] for name, values in columns.items()}
            for number in range(len(self.rows))
        ]
        return {
            "tolerance": self.tolerance,
            "rows": rows,
            "conflicts": [str(conflict) for conflict in self.conflicts],
            "ranking": {
                problem: [row.method for row in self.ranking(problem)] for problem in self.problems
            },
            "growth": [attrs.asdict(growth) for growth in self.growth()],
        }

    def cells(self, problem: str) -> list[tuple[str, ...]]:
        """Return the table of one problem as texts: a header, then the rows, the fastest first."""
        header = (
            "method", "answer", "value", "first", "compiling", "warm", "sweeps", "width", "error"
        )  # fmt: skip
        ranked = self.ranking(problem)
        rest = [row for row in self.rows_of(problem) if row not in ranked]
        rest.sort(key=lambda row: (row.value is None, row.width or 0.0))
        return [header, *(self._cells(row) for row in (*ranked, *rest))]

    def _cells(self, row: Measurement) -> tuple[str, ...]:
        verdict = self.verdict(row)
        if verdict == "none":
            return (row.method, row.status.lower().replace("_", " "), *("",) * 7)
        low, high = row.spread
        warm = f"{in_seconds(row.seconds)} ({in_seconds(low)} to {in_seconds(high)})"
        counted = self.counts(row)
        work = "" if row.sweeps is None else f"{row.sweeps:,}"
        if row.nodes is not None:
            work = f"{row.nodes:,} nodes"
        words = verdict if verdict != "stopped" else row.status.lower().replace("_", " ")
        return (
            row.method,
            words,
            f"{row.lower:.4g} to {row.upper:.4g}" if verdict == "partial" else f"{row.value:.7g}",
            in_seconds(row.first_seconds) if counted or verdict in {"stopped", "partial"} else "",
            in_seconds(row.compile_seconds) if row.compile_seconds else "",
            warm if counted else "",
            work,
            f"{row.width:.1e}" if row.is_proven and row.width is not None else "no bounds",
            f"{self.error(row):.1e}" if not math.isnan(self.error(row)) else "unknown",
        )

    def notes(self, problem: str) -> list[str]:
        """Return what a table does not say: conflicts, and why there is no answer."""
        told = [str(conflict) for conflict in self._findings[problem].conflicts]
        reasons: dict[str, list[str]] = {}
        for row in self.rows_of(problem):
            if row.reason and not row.is_solved:
                reasons.setdefault(row.reason, []).append(row.method)
        return told + [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]

    def __repr__(self) -> str:
        """Return the number of rows, problems and methods."""
        return (
            f"<Comparison of {len(self.methods)} methods on {len(self.problems)} problems: "
            f"{len(self.rows)} rows, {len(self.conflicts)} conflicts>"
        )

    def __str__(self) -> str:
        """Return the tables of all problems, their notes, and growth, as text."""
        parts = []
        for problem in self.problems:
            cells = self.cells(problem)
            widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
            lines = [
                "  ".join(
                    cell.ljust(width) for cell, width in zip(line, widths, strict=True)
                ).rstrip()
                for line in cells
            ]
            parts.append("\n".join([self.title(problem), *lines, *self.notes(problem)]))
        if growth := self.growth():
            lines = [
                f"{each.method}: transitions^{each.exponent:.2f}"
                + ("" if math.isnan(each.error) else f" ± {each.error:.2f}")
                for each in growth
            ]
            parts.append("\n".join(["time grows as", *lines]))
        return "\n\n".join(parts)

    def title(self, problem: str) -> str:
        """Return a problem with the size of its model."""
        for row in self.rows_of(problem):
            if row.states is not None:
                return f"{problem}: {row.states:,} states, {row.transitions or 0:,} transitions"
        return problem

    def _repr_html_(self) -> str:
        """Return the tables for notebooks."""
        return "".join(
            f"<p>{html_rows([self.title(problem)], [])}</p>"
            + html_rows(self.cells(problem)[0], self.cells(problem)[1:])
            + html_rows([], [(note,) for note in self.notes(problem)])
            for problem in self.problems
        )


@attrs.frozen
class _Findings:
    """The rows of one problem, and what they say together.

    Attributes
    ----------
    rows : list of Measurement
    conflicts : list of Conflict
    distrusted : set of int
        The ids of rows that lose their time.
    bounds : list of (lower, upper)
        The intersection of all other two-sided bounds.
    """

    rows: list[Measurement]
    conflicts: list[Conflict]
    distrusted: set[int]
    bounds: list[tuple[float, float]]


def _findings_of(rows: list[Measurement]) -> _Findings:
    # Equilibria of three and more players may differ: that is not a conflict.
    proven = [row for row in rows if row.guarantee == Guarantee.TWO_SIDED.name]
    conflicts = [
        conflict
        for first, second in itertools.combinations(proven, 2)
        for conflict in _conflict(first, second)
    ]
    distrusted = _distrusted(conflicts)
    trusted = [row.intervals for row in proven if id(row) not in distrusted]
    bounds = []
    for ends in itertools.zip_longest(*trusted):
        known = [end for end in ends if end is not None]
        bounds.append((max(low for low, _ in known), min(high for _, high in known)))
    return _Findings(rows, conflicts, distrusted, bounds)


def _conflict(first: Measurement, second: Measurement) -> Iterator[Conflict]:
    """Yield the first conflict of two rows, if there is one."""
    pairs = zip(first.intervals, second.intervals, strict=False)
    for number, ((low, high), (least, most)) in enumerate(pairs):
        if not (low <= most and least <= high):  # NaN is not a bound
            yield Conflict(first, second, number - 1)
            return


def _distrusted(conflicts: list[Conflict]) -> set[int]:
    """Return the ids of rows that lose their time: those that disagree with the most others.

    They are removed until the rest agree. If two contradict each other and no other row, neither is
    trusted.
    """
    left = [(id(conflict.first), id(conflict.second)) for conflict in conflicts]
    out: set[int] = set()
    while left:
        counts = collections.Counter(row for pair in left for row in pair)
        most = max(counts.values())
        worst = {row for row, count in counts.items() if count == most}
        out |= worst
        left = [pair for pair in left if not worst & set(pair)]
    return out


def in_seconds(seconds: float | None) -> str:
    """Return seconds in words with three digits, as in ``"1.25 ms"``; "" for None."""
    if seconds is None or math.isnan(seconds):
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _slope(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Return the slope of the line of least squares, and its standard error."""
    deviation = x - x.mean()
    spread = float(deviation @ deviation)
    slope = float(deviation @ y) / spread
    if len(x) < 3:
        return slope, math.nan
    residual = y - y.mean() - slope * deviation
    return slope, math.sqrt(float(residual @ residual) / (len(x) - 2) / spread)


def _column(values: list[Any]) -> NDArray[Any]:
    """Return a column: numbers as floats or whole numbers, texts and gaps as objects."""
    if all(type(value) is int for value in values):
        return np.array(values, np.int64)
    if all(value is None or type(value) in {int, float} for value in values):
        return np.array([math.nan if value is None else value for value in values], np.float64)
    column = np.empty(len(values), object)
    column[:] = values
    return column
