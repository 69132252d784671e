"""Games that are played: by seed, by the rules, and which player is the better one."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest
from scipy import stats

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, MatchesState, Nim
from gamedp.games.wubbel import State, Wubbel
from gamedp.play.play import drawn
from gamedp.searchers import bound_rules as compiler_search

SMALL = Mancala(pits=3, stones=2)
PLAIN = {"compile": "never"}


class Spot(NamedTuple):
    player: int
    place: int


@attrs.frozen
class Round:
    """Walk round in a circle; whoever wants may step out, which nobody must."""

    size: int = 3
    num_players = 2

    def initial_state(self):
        return Spot(0, 0)

    def is_terminal(self, state):
        return state.place < 0

    def player(self, state):
        return state.player

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        place = -1 if action else (state.place + 1) % self.size
        return [(1.0, Spot(1 - state.player, place))]

    def payoff(self, state, player):
        return 1.0 if player == state.player else -1.0


@attrs.frozen
class Toss:
    """Three for a pot: chance says where the game begins, and what each toss earns at once."""

    num_players = 3

    def initial_state(self):
        return [(0.5, Spot(0, 0)), (0.0, Spot(2, 0)), (0.5, Spot(1, 0))]

    def is_terminal(self, state):
        return state.place == 4

    def player(self, state):
        return state.player

    def actions(self, state):
        return (5, 9)

    def outcomes(self, state, action):
        following = Spot((state.player + 1) % 3, state.place + 1)
        return [(0.0, Spot(0, 0)), (0.25, following), (0.75, Spot(state.player, state.place + 1))]

    def reward(self, state, action, player):
        return float(action) if player == state.player else 0.0

    def payoff(self, state, player):
        return 100.0 if player == 0 else 0.0


def went_by_the_rules(game, record):
    """Check a record against the rules, with no code of the library's."""
    assert len(record.states) == len(record.actions) + 1 == len(record.outcomes) + 1
    steps = zip(record.states, record.actions, record.outcomes, record.states[1:], strict=False)
    for state, action, outcome, following in steps:
        assert not game.is_terminal(state)
        assert action in list(game.actions(state))
        probability, expected = list(game.outcomes(state, action))[outcome]
        assert probability > 0
        assert following == expected
    end = record.states[-1]
    if record.is_finished:
        assert game.is_terminal(end)
        earned = [
            sum(
                game.reward(state, action, player)
                for state, action in zip(record.states, record.actions, strict=False)
            )
            if hasattr(game, "reward")
            else 0.0
            for player in range(game.num_players)
        ]
        ends = [game.payoff(end, player) for player in range(game.num_players)]
        assert record.payoffs == tuple(sum(pair) for pair in zip(earned, ends, strict=True))
    else:
        assert not game.is_terminal(end)


class TestPlayGame:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize(
        "game", [SMALL, Matches(matches=9), Nim(heaps=(2, 3)), Wubbel(goal=9), Toss()], ids=repr
    )
    def test_goes_by_the_rules(self, game, seed):
        players = [gamedp.play.RandomPlayer(game)] * game.num_players
        record = gamedp.play.play_game(game, players, seed)
        assert record.is_finished
        went_by_the_rules(game, record)

    def test_the_seed_decides(self):
        game = Wubbel(goal=20)
        players = [gamedp.play.RandomPlayer(game)] * 2
        first, again, other = (gamedp.play.play_game(game, players, seed) for seed in (7, 7, 8))
        assert first == again != other
        rng = np.random.default_rng(7)
        assert gamedp.play.play_game(game, players, rng) == first
        assert gamedp.play.play_game(game, players, rng) != first

    def test_searchers_take_best_actions_and_all_of_them(self):
        game = SMALL
        best = gamedp.searchers.AlphaBeta(depth=3).search(game, **PLAIN).best_actions
        players = [gamedp.searchers.AlphaBeta(depth=3)] * 2
        taken = {
            gamedp.play.play_game(game, players, seed, max_plies=1, **PLAIN).actions[0]
            for seed in range(40)
        }
        assert taken == set(best)
        assert len(best) > 1

    def test_best_play_on_both_sides_gets_the_value(self):
        value = gamedp.solve(SMALL, **PLAIN).value()
        for seed in range(3):
            record = gamedp.play.play_game(SMALL, [gamedp.searchers.AlphaBeta()] * 2, seed, **PLAIN)
            assert record.payoffs == (value, -value)

    def test_a_solution_plays_its_policy(self):
        solution = gamedp.solve(SMALL, **PLAIN)
        record = gamedp.play.play_game(SMALL, [solution, solution], 0)
        assert record.payoffs == (solution.value(), -solution.value())
        for state, action in zip(record.states, record.actions, strict=False):
            if len(list(SMALL.actions(state))) > 1:
                assert action == solution.best_action(state)

    def test_a_function_plays(self):
        asked = []

        def last(state, rng):
            asked.append(state)
            assert isinstance(rng, np.random.Generator)
            return max(SMALL.actions(state))

        record = gamedp.play.play_game(SMALL, [last, last], 0)
        assert record.actions == tuple(max(SMALL.actions(state)) for state in record.states[:-1])
        # Where there is one action only, nobody is asked.
        choices = [state for state in record.states[:-1] if len(list(SMALL.actions(state))) > 1]
        assert asked == choices

    def test_from_a_position(self):
        game, start = Matches(), MatchesState(1, 6)
        record = gamedp.play.play_game(
            game, [gamedp.searchers.AlphaBeta()] * 2, 0, start=start, **PLAIN
        )
        assert record.states[0] == start
        assert record.payoffs == (-1.0, 1.0)

    def test_where_the_game_is_over(self):
        players = [gamedp.play.RandomPlayer(Matches())] * 2
        record = gamedp.play.play_game(Matches(), players, 0, start=MatchesState(0, 0))
        assert (record.plies, record.payoffs) == (0, (1.0, -1.0))

    def test_starts_and_chance_come_as_often_as_they_should(self):
        game = Toss()
        players = [gamedp.play.RandomPlayer(game)] * 3
        records = [gamedp.play.play_game(game, players, seed) for seed in range(400)]
        begun = [record.states[0].player for record in records]
        assert set(begun) == {0, 1}
        stays = [outcome == 2 for record in records for outcome in record.outcomes]
        assert stats.binomtest(sum(begun), len(begun), 0.5).pvalue > 1e-3
        assert stats.binomtest(sum(stays), len(stays), 0.75).pvalue > 1e-3

    def test_unfinished_is_no_draw(self):
        game = Round()
        record = gamedp.play.play_game(game, [lambda state, rng: 0] * 2, 0, max_plies=17)
        assert (record.plies, record.payoffs, record.is_finished) == (17, None, False)
        went_by_the_rules(game, record)

    @pytest.mark.parametrize(
        ("players", "message"),
        [
            ([gamedp.searchers.AlphaBeta()], "has 2 players, and 1 are given"),
            ([3, gamedp.searchers.AlphaBeta()], "3 is not a player"),
            ([gamedp.searchers.AlphaBeta, gamedp.searchers.AlphaBeta()], "is not a player"),
            ([np.array([1]), gamedp.searchers.AlphaBeta()], r"array\(\[1\]\) is not a player"),
            ([np.int64(3), gamedp.searchers.AlphaBeta()], "is not a player"),
            ([lambda state, rng: 77] * 2, "takes 77 in "),
        ],
    )
    def test_refuses_what_cannot_play(self, players, message):
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            gamedp.play.play_game(SMALL, players, 0, **PLAIN)

    def test_refuses_solutions_of_something_else(self):
        other = gamedp.solve(Matches(matches=5), **PLAIN)
        horizon = gamedp.solve(SMALL, gamedp.FiniteHorizon(3), **PLAIN)
        arrays = gamedp.solve(
            gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], terminals=[1], payoffs=[3.0])
        )
        for solution, words in [
            (other, "this solution is of Matches"),
            (horizon, "finite horizon"),
            (attrs.evolve(horizon, step_policies=None), "finite horizon"),
            (arrays, "a model without a game"),
        ]:
            with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
                gamedp.play.play_game(SMALL, [solution, solution], 0)

    def test_a_saved_solution_plays_a_game_made_anew(self, tmp_path):
        gamedp.save(gamedp.solve(SMALL, **PLAIN), tmp_path / "kept")
        solution = gamedp.load(tmp_path / "kept")
        game = Mancala(pits=3, stones=2)
        assert gamedp.play.play_game(game, [solution] * 2, 0).is_finished

    def test_a_searcher_without_an_answer_is_named(self):
        hasty = gamedp.searchers.Minimax(max_nodes=1)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="found no best action"):
            gamedp.play.play_game(SMALL, [hasty, hasty], 0, **PLAIN)

    @pytest.mark.parametrize("max_plies", [0, -3, 2.5])
    def test_refuses_a_senseless_limit(self, max_plies):
        players = [gamedp.play.RandomPlayer(SMALL)] * 2
        with pytest.raises(gamedp.errors.InvalidParameterError, match="max_plies is"):
            gamedp.play.play_game(SMALL, players, 0, max_plies=max_plies)

    @pytest.mark.parametrize("seed", [-1, 2.5, "one"])
    def test_refuses_a_senseless_seed(self, seed):
        players = [gamedp.play.RandomPlayer(SMALL)] * 2
        with pytest.raises(gamedp.errors.InvalidParameterError, match="seed is"):
            gamedp.play.play_game(SMALL, players, seed)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="seed is"):
            gamedp.play.match(SMALL, *players, seed=seed)

    def test_staged_games_are_refused(self):
        with pytest.raises(TypeError, match="is not a game"):
            gamedp.play.play_game(Kniffel(), [], 0)


class TestLevelPlayer:
    def test_is_the_search_to_its_depth(self):
        game = Mancala(pits=4, stones=2)
        found = gamedp.play.LevelPlayer(5).search(game, **PLAIN)
        expected = gamedp.searchers.Minimax(depth=5).search(game, **PLAIN)
        assert found.value() == expected.value()
        assert found.best_actions == expected.best_actions

    def test_averages_chance(self):
        game, state = Wubbel(goal=6), State(0, 0, 5, 4)
        found = gamedp.play.LevelPlayer(3).search(game, state, **PLAIN)
        plain = gamedp.searchers.Minimax(depth=3).search(game, state, **PLAIN)
        assert found.value() == pytest.approx(plain.value(), rel=0, abs=1e-12)
        assert type(found.searcher) is gamedp.searchers.Expectiminimax

    def test_looks_ahead_for_each_of_three(self):
        game = Mancala(players=3, pits=2, stones=2)
        found = gamedp.play.LevelPlayer(3).search(game, **PLAIN)
        assert found.values == gamedp.searchers.MaxN(depth=3).search(game, **PLAIN).values
        assert type(found.searcher) is gamedp.searchers.MaxN

    @pytest.mark.parametrize("depth", [0, -1, 1.5])
    def test_refuses_a_senseless_depth(self, depth):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="depth is"):
            gamedp.play.LevelPlayer(depth)


class TestTournament:
    def test_the_seed_decides(self):
        players = gamedp.play.LevelPlayer(2), gamedp.play.RandomPlayer(SMALL)
        first, again, other = (
            gamedp.play.match(SMALL, *players, games=6, seed=seed, **PLAIN) for seed in (3, 3, 4)
        )
        assert first.records == again.records != other.records
        for record in first.records:
            went_by_the_rules(SMALL, record)

    def test_more_games_begin_with_the_same_ones(self):
        players = [gamedp.play.RandomPlayer(SMALL)] * 2
        few = gamedp.play.match(SMALL, *players, games=4, seed=5)
        many = gamedp.play.match(SMALL, *players, games=10, seed=5)
        assert many.records[:4] == few.records

    @pytest.mark.deep
    @pytest.mark.parametrize(
        ("game", "levels"),
        [
            pytest.param(
                Mancala(stones=3),
                (6, 1),
                marks=pytest.mark.skipif(numba.config.DISABLE_JIT, reason="a minute uncompiled"),
            ),
            (Mancala(pits=3, stones=3), (4, 1)),
        ],
    )
    def test_looking_further_plays_better(self, game, levels):
        players = [gamedp.play.LevelPlayer(level) for level in levels]
        result = gamedp.play.match(game, *players, games=30, seed=1, opening=1)
        assert result.wins > 2 * result.losses
        low, high = result.interval
        assert 0 < low < result.mean_difference < high
        other = gamedp.play.match(game, *players[::-1], games=30, seed=1, opening=1)
        assert other.losses > 2 * other.wins
        assert other.interval[1] < 0

    def test_each_begins_every_other_game(self):
        def chooses(action):
            return lambda state, rng: action

        # In one go: whoever is first steps out, and the other one gets the win.
        game = Round()
        result = gamedp.play.match(game, chooses(1), chooses(0), games=4, seed=0, max_plies=9)
        # `one` steps out whenever it moves: its first action ends the game in favour of the mover
        # after it, which is `other`.
        assert [record.plies for record in result.records] == [1, 2, 1, 2]
        assert result.losses == 4
        assert result.differences.tolist() == [-2.0] * 4
        assert result.mean_difference == -2.0

    def test_the_best_policy_beats_chance_at_wubbel(self):
        game = Wubbel(goal=15)
        solution = gamedp.solve(game, **PLAIN)
        result = gamedp.play.match(
            game, solution, gamedp.play.RandomPlayer(game), games=200, seed=2
        )
        assert result.wins + result.losses == 200
        assert result.interval[0] > 0
        for record in result.records[:20]:
            went_by_the_rules(game, record)

    def test_best_play_on_both_sides_gets_the_value_on_average(self):
        game = Wubbel(goal=10)
        solution = gamedp.solve(game, **PLAIN)
        result = gamedp.play.match(game, solution, solution, games=1000, seed=4)
        begun = [record.payoffs[0] for record in result.records]
        wins = int(sum(begun))
        assert stats.binomtest(wins, len(begun), solution.value()).pvalue > 1e-3
        assert abs(result.mean_difference) < 4 * result.standard_error

    def test_statistics_are_those_of_pairs(self):
        players = gamedp.play.LevelPlayer(2), gamedp.play.RandomPlayer(SMALL)
        result = gamedp.play.match(SMALL, *players, games=20, seed=1, opening=1, **PLAIN)
        signed = [
            (1 - 2 * (number % 2)) * (record.payoffs[0] - record.payoffs[1])
            for number, record in enumerate(result.records)
        ]
        means = [sum(signed[at : at + 2]) / 2 for at in range(0, 20, 2)]
        assert result.wins == sum(number > 0 for number in signed)
        assert result.draws == sum(number == 0 for number in signed)
        assert result.mean_difference == pytest.approx(np.mean(means))
        assert result.standard_error == pytest.approx(stats.sem(means))
        expected = stats.t.interval(0.95, 9, np.mean(means), stats.sem(means))
        assert result.interval == pytest.approx(expected)
        assert result.mean_plies == np.mean([record.plies for record in result.records])

    def test_pairs_have_the_opening_in_common(self):
        players = [gamedp.play.RandomPlayer(SMALL)] * 2
        result = gamedp.play.match(SMALL, *players, games=20, seed=1, opening=3)
        pairs = list(zip(result.records[::2], result.records[1::2], strict=True))
        assert all(one.actions[:3] == other.actions[:3] for one, other in pairs)
        assert all(one.states[:4] == other.states[:4] for one, other in pairs)
        assert any(one.actions != other.actions for one, other in pairs)
        assert len({one.actions[:3] for one, _ in pairs}) > 3

    def test_no_opening_ends_the_game(self):
        game = Matches(matches=4)
        players = [gamedp.play.RandomPlayer(game)] * 2
        result = gamedp.play.match(game, *players, games=40, seed=1, opening=3)
        assert all(record.actions[:3] == (1, 1, 1) for record in result.records)
        with pytest.raises(gamedp.errors.InvalidParameterError, match="choose a shorter opening"):
            gamedp.play.match(game, *players, games=2, seed=1, opening=4)

    def test_unfinished_games_are_counted_apart(self):
        game = Round()

        def sometimes(state, rng):
            return int(rng.random() < 0.2)

        result = gamedp.play.match(game, sometimes, sometimes, games=40, seed=1, max_plies=5)
        assert 0 < result.unfinished < 40
        assert result.draws == 0
        assert result.wins + result.losses + result.unfinished == 40
        pairs = np.reshape(result.differences, (-1, 2)).mean(axis=1)
        assert result.mean_difference == pytest.approx(np.nanmean(pairs))
        never = gamedp.play.match(game, *[lambda state, rng: 0] * 2, games=2, seed=1, max_plies=5)
        assert never.unfinished == 2
        assert math.isnan(never.mean_difference)
        assert math.isnan(never.standard_error)
        assert never.interval is None
        assert "nan" not in never._repr_html_()
        assert "unknown: there are no pairs of games that have ended" in never._repr_html_()
        single = gamedp.play.match(
            game, *[gamedp.play.RandomPlayer(game)] * 2, games=2, seed=1, max_plies=1000
        )
        assert single.interval is None
        assert "nan" not in single._repr_html_()
        assert "no error: fewer than two pairs of games" in single._repr_html_()

    def test_says_how_many_games_differ(self):
        solution = gamedp.solve(SMALL, **PLAIN)
        result = gamedp.play.match(SMALL, solution, solution, games=10, seed=1)
        assert result.distinct == 1
        assert result.standard_error == 0

    def test_progress(self):
        told = []
        game = Round()
        gamedp.play.match(
            game,
            *[lambda state, rng: 0] * 2,
            games=4,
            seed=0,
            max_plies=20_000,
            progress=told.append,
        )
        assert told
        assert {report.phase for report in told} == {"play"}
        assert {report.total for report in told} == {4}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"games": "7"}, "games is '7'; it must be an integer"),
            ({"games": 0}, "games is 0; it must be an integer, 1 or more"),
            ({"opening": -1}, "opening is -1"),
            ({"opening": 9, "max_plies": 9}, "opening is 9"),
            ({"max_plies": 0}, "max_plies is 0"),
            ({"max_plies": float("nan")}, "max_plies is nan; it must be an integer"),
        ],
    )
    def test_refuses_senseless_options(self, options, message):
        players = [gamedp.play.RandomPlayer(SMALL)] * 2
        with pytest.raises(gamedp.errors.InvalidParameterError, match=message):
            gamedp.play.match(SMALL, *players, seed=0, **options)

    def test_each_takes_every_seat_where_three_play(self):
        game, asked = Mancala(players=3, pits=2, stones=2), []

        def first(state, rng):
            asked.append(state.player)
            return min(game.actions(state))

        result = gamedp.play.match(game, first, gamedp.play.RandomPlayer(game), games=9, seed=1)
        assert set(asked) == {0, 1, 2}
        assert result.players == gamedp.play.Match(result.records).players == 3
        # Nothing but the payoffs: one's own, and those of the two others.
        own = [record.payoffs[number % 3] for number, record in enumerate(result.records)]
        others = [
            [payoff for seat, payoff in enumerate(record.payoffs) if seat != number % 3]
            for number, record in enumerate(result.records)
        ]
        ahead = [mine - sum(rest) / 2 for mine, rest in zip(own, others, strict=True)]
        assert result.differences.tolist() == pytest.approx(ahead)
        assert result.wins == sum(m > max(r) for m, r in zip(own, others, strict=True))
        assert result.draws == sum(m == max(r) for m, r in zip(own, others, strict=True))
        assert result.wins + result.draws + result.losses == 9
        means = np.reshape(ahead, (3, 3)).mean(axis=1)
        assert result.standard_error == pytest.approx(stats.sem(means))
        assert len(gamedp.play.match(game, first, first, games=10, seed=1).records) == 12

    def test_is_not_for_one(self):
        @attrs.frozen
        class Alone(Round):
            num_players = 1

        with pytest.raises(gamedp.UnsupportedProblemError, match="has 1"):
            gamedp.play.match(
                Alone(), gamedp.play.RandomPlayer(Alone()), gamedp.play.RandomPlayer(Alone())
            )

    def test_has_pairs(self):
        record = gamedp.play.play_game(SMALL, [gamedp.play.RandomPlayer(SMALL)] * 2, 0)
        for records in ((), (record,)):
            with pytest.raises(gamedp.errors.InvalidParameterError, match="in pairs"):
                gamedp.play.Match(records)


def start_of(game):
    """Return the fields of the position in which a game that was kept begins."""
    return game["start"]["fields"]


def nested(depth):
    """Return a list in a list, and so on."""
    found = []
    for _ in range(depth):
        found = [found]
    return found


class TestFiles:
    @pytest.mark.parametrize("game", [SMALL, Wubbel(goal=8), Matches(matches=7)], ids=repr)
    def test_what_is_read_is_what_was_written(self, game, tmp_path):
        players = [gamedp.play.RandomPlayer(game)] * 2
        result = gamedp.play.match(game, *players, games=8, seed=3)
        gamedp.play.save_games(tmp_path / "games.jsonl", game, result.records)
        assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 9
        made, records = gamedp.play.load_games(tmp_path / "games.jsonl")
        assert made == game
        assert tuple(records) == result.records
        assert gamedp.play.Match(records).wins == result.wins
        assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]

    def test_rewards_and_unfinished_games(self, tmp_path):
        records = [
            gamedp.play.play_game(Toss(), [gamedp.play.RandomPlayer(Toss())] * 3, seed)
            for seed in range(4)
        ]
        gamedp.play.save_games(tmp_path / "tosses", Toss(), records)
        assert gamedp.play.load_games(tmp_path / "tosses", Toss())[1] == records
        left = gamedp.play.play_game(Round(), [lambda state, rng: 0] * 2, 0, max_plies=7)
        gamedp.play.save_games(tmp_path / "left", Round(), [left])
        assert gamedp.play.load_games(tmp_path / "left", Round())[1] == [left]

    @pytest.fixture
    def kept(self, tmp_path):
        game = Wubbel(goal=8)
        result = gamedp.play.match(game, *[gamedp.play.RandomPlayer(game)] * 2, games=2, seed=3)
        gamedp.play.save_games(tmp_path / "games", game, result.records)
        return tmp_path / "games"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda game: game["actions"].append(0), "does not follow the rules"),
            (lambda game: game["actions"].__setitem__(0, 1), "1 is not an action in"),
            (lambda game: game["actions"].__setitem__(0, 0.0), "0.0 is not an action in"),
            (lambda game: game["outcomes"].__setitem__(0, 9), "outcome 9 cannot come up"),
            (lambda game: game["outcomes"].__setitem__(0, -1), "outcome -1 cannot come up"),
            (lambda game: game["outcomes"].__setitem__(0, True), "outcome True cannot come up"),
            (lambda game: game["payoffs"].reverse(), "the payoffs are"),
            (lambda game: game.update(payoffs=None), "the payoffs are"),
            (lambda game: game.pop("start"), "does not follow the rules"),
            (lambda game: game.update(start=nested(600)), "does not follow the rules"),
            (lambda game: start_of(game).update(own=3), "where no game of these rules begins"),
            (lambda game: start_of(game).update(own="3"), "is not an integer"),
            (lambda game: start_of(game).update(own=None), "is not an integer"),
            (lambda game: game.update(start=list(start_of(game).values())), "does not fit the"),
            (
                lambda game: game.update(forfeit={"player": 0, "reason": "time", "detail": ""}),
                "it ends before it is forfeited",
            ),
        ],
        ids=[
            *("too long", "no action", "float", "no outcome", "before", "true", "payoffs", "end"),
            *("no start", "deep", "elsewhere", "text", "nothing", "tuple", "forfeited"),
        ],
    )
    def test_what_cannot_have_been_is_found(self, kept, change, message):
        head, first, second = map(json.loads, kept.read_text().splitlines())
        change(second)
        kept.write_text("\n".join(map(json.dumps, (head, first, second))))
        with pytest.raises(gamedp.errors.DamagedFileError, match=message) as caught:
            gamedp.play.load_games(kept)
        assert "game 2 in " in str(caught.value)

    @pytest.mark.parametrize(
        "text",
        ["", "nonsense", "[1]", '{"format": "another"}', "\ufeff", "[" * 100_000],
        ids=["empty", "nonsense", "list", "format", "mark", "brackets"],
    )
    def test_other_files_are_refused(self, tmp_path, text):
        (tmp_path / "other").write_text(text)
        with pytest.raises(gamedp.errors.DamagedFileError, match="other"):
            gamedp.play.load_games(tmp_path / "other")

    def test_a_game_that_was_begun_elsewhere_is_read_again(self, tmp_path):
        game = Matches(matches=7)
        players = [gamedp.play.RandomPlayer(game)] * 2
        begun = MatchesState(player=1, left=4)
        record = gamedp.play.play_game(game, players, 1, start=begun)
        gamedp.play.save_games(tmp_path / "games", game, [record])
        assert gamedp.play.load_games(tmp_path / "games")[1] == [record]
        text = (tmp_path / "games").read_text()
        (tmp_path / "games").write_text(text.replace('"elsewhere": true', '"elsewhere": 1'))
        with pytest.raises(gamedp.errors.DamagedFileError, match="no game of these rules begins"):
            gamedp.play.load_games(tmp_path / "games")

    @pytest.mark.parametrize(
        ("start", "words"),
        [
            ({"player": 2, "left": 4}, "players are numbered 0 to 1"),
            ({"player": 0, "left": 2.5}, "is not an integer"),
        ],
    )
    def test_nor_does_one_begin_where_the_rules_cannot_go_on(self, start, words, tmp_path):
        game = Matches(matches=7)
        left = gamedp.play.GameRecord((MatchesState(**start),), (), (), None)
        gamedp.play.save_games(tmp_path / "games", game, [left])
        with pytest.raises(gamedp.errors.DamagedFileError, match=words):
            gamedp.play.load_games(tmp_path / "games")

    def test_other_rules_are_found(self, kept):
        with pytest.raises(gamedp.errors.DamagedFileError, match="does not follow the rules"):
            gamedp.play.load_games(kept, Matches())

    def test_states_that_cannot_be_written(self, tmp_path):
        record = gamedp.play.GameRecord((frozenset({1}),), (), (), None)
        with pytest.raises(gamedp.UnsupportedProblemError, match="cannot be kept in a file"):
            gamedp.play.save_games(tmp_path / "games", SMALL, [record])
        assert not list(tmp_path.iterdir())


class TestDrawn:
    def test_what_is_certain_takes_nothing_from_the_generator(self):
        rng = np.random.default_rng(1)
        assert drawn(rng, [0.0, 1.0, 0.0]) == 1
        assert rng.random() == np.random.default_rng(1).random()

    def test_never_what_cannot_be(self):
        rng = np.random.default_rng(1)
        found = {drawn(rng, [0.0, 0.5, 0.0, 0.5, 0.0]) for _ in range(100)}
        assert found == {1, 3}

    def test_the_last_one_where_rounding_falls_short(self):
        class Top:
            def random(self):
                return 1.0

        assert drawn(Top(), [0.1] * 10 + [0.0]) == 9

    def test_refuses_no_chance_at_all(self):
        with pytest.raises(gamedp.InvalidModelError, match="none of them above 0"):
            drawn(np.random.default_rng(1), [0.0, 0.0])


class TestBindOnce:
    def test_games_are_bound_once(self, monkeypatch):
        bound = []
        original = compiler_search._compiled

        def counted(rules, *arguments, **options):
            bound.append(rules.game)
            return original(rules, *arguments, **options)

        monkeypatch.setattr(compiler_search, "_compiled", counted)
        game, other = Mancala(pits=2, stones=1), Mancala(pits=2, stones=2)
        with compiler_search.bind_once(), compiler_search.bind_once():
            for _ in range(3):
                values = [
                    gamedp.searchers.AlphaBeta(depth=4).search(each).value()
                    for each in (game, other)
                ]
        assert bound == [game, other]
        assert values == [
            gamedp.searchers.AlphaBeta(depth=4).search(each, **PLAIN).value()
            for each in (game, other)
        ]
        gamedp.searchers.AlphaBeta(depth=4).search(game)
        assert bound == [game, other, game]

    def test_what_does_not_compile_warns_once_and_is_not_tried_again(self, monkeypatch):
        tried = []

        def refuses(*arguments, **_options):
            tried.append(arguments)
            raise TypeError

        monkeypatch.setattr(compiler_search, "_compiled", refuses)
        players = [gamedp.searchers.AlphaBeta(depth=2)] * 2
        with pytest.warns(gamedp.errors.CompilationWarning) as warned:
            gamedp.play.play_game(SMALL, players, 0)
        assert (len(tried), len(warned)) == (1, 1)


class TestPolicies:
    def test_a_policy_plays_what_it_says(self):
        model = gamedp.compile(Matches(matches=9), **PLAIN)
        policy = gamedp.Policy.from_function(model, lambda state: 1)
        record = gamedp.play.play_game(Matches(matches=9), [policy, lambda state, rng: 1], 0)
        assert record.actions == (1,) * 9

    def test_a_mixed_policy_draws_by_the_seed(self):
        model = gamedp.compile(Matches(matches=9), **PLAIN)
        policy = gamedp.Policy.from_function(model, lambda state: {1: 0.75, 2: 0.25})
        firsts = [
            gamedp.play.play_game(Matches(matches=9), [policy] * 2, seed, max_plies=1).actions[0]
            for seed in range(400)
        ]
        assert 70 <= firsts.count(2) <= 130  # 100 expected, standard deviation 8.7
        assert firsts.count(1) + firsts.count(2) == 400
        games = [gamedp.play.play_game(Matches(matches=9), [policy] * 2, 5) for _ in range(2)]
        assert games[0] == games[1]

    def test_an_object_that_chooses_plays_and_must_choose_an_action(self):
        @attrs.frozen
        class Take:
            many: int

            def choose(self, state):
                return self.many

        game = Matches(matches=9)
        assert gamedp.play.play_game(game, [Take(1), Take(1)], 0).actions == (1,) * 9
        with pytest.raises(gamedp.errors.InvalidParameterError, match=r"Take\(many=7\) takes 7"):
            gamedp.play.play_game(game, [Take(7), Take(1)], 0)


class Thirds:
    """Rewards that cancel out exactly, though their doubles do not."""

    num_players = 2

    def __init__(self, kind):
        self.kind = kind

    def initial_state(self):
        return (0,)

    def is_terminal(self, state):
        return state[0] == 3

    def player(self, state):
        return state[0] % 2

    def actions(self, state):
        return [0]

    def outcomes(self, state, action):
        return [(self.kind("0.5"), (state[0] + 1,)), (self.kind("0.5"), (state[0] + 1,))]

    def reward(self, state, action, player):
        reward = [self.kind("0.1"), self.kind("0.2"), self.kind("-0.3")][state[0]]
        return reward if player == 0 else -reward

    def payoff(self, state, player):
        return 0


@pytest.mark.parametrize("kind", [Fraction, Decimal])
def test_rewards_of_rational_numbers_are_added_exactly(kind):
    def first(state, rng):
        return 0

    match = gamedp.play.match(Thirds(kind), first, first, games=4, seed=1, compile="never")
    assert (match.wins, match.draws, match.losses) == (0, 4, 0)
    assert {record.payoffs for record in match.records} == {(0.0, 0.0)}


def test_a_probability_that_is_none_is_named():
    class Game(Thirds):
        def outcomes(self, state, action):
            return [("0.5", (1,)), (0.5, (2,))]

    players = [lambda state, rng: 0] * 2
    with pytest.raises(gamedp.InvalidModelError, match=r"probability '0\.5', which is not a numb"):
        gamedp.play.match(Game(Fraction), *players, games=1, compile="never")
