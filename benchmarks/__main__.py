"""Run the benchmarks: ``python benchmarks [NAME ...] [--quick] [--json FILE]``."""

from __future__ import annotations

import importlib
import sys

import measure

NAMES = (
    *("exploration", "wubbel", "pig", "kniffel", "mancala", "models", "families", "averages"),
    *("certificates", "discounted", "sweep", "methods", "start", "memory", "graph", "referee"),
    *("server", "games", "tables", "reading"),
)
"""The modules; each has a function of its own name."""

if __name__ == "__main__":
    sys.exit(measure.main(*(getattr(importlib.import_module(name), name) for name in NAMES)))
