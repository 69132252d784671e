"""Compilation of rules to a model: the numba bridge, exploration, state codes and the cache."""

from gamedp.compiler.build import compile_game

__all__ = ["compile_game"]
