"""States that are not their own representatives have actions of their own."""

import functools
import itertools
import json
from typing import NamedTuple

import attrs
import pytest
from symmetric_games import (
    Chancy,
    Heaps,
    Numbers,
    Pick,
    Piles,
    TakeADie,
    ThreeNumbers,
    Thrown,
    TicTacToe,
    TwoHeaps,
)

import gamedp
from gamedp.games.matches import Nim, NimState
from gamedp.testing import check_game


def reached(game):
    """Return all positions of a game, none of them merged."""
    start = game.initial_state()
    seen, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        if game.is_terminal(state):
            continue
        for action in game.actions(state):
            for _, following in game.outcomes(state, action):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
    return seen


@functools.cache
def brute(game, state):
    """Return (value, steps to the end, all best actions) of a sure game that ends; no symmetry.

    The winner hurries, the loser does not; a draw is hurried by both.
    """
    if game.is_terminal(state):
        return game.payoff(state, 0), 0, []
    found = {}
    for action in game.actions(state):
        ((_, following),) = game.outcomes(state, action)
        value, steps, _ = brute(game, following)
        found[action] = value, steps + 1
    sign = 1 - 2 * game.player(state)
    best = max(sign * value for value, _ in found.values())
    ways = {action: steps for action, (value, steps) in found.items() if sign * value == best}
    steps = max(ways.values()) if best < 0 else min(ways.values())
    return sign * best, steps, sorted(ways)


def assert_as_brute_force(game, solution, states):
    """Hold actions, values and policy in each state against looking at all there is."""
    for state in states:
        value, _, best = brute(game, state)
        assert solution.value(state) == value
        assert solution.actions(state) == (
            [] if game.is_terminal(state) else list(game.actions(state))
        )
        for entry in solution.action_values(state):
            ((_, following),) = game.outcomes(state, entry.action)
            assert entry.value == entry.lower == entry.upper == brute(game, following)[0]
            assert entry.name == gamedp.rules.Rules(game).action_name(state, entry.action)
        action = solution.best_action(state)
        if game.is_terminal(state):
            assert (action, solution.best_actions(state)) == (None, [])
            continue
        assert action in best
        if solution.distances is None:
            assert solution.best_actions(state) == best
            continue
        steps = solution.distance(state)
        assert steps == brute(game, state)[1]
        progress = [
            each
            for each in best
            for _, following in game.outcomes(state, each)
            if brute(game, following)[1] == steps - 1
        ]
        assert solution.best_actions(state) == progress
        assert action in progress
        assert solution.best_actions(state, tolerance=1e-9) == best


@pytest.mark.parametrize("solver", ["backward-induction", "retrograde"])
@pytest.mark.parametrize("misere", [False, True])
@pytest.mark.parametrize("heaps", [(3, 2, 1), (2, 3, 2), (4, 1), (3, 3), (2, 1, 1, 2)])
def test_heaps_in_any_order(heaps, misere, solver):
    game = Nim(heaps, misere=misere)
    solution = gamedp.solve(game, solver=solver, compile="never")
    states = reached(game)
    assert sum(state != game.canonical(state)[0] for state in states) > len(states) // 2
    assert_as_brute_force(game, solution, states)
    line = solution.principal_variation()
    assert game.is_terminal(line[-1])
    assert_legal(game, line)


def assert_legal(game, line):
    for state, following in itertools.pairwise(line):
        outcomes = [tuple(game.outcomes(state, action)) for action in game.actions(state)]
        assert ((1.0, following),) in outcomes


def test_a_heap_that_is_not_there_is_not_taken_from():
    game = Nim((7, 5, 3))
    solution = gamedp.solve(game, compile="never")
    state = NimState(0, (4, 1, 1))
    assert solution.best_actions(state) == [game.action(0, 3)] == [solution.best_action(state)]
    assert game.action_name(state, solution.best_action(state)) == "take 3 from heap 1"


@pytest.fixture(scope="module")
def board():
    return gamedp.solve(TicTacToe(), compile="never")


def test_turned_and_reflected_boards(board):
    assert board.model.num_states == 765  # the known number of boards up to symmetry
    line = board.principal_variation()
    assert len(line) == 10
    assert_legal(TicTacToe(), line)
    assert TicTacToe().winner(line[-1].cells) == 0


def test_every_reflected_board_has_its_own_moves(board):
    game = TicTacToe()
    states = sorted(reached(game))
    assert len(states) == 5478
    assert_as_brute_force(game, board, states[::7])


def test_in_compiled_rules_nothing_is_different():
    game = Nim((3, 2, 1))
    solution = gamedp.solve(game)
    assert_as_brute_force(game, solution, reached(game))


PROBLEMS = [
    (None, 0.0),
    (None, 1.0),
    (gamedp.TotalReward(optimum="min"), 0.0),
    (gamedp.TotalReward(optimum="min"), 1.0),
    (gamedp.Discounted(0.75), 0.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "constant_sum"), PROBLEMS, ids=repr)
@pytest.mark.parametrize("refills", [False, True])
def test_chance_rewards_and_swaps(objective, constant_sum, refills):
    merged = Chancy(constant_sum=constant_sum, refills=refills)
    check_game(merged, compile=False, max_states=500)
    plain = attrs.evolve(merged, merges=False)
    one = gamedp.solve(merged, objective, compile="never", tolerance=1e-10)
    other = gamedp.solve(plain, objective, compile="never", tolerance=1e-10)
    assert one.model.has_swaps
    states = [other.model.state(index) for index in range(other.model.num_states)]
    assert sum(merged.canonical(state) != (state, False) for state in states) > 20
    for state in states:
        assert one.value(state) == pytest.approx(other.value(state), abs=1e-9)
        entries, expected = one.action_values(state), other.action_values(state)
        assert [entry.action for entry in entries] == [entry.action for entry in expected]
        for entry, its in zip(entries, expected, strict=True):
            assert entry.lower <= its.upper
            assert its.lower <= entry.upper
            assert entry.value == pytest.approx(its.value, abs=1e-9)
        if entries:
            best = other.best_actions(state, tolerance=1e-8)
            assert one.best_actions(state, tolerance=1e-8) == best
            assert set(one.best_actions(state)) <= set(best)
            assert one.best_action(state) in best


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_a_finite_horizon(steps):
    """The first action, then the best one with a step less to go: as without symmetry."""
    merged, plain = Chancy(refills=True), Chancy(refills=True, merges=False)
    one = gamedp.solve(merged, gamedp.FiniteHorizon(steps), compile="never")
    other = gamedp.solve(plain, gamedp.FiniteHorizon(steps), compile="never")
    before = gamedp.solve(plain, gamedp.FiniteHorizon(max(steps - 1, 0)), compile="never")
    for index in range(other.model.num_states):
        state = other.model.state(index)
        action = one.best_action(state)
        if plain.is_terminal(state) or steps == 0:
            assert action is None
            continue
        values = {
            each: plain.reward(state, each, 0)
            + sum(chance * before.value(after) for chance, after in plain.outcomes(state, each))
            for each in plain.actions(state)
        }
        most = pytest.approx(other.value(state), abs=1e-12)
        best = [each for each, number in values.items() if number == most]
        assert action in best
        assert one.best_actions(state) == other.best_actions(state) == best


def test_the_principal_variation_of_a_horizon_counts_the_steps():
    """One player gets more from the later of two states only if there is time enough."""
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 3], [0, 1, 2, 3], [0, 1, 2], [1.0] * 3, rewards=[0.5, 0.0, 0.75],
        terminals=[2], payoffs=[0.5],
    )  # fmt: skip
    for steps, line in ((0, [0]), (1, [0, 0]), (2, [0, 1, 2]), (4, [0, 0, 0, 1, 2])):
        assert gamedp.solve(model, gamedp.FiniteHorizon(steps)).principal_variation() == line
    horizon = gamedp.solve(Nim((2, 1)), gamedp.FiniteHorizon(2), compile="never")
    assert len(horizon.principal_variation()) == 3


def test_three_players():
    merged = Chancy(sizes=(2, 1, 2), num_players=3)
    check_game(merged, compile=False)
    solution = gamedp.solve(merged, compile="never")
    for state in reached(merged):
        action = solution.best_action(state)
        if merged.is_terminal(state):
            assert action is None
            continue
        mover = state.player
        values = {
            each: merged.reward(state, each, mover)
            + sum(
                chance * solution.value(following, mover)
                for chance, following in merged.outcomes(state, each)
            )
            for each in merged.actions(state)
        }
        assert values[action] == pytest.approx(max(values.values()), abs=1e-12)
        assert values[action] == pytest.approx(solution.value(state, mover), abs=1e-12)
        assert solution.actions(state) == list(values)


@attrs.frozen
class Wrong(Chancy):
    """A player who has more than one pile loses sight of the first."""

    def canonical(self, state):
        return Piles(0, (0, *sorted(state.sizes)[1:])), state.player == 1


@attrs.frozen
class WrongMover(Chancy):
    """The players' places are changed, but nobody says so."""

    def canonical(self, state):
        return Piles(0, tuple(sorted(state.sizes))), False


@attrs.frozen
class WrongEnd(Chancy):
    """What is left of small piles is forgotten."""

    def canonical(self, state):
        sizes = state.sizes if sum(state.sizes) > 1 else (0, 0, 0)
        return Piles(0, tuple(sorted(sizes))), state.player == 1


@pytest.mark.parametrize(
    ("game", "state", "words"),
    [
        (
            Wrong(sizes=(0, 2, 3)),
            Piles(0, (1, 2, 3)),
            r"\(0, 2, 3\)\), as it is, but .*: action 1 in Piles\(.*\(1, 2, 3\)\) does what none",
        ),
        (WrongMover(), Piles(1, (1, 2, 3)), r"action 1 in Piles\(player=1, .* does what none in"),
        (WrongEnd(), Piles(0, (0, 1, 0)), r"only in Piles\(player=0, sizes=\(0, 0, 0\)\) the game"),
    ],
)
def test_what_is_no_symmetry_is_refused(game, state, words):
    solution = gamedp.solve(game, compile="never")
    for question in (solution.actions, solution.action_values, solution.best_actions):
        with pytest.raises(gamedp.InvalidModelError, match=words):
            question(state)


class Spot(NamedTuple):
    player: int
    left: int


class Anyone:
    """Either player may choose one of two ends; who it is must not be forgotten."""

    num_players = 2

    def initial_state(self):
        return Spot(0, 2)

    def is_terminal(self, state):
        return state.left < 2

    def player(self, state):
        return state.player

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        yield 1.0, Spot(0, action)

    def payoff(self, state, player):
        return float(state.left if player == 0 else -state.left)

    def canonical(self, state):
        return Spot(0, state.left), False


def test_it_matters_who_chooses():
    solution = gamedp.solve(Anyone(), compile="never")
    assert solution.best_actions(Spot(0, 2)) == [1]
    with pytest.raises(gamedp.InvalidModelError, match="player 1 chooses in the one, 0 in the oth"):
        solution.best_actions(Spot(1, 2))


class Throw:
    """Take one or two; the last one may end in a draw, or in a new throw for who begins."""

    num_players = 2
    constant_sum = 1.0

    def initial_state(self):
        return Spot(0, -1)

    def is_terminal(self, state):
        return state.left in {0, -2}

    def player(self, state):
        return state.player

    def actions(self, state):
        yield 1
        if state.left > 1:
            yield 2

    def outcomes(self, state, action):
        if state.left == -1:
            yield 0.5, Spot(0, 5)
            yield 0.5, Spot(1, 5)
        elif state.left > action:
            yield 1.0, Spot(1 - state.player, state.left - action)
        else:
            yield 0.5, Spot(1 - state.player, 0)
            yield 0.25, Spot(0, -1)
            yield 0.25, Spot(0, -2)

    def payoff(self, state, player):
        return 0.5 if state.left == -2 else float(player != state.player)

    def canonical(self, state):
        return Spot(0, state.left), state.player == 1 and state.left >= 0


def test_positions_that_are_their_own_mirror_image():
    game = Throw()
    check_game(game, compile=False)
    solution = gamedp.solve(game, compile="never", tolerance=1e-12)
    for left in range(1, 6):
        one, other = Spot(0, left), Spot(1, left)
        assert solution.best_actions(one) == solution.best_actions(other)
        assert solution.best_action(one) == solution.best_action(other)
        assert solution.actions(one) == solution.actions(other) == list(game.actions(one))
        for entry, its in zip(
            solution.action_values(one), solution.action_values(other), strict=True
        ):
            assert entry.value + its.value == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize("compile", ["never", "auto"])
def test_a_stage_with_symmetry(compile):
    one = gamedp.solve(ThreeNumbers(), tolerance=1e-10, compile=compile)
    other = gamedp.solve(ThreeNumbers(merges=False), tolerance=1e-10, compile="never")
    check_game(TakeADie(), compile=False)
    assert one.model.stage.num_states < other.model.stage.num_states
    sides = set()
    for free, total in itertools.product((1, 3, 4, 5, 7), range(4)):
        context = Numbers(free, total)
        for dice in itertools.product(range(3), repeat=2):
            state = Thrown(dice, -1)
            expected = other.action_values(context, state)
            entries = one.action_values(context, state)
            assert [entry.action for entry in entries] == [entry.action for entry in expected]
            for entry, its in zip(entries, expected, strict=True):
                assert entry.value == pytest.approx(its.value, abs=1e-9)
            best = other.best_actions(context, state)
            assert one.best_actions(context, state) == best
            assert one.inside(context).best_action(state) in best
            sides.add((dice, tuple(entry.action for entry in entries)))
    # In one context a one must not be taken.
    assert {((1, 2), (2, 3)), ((2, 1), (1, 3)), ((2, 1), (1, 2, 3))} <= sides


def test_contexts_in_which_the_ends_change_places():
    one = gamedp.solve(TwoHeaps(), tolerance=1e-10, compile="never")
    other = gamedp.solve(TwoHeaps(merges=False), tolerance=1e-10, compile="never")
    checked = 0
    for player, first, second in itertools.product((0, 1), range(1, 4), range(1, 4)):
        context = Heaps(player, first, second)
        assert one.value(context) == pytest.approx(other.value(context), abs=1e-9)
        for state in (Pick(0, 0), Pick(1, 0), Pick(2, 0)):
            entries = one.action_values(context, state)
            expected = other.action_values(Heaps(0, first, second), state)
            for entry, its in zip(entries, expected, strict=True):
                values = 1 - its.value if player else its.value
                assert entry.action == its.action
                assert entry.value == pytest.approx(values, abs=1e-9)
                assert entry.lower <= values + 1e-9
                assert entry.upper >= values - 1e-9
            best = other.inside(Heaps(0, first, second)).best_actions(state, tolerance=1e-8)
            assert one.inside(context).best_actions(state, tolerance=1e-8) == best
            checked += best != one.inside(Heaps(player, second, first)).best_actions(state, 1e-8)
        ends = gamedp.stages.end_probabilities(one, context)
        expected = gamedp.stages.end_probabilities(other, Heaps(0, first, second))
        assert ends == pytest.approx(expected)
    assert checked > 0


@attrs.frozen
class WrongHeaps(TwoHeaps):
    def canonical(self, context):
        return Heaps(0, context.first, min(context.second, 2)), context.player == 1


def test_contexts_that_are_not_symmetric_are_refused():
    solution = gamedp.solve(WrongHeaps(), tolerance=1e-10, compile="never")
    words = r"first=2, second=3\) has the value .* second=2\), which canonical\(\) says"
    with pytest.raises(gamedp.InvalidModelError, match=words):
        solution.best_actions(Heaps(1, 2, 3), Pick(0, 0))


def test_on_the_command_line(run, tmp_path):
    folder = str(tmp_path / "nim")
    gamedp.save(gamedp.solve(Nim((7, 5, 3)), compile="never"), folder)
    code, out, _ = run("query", folder, "--state", "heaps=4,1,1", "--json")
    assert code == 0
    facts = json.loads(out)
    assert [action["action"] for action in facts["actions"]] == [1, 2, 3, 4, 9, 17]
    assert facts["best"] == [3]
    code, out, _ = run("query", folder, "--state", "heaps=4,1,1")
    assert code == 0
    assert "best        take 3 from heap 1\n" in out
    assert "heap 2  -1.0" in out


def test_on_the_command_line_where_no_values_are_kept(run, tmp_path):
    folder = str(tmp_path / "chancy")
    game = Chancy(sizes=(2, 0, 1), num_players=3)
    solution = gamedp.solve(game, compile="never")
    gamedp.save(solution, folder)
    own = ["--game", "symmetric_games:Chancy", "--set", "sizes=2,0,1", "--set", "num_players=3"]
    code, out, _ = run("query", folder, "--json", *own)
    assert code == 0
    facts = json.loads(out)
    assert [action["action"] for action in facts["actions"]] == [1, 3]
    assert facts["best"] == [solution.best_action(game.initial_state())]
