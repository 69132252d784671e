"""A solver of another package: found by its entry point, and without knowledge of bookkeeping."""

import pytest
from outside import installed

import gamedp
from gamedp.games.matches import Matches
from gamedp.testing import check_solver, small_problems, support_table

DISCOUNTED = gamedp.Discounted(0.9)


@pytest.fixture
def package(tmp_path, monkeypatch):
    with installed("out-side", "solver", tmp_path / "package", monkeypatch) as module:
        yield module


def test_a_solver_from_outside_is_one_of_all(package, tmp_path):
    solution = gamedp.solve(Matches(), DISCOUNTED, "out-side", compile="never")
    assert solution.status is gamedp.Status.SOLVED
    low, high = solution.bounds()
    assert low <= gamedp.solve(Matches(), DISCOUNTED, compile="never").value() <= high
    assert solution.statistics.states == solution.model.num_states
    assert support_table()["OutSide"]["total"].reason == "is for discounted rewards."
    gamedp.save(solution, tmp_path / "saved")
    assert gamedp.load(tmp_path / "saved").solver == package.OutSide()


def test_it_keeps_its_promises(package):
    problems = {
        name: problem
        for name, problem in small_problems().items()
        if getattr(problem.objective, "discount", 0.0) < 0.99
    }
    assert len(problems) == 48
    report = check_solver(package.OutSide(), problems)
    assert len(report.solved) == 5
    assert len(report.refused) == 43


def test_it_says_what_would_help_where_its_bounds_are_too_wide(package):
    words = r"OutSide stopped at the limit of 64-bit rounding after \d+ sweeps; every value is"
    with pytest.raises(gamedp.NotSolvedError, match=words) as caught:
        gamedp.solve(Matches(), DISCOUNTED, package.OutSide(), tolerance=1e-18, compile="never")
    assert "Use gamedp.solvers.ExactPolicyIteration()" in str(caught.value)
    assert 1e-18 < caught.value.solution.width < 1e-9
    with pytest.raises(gamedp.UnsupportedProblemError, match="OutSide is for discounted rewards"):
        gamedp.solve(Matches(), solver="out-side", compile="never")


def test_it_tells_its_progress_and_what_it_knows_at_a_limit(package):
    met = []
    with pytest.raises(gamedp.NotSolvedError, match=r"its limit of sweeps after 3 sweeps.*max_sw"):
        gamedp.solve(
            Matches(),
            DISCOUNTED,
            package.OutSide(max_sweeps=3),
            compile="never",
            progress=met.append,
        )
    assert [report.done for report in met if report.detail.startswith("within")] == [1, 2, 3]
