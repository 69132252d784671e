"""From rules to a model: the numba bridge, exploration, state codes and the compile cache."""

from gamedp.compiler.build import compile_game
from gamedp.compiler.stages import compile_staged

__all__ = ["compile_game", "compile_staged"]
