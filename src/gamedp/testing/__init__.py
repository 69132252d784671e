"""The conformance kit: checks of games, solvers, searchers and formats of files, and exact values.

For anyone's games, solvers and searchers, in anyone's tests::

    from gamedp.testing import check_game, check_solver

    def test_my_game():
        check_game(MyGame())

    def test_my_solver():
        check_solver(MySolver())

    def test_my_searcher():
        check_searcher(MySearcher())

Random models and games for hypothesis are in :mod:`gamedp.testing.strategies`.
"""

from gamedp.testing.check_format import FormatReport, check_format
from gamedp.testing.check_game import Report, check_game
from gamedp.testing.check_searcher import SearcherReport, check_searcher, small_games
from gamedp.testing.check_solver import (
    SolverReport,
    check_solver,
    problem_kinds,
    small_problems,
    support_table,
)
from gamedp.testing.complaints import ConformanceError
from gamedp.testing.exact import exact_choice_values, exact_committed_values, exact_values
from gamedp.testing.table_game import Place, TableGame

__all__ = [
    "ConformanceError",
    "FormatReport",
    "Place",
    "Report",
    "SearcherReport",
    "SolverReport",
    "TableGame",
    "check_format",
    "check_game",
    "check_searcher",
    "check_solver",
    "exact_choice_values",
    "exact_committed_values",
    "exact_values",
    "problem_kinds",
    "small_games",
    "small_problems",
    "support_table",
]
