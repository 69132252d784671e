"""Run the benchmarks: ``python benchmarks [NAME ...] [--quick] [--json FILE]``."""

from __future__ import annotations

import sys

import measure
from averages import averages
from certificates import certificates
from discounted import discounted
from exploration import exploration
from families import families
from games import games
from graph import graph
from kniffel import kniffel
from mancala import mancala
from memory import memory
from methods import methods
from models import models
from pig import pig
from referee import referee
from server import server
from start import start
from sweep import sweep
from wubbel import wubbel

if __name__ == "__main__":
    sys.exit(
        measure.main(
            exploration,
            wubbel,
            pig,
            kniffel,
            mancala,
            models,
            families,
            averages,
            certificates,
            discounted,
            sweep,
            methods,
            start,
            memory,
            graph,
            referee,
            server,
            games,
        )
    )
