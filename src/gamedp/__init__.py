"""gamedp solves games and Markov decision processes, with proven bounds.

Write the rules once, as one plain Python class; see :class:`gamedp.Game`. Then
:func:`gamedp.solve` gives the value of every position between proven bounds, and the best action.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gamedp.adapters import LoadedModel, load_model, save_model
    from gamedp.certificates import Certificate, EquilibriumCertificate, StagedCertificate, Verified
    from gamedp.compiler import compile_game as compile
    from gamedp.errors import (
        CertificateError,
        CompilationError,
        CompilationWarning,
        DamagedFileError,
        GamedpError,
        InvalidModelError,
        InvalidParameterError,
        KeptSolutionWarning,
        LimitExceededError,
        NotSolvedError,
        UnknownNameError,
        UnknownStateError,
        UnsupportedArithmeticError,
        UnsupportedProblemError,
    )
    from gamedp.graph.structure import Structure
    from gamedp.model.model import Model
    from gamedp.model.objectives import (
        AverageReward,
        Discounted,
        FiniteHorizon,
        Reachability,
        TotalReward,
    )
    from gamedp.model.problem import Problem, StagedProblem
    from gamedp.play.play import GameRecord, LevelPlayer, RandomPlayer, play_game
    from gamedp.play.records import load_games, save_games
    from gamedp.play.tournament import Tournament, tournament
    from gamedp.results.search_result import SearchedAction, SearchResult, SearchStatistics
    from gamedp.results.solution import ActionValue, Guarantee, Solution, Statistics, Status
    from gamedp.rules.game import Game, Rules, helper, with_item
    from gamedp.rules.ranking import binomial, rank_distribution, unrank_distribution
    from gamedp.rules.staged import Flattened, Position, StagedGame, StagedRules
    from gamedp.runtime.progress import Progress
    from gamedp.searchers.alpha_beta import AlphaBeta
    from gamedp.searchers.endings.tables import EndgameTables
    from gamedp.searchers.expectiminimax import Expectiminimax
    from gamedp.searchers.max_n import MaxN, MaxNAction, MaxNResult
    from gamedp.searchers.minimax import Minimax
    from gamedp.searchers.perft import Perft, perft
    from gamedp.searchers.proof_number import ProofNumberSearch
    from gamedp.solvers import explain, solve
    from gamedp.solvers.methods.anderson_acceleration import AndersonAcceleration
    from gamedp.solvers.methods.backward_induction import BackwardInduction
    from gamedp.solvers.methods.exact_policy_iteration import ExactPolicyIteration
    from gamedp.solvers.methods.interval_iteration import IntervalIteration
    from gamedp.solvers.methods.linear_programming import LinearProgramming
    from gamedp.solvers.methods.modified_policy_iteration import ModifiedPolicyIteration
    from gamedp.solvers.methods.optimistic_value_iteration import OptimisticValueIteration
    from gamedp.solvers.methods.policy_iteration import PolicyIteration
    from gamedp.solvers.methods.prioritized_sweeping import PrioritizedSweeping
    from gamedp.solvers.methods.relative_value_iteration import RelativeValueIteration
    from gamedp.solvers.methods.retrograde import Retrograde
    from gamedp.solvers.methods.sound_value_iteration import SoundValueIteration
    from gamedp.solvers.methods.strategy_iteration import StrategyIteration
    from gamedp.solvers.methods.topological_value_iteration import TopologicalValueIteration
    from gamedp.solvers.methods.value_iteration import ValueIteration
    from gamedp.solvers.tools.support import Support
    from gamedp.stages.induction import StageInduction
    from gamedp.stages.model import StagedModel
    from gamedp.stages.solution import StagedSolution
    from gamedp.stages.totals import Distribution, distribution, end_probabilities
    from gamedp.storage import load, load_certificate
    from gamedp.sums.composition import Sum, SumPosition
    from gamedp.sums.grundy import (
        GrundyValues,
        SumValues,
        grundy_value,
        grundy_values,
        mex,
        nim_sum,
    )
    from gamedp.sums.octal import OctalGame, OctalPosition, Periodicity
    from gamedp.verbs import verify

_HOMES = {
    "ActionValue": "solution",
    "AlphaBeta": "searchers.alpha_beta",
    "AndersonAcceleration": "solvers.anderson_acceleration",
    "AverageReward": "objectives",
    "BackwardInduction": "solvers.backward_induction",
    "Certificate": "certificate",
    "CertificateError": "errors",
    "CompilationError": "errors",
    "CompilationWarning": "errors",
    "DamagedFileError": "errors",
    "Discounted": "objectives",
    "Distribution": "totals",
    "EndgameTables": "searchers.endings",
    "EquilibriumCertificate": "certificate",
    "ExactPolicyIteration": "solvers.exact_policy_iteration",
    "Expectiminimax": "searchers.expectiminimax",
    "FiniteHorizon": "objectives",
    "Flattened": "staged_game",
    "Game": "game",
    "GameRecord": "playing",
    "GamedpError": "errors",
    "GrundyValues": "sums.grundy",
    "Guarantee": "solution",
    "IntervalIteration": "solvers.interval_iteration",
    "InvalidModelError": "errors",
    "InvalidParameterError": "errors",
    "KeptSolutionWarning": "errors",
    "LevelPlayer": "playing",
    "LimitExceededError": "errors",
    "LinearProgramming": "solvers.linear_programming",
    "LoadedModel": "adapters",
    "MaxN": "searchers.max_n",
    "MaxNAction": "searchers.max_n",
    "MaxNResult": "searchers.max_n",
    "Minimax": "searchers.minimax",
    "Model": "model",
    "ModifiedPolicyIteration": "solvers.modified_policy_iteration",
    "NotSolvedError": "errors",
    "OctalGame": "sums.octal",
    "OctalPosition": "sums.octal",
    "OptimisticValueIteration": "solvers.optimistic_value_iteration",
    "Perft": "searchers.perft",
    "Periodicity": "sums.octal",
    "PolicyIteration": "solvers.policy_iteration",
    "Position": "staged_game",
    "PrioritizedSweeping": "solvers.prioritized_sweeping",
    "Problem": "problem",
    "Progress": "progress",
    "ProofNumberSearch": "searchers.proof_number",
    "RandomPlayer": "playing",
    "Reachability": "objectives",
    "RelativeValueIteration": "solvers.average_reward",
    "Retrograde": "solvers.retrograde",
    "Rules": "game",
    "SearchResult": "search_result",
    "SearchStatistics": "search_result",
    "SearchedAction": "search_result",
    "Solution": "solution",
    "SoundValueIteration": "solvers.sound_value_iteration",
    "StageInduction": "solvers.stage_induction",
    "StagedCertificate": "certificate",
    "StagedGame": "staged_game",
    "StagedModel": "staged_model",
    "StagedProblem": "problem",
    "StagedRules": "staged_game",
    "StagedSolution": "staged_solution",
    "Statistics": "solution",
    "Status": "solution",
    "StrategyIteration": "solvers.strategy_iteration",
    "Structure": "structure",
    "Sum": "sums.composition",
    "SumPosition": "sums.composition",
    "SumValues": "sums.grundy",
    "Support": "solvers.base",
    "TopologicalValueIteration": "solvers.topological_value_iteration",
    "TotalReward": "objectives",
    "Tournament": "tournaments",
    "UnknownNameError": "errors",
    "UnknownStateError": "errors",
    "UnsupportedArithmeticError": "errors",
    "UnsupportedProblemError": "errors",
    "ValueIteration": "solvers.value_iteration",
    "Verified": "certificate",
    "binomial": "ranking",
    "compile": "compiler",
    "distribution": "totals",
    "end_probabilities": "totals",
    "explain": "solvers",
    "grundy_value": "sums.grundy",
    "grundy_values": "sums.grundy",
    "helper": "game",
    "load": "storage",
    "load_certificate": "storage",
    "load_games": "played_games",
    "load_model": "adapters",
    "mex": "sums.grundy",
    "nim_sum": "sums.grundy",
    "perft": "searchers.perft",
    "play_game": "playing",
    "rank_distribution": "ranking",
    "save_games": "played_games",
    "save_model": "adapters",
    "solve": "solvers",
    "tournament": "tournaments",
    "unrank_distribution": "ranking",
    "verify": "verbs",
    "with_item": "game",
}
"""Which module each public name comes from. They are imported when first asked for, so that
``import gamedp`` loads neither numba nor scipy."""

__all__ = [
    "ActionValue",
    "AlphaBeta",
    "AndersonAcceleration",
    "AverageReward",
    "BackwardInduction",
    "Certificate",
    "CertificateError",
    "CompilationError",
    "CompilationWarning",
    "DamagedFileError",
    "Discounted",
    "Distribution",
    "EndgameTables",
    "EquilibriumCertificate",
    "ExactPolicyIteration",
    "Expectiminimax",
    "FiniteHorizon",
    "Flattened",
    "Game",
    "GameRecord",
    "GamedpError",
    "GrundyValues",
    "Guarantee",
    "IntervalIteration",
    "InvalidModelError",
    "InvalidParameterError",
    "KeptSolutionWarning",
    "LevelPlayer",
    "LimitExceededError",
    "LinearProgramming",
    "LoadedModel",
    "MaxN",
    "MaxNAction",
    "MaxNResult",
    "Minimax",
    "Model",
    "ModifiedPolicyIteration",
    "NotSolvedError",
    "OctalGame",
    "OctalPosition",
    "OptimisticValueIteration",
    "Perft",
    "Periodicity",
    "PolicyIteration",
    "Position",
    "PrioritizedSweeping",
    "Problem",
    "Progress",
    "ProofNumberSearch",
    "RandomPlayer",
    "Reachability",
    "RelativeValueIteration",
    "Retrograde",
    "Rules",
    "SearchResult",
    "SearchStatistics",
    "SearchedAction",
    "Solution",
    "SoundValueIteration",
    "StageInduction",
    "StagedCertificate",
    "StagedGame",
    "StagedModel",
    "StagedProblem",
    "StagedRules",
    "StagedSolution",
    "Statistics",
    "Status",
    "StrategyIteration",
    "Structure",
    "Sum",
    "SumPosition",
    "SumValues",
    "Support",
    "TopologicalValueIteration",
    "TotalReward",
    "Tournament",
    "UnknownNameError",
    "UnknownStateError",
    "UnsupportedArithmeticError",
    "UnsupportedProblemError",
    "ValueIteration",
    "Verified",
    "binomial",
    "compile",
    "distribution",
    "end_probabilities",
    "explain",
    "grundy_value",
    "grundy_values",
    "helper",
    "load",
    "load_certificate",
    "load_games",
    "load_model",
    "mex",
    "nim_sum",
    "perft",
    "play_game",
    "rank_distribution",
    "save_games",
    "save_model",
    "solve",
    "tournament",
    "unrank_distribution",
    "verify",
    "with_item",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its home."""
    if name not in _HOMES:
        message = f"module 'gamedp' has no attribute {name!r}"
        raise AttributeError(message)
    home = importlib.import_module(f"gamedp.{_HOMES[name]}")
    value = getattr(home, "compile_game" if name == "compile" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOMES)
