"""Policy iteration: the values of a policy by elimination, then a better policy."""

from __future__ import annotations

import attrs

from gamedp.runtime.options import positive, whole_and_positive
from gamedp.solvers.tools.base import FixedPointSolver
from gamedp.solvers.tools.policies import MOST_POLICIES, improve_policies
from gamedp.solvers.tools.run import Run


@attrs.frozen(kw_only=True)
class PolicyIteration(FixedPointSolver):
    """Evaluate a policy exactly, improve it where another action is better, until none is [1]_.

    Two opponents take turns: for each policy of the maximiser, the minimiser's best answer is
    found first (Hoffman and Karp [2]_). A model in which the players change places is unfolded
    into one state for each side.

    Components are solved one by one. Policies are evaluated by elimination without subtraction [3]_
    along the structure of the component, which loses no digits however long play stays; only if
    that would take too many terms, as with many states that lead to random others, by sweeps over
    the policy's choices. Errors are proven for the resulting values, as by
    :class:`TopologicalValueIteration`.

    If play may go on for ever and that is the worst outcome, the first policy leads out.

    Parameters
    ----------
    max_policies : int
        Largest number of policies to evaluate for one component.
    max_seconds : float
        Time limit.

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

    max_policies: int = attrs.field(default=MOST_POLICIES, validator=whole_and_positive)
    max_seconds: float = attrs.field(default=float("inf"), validator=positive)

    def iterate(self, run: Run) -> None:
        """Improve policies until none is better, and prove the value of the last one."""
        improve_policies(run, self.max_policies)
