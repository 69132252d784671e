"""Policy iteration: the values of a policy by linear systems, then a better policy."""

from __future__ import annotations

import hashlib

import attrs

from gamedp.kernels import elimination
from gamedp.problem import Problem
from gamedp.reduction.unfolding import unfold
from gamedp.solution import Status
from gamedp.solvers.base import FixedPointSolver, Support, support_of_proper
from gamedp.solvers.components import share_of_tolerance, solve_by_components
from gamedp.solvers.linear_systems import evaluate, leading_out, steps_of_policy
from gamedp.solvers.options import positive, whole_and_positive
from gamedp.solvers.run import Run

__all__ = ["PolicyIteration"]

MARGIN = 1e-12
"""An action must be better by this, relatively, to replace the policy's: rounding must not."""


@attrs.frozen(kw_only=True)
class PolicyIteration(FixedPointSolver):
    """Evaluate a policy exactly, improve it where another action is better, until none is [1]_.

    Two opponents take turns: for each policy of the maximiser, the minimiser's best answer is
    found first (Hoffman and Karp [2]_). A model in which the players change places is unfolded
    into one state for each side.

    Components are solved one by one, those of up to 2000 states by elimination without subtraction
    [3]_, which loses no digits however long play stays, larger ones by sparse LU decomposition,
    which is fast on sparse structures and can take much memory on others. Errors are proven for
    the values that come out, as by :class:`TopologicalValueIteration`.

    Where play may go on for ever, which is worst then, the first policy is one that leads out.

    Parameters
    ----------
    max_policies : int
        Linear systems to solve at most, for one component.
    max_seconds : float
        Time at most.

    References
    ----------
    .. [1] R. Howard, "Dynamic Programming and Markov Processes", MIT Press 1960.
    .. [2] A. Hoffman, R. Karp, "On nonterminating stochastic games", Management Science 12 (1966).
    .. [3] W. Grassmann, M. Taksar, D. Heyman, "Regenerative analysis and steady state distributions
       for Markov chains", Operations Research 33 (1985).

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Wubbel
    >>> solution = gamedp.solve(Wubbel(goal=10), solver="policy-iteration", compile="never")
    >>> round(solution.value(), 6)
    0.67072
    """

    max_policies: int = attrs.field(default=10_000, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def supports(self, problem: Problem) -> Support:
        """Say whether this solver can do the problem, and why not."""
        return support_of_proper(problem)

    def iterate(self, run: Run) -> None:
        """Improve policies until none is better, and prove what the last one is worth."""
        if run.problem.model.has_swaps:
            self._iterate_unfolded(run)
            return
        run.policy[:] = leading_out(run)
        solved = _Count()
        solve_by_components(run, lambda number: self._solve_one(run, number, solved))

    def _iterate_unfolded(self, run: Run) -> None:
        """Solve the model of both sides of every state, and take one side's values."""
        model = unfold(run.problem.model)
        twice = Run(Problem(model, run.problem.objective), run.tolerance, None)
        twice.reporter, twice.max_seconds = run.reporter, run.max_seconds
        self.iterate(twice)
        run.status, run.visits = twice.status, twice.visits
        run.values = twice.values[: run.problem.model.num_states].copy()
        run.prove_all()

    def _solve_one(self, run: Run, number: int, solved: _Count) -> None:
        """Improve the policy of a component, the minimisers' against each of the maximisers'."""
        start, stop = run.component(number)
        sides = run.rows.maximise[run.rows.order[start:stop]]
        opponents = sides.any() and not sides.all()
        # Values improve strictly, so that no policy comes again, save by rounding: then the choices
        # that differ are equally good as far as these numbers can tell.
        seen: set[bytes] = set()
        while self._evaluate(run, number, seen, solved):
            if self._improve(run, number, maximisers=not opponents, minimisers=True):
                continue
            if not (opponents and self._improve(run, number, maximisers=True, minimisers=False)):
                break
        steps = steps_of_policy(run, number)
        run.prove(number, share_of_tolerance(run), max_sweeps=1000, steps=steps)

    def _evaluate(self, run: Run, number: int, seen: set[bytes], solved: _Count) -> bool:
        """Evaluate the policy of a component; say whether it is a new one and there is time."""
        start, stop = run.component(number)
        policy = run.policy[run.rows.order[start:stop]]
        digest = hashlib.blake2b(policy.tobytes(), digest_size=16).digest()
        if digest in seen or not evaluate(run, number):
            return False
        seen.add(digest)
        solved.number += 1
        run.visits[0] += stop - start
        run.reporter.report(solved.number, None, f"{solved.number:,} policies evaluated")
        if len(seen) >= self.max_policies:
            run.status = Status.SWEEP_LIMIT
            return False
        if run.out_of_time:
            run.status = Status.TIME_LIMIT
            return False
        return True

    @staticmethod
    def _improve(run: Run, number: int, *, maximisers: bool, minimisers: bool) -> bool:
        start, stop = run.component(number)
        run.visits[0] += stop - start
        changed = elimination.improve_jit(
            start, stop, run.rows, run.values, MARGIN, maximisers, minimisers, run.policy
        )
        return bool(changed)


@attrs.define
class _Count:
    """How many linear systems have been solved."""

    number: int = 0
