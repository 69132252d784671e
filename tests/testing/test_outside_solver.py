"""A solver of another package: found by its entry point, and without knowledge of bookkeeping."""

import importlib
import sys

import pytest
from solving import walk

import gamedp
from gamedp.games.matches import Matches
from gamedp.testing import check_solver, support_table

SOLVER = '''

import attrs
import gamedp
import numpy as np


@attrs.frozen
class Recursive:
    """Plain recursion over a model without cycles."""

    margin: float = 1e-9

    def supports(self, problem):
        model, objective = problem.model, problem.objective
        if not isinstance(objective, gamedp.TotalReward) or objective.until is not None:
            return gamedp.solvers.Support(False, "computes totals.")
        if model.num_players > 2 or not model.structure.is_acyclic:
            return gamedp.solvers.Support(False, "is for one or two players, and play that ends.")
        return gamedp.solvers.Support(True)

    def solve(self, problem, *, tolerance, progress=None):
        if not (support := self.supports(problem)):
            raise gamedp.UnsupportedProblemError(f"Recursive {support.reason}")
        model, sign = problem.model, {"max": 1, "min": -1}[problem.objective.optimum]
        values, policy = np.zeros(model.num_states), np.full(model.num_states, -1)
        values[model.terminals] = model.payoffs
        matrix, order = model.transition_matrix, []

        def visit(state):
            first, end = model.choice_offsets[state : state + 2]
            if first == end or policy[state] >= 0:
                return
            for successor in matrix[first:end].indices.tolist():
                visit(successor)
            numbers = problem.constants()[first:end] + matrix[first:end] @ values
            wants = sign if model.players[state] == 0 else -sign
            policy[state] = first + int(np.argmax(wants * numbers))
            values[state] = numbers[policy[state] - first]

        for state in range(model.num_states):
            visit(state)
        inner = policy >= 0
        numbers = values, values - self.margin * inner, values + self.margin * inner
        return gamedp.solvers.make_solution(problem, self, numbers, policy, tolerance=tolerance)
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install it, as far as Python can tell."""
    (tmp_path / "recursive_plugin.py").write_text(SOLVER, encoding="utf-8")
    folder = tmp_path / "recursive_plugin-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: recursive-plugin\nVersion: 1.0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text(
        "[gamedp.solvers]\nrecursive = recursive_plugin:Recursive\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("recursive_plugin")
    sys.modules.pop("recursive_plugin", None)


def test_a_solver_from_outside_is_one_of_all(package, tmp_path):
    solution = gamedp.solve(Matches(), solver="recursive", compile="never")
    assert solution.status is gamedp.Status.SOLVED
    assert solution.value() == gamedp.solve(Matches(), compile="never").value()
    assert solution.statistics.states == solution.model.num_states
    assert support_table()["Recursive"]["discounted"].reason == "computes totals."
    assert len(check_solver(package.Recursive()).solved) >= 4
    gamedp.save(solution, tmp_path / "saved")
    assert gamedp.load(tmp_path / "saved").solver == package.Recursive()


def test_it_says_what_would_help_where_its_bounds_are_too_wide(package):
    words = r"Recursive stopped at the limit of 64-bit rounding after 1 sweeps; every value is"
    with pytest.raises(gamedp.NotSolvedError, match=words) as caught:
        gamedp.solve(Matches(), solver=package.Recursive(margin=2.0**-10), compile="never")
    assert "Use gamedp.solvers.ExactPolicyIteration()" in str(caught.value)
    assert caught.value.solution.width == 2.0**-9
    with pytest.raises(gamedp.UnsupportedProblemError, match="Recursive is for one or two"):
        gamedp.solve(walk(), solver="recursive")
