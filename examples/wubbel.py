"""Every figure of "Würfeln mit Wubbel", beside the one that gamedp computes.

The article is by Joachim Breitner (Eulenspiegel 45). Two players throw a die; a six ends the turn
and loses its points, a save makes them safe, and 50 points win.

Run it with ``python examples/wubbel.py``. It ends with status 1 if a figure does not come out as it
must. What the article leaves open is held against what other programs have computed.
"""

import functools

import numpy as np
from comparison import Comparison

import gamedp
from gamedp.games.wubbel import SAVE, State, Wubbel, contraction_factor, contraction_weights

GOAL = 50
table = Comparison("Würfeln mit Wubbel")


# The winning probabilities of all positions. The first call lets numba compile; the second one
# shows how long the table itself takes.

gamedp.solve(Wubbel(), tolerance=1e-10)
solution = gamedp.solve(Wubbel(), tolerance=1e-10)
seconds = solution.statistics.seconds["explore"] + solution.statistics.seconds["solve"]
start = State(player=0, own=0, opponent=0, turn=0)
low, high = solution.bounds(start)

table.holds("time for the whole table", "below 1 s", f"{seconds:.3f} s", seconds < 1)
table.differs(
    "size of the table",
    (GOAL + 1) ** 3,
    solution.statistics.states,
    66_250,
    "The article's has room for all triples from 0 to 50; the model has the positions of a game.",
)
table.known("P(0,0,0), for whoever begins", 0.537937288425229, solution.value(start), 1e-12)
table.known("    is between the proven bounds", True, low <= 0.537937288425229 <= high)
table.known("    no bounds are 1e-10 apart", True, solution.width < 1e-10)
table.known(
    "P(42,42,0)", 0.7015075418860249, solution.value(State(0, own=42, opponent=42, turn=0)), 1e-12
)


# What to do with nothing safe, against 24. One letter for each number of points the turn may have
# brought: R for a roll, S for a save.

letters = " "  # a turn begins with a roll, there is nothing to decide
margins = {}
for turn in range(1, GOAL):
    position = State(player=0, own=0, opponent=24, turn=turn)
    roll, save = solution.action_values(position)
    margins[turn] = save.value - roll.value
    letters += "S" if solution.best_action(position) == SAVE else "R"

table.agrees("0:24, rolls up to", 15, letters.index("S") - 1)
table.agrees("    saves at 16, 17", "SS", letters[16:18])
table.agrees("    rolls again at 18, 19, 20", "RRR", letters[18:21])
table.agrees("    saves from", 21, letters.index("S", 18))
table.differs(
    "    saves up to",
    "the end, 49",
    letters.rindex("S"),
    44,
    "The article has saves from 21 on without end. But from 45 on the goal is so near that it is "
    "better to roll for it than to let the other player have a turn.",
)
table.known("    SAVE minus ROLL at 17", 5.2650636780005033e-05, margins[17], 1e-12)
table.known("    SAVE minus ROLL at 20", -0.0009131456202666755, margins[20], 1e-12)
table.known("    SAVE minus ROLL at 45", -0.0067221506604009384, margins[45], 1e-12)


# All decisions, as an array over own points, the opponent's and those of the turn.

columns = solution.to_columns()
decisions = np.full((GOAL, GOAL, GOAL + 1), -1)
decisions[columns["own"], columns["opponent"], columns["turn"]] = columns["action"].filled(-1)

always_roll = not_monotone = 0
odd_scores = []
for own, opponent in np.ndindex(GOAL, GOAL):
    saves = np.flatnonzero(decisions[own, opponent] == SAVE)
    if len(saves) == 0:
        always_roll += 1
        continue
    not_monotone += (
        saves[0] + len(saves) < GOAL - own
    )  # some number of points above calls for a roll
    if saves[0] + len(saves) <= saves[-1]:
        odd_scores.append((own, opponent))

table.holds(
    "roll above a save, as at 0:24",
    "at some scores",
    f"at {not_monotone} of 2500",
    (0, 24) in odd_scores,
)
table.known("    scores with a roll above a save", 632, not_monotone)
table.known("    scores with a roll between two saves", 13, len(odd_scores))
table.remark(" ".join(f"{own}:{opponent}" for own, opponent in odd_scores))
table.known("    scores with no save at all", 1736, always_roll)


# How sure is that? In the model a choice is a row of a sparse matrix. What all choices are worth is
# a product of the matrix with the vector of values, and what a change of players adds to it.

model = solution.model
choice_values = gamedp.Problem(model).constants() + model.transition_matrix @ solution.values

undecided = np.flatnonzero(np.diff(model.choice_offsets) == 2)
roll_choice = model.choice_offsets[undecided]
margin = np.abs(choice_values[roll_choice + 1] - choice_values[roll_choice])
_, own, opponent, turn = model.state(undecided[margin.argmin()])

table.known("decisions between a roll and a save", 61_250, len(undecided))
table.known("    the closest one, at own, opponent, turn", (17, 15, 12), (own, opponent, turn))
table.known("    roll and save are that close", 2.28e-6, margin.min(), 1e-8)
table.known("    which is far beyond any error", True, margin.min() > 1000 * solution.width)


# The article's formulas offer a save also at the start of a turn, with nothing to save. Such a pass
# is never as good as a roll, so that the rules can do without. The article's proof has to.

begins = columns["turn"] == 0
at_start = np.zeros((GOAL, GOAL))
at_start[columns["own"][begins], columns["opponent"][begins]] = solution.values[begins]
gain = (1 - at_start.T) - at_start

table.known("the most that a pass is worth above a roll", -0.0436, round(gain.max(), 4))


# The variant with a grace point for a six. No position comes again, so that one pass from the end
# gives every value.

grace = gamedp.solve(Wubbel(grace=True), tolerance=1e-10)
even = State(player=0, own=42, opponent=42, turn=0)

table.agrees("grace point: no position comes again", True, grace.model.structure.is_acyclic)
table.known("    P(0,0,0)", 0.5428903381442385, grace.value(start), 1e-12)
table.known("    P(42,42,0)", 0.7051077003308542, grace.value(even), 1e-12)


# How often would the recursion without a table call itself? One with a table can count that.


@functools.cache
def calls(own, opponent, turn):
    """Count the call for a position, and all those that it leads to."""
    if opponent >= GOAL or own + turn >= GOAL:
        return 1
    count = 1 + calls(opponent, own + 1, 0)  # a six
    count += sum(calls(own, opponent, turn + face) for face in range(1, 6))
    if turn > 0:
        count += calls(opponent, own + turn, 0)  # a save
    return count


table.known("    recursive calls for P(47,47,0)", 3261, calls(47, 47, 0))
table.known("    recursive calls for P(45,45,0)", 83_653_013, calls(45, 45, 0))
table.differs(
    "    recursive calls for P(42,42,0)",
    4_169_474,
    calls(42, 42, 0),
    5_871_974_611_102_322_110,
    "Nobody knows what the article counted: the recursion as printed does not even end, for it "
    "passes the die to and fro. Without passes there are this many calls, the first one and those "
    "for finished games included. That it cannot be done for P(0,0,0) is all the truer.",
)


# The contraction. For weights with two properties, the article's norm makes a sweep a contraction.

weights = contraction_weights(GOAL)
first_holds = sum(weights) / 6 < weights[0]
second_holds = all(sum(weights[max(0, u - 5) : u]) / 6 < weights[u] for u in range(1, GOAL + 1))
factor = contraction_factor(weights)

table.agrees("weights: a sixth of their sum is below d_0", True, first_holds)
table.agrees("    a sixth of any five is below the next", True, second_holds)
table.known("    each is raised by", 0.00044222630152962667, float(weights[1]) - 1 / 6, 1e-15)
table.known("    a sweep shrinks distances to", 0.9996297969875595, float(factor), 1e-15)
table.remark(
    "Read with d' on the right of the recurrence, where the article prints d. And its functional "
    "must not offer a save of 0 points, as it does in print: with that it is no contraction."
)

table.finish()
