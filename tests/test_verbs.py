"""What takes any kind of thing: each verb finds the way, and refuses what is none."""

import pytest
from search_games import Crowd
from staged_games import StagedWubbel

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel


def test_compile_and_solve_tell_games_from_staged_games():
    assert isinstance(gamedp.compile(Matches(), compile="never"), gamedp.Model)
    assert isinstance(gamedp.compile(StagedWubbel(4), compile="never"), gamedp.StagedModel)
    small = Kniffel(dice=1, faces=2, throws=1, threshold=3)
    assert isinstance(gamedp.solve(small, compile="never"), gamedp.StagedSolution)
    assert "stage" in gamedp.explain(gamedp.compile(small, compile="never"))


def test_explain_takes_a_solution_and_explores_nothing():
    for solution in (
        gamedp.solve(Matches(), compile="never"),
        gamedp.solve(Matches(), gamedp.Discounted(0.9), compile="never"),
        gamedp.solve(StagedWubbel(4), compile="never"),
    ):
        expected = gamedp.explain(solution.model, solution.objective)
        assert gamedp.explain(solution) == expected
    solution = gamedp.solve(Matches(), compile="never")
    other = gamedp.Discounted(0.5)
    assert gamedp.explain(solution, other) == gamedp.explain(solution.model, other)


def test_an_explanation_is_shown_as_it_is_and_names_its_solver():
    model = gamedp.compile(Matches(), compile="never")
    words = gamedp.explain(model)
    assert repr(words) == str(words)
    assert "\n" in words
    assert words.solver == "BackwardInduction"
    small = gamedp.compile(Kniffel(dice=1, faces=2, throws=1, threshold=3), compile="never")
    assert gamedp.explain(small).solver == "StageInduction"


@pytest.mark.parametrize(
    ("game", "kind"),
    [
        (Matches(matches=6), gamedp.searchers.AlphaBeta),
        (Wubbel(goal=5), gamedp.searchers.Expectiminimax),
        (Crowd(seed=1), gamedp.searchers.MaxN),
    ],
)
def test_search_takes_the_searcher_that_fits(game, kind):
    result = gamedp.search(game, depth=3, compile="never")
    assert isinstance(result.searcher, kind)
    assert result.searcher.depth == 3


def test_a_searcher_may_be_given_or_named():
    game = Mancala(pits=2, stones=1)
    named = gamedp.search(game, None, "minimax", depth=2, compile="never")
    given = gamedp.search(game, None, gamedp.searchers.Minimax(depth=2), compile="never")
    assert named.value() == given.value()
    assert named.searcher == given.searcher


@pytest.mark.parametrize(
    ("searcher", "options", "words"),
    [
        (gamedp.searchers.Minimax, {}, "must be a searcher"),
        (gamedp.searchers.Minimax(depth=2), {"depth": 3}, r"give Minimax\(depth=...\)"),
        (gamedp.solvers.ValueIteration(), {}, "must be a searcher"),
        ("proof-number-search", {"depth": 3}, "proof-number-search has no depth"),
    ],
)
def test_what_is_no_searcher_is_refused(searcher, options, words):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
        gamedp.search(Matches(), None, searcher, **options)


@pytest.mark.parametrize("verb", [gamedp.certify, lambda thing: gamedp.save(thing, "nowhere")])
def test_what_is_no_solution_is_refused(verb):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=r"is n(ot|either) a solution"):
        verb(Matches())
