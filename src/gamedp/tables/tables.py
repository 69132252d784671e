"""Tables of all positions of a game: made, kept, looked up."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gamedp.errors import (
    DamagedFileError,
    InvalidParameterError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)
from gamedp.results.base import mean_of
from gamedp.results.status import Guarantee, opposite_bounds
from gamedp.rules.exactness import as_real, is_rounded
from gamedp.rules.expand import start
from gamedp.rules.game import numbers_positions
from gamedp.runtime.block_file import BlockFile, remove_leftovers, write_blocks
from gamedp.runtime.files import as_path
from gamedp.tables.blocks import PARTS, Blocks, KeptParts, bytes_of
from gamedp.tables.checking import action_bounds, verify_samples
from gamedp.tables.filling import Filler, cut
from gamedp.tables.numbered_plan import NumberedPlan
from gamedp.tables.plan import Plan, identity_of
from gamedp.tables.whole_numbers import WholeFiller, WholeNumbers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from concurrent.futures import Executor

    from gamedp.runtime.arrays import Integers
    from gamedp.runtime.options import CompileMode

__all__ = ["Tables"]

PLAN = "plan.blocks"
"""The file of a folder that is written first and then never changed."""


def plan_of(game: Any, packed: Integers | None = None) -> Plan | NumberedPlan:
    """Return where each position of a game stands, see `Plan.of` and `NumberedPlan.of`."""
    kind: type[Plan | NumberedPlan] = NumberedPlan if numbers_positions(game) else Plan
    return kind.of(game, packed)


class Tables:
    """The values of all positions of a game, on disk, between proven bounds.

    Made by :func:`tabulate`, or opened by :meth:`open`. Only the parts that are looked up are read.

    Attributes
    ----------
    game
    plan : Plan or NumberedPlan
        Where each position stands.
    tolerance : float
        The largest width of bounds.
    block_size : int
        The number of places beyond which a tier is cut into blocks.
    is_kept : bool
        Whether the folder stays when these are gone.
    digest : str
        Of everything that the bytes of blocks depend on, in hexadecimal.
    guarantee : Guarantee
        Always ``TWO_SIDED``: what is not proven is not kept.
    """

    guarantee = Guarantee.TWO_SIDED

    def __init__(
        self,
        folder: Path,
        plan: Plan | NumberedPlan,
        tolerance: float,
        block_size: int,
        *,
        is_kept: bool = True,
    ) -> None:
        self.game = plan.rules.game
        self.tolerance = tolerance
        self.block_size = block_size
        self.plan = plan
        self.is_kept = is_kept
        identity = plan.identity if is_kept else {}  # nobody else opens a temporary folder
        self._identity = {**identity, "tolerance": tolerance, "block_size": block_size}
        digest = hashlib.sha256(json.dumps(self._identity).encode())
        digest.update(plan.packed.astype("<i8").tobytes())
        self.digest = digest.hexdigest()
        self._blocks = blocks = Blocks(folder, plan, self.digest, is_kept=is_kept)
        self._parts: KeptParts | WholeNumbers = (
            KeptParts(len(plan.tiers), blocks.get)
            if isinstance(plan, Plan)
            else WholeNumbers(plan, blocks.get)
        )

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._blocks.folder

    def path(self, level: int) -> Path:
        """Return the file of a block, which may not be there."""
        return self._blocks.path(level)

    def has(self, level: int) -> bool:
        """Return whether a block has been made."""
        return self._blocks.has(level)

    @classmethod
    def open(cls, folder: str | Path, game: Any) -> Self:
        """Open the tables in a folder; values are read when they are looked up.

        Parameters
        ----------
        folder : str or Path
        game
            The same as for :func:`tabulate`.

        Raises
        ------
        FileNotFoundError
            If there are none.
        DamagedFileError
            If they are of another game or other rules, or the plan of the folder is damaged.

        Examples
        --------
        >>> import tempfile, gamedp
        >>> from gamedp.games.wubbel import Wubbel
        >>> game = Wubbel.pig(10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tables = gamedp.tables.tabulate(game, folder)
        ...     gamedp.tables.Tables.open(folder, game).bounds() == tables.bounds()
        True
        """
        path = as_path(folder) / PLAN
        file = BlockFile.open(path)
        tolerance, size = (file.content.get(name) for name in ("tolerance", "block_size"))
        if (
            not (type(tolerance) is float and 0 < tolerance < math.inf)
            or not (type(size) is int and 0 < size < 2**63)
        ):  # fmt: skip
            message = f"{path} is damaged: it names no tolerance, or no size of blocks."
            raise DamagedFileError(message)
        # The numbers below are those of the rules, and not of the file, until these are compared.
        found = b"".join(file.read(part).tobytes() for part in range(len(file)))
        packed = np.frombuffer(found[: len(found) // 8 * 8], "<i8").astype(np.int64)
        try:
            tables: Self | None = cls(path.parent, plan_of(game, packed), tolerance, size)
        except InvalidParameterError:  # there are not as many levels as the game has rows
            tables = None
        if tables is None or tables._identity != file.content:  # noqa: SLF001 - of this very class
            message = (
                f"{path} does not belong to {shown(game)} with its present rules. Remove the "
                "folder, or choose another one."
            )
            raise DamagedFileError(message)
        return tables

    def __repr__(self) -> str:
        """Return a summary of what is there."""
        blocks = "" if self.num_blocks == self.num_tiers else f" in {self.num_blocks:,} blocks"
        missing = [level for level in range(self.num_blocks) if not self.has(level)]
        made = self.num_tiers - len(np.unique(self.plan.tiers[missing]))
        return f"<Tables of {shown(self.game)}: {made:,} of {self.num_tiers:,} tiers{blocks}>"

    @property
    def num_tiers(self) -> int:
        """The number of tiers, made or not."""
        return len(np.unique(self.plan.tiers))

    @property
    def num_blocks(self) -> int:
        """The number of blocks, a file each, made or not."""
        return len(self.plan.tiers)

    @property
    def num_made(self) -> int:
        """The number of blocks that are made."""
        return len(self._made())

    @property
    def num_places(self) -> int:
        """The number of places of the blocks that are made; a place need not be a position."""
        return sum(map(self.plan.size, self._made()))

    @property
    def last_tier(self) -> int | None:
        """The highest tier up to which all are made; None if the lowest is not."""
        made, last = set(self._made()), None
        for level, tier in enumerate(self.plan.tiers.tolist()):
            if level not in made:
                return None if last == tier else last
            last = tier
        return last

    @property
    def width(self) -> float:
        """The largest distance of the bounds of a value in the tables, over all that are made."""
        return 2 * max((self._blocks.get(level).error for level in self._made()), default=0.0)

    @property
    def num_bytes(self) -> int:
        """The number of bytes of all files."""
        paths = [self.folder / PLAN, *(map(self.path, range(self.num_blocks)))]
        return sum(path.stat().st_size for path in paths if path.is_file())

    def _made(self) -> list[int]:
        """Return the levels whose files are there."""
        return [level for level in range(self.num_blocks) if self.has(level)]

    def _ends(self, state: Hashable) -> tuple[float, float, float, bool]:
        """Return player 0's value, lower and upper bound in the representative of a state.

        And whether the players have changed places in it.
        """
        rules, plan = self.plan.rules, self.plan
        state, swapped = rules.canonical(plan.checked(state))
        if rules.is_terminal(state):
            given = rules.game.payoff(state, 0)
            payoff = as_real(given) + 0.0  # without -0.0
            if is_rounded(given):
                ends = math.nextafter(payoff, -math.inf), math.nextafter(payoff, math.inf)
                return payoff, *ends, swapped
            return payoff, payoff, payoff, swapped
        level, place = plan.place(state)
        value, error = self._parts.number(level, place)
        if math.isnan(value):
            message = f"{shown(state)} is not a position: is_state is false there."
            raise UnknownStateError(message)
        low, high = plan.ends(state, value, error)
        return value if isinstance(plan, Plan) else (low + high) / 2, low, high, swapped

    def value(self, state: Hashable | None = None, player: int = 0) -> float:
        """Return what `player` can expect in a state, or from the start.

        Raises
        ------
        UnknownStateError
            If the tables do not have the state.
        """
        if state is None:
            return self._at_start(self.value, player)
        number, _, _, swapped = self._ends(state)
        total = self.plan.rules.constant_sum
        return total - number if self._side(player) != swapped else number

    def bounds(self, state: Hashable | None = None, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` can expect in a state, or from the start.

        Raises
        ------
        UnknownStateError
            If the tables do not have the state.
        """
        if state is None:
            return (
                self._at_start(lambda *place: self.bounds(*place)[0], player, -math.inf),
                self._at_start(lambda *place: self.bounds(*place)[1], player, math.inf),
            )
        _, low, high, swapped = self._ends(state)
        if self._side(player) != swapped:
            return opposite_bounds(self.plan.rules.constant_sum, low, high)
        return low, high

    def _at_start(
        self, number: Callable[[Any, int], float], player: int, outward: float | None = None
    ) -> float:
        """Return the mean of a number over the initial states; see :func:`mean_of`."""
        self._side(player)
        starts = start(self.plan.rules)
        numbers = [number(state, player ^ swapped) for _, state, swapped in starts]
        return mean_of(numbers, [probability for probability, _, _ in starts], 0.0, outward)

    def _side(self, player: int) -> bool:
        given: Any = player
        if not (isinstance(given, (int, np.integer)) and 0 <= player < self.plan.rules.num_players):
            message = f"player is {shown(player)}; there are {self.plan.rules.num_players}."
            raise InvalidParameterError(message)
        return player == 1

    def best_actions(self, state: Hashable | None = None) -> list[Any]:
        """Return the actions in a state, or at the start, that may be best, by their bounds."""
        rules = self.plan.rules
        state = self.plan.checked(rules.only_start() if state is None else state)
        found = action_bounds(self, rules, state)
        if rules.player(state) == 0:
            most = max((low for _, low, _ in found), default=0.0)
            return [action for action, _, high in found if high >= most]
        least = min((high for _, _, high in found), default=0.0)
        return [action for action, low, _ in found if low <= least]

    def damaged(self) -> list[Path]:
        """Return the files that are not what was written; :func:`tabulate` makes them again."""
        found = []
        for level in self._made():
            try:
                self._blocks.open(level).file.check()
            except DamagedFileError:
                found.append(self.path(level))
        return found

    def verify(
        self, samples: int | None = 1000, generator: np.random.Generator | None = None
    ) -> int:
        """Check values against those that they lead to, by the rules in plain Python.

        Positions are drawn at random, and each is followed, at random, to the end of the game. The
        bounds of each must have a number in common with what its actions and theirs lead to.

        Parameters
        ----------
        samples : int or None
            The least number of places to check. None makes every block again, as :func:`tabulate`
            does, and compares all bytes.
        generator : numpy.random.Generator, optional
            The source of randomness; the same positions each time if not given.

        Returns
        -------
        checked : int
            The number of places that were checked.

        Raises
        ------
        InvalidModelError
            At the first contradiction.
        DamagedFileError
            If a file is damaged; with ``samples=None``, also if it holds other numbers.

        Examples
        --------
        >>> import tempfile, gamedp
        >>> from gamedp.games.wubbel import Wubbel
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tables = gamedp.tables.tabulate(Wubbel.pig(8), folder)
        ...     tables.verify(100) >= 100
        True
        """
        made = self._made()
        if samples is not None:
            if samples < 1:
                message = f"samples is {shown(samples)}; it must be at least 1, or None for all."
                raise InvalidParameterError(message)
            return verify_samples(
                self, self.plan, made, samples, generator or np.random.default_rng(0)
            )
        filler = self.filler(top=made[-1] if made else -1)
        for level in made:
            data, described = filler.fill(level)
            block = self._blocks.get(level)
            content = {**self._blocks.content(level), **described}
            if block.file.content != content or bytes_of(block) != data.tobytes():
                message = f"{block.file.path} differs from its block when that is made again."
                raise DamagedFileError(message)
        return sum(map(self.plan.size, made))

    @classmethod
    def begin(
        cls,
        folder: Path | None,
        game: Any,
        tolerance: float,
        block_size: int,
        compile: CompileMode,
    ) -> Self:
        """Return the tables of a folder, in which there may be none yet; None: a temporary one.

        Raises
        ------
        InvalidParameterError
            If they are made with another tolerance or another size of blocks.
        """
        tables = None
        if folder is not None and folder.is_dir():
            remove_leftovers(folder)
            with contextlib.suppress(FileNotFoundError):
                tables = cls.open(folder, game)
        if tables is None:
            plan = plan_of(game)
            if isinstance(plan, Plan):
                plan = cut(plan, block_size, compile)
            place = folder or Path(tempfile.mkdtemp(prefix="gamedp-tables-"))
            tables = cls(place, plan, tolerance, block_size, is_kept=folder is not None)
        for name, asked in (("tolerance", tolerance), ("block_size", block_size)):
            if (found := getattr(tables, name)) != asked:
                message = (
                    f"the tables in {folder} are made with {name}={found:g}, not {asked:g}; ask "
                    "for that, or choose another folder."
                )
                raise InvalidParameterError(message)
        return tables

    def levels_up_to(self, last_tier: int | None) -> range:
        """Return the blocks of the tiers up to one, None for the last.

        Raises
        ------
        InvalidParameterError
            If that is below the first tier, or above the last.
        """
        tiers = self.plan.tiers
        if last_tier is None:
            return range(len(tiers))
        if not tiers[0] <= last_tier <= tiers[-1]:
            message = (
                f"last_tier is {last_tier}; the tables of {shown(self.game)} have tiers {tiers[0]} "
                f"to {tiers[-1]}."
            )
            raise InvalidParameterError(message)
        return range(int(np.searchsorted(tiers, last_tier, "right")))

    def write_plan(self) -> None:
        """Write the file that says where each position stands, unless it is there."""
        if not (self.folder / PLAN).exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            packed = self.plan.packed.astype("<i8")
            write_blocks(self.folder / PLAN, self._identity, packed.view(np.int8))

    def make(self, filler: Filler | WholeFiller, level: int) -> float:
        """Make a block; return its error. It is written unless that is too large."""
        data, described = filler.fill(level)
        error: float = described["error"]
        if 2 * error <= self.tolerance:
            content = {**self._blocks.content(level), **described}
            write_blocks(self.path(level), content, data, PARTS[described["store"]], filler.apply)
        return error

    def forget(self, level: int) -> None:
        """Read a block anew when it is looked at next."""
        self._blocks.forget(level)
        self._parts.forget(level)

    def filler(
        self,
        max_bytes: float | None = None,
        top: int = -1,
        compile: CompileMode = "auto",
        executor: Executor | None = None,
        tick: Callable[[int], None] = lambda _: None,
    ) -> Filler | WholeFiller:
        """Return the object that computes blocks of these tables, up to level `top`."""
        if isinstance(self.plan, NumberedPlan):
            own = WholeNumbers(self.plan, self._blocks.get)  # nobody else sees what is not complete
            return WholeFiller(own, top, compile, executor, tick)
        assert isinstance(self._parts, KeptParts)  # noqa: S101 - which go with such a plan
        return Filler(self.plan, self._parts.look, self.tolerance, max_bytes, compile)

    def for_search(self, game: Any = None) -> WholeNumbers:
        """Return the values of the tiers that are made, as a search of a game reads them.

        Raises
        ------
        UnsupportedProblemError
            If the game does not number its positions.
        InvalidParameterError
            If they are tables of another game.
        """
        if not (game is None or game is self.game or self._are_of(game)):
            message = (
                f"these are tables of {shown(self.game)}, and not of {shown(game)} with its "
                "present rules."
            )
            raise InvalidParameterError(message)
        if isinstance(self._parts, KeptParts):
            message = (
                f"searches read tables of games that number their positions; "
                f"{type(self.game).__name__} has no method tier_size."
            )
            raise UnsupportedProblemError(message)
        last = self.last_tier
        return self._parts.up_to(-1 if last is None else last)

    def _are_of(self, game: Any) -> bool:
        if type(game) is not type(self.game):
            return False
        try:
            return identity_of(game) == identity_of(self.game)
        except UnsupportedProblemError:  # what cannot be followed is compared by itself alone
            return bool(game == self.game)

    def number_at(self, level: int, place: int) -> tuple[float, float]:
        """Return the value at a place and its error; NaN for none."""
        return self._parts.number(level, place)
