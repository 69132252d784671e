"""Every figure of "Eine Strategie für Mancala", beside the one that gamedp computes.

The article, by Matthias Rosin, opened a magazine's course of riddles for the C 64 and C 128. It
explains the game and minimax, and leaves the program to its readers. Its pictures are lost; what it
says of them is held against positions in which just that happens.

Run it with ``python examples/mancala.py``. It ends with status 1 if a figure does not come out as
it must. What the article leaves open is held against what other programs have computed.
"""

import functools
import itertools

import numpy as np
from comparison import Comparison

import gamedp
from gamedp.games.mancala import Mancala

A, B = 0, 1
table = Comparison("Eine Strategie für Mancala")
game = Mancala(stones=6)


def moved(state, pit):
    """Show a move of B's, and return the position after it and what B's kalah has gained."""
    ((_, after),) = game.outcomes(state, pit)
    table.picture(f"{game.render(state)}\n\nfrom pit {pit}:\n\n{game.render(after)}")
    return after, game.board(after).kalahs[B] - game.board(state).kalahs[B]


def spaced(numbers):
    return " ".join(f"{number:g}" for number in numbers)


# The kinds of moves. The rows are A's and B's, each from pit 1 to pit 6, and sowing goes through
# the own pits, the own kalah, and the other one's pits.

state = game.position((2, 2, 2, 2, 2, 2), (1, 1, 1, 1, 15, 1), player=B)
after, gained = moved(state, 5)
table.agrees("2: once round from pit 5, stones for kalah B", 2, gained)
table.agrees("    the source gets a stone, too", True, game.board(after).rows[B][4] == 1)
table.agrees("    stones of 15 for kalah A", 0, game.board(after).kalahs[A])

state = game.position((5, 4, 0, 6, 3, 5), (1, 0, 2, 1, 11, 2), player=B)
after, gained = moved(state, 5)
table.agrees("3: from pit 5 round to pit 3, which is sown", 0, game.board(after).rows[B][2])
table.agrees("    stones for kalah B on one time round", 1, gained)

state = game.position((0, 2, 1, 2, 6, 5), (4, 3, 0, 1, 6, 5), player=B)
after, gained = moved(state, 6)
taken = [pit for pit in range(2, 5) if game.board(after).rows[A][pit - 1] == 0]
table.agrees("4: from pit 6, pits of A captured", 3, len(taken))
table.agrees("    and from pit 5 as many stones", gained, moved(state, 5)[1])
state = game.position((1, 2, 1, 2, 2, 1), (4, 3, 0, 1, 6, 7), player=B)
after, gained = moved(state, 6)
table.agrees("all six captured at once, stones left to A", 0, sum(game.board(after).rows[A]))
table.agrees("    which ends the game", True, game.is_terminal(after))

# The end: more than half of all stones, or nothing to move; then what is left is counted.

half = game.position((1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0), kalahs=(35, 36), player=A)
more = game.position((1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0), kalahs=(34, 37), player=A)
empty = game.position((0, 0, 0, 0, 0, 0), (9, 0, 0, 0, 0, 1), kalahs=(32, 30), player=A)
ends = [game.is_terminal(each) for each in (half, more, empty)]
table.agrees("over with 36, with 37 stones, without a move", [False, True, True], ends)
table.agrees("    without a move, with 32:30 and 10 for B", -8, int(game.payoff(empty, A)))


# The tree. A position is counted for each way to it.

DEPTH = 4
table.agrees("positions at depth 4, at most", 1554, sum(6**i for i in range(1, DEPTH + 1)))
for stones, known in ((3, 1164), (4, 1201), (6, 1327)):
    counted = gamedp.searchers.perft(Mancala(stones=stones), DEPTH)
    table.known(f"    in truth, k = {stones}", known, sum(counted.positions[1:]))
counted = gamedp.searchers.perft(game, 7).positions
ratios = [after / before for before, after in itertools.pairwise(counted)]
spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
table.holds("one ply more takes how many times as long?", 6, spread, 5 < min(ratios) <= 6)


# Minimax: the difference of the kalahs that Maximus can reach, and all first moves that reach it.
# Alpha-beta finds the same by looking at fewer positions.

for stones, known in (
    (3, ["1 456", "0 456", "1 456", "0 456", "1 456", "0 456", "1 456"]),
    (4, ["1 3456", "0 3456", "1 3456", "0 3456", "1 3456", "0 46", "1 346"]),
    (6, ["1 123456", "0 123456", "1 123456", "-1 12345", "2 234", "-1 12", "2 3"]),
):
    for depth, line in enumerate(known, start=1):
        results = [
            method(depth=depth).search(Mancala(stones=stones))
            for method in (gamedp.searchers.Minimax, gamedp.searchers.AlphaBeta)
        ]
        plain, pruned = (
            f"{result.value():g} {''.join(map(str, result.best_actions))}" for result in results
        )
        table.known(f"k = {stones}, depth {depth}: value, best moves", line, plain)
        if pruned != plain:
            table.known("    alpha-beta", plain, pruned)
    nodes = [result.statistics.nodes for result in results]
    few = f"{nodes[1]:,} for {nodes[0]:,}"
    table.holds("    positions by alpha-beta, by minimax", "-", few, 10 * nodes[1] < nodes[0])


# The program plays against itself: depths, stones and the first player can be chosen, and one of
# several equally good moves is drawn.


def play(game, depths, generator):
    """Return how far A is ahead in the end; `depths` are those of A and B. A moves first."""
    state = game.initial_state()
    while not game.is_terminal(state):
        player = game.player(state)
        best = gamedp.searchers.AlphaBeta(depth=depths[player]).search(game, state).best_actions
        ((_, state),) = game.outcomes(state, int(generator.choice(best)))
    return int(game.payoff(state, A))


generator = np.random.default_rng(1)
for deep, shallow in ((4, 1), (5, 3)):
    results = []
    for _ in range(4):
        results.append(play(game, (deep, shallow), generator))
        results.append(-play(game, (shallow, deep), generator))
    wins, losses = (sum(sign * result > 0 for result in results) for sign in (1, -1))
    score = f"{wins} won, {losses} lost"
    table.holds(f"depth {deep} against {shallow}, {len(results)} games", "-", score, wins > losses)
    print(f"    | ahead by {spaced(results)}")


# Small games, played perfectly: what each first move is worth. That play stops at the majority may
# change by how much a game is won, but not who wins.

for pits, stones, without, stopped in (
    (2, 1, "-2 0", "-2 0"),
    (2, 2, "-4 0", "-4 0"),
    (2, 3, "6 2", "5 2"),
    (3, 1, "0 -2 0", "0 -2 0"),
    (3, 2, "-2 -2 0", "-3 -2 0"),
    (3, 3, "-4 -2 -4", "-4 -2 -4"),
    (4, 1, "0 0 -2 0", "0 0 -2 0"),
    (4, 2, "0 -4 -2 0", "0 -6 -2 0"),
):
    for stop, known in ((False, without), (True, stopped)):
        small = Mancala(pits=pits, stones=stones, majority_stop=stop)
        solution = gamedp.solve(small)
        moves = [entry.value for entry in solution.action_values(small.initial_state())]
        name = f"{pits} pits, k = {stones}{', stop at the majority' if stop else ''}"
        table.known(name, known, spaced(moves))
        proven = gamedp.searchers.AlphaBeta().search(small)
        if not (proven.lower == solution.value() == proven.upper):
            table.known("    proven by search", solution.value(), proven.value())


# "For k <= 3 strategies are known that guarantee a win." With one stone a pit there are a million
# positions, as they look to the mover. All of them are listed; and a search proves it, too.

one = Mancala(stones=1)
solution, proven = gamedp.solve(one), gamedp.searchers.AlphaBeta().search(one)
proof = proven.lower, proven.upper
word = "draw" if proof == solution.bounds() == (0.0, 0.0) else f"between {proof}"
table.differs(
    "six pits, k = 1",
    "win",
    word,
    "draw",
    "No strategy guarantees a win: the second player has one that guarantees a draw. "
    f"{solution.model.num_states:,} positions listed, {proven.statistics.nodes:,} searched. "
    "Other programs have solved k = 2 and k = 3, with tables of all boards: these are draws, too.",
)


# The article's ideas for more: Triancala for three, and more pits.


@functools.cache
def max_n(state):
    """Return what three players get if each, on their move, takes the first of the best."""
    if three.is_terminal(state):
        return tuple(three.payoff(state, player) for player in range(3))
    return max(
        (max_n(after) for pit in three.actions(state) for _, after in three.outcomes(state, pit)),
        key=lambda values: values[three.player(state)],
    )


for pits, stones in ((2, 2), (2, 3), (3, 1)):
    three = Mancala(players=3, pits=pits, stones=stones)
    solution = gamedp.solve(three, compile="never")
    shares = spaced(solution.value(player=player) for player in range(3))
    max_n.cache_clear()
    name = f"Triancala, {pits} pits, k = {stones}: shares"
    table.known(name, spaced(max_n(three.initial_state())), shares)
    table.known("    stones of all", 3 * pits * stones, sum(map(int, shares.split())))

wide = gamedp.searchers.AlphaBeta(depth=6).search(Mancala(pits=8, stones=4))
plain = gamedp.searchers.Minimax(depth=6).search(Mancala(pits=8, stones=4))
table.known("eight pits, k = 4, depth 6: best moves", plain.best_actions, wide.best_actions)

table.finish()
