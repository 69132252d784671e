"""Linking: only compiled functions that are run become machine code, with all their callees.

numba makes machine code of each function by itself, and then takes the function into whatever calls
it, where it is optimised once more. What only compiled code calls is taken in everywhere, so nobody
runs its own machine code: to make none saves a quarter of the time that the rules of a game take to
compile.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

__all__ = ["PART", "LinkingCompiler"]

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
