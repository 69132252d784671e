"""Status, guarantee and statistics of a solution, and tolerances of its bounds."""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
import numpy as np

from gamedp.errors import UnknownNameError
from gamedp.runtime.floats import rounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

Best: TypeAlias = Literal["certain", "possible", "no"]
"""Whether an action is best: proven, as far as the bounds can tell, or not."""


class Status(enum.Enum):
    """Reason why a solver stopped; the value is the message.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> solution.status is gamedp.Status.SOLVED, solution.status.value
    (True, 'solved: the bounds are as close as asked for')
    """

    SOLVED = "solved: the bounds are as close as asked for"
    ROUNDING = "stopped at the limit of rounding: the bounds hold, but are wider than asked for"
    SWEEP_LIMIT = "stopped at the limit of sweeps: the bounds hold, but are wider than asked for"
    TIME_LIMIT = "stopped at the limit of time: the bounds hold, but are wider than asked for"
    NODE_LIMIT = "stopped at the limit of nodes: the bounds hold, but are wider than asked for"
    INTERRUPTED = "stopped by Ctrl-C: the bounds hold, but are wider than asked for"
    DEPTH_LIMIT = "searched to the given depth: the value is an estimate, the bounds hold"
    UNDECLARED = (
        "stopped as the values depend on what endless play counts, which is not declared: the "
        "bounds hold for all that it may count"
    )
    UNPROVEN = "stopped when the values hardly changed: nothing is proven"


class Guarantee(enum.Enum):
    """Guarantee that the bounds of a solution carry; the value is the message.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> solution.guarantee is gamedp.Guarantee.TWO_SIDED, solution.guarantee.value
    (True, 'the true value lies between the bounds')
    """

    TWO_SIDED = "the true value lies between the bounds"
    EQUILIBRIUM = (
        "the bounds contain what each player gets under this policy, which is an equilibrium"
    )
    NONE = "none: play may go on for ever, and this method then proves nothing"


@attrs.frozen
class Statistics:
    """Size of the solved model, and the work that solving took.

    Attributes
    ----------
    states, choices, transitions : int
        Size of the model.
    sweeps : int
        The number of passes over all states, rounded up.
    seconds : dict
        Seconds to ``"compile"`` the rules and, the first time, the loops that solve; to
        ``"explore"`` the states; and to ``"solve"``.
    bytes : int
        Memory that the model and the solution take.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> statistics = gamedp.solve(Matches(matches=18), compile="never").statistics
    >>> statistics.states, statistics.sweeps, sorted(statistics.seconds)
    (19, 1, ['compile', 'explore', 'solve'])
    """

    states: int
    choices: int
    transitions: int
    sweeps: int
    seconds: dict[str, float]
    bytes: int

    def of_phases(self) -> dict[str, float]:
        """Return the seconds of each phase; of a stored solution, one of them is ``"load"``."""
        phases = ("compile", "explore", "solve", "load")
        return {phase: self.seconds[phase] for phase in phases if phase in self.seconds}


@attrs.frozen
class ActionValue:
    """One action in a state.

    Attributes
    ----------
    action
        The action as the rules have it.
    name : str
        The name of the action.
    value : float
        What the given player, by default player 0, can expect after it.
    lower, upper : float
        Bounds of `value`.
    best : {"certain", "possible", "no"}
        Whether it is best; see :meth:`gamedp.Solution.best_actions`.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> for one in solution.action_values():
    ...     print(one.action, one.name, one.value, one.best)
    1 take 1 1.0 certain
    2 take 2 -1.0 no
    3 take 3 -1.0 no
    """

    action: Any
    name: str
    value: float
    lower: float
    upper: float
    best: Best = "possible"


@attrs.frozen
class Tolerance:
    """Largest distance allowed between the two bounds of a value.

    Attributes
    ----------
    absolute : float
        The distance that is allowed for every value.
    relative : float
        The fraction of a value's own size that is allowed, if that is more.
    """

    absolute: float
    relative: float = 0.0

    def admits(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> bool:
        """Return whether all bounds are this close; equal infinite ones are."""
        apart = lower != upper
        lower, upper = lower[apart], upper[apart]
        with np.errstate(over="ignore"):
            widths = upper - lower
        least = np.maximum(np.maximum(lower, -upper), 0.0)
        return bool((widths <= np.maximum(self.absolute, self.relative * least)).all())

    def scaled(self, absolute: float) -> Tolerance:
        """Return the tolerance with another `absolute` part, and the relative one in proportion."""
        if not self.absolute:
            return Tolerance(absolute)
        return Tolerance(absolute, self.relative * (absolute / self.absolute))


TOLERANCE = Tolerance(1e-6, 1e-6)
"""Default tolerance: a millionth, relative to the value where that is above 1.

No solver could prove a total of 10^9 to within an absolute millionth, in 64-bit numbers.
"""


def width_of(
    lower: NDArray[np.float64], upper: NDArray[np.float64], *, relative: bool = False
) -> float:
    """Return the largest distance between bounds; equal infinite ones have distance 0.

    Parameters
    ----------
    relative : bool
        Whether to divide by the smallest absolute value between the bounds; the result is
        infinite if 0 lies between them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        widths = upper - lower
    width = float(np.maximum.reduce(widths, axis=None, initial=0.0))
    if not (relative or math.isnan(width)):  # NaN if infinite bounds are equal
        return width
    apart = lower != upper
    lower, upper, widths = lower[apart], upper[apart], widths[apart]
    if relative:
        least = np.maximum(np.maximum(lower, -upper), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            widths = np.where(least > 0, widths / least, np.inf)
    return float(np.max(widths, initial=0.0))


def check_player(num_players: int, player: Any) -> None:
    """Raise UnknownNameError unless the game has such a player."""
    if not (isinstance(player, (int, np.integer)) and 0 <= player < num_players):
        message = f"there is no player {player}; there are {num_players}."
        raise UnknownNameError(message)


def opposite_bounds(constant_sum: float, low: float, high: float) -> tuple[float, float]:
    """Return bounds of one of two players' value from bounds of the other's.

    As `enclosed_difference` does for arrays, which takes thirty times as long for a single pair.
    """
    total = float(constant_sum)
    ends = []
    for number, outward in ((-float(high), -math.inf), (-float(low), math.inf)):
        rest = total + number
        if math.isnan(rest):
            rest = outward
        elif math.isfinite(total) and math.isfinite(number) and rounds(total, number, rest):
            rest = math.nextafter(rest, outward)
        ends.append(rest)
    return ends[0], ends[1]
