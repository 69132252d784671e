"""The conformance kit: what a game claims, verified on its own positions; exact values of models.

For anyone's games and solvers, in anyone's tests::

    from gamedp.testing import check_game

    def test_my_game():
        check_game(MyGame())
"""

from gamedp.testing.check_game import ConformanceError, Report, check_game
from gamedp.testing.exact import exact_values

__all__ = ["ConformanceError", "Report", "check_game", "exact_values"]
