"""The conformance kit: checks of games, solvers, searchers and formats of files, and exact values.

For anyone's games, solvers and searchers, in anyone's tests: a test of each check, by its name::

    from gamedp.testing import each_check

    @each_check(MyGame())
    def test_my_game(check):
        check()

The checks of :func:`checks_of` are the same; :func:`check_game`, :func:`check_solver` and
:func:`check_searcher` make all of them, and return a report.

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
from gamedp.testing.checks import checks_of, each_check
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
    "checks_of",
    "each_check",
    "exact_choice_values",
    "exact_committed_values",
    "exact_values",
    "problem_kinds",
    "small_games",
    "small_problems",
    "support_table",
]
