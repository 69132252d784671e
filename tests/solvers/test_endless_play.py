"""Games that could go on for ever: what that counts, and where it does not matter."""

import json
from fractions import Fraction

import attrs
import numba
import numpy as np
import pytest
from depth import first_of
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from solving import solve_best_effort
from staged_games import Roll, Scores, StagedWubbel, WubbelTurn

import gamedp
from gamedp.certificates.certificate import widest
from gamedp.certificates.checking.stages import Stages
from gamedp.games.wubbel import ROLL, SAVE
from gamedp.graph import end_components
from gamedp.solvers.tools import endless_play
from gamedp.storage import folder as folders
from gamedp.testing import exact_values
from gamedp.testing.models import Pig

COMPILED = not numba.config.DISABLE_JIT

relaxed = settings(
    max_examples=60 if COMPILED else 12, deadline=None, suppress_health_check=list(HealthCheck)
)
DRAWS = (0.0, 0.25, 0.5, 1.0, -1.0, 3.0)


@st.composite
def games_without_end(draw, swaps=False):
    """Draw a game of two ends that adds up to 1, in which much play need not end."""
    inner = draw(st.integers(1, 2 if swaps else 4))
    total = inner + 2
    choices, offsets, successors, probabilities = [0], [0], [], []
    for _ in range(inner):
        for _ in range(draw(st.integers(1, 3))):
            leaves = draw(st.booleans())
            targets = draw(st.lists(st.integers(0, inner - 1), min_size=not leaves, max_size=2))
            targets += [inner, inner + 1][: draw(st.integers(1, 2))] if leaves else []
            weights = [draw(st.integers(1, 3)) for _ in targets]
            successors += targets
            probabilities += [
                weight / sum(weights) * (draw(st.sampled_from([-1, 1])) if swaps else 1)
                for weight in weights
            ]
            offsets.append(len(successors))
        choices.append(len(offsets) - 1)
    return gamedp.Model.from_arrays(
        choices + [choices[-1]] * (total - inner),
        offsets,
        successors,
        probabilities,
        players=[draw(st.integers(0, 1)) for _ in range(total)],
        terminals=range(inner, total),
        payoffs=draw(st.sampled_from([[1.0, 0.0], [0.0, 1.0], [0.25, 1.0], [-0.5, 2.0]])),
        num_players=2,
        constant_sum=1.0,
    )


def assert_within(solution, truth):
    for low, value, high in zip(
        solution.lower.tolist(), truth, solution.upper.tolist(), strict=True
    ):
        assert low <= value <= high


@relaxed
@given(games_without_end(), st.sampled_from(["max", "min"]))
def test_whatever_play_without_end_counts(model, optimum):
    objective = gamedp.TotalReward(optimum)
    assume(gamedp.Problem(model, objective).draws[0] != gamedp.Problem(model, objective).draws[1])
    solution = solve_best_effort(model, objective, tolerance=1e-7)
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    low, high = float(model.payoffs.min()), float(model.payoffs.max())
    truths = [
        exact_values(model, attrs.evolve(objective, draw=low + (high - low) * part))
        for part in (0, 0.3, 1)
    ]
    for truth in truths:
        assert_within(solution, truth)
    if truths[0] == truths[-1]:
        assert solution.status is gamedp.Status.SOLVED
        assert solution.width <= 1e-7
        assert_within(gamedp.certify(solution), truths[0])
        for player in (0, 1):
            got = exact_values(model, objective, policy=solution.policy.tolist(), player=player)
            for attained, best in zip(got, truths[0], strict=True):
                assert abs(attained - best) <= Fraction(1, 10**6)
    else:
        assert solution.status is gamedp.Status.UNDECLARED
        for bounds, truth in ((solution.lower, truths[0]), (solution.upper, truths[-1])):
            assert bounds == pytest.approx([float(value) for value in truth], abs=1e-6)


@relaxed
@given(games_without_end(), st.sampled_from(["max", "min"]), st.sampled_from(DRAWS))
def test_declared_draws(model, optimum, draw):
    objective = gamedp.TotalReward(optimum, draw=draw)
    assume(not model.structure.always_ends)
    truth = exact_values(model, objective)
    for solver in (
        None,
        gamedp.solvers.TopologicalValueIteration(),
        gamedp.solvers.StrategyIteration(),
    ):
        solution = solve_best_effort(model, objective, solver, tolerance=1e-7)
        assert solution.status is gamedp.Status.SOLVED
        assert_within(solution, truth)
        assert solution.width <= 1e-7
        certificate = gamedp.certify(solution)
        assert_within(certificate, truth)
        assert f"{draw:g}" in gamedp.verify(model, certificate).claim


@relaxed
@given(games_without_end(swaps=True), st.sampled_from(["max", "min"]))
def test_who_changes_places_shares_the_constant(model, optimum):
    objective = gamedp.TotalReward(optimum)
    assume(model.has_swaps and not model.structure.always_ends)
    truth = exact_values(model, objective)
    assert truth == exact_values(model, attrs.evolve(objective, draw=0.5))
    solution = solve_best_effort(model, objective, tolerance=1e-7)
    assert solution.status is gamedp.Status.SOLVED
    assert_within(solution, truth)
    assert_within(gamedp.certify(solution), truth)


@pytest.mark.slow
@pytest.mark.parametrize("options", first_of([{}, {"loss": -1.0}, {"throws": True}], 2))
def test_pig_as_its_rules_read(options):
    """The chance to win is 0.5306 (T. Neller, C. Presser, The UMAP Journal 25, 2004).

    For a goal of 6 there is a formula.
    """
    game = Pig(100 if COMPILED else 6, **options)
    solution = gamedp.solve(game, compile="auto" if COMPILED else "never")
    assert solution.status is gamedp.Status.SOLVED
    assert isinstance(solution.solver, gamedp.solvers.TopologicalValueIteration)
    low, high = ((bound - game.loss) / (1 - game.loss) for bound in solution.bounds())
    value = 0.530592725273747 if COMPILED else Pig(6).exact()
    assert low - 1e-12 <= value <= high + 1e-12
    assert high - low <= 1e-6
    assert solution.statistics.sweeps <= 10


def test_a_method_that_proves_nothing_does_not_say_what_the_value_depends_on():
    """It does not depend on what endless play counts: the formula holds whatever that is."""
    solution = gamedp.solve(Pig(6), solver="value-iteration", compile="never")
    assert solution.guarantee is gamedp.Guarantee.NONE
    assert solution.status is gamedp.Status.UNPROVEN
    assert solution.value() == pytest.approx(float(Pig(6).exact()), abs=1e-4)
    assert solution.bounds() == (-np.inf, np.inf)


def test_maximal_end_components_are_not_searched_for_in_vain(monkeypatch):
    """That there is one is seen soon, and that there is none by the policies."""
    sought = []
    monkeypatch.setattr(end_components, "maximal_end_components_jit", lambda *_: sought.append(1))
    solution = gamedp.solve(Pig(6), compile="never")
    assert solution.status is gamedp.Status.SOLVED
    assert not sought


def test_ends_are_forced_in_an_order_that_does_not_suit(monkeypatch):
    """Two who may pass to each other are each at the far end of a walk, to and fro by chance.

    The search goes forth on one of them, so that each sweep drops one more state there.
    """
    length, calls = end_components.SWEEPS + 4, []
    first, second = 2 * length + 1, 2 * length + 2
    won, lost = second + 1, second + 2
    rows = [[[1, length + 1, won, lost]]]
    for near, far, end in ((1, first, won), (length + 1, second, lost)):
        walk = [*range(near, near + length), far]
        rows += [[[0, near + 1, end]]]
        rows += [[[before, after]] for before, after in zip(walk, walk[2:], strict=False)]
    rows += [[[length], [second]], [[2 * length], [first]]]
    choices = [choice for row in rows for choice in row]
    model = gamedp.Model.from_arrays(
        np.cumsum([0, *map(len, rows), 0, 0]),
        np.cumsum([0, *map(len, choices)]),
        [state for choice in choices for state in choice],
        [1 / len(choice) for choice in choices for _ in choice],
        players=[0] * second + [1, 0, 0],
        terminals=[won, lost],
        payoffs=[1.0, 0.0],
        num_players=2,
        constant_sum=1.0,
    )
    look = endless_play._makes_an_end
    monkeypatch.setattr(
        endless_play, "_makes_an_end", lambda *given: calls.append(given) or look(*given)
    )
    solution = gamedp.solve(model)
    assert solution.status is gamedp.Status.SOLVED
    assert isinstance(solution.solver, gamedp.solvers.TopologicalValueIteration)
    assert len(calls) == 2
    for draw in (0.0, 1.0):
        assert_within(solution, exact_values(model, gamedp.TotalReward(draw=draw)))


def test_the_certificate_of_pig_says_that_it_does_not_matter():
    solution = gamedp.solve(Pig(6), compile="never")
    claim = gamedp.verify(solution.model, gamedp.certify(solution)).claim
    assert claim.endswith("between lower and upper, whatever endless play counts from 0.0 to 1.0.")


def passing(probability):
    """In 0 and 1 one may pass, or take a chance to win."""
    return gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 3, 4, 6],
        [1, 2, 3, 0, 2, 3],
        [1.0, probability, 1 - probability, 1.0, 1 - probability, probability],
        players=[0, 1, 0, 0],
        terminals=[2, 3],
        payoffs=[1.0, 0.0],
        num_players=2,
        constant_sum=1.0,
    )


def test_where_it_matters_it_is_said():
    """Nobody wants to take a chance of 1/4."""
    model = passing(0.25)
    with pytest.raises(
        gamedp.NotSolvedError, match=r"from 0 it is 0\.25 if that is 0, and 0\.75 if"
    ):
        gamedp.solve(model)
    with pytest.raises(gamedp.NotSolvedError, match=r"TotalReward\(draw=0\.5\)") as caught:
        gamedp.solve(model)
    solution = caught.value.solution
    assert solution.status is gamedp.Status.UNDECLARED
    assert solution.bounds() == pytest.approx((0.25, 0.75), abs=1e-6)
    gamedp.verify(model, gamedp.certify(solution))
    assert "not declared" in gamedp.explain(model)
    for draw, value in ((0.1, 0.25), (0.5, 0.5), (0.9, 0.75)):
        solution = gamedp.solve(model, gamedp.TotalReward(draw=draw))
        assert solution.value() == pytest.approx(value, abs=1e-6)
    for solver in (gamedp.solvers.StrategyIteration(), gamedp.solvers.TopologicalValueIteration()):
        problem = gamedp.Problem(model)
        with pytest.raises(gamedp.UnsupportedProblemError, match="needs to know what endless play"):
            solver.solve(problem, tolerance=1e-6)


@pytest.mark.parametrize("probability", [0.5625, 0.75])
def test_where_it_does_not_matter_it_is_proven(probability):
    model = passing(probability)
    solution = gamedp.solve(model)
    assert solution.status is gamedp.Status.SOLVED
    assert solution.value() == pytest.approx(probability)
    assert "first checks whether" in gamedp.explain(model)
    relative = gamedp.solve(model, tolerance=1e-9, relative=True)
    assert relative.value() == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize(("draw", "message"), [
    (float("nan"), "must be a finite number"),
    ("half", "must be a finite number"),
    (2**53 + 1, "that a 64-bit float holds"),
])  # fmt: skip
def test_a_draw_is_a_number(draw, message):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
        gamedp.TotalReward(draw=draw)


def test_a_draw_has_its_place():
    with pytest.raises(gamedp.errors.InvalidParameterError, match="counts plus infinity"):
        gamedp.TotalReward(until=[0], draw=0.5)
    model = attrs.evolve(passing(0.5), rewards=passing(0.5).rewards + 1)
    with pytest.raises(gamedp.UnsupportedProblemError, match="payoffs at the end alone"):
        gamedp.solve(model, gamedp.TotalReward(draw=0.5))


@pytest.mark.parametrize("swap", [-1.0, 1.0])
def test_half_of_the_smallest_number_is_refused(swap):
    """It would be rounded to 0, and each player said to get nothing of a sum that is not 0."""
    arrays = ([0, 1, 2], [0, 2, 3], [0, 1, 1], [0.5, swap * 0.5, 1.0])
    model = gamedp.Model.from_arrays(*arrays, num_players=2, constant_sum=5e-324)
    with pytest.raises(gamedp.UnsupportedProblemError, match="half of constant_sum=5e-324"):
        gamedp.solve(model)
    twice = attrs.evolve(model, constant_sum=1e-323)
    assert gamedp.solve(twice).bounds() == (5e-324, 5e-324)
    if swap > 0:  # until a target, endless play does not count that
        low, high = gamedp.solve(model, gamedp.TotalReward(until=[1])).bounds()
        assert low <= 0 <= high < 1e-300


def test_folders_of_before_have_their_draw_in_the_objective(tmp_path):
    """Retrograde had an option for it, and certificates a field."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[0.0],
        num_players=2, constant_sum=1.0,
    )  # fmt: skip
    objective = gamedp.TotalReward(draw=0.5)
    solution = gamedp.solve(model, objective)
    certificate = gamedp.certify(solution)
    for saved, name, noun in (
        (solution, "solution", "solution"),
        (certificate, "proof", "certificate"),
    ):
        gamedp.save(saved, tmp_path / name)
        path = tmp_path / name / "manifest.json"
        manifest = json.loads(path.read_text())
        content = manifest["content"]
        del content["objective"]["fields"]["draw"]
        if name == "solution":
            content["solver"]["fields"] = {"draw": None}
        else:
            content["draw"] = 0.5
        path.write_text(folders._manifest_text(manifest["gamedp"], content, noun))
    loaded = gamedp.load(tmp_path / "solution")
    assert loaded.objective == objective
    assert loaded.solver == gamedp.solvers.Retrograde()
    assert gamedp.load(tmp_path / "proof").objective == objective
    gamedp.verify(loaded.model, gamedp.load(tmp_path / "proof"))


@pytest.fixture(scope="module")
def long_stages():
    """Who rolls on for ever hardly ever saves there."""
    return gamedp.solve(StagedWubbel(120))


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="15,000 contexts take minutes in plain Python")
def test_stages_that_a_reckless_player_need_not_leave(long_stages):
    """Nobody must roll on for ever."""
    solution = long_stages
    assert solution.status is gamedp.Status.SOLVED
    low, high = solution.bounds()
    assert low <= 0.524153164697172 <= high  # of the ordinary game
    assert high - low <= 1e-8
    assert solution.statistics.sweeps <= 30


@pytest.mark.skipif(not COMPILED, reason="15,000 contexts take minutes in plain Python")
def test_the_certificate_of_such_stages_takes_few_sweeps(long_stages, monkeypatch):
    """Weights for reckless play are large; a few sweeps show that there are some."""
    solution, calls = long_stages, []
    look = Stages.stages_to_come
    monkeypatch.setattr(
        Stages, "stages_to_come", lambda *given: calls.append(given) or look(*given)
    )
    certificate = gamedp.certify(solution)
    assert widest(certificate) <= 1e-7
    code, _ = solution.model.index(Scores(0, 0, 0))
    assert certificate.lower[code] <= 0.524153164697172 <= certificate.upper[code]
    batches = len(list(Stages(solution.model).batches(solution.model.sweeper.survey().codes)))
    assert len(calls) <= 10 * batches


class IdleTurn(WubbelTurn):
    """A turn in which one may save at once, which is nothing."""

    def actions(self, state):
        if state.turn < self.goal:
            yield ROLL
        yield SAVE

    def outcomes(self, state, action):
        if action == SAVE:
            yield 1.0, Roll(max(state.turn, 0), True)
        else:
            yield from super().outcomes(state, action)


class IdleWubbel(StagedWubbel):
    """Wubbel by turns in which both players could do nothing for ever."""

    def stage(self):
        return IdleTurn(self.goal)


def test_stages_that_nobody_must_leave_have_no_certificate_and_say_why():
    solution = gamedp.solve(IdleWubbel(7), compile="never")
    ordinary = gamedp.solve(StagedWubbel(7), compile="never")
    assert solution.status is gamedp.Status.SOLVED
    low, high = solution.bounds()
    least, most = ordinary.bounds()
    assert low <= most
    assert least <= high
    assert high - low <= 1e-6
    with pytest.raises(
        gamedp.errors.CertificateError, match="no weights show that play leaves the tier"
    ):
        gamedp.certify(solution)


EXACT = gamedp.solvers.ExactPolicyIteration()
THIRD, LARGE = Fraction(1, 3), 10**17 + 1


def waits_or_leaves(payoff, sign=1, **keywords):
    """Return a model: wait for ever, or leave for the payoff at even odds each time."""
    return gamedp.Model.from_arrays(
        [0, 2, 2],
        [0, 1, 3],
        [0, 0, 1],
        [sign * 1.0, 0.5, 0.5],
        terminals=[1],
        payoffs=[payoff],
        **keywords,
    )


@pytest.mark.parametrize("solver", [None, EXACT])
@pytest.mark.parametrize("draw", [0.5, -1.0, 1e-17, 1e-300, -3.0])
@pytest.mark.parametrize("payoff", [-THIRD, THIRD, LARGE, 0.1])
def test_payoffs_less_a_draw_are_not_rounded(payoff, draw, solver):
    model = waits_or_leaves(payoff)
    solution = gamedp.solve(model, gamedp.TotalReward(draw=draw), solver, tolerance=1e3)
    truth = max(Fraction(payoff), Fraction(draw)), Fraction(payoff)
    for state in range(2):
        low, high = solution.bounds(state)
        assert low <= truth[state] <= high
    if solver is None:
        assert solution.exact is None
    else:
        assert solution.exact == truth
        assert all(np.nextafter(low, np.inf) >= high for low, high in map(solution.bounds, (0, 1)))
    uniform = gamedp.Policy.uniform(model)
    low, high = gamedp.evaluate(model, uniform, gamedp.TotalReward(draw=draw)).bounds()
    assert low <= Fraction(payoff) <= high
    assert gamedp.verify(model, gamedp.certify(solution)).width <= 1e3


@pytest.mark.parametrize("solver", [None, EXACT])
@pytest.mark.parametrize("total", [1.0, 1e-300])
def test_swaps_with_payoffs_that_are_no_doubles(total, solver):
    model = waits_or_leaves(THIRD, sign=-1, num_players=2, constant_sum=total)
    solution = gamedp.solve(model, solver=solver)
    truth = max(THIRD, Fraction(total) / 2), THIRD
    for state in range(2):
        low, high = solution.bounds(state)
        assert low <= truth[state] <= high
    assert (solution.exact == truth) == (solver is EXACT)


@pytest.mark.parametrize("solver", [None, EXACT])
def test_undeclared_draws_with_payoffs_that_are_no_doubles(solver):
    """To wait is for the loser to try, and the other may go back: it settles nothing."""
    model = gamedp.Model.from_arrays(
        [0, 2, 4, 4, 4],
        [0, 1, 3, 4, 6],
        [1, 2, 3, 0, 2, 3],
        [1.0, Fraction(3, 5), Fraction(2, 5), 1.0, Fraction(3, 10), Fraction(7, 10)],
        players=[0, 1, 0, 0],
        terminals=[2, 3],
        payoffs=[1 - THIRD, THIRD],
        num_players=2,
        constant_sum=1.0,
    )
    solution = gamedp.solve(model, solver=solver)
    low, high = solution.bounds(0)
    assert low <= Fraction(8, 15) <= high
    if solver is EXACT:
        assert solution.best_actions(0, certain=True) == [1]


def test_differences_of_floats_are_not_solved_as_if_they_were_given_as_fractions():
    """Rational numbers would prove nothing of a tenth that is a rounded probability."""
    model = gamedp.Model.from_arrays(
        [0, 2, 2, 2], [0, 1, 4], [0, 0, 1, 2], [1.0, 0.1, 0.6, 0.3], payoffs=[0.01, 0.9]
    )
    with pytest.raises(gamedp.NotSolvedError, match="rounding") as caught:
        gamedp.solve(model, gamedp.TotalReward(draw=0.3), tolerance=1e-18)
    assert caught.value.solution.exact is None


def test_payoffs_less_a_draw_may_be_too_large():
    model = waits_or_leaves(1.5e308)
    with pytest.raises(gamedp.errors.InvalidModelError, match="less -1"):
        gamedp.solve(model, gamedp.TotalReward(draw=-1.5e308))


@pytest.mark.parametrize("solver", [None, EXACT])
@pytest.mark.parametrize("payoffs", [[THIRD], [-THIRD], [-THIRD, 4 * THIRD]])
def test_undeclared_draws_are_between_payoffs_as_they_were_given(payoffs, solver):
    """From a state that nobody can leave; exact values of a rounded draw would not be exact."""
    ends = [1] * len(payoffs)
    model = gamedp.Model.from_arrays(
        [0, 1, *ends], [0, 1], [0], [1], payoffs=payoffs, num_players=2, constant_sum=1.0
    )
    try:
        solution = gamedp.solve(model, solver=solver)
    except gamedp.NotSolvedError as error:
        solution = error.solution
    low, high = solution.bounds(0)
    assert low <= min(payoffs) <= max(payoffs) <= high
    assert solution.exact is None
    assert gamedp.verify(model, gamedp.certify(solution))
