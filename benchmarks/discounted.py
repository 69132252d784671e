"""Random decision processes of 10^4 to 10^7 transitions, discounted by 0.99, beside other packages.

Each choice of a state leads to five random ones. gamedp proves its values within 1e-6; QuantEcon,
mdpsolver and pymdptoolbox are asked for the same by their own options, and prove nothing: their
values must lie within 1e-6 of the proven bounds, and the largest possible error stands beside.
A rival runs only on the sizes that its form of a model allows.

Measured is the solving alone, each model built before in the rival's own form (pymdptoolbox checks
its model again each time); seconds are of processor time. A rival that is not installed
(``pip install --group peers``) is left out.
"""

from __future__ import annotations

import measure
from problems import many_choices

import gamedp

TOLERANCE = 1e-6
SIZES = (500, 5_000, 50_000, 500_000)
"""States: 20 transitions each."""

QUICK = (50,)

MAX_STATES = {
    "quantecon": 10**6,
    "mdpsolver": 10**5,  # takes lists of lists
    "pymdptoolbox": 10**3,  # checks models very slowly
}


def of_size(states: int, seconds: float) -> list[measure.Row]:
    """Return the rows of one size: one for each rival, or one without any.

    Each rival runs in turns with gamedp alone: what a third leaves in the caches would slow down
    the one that always comes after it.
    """
    model = gamedp.Model.from_arrays(**many_choices(states, 4, 5, seed=states))
    tables = [
        gamedp.compare(
            {f"{model.num_transitions:,} transitions": model},
            gamedp.Discounted(0.99),
            "default",
            peers=peers,
            tolerance=TOLERANCE,
            max_seconds=600.0,
            seconds=seconds,
        )
        for peers in [[name] for name, most in MAX_STATES.items() if states <= most] or [[]]
    ]
    return [row for table in tables for row in measure.beside_peers(table, goal=("<=", 1.0))]


def discounted(quick: bool = False) -> list[measure.Row]:
    """Measure all sizes."""
    sizes, seconds = (QUICK, 0.01) if quick else (SIZES, 3.0)
    return [row for size in sizes for row in of_size(size, seconds)]
