from .checks import (
    checks_of as checks_of,
    each_check as each_check,
)
from .complaints import ConformanceError as ConformanceError
from .exact import (
    exact_choice_values as exact_choice_values,
    exact_committed_values as exact_committed_values,
    exact_values as exact_values,
)
from .format_checks import (
    FormatReport as FormatReport,
    check_format as check_format,
)
from .game_checks import (
    Report as Report,
    check_game as check_game,
)
from .searcher_checks import (
    SearcherReport as SearcherReport,
    check_searcher as check_searcher,
    small_games as small_games,
)
from .solver_checks import (
    SolverReport as SolverReport,
    check_solver as check_solver,
    problem_kinds as problem_kinds,
    small_problems as small_problems,
    support_table as support_table,
)
from .table_game import (
    Place as Place,
    TableGame as TableGame,
)
