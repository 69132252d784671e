"""Retrograde analysis: games without chance that may go on for ever."""

import itertools
import json
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from depth import first_of
from hypothesis import HealthCheck, given, settings, strategies as st
from loopy_games import Chase, Ending, KingAndPawn, Pursuit

import gamedp
from gamedp.games.matches import Matches, MatchesState, Nim
from gamedp.graph.graph import transpose, transpose_jit
from gamedp.runtime.registry import GAMES
from gamedp.testing import check_game, check_solver, exact_values
from gamedp.testing.strategies import games, models

COMPILED = not numba.config.DISABLE_JIT

relaxed = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@attrs.frozen
class Graph:
    """A model unfolded: each state as player 0 sees it, and as seen after a change of places."""

    moves: dict
    maximises: dict
    ends: dict

    @classmethod
    def of(cls, model, optimum="max"):
        moves, maximises, ends = {}, {}, {}
        payoffs = dict(zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True))
        for state, side in itertools.product(range(model.num_states), (0, 1)):
            node = state, side
            rows = range(model.choice_offsets[state], model.choice_offsets[state + 1])
            moves[node] = [
                (int(model.successors[row]), side ^ int(model.probabilities[row] < 0))
                for row in rows
            ]
            maximises[node] = ((model.players[state] == 0) == (optimum == "max")) ^ (side == 1)
            if state in payoffs:
                payoff = Fraction(payoffs[state])
                ends[node] = Fraction(model.constant_sum) - payoff if side else payoff
        return cls(moves, maximises, ends)

    def forced(self, goal, who):
        """Return within how many steps `who` can force play into the goal, from where they can."""
        steps = dict.fromkeys(goal, 0)
        count, new = 0, goal
        while new:
            count += 1
            new = [
                node
                for node, moves in self.moves.items()
                if node not in steps
                and moves
                and (any if self.maximises[node] == who else all)(move in steps for move in moves)
            ]
            steps |= dict.fromkeys(new, count)
        return steps

    def values(self, draw):
        """Return every node's value: the best end that a player can force, or a draw."""
        values = {}
        for value in sorted(set(self.ends.values()), reverse=True):
            if value > draw:
                goal = [node for node, end in self.ends.items() if end >= value]
                values |= {n: value for n in self.forced(goal, who=True) if n not in values}
        for value in sorted(set(self.ends.values())):
            if value < draw:
                goal = [node for node, end in self.ends.items() if end <= value]
                values |= {n: value for n in self.forced(goal, who=False) if n not in values}
        return {node: values.get(node, draw) for node in self.moves}

    def distances(self, values, draw):
        """Return every node's distance: one by one, by what it is defined to be."""
        distances = {}
        for value in set(values.values()):
            inside = [node for node in self.moves if values[node] == value]
            at_end = [node for node in inside if node in self.ends]
            if value > draw:
                better = [node for node in self.moves if values[node] > value]
                steps = self.forced(better + at_end, who=True)
            elif value < draw:
                better = [node for node in self.moves if values[node] < value]
                steps = self.forced(better + at_end, who=False)
            else:
                steps, front = {}, at_end
                for count in itertools.count():
                    steps |= dict.fromkeys(front, count)
                    front = [
                        node
                        for node in inside
                        if node not in steps and any(move in front for move in self.moves[node])
                    ]
                    if not front:
                        break
            distances |= {node: steps.get(node, -1) for node in inside}
        return distances


def assert_right(solution, draw=None):
    """Hold values, distances and policy against fixed points found by trying."""
    model = solution.model
    graph = Graph.of(model, solution.objective.optimum)
    draw = Fraction(model.constant_sum) / 2 if draw is None else Fraction(draw)
    values = graph.values(draw)
    distances = graph.distances(values, draw)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    for state in range(model.num_states):
        value = values[state, 0]
        assert Fraction(solution.lower[state]) <= value <= Fraction(solution.upper[state])
        is_exact = Fraction(float(value)) == value
        assert (solution.lower[state] == solution.upper[state]) == is_exact
        assert solution.values[state] == float(value)
        assert solution.distances[state] == distances[state, 0]
        choice = solution.policy[state]
        if (state, 0) in graph.ends:
            assert choice == -1
            continue
        following = graph.moves[state, 0][choice - model.choice_offsets[state]]
        assert values[following] == value
        if distances[state, 0] > 0:
            assert distances[following] == distances[state, 0] - 1
    assert_policy_guarantees(graph, solution, values, draw)
    if model.num_states <= 200:  # what the conformance kit holds solvers against
        truth = exact_values(model, solution.objective)
        assert truth == [values[state, 0] for state in range(model.num_states)]
    return solution


def assert_policy_guarantees(graph, solution, values, draw):
    """Whatever the other one does against the policy, its player gets no less than the value."""
    first = solution.model.choice_offsets[:-1]
    for who in (True, False):
        follows = attrs.evolve(
            graph,
            moves={
                node: [moves[solution.policy[node[0]] - first[node[0]]]]
                if moves and graph.maximises[node] == who
                else moves
                for node, moves in graph.moves.items()
            },
        )
        attained = follows.values(draw)
        assert all(attained[node] == values[node] for node in values if node[1] == 0)


small = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])


@st.composite
def sure_models(draw, **options):
    """Draw models whose payoffs are often the same, or worth a draw."""
    model = draw(models(sure=True, rewards=False, **options))
    if draw(st.booleans()):
        payoffs = np.array([draw(small) for _ in model.terminals])
        model = attrs.evolve(model, payoffs=payoffs)
    return model


@relaxed
@given(sure_models(max_states=10), st.sampled_from(["max", "min"]))
def test_values_distances_and_policy(model, optimum):
    # Where nobody changes places, a constant other than 0 does not tell what endless play counts.
    is_told = model.has_swaps or model.constant_sum == 0
    draw = None if is_told else model.constant_sum / 2
    objective = gamedp.TotalReward(optimum=optimum, draw=draw)
    before = model.digest()
    solution = gamedp.solve(model, objective, gamedp.solvers.Retrograde(), tolerance=1e6)
    assert_right(solution)
    assert model.digest() == before
    assert model.is_deterministic


@relaxed
@given(sure_models(max_states=10, swaps=False), small)
def test_the_value_of_a_draw(model, draw):
    solution = gamedp.solve(model, gamedp.TotalReward(draw=draw), gamedp.solvers.Retrograde())
    assert_right(solution, draw)


@pytest.mark.slow
@relaxed
@given(sure_models(max_states=10))
def test_as_many_steps_as_there_are_states_are_enough(model):
    """A game that is cut off after so many steps, and then worth nothing, has the same values."""
    if model.constant_sum:
        model = attrs.evolve(model, constant_sum=0.0)
    solution = gamedp.solve(model, solver=gamedp.solvers.Retrograde())
    horizon = gamedp.FiniteHorizon(model.num_states)
    cut = gamedp.solve(model, horizon)
    assert solution.values.tolist() == cut.values.tolist()
    # Sweeps from 0 on come to the same, though they prove nothing here and stop at the tolerance.
    swept = gamedp.solve(model, solver=gamedp.solvers.TopologicalValueIteration(), tolerance=1e-6)
    assert abs(solution.values - swept.values).max() <= 1e-6


@relaxed
@given(sure_models(acyclic=True))
def test_without_cycles_it_agrees_with_backward_induction(model):
    backwards = gamedp.solve(model, solver=gamedp.solvers.Retrograde(), tolerance=1e6)
    forwards = gamedp.solve(model, solver=gamedp.solvers.BackwardInduction(), tolerance=1e6)
    assert (forwards.lower <= backwards.lower).all()
    assert (backwards.upper <= forwards.upper).all()
    assert (backwards.distances >= 0).all()


@pytest.mark.slow
@relaxed
@pytest.mark.filterwarnings("ignore:no play ends")
@given(games(sure=True, rewards=False, players=[2], swaps=True))
def test_rules_with_changed_places(game):
    check_game(game, compile=False)
    half = gamedp.TotalReward(draw=game.constant_sum / 2)
    solution = gamedp.solve(game, half, compile="never", solver="retrograde", tolerance=1e6)
    assert_right(solution)


@relaxed
@given(sure_models(max_states=10))
def test_the_kernels_as_plain_python(model):
    offsets = np.empty((2, model.num_states + 1), np.int64)
    sources = np.zeros((2, model.num_choices), np.int64)
    graph = model.choice_offsets, model.successors, model.probabilities
    transpose(*graph, offsets[0], sources[0])
    transpose_jit(*graph, offsets[1], sources[1])
    assert (offsets[0] == offsets[1]).all()
    assert (sources[0] == sources[1]).all()
    steps = [
        (int(source) if source >= 0 else -1 - int(source), state, bool(source < 0))
        for state in range(model.num_states)
        for source in sources[0][offsets[0][state] : offsets[0][state + 1]]
    ]
    assert sorted(steps) == sorted(
        (state, int(model.successors[choice]), bool(model.probabilities[choice] < 0))
        for state in range(model.num_states)
        for choice in range(model.choice_offsets[state], model.choice_offsets[state + 1])
    )


def test_small_slices_change_nothing(monkeypatch):
    model = gamedp.compile(KingAndPawn(size=4), compile="never")
    whole = gamedp.solve(model, solver=gamedp.solvers.Retrograde())
    monkeypatch.setattr("gamedp.solvers.methods.retrograde.VISITS", 7)
    sliced = gamedp.solve(model, solver=gamedp.solvers.Retrograde(), progress=lambda _report: None)
    for name in ("values", "distances", "policy"):
        assert (getattr(whole, name) == getattr(sliced, name)).all()


def test_a_long_way_is_no_recursion():
    size = 300_000 if COMPILED else 3_000
    inner = np.arange(size - 1)
    model = gamedp.Model.from_arrays(
        np.minimum(2 * np.arange(size + 1), 2 * (size - 1)),
        np.arange(2 * (size - 1) + 1),
        np.stack([np.maximum(inner - 1, 0), inner + 1], axis=1).ravel(),
        np.ones(2 * (size - 1)),
        terminals=[size - 1],
        payoffs=[1.0],
    )
    solution = gamedp.solve(model)
    assert (solution.distances == np.arange(size)[::-1]).all()
    assert (solution.policy[:-1] % 2 == 1).all()
    assert (solution.values == 1).all()


def path(size):
    return tuple((place, place + 1) for place in range(size - 1))


def cycle(size):
    return (*path(size), (size - 1, 0))


PETERSEN = (
    *cycle(5),
    *((place, place + 5) for place in range(5)),
    *((5 + place, 5 + (place + 2) % 5) for place in range(5)),
)
CUBE = tuple((one, one ^ bit) for one in range(8) for bit in (1, 2, 4) if one < one ^ bit)
GRID = tuple((one, one + 1) for one in range(9) if one % 3 < 2) + tuple(
    (one, one + 3) for one in range(6)
)
COMPLETE = tuple(itertools.combinations(range(5), 2))
TREE = ((0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (5, 6))


@pytest.mark.parametrize(
    ("edges", "size", "cops"),
    [
        (path(7), 7, 1),
        (TREE, 7, 1),
        (cycle(3), 3, 1),
        (COMPLETE, 5, 1),
        (cycle(4), 4, 2),
        (cycle(7), 7, 2),
        (GRID, 9, 2),
        (CUBE, 8, 2),
    ],
    ids=["path", "tree", "triangle", "complete", "square", "heptagon", "grid", "cube"],
)
def test_how_many_cops_catch_a_robber(edges, size, cops):
    """One on a tree, two on a cycle of four and more: the known cop numbers."""
    for count in range(1, cops + 1):
        game = Pursuit(edges, size, count)
        solution = gamedp.solve(game, compile="auto" if COMPILED else "never")
        assert isinstance(solution.solver, gamedp.solvers.Retrograde)
        caught = count == cops
        assert solution.value() == (1.0 if caught else 0.0)
        assert (solution.distance() is None) == (not caught)
        if count == 1:
            assert_right(solution)
            escape = gamedp.solve(solution.model, gamedp.TotalReward(draw=-1.0), "retrograde")
            assert escape.value() == (1.0 if caught else -1.0)
            assert (escape.distance() is None) == (not caught)


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="a million choices take minutes in plain Python")
def test_three_cops_are_needed_on_the_petersen_graph():
    """M. Aigner, M. Fromme, "A game of cops and robbers", Discrete Applied Mathematics 8 (1984)."""
    assert gamedp.solve(Pursuit(PETERSEN, 10, 2)).value() == 0.0
    solution = gamedp.solve(Pursuit(PETERSEN, 10, 3))
    assert solution.value() == 1.0
    # The three cops look at all vertices around one, where the robber is caught in one move.
    assert solution.distance() == 2 + 1


@pytest.mark.parametrize("size", range(2, 9))
def test_a_robber_on_a_path_is_caught_from_the_middle(size):
    """One cop in the middle needs as many moves as half the path is long, rounded down."""
    solution = gamedp.solve(Pursuit(path(size), size), compile="never")
    moves = size // 2
    assert solution.distance() == 2 + 2 * moves - 1
    best = solution.best_actions(solution.initial_state())
    assert best == sorted({(size - 1) // 2, size // 2})


def test_waiting_is_no_way_to_win():
    """A cop next to the robber wins after waiting, too; but no such action counts as best."""
    game = Pursuit(path(5), 5)
    solution = gamedp.solve(game, compile="never")
    state = Chase(0, (2,), 4)
    values = {entry.action: entry.value for entry in solution.action_values(state)}
    assert values == {1: 1.0, 2: 1.0, 3: 1.0}
    assert solution.best_actions(state) == [3]
    assert solution.best_action(state) == 3
    assert solution.best_actions(state, tolerance=1e-9) == [3]  # it does wait, for ever
    line = solution.principal_variation(state)
    assert len(line) == 1 + solution.distance(state)
    assert game.is_terminal(line[-1])


def square(name, size=8):
    """Return a square by its name in chess."""
    return "abcdefgh".index(name[0]) + size * (int(name[1]) - 1)


@pytest.fixture(scope="module")
def chess():
    return gamedp.solve(KingAndPawn())


# What every book on endings says; whoever moves is named first.
KNOWN = [
    # The king on the sixth row before its pawn wins, whoever moves, but beside the edge.
    ("white", "e6", "e5", "e8", 1.0),
    ("black", "e6", "e5", "e8", 1.0),
    ("white", "a6", "a5", "a8", 0.0),
    ("black", "a6", "a5", "a8", 0.0),
    # The opposition: the one who is not to move has it.
    ("black", "e4", "e3", "e6", 1.0),
    ("white", "e4", "e3", "e6", 0.0),
    ("white", "e5", "e4", "e7", 0.0),
    ("black", "e5", "e4", "e7", 1.0),
    # Two rows ahead of the pawn, it can spare a move of the pawn to win the opposition.
    ("white", "e5", "e3", "e7", 1.0),
    # A pawn that comes to the seventh row with a check ends in stalemate; without one it wins.
    ("black", "e6", "e7", "e8", 0.0),
    ("white", "e6", "e7", "e8", 1.0),
    ("white", "d6", "e6", "d8", 0.0),
    ("white", "d6", "e6", "e8", 1.0),
    ("black", "d6", "e6", "e8", 0.0),
    # The square of the pawn: the king that steps into it catches the pawn.
    ("black", "a1", "h5", "c5", 1.0),
    ("black", "a1", "h5", "d5", 0.0),
    ("white", "a1", "h5", "d5", 1.0),
    # From its second row, the pawn runs as from the third.
    ("white", "a8", "h2", "b3", 1.0),
    ("white", "a8", "h2", "c3", 0.0),
]


@pytest.mark.deep
@pytest.mark.skipif(not COMPILED, reason="a million choices take minutes in plain Python")
@pytest.mark.parametrize(("mover", "king", "pawn", "lone_king", "value"), KNOWN)
def test_king_and_pawn_against_king(chess, mover, king, pawn, lone_king, value):
    state = Ending(int(mover == "black"), square(king), square(pawn), square(lone_king))
    assert chess.value(state) == value
    if value:
        assert chess.distance(state) > 0


@pytest.mark.parametrize("size", first_of([4, 5]))
def test_small_boards_by_trying(size):
    game = KingAndPawn(size)
    solution = gamedp.solve(game, compile="never")
    assert isinstance(solution.solver, gamedp.solvers.Retrograde)
    assert_right(solution)
    assert set(solution.values.tolist()) == {0.0, 1.0}


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="compiled rules are compared with plain ones")
@pytest.mark.parametrize("game", [KingAndPawn(4), Pursuit(cycle(4), 4, 2)], ids=repr)
def test_the_rules_of_the_test_games_are_in_order(game):
    check_game(game)


def test_distances_of_games_that_end():
    solution = gamedp.solve(Matches(), solver="retrograde", compile="never")
    # The one who is lost takes one match at a time, the other one three.
    for left in range(19):
        state = MatchesState(0, left)
        assert solution.value(state) == gamedp.solve(Matches(), compile="never").value(state)
    steps = [solution.distance(MatchesState(0, left)) for left in (1, 5, 18)]
    assert steps == [1, 3, 10]
    assert_right(gamedp.solve(Nim((2, 3)), solver="retrograde", compile="never"))


def tiny(**options):
    """State 0 may stay for ever, or go to an end worth 1 or 4 by a change of places."""
    given = {"num_players": 2, "payoffs": [1.0, 4.0], "terminals": [1, 2], **options}
    return gamedp.Model.from_arrays(
        [0, 3, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0, -1.0, -1.0], **given
    )


def test_a_constant_sum_is_shared_when_play_does_not_end():
    solution = gamedp.solve(tiny(constant_sum=4.0))
    assert solution.value() == 3.0
    assert solution.distance() == 1
    solution = gamedp.solve(tiny(constant_sum=4.0, players=[1, 0, 0]))
    assert solution.value() == 0.0
    solution = gamedp.solve(tiny(constant_sum=1.0))
    assert (solution.value(), solution.value(player=1)) == (0.5, 0.5)
    assert solution.distance() is None
    assert "endless play counts 0.5" in gamedp.explain(tiny(constant_sum=1.0))


def test_what_is_no_number_is_between_its_neighbours():
    model = tiny(constant_sum=0.1, payoffs=[1e-20, 1.0])
    with pytest.raises(gamedp.NotSolvedError, match="64-bit rounding"):
        gamedp.solve(model, tolerance=1e-18)
    solution = gamedp.solve(model)
    low, high = solution.bounds()
    assert Fraction(low) < Fraction(0.1) - Fraction(1e-20) < Fraction(high)
    assert np.nextafter(low, 1) == high
    beyond = tiny(constant_sum=1e308, payoffs=[-1e308, 0.0])
    with pytest.raises(gamedp.InvalidModelError, match=r"payoff in 1 leaves .* beyond the range"):
        gamedp.solve(beyond)


def rolling():
    return gamedp.Model.from_arrays(
        [0, 1, 2, 2], [0, 1, 3], [1, 0, 2], [1.0, 0.5, 0.5], terminals=[2], payoffs=[1.0]
    )


@pytest.mark.parametrize(
    ("model", "objective", "words"),
    [
        (rolling(), None, r"one state for sure; choice 1 \(action 0\) of state 1 does not"),
        (tiny(), gamedp.Discounted(0.5), "is for TotalReward, not for Discounted"),
        (tiny(), gamedp.FiniteHorizon(5), "is for TotalReward, not for FiniteHorizon"),
        (
            tiny(rewards=[0.0, -0.5, 0.0]),
            None,
            r"choice 1 \(action 1\) of state 0 earns -0\.5 on the way",
        ),
    ],
)
def test_what_it_cannot_do(model, objective, words):
    with pytest.raises(gamedp.UnsupportedProblemError, match=f"^Retrograde .*{words}"):
        gamedp.solve(model, objective, gamedp.solvers.Retrograde())


def test_where_places_change_a_draw_is_half_the_constant_sum():
    objective = gamedp.TotalReward(draw=0.25)
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"draw=0\.25 .*for both, 0\.0\."):
        gamedp.solve(tiny(), objective)
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"the same for both, 0\.5\."):
        gamedp.solve(tiny(constant_sum=1.0), gamedp.TotalReward(draw=0))
    assert gamedp.solve(tiny(constant_sum=0.5), objective).value() == 0.25


def test_other_solutions_have_no_distances():
    solution = gamedp.solve(Matches(), compile="never")
    with pytest.raises(gamedp.UnsupportedProblemError, match="Retrograde does"):
        solution.distance()


def test_several_starts_have_one_distance_only_if_it_is_the_same():
    solution = gamedp.solve(tiny(constant_sum=4.0, initial=[(0.5, 0), (0.5, 2)]))
    with pytest.raises(gamedp.errors.UnknownStateError, match="one of several states"):
        solution.distance()
    assert solution.distance(2) == 0


def test_distances_are_saved_and_shown(tmp_path):
    solution = gamedp.solve(Pursuit(cycle(4), 4), compile="never")
    gamedp.save(solution, tmp_path / "chase")
    loaded = gamedp.load(tmp_path / "chase", game=Pursuit(cycle(4), 4))
    assert (loaded.distances == solution.distances).all()
    assert not loaded.distances.flags.writeable
    assert loaded.solver == gamedp.solvers.Retrograde()
    column = loaded.to_columns()["distance"]
    assert column.mask.sum() == (solution.distances < 0).sum() > 0


@pytest.mark.slow
def test_the_conformance_kit():
    problems = {
        "pursuit": gamedp.Problem(gamedp.compile(Pursuit(TREE, 7), compile="never")),
        "matches": gamedp.Problem(gamedp.compile(Matches(), compile="never")),
    }
    report = check_solver(gamedp.solvers.Retrograde(), problems)
    assert report.solved == ("pursuit", "matches")


def test_gamedp_chooses_it_and_says_why():
    game = Pursuit(cycle(4), 4)
    words = gamedp.explain(gamedp.compile(game, compile="never"))
    assert "Retrograde: no step is left to chance, so values propagate backwards" in words
    assert "Retrograde" not in gamedp.explain(rolling())
    assert "Retrograde" not in gamedp.explain(gamedp.compile(Matches(), compile="never"))


def test_the_command_line_shows_the_distance(run, tmp_path, register):
    register(GAMES, "loopy_games:Pursuit")
    for edges, name in ((path(4), "path"), (cycle(4), "cycle")):
        gamedp.save(gamedp.solve(Pursuit(edges, 4), compile="never"), tmp_path / name)
    state = ("--state", "robber_moves=0,cops=1,robber=3")
    code, out, _ = run("query", str(tmp_path / "path"), *state)
    assert code == 0
    assert "to the end  3 plies: the first player wins\n" in out
    code, out, _ = run("query", str(tmp_path / "cycle"), *state, "--json")
    assert code == 0
    assert json.loads(out)["distance"] is None
    code, out, _ = run("query", "matches", "--compile", "never")
    assert code == 0
    assert "to the end  10 plies: the first player wins\n" in out
    options = ("--solver", "retrograde", "--compile", "never", "--state", "left=1")
    code, out, _ = run("query", "matches", *options)
    assert code == 0
    assert "to the end  1 ply: the second player wins\n" in out


class Thirds(Matches):
    """Pays a number that no double is equal to."""

    def payoff(self, state, player):
        return Fraction(int(super().payoff(state, player)), 3)


def test_distances_are_kept_where_rounding_stops():
    game, solver = Thirds(6), gamedp.solvers.Retrograde()
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(game, solver=solver, tolerance=1e-20, compile="never")
    solved = gamedp.solve(game, solver=solver, compile="never")
    assert caught.value.solution.distances.tolist() == solved.distances.tolist()
