"""How kernels are compiled: for Python or for one another, with references counted or not."""

import dis
import gc
import importlib
import os
import pkgutil
import subprocess
import sys

import many_solutions
import numpy as np
import pytest
from numba import config, typeof
from numba.core.caching import NullCache
from numba.core.errors import NumbaError
from numba.core.typing.typeof import _typeof_ndarray

from gamedp import bellman
from gamedp.bellman import average
from gamedp.runtime import jit
from gamedp.runtime.compile_clock import without_collection
from gamedp.stages.kernels import sweep_stage_jit

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


def all_kernels():
    """Yield all kernels, those of each module and those that it imports."""
    for module in pkgutil.iter_modules(bellman.__path__):
        names = vars(importlib.import_module(f"{bellman.__name__}.{module.name}"))
        yield from (kernel for kernel in names.values() if isinstance(kernel, jit.Kernel))


def called(kernel):
    """Yield the kernels that another one names."""
    for step in dis.get_instructions(kernel.py_func):
        other = step.opname == "LOAD_GLOBAL" and kernel.py_func.__globals__.get(step.argval)
        if isinstance(other, jit.Kernel):
            yield other


def test_references_are_counted_wherever_arrays_are_made():
    found = {kernel.py_func: kernel for kernel in all_kernels()}.values()
    assert len(found) > 100
    counting = [kernel for kernel in found if kernel.targetoptions["_nrt"]]
    assert 10 < len(counting) < 50
    names = {kernel.py_func.__name__ for kernel in counting}
    assert {"isolate", "eliminate", "lead_out", "certify"} <= names
    # These call kernels that make arrays, and get none of them.
    assert not {"solve_components", "prove_policy"} & names
    assert average.settle_jit in counting
    assert not jit.makes_arrays(settle_one)
    for kernel in found:
        if kernel in counting:
            continue
        # Whoever gets an array without counting would never give its memory back.
        assert kernel.returns_numbers, kernel
        for other in called(kernel):
            assert other.returns_numbers, (kernel, other)
            assert not (other.is_inlined and other.targetoptions["_nrt"]), (kernel, other)


def half(number):
    return 0.5 * number


half_jit = jit.compiled(half)


def halve(numbers):
    for place in range(len(numbers)):
        numbers[place] = half_jit(numbers[place])


halve_jit = jit.compiled(halve)


def settle_one(*arguments):
    return average.settle_jit(0, 1, *arguments)


def test_a_kernel_is_compiled_for_those_who_call_it():
    for kernel in (half_jit, half_jit.within, halve_jit):
        kernel._cache = NullCache()
    numbers = np.array([1.0, 3.0])
    halve_jit(numbers)
    np.testing.assert_array_equal(numbers, [0.5, 1.5])
    assert len(half_jit.within.signatures) == 1
    assert not half_jit.signatures
    assert half_jit(3.0) == 1.5
    assert len(half_jit.signatures) == 1
    assert not halve_jit.within.signatures


def machine_code(kernel):
    """Return the addresses of the code that numba has made of a kernel; 0 where there is none."""
    return [
        found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
        for found in kernel.overloads.values()
    ]


def fresh(kernel):
    """Return a kernel that has compiled nothing in this process, nor read it from disk."""
    return jit.compiled(kernel.py_func)


def test_what_only_kernels_call_is_no_machine_code_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    for compiled_anew in (2, 1):  # in the second round `half` is read from disk
        kernel, called = fresh(halve_jit), fresh(half_jit)
        monkeypatch.setitem(globals(), "half_jit", called)
        if compiled_anew == 1:
            kernel._cache = NullCache()
        numbers = np.array([1.0, 3.0])
        kernel(numbers)
        np.testing.assert_array_equal(numbers, [0.5, 1.5])
        assert all(machine_code(kernel))
        hits = sum(called.within.stats.cache_hits.values())
        assert hits == 2 - compiled_anew
        assert any(machine_code(called.within)) == (hits > 0)
    # Read from disk as a whole, it needs nothing of what it calls.
    kernel = fresh(halve_jit)
    kernel(numbers)
    np.testing.assert_array_equal(numbers, [0.25, 0.75])
    assert sum(kernel.stats.cache_hits.values()) == 1


class Patient:
    """A kernel that may begin in plain Python, with a folder of its own for compiled code."""

    def __init__(self, monkeypatch, folder):
        monkeypatch.setattr(config, "CACHE_DIR", str(folder))
        monkeypatch.setattr(jit, "SECONDS_BEFORE_COMPILING", 60.0)
        self.kernel = fresh(halve_jit)

    def answer(self, size=2):
        numbers = np.arange(float(size))
        self.kernel(numbers)
        np.testing.assert_array_equal(numbers, np.arange(size) / 2)
        return len(self.kernel.signatures)


def test_a_kernel_begins_in_plain_python_while_its_arrays_are_small(monkeypatch, tmp_path):
    patient = Patient(monkeypatch, tmp_path)
    assert [patient.answer(), patient.answer(0)] == [0, 0]
    assert [
        patient.answer(jit.MAX_INTERPRETED_NUMBERS),
        patient.answer(jit.MAX_INTERPRETED_NUMBERS + 1),
    ] == [0, 1]
    assert patient.answer() == 1
    # What is on disk is read, however small the arrays are.
    patient.kernel = fresh(halve_jit)
    assert patient.answer() == 1
    assert sum(patient.kernel.stats.cache_hits.values()) == 1


def test_arrays_in_tuples_count(monkeypatch):
    half = np.zeros(jit.MAX_INTERPRETED_NUMBERS // 2)
    assert jit._size_of((half, (half, 1.0), None)) == jit.MAX_INTERPRETED_NUMBERS


def test_a_kernel_is_compiled_once_it_has_taken_long_in_plain_python(monkeypatch, tmp_path):
    patient = Patient(monkeypatch, tmp_path)
    assert patient.answer() == 0
    monkeypatch.setattr(jit, "SECONDS_BEFORE_COMPILING", patient.kernel._seconds_in_python)
    assert patient.answer() == 1


def test_no_process_waits_again_for_a_kernel_that_has_taken_long(monkeypatch, tmp_path):
    patient = Patient(monkeypatch, tmp_path)
    monkeypatch.setattr(jit, "SECONDS_BEFORE_COMPILING", 1e-9)
    assert patient.answer() == 1  # after the answer, which plain Python has given
    patient.kernel = fresh(halve_jit)
    assert patient.answer() == 1
    assert sum(patient.kernel.stats.cache_hits.values()) == 1


def test_code_on_disk_that_cannot_be_read_keeps_nothing_from_an_answer(monkeypatch, tmp_path):
    patient = Patient(monkeypatch, tmp_path)
    assert patient.answer(jit.MAX_INTERPRETED_NUMBERS + 1) == 1
    (index,) = tmp_path.rglob("*.halve-*.nbi")
    index.write_bytes(b"damaged")
    patient.kernel = fresh(halve_jit)
    assert patient.answer() == 0


def sweep(program, alive, block, scratch):
    sweep_stage_jit(program, alive, block, scratch)


def test_a_kernel_of_instructions_alone_is_compiled_at_once():
    assert all(kernel._is_python for kernel in all_kernels())
    assert not sweep_stage_jit._is_python
    assert not jit.compiled(sweep)._is_python  # nor is what calls it


def test_plain_python_warns_of_no_more_than_compiled_code_does(monkeypatch, tmp_path):
    def inverse(numbers):
        return float(numbers[0] / numbers[1])

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "SECONDS_BEFORE_COMPILING", 60.0)
    kernel = jit.compiled(inverse)
    assert kernel(np.array([1.0, 0.0])) == np.inf
    assert not kernel.signatures


@pytest.mark.deep
def test_plain_python_finds_the_same_numbers_as_compiled_code(tmp_path):
    def found(patience, kernels):
        done = subprocess.run(
            [sys.executable, many_solutions.__file__, str(patience)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(kernels)},
            capture_output=True,
            check=True,
            text=True,
        )
        *numbers, counted = done.stdout.splitlines()
        return numbers, int(counted)

    compiled, many = found(0.0, tmp_path / "compiled")
    plain, few = found(1.0, tmp_path / "plain")  # what takes longer is compiled on the way
    assert few < many / 2
    assert len(plain) > 500
    assert plain == compiled


def test_the_type_of_an_array_is_the_one_that_numba_finds():
    table = np.arange(12.0).reshape(3, 4)
    locked = table.copy()
    locked.flags.writeable = False
    arrays = [table, locked, table.T, table[:, ::2], np.zeros((), np.int8), np.array(["a"]),
              np.zeros(2, [("x", np.int64)]), np.zeros(2, ">f8")[:0], np.array([True])]  # fmt: skip
    found = 0
    for array in arrays:
        try:
            expected = _typeof_ndarray(array, None)
        except NumbaError as error:
            with pytest.raises(type(error)):
                typeof(array)
        else:
            assert typeof(array) == expected
            found += 1
    assert found >= 7
    with pytest.raises(NumbaError, match="MaskedArray"):
        typeof(np.ma.masked_array(table))


def test_the_collector_works_again_after_a_pause():
    def fail():
        with without_collection():
            assert not gc.isenabled()
            raise KeyError

    assert gc.isenabled()
    with pytest.raises(KeyError):
        fail()
    assert gc.isenabled()
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_two_processes_that_keep_code_at_once_never_take_each_other_s(tmp_path):
    """Whatever one does between the steps of the other, code is that of its own arguments."""

    class Interrupted(jit.CodeFile):
        between = None

        def _load_index(self):
            found = super()._load_index()
            if self.between is not None:
                go, self.between = self.between, None
                go()
            return found

    def file(kind=jit.CodeFile):
        return kind(str(tmp_path), "function", "stamp")

    one, other = file(Interrupted), file()
    one.between = lambda: other.save("float", "code for floats")
    one.save("int", "code for ints")
    for _ in range(2):
        found = {key: file().load(key) for key in ("int", "float")}
        assert found["int"] == "code for ints"
        assert found["float"] in {"code for floats", None}  # what is lost is compiled again
        other.save("float", "code for floats")
    assert found["float"] == "code for floats"
    file().save("int", "better code")
    assert file().load("int") == "better code"
    assert jit.CodeFile(str(tmp_path), "function", "another stamp").load("int") is None
