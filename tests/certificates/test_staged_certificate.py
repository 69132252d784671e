"""Certificates of staged games: what is proven is accepted, what is false is refused."""

import functools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest
from depth import first_of
from forging import claimed, forged, refused, with_number
from hypothesis import given, settings, strategies as st
from staged_games import Debts, Journey, Scores, StagedWubbel

import gamedp
from gamedp.certificates.checking import stages as checking
from gamedp.certificates.checking.choice_values import Rows, groups_of, means_below, sums_below
from gamedp.certificates.checking.stages import OVER, Stages
from gamedp.errors import CertificateError, InvalidModelError, UnsupportedProblemError
from gamedp.games.kniffel import Kniffel, Sheet
from gamedp.games.kniffel.duel import Duel
from gamedp.games.kniffel.remainder import Remainder
from gamedp.games.kniffel.targets import ForTotal
from gamedp.games.matches import Matches
from gamedp.testing.strategies import models

SMALL = Kniffel(dice=2, faces=2, throws=2, threshold=3)


def duel():
    """Two cards with two free boxes and one, played to win."""
    mine, his = (SMALL.all_boxes - sum(1 << box for box in free) for free in ((1, 5), (0,)))
    sides = Duel(SMALL, Sheet(0, mine, 0), Sheet(0, his, 0), compile="never")
    return sides.endgame(opponent_goal="victory").game


def card():
    """A card with three free boxes, played for a total."""
    sheet = Sheet(0, SMALL.all_boxes - (1 << 1) - (1 << 5) - (1 << 8), 0)
    return ForTotal.of(Remainder.of(SMALL, sheet), np.linspace(0, 1, 60) ** 2)


GAMES = {
    "a card": card,
    "debts": Debts,
    "two opponents": functools.partial(Journey, days=3, again=False),
    "contexts that lead to each other": functools.partial(Journey, days=3),
    "players who change places": functools.partial(StagedWubbel, 5),
    "a duel": duel,
}
EACH = pytest.mark.parametrize("name", GAMES)
OPTIMA = pytest.mark.parametrize("optimum", ["max", "min"])


@functools.cache
def game_of(name):
    return GAMES[name]()


class Remembering:
    """A sweeper that asks the rules only once where contexts lead to."""

    def __init__(self, sweeper):
        self.sweeper = sweeper
        self.known = {}

    def follow(self, codes):
        key = codes.tobytes()
        if key not in self.known:
            self.known[key] = self.sweeper.follow(codes)
        return self.known[key]

    def __getattr__(self, name):
        return getattr(self.sweeper, name)


@functools.cache
def certified(name, optimum="max"):
    model = gamedp.compile(game_of(name), compile="never")
    model = attrs.evolve(model, sweeper=Remembering(model.sweeper))
    solution = gamedp.solve(model, gamedp.TotalReward(optimum))
    return solution, gamedp.certify(solution)


# What is proven ----------------------------------------------------------------------------------


@EACH
@OPTIMA
def test_what_is_solved_is_certified(name, optimum):
    solution, certificate = certified(name, optimum)
    verified = gamedp.verify(solution.model, certificate)
    real = ~np.isnan(solution.values)
    played = real & (solution.errors > 0)
    assert verified.states == played.sum()
    assert verified.width == (certificate.upper - certificate.lower)[real].max()
    assert (np.isnan(certificate.lower) == ~real).all()
    size = np.abs(solution.values[real]).max()
    assert (certificate.lower >= solution.lower - 2.0**-44 * size)[real].all()
    assert (certificate.upper <= solution.upper + 2.0**-44 * size)[real].all()
    leads_round = name in ("contexts that lead to each other", "players who change places")
    assert ("weights" in certificate.evidence) == leads_round


@EACH
@OPTIMA
def test_the_truth_lies_between_the_bounds(name, optimum):
    solution, certificate = certified(name, optimum)
    model, begin = solution.model, game_of(name).stage().initial_state()
    flat = gamedp.compile(gamedp.stages.Flattened(game_of(name)), compile="never")
    truth = gamedp.solve(flat, solution.objective, gamedp.solvers.ExactPolicyIteration()).exact
    seen = 0
    for code in np.flatnonzero(solution.errors > 0).tolist():
        try:
            index, swapped = flat.index(gamedp.stages.Position(model.state(code), begin))
        except gamedp.errors.UnknownStateError:
            continue  # it cannot be reached from the start
        assert not swapped
        assert certificate.lower[code] <= truth[index] <= certificate.upper[code]
        seen += 1
    assert seen > 4


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes minutes in plain Python")
def test_wubbel_by_turns():
    solution = gamedp.solve(StagedWubbel(50), tolerance=1e-6)
    certificate = gamedp.certify(solution)
    assert gamedp.verify(solution.model, certificate).width <= solution.width
    code, _ = solution.model.index(Scores(0, 0, 0))
    assert certificate.lower[code] <= 0.537937288425229 <= certificate.upper[code]


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of(["a card", "contexts that lead to each other"]))
def test_compiled_and_plain_rules_are_the_same_model(name):
    solution, certificate = certified(name)
    compiled = gamedp.compile(game_of(name))
    assert compiled.digest() == solution.model.digest()
    assert gamedp.verify(compiled, certificate) == gamedp.verify(solution.model, certificate)


@pytest.mark.parametrize("name", ["two opponents", "players who change places"])
def test_slices_do_not_matter(name, monkeypatch):
    solution, certificate = certified(name)
    before = solution.model.digest()
    for block, many in ((1, 1), (1 << 10, 40), (1 << 30, 1 << 30)):
        monkeypatch.setattr(checking, "BLOCK", block)
        monkeypatch.setattr(checking, "ENDS_PER_QUERY", many)
        monkeypatch.setattr("gamedp.stages.model.ENDS_PER_QUERY", many)
        again = gamedp.compile(game_of(name), compile="never")
        assert again.digest() == before
        gamedp.verify(again, certificate)
        own = gamedp.certify(solution)
        assert np.array_equal(own.lower, certificate.lower, equal_nan=True)


@pytest.mark.parametrize("name", ["contexts that lead to each other", "players who change places"])
def test_large_ranks_are_asked_about_again_and_again(name, monkeypatch):
    """What the rules say is kept for small tiers alone; that makes no difference."""
    solution, certificate = certified(name)
    monkeypatch.setattr("gamedp.certificates.making.stages.MOST_KEPT", 0)
    own = gamedp.certify(solution)
    for array in ("lower", "upper", "weights"):
        assert np.array_equal(own.array(array), certificate.array(array), equal_nan=True)


def test_what_was_not_finished_claims_nothing():
    """A solver that stops at its limit has bounds where it was, and none elsewhere."""
    solver = gamedp.stages.StageInduction(max_sweeps=1)
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(StagedWubbel(5), solver=solver, compile="never")
    certificate = gamedp.certify(caught.value.solution)
    assert gamedp.verify(caught.value.solution.model, certificate).width == math.inf
    assert np.isneginf(certificate.lower).any()


# What a sweep of the checker says ----------------------------------------------------------------


def exact_stage(game, context, value_of_end, optimum, state=None):
    """Return what the stage is worth in a context, in fractions; None if no way is allowed."""
    stage = gamedp.rules.Rules(game.stage())
    rules = gamedp.rules.StagedRules(game)
    most = {0: optimum == "max", 1: optimum != "max"}

    @functools.cache
    def value(state):
        if stage.game.is_terminal(state):
            return value_of_end(state) if rules.call("allows", context, state) else None
        results = []
        for action in stage.game.actions(state):
            outcomes = list(stage.game.outcomes(state, action))
            after = [value(each) for _, each in outcomes]
            if None not in after:
                probabilities = [Fraction(probability) for probability, _ in outcomes]
                mean = sum(c * v for c, v in zip(probabilities, after, strict=True)) / sum(
                    probabilities
                )
                results.append(Fraction(stage.reward(state, action, 0)) + mean)
        pick = max if most[stage.player(state)] else min
        return pick(results) if results else None

    return value(stage.initial()[0][1])


@pytest.mark.parametrize("name", ["debts", "contexts that lead to each other", "a duel"])
@OPTIMA
@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 2**32))
def test_a_sweep_is_the_stage_rounded_down(name, optimum, seed):
    game, model = game_of(name), certified(name)[0].model
    stages, rules = Stages(model), gamedp.rules.StagedRules(game)
    random = np.random.default_rng(seed)
    low = random.normal(size=model.num_states) * 10.0 ** random.integers(-3, 4)
    bounds = (low, low + random.random(model.num_states))
    batch = next(stages.batches(random.permutation(stages.codes)[:4]))
    least = stages.context_values(batch, bounds, 1.0, optimum)
    most = -stages.context_values(batch, bounds, -1.0, optimum)
    for place, code in enumerate(batch.codes.tolist()):
        context = model.state(code)
        exact = []
        for own, other in (bounds, bounds[::-1]):

            def value_of_end(end, own=own, other=other, context=context):
                following, swapped = model.index(rules.call("following", context, end))
                number = Fraction(float((other if swapped else own)[following]))
                if swapped:
                    number = Fraction(model.constant_sum) - number
                return number + Fraction(rules.call("reward", context, end, 0))

            exact.append(exact_stage(game, context, value_of_end, optimum))
        size = np.abs(bounds).max() + 100
        assert least[place] <= exact[0] <= least[place] + 1e-13 * size
        assert exact[1] <= most[place] <= exact[1] + 1e-13 * size


@settings(deadline=None, max_examples=60)
@given(models(swaps=False), st.integers(0, 2**32))
def test_means_hold_for_all_probabilities_that_may_be_meant(model, seed):
    random = np.random.default_rng(seed)
    exponents = random.integers(-1074, 1000) + random.integers(-40, 20, (model.num_states, 3))
    block = np.ldexp(random.normal(size=(model.num_states, 3)), exponents)
    rows = Rows.of(model, np.arange(model.num_states))
    means = means_below(groups_of(rows), block)
    for choice in range(len(rows.choices)):
        transitions = slice(rows.starts[choice], rows.starts[choice] + rows.counts[choice])
        probabilities = [
            Fraction(probability) for probability in rows.probabilities[transitions].tolist()
        ]
        for column in range(3):
            bounds = [Fraction(x) for x in block[rows.successors[transitions], column].tolist()]
            # All products as low as they can be, though then the probabilities need not sum to one.
            least = sum(
                x * (1 if len(probabilities) == 1 else p + (-1 if x > 0 else 1) * 2 * _ulp(p))
                for p, x in zip(probabilities, bounds, strict=True)
            )
            assert means[choice, column] <= least
            size = sum(abs(x) for x in bounds)
            assert means[choice, column] >= least - size * Fraction(1, 2**44) - Fraction(1, 2**1060)


def _ulp(number):
    return Fraction(math.ulp(float(number)))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e300, 1e300))
def test_sums_are_rounded_down(one, other):
    with np.errstate(all="ignore"):
        total = float(sums_below(np.array([one]), np.array([other]))[0])
    assert math.isinf(total) or Fraction(total) <= Fraction(one) + Fraction(other)
    if one + other == Fraction(one) + Fraction(other):
        assert total == one + other


# What is false -----------------------------------------------------------------------------------


def some_contexts(batch):
    """Return up to eight contexts, with their places."""
    places = np.unique(np.linspace(0, len(batch.codes) - 1, 8).astype(int))
    return zip(places.tolist(), batch.codes[places].tolist(), strict=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    first_of([(name, optimum) for optimum in ("max", "min") for name in GAMES], -1),
    ids="-".join,
)
def test_any_number_moved_by_more_than_its_slack_is_refused(case):
    """Each bound moved inward, where it would claim more; each weight moved down."""
    name, optimum = case
    solution, certificate = certified(name, optimum)
    model, stages = solution.model, Stages(solution.model)
    bounds = (certificate.lower, certificate.upper)
    numbers = 0
    for code in np.flatnonzero(stages.order == OVER)[:8].tolist():
        for sign, which in ((1, "lower"), (-1, "upper")):
            wrong = np.nextafter(stages.payoffs[code], sign * np.inf)
            refused(model, with_number(certificate, which, code, wrong), "the game is over there")
            numbers += 1
    for batch in stages.batches(stages.codes):
        for sign, which in ((1.0, "lower"), (-1.0, "upper")):
            found = sign * stages.context_values(batch, bounds, sign, optimum)
            for place, code in some_contexts(batch):
                slack = found[place] - certificate.array(which)[code]
                # A context that leads to itself is worth more by a part of what it is moved by.
                wrong = found[place] + sign * (8 * abs(slack) + 1e-12)
                assert math.isfinite(wrong)
                match = rf"{which}\[{code}\] = .* is not certified|{which}\[\d+\] = .* certified"
                refused(model, with_number(certificate, which, code, wrong), match)
                numbers += 1
        if "weights" not in certificate.evidence:
            continue
        least = stages.stages_to_come(batch, certificate.evidence["weights"])
        for place, code in some_contexts(batch):
            if batch.stays[:, place].any():
                above = certificate.evidence["weights"][code] - least[place]
                wrong = least[place] - 8 * above - 1e-12
                refused(model, with_number(certificate, "weights", code, wrong), "weights")
            else:
                refused(model, with_number(certificate, "weights", code, 0.999), "weights")
            numbers += 1
    assert numbers >= 2 * min(15, len(stages.codes))


@EACH
def test_of_another_model(name):
    solution, certificate = certified(name)
    others = [
        Kniffel(dice=2, faces=2, throws=2, threshold=4),
        Journey(days=2),
        Journey(days=3, again=name == "two opponents"),
        StagedWubbel(6),
    ]
    for other in others:
        refused(gamedp.compile(other, compile="never"), certificate, "of another model")
    refused(solution.model, forged(certificate, digest="0" * 64), "of another model")
    matches = gamedp.solve(Matches(), compile="never")
    refused(matches.model, certificate, "one of them is of a staged game")
    refused(solution.model, gamedp.certify(matches), "one of them is of a staged game")


class Round(NamedTuple):
    """Which side of the circle one is on."""

    side: int


class Coin(NamedTuple):
    """What has been chosen; -1 at first."""

    choice: int


@attrs.frozen
class Choosing:
    """Choose between going on and leaving."""

    def initial_state(self):
        return Coin(-1)

    def is_terminal(self, state):
        return state.choice >= 0

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 1.0, Coin(action)

    def payoff(self, state, player):
        return 0.0


@attrs.frozen
class Circle:
    """Leave for 3/4, or go to the other side of the circle: one may go round for ever."""

    rises: bool = False

    def stage(self):
        return Choosing()

    def box(self):
        return {"side": (0, 2)}

    def initial_state(self):
        return Round(0)

    def is_terminal(self, context):
        return context.side == 2

    def payoff(self, context, player):
        return 0.75

    def following(self, context, end):
        return Round(1 - context.side if end.choice == 0 else 2)

    def tier(self, context):
        return context.side if self.rises else 0


def claimed_by_hand(model, lower, upper, weights=None):
    return claimed(
        rules="stages",
        objective=gamedp.TotalReward(),
        lower=np.array([*lower, 0.75]),
        upper=np.array([*upper, 0.75]),
        weights=None if weights is None else np.array([*weights, 1.0]),
        digest=model.digest(),
    )


@pytest.mark.parametrize("weights", [(1.0, 1.0), (2.0, 3.0), (1e300, 1e300)])
@pytest.mark.parametrize("value", [0.75, 1.0])
def test_to_be_worth_what_the_next_context_is_worth_is_no_proof(weights, value):
    model = gamedp.compile(Circle(), compile="never")
    refused(
        model, claimed_by_hand(model, [value] * 2, [value] * 2), "may lead to a context of its own"
    )
    refused(
        model,
        claimed_by_hand(model, [value] * 2, [value] * 2, weights),
        "do not show that play leaves",
    )
    nothing = claimed_by_hand(model, [-np.inf] * 2, [np.inf] * 2)
    assert gamedp.verify(model, nothing).width == np.inf


@pytest.mark.parametrize("helps", [(True, False), (False, True), (True, True)])
def test_weights_count_that_either_player_may_keep_play_going(helps):
    """Weights that do only if one player, or both, play to leave the tier are refused."""
    solution, certificate = certified("contexts that lead to each other")
    stages = Stages(solution.model)
    weights = np.ones_like(certificate.evidence["weights"])
    for _ in range(200):
        for batch in stages.batches(stages.codes):
            ends = np.where(batch.stays, -weights[batch.following], 0.0)
            ends[~batch.allowed] = np.nan
            weights[batch.codes] = 1 - stages.lattice.sweep(ends, 0.0, helps)
    weights = 1 + (weights - 1) * (1 + 1e-9)
    assert (weights <= certificate.evidence["weights"] * (1 + 1e-6)).all()
    assert (weights < certificate.evidence["weights"] - 1e-3).any()
    wrong = forged(certificate, weights=weights)
    refused(solution.model, wrong, r"weights\[\d+\] = .* do not show that play leaves")


def test_where_play_may_go_on_for_ever_nothing_is_certified():
    solution = gamedp.solve(Circle(), compile="never")
    assert solution.guarantee is gamedp.Guarantee.NONE
    with pytest.raises(UnsupportedProblemError, match="NONE"):
        gamedp.certify(solution)


def test_a_rank_that_rises_is_no_rank():
    model = gamedp.compile(Circle(rises=True), compile="never")
    with pytest.raises(InvalidModelError, match="leads to one of a higher tier"):
        gamedp.verify(model, claimed_by_hand(model, [0.75] * 2, [0.75] * 2))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"lower": np.zeros(3)}, r"lower holds float64 of shape \(3,\)"),
        ({"upper": "nothing"}, "upper holds str"),
        ({"weights": np.ones(3)}, r"weights holds float64 of shape \(3,\)"),
        ({"objective": gamedp.Discounted(0.5)}, "for the total reward"),
        ({"objective": gamedp.TotalReward(until=[0])}, "for the total reward"),
    ],
)
def test_what_is_wrong_with_the_arrays_is_said(changes, match):
    solution, certificate = certified("a card")
    with pytest.raises((CertificateError, UnsupportedProblemError), match=match):
        gamedp.verify(solution.model, forged(certificate, **changes))


@pytest.mark.parametrize(
    ("name", "number"),
    [("lower", np.nan), ("upper", np.nan), ("lower", np.inf), ("upper", -np.inf)],
)
def test_numbers_that_are_none_are_named(name, number):
    solution, certificate = certified("a card")
    code = int(np.flatnonzero(solution.errors > 0)[0])
    wrong = with_number(certificate, name, code, number)
    refused(solution.model, wrong, rf"{name}\[{code}\] is {number}; it must be a finite number")
    nowhere = int(np.flatnonzero(np.isnan(solution.values))[0])
    wrong = with_number(certificate, name, nowhere, 1.0)
    refused(solution.model, wrong, rf"{name}\[{nowhere}\] is 1.0; .* nan where there is no context")


@pytest.mark.parametrize("number", [np.nan, np.inf, 0.5])
def test_weights_are_finite_and_one_at_least(number):
    solution, certificate = certified("players who change places")
    code = int(np.flatnonzero(solution.errors > 0)[0])
    wrong = with_number(certificate, "weights", code, number)
    refused(solution.model, wrong, rf"weights\[{code}\] is {number}; it must be finite, 1 or more")


# On disk, and from the command line --------------------------------------------------------------


def same_weights(one, other):
    for name in ("lower", "upper", "weights"):
        a, b = one.array(name), other.array(name)
        assert (a is None) == (b is None)
        if a is not None:
            assert np.array_equal(a, b, equal_nan=True)
            assert not b.flags.writeable
    assert (one.objective, one.digest) == (other.objective, other.digest)


@pytest.mark.parametrize("name", ["a card", "players who change places"])
def test_they_are_saved_and_loaded(name, tmp_path):
    solution, certificate = certified(name, "min")
    gamedp.save(certificate, tmp_path / "proof")
    loaded = gamedp.load(tmp_path / "proof")
    assert loaded.rules == "stages"
    same_weights(certificate, loaded)
    same_weights(certificate, pickle.loads(pickle.dumps(certificate)))
    gamedp.save(solution, tmp_path / "solution")
    again = gamedp.load(tmp_path / "solution", game=solution.model.rules.game)
    assert again.model.digest() == certificate.digest
    gamedp.verify(again.model, loaded)
    same_weights(gamedp.certify(again), certificate)


def test_the_command_line_verifies(run, tmp_path):
    name = f"{Path(__file__).parents[1] / 'helpers' / 'staged_games.py'}:StagedWubbel"
    game = ("--set", "goal=4")
    saved, proof = tmp_path / "solution", tmp_path / "proof"
    code, out, err = run("solve", name, *game, "--save", saved, "--certificate", proof)
    assert (code, err) == (0, "")
    assert f"proof in    {proof}" in out
    code, out, _ = run("verify", name, proof, *game)
    assert code == 0
    assert "verified    For every context" in out
    assert "contexts," in out
    start = next(line for line in out.splitlines() if line.startswith("start"))
    low, high = (float(number) for number in start.removeprefix("start").split(" to "))
    least, most = gamedp.solve(StagedWubbel(4), compile="never").bounds()
    assert least <= low <= high <= most
    code, out, _ = run("verify", saved, proof, "--json", "--game", name, *game)
    assert code == 0
    assert json.loads(out)["verified"]
    code, out, err = run("verify", name, proof, "--set", "goal=5", "--json")
    assert code == 1
    assert not json.loads(out)["verified"]
    assert "of another model" in err
