"""A stage as unrolled machine code: every row and every probability known when it is compiled.

The sweep in :mod:`gamedp.stages.kernels` reads from arrays what to do next. Where a stage is swept
for very many contexts, that reading is most of the work. Unrolled code for one register of contexts
at a time does without it. Inner states have the same rows for all registers, so that these stay in
the processor's nearest cache.
"""

from __future__ import annotations

import functools
import hashlib
import heapq
import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gamedp.compiler.cache import RulesCache, kept_callback
from gamedp.stages.vector_code import REGISTER, StageProgram

if TYPE_CHECKING:
    from collections.abc import Iterable


Pair: TypeAlias = tuple[int, int]
Owners: TypeAlias = defaultdict[Pair, set[int]]

MAX_TRANSITIONS = 1 << 15
"""Largest number of transitions: code for more takes minutes to compile."""


def can_unroll(program: StageProgram) -> bool:
    """Return whether a stage can be unrolled: it must be small, and all movers agree."""
    return len(program.rows) <= MAX_TRANSITIONS and bool(
        program.maximise.all() or not program.maximise.any()
    )


def is_unrolled(program: StageProgram) -> bool:
    """Return whether the code of a stage has been compiled before, and is on disk."""
    return _cache(program).holds_something


def unrolled(program: StageProgram) -> tuple[StageProgram, object]:
    """Return a program that runs as unrolled code, and the object that must outlive its use.

    Columns are swept by registers of `REGISTER`; where an end is not allowed, its value is the
    worst there is.
    """
    code = _code(_digest(program), _Frozen(program))
    num_ends = _num_ends(program)
    result = program._replace(
        address=code.address,
        lanes=REGISTER,
        never=-np.inf if program.maximise.all() else np.inf,
        # Of a block there remain the ends and the value of the stage.
        own_rows=np.array([num_ends]),
        num_rows=num_ends + 1,
        num_scratch=program.num_rows - num_ends,
    )
    return result, code


def _num_ends(program: StageProgram) -> int:
    return int(program.own_rows.min())


class _Frozen:
    """A program as an argument whose identity is given by another one."""

    def __init__(self, program: StageProgram) -> None:
        self.program = program

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen)

    def __hash__(self) -> int:
        return 0


def _digest(program: StageProgram) -> str:
    text = hashlib.sha256()
    for array in program[: StageProgram._fields.index("num_rows")]:
        text.update(f"{array.dtype} {array.shape} ".encode())  # type: ignore[union-attr]
        text.update(array.tobytes())  # type: ignore[union-attr]
    return text.hexdigest()


def _function() -> Any:
    """Return the function to compile; `write` is filled in later."""
    # Without a module's name, numba can write what it compiles to disk, but not read it again.
    namespace: dict[str, Any] = {"__name__": __name__}
    text = "def sweep(block, scratch):\n    write(block, scratch)"
    exec(text, namespace)  # noqa: S102 - our own text
    return namespace["sweep"]


def _cache(program: StageProgram) -> RulesCache:
    return RulesCache(_function(), _digest(program), "unrolled")


@functools.lru_cache(maxsize=8)
def _code(_digest: str, frozen: _Frozen) -> Any:
    """Return the compiled code of a program."""
    program = frozen.program

    @intrinsic
    def write(_typing_context, block, scratch):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            _write(builder, arguments, program)
            return context.get_dummy_value()

        return types.void(block, scratch), generate

    function = _function()
    function.__globals__["write"] = write
    pointer = types.CPointer(types.float64)
    signature = types.void(pointer, pointer)
    return kept_callback(function, signature, _digest, "unrolled")


def _write(builder: Any, addresses: Any, program: StageProgram) -> None:
    """Write the code of all states, successors first."""
    writer = _UnrolledWriter(builder, addresses, program)
    for state in range(len(program.own_rows)):
        writer.settle(state)


class _UnrolledWriter:
    """Writes the code of states, for one register of columns.

    A choice with one certain outcome and no reward has a value that is known already. Values of
    this kind that several states have in common are compared once.
    """

    def __init__(self, builder: Any, addresses: Any, program: StageProgram) -> None:
        self.builder = builder
        self.program = program
        self.vector = ir.VectorType(ir.DoubleType(), REGISTER)
        self.num_ends = _num_ends(program)
        self.block, self.scratch = (
            builder.bitcast(address, self.vector.as_pointer()) for address in addresses
        )
        self.comparison = ">" if program.maximise.all() else "<"
        self.known: list[set[int]] = []
        self.in_doubt: list[list[int]] = []
        self._sort_choices()
        self.pairs = share(self.known, program.num_rows + len(program.own_rows))
        self.of_pairs: dict[int, Any] = {}

    def _sort_choices(self) -> None:
        """Record for each state the values known already, and the choices that need a sum.

        A row has one value after another, so that a value is named by its row if it is an end's,
        and beyond all rows by the state whose it is.
        """
        program = self.program
        values = np.arange(program.num_rows)
        self.rows = dict(enumerate(range(program.num_rows)))
        for state, row in enumerate(program.own_rows.tolist()):
            known, in_doubt = set(), []
            for choice in range(*program.choice_offsets[state : state + 2].tolist()):
                first, end = program.transition_offsets[choice : choice + 2].tolist()
                if end - first == 1 and self._is_sure(choice, first):
                    known.add(int(values[program.rows[first]]))
                else:
                    in_doubt.append(choice)
            self.known.append(known)
            self.in_doubt.append(in_doubt)
            values[row] = program.num_rows + state
            self.rows[program.num_rows + state] = row

    def _is_sure(self, choice: int, transition: int) -> bool:
        program = self.program
        return bool(program.rewards[choice] == 0 and program.probabilities[transition] == 1)

    def settle(self, state: int) -> None:
        """Write the code of one state."""
        best = None
        for choice in self.in_doubt[state]:
            best = self._better(best, self._expected(choice))
        for value in sorted(self.known[state]):
            best = self._better(best, self._value(value))
        own = self._place(self.program.own_rows[state])
        if state == len(self.known) - 1:
            own = self._row(self.block, self.num_ends)
        self.builder.store(best, own)

    def _place(self, row: int) -> Any:
        if row < self.num_ends:
            return self._row(self.block, row)
        return self._row(self.scratch, row - self.num_ends)

    def _row(self, base: Any, row: int) -> Any:
        return self.builder.gep(base, [ir.Constant(ir.IntType(64), int(row))])

    def _constant(self, number: float) -> Any:
        return ir.Constant(self.vector, [float(number)] * REGISTER)

    def _better(self, best: Any, other: Any) -> Any:
        if best is None:
            return other
        is_better = self.builder.fcmp_ordered(self.comparison, other, best)
        return self.builder.select(is_better, other, best)

    def _value(self, value: int) -> Any:
        """Load a known value; the better one of a pair is computed at its first use."""
        if value in self.rows:
            return self.builder.load(self._place(self.rows[value]))
        if value not in self.of_pairs:
            one, other = self.pairs[value]
            self.of_pairs[value] = self._better(self._value(one), self._value(other))
        return self.of_pairs[value]

    def _expected(self, choice: int) -> Any:
        """Add up as the interpreting sweep does, with the same rounding of products."""
        program = self.program
        reward = program.rewards[choice]
        result = self._constant(reward) if reward else None
        for transition in range(*program.transition_offsets[choice : choice + 2].tolist()):
            probability = self._constant(program.probabilities[transition])
            values = self.builder.load(self._place(program.rows[transition]))
            product = self.builder.fmul(probability, values)
            result = product if result is None else self.builder.fadd(result, product)
        return result


def share(sets: list[set[int]], first: int) -> dict[int, Pair]:
    """Replace pairs of items that lie in more than one set by new items, the commonest pair first.

    The largest item of each set is then found with fewer comparisons: one for each new item, and
    one less than it has items for each set. To find the fewest is hard; taking the commonest pair
    again and again is the heuristic of [1]_ for sums.

    Parameters
    ----------
    sets : list of sets of int
        Changed in place.
    first : int
        The first new item; above all others.

    Returns
    -------
    pairs : dict of new item to the two items that it stands for
        An item comes after those that it stands for.

    References
    ----------
    .. [1] C. Paar, "Optimized arithmetic for Reed-Solomon encoders", ISIT 1997.

    Examples
    --------
    >>> sets = [{1, 2, 3}, {1, 2, 4}, {2, 3}]
    >>> share(sets, 10)
    {10: (1, 2)}
    >>> sets
    [{10, 3}, {10, 4}, {2, 3}]
    """
    owners: Owners = defaultdict(set)
    for number, items in enumerate(sets):
        for pair in itertools.combinations(sorted(items), 2):
            owners[pair].add(number)
    waiting: list[tuple[int, Pair]] = []
    _wait(waiting, owners, owners)
    pairs: dict[int, Pair] = {}
    while waiting:
        count, pair = heapq.heappop(waiting)
        if len(owners[pair]) != -count:
            _wait(waiting, owners, [pair])  # others have taken some since it was counted
            continue
        new = first + len(pairs)
        pairs[new] = pair
        _wait(waiting, owners, _replace(pair, new, sets, owners))
    return pairs


def _wait(waiting: list[tuple[int, Pair]], owners: Owners, found: Iterable[Pair]) -> None:
    """Queue pairs that lie in more than one set."""
    for pair in found:
        if len(owners[pair]) > 1:
            heapq.heappush(waiting, (-len(owners[pair]), pair))


def _replace(pair: Pair, new: int, sets: list[set[int]], owners: Owners) -> set[Pair]:
    """Replace a pair by a new item; return the pairs that it is part of."""
    met = set()
    for number in owners.pop(pair):
        items = sets[number]
        items.difference_update(pair)
        for other in items:
            for old in pair:
                owners[min(old, other), max(old, other)].discard(number)
            owners[other, new].add(number)
            met.add((other, new))
        items.add(new)
    return met
