"""Every figure of "Über das perfekte Kniffel-Spiel", beside the one that gamedp computes.

The article is by Felix Holderied (1999 to 2014). Five dice, three throws a turn, thirteen boxes.
Before that it plays a small game with two dice of three faces, in matrices.

Run it with ``python examples/kniffel.py``. It ends with status 1 if a figure does not come out as
it must. What the article leaves open is held against what other programs have computed.
"""

from fractions import Fraction
from itertools import combinations_with_replacement

import attrs
import numpy as np
from comparison import Comparison
from scipy import sparse

import gamedp
from gamedp.games.kniffel import (
    DONE,
    ENTERING,
    KEEPING,
    ROLLING,
    Adviser,
    Card,
    Duel,
    Kniffel,
    KniffelTurn,
    Situation,
    Turn,
    chance_of,
    shown,
)

table = Comparison("Über das perfekte Kniffel-Spiel")


# The small game: two dice with three faces, three throws, ten times their product counts. It is a
# turn of Kniffel that pays otherwise.


@attrs.frozen
class Product(KniffelTurn):
    def actions(self, state):
        if state.phase == ENTERING:
            yield 0
        else:
            yield from KniffelTurn.actions(self, state)

    def entry(self, dice, action):
        first, second = (int(face) for face in shown(dice))
        return Turn(DONE, 0, self.empty_table, 0, 10 * first * second, 0)


turn = Product(dice=2, faces=3)
small = gamedp.solve(turn, compile="never")
model = small.model

throws = ["11", "12", "13", "22", "23", "33"]
keeps = ["-", "1", "2", "3", *throws]


def lying(text):
    """Count the dice of each face."""
    return tuple(text.count(str(face)) for face in (1, 2, 3))


def thrown(texts, left):
    """Return the numbers of the states after throws, with so many left."""
    return [model.index(Turn(KEEPING, left, lying(text), 0, 0, 0))[0] for text in texts]


def kept(texts, left):
    """Return the numbers of the states in which these dice stay and the others are thrown."""
    return [model.index(turn.on_the_table(left, lying(text)))[0] for text in texts]


# A choice is a row of the model's sparse matrix. These put the rows of all choices that are made in
# one phase of the turn where their states are; all other states stay what they are.

size, choices = model.num_states, model.num_choices
owners = np.repeat(np.arange(size), np.diff(model.choice_offsets))
phases = np.array([model.state(state).phase for state in range(size)])


def steps(phase, and_stay):
    """Return what can follow in one step of a phase; the others, or all, may stay."""
    rows = np.flatnonzero(phases[owners] == phase)
    select = sparse.csr_array((np.ones(len(rows)), (owners[rows], rows)), (size, choices))
    return select @ model.transition_matrix + sparse.diags_array(and_stay.astype(float))


# P: dice fall one by one, two at most. D: dice are put back one by one, two at most, then comes the
# throw.

one_die = steps(ROLLING, phases != ROLLING)
P = (one_die @ one_die)[kept(keeps, 2), :][:, thrown(throws, 1)]
one_back = steps(KEEPING, phases >= 0)
D = (one_back @ one_back @ one_back)[thrown(throws, 2), :][:, kept(keeps, 2)] > 0

printed_p = [
    "1/9 2/9 2/9 1/9 2/9 1/9",
    "1/3 1/3 1/3 0 0 0",
    "0 1/3 0 1/3 1/3 0",
    "0 0 1/3 0 1/3 1/3",
    "1 0 0 0 0 0",
    "0 1 0 0 0 0",
    "0 0 1 0 0 0",
    "0 0 0 1 0 0",
    "0 0 0 0 1 0",
    "0 0 0 0 0 1",
]
printed_d = ["1100100000", "1110010000", "1101001000", "1010000100", "1011000010", "1001000001"]

exact_p = np.array(
    [[Fraction(chance).limit_denominator(9) for chance in row] for row in P.toarray().tolist()]
)
allowed = D.toarray()
table.agrees("two dice, as sparse matrices: P", "10 x 6", "{} x {}".format(*P.shape))
for keep, printed, row in zip(keeps, printed_p, exact_p, strict=True):
    table.agrees(f"    P after keeping {keep}", printed, " ".join(map(str, row)))
table.agrees("two dice, as sparse matrices: D", "6 x 10", "{} x {}".format(*D.shape))
for each, printed, row in zip(throws, printed_d, allowed, strict=True):
    table.agrees(f"    D after throwing {each}", printed, "".join(map(str, row.astype(int))))


# E, from the end to the start, as the article does it: P times the column of the throws, then the
# greatest of what D allows. In fractions, so that the digits are right.

worth = np.array([Fraction(10 * int(each[0]) * int(each[1])) for each in throws])
columns = [worth]
for _ in range(2):
    after_keep = exact_p @ columns[0]
    columns = [np.array([after_keep[row].max() for row in allowed]), after_keep, *columns]
throw_1, keep_1, throw_2, keep_2, throw_3 = columns
a_priori = (exact_p @ throw_1)[0]


def printed(*numbers):
    """Write numbers as the article does, with two digits if they are needed."""
    texts = [f"{float(number):.2f}".removesuffix(".00") for number in numbers]
    return " ".join(texts).replace(".", ",")


table.agrees("two dice: E a priori, and with no die kept", "65,31 54,44 40",
             printed(a_priori, keep_1[0], keep_2[0]))  # fmt: skip
for place, row in enumerate(["46,67 20", "46,67 40", "70 60"], start=1):
    table.agrees(f"    E with {place} kept", row, printed(keep_1[place], keep_2[place]))
printed_e = [
    "54,44 40 40 10 10",
    "54,44 40 40 20 20",
    "70 60 60 30 30",
    "54,44 40 40 40 40",
    "70 60 60 60 60",
    "90 90 90 90 90",
]
for place, each in enumerate(throws):
    row = throw_1[place], keep_1[place + 4], throw_2[place], keep_2[place + 4], throw_3[place]
    table.agrees(f"    E of {each} after all five steps", printed_e[place], printed(*row))

low, high = small.bounds()
table.known("    E a priori, exactly", Fraction(5290, 81), a_priori)
table.known("    is between gamedp's bounds", True, low <= a_priori <= high)
states = [*thrown(throws, 2), *kept(keeps, 2), *thrown(throws, 1), *kept(keeps, 1)]
values = np.concatenate([throw_1, keep_1, throw_2, keep_2]).astype(float)
error = abs(small.values[states] - values).max()
table.known("    all of E as gamedp has it", 0.0, error, 1e-13)


# The game. The first call lets numba compile; the second one shows how long the table itself takes.

gamedp.solve(Kniffel())
solution = gamedp.solve(Kniffel())
seconds = solution.statistics.seconds["explore"] + solution.statistics.seconds["solve"]
adviser = Adviser(solution)
rules = adviser.rules

table.holds("time for all sheets", "3 minutes (2004)", f"{seconds:.2f} s", seconds < 180)
table.agrees("number of sheets", 524_288, solution.model.num_states)
table.agrees("    as doubles, bytes", 4_194_304, solution.values.nbytes)
cards = 7**6 * 28**2 * 3**4 * 27
table.holds("cards that differ somewhere", "over 100 milliards", f"{cards:,}", cards > 100 * 10**9)
table.holds(
    "the longest distance of two bounds", "-", f"{solution.width:.0e}", solution.width < 1e-9
)


# The sheets that the article lists by number, with what is still to come.

for state, printed, known in (
    (0, "245,90", None),
    (1, "?", 247.75474783792296),
    (2, "?", 249.5376112505679),
    (64, "229,98", None),
    (65, "231,71", None),
    (134, "234,75", None),
    (2072, "237,09", None),
    (128679, "88,45", None),
    (524286, "0", None),
    (524287, "35", None),
):
    value = solution.value(rules.numbered(state))
    if known is None:
        shown_value = f"{value:.2f}".replace(".", ",") if "," in printed else f"{value:.0f}"
        table.agrees(f"still to come on sheet {state}", printed, shown_value)
    else:
        table.known(f"still to come on sheet {state}, printed ?", known, value, 1e-9)
table.known("    from the empty one, with every digit", 245.904728370719, solution.value(), 1e-9)

sheet = rules.numbered(128679)
filled = [box + 1 for box in range(13) if (sheet.boxes >> box) & 1]
table.agrees("sheet 128679, points above", 39, sheet.upper)
table.agrees("    boxes with a cross", "2 4 5 7 8 9 10 11", " ".join(map(str, filled)))
without = gamedp.solve(Kniffel(kniffel_is_full_house=False))
table.known("if a Kniffel is no Full House", 245.870774514, without.value(), 1e-9)
table.remark(
    "The article's rules ask a Full House to be xxxyy, but its numbers come out only if xxxxx is "
    "one, too; as its text says where it lets a Kniffel be entered there."
)


# The two cards of the article, and the one that its program prints.

ONE = Card.of("1 8 9 16 20 18 21 0 25 30 0 0 24")
TWO = Card.of("0 6 9 12 15 18 26 26 0 30 40 50 17")
CARD = Card.of("- 8 - 16 15 - 15 9 25 30 40 - -")
table.agrees("sum of player 1, bonus included", 207, ONE.total)
table.agrees("sum of player 2", 249, TWO.total)
table.agrees("sum of the printed card", 158, CARD.total)
expected = adviser.expectation(Situation(CARD))
table.agrees("    Erwartung", "246.5", f"{expected.value:.1f}")


# The question at the start: which dice of 11245 stay on the table?

for count, best, known in ((1, "245", 242.350641387), (2, "11", 238.001772321)):
    option = adviser.best(Situation(Card(), count, "11245"))
    table.agrees(f"throw {count} is 11245, keep", best, option.name())
    table.known("    and expect", known, option.rest, 1e-9)


# The game that is shown.

situation = Situation(CARD, 1, "11456")
table.agrees("throw 1 is 11456, keep", "6", adviser.best(situation).name())
table.known("    11 loses", 0.868221421, adviser.loss(situation, "11"), 1e-9)
table.remark(
    "The handicap of 4.709 that is printed there is that of the whole game, whose earlier rounds "
    f"are not shown; they must have lost {4.709 - adviser.loss(situation, '11'):.3f}."
)
situation = Situation(CARD, 2, "11336")
table.agrees("throw 2 is 11336, keep", "33", adviser.best(situation).name())
table.agrees("    which loses, so that the handicap stays", 0.0, adviser.loss(situation, "33"))


# Single queries.

query = Situation.of("- 8 - 16 15 - 15 9 25 30 40 - - 3 13345")
best = adviser.best(query)
table.agrees("kniffel ... 3 13345: Bester Eintrag", "Dreier", best.name())
table.agrees("    Punkterwartung", "239.713069", f"{best.value:.6f}")
query = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 0")
kniffel = adviser.expectation(query).value
table.agrees("only the Kniffel is free", "2,301432", f"{kniffel:.6f}".replace(".", ","))
table.agrees("    divided by 50", "4,60%", f"{kniffel / 50:.2%}".replace(".", ","))
grosse = adviser.expectation(Situation.of("0 0 0 0 0 0 0 0 0 0 - 0 0 0")).value / 40
table.agrees("a Große Straße with three throws", "26,11%", f"{grosse:.2%}".replace(".", ","))
table.known("    asked for directly", grosse, chance_of("Große Straße").value, 1e-12)
table.known(
    "a Kniffel with one throw",
    6 / 6**5,
    chance_of("Kniffel", throws=1).value,
    1e-15,
)
count = len(list(combinations_with_replacement(range(6), 5)))
table.known("throws of five dice that differ", 252, count)


# Perfect play, by chance. The distribution of its points is computed without a throw; here dice are
# thrown. Games as far from it as these, or farther, are at most as likely as the p-value.

exact = gamedp.stages.distribution(solution)
games = gamedp.simulate(Kniffel(), solution, games=10_000, seed=1)
p_value = games.agrees_with(exact)
table.known("the mean of exact chances of all totals", solution.value(), exact.mean, 1e-9)
table.holds(
    f"the mean of {games.games:,} simulated games",
    "-",
    f"{games.means[0]:.1f} +- {games.standard_error():.1f}",
    abs(games.means[0] - exact.mean) < 4 * games.standard_error(),
)
table.holds("    p-value of their totals", "-", f"{p_value:.2f}", p_value > 0.001)


# Two players. Who wants to win plays otherwise than for points. What is gained lies between what
# the advice reaches and what somebody would who knew the opponent's result beforehand.

mine = Card.of("- 8 9 16 15 - 15 9 25 30 40 - 20")
other = Card.of("3 8 9 16 15 24 - 9 25 30 40 0 -")
duel = Duel.of(mine, other, solution=solution)
table.holds(
    "two cards: wins who plays for points", "-",
    f"{duel.for_points:.6f}",
    0 < duel.for_points < duel.lower,
)  # fmt: skip
table.holds("    who plays to win, at least", "-", f"{duel.lower:.6f}", duel.lower <= duel.upper)
table.holds(
    "    which gains", "-",
    f"{duel.lower - duel.for_points:.4f} to {duel.upper - duel.for_points:.4f}",
    duel.lower > duel.for_points,
)  # fmt: skip
table.holds(
    "    and earns fewer points", "-",
    f"{duel.points().mean:.3f} for {duel.own.mean:.3f}",
    duel.points().mean < duel.own.mean,
)  # fmt: skip

table.finish()
