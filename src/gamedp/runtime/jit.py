"""Compilation of kernels, and their cache on disk, so that a second process compiles nothing.

A kernel is a loop over arrays, a plain function: inputs first, arrays that it fills last; it
returns scalars. It has two names. ``name`` is the plain Python function, which tests and debuggers
run; ``name_jit`` is the same function compiled by numba at its first call, which everything else
runs: ``name_jit = compiled(name)``. Arrays that a kernel only reads may be locked against writing.

A kernel calls nothing but numpy, numba and other kernels, those by their ``_jit`` name. Compiled
kernels are kept on disk and found again as long as no kernel's text has changed. With
``NUMBA_DISABLE_JIT=1`` both names mean the plain function.

A kernel that has not been compiled on this machine yet begins in plain Python where its arrays are
small: the first small game is solved before numba would have begun. Both give the same numbers.

Only compiled functions that are run become machine code, with all their callees. numba makes
machine code of each function by itself, and then links it into every caller, where it is optimised
once more. A function that only compiled code calls is linked in everywhere, so its own machine code
is never run: not making it saves a quarter of the time that the rules of a game take to compile.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import sys
import time
import types as python_types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import config
from numba.core import environment, event, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.extending import _Intrinsic
from numba.core.registry import CPUDispatcher
from numba.core.runtime import nrtdynmod, rtsys
from numba.core.typing.typeof import _typeof_ndarray, typeof_impl
from numba.misc.appdirs import user_cache_dir
from numba.np import numpy_support

from gamedp.runtime import compile_clock

ENVIRONMENT = "_ZN08NumbaEnv"
"""Prefix of numba's names of the pointers to functions' constants."""


class _Whole(JITCodeLibrary):  # type: ignore[misc] # numba has no types
    """Code that is run, with the parts that it calls."""

    def _finalize_final_module(self) -> None:
        """Make machine code, and set the parts' pointers to their constants, as numba does."""
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)


class _Unplaced:
    """Stands for the address of the machine code of a part that has none."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: the code that includes a part sets the pointer to its constants."""


class _LinkedPart(JITCodeLibrary):  # type: ignore[misc]
    """Code that is called only by other compiled code."""

    codegen = _Unplaced

    def _optimize_final_module(self) -> None:
        """Leave optimisation to the code that includes the part."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """Return the form for the disk, which has no machine code either."""
        return self.serialize_using_bitcode()


class LinkingCompiler(Compiler):  # type: ignore[misc]
    """Compiles as numba does, but without machine code for functions only compiled code calls."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function."""
        state = self.state
        if state.library is None:
            is_part = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
            kind = _LinkedPart if is_part else _Whole
            state.library = kind(state.targetctx.codegen(), function.__qualname__)
            state.library.enable_object_caching()
        return super().compile_extra(function)


PART: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LinkingCompiler,
}
"""The options of a function that only compiled code calls."""


logger = logging.getLogger("gamedp")

MAKERS = frozenset({"arange", "copy", "empty", "empty_like", "full", "ones", "zeros"})
"""Functions that kernels call to create arrays."""

NUMBERS = frozenset({"None", "int", "float", "bool"})
"""Types that a kernel may return without counting references."""


class _CompileListener(event.Listener):  # type: ignore[misc] # numba has no types
    """Records when something is compiled, not when it is read from disk."""

    def on_start(self, event: Any) -> None:
        del event
        compile_clock.begin()

    def on_end(self, event: Any) -> None:
        del event
        compile_clock.end()


event.register("numba:compile", _CompileListener())


LANES = 64
"""Number of columns of a block: that many contexts of a staged game are swept together."""

SECONDS_BEFORE_COMPILING = 0.2
"""Seconds that a kernel may run in plain Python, in one process, before it is compiled: about what
that takes. It is compiled then even if it has its answer, or the next process would wait again.
"""

MAX_INTERPRETED_NUMBERS = 200_000
"""Numbers in the arrays of a call that plain Python may answer. A look at each takes it a tenth of
a second, in each process anew, for as long as there is no code on disk.
"""

KERNELS = (
    "runtime/floats.py",
    "runtime/jit.py",
    "graph/*.py",
    "bellman/*.py",
    "compiler/model_program_loop.py",
    "searchers/stacks.py",
    "*/kernels.py",
    "*/*_kernels.py",
    "*/*/*kernels.py",
)
"""Paths of the kernels, relative to the package."""


@functools.cache
def sources(patterns: tuple[str, ...] = KERNELS) -> str:
    """Return the digest of the source of some files of the package; of all kernels by default.

    Parameters
    ----------
    patterns : tuple of str
        As for :meth:`pathlib.Path.glob`.
    """
    package, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in package.glob(pattern)}):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of compiled code, without importing its module.

    That is for code which looks up names in its module; compiled loops have none to look up. What
    numpy's functions are to numba, `numba.np`, takes longer to import than the code to read.
    """
    found = environment.lookup_environment(name)
    if found is None:
        if module in sys.modules:
            names = sys.modules[module].__dict__
        else:
            names = {"__name__": module}  # where it is found again when it is kept
        found = environment.Environment(names)
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found  # noqa: SLF001 - as numba does
    return found


def cache_directory() -> Path:
    """Return the folder for compiled rules: ``$GAMEDP_CACHE_DIR``, or one of the user's."""
    return Path(os.environ.get("GAMEDP_CACHE_DIR") or user_cache_dir("gamedp", appauthor=False))


class Locator:
    """Location of compiled code, and what it depends on.

    Parameters
    ----------
    directory : Path
    stamp : str
        Differs wherever the code would.
    """

    def __init__(self, directory: Path, stamp: str) -> None:
        self._directory = directory
        self._stamp = stamp
        self._py_file = str(directory)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._directory)

    def get_source_stamp(self) -> str:
        """Return the stamp of the source of the code."""
        return self._stamp

    def get_disambiguator(self) -> str:
        """Return the distinguishing part of the file's name."""
        return self._stamp

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        self._directory.mkdir(parents=True, exist_ok=True)


class _KernelCode(CompileResultCacheImpl):  # type: ignore[misc] # numba has no types
    """Numba's folder for compiled code; that for rules if numba finds no writable one."""

    def __init__(self, function: Any) -> None:
        try:
            super().__init__(function)
        except RuntimeError as error:
            logger.info("%s", error)
            self._lineno = function.__code__.co_firstlineno
            self._locator = Locator(cache_directory() / "kernels", sources()[:24])
            name = f"{function.__module__}.{function.__qualname__}"
            self._filename_base = self.get_filename_base(name, "")


class _ImplementationWithin(_KernelCode):
    """The same, under another name."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Return the prefix of the files' names."""
        return f"within-{super().get_filename_base(fullname, abiflags)}"


class CodeFile(IndexDataCacheFile):  # type: ignore[misc] # numba has no types
    """Compiled code of one function on disk, which several processes may write.

    numba numbers the files of code as the index says, writes the index, and then the code: of two
    processes that compile for different arguments together, the index of one may lead to the code
    of the other. Here each kind of arguments has a file of its own, in which it is named.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the code for a kind of arguments; the index last."""
        text = f"{self._source_stamp} {key!r}"
        name = self._data_name(int(hashlib.sha256(text.encode()).hexdigest()[:12], 16))
        self._save_data(name, (key, data))
        overloads = self._load_index()
        overloads[key] = name
        self._save_index(overloads)

    def load(self, key: Any) -> Any:
        """Return the code for a kind of arguments, or None."""
        kept, data = super().load(key) or (None, None)
        return data if kept == key else None


class QuickCache(FunctionCache):  # type: ignore[misc] # numba has no types
    """numba's cache of one function, without what only compiling needs.

    Before it looks for compiled code, numba imports all that it can compile, scipy's linear algebra
    among it; that takes longer than everything else in a second start. Compiled code needs numba's
    runtime alone. What cannot be read is compiled anew.

    Where numba looks at the date of the function's own file, this looks at the text of all kernels,
    so that one may call another in a different file.
    """

    _impl_class: type = _KernelCode

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = CodeFile(self._cache_path, self._impl.filename_base, sources())

    @property
    def kept(self) -> list[Any]:
        """The kinds of arguments for which there is code on disk."""
        try:
            index = self._cache_file._load_index()  # noqa: SLF001 - of the class we extend
            return [signature for signature, *_ in index]
        except Exception as error:  # noqa: BLE001 - a damaged file may fail in any way
            logger.info("compiled code in %s cannot be read: %s", self.cache_path, error)
            return []

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function, or None if none can be read."""
        self._start_runtime(target_context)
        rebuild = environment._rebuild_env  # noqa: SLF001 - what pickle calls by its name
        environment._rebuild_env = _environment  # noqa: SLF001
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(signature, target_context)
        except Exception as error:  # noqa: BLE001 - a damaged file may fail in any way
            logger.info("compiled code in %s cannot be read: %s", self.cache_path, error)
        finally:
            environment._rebuild_env = rebuild  # noqa: SLF001
        return None

    def _start_runtime(self, target_context: Any) -> None:
        """Start numba's runtime; its own small functions are compiled once and kept, too."""

        def compile_functions(context: Any) -> Any:
            file = CodeFile(self.cache_path, "runtime", sources())
            key = context.codegen().magic_tuple()
            try:
                kept = file.load(key)
                if kept is not None:
                    return context.codegen().unserialize_library(kept)
            except Exception as error:  # noqa: BLE001 - a damaged file may fail in any way
                logger.info("the runtime in %s cannot be read: %s", self.cache_path, error)
                with contextlib.suppress(OSError):  # it may not be written either
                    file.flush()
            module, library = nrtdynmod.create_nrt_module(context)
            library.enable_object_caching()
            library.add_ir_module(module)
            library.finalize()
            try:
                self._impl.locator.ensure_cache_path()
                file.save(key, library.serialize_using_object_code())
            except OSError as error:
                logger.info("the runtime cannot be kept in %s: %s", self.cache_path, error)
            return library

        compile_anew = nrtdynmod.compile_nrt_functions
        nrtdynmod.compile_nrt_functions = compile_functions
        try:
            rtsys.initialize(target_context)
        finally:
            nrtdynmod.compile_nrt_functions = compile_anew

    def save_overload(self, signature: Any, data: Any) -> None:
        """Save the compiled function if the folder is writable; replace damaged files."""
        try:
            super().save_overload(signature, data)
        except OSError as error:
            logger.info("compiled code cannot be kept in %s: %s", self.cache_path, error)
        except Exception as error:  # noqa: BLE001 - a damaged index may fail in any way
            logger.info("the index in %s is damaged and begun anew: %s", self.cache_path, error)
            with contextlib.suppress(OSError):
                self.flush()
                super().save_overload(signature, data)


def makes_arrays(function: Callable[..., Any]) -> bool:
    """Return whether a kernel creates arrays, or gets some from another one."""
    names = set(function.__code__.co_names)
    called = (function.__globals__.get(name) for name in names)
    return not names.isdisjoint(MAKERS) or any(
        other.targetoptions["_nrt"] and (other.is_inlined or not other.returns_numbers)
        for other in called
        if isinstance(other, Kernel)
    )


@typeof_impl.register(np.ndarray)  # type: ignore[untyped-decorator]
def _typeof_array(array: Any, context: Any) -> Any:
    """Return the type of an array as numba does, which first checks for a masked one.

    To look makes numpy import a module, which takes longer than to load a kernel.
    """
    if type(array) is not np.ndarray or array.dtype not in numpy_support.FROM_DTYPE:
        return _typeof_ndarray(array, context)
    dtype, layout = numpy_support.FROM_DTYPE[array.dtype], numpy_support.map_layout(array)
    return types.Array(dtype, array.ndim, layout, readonly=not array.flags.writeable)


def _size_of(argument: Any) -> int:
    """Return the number of elements in the arrays of an argument, an array or a tuple of them."""
    if isinstance(argument, tuple):
        return sum(map(_size_of, argument))
    return int(argument.size) if isinstance(argument, np.ndarray) else 0


class _CacheWithin(QuickCache):
    """The cache of a kernel as others call it."""

    _impl_class = _ImplementationWithin


class Kernel(CPUDispatcher):  # type: ignore[misc] # numba has no types
    """A kernel, compiled for Python when Python calls it, and for other kernels when these do.

    To take what Python hands over apart takes about as long to compile as a loop, and most kernels
    are called from one of the two sides alone.
    """

    _seconds_in_python = 0.0

    def _compile_for_args(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the result of a call for whose arguments nothing has been compiled or read yet."""
        is_small = sum(map(_size_of, arguments)) <= MAX_INTERPRETED_NUMBERS
        if is_small and self._seconds_in_python < SECONDS_BEFORE_COMPILING and self._is_python:
            kinds = tuple(map(self.typeof_pyval, arguments))
            if kinds not in self._are_kept:
                self._are_kept[kinds] = kinds in self._cache.kept
            if not self._are_kept[kinds]:
                return self._run_in_python
        return super()._compile_for_args(*arguments, **keywords)

    @functools.cached_property
    def _are_kept(self) -> dict[Any, bool]:
        """Whether there is code on disk for some kinds of arguments."""
        return {}

    @functools.cached_property
    def _is_python(self) -> bool:
        """Whether the plain function can run: an intrinsic is instructions, and nothing else."""
        names = self.py_func.__globals__
        called = [names.get(name) for name in self.py_func.__code__.co_names]
        return not any(isinstance(each, _Intrinsic) for each in called) and all(
            each._is_python  # noqa: SLF001 - of the same class
            for each in called
            if isinstance(each, Kernel)
        )

    @functools.cached_property
    def _in_python(self) -> Callable[..., Any]:
        return uncompiled(self.py_func)

    def _run_in_python(self, *arguments: Any) -> Any:
        """Run the plain function, and count how long it takes."""
        begin = time.thread_time()
        with np.errstate(all="ignore"):  # as the compiled one does
            answer = self._in_python(*arguments)
        self._seconds_in_python += time.thread_time() - begin
        if self._seconds_in_python >= SECONDS_BEFORE_COMPILING:
            self.compile(tuple(map(self.typeof_pyval, arguments)))
        return answer

    def _compilation_chain_init_hook(self) -> None:
        """Look for no extensions of numba: none takes part in kernels, and it takes long."""

    @functools.cached_property
    def within(self) -> Any:
        """The same kernel without what calls from Python need."""
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        dispatcher = CPUDispatcher(
            self.py_func, targetoptions=options, pipeline_class=LinkingCompiler
        )
        dispatcher._cache = _CacheWithin(self.py_func)  # noqa: SLF001 - where numba itself puts it
        return dispatcher

    @property
    def is_inlined(self) -> bool:
        """Whether numba inlines the kernel into its callers."""
        return bool(self.targetoptions["inline"] == "always")

    @property
    def returns_numbers(self) -> bool:
        """Whether the kernel returns only numbers, or nothing."""
        kinds = self.py_func.__annotations__.get("return", "unknown")
        return NUMBERS.issuperset(kinds.removeprefix("tuple[").removesuffix("]").split(", "))

    @property
    def _numba_type_(self) -> Any:
        """The type of the kernel where another one calls it."""
        return types.Dispatcher(self.within)


def compiled(function: Callable[..., Any], inline: str = "never") -> Any:
    """Compile a kernel at its first call for each combination of argument types.

    No fastmath: rounding is accounted for. Division by zero gives infinity or NaN, as in numpy.

    References to arrays are counted only in a kernel that makes some: to count them in each step of
    a loop took more time than the arithmetic. numba refuses a kernel that makes arrays with names
    that are not among `MAKERS`.
    """
    if config.DISABLE_JIT:
        return function
    options = {
        "nopython": True,
        "boundscheck": None,
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        "inline": inline,
        "_nrt": makes_arrays(function),
    }
    kernel = Kernel(function, targetoptions=options, pipeline_class=LinkingCompiler)
    kernel._cache = QuickCache(function)  # noqa: SLF001 - where numba itself puts it
    return kernel


def inlined(function: Callable[..., Any]) -> Any:
    """Inline a small kernel into its callers: a call would pass dozens of pointers."""
    return compiled(function, "always")


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the plain functions in place of the compiled ones that it calls."""
    plain = getattr(function, "py_func", function)
    named = plain.__globals__
    names = {
        name: getattr(named[name], "py_func", named[name])
        for name in plain.__code__.co_names
        if name in named
    }
    for name, called in names.items():
        if isinstance(called, python_types.FunctionType) and called is not named[name]:
            names[name] = uncompiled(called)
    return python_types.FunctionType(plain.__code__, names | {"__builtins__": __builtins__})
