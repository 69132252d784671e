"""Every known value, by every solver that supports the problem, through the public interface."""

import functools

import attrs
import numba
import numpy as np
import pytest
from depth import first_of
from figures import BY_NAME, MANCALA_VALUES, POSITIONS

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState, Nim, NimState, nim_winning, winning_takes
from gamedp.games.wubbel import ROLL, SAVE, State
from gamedp.runtime.registry import GAMES, SOLVERS, find, registered

COMPILED = not numba.config.DISABLE_JIT

LARGE = 1_000_000 if COMPILED else 500
"""Models with more transitions are solved by the solver that gamedp chooses, and by no other."""

LARGE_FOR_RATIONALS = 10_000
"""Models with more transitions are not solved in rational numbers."""

SOLVER_OPTIONS = {
    # Staged games have a solver of their own, and tests of their own.
    **{name: {} for name in registered(SOLVERS) if name != "stage-induction"},
    "value-iteration/jacobi": {"sweep": "jacobi"},
}


@functools.cache
def model_by_name(game, parameters):
    return gamedp.compile(find(GAMES, game)(**dict(parameters)))


@functools.cache
def solve(game, parameters, solver):
    """Return the solution by one solver, or the reason why there is none."""
    model = model_by_name(game, parameters)
    made = find(SOLVERS, solver.partition("/")[0])(**SOLVER_OPTIONS[solver])
    support = made.supports(gamedp.Problem(model))
    if not support:
        return support.reason
    if model.num_transitions > LARGE and solver not in {
        "backward-induction",
        "topological-value-iteration",
    }:
        return f"{model.num_transitions} transitions take too long here"
    if solver == "exact-policy-iteration" and model.num_transitions > LARGE_FOR_RATIONALS:
        return f"{model.num_transitions} transitions take too long in rational numbers"
    return gamedp.solve(model, solver=made, tolerance=1e-10)


@pytest.mark.parametrize(
    "figure",
    # Uncompiled, one large game is enough; Pig's half a million states would take minutes.
    [each for each in POSITIONS if COMPILED or not each.name.startswith(("pig", "grace"))],
    ids=lambda figure: figure.name,
)
def test_positions(figure, record_property):
    parameters = tuple(figure.parameters.items())
    solved = []
    for name in SOLVER_OPTIONS:
        solution = solve(figure.game, parameters, name)
        if isinstance(solution, str):
            record_property(f"not by {name}", solution)
            continue
        solved.append(name)
        state = type(solution.initial_state())(*figure.state)
        low, high = solution.bounds(state)
        assert low - figure.tolerance <= figure.value <= high + figure.tolerance
        assert high - low <= 1e-10
        assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
        # Newton's method and backward induction go as far as rounding allows; sweeps stop where
        # they were asked to, and a sparse LU decomposition rounds on its own.
        exact = name in {
            "backward-induction",
            "exact-policy-iteration",
            "retrograde",
            "topological-value-iteration",
        }
        allowed = figure.tolerance if exact else max(figure.tolerance, 1e-10)
        assert abs(solution.value(state) - figure.value) <= allowed, name
    assert len(solved) == pairs_expected(figure)


def pairs_expected(figure):
    """Backward induction does no cycles, retrograde analysis no chance; few do large models.

    Three do none of these: one is for averages, two do not change the players' places.
    """
    size = model_by_name(figure.game, tuple(figure.parameters.items())).num_transitions
    acyclic = figure.game != "wubbel" or figure.parameters.get("grace", False)
    if size > LARGE:
        return 2 if acyclic else 1
    by_chance = figure.game == "wubbel"
    return len(SOLVER_OPTIONS) - 3 - (not acyclic) - by_chance - (size > LARGE_FOR_RATIONALS)


@functools.cache
def solved_wubbel():
    return solve("wubbel", (), "topological-value-iteration")


def margins(own, opponent):
    """What SAVE is worth more than ROLL, for 1 point of the turn and up."""
    solution = solved_wubbel()
    found = []
    for turn in range(1, 50 - own):
        roll, save = solution.action_values(State(0, own, opponent, turn))
        assert (roll.action, save.action) == (ROLL, SAVE)
        found.append(save.value - roll.value)
    return np.array(found)


def test_the_whole_decision_rule_at_0_24():
    solution = solved_wubbel()
    found = "".join("RS"[solution.best_action(State(0, 0, 24, turn))] for turn in range(1, 50))
    figure = BY_NAME["wubbel.0:24"]
    assert found == figure.value
    words = {turn: found[turn - 1] for turn in range(1, 50)}
    assert words[16] == words[17] == "S"
    assert words[18] == words[19] == words[20] == "R"
    assert all(words[turn] == "S" for turn in range(21, 45))
    assert all(words[turn] == "R" for turn in range(45, 50))


def test_the_margins_at_0_24():
    figure = BY_NAME["wubbel.0:24.margins"]
    found = margins(0, 24)
    for turn, margin in figure.value.items():
        assert abs(found[int(turn) - 1] - margin) <= figure.tolerance


def test_no_decision_of_wubbel_hangs_on_rounding():
    solution = solved_wubbel()
    closest = min(
        np.abs(margins(own, opponent)).min()
        for own in range(0, 49, 4)
        for opponent in range(0, 50, 7)
    )
    assert closest > 100 * solution.width


def test_where_the_decision_is_not_monotone():
    figure = BY_NAME["wubbel.rows.nonmonotone"]
    rolls_above, listed, always = 0, [], 0
    for own in range(50):
        for opponent in range(50):
            turns = 50 - own
            choice = [
                solved_wubbel().best_action(State(0, own, opponent, turn))
                for turn in range(1, turns)
            ]
            text = "".join("RS"[action] for action in choice)
            rolls_above += "SR" in text
            if "SR" in text.rstrip("R"):
                listed.append((own, opponent))
            always += "S" not in text
    assert rolls_above == figure.value["ROLL above a SAVE"]
    assert listed == figure.value["wubbel rows"]
    assert always == figure.value["ROLL throughout"]


def test_where_pig_saves():
    if not COMPILED:
        return  # half a million states take minutes in plain Python
    solution = gamedp.solve(model_by_name("wubbel", (("goal", 100), ("busts", (1,)))))
    found = [turn for turn in range(2, 59) if solution.best_action(State(0, 41, 49, turn)) == SAVE]
    assert found == BY_NAME["pig.41:49"].value


def test_the_sample_game_of_matches():
    solution = gamedp.solve(Matches(matches=18))
    for number, (left, taken, winning) in enumerate(BY_NAME["matches.sample_game"].value):
        state = MatchesState(0, left)
        wins = solution.value(state) == 1
        best = tuple(solution.best_actions(state)) if wins else ()
        assert best == winning == tuple(winning_takes(left))
        assert number % 2 == 1 or best == (taken,)


@pytest.mark.parametrize("misere", [True, False])
@pytest.mark.parametrize("size", ["1x7", "2x7", "3x7", "4x5"])
def test_nim_is_as_bouton_says(size, misere):
    figure = BY_NAME[f"nim.bouton.{size}"]
    count, largest = figure.value["heaps"], figure.value["largest"]
    solution = gamedp.solve(Nim(heaps=(largest,) * count, misere=misere))
    losing = 0
    for heaps in np.ndindex(*(largest + 1,) * count):
        wins = solution.value(NimState(0, heaps)) == 1.0
        assert wins == nim_winning(heaps, misere=misere)
        losing += not wins
    assert losing == figure.value["losing"]


def test_a_winning_start_of_nim_is_the_first_players():
    solution = gamedp.solve(Nim(heaps=(3, 5, 7)))
    assert solution.value() == 1.0
    assert solution.value(player=1) == -1.0
    assert solution.value(NimState(1, (3, 5, 7))) == -1.0


@pytest.mark.parametrize(
    ("pits", "stones"),
    # Four pits with two stones would take a minute in plain Python.
    [size for size in MANCALA_VALUES if COMPILED or size != (4, 2)],
)
@pytest.mark.parametrize("stop", [False, True])
def test_first_moves_of_mancala(pits, stones, stop):
    solution = gamedp.solve(Mancala(pits=pits, stones=stones, majority_stop=stop))
    moves = solution.action_values(solution.initial_state())
    expected = MANCALA_VALUES[pits, stones][stop]
    assert [move.action for move in moves] == list(range(1, pits + 1))
    assert [move.value for move in moves] == expected
    assert solution.bounds() == (max(expected), max(expected))


@attrs.frozen
class SeatedMancala(Mancala):
    """Mancala without its symmetry: it matters who is to move."""

    def canonical(self, state):
        return state, False


@pytest.mark.deep
def test_how_many_positions_of_mancala_there_are():
    counted = 0
    for (pits, stones, stop), expected in BY_NAME["mancala.reachable"].value.items():
        if not COMPILED and pits * stones > 6:
            continue
        model = gamedp.compile(SeatedMancala(pits, stones, majority_stop=stop))
        _, *sides = model.states.fields().T
        kalah = pits * (2 * pits * stones).bit_length()
        boards = {
            tuple(board) for board in np.stack([side % 2**kalah for side in sides], 1).tolist()
        }
        found = (model.num_states, len(model.terminals), model.num_choices, len(boards))
        assert found == expected, (pits, stones, stop)
        counted += 1
    assert counted == (22 if COMPILED else 18)


def test_six_pits_with_one_stone_are_a_draw():
    if not COMPILED:
        return  # two million positions take minutes in plain Python
    figure = BY_NAME["mancala.article_claim"].value
    assert gamedp.solve(Mancala(stones=figure["stones"])).bounds() == (figure["value"],) * 2


@pytest.mark.deep
def test_how_many_positions_six_pits_with_one_stone_have():
    if not COMPILED:
        return  # as above
    figure = BY_NAME["mancala.article_claim"].value
    model = gamedp.compile(SeatedMancala(stones=figure["stones"]))
    assert model.num_states == figure["reachable"]


def looked_ahead(game, state, depth):
    """Return the number of ways, and the values for who moves, 0 to `depth` moves ahead."""
    ways, values = np.zeros(depth + 1, int), np.full(depth + 1, -np.inf)
    ways[0], values[0] = 1, game.heuristic(state, state.player)
    if game.is_terminal(state):
        values[:] = game.payoff(state, state.player)
    elif depth:
        for action in game.actions(state):
            for _, after in game.outcomes(state, action):
                more, worth = looked_ahead(game, after, depth - 1)
                ways[1:] += more
                values[1:] = np.maximum(values[1:], -worth)
    return ways, values


@pytest.mark.parametrize("stones", first_of([6, 3, 4]))
def test_some_moves_of_mancala_ahead(stones):
    game = Mancala(stones=stones)
    start = game.initial_state()
    seen = [
        looked_ahead(game, after, 6)
        for action in game.actions(start)
        for _, after in game.outcomes(start, action)
    ]
    ways = sum(ways for ways, _ in seen)
    assert ways.tolist() == BY_NAME["mancala.perft"].value[stones]
    values = [[-worth[depth] for _, worth in seen] for depth in range(7)]
    assert values == BY_NAME["mancala.minimax"].value[stones]


def test_how_many_positions_four_moves_of_mancala_visit():
    figure = BY_NAME["mancala.bound"].value
    assert sum(6**depth for depth in range(1, figure["depth"] + 1)) == figure["positions"]
    for stones in (3, 4):
        game = Mancala(stones=stones)
        ways, _ = looked_ahead(game, game.initial_state(), figure["depth"])
        assert ways[1:].sum() == figure[f"stones {stones}"]


def test_who_wins_kalah():
    for pits, line in BY_NAME["kalah.solved"].value.items():
        for stones, expected in enumerate(line, 1):
            if COMPILED or pits * stones <= 6:
                value = gamedp.solve(Mancala.kalah(pits, stones)).value()
                assert "LDW"[int(np.sign(value)) + 1] == expected, (pits, stones)


@pytest.mark.parametrize("state", [(0, 77), State(0, 0, 0, 0), 5, MatchesState(0, 77)], ids=repr)
def test_what_is_no_state_is_said_to_be_none(state):
    solution = gamedp.solve(Matches(matches=18))
    with pytest.raises(gamedp.errors.UnknownStateError):
        solution.value(state)
    with pytest.raises(gamedp.errors.UnknownStateError, match="numbered 0 to 18"):
        solution.model.state(19)
