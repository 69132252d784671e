"""Random decision processes of 10^4 to 10^7 transitions, discounted by 0.99, beside other packages.

Each choice of a state leads to five random ones. gamedp proves its values within 1e-6; QuantEcon,
mdpsolver and pymdptoolbox are asked for the same by their own options, and prove nothing: the true
error of each answer stands beside its time, and must be within 1e-6 as well. The truth is gamedp's
own value within 1e-9. A rival runs only on the sizes that its form of a model allows.

Measured is the solving alone, each model built before in the rival's own form (pymdptoolbox checks
its model again each time); seconds are of processor time. A rival that is not installed
(``pip install --group peers``) is left out.
"""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import attrs
import measure
import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from problems import many_choices

import gamedp

DISCOUNT = 0.99
TOLERANCE = 1e-6
FINEST = 1e-9
ACTIONS, BRANCHES = 4, 5
SIZES = (500, 5_000, 50_000, 500_000)
"""States: 20 transitions each."""

QUICK = (50,)

Solve = Callable[[], NDArray[np.float64]]


def of_quantecon(model: gamedp.Model) -> Solve:
    """Return what runs QuantEcon's modified policy iteration."""
    from quantecon.markov import DiscreteDP  # noqa: PLC0415 - may be missing

    states = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    problem = DiscreteDP(
        model.rewards.copy(),
        scipy.sparse.csr_matrix(model.transition_matrix.copy()),
        DISCOUNT,
        s_indices=states,
        a_indices=np.tile(np.arange(ACTIONS), model.num_states),
    )
    options = {"method": "modified_policy_iteration", "epsilon": TOLERANCE, "max_iter": 10**6}
    return lambda: np.asarray(problem.solve(**options).v)


def of_mdpsolver(model: gamedp.Model) -> Solve:
    """Return what runs mdpsolver's modified policy iteration."""
    import mdpsolver  # noqa: PLC0415 - may be missing

    shape = (model.num_states, ACTIONS, BRANCHES)
    rewards = model.rewards.reshape(shape[:2]).tolist()
    probabilities = model.probabilities.reshape(shape).tolist()
    columns = model.successors.reshape(shape).tolist()

    def solve() -> NDArray[np.float64]:
        problem.solve(algorithm="mpi", tolerance=TOLERANCE, parallel=False)
        return np.array(problem.getValueVector())

    problem = mdpsolver.model()
    problem.mdp(
        discount=DISCOUNT, rewards=rewards, tranMatProbs=probabilities, tranMatColumns=columns
    )
    return solve


def of_toolbox(model: gamedp.Model) -> Solve:
    """Return what runs pymdptoolbox's modified policy iteration."""
    from mdptoolbox.mdp import PolicyIterationModified  # noqa: PLC0415 - may be missing

    matrix = scipy.sparse.csr_matrix(model.transition_matrix.copy())
    matrices = [matrix[action::ACTIONS] for action in range(ACTIONS)]
    rewards = model.rewards.reshape(model.num_states, ACTIONS)

    def solve() -> NDArray[np.float64]:
        problem = PolicyIterationModified(
            matrices, rewards, DISCOUNT, epsilon=TOLERANCE, max_iter=10**6
        )
        problem.run()
        return np.array(problem.V)

    return solve


@attrs.frozen
class Rival:
    """Another package.

    Attributes
    ----------
    name : str
    module : str
        What to import.
    prepare : callable
        Builds a model in its form and returns what solves it.
    most : int
        States up to which it takes part.
    """

    name: str
    module: str
    prepare: Callable[[gamedp.Model], Solve]
    most: int

    def is_installed(self) -> bool:
        """Say whether it is there."""
        return importlib.util.find_spec(self.module) is not None


RIVALS = (
    Rival("QuantEcon", "quantecon", of_quantecon, 10**6),
    Rival("mdpsolver", "mdpsolver", of_mdpsolver, 10**5),  # takes lists of lists
    Rival("pymdptoolbox", "mdptoolbox", of_toolbox, 10**3),  # checks models very slowly
)


def solved(model: gamedp.Model, tolerance: float = TOLERANCE) -> gamedp.Solution:
    """Return our answer."""
    return gamedp.solve(model, gamedp.Discounted(DISCOUNT), tolerance=tolerance)


def of_size(states: int, rounds: int) -> list[measure.Row]:
    """Return the rows of one size: one for each rival, or one without any."""
    model = gamedp.Model.from_arrays(**many_choices(states, ACTIONS, BRANCHES, seed=states))
    what = f"{model.num_transitions:,} transitions"
    found, truth = solved(model), solved(model, FINEST)
    facts: dict[str, Any] = {
        "states": states,
        "solver": type(found.solver).__name__,
        "sweeps": found.statistics.sweeps,
        "proven bound": found.width,
        "true error": float(np.abs(found.values - truth.values).max()),
    }

    def ours() -> float:
        fresh = copy.copy(model)  # what is known of its structure does not count
        return measure.processor_seconds(lambda: solved(fresh))

    rows = []
    for rival in RIVALS:
        if states > rival.most or not rival.is_installed():
            continue
        solve = rival.prepare(model)
        error = float(np.abs(solve() - truth.values).max())
        row = measure.compare(
            what,
            ours,
            lambda solve=solve: measure.processor_seconds(solve),  # type: ignore[misc]
            rounds=rounds,
            beside=rival.name,
            goal=("<=", 1.0),
            agrees=error <= TOLERANCE,
        )
        rows.append(attrs.evolve(row, facts=facts | {f"{rival.name}'s true error": error}))
    if rows:
        return rows
    row = measure.compare(what, ours, None, rounds=rounds, beside="peers", missing="without")
    return [attrs.evolve(row, facts=facts)]


def discounted(quick: bool = False) -> list[measure.Row]:
    """Measure all sizes."""
    sizes = QUICK if quick else SIZES
    # What takes a fraction of a millisecond needs more of them for a steady median.
    return [row for size in sizes for row in of_size(size, 1 if quick else max(3, 50_000 // size))]


if __name__ == "__main__":
    sys.exit(measure.main(discounted))
