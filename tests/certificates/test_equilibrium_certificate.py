"""Certificates of equilibria: of three players and more, each for itself."""

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from forging import claimed, forged, refused, with_number
from hypothesis import given, settings, strategies as st
from search_games import Crowd, CrowdBounded, CrowdEarning

import gamedp
from gamedp.certificates.checking.choice_values import slices
from gamedp.certificates.checking.equilibrium import needed
from gamedp.errors import CertificateError, UnsupportedProblemError
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches

CROWDS = (Crowd, CrowdBounded, CrowdEarning)
EACH_CROWD = pytest.mark.parametrize("kind", CROWDS, ids=lambda kind: kind.__name__)
OPTIMA = pytest.mark.parametrize("optimum", ["max", "min"])


def crowd(kind=CrowdEarning, seed=3, optimum="max", num_players=3):
    game = kind(seed=seed, layers=4, width=3, num_players=num_players, dicey=True)
    return gamedp.solve(game, gamedp.TotalReward(optimum), compile="never")


def values_and_best_responses(model, certificate, optimum):
    """Return what the policy gives each player, and the most that each could get; in fractions."""
    size, players = model.num_states, range(model.num_players)
    values, best = [None] * size, [None] * size
    for end, payoffs in zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True):
        values[end] = best[end] = [Fraction(payoff) for payoff in payoffs]
    pick = max if optimum == "max" else min

    def after(choice, numbers, player):
        transitions = slice(*model.transition_offsets[choice : choice + 2].tolist())
        probabilities = [
            Fraction(probability) for probability in model.probabilities[transitions].tolist()
        ]
        mean = sum(
            probability * numbers[successor][player]
            for probability, successor in zip(
                probabilities, model.successors[transitions].tolist(), strict=True
            )
        )
        return Fraction(float(model.rewards[choice, player])) + mean / sum(probabilities)

    for state in model.structure.order.tolist():
        if values[state] is not None:
            continue
        choices = range(*model.choice_offsets[state : state + 2].tolist())
        own = int(certificate.evidence["policy"][state])
        values[state] = [after(own, values, player) for player in players]
        best[state] = [
            pick(after(choice, best, player) for choice in choices)
            if player == model.players[state]
            else after(own, best, player)
            for player in players
        ]
    return values, best


@EACH_CROWD
@OPTIMA
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), num_players=st.integers(3, 4))
def test_policies_are_certified(kind, optimum, seed, num_players):
    solution = crowd(kind, seed, optimum, num_players)
    assert solution.guarantee is gamedp.Guarantee.EQUILIBRIUM
    certificate = gamedp.certify(solution)
    verified = gamedp.verify(solution.model, certificate)
    assert verified.states == solution.model.num_states
    size = np.abs(solution.values).max()
    assert verified.width <= solution.width + 2.0**-44 * size
    values, best = values_and_best_responses(solution.model, certificate, optimum)
    for state in range(solution.model.num_states):
        for player in range(num_players):
            low, high = certificate.lower[state, player], certificate.upper[state, player]
            assert low <= values[state][player] <= high
            assert low <= best[state][player] <= high


def test_where_all_is_sure_the_bounds_are_the_value():
    solution = gamedp.solve(Mancala(players=3, pits=2, stones=2), compile="never")
    certificate = gamedp.certify(solution)
    assert gamedp.verify(solution.model, certificate).width == 0
    assert np.array_equal(certificate.lower, solution.lower)


def one_choice(payoffs, probabilities, num_players=3):
    """A model where player 0 may take a sure end, or one of several by chance."""
    count = len(payoffs)
    rows = [[payoff] * num_players for payoff in payoffs]
    return gamedp.Model.from_arrays(
        [0, 2, *[2] * count],
        [0, 1, 1 + len(probabilities)],
        list(range(1, count + 1)),
        [1.0, *probabilities],
        terminals=list(range(1, count + 1)),
        payoffs=rows,
        num_players=num_players,
    )


def test_near_ties_leave_a_gap():
    """A tenth of one and nine tenths of one are worth one, or a little more or less."""
    model = one_choice([1.0, 1.0, 1.0 + 2.0**-52], [0.1, 0.9])
    solution = gamedp.solve(model)
    certificate = gamedp.certify(solution)
    assert 0 < gamedp.verify(model, certificate).width < 1e-14
    least = needed(model, certificate, next(slices(model)), -1.0)
    assert (certificate.upper[0] >= -least[0]).all()


@EACH_CROWD
@OPTIMA
def test_any_number_moved_by_more_than_its_slack_is_refused(kind, optimum):
    solution = crowd(kind, optimum=optimum)
    model, certificate = solution.model, gamedp.certify(solution)
    ends = dict(zip(model.terminals.tolist(), model.payoffs.tolist(), strict=True))
    for sign, name in ((1.0, "lower"), (-1.0, "upper")):
        least = np.full(certificate.lower.shape, np.nan)
        for rows in slices(model):
            least[rows.movers] = sign * needed(model, certificate, rows, sign)
        for state in range(model.num_states):
            for player in range(model.num_players):
                place = (state, player)
                limit = ends[state][player] if state in ends else float(least[place])
                wrong = np.nextafter(limit, sign * np.inf)
                refused(model, with_number(certificate, name, place, wrong), name)
    for state in range(model.num_states):
        if state not in ends:
            wrong = with_number(certificate, "ranks", state, 0)
            refused(model, wrong, "does not lower the rank")
        else:
            highest = with_number(certificate, "ranks", state, 10**6)
            refused(model, highest, "does not lower the rank")
    refused(model, with_number(certificate, "ranks", 0, -1), r"ranks\[0\] is -1")


@OPTIMA
def test_a_choice_that_is_not_the_best_is_refused(optimum):
    solution = crowd(optimum=optimum)
    model, certificate = solution.model, gamedp.certify(solution)
    changed = 0
    for state in range(model.num_states):
        for choice in range(*model.choice_offsets[state : state + 2].tolist()):
            other = with_number(certificate, "policy", state, choice)
            transitions = slice(*model.transition_offsets[choice : choice + 2].tolist())
            means = (
                model.probabilities[transitions] @ solution.values[model.successors[transitions]]
            )
            means += model.rewards[choice]
            if np.abs(means - solution.values[state]).max() > 1e-9:
                refused(model, other, "not certified")
                changed += 1
            else:
                gamedp.verify(model, other)
    assert changed > 5


def test_a_policy_worth_what_is_said_that_is_no_equilibrium_is_refused():
    """What it gives is right; but the mover could have more."""
    model = one_choice([1.0, 0.0], [1.0])
    assert gamedp.verify(model, gamedp.certify(gamedp.solve(model))).width == 0
    worse = claimed(
        rules="equilibrium",
        objective=gamedp.TotalReward(),
        lower=np.array([[0.0] * 3, [1.0] * 3, [0.0] * 3]),
        upper=np.array([[0.0] * 3, [1.0] * 3, [0.0] * 3]),
        policy=np.array([1, -1, -1]),
        ranks=np.array([1, 0, 0]),
        digest=model.digest(),
    )
    refused(model, worse, r"upper\[0, 0\] = 0.0 of player 0 in 0 is not certified")
    # Within one it is.
    assert gamedp.verify(model, with_number(worse, "upper", (0, 0), 1.0)).width == 1
    least = forged(worse, objective=gamedp.TotalReward("min"))
    assert gamedp.verify(model, least).width == 0


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"digest": "0" * 64}, "of another model"),
        ({"lower": np.zeros(3)}, r"lower holds float64 of shape \(3,\)"),
        ({"upper": np.full((3, 3), np.nan)}, r"upper\[0, 0\] is nan"),
        ({"policy": np.array([2, -1, -1])}, r"policy\[0\] is 2; it must be a choice of the state"),
        ({"policy": np.array([0, -1, 1])}, r"policy\[2\] is 1"),
        ({"policy": np.zeros(3)}, "policy holds float64"),
        ({"ranks": np.array([1, 0])}, r"ranks holds int64 of shape \(2,\)"),
        ({"ranks": np.array([1, 1, 0])}, "does not lower the rank: it is 1, and .* is 1"),
        ({"objective": gamedp.Discounted(0.5)}, "for the total reward"),
    ],
)
def test_what_is_wrong_with_the_arrays_is_said(changes, match):
    model = one_choice([1.0, 0.0], [1.0])
    right = gamedp.certify(gamedp.solve(model))
    with pytest.raises((CertificateError, UnsupportedProblemError), match=match):
        gamedp.verify(model, forged(right, **changes))


def test_it_is_of_three_players_and_more():
    solution = gamedp.solve(Matches(), compile="never")
    model, certificate = solution.model, gamedp.certify(solution)
    two = claimed(
        rules="equilibrium",
        objective=gamedp.TotalReward(),
        lower=certificate.lower,
        upper=certificate.upper,
        policy=solution.policy,
        ranks=certificate.evidence["lower_ranks"],
        digest=model.digest(),
    )
    with pytest.raises(UnsupportedProblemError, match="payoffs of their own"):
        gamedp.verify(model, two)


def test_slices_do_not_matter(monkeypatch):
    solution = crowd()
    certificate = gamedp.certify(solution)
    for size in (1, 7, 100):
        monkeypatch.setattr("gamedp.certificates.checking.choice_values.SLICE", size)
        assert gamedp.verify(solution.model, certificate).states == solution.model.num_states
        assert np.array_equal(gamedp.certify(solution).upper, certificate.upper)


def test_a_long_game():
    """A bound for each of many steps, moved apart by rounding at every one."""
    steps = 5000
    model = gamedp.Model.from_arrays(
        np.append(2 * np.arange(steps + 1), 2 * steps),
        np.arange(0, 4 * steps + 1, 2),
        np.repeat(np.arange(1, steps + 1), 4),
        np.tile([0.3, 0.7], 2 * steps),
        rewards=np.tile([[0.1, 0.2, -0.3], [0.1, -0.2, 0.7]], (steps, 1)),
        players=np.append(np.arange(steps) % 3, 0),
        payoffs=[[0.1, 0.2, 0.3]],
        num_players=3,
    )
    solution = gamedp.solve(model)
    assert gamedp.verify(model, gamedp.certify(solution)).width <= 2 * solution.width + 1e-9


def test_they_are_saved_and_loaded(tmp_path):
    solution = crowd()
    certificate = gamedp.certify(solution)
    gamedp.save(certificate, tmp_path)
    loaded = gamedp.load(tmp_path)
    assert loaded.rules == "equilibrium"
    for other in (loaded, pickle.loads(pickle.dumps(certificate))):
        for name in ("lower", "upper", "policy", "ranks"):
            assert np.array_equal(certificate.array(name), other.array(name))
            assert not other.array(name).flags.writeable
        gamedp.verify(solution.model, other)


def test_the_command_line_verifies(run, tmp_path):
    game = ("--set", "players=3", "--set", "pits=2", "--set", "stones=2")
    proof = tmp_path / "proof"
    code, out, err = run("solve", "mancala", *game, "--certificate", proof)
    assert (code, err) == (0, "")
    assert f"proof in    {proof}" in out
    code, out, _ = run("verify", "mancala", proof, *game)
    assert code == 0
    assert "an equilibrium within the width" in out
    assert [line.split()[2:] for line in out.splitlines() if line.startswith("player")] == [
        ["5.0", "to", "5.0"],
        ["6.0", "to", "6.0"],
        ["1.0", "to", "1.0"],
    ]
    code, out, _ = run("verify", "mancala", proof, *game[:-1], "stones=1", "--json")
    assert code == 1
    assert not json.loads(out)["verified"]
