"""Every figure of "Würfeln mit Wubbel", beside the one that gamedp computes.

The article is by Joachim Breitner (Eulenspiegel 45). Two players throw a die; a six ends the turn
and loses its points, a save makes them safe, and 50 points win.

Run it with ``python examples/wubbel.py``. It ends with status 1 if a figure does not come out as it
must. What the article leaves open is held against what other programs have computed.

It writes no file unless you name one: ``python examples/wubbel.py wubbel.png`` draws the article's
picture, too. That needs matplotlib, which ``pip install gamedp[plots]`` brings.
"""

import functools
import itertools
import sys

import numpy as np
from comparison import Comparison

import gamedp
from gamedp.games.wubbel import (
    ROLL,
    SAVE,
    Hold,
    State,
    Wubbel,
    contraction_factor,
    contraction_weights,
    least_contraction_factor,
)
from gamedp.policies import greatest_survival

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
others = {
    15: -0.001983170605626694,
    16: 0.0012702235002626794,
    18: -0.002363175851028465,
    19: -0.0030095275919990727,
    21: 0.0011207640437072564,
    22: 0.0032432945362695365,
    44: 0.020454013365269086,
    46: -0.03128683896849305,
    47: -0.053153531806899856,
    48: -0.0724275089279357,
    49: -0.08930276472919263,
}
off = max(abs(margins[turn] - known) for turn, known in others.items())
table.known(f"    and at {len(others)} others, off by", 0.0, off, 1e-12)
known = "R" * 15 + "SS" + "RRR" + "S" * 24 + "RRRRR"
table.known("    decisions other than known", 0, sum(map(str.__ne__, known, letters[1:])))


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


# The variant with a grace point for a six. No position recurs, so that one pass from the end
# gives every value.

grace = gamedp.solve(Wubbel(grace=True), tolerance=1e-10)
even = State(player=0, own=42, opponent=42, turn=0)

table.agrees("grace point: no position recurs", True, grace.model.structure.is_acyclic)
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
table.remark("Read with d' on the right of the recurrence, where the article prints d.")


# No weights do better than the dominant eigenvector of the matrix of a roll: from each u to up to
# five points more, and to the other player's u = 0.

best_factor = least_contraction_factor(GOAL)
table.known("    with the best weights, to", 0.9909066517181815, best_factor, 1e-12)


# As printed, the functional offers a save of nothing at the start of a turn. Then it is no
# contraction, with whatever weights: a pass hands on the whole difference.

factor = contraction_factor(weights, may_pass=True)
table.differs(
    "    as printed, distances may change by",
    "a factor < 1",
    round(float(factor), 2),
    1.79,
    "The printed functional offers a save also with 0 points.",
)

# And they do: here two tables for 0:30 differ only where the other one begins a turn.


def sweep(their_start, *, may_pass):
    """Apply the functional to a table that has this at (30, 0, 0), and much for 0:30."""
    ours = np.array([0.5, *5 * [0.9], *(GOAL - 6) * [1.0], *5 * [1.0]])  # for u = 0, 1, ...
    saves = [1 - solution.value(State(0, 30, u, 0)) for u in range(1, GOAL)]
    saves = np.array([1 - their_start if may_pass else 0, *saves])
    rolled = [ours[u + 1 : u + 6].sum() + 1 - their_start for u in range(GOAL)]
    return np.maximum(saves, np.array(rolled) / 6)


before, after = 0.0, 0.01
norm = np.array([float(weight) for weight in weights[:GOAL]])
ratios = {}
for may_pass in (True, False):
    moved = abs(sweep(before, may_pass=may_pass) - sweep(after, may_pass=may_pass))
    ratios[may_pass] = norm @ moved / (after - before)
table.known("    and at 0:30 they do, by", 1.79, round(ratios[True], 2))
table.holds("    without the pass, by", "a factor < 1", f"{ratios[False]:.3f}", ratios[False] < 1)


# L_n, how likely a game is not over after n rolls, bounds the error of the article's proof, and
# must tend to 0. It does, between best players, and whatever the players do.

best = gamedp.evaluate(model, [solution, solution])
low, high = best.unfinished(100, actions={ROLL})
table.known("L_100 between best players", 0.015384782339658882, (low + high) / 2, 1e-12)
longest = greatest_survival(model, 301, actions={ROLL})
low, high = longest.bounds(100)
table.known("    at most, whatever they do", 0.553060863986907, (low + high) / 2, 1e-11)
table.known("L_300 at most", 0.088986, round(longest.bounds(300)[1], 6))
ratio = longest.bounds(301)[1] / longest.bounds(300)[1]
table.known("    and L_301 divided by it", round(best_factor, 9), round(ratio, 9))
table.remark(
    "Nobody can delay the end for long: L_n falls by the factor of the best weights, for the games "
    "that last longest are those in which both roll on and on."
)


# "The strongest strategy": nothing wins more against it than it wins itself.

seats = [gamedp.best_response(model, solution, player) for player in (0, 1)]
table.known("best answer to it, as first player", 0.537937288425228, seats[0].value(), 1e-10)
table.known("    as second player", 0.46206271157476997, seats[1].value(), 1e-10)
table.holds(
    "    in both seats, on average",
    "no more than 1/2",
    f"{(seats[0].value() + seats[1].value()) / 2:.12f}",
    abs(seats[0].value() + seats[1].value() - 1) < 1e-10,
)
exploited = gamedp.exploitability(model, [solution, solution])
table.holds(
    "    so there is to gain", "nothing", f"at most {exploited.upper:.0e}", exploited.upper < 1e-9
)


# Against the rule that most people know, to save at 20 points.

hold = Hold(20)
first = gamedp.evaluate(model, [solution, hold])
second = gamedp.evaluate(model, [hold, solution])
table.known("the best against hold at 20, as first", 0.5910956, round(first.value(), 7))
table.known("    as second", 0.5164313, round(second.value(player=1), 7))
table.known(
    "hold at 20 against itself, as first",
    0.5387327,
    round(gamedp.evaluate(model, [hold, hold]).value(), 7),
)
answers = [gamedp.best_response(model, hold, player) for player in (0, 1)]
table.known("who knows it is hold at 20, as first", 0.6036614, round(answers[0].value(), 7))
table.known("    as second", 0.5285285, round(answers[1].value(), 7))
field = gamedp.best_response(model, {hold: 0.7, Hold(10): 0.3})
table.known("who knows 7 of 10 do, 3 hold at 10", 0.6298381, round(field.value(), 7))
table.known("    and is told which one plays, at most", 0.6300364, round(field.told[1], 7))


# The article found the wins of its program "plausible", and leaves it to statistics to say so.

games = gamedp.simulate(model, [solution, hold], games=1_000_000, seed=7)
low, high = games.interval(1.0)
p_value = games.agrees_with(first)
table.holds(
    "wins in a million simulated games",
    "plausible",
    f"{games.count(1.0):,}",
    low <= first.value() <= high,
)
table.remark(
    f"With 95 % confidence {low:.4f} to {high:.4f}, and exactly {first.value():.4f}. Games as far "
    f"from that as these, or farther, have probability {p_value:.2f}."
)


# It also leaves open whether the contest was won by the program that won most against the many weak
# ones. All pairs can be computed, both seats on average.

entrants = {
    "best": solution,
    "hold at 10": Hold(10),
    "hold at 20": hold,
    "hold at 30": Hold(30),
    "answer to 8": gamedp.best_response(model, Hold(8), everywhere=True).policy,
    "answer to 10": gamedp.best_response(model, Hold(10), everywhere=True).policy,
}
pairs = gamedp.cross_table(model, entrants)
both = {
    (one, other): pairs.both[row, column]
    for row, one in enumerate(pairs.names)
    for column, other in enumerate(pairs.names)
}
others = [name for name in entrants if name != "best"]
table.holds(
    "the best wins against each entrant",
    "yes",
    f"{min(both['best', name] for name in others):.3f} at least",
    all(both["best", name] > 0.5 for name in others),
)
weak, sly = "hold at 10", "answer to 10"
enough = next(
    n
    for n in range(1, 100)
    if n * both[sly, weak] + both[sly, "best"] > n * both["best", weak] + both["best", sly]
)
table.holds(
    "    and wins each contest",
    "not checked",
    f"not with {enough} weak",
    both["best", sly] > 0.5 and enough == 5,
)
table.remark(
    f"The answer to hold at 10 wins {both[sly, weak]:.3f} against it, the best "
    f"{both['best', weak]:.3f}. From {enough} such opponents on that counts more than to lose "
    f"against the best, {both[sly, 'best']:.3f}."
)
circle = ["answer to 8", "hold at 20", "hold at 30", "answer to 8"]
wins = [both[one, other] for one, other in itertools.pairwise(circle)]
table.holds("strength is an order", "-", "no", min(wins) > 0.5)
table.remark(
    "In a circle, each wins against the next: "
    + ", ".join(f"{name} {win:.3f}" for name, win in zip(circle[:-1], wins, strict=True))
    + "."
)


# The article's picture: the surface between rolls and saves, coloured by the winning probability.

if len(sys.argv) > 1:
    axes = gamedp.pictures.plot_surface(solution, "own", "opponent", "turn", action=SAVE)
    axes.figure.savefig(sys.argv[1])
    table.remark(f"The positions in which to save are drawn in {sys.argv[1]}.")

table.finish()
