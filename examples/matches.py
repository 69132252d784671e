"""Every figure of "Gewinnstrategie für ein Streichholzspiel", beside the one that gamedp computes.

The article is by Jochen Könemann (14. Algorithmus der Woche). Two players in turn take 1, 2 or 3 of
18 matches, and whoever takes the last one loses.

Run it with ``python examples/matches.py``. It ends with status 1 if a figure does not come out.
"""

import itertools

from comparison import Comparison

import gamedp
from gamedp.games.matches import Matches, MatchesState, Nim, NimState, matches_winning, nim_winning

table = Comparison("Gewinnstrategie für ein Streichholzspiel")


# Who wins? A position is worth +1 to a mover who can force a win, and else -1. One solution holds
# all positions, for those with fewer matches come up in the game with 18.

solution = gamedp.solve(Matches(matches=18))
values = {left: solution.value(MatchesState(player=0, left=left)) for left in range(1, 19)}
letters = "".join("J" if values[left] > 0 else "N" for left in values)

table.agrees("GS[1..4]", "NJJJ", letters[:4])
table.agrees("GS[5], GS[6]", "NJ", letters[4:6])
table.agrees("GS[1..18]", "NJJJNJJJNJJJNJJJNJ", letters)
# Nothing is rounded in this game, so that the two bounds of a value are one number.
table.known("largest distance of the bounds", 0.0, solution.width)


# The first game between the brothers, who take 1, 2, 2, 3, 1, 2, 2, 1, 3 and the last one. Which
# takes win? Those after which the mover is still worth +1. In a lost position there are none.

played = [(18, 1), (17, 2), (15, 2), (13, 3), (10, 1), (9, 2), (7, 2), (5, 1), (4, 3), (1, 1)]

for move, (left, taken) in enumerate(played):
    position = MatchesState(player=0, left=left)
    winning = [entry.action for entry in solution.action_values(position) if entry.value > 0]
    brother_moves = move % 2 == 0
    # Each of the brother's takes is the only one that wins, and leaves nothing to win.
    table.agrees(
        f"{left} left, {'the brother' if brother_moves else 'the narrator'} takes {taken}: winning",
        [taken] if brother_moves else [],
        winning,
    )


# The rule that explains it: the losing player takes y matches, and the other one takes 4 - y.

answers = {
    (left, y): solution.best_actions(MatchesState(player=0, left=left - y))
    for left in (5, 9, 13, 17)
    for y in (1, 2, 3)
}
exceptions = [key for key, takes in answers.items() if takes != [4 - key[1]]]

table.agrees(
    "17 left: answers to a take of 1, 2, 3", [[3], [2], [1]], [answers[17, y] for y in (1, 2, 3)]
)
table.agrees("5, 9, 13, 17 left: exceptions from 4 - y", [], exceptions)


# The closed form: lost exactly where division by 4 leaves 1.

many = gamedp.solve(Matches(matches=1000))
lost = [left for left in range(1, 1001) if many.value(MatchesState(player=0, left=left)) < 0]
exceptions = sorted(set(lost) ^ set(range(1, 1001, 4)))

table.agrees("lost, up to 1000 left", "1, 5, 9, ...", ", ".join(map(str, lost[:3])) + ", ...")
table.agrees("    exceptions from 1 modulo 4", [], exceptions)


# The game may be varied almost at will, the article says. If 1 to k matches may be taken, the same
# thought gives a closed form for every k, also if the last match wins.

for misere in (True, False):
    exceptions = []
    for k in (2, 3, 4, 5):
        game = Matches(matches=60, takes=range(1, k + 1), misere=misere)
        varied = gamedp.solve(game)
        for left in range(61):
            won = varied.value(MatchesState(player=0, left=left)) > 0
            if won != matches_winning(left, game.takes, misere=misere):
                exceptions.append((k, left))
    table.known(f"last one {'loses' if misere else 'wins'}, takes up to 2, 3, 4, 5", [], exceptions)


# Nim: several heaps, any number from one of them. The article says that there is a closed form. It
# is Bouton's: add up the heaps in binary without carrying, and zero is lost. If the last match
# loses, that is turned round where no heap has more than one match.

for misere, (heaps, largest, known) in itertools.product(
    (True, False), ((1, 7, 1), (2, 7, 8), (3, 7, 64), (4, 5, 168))
):
    nim = gamedp.solve(Nim(heaps=(largest,) * heaps, misere=misere))
    lost = exceptions = 0
    for position in itertools.product(range(largest + 1), repeat=heaps):
        won = nim.value(NimState(player=0, heaps=position)) > 0
        lost += not won
        exceptions += won != nim_winning(position, misere=misere)
    table.known(
        f"Nim, last one {'loses' if misere else 'wins'}, {heaps} x {largest}: lost", known, lost
    )
    table.agrees("    exceptions from Bouton's rule", 0, exceptions)

table.finish()
