"""Other programs in comparisons: Storm, OpenSpiel and packages for decision processes.

A peer turns a problem into its own form once, which is not measured, and then returns the values.
It proves nothing here, whatever it says of itself: its values count only within proven bounds.
"""

from __future__ import annotations

import functools
import itertools
import math
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import attrs
import numpy as np
import scipy.sparse

from gamedp.adapters import as_openspiel, write_model
from gamedp.adapters.environments import discrete_dp_of, endless
from gamedp.adapters.packages import installed
from gamedp.errors import UnsupportedProblemError
from gamedp.model.model import Model
from gamedp.model.objectives import (
    AverageReward,
    Discounted,
    FiniteHorizon,
    Reachability,
    TotalReward,
    is_probability,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.problem import Problem


StateValues: TypeAlias = "Callable[[NDArray[np.int64]], NDArray[np.float64]]"
"""Returns the values of player 0 in some states."""

Solve: TypeAlias = "Callable[[], StateValues]"
"""Solves the problem once, which is measured; to read the values is not."""

MAX_SWEEPS = 10**6
"""Limit of packages that stop at a number of sweeps."""

MAX_WALKED, CALLS_A_STATE = 5_000, 4
"""Largest number of states of a package that walks by calls in calls, and of these for each."""

MAX_DENSE = 10**7
"""Largest number of entries of all matrices of a package that has no sparse ones."""


class Peer(Protocol):
    """Another program: an immutable value, registered in the entry point group ``gamedp.peers``."""

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return a function that solves the problem to that accuracy, as the program means it.

        Raises
        ------
        UnsupportedProblemError
            If the program does not support the problem.
        MissingPackageError
            If it is not installed.
        """


def _discounted(problem: Problem, name: str) -> tuple[Model, float, float]:
    """Return a problem's endless model, its discount, and the sign of its values.

    Raises
    ------
    UnsupportedProblemError
        If it is not the discounted reward of one player.
    """
    objective = problem.objective
    if not isinstance(objective, Discounted) or problem.model.num_players > 1:
        message = f"{name} is asked for discounted rewards of one player alone."
        raise UnsupportedProblemError(message)
    sign = -1.0 if objective.optimum == "min" else 1.0
    return endless(problem.model, objective.discount, sign), objective.discount, sign


def _same_actions(model: Model) -> tuple[list[Any], NDArray[np.float64]]:
    """Return a matrix for each action, and the rewards (S, A), where all states have all actions.

    A state with fewer actions than others has its last one several times.
    """
    counts = np.diff(model.choice_offsets)
    places = np.minimum(np.arange(counts.max()), counts[:, None] - 1)
    picked = model.choice_offsets[:-1, None] + places
    matrix = scipy.sparse.csr_matrix(model.transition_matrix.copy())
    return [matrix[choices] for choices in picked.T], model.rewards[picked]


def _reader(values: NDArray[np.float64]) -> StateValues:
    return lambda states: values[states]


@attrs.frozen
class QuantEcon:
    """Modified policy iteration of ``quantecon.markov.DiscreteDP``."""

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return what solves a discounted problem of one player."""
        model, discount, sign = _discounted(problem, "QuantEcon")
        markov = installed("quantecon.markov", "quantecon")
        program = discrete_dp_of(markov, model, discount)
        solve = functools.partial(
            program.solve, "modified_policy_iteration", epsilon=tolerance, max_iter=MAX_SWEEPS
        )
        return lambda: _reader(sign * np.asarray(solve().v))


@attrs.frozen
class MdpSolver:
    """Modified policy iteration of ``mdpsolver``, which takes lists of lists."""

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return what solves a discounted problem of one player."""
        model, discount, sign = _discounted(problem, "mdpsolver")
        package = installed("mdpsolver", "mdpsolver")
        offsets, cuts = model.choice_offsets.tolist(), model.transition_offsets[1:-1]

        def by_state(lists: list[Any]) -> list[Any]:
            return [lists[first:end] for first, end in itertools.pairwise(offsets)]

        def by_choice(array: NDArray[Any]) -> list[Any]:
            return by_state([part.tolist() for part in np.split(array, cuts)])

        program = package.model()
        program.mdp(
            discount=discount,
            rewards=by_state(model.rewards.tolist()),
            tranMatProbs=by_choice(model.probabilities),
            tranMatColumns=by_choice(model.successors),
        )

        def solve() -> StateValues:
            program.solve(algorithm="mpi", tolerance=tolerance, parallel=False)
            return _reader(sign * np.array(program.getValueVector()))

        return solve


@attrs.frozen
class PyMdpToolbox:
    """Modified policy iteration of ``mdptoolbox``, where each state has the same actions."""

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return what solves a discounted problem of one player."""
        model, discount, sign = _discounted(problem, "pymdptoolbox")
        package = installed("mdptoolbox.mdp", "pymdptoolbox")
        matrices, rewards = _same_actions(model)

        def solve() -> StateValues:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of scipy, about how the package calls it
                program = package.PolicyIterationModified(
                    matrices, rewards, discount, epsilon=tolerance, max_iter=MAX_SWEEPS
                )
                program.run()
            return _reader(sign * np.array(program.V))

        return solve


@attrs.frozen
class JaxDp:
    """Value iteration of ``jaxdp``, whose models are dense: states times states for each action.

    It has single steps and leaves stopping to the caller. Here, that is where the last change
    proves the tolerance (M. Puterman, Markov Decision Processes, 1994, theorem 6.3.1). All numbers
    of JAX are 64-bit from then on in the process.
    """

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return what solves a small discounted problem of one player."""
        model, discount, sign = _discounted(problem, "jaxdp")
        matrices, rewards = _same_actions(model)
        shape = (len(matrices), model.num_states, model.num_states)
        if math.prod(shape) > MAX_DENSE:
            message = f"jaxdp is asked about models of {MAX_DENSE:,} dense entries at most."
            raise UnsupportedProblemError(message)
        package, jax = installed("jaxdp", "jaxdp"), installed("jax", "jaxdp")
        jax.config.update("jax_enable_x64", True)
        dense = np.stack([matrix.toarray() for matrix in matrices])
        program = package.MDP(
            transition=jax.numpy.asarray(dense.swapaxes(1, 2)),  # from column to row
            reward=jax.numpy.asarray(np.broadcast_to(rewards.T[:, :, None], shape)),
            initial=jax.numpy.full(model.num_states, 1 / model.num_states),
            terminal=jax.numpy.zeros(model.num_states),
        )
        method = package.ValueIteration(gamma=discount)
        least = tolerance * (1 - discount) / (2 * max(discount, tolerance))

        def iterate(program: Any) -> Any:
            def step(pair: Any) -> Any:
                return pair[1], method.update(program, pair[1])

            def goes_on(pair: Any) -> Any:
                return abs(pair[1].v_val - pair[0].v_val).max() > least

            start = method.init(program)
            pair = jax.lax.while_loop(goes_on, step, step((start, start)))
            return pair[1].v_val

        compiled, chex = jax.jit(iterate), installed("chex", "jaxdp")

        def solve() -> StateValues:
            chex.disable_asserts()  # of values, for which compiled code has none in each step
            try:
                return _reader(sign * np.asarray(compiled(program)))
            finally:
                chex.enable_asserts()

        return solve


@attrs.frozen
class OpenSpiel:
    """Value iteration of OpenSpiel, which walks through the tree of a game by calls in calls."""

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return what solves a small game of one player or two opponents that pays at the end."""
        model, objective = problem.model, problem.objective
        if objective != TotalReward() or model.num_players > 2 or model.is_general_sum:
            message = "OpenSpiel is asked for the payoffs of one player or two opponents alone."
            raise UnsupportedProblemError(message)
        if np.any(model.rewards) or model.num_states > MAX_WALKED:
            message = (
                f"OpenSpiel is asked about games of {MAX_WALKED:,} states at most that pay at the "
                "end alone."
            )
            raise UnsupportedProblemError(message)
        game = as_openspiel(model, zero_sum=model.num_players == 2)
        installed("cvxpy", "open-spiel cvxpy")  # which OpenSpiel imports, for simultaneous moves
        package = installed("open_spiel.python.algorithms.value_iteration", "open-spiel cvxpy")

        def solve() -> StateValues:
            usual = sys.getrecursionlimit()
            sys.setrecursionlimit(usual + CALLS_A_STATE * model.num_states)
            try:
                found = package.value_iteration(game, -1, tolerance, cyclic_game=True)
            finally:
                sys.setrecursionlimit(usual)
            return lambda states: np.array([game.value_of(state, found) for state in states])

        return solve


@attrs.frozen
class Storm:
    """Storm's sparse engine with sound methods, by ``stormpy``; it reads the model from a file."""

    def prepare(self, problem: Problem, tolerance: float) -> Solve:
        """Return what solves a reachability, a total reward up to states, or an average."""
        formula, labels, rewards = _formula(problem)
        stormpy = installed("stormpy", "stormpy")
        with tempfile.TemporaryDirectory(prefix="gamedp-storm-") as folder:
            path = Path(folder, "model.umb")
            write_model(path, problem.model, labels=labels, rewards=rewards)
            options = installed("stormpy.io", "stormpy").UmbImportOptions()
            options.build_state_valuations = False
            model = stormpy.build_model_from_umb(str(path), options=options)
        environment = stormpy.environments.sound()
        solver = environment.solver()
        for settings in (solver.min_max(), solver.native()):
            settings.precision = stormpy.Rational(f"{tolerance:.17g}")
            settings.relative_termination_criterion = False
        (wanted,) = stormpy.parse_properties(formula)

        def solve() -> StateValues:
            found = stormpy.model_checking(model, wanted, environment=environment)
            return lambda states: np.array([found.get_value(state) for state in states.tolist()])

        return solve


def _formula(
    problem: Problem,
) -> tuple[str, dict[str, NDArray[np.bool_]], dict[str, NDArray[np.float64]]]:
    """Return a question in Storm's words, with the labels and rewards that it names."""
    model, objective = problem.model, problem.objective
    if model.num_players > 1:
        message = "Storm is asked about models of one player alone."
        raise UnsupportedProblemError(message)
    optimum, rewards = objective.optimum, model.rewards
    if isinstance(objective, (Reachability, FiniteHorizon)) and is_probability(objective):
        labels = {"target": np.asarray(objective.target)}
        within = f"<={objective.horizon}" if isinstance(objective, FiniteHorizon) else ""
        path = f'F{within} "target"'
        if objective.allowed is not None:
            labels["allowed"] = np.asarray(objective.allowed)
            path = f'"allowed" U{within} "target"'
        return f"P{optimum}=? [{path}]", labels, {}
    if (rewards < 0).any():
        message = "Storm is asked about rewards that are not negative."
        raise UnsupportedProblemError(message)
    if isinstance(objective, TotalReward) and objective.until is not None:
        target = {"target": np.asarray(objective.until)}
        return f'R{{"reward"}}{optimum}=? [F "target"]', target, {"reward": rewards}
    if isinstance(objective, AverageReward):
        return f'R{{"reward"}}{optimum}=? [LRA]', {}, {"reward": rewards}
    message = (
        "Storm is asked for the probability to reach states, rewards until states are reached, and "
        "averages."
    )
    raise UnsupportedProblemError(message)
