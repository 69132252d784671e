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

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
