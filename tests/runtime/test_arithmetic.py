"""A process whose arithmetic is not what proofs assume is refused."""

import subprocess
import sys

import pytest

from gamedp.runtime.floats import check_arithmetic

SET_MODE = """
import ctypes, platform
import llvmlite.binding as llvm

def set_mode(flushes, rounding):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if platform.machine().lower() in ("x86_64", "amd64"):
        word = 0x1F80 | (0x8040 if flushes else 0) | (rounding << 13)
        code = '''
        declare void @llvm.x86.sse.ldmxcsr(ptr)
        define void @set_mode(i64 %word) {
            %short = trunc i64 %word to i32
            %place = alloca i32
            store i32 %short, ptr %place
            call void @llvm.x86.sse.ldmxcsr(ptr %place)
            ret void
        }'''
    else:
        word = (1 << 24 if flushes else 0) | ({0: 0, 1: 2, 2: 1, 3: 3}[rounding] << 22)
        code = '''
        declare void @llvm.aarch64.set.fpcr(i64)
        define void @set_mode(i64 %word) {
            call void @llvm.aarch64.set.fpcr(i64 %word)
            ret void
        }'''
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(code), machine)
    engine.finalize_object()
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(engine.get_function_address("set_mode"))(word)
    return engine
"""
"""Sets the mode of the processor as a library built with -ffast-math does when it is loaded."""

PROGRAM = """
import gamedp
from gamedp.games.matches import Matches

model = gamedp.compile(Matches(), compile="never")
solution = gamedp.solve(model)
certificate = gamedp.certify(solution)
flushes, rounding = {mode}
kept = set_mode(flushes, rounding)
assert (2.0**-1074 * float("1") == 0) == flushes
for ask in (
    lambda: gamedp.solve(model),
    lambda: gamedp.verify(model, certificate),
    lambda: gamedp.searchers.AlphaBeta().search(Matches(), compile="never"),
    lambda: gamedp.searchers.MaxN().search(Matches(), compile="never"),
):
    try:
        ask()
        print("answered")
    except gamedp.errors.UnsupportedArithmeticError as error:
        print("refused:", error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ((True, 0), "numbers smaller than 2.2e-308 count as zero"),
        ((False, 1), "not rounded to the nearest"),
        ((False, 2), "not rounded to the nearest"),
        ((False, 3), "not rounded to the nearest"),
    ],
    ids=["flushes", "downwards", "upwards", "towards zero"],
)
def test_such_a_process_is_refused(mode, words):
    done = subprocess.run(
        [sys.executable, "-c", SET_MODE + PROGRAM.format(mode=mode)],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 4, done.stderr
    assert all(line.startswith("refused: ") and words in line for line in lines)


def test_this_one_is_not():
    check_arithmetic()
