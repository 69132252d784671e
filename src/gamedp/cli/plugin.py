"""Building blocks for the commands of plugins: shared options and output.

A plugin registers a command in the entry point group ``gamedp.commands``: a function whose
parameters are its options.
"""

from gamedp.cli.games import make_game
from gamedp.cli.options import OUTPUT, Flag, GameSettings, OutputOptions
from gamedp.cli.report import be_lenient, print_json, watch
from gamedp.runtime.options import values_of

__all__ = [
    "OUTPUT",
    "Flag",
    "GameSettings",
    "OutputOptions",
    "be_lenient",
    "make_game",
    "print_json",
    "values_of",
    "watch",
]
