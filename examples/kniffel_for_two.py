"""How much more often a player who plays Kniffel to win beats one who plays for points.

Both play for points until a few boxes are free on each card; from there on, one of them plays to
win. Two points players who take turns at beginning each win half of the games, so half plus the
gain is how often the other one wins.

What is gained from a position is computed and proven. The positions are drawn, as games for points
get there, so their mean has an interval: Student's, which is approximate. The same seed draws the
same positions.

Run it with ``python examples/kniffel_for_two.py``, or with a number of positions, 10 if not given,
and a seed.
"""

import sys

import gamedp
from gamedp.games.kniffel import Kniffel, gain

numbers = [int(word) for word in sys.argv[1:]]
positions, seed = (*numbers, *(10, 1)[len(numbers) :])
solution = gamedp.solve(Kniffel(), tolerance=1e-8)

ROWS = [(1, True), (2, True), (3, True), (3, False), (6, False)]
WAYS = {True: "with both cards in view", False: "by the advice for victory"}

print(f"{positions} positions each, drawn with seed {seed}; gains in wins of 100 games\n")
print("free  how to win                    gain  95 % interval      each within")
for free, exact in ROWS:
    found = gain(
        free,
        positions=positions,
        seed=seed,
        exact=exact,
        solution=solution,
        max_contexts=2e8,
    )
    low, high = found.interval()
    print(
        f"{free:4}  {WAYS[exact]:26}{100 * found.mean:8.3f}  "
        f"{100 * low:6.3f} to {100 * high:.3f}  {100 * found.error:12.0e}"
    )
    if found.gains.min() < -found.error:
        sys.exit("To play to win loses somewhere, which cannot be.")
