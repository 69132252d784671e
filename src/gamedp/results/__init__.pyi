from .search_result import (
    SearchedAction as SearchedAction,
    SearchStatistics as SearchStatistics,
)
