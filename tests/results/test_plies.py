"""Which of equally good actions is played: the quickest win, the longest loss; by enumeration."""

import functools
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from quickest import ByHand, noughts_and_crosses
from staged_games import StagedWubbel

import gamedp
from gamedp.bellman import plies as kernels
from gamedp.results import plies
from gamedp.runtime.jit import uncompiled
from gamedp.testing import exact_values

GAMES = 200


@functools.cache
def noughts_by_hand():
    return ByHand(noughts_and_crosses())


@pytest.mark.slow
@pytest.mark.parametrize("solver", [None, "retrograde", "topological-value-iteration"])
def test_noughts_and_crosses_misses_no_win_and_no_delay(solver):
    game = noughts_and_crosses()
    solution, truth = gamedp.solve(game, solver=solver), noughts_by_hand()
    decided = {"won": 0, "lost": 0}
    for index in range(solution.model.num_states):
        state = solution.model.state(index)
        value, length = truth.of(state)
        if length == 0 or value == 0:
            continue
        side = 1 if game.player(state) == 0 else -1
        decided["won" if side * value > 0 else "lost"] += 1
        assert solution.plies(state) == length
        wanted = {
            action for action, found in truth.after(state).items() if found == (value, length - 1)
        }
        assert set(solution.quickest_actions(state)) == wanted
        assert solution.best_action(state) in wanted
        assert wanted <= set(solution.best_actions(state, certain=True))
    assert decided == {"won": 2836, "lost": 632}


def test_the_line_takes_the_win_that_stands_there():
    game = noughts_and_crosses()
    solution = gamedp.solve(game, solver="backward-induction")
    # X X O / O X . / O . ., X to move: two squares win at once, the third one later.
    state = game.initial_state()._replace(cells=(1, 1, 2, 2, 1, 0, 2, 0, 0))
    assert solution.best_actions(state) == [5, 7, 8]
    assert solution.quickest_actions(state) == [7, 8]
    assert len(solution.principal_variation(state)) == 2
    assert solution.plies(state) == 1.0


def random_model(rng, *, states, cyclic=False, swaps=False, players=2, total=0):
    """Return a model of few values, so that many actions are equally good, and all its numbers."""
    payoffs = [Fraction(total, 2) - 1, Fraction(total, 2), Fraction(total, 2) + 1]
    ends = 3
    choice_offsets, transition_offsets, successors, probabilities = [0], [0], [], []
    for state in range(states):
        for _ in range(int(rng.integers(1, 4))):
            least = 0 if cyclic and rng.random() < 0.4 else state + 1
            number = int(rng.integers(1, 3))
            following = rng.choice(np.arange(least, states + ends), min(number, states), False)
            for successor in following.tolist():
                successors.append(successor)
                swapped = swaps and rng.random() < 0.3
                probabilities.append((-1 if swapped else 1) / len(following))
            transition_offsets.append(len(successors))
        choice_offsets.append(len(transition_offsets) - 1)
    choice_offsets += [choice_offsets[-1]] * ends
    return gamedp.Model.from_arrays(
        choice_offsets,
        transition_offsets,
        successors,
        probabilities,
        players=[int(rng.integers(players)) for _ in range(states)] + [0] * ends,
        terminals=list(range(states, states + ends)),
        payoffs=[float(number) for number in payoffs],
        num_players=players,
        constant_sum=float(total),
    )


def steps_of(model, choice):
    """Return (probability, successor, swapped) of each outcome of a choice."""
    row = slice(*model.transition_offsets[choice : choice + 2].tolist())
    pairs = zip(model.probabilities[row].tolist(), model.successors[row].tolist(), strict=True)
    return [(Fraction(abs(number)), successor, number < 0) for number, successor in pairs]


class Known(NamedTuple):
    value: Fraction
    length: Fraction


def enumerated(model, policy):
    """Return values and lengths in fractions, successors first, of an acyclic model."""
    total = Fraction(model.constant_sum)
    ends = dict(zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True))
    known = {}
    for state in reversed(range(model.num_states)):
        if state in ends:
            known[state] = Known(Fraction(ends[state]), Fraction(0))
            continue
        found = {
            choice: after(model, choice, known, total)
            for choice in range(*model.choice_offsets[state : state + 2].tolist())
        }
        side = 1 if model.players[state] == 0 else -1
        value = side * max(side * number.value for number in found.values())
        lengths = [number.length for number in found.values() if number.value == value]
        ahead = side * (value - total / 2)
        length = found[int(policy[state])].length
        if ahead:
            length = min(lengths) if ahead > 0 else max(lengths)
        known[state] = Known(value, length)
    return known


def after(model, choice, known, total):
    steps = steps_of(model, choice)
    value = sum(
        chance * (total - known[state].value if swapped else known[state].value)
        for chance, state, swapped in steps
    )
    return Known(value, 1 + sum(chance * known[state].length for chance, state, _ in steps))


@pytest.mark.parametrize("swaps", [False, True], ids=["", "swaps"])
@pytest.mark.parametrize("total", [0, 1])
def test_with_chance_lengths_are_those_of_enumeration(swaps, total):
    rng = np.random.default_rng(30 + total)
    changed = 0
    for _ in range(GAMES // 4):
        model = random_model(rng, states=int(rng.integers(3, 12)), swaps=swaps, total=total)
        solution = gamedp.solve(model)
        known = enumerated(model, solution.policy)
        for state in range(model.num_states):
            value, length = known[state]
            assert solution.plies(state) == pytest.approx(float(length), rel=1e-12)
            if model.is_terminal[state]:
                assert solution.best_action(state) is None
                continue
            first = int(model.choice_offsets[state])
            taken = after(model, first + solution.best_action(state), known, Fraction(total))
            assert taken == (value, length)
            for action in solution.quickest_actions(state):
                found = after(model, first + action, known, Fraction(total))
                assert found.value == value
                assert found.length == length or value == Fraction(total, 2)
            assert solution.best_action(state) in solution.best_actions(state)
            changed += int(solution.played[state]) != int(solution.policy[state])
    assert changed  # the policy alone would not do


def lengths_of_chain(model, policy):
    """Return in fractions how long play lasts from each state if it keeps to a policy."""
    size = model.num_states
    rows = [[Fraction(int(row == column)) for column in range(size + 1)] for row in range(size)]
    for state in range(size):
        if policy[state] >= 0:
            rows[state][size] = Fraction(1)
            for chance, successor, _ in steps_of(model, int(policy[state])):
                rows[state][successor] -= chance
    for place in range(size):
        pivot = next(row for row in range(place, size) if rows[row][place])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [number / rows[place][place] for number in rows[place]]
        for row in range(size):
            if row != place and rows[row][place]:
                factor = rows[row][place]
                rows[row] = [
                    one - factor * other for one, other in zip(rows[row], rows[place], strict=True)
                ]
    return [row[size] for row in rows]


@pytest.mark.parametrize("players", [1, 2])
def test_where_positions_come_again_nobody_would_rather_have_done_otherwise(players):
    rng = np.random.default_rng(7)
    seen = 0
    for _ in range(GAMES // 2):
        model = random_model(rng, states=int(rng.integers(3, 8)), cyclic=True, players=players)
        solution = gamedp.solve(model, tolerance=1e-12)
        if not np.isfinite([solution.plies(state) for state in range(model.num_states)]).all():
            continue  # a draw that may go on for ever
        values, lengths = exact_values(model), lengths_of_chain(model, solution.played)
        for state in range(model.num_states):
            assert solution.plies(state) == pytest.approx(float(lengths[state]), rel=1e-8)
            side = 1 if model.players[state] == 0 else -1
            ahead = side * values[state]
            for choice in range(*model.choice_offsets[state : state + 2].tolist()):
                steps = steps_of(model, choice)
                value = sum(chance * values[following] for chance, following, _ in steps)
                length = 1 + sum(chance * lengths[following] for chance, following, _ in steps)
                if choice == solution.played[state]:
                    assert value == values[state]
                if value == values[state] and ahead:
                    assert (length - lengths[state]) * (1 if ahead > 0 else -1) >= 0
                    seen += 1
    assert seen


def test_the_shortest_of_equally_cheap_ways():
    # Pay 2 at once, or 1 and 1: the same cost; to wait costs nothing.
    model = gamedp.Model.from_arrays(
        [0, 3, 4, 4],
        [0, 1, 2, 3, 4],
        [0, 1, 2, 2],
        [1.0] * 4,
        rewards=[0, 1, 2, 1],
        terminals=[2],
    )
    solution = gamedp.solve(model, gamedp.TotalReward("min", until=[2]))
    assert solution.best_action(0) == 2
    assert solution.plies(0) == 1.0


def test_who_is_to_reach_something_hurries_and_the_other_one_delays():
    # 0 to reach 3, soon or by way of 1; in 2 the other one is to move and may take the long way.
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 5, 5],
        [0, 1, 2, 3, 4, 5],
        [1, 3, 3, 3, 1],
        [1.0] * 5,
        players=[0, 0, 1, 0],
        terminals=[3],
        num_players=2,
    )
    solution = gamedp.solve(model, gamedp.Reachability([3]))
    assert [solution.best_action(state) for state in range(3)] == [1, 0, 1]
    assert [solution.plies(state) for state in range(4)] == [1.0, 1.0, 2.0, 0.0]


def three_ways(payoffs, **options):
    """Return a model with two short ways and a long one to an end each, in the order of payoffs."""
    return gamedp.Model.from_arrays(
        [0, 3, 4, 4, 4],
        [0, 1, 2, 3, 4],
        [1, 2, 3, 2],
        [1.0] * 4,
        terminals=[2, 3],
        payoffs=payoffs,
        **options,
    )


def test_what_is_better_by_little_is_not_given_up_for_length():
    for less in (1e-15, 1e-10, 1e-6):
        solution = gamedp.solve(three_ways([1.0, 1.0 - less]), tolerance=1e-5)
        assert solution.best_action(0) == 1  # as much as the long way, and not the least less


def test_a_draw_follows_the_policy():
    solution = gamedp.solve(three_ways([0.0, -1.0], num_players=2, players=[0, 1, 0, 0]))
    assert solution.played.tolist() == solution.policy.tolist()
    assert solution.quickest_actions(0) == [0, 1]


def test_without_a_measure_the_policy_is_played():
    model = three_ways([1.0, 0.0])
    horizon = gamedp.solve(model, gamedp.FiniteHorizon(3))
    discounted = gamedp.solve(model, gamedp.Discounted(0.5))
    for solution in (horizon, discounted):
        assert solution.played is solution.policy
        assert solution.plies(0) == np.inf
        assert solution.plies(2) == 0.0
    many = gamedp.Model.from_arrays(
        [0, 2, 3, 3],
        [0, 1, 2, 3],
        [1, 2, 2],
        [1.0] * 3,
        terminals=[2],
        payoffs=[[1.0, 0.0, 0.0]],
        num_players=3,
    )
    assert gamedp.solve(many).quickest_actions(0) == [gamedp.solve(many).best_action(0)]


def test_inside_a_stage_the_policy_is_played():
    solution = gamedp.solve(StagedWubbel(goal=12), compile="never")
    part = solution.inside(solution.model.state(int(solution.model.initial_states[0])))
    assert part.is_part
    assert part.played is part.policy


def test_large_models_keep_to_the_policy_and_say_so(monkeypatch, caplog):
    monkeypatch.setattr(plies, "MOST_TRANSITIONS", 3)
    solution = gamedp.solve(three_ways([1.0, 0.0]))
    with caplog.at_level("INFO", "gamedp"):
        assert solution.played is solution.policy
    assert "it is not found how long play lasts" in caplog.text


def test_cycles_that_take_too_long_keep_to_the_policy():
    # Up or down by chance between two ends: it takes many sweeps to know how long.
    size = 30
    successors = [end for state in range(1, size - 1) for end in (state - 1, state + 1)]
    model = gamedp.Model.from_arrays(
        [0, *range(size - 1), size - 2],
        list(range(0, 2 * size - 2, 2)),
        successors,
        [0.5] * len(successors),
        terminals=[0, size - 1],
        payoffs=[1.0, 2.0],
    )
    solution = gamedp.solve(model)
    assert solution.plies(10) == pytest.approx(10 * (size - 1 - 10), rel=1e-6)
    left = np.empty(size)
    structure = model.structure
    arguments = (
        structure.graph,
        model.probabilities,
        structure.order,
        structure.component_offsets,
        structure.nontrivial,
        np.ones(size, np.int8),
    )
    equal, policy = np.ones(model.num_choices, np.bool_), solution.policy.copy()
    visits = kernels.count_plies(*arguments, 500, equal, policy, left)
    assert 500 < visits < 700
    assert np.isinf(left[1:-1]).all()
    assert left[[0, -1]].tolist() == [0.0, 0.0]
    assert policy.tolist() == solution.policy.tolist()


def test_where_play_goes_on_for_ever_the_policy_is_kept():
    # To stay in 0 or 1 costs nothing, and each end something; from 2 it is shorter to 3.
    model = gamedp.Model.from_arrays(
        [0, 2, 3, 5, 5],
        [0, 1, 2, 3, 4, 5],
        [1, 3, 0, 0, 3],
        [1.0] * 5,
        rewards=[0, -1, 0, 0, -1],
        terminals=[3],
    )
    solution = gamedp.solve(model)
    assert [solution.plies(state) for state in range(4)] == [np.inf, np.inf, np.inf, 0.0]
    assert solution.played.tolist() == solution.policy.tolist() == [0, 2, 3, -1]


def test_compiled_and_plain_kernels_agree():
    rng = np.random.default_rng(11)
    for number in range(12):
        model = random_model(rng, states=12, cyclic=number % 3 > 0, swaps=number % 2 > 0)
        structure = model.structure
        hurry = rng.integers(-1, 2, model.num_states).astype(np.int8)
        results = []
        for kernel in (kernels.count_plies_jit, uncompiled(kernels.count_plies)):
            equal, left = np.ones(model.num_choices, np.bool_), np.empty(model.num_states)
            policy = np.where(model.is_terminal, -1, model.choice_offsets[:-1])
            visits = kernel(
                structure.graph,
                model.probabilities,
                structure.order,
                structure.component_offsets,
                structure.nontrivial,
                hurry,
                10_000,
                equal,
                policy,
                left,
            )
            assert (policy >= 0).tolist() == (~model.is_terminal).tolist()
            results.append((visits, equal.tolist(), policy.tolist(), left.tolist()))
        assert results[0] == results[1]


def test_lengths_are_found_when_asked_for_and_once(monkeypatch):
    calls = []

    def counting(*arguments):
        calls.append(1)
        return plies.plies_of(*arguments)

    monkeypatch.setattr("gamedp.results.solution.plies_of", counting)
    solution = gamedp.solve(three_ways([1.0, 0.0]))
    solution.best_actions(0)
    assert not calls
    for _ in range(3):
        solution.best_action(0)
    assert calls == [1]
