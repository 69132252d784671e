"""Round robins: pairs with the same dice, files to go on from, ratings, and when to stop."""

import itertools
import json
import math
import os
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path

import attrs
import numpy as np
import pytest
from executors import Shuffling, processes
from rule_games import Three
from scipy.optimize import minimize
from waiting import wait_until

import gamedp
from gamedp.errors import DamagedFileError, InvalidParameterError, UnsupportedProblemError
from gamedp.games import wubbel
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Wubbel
from gamedp.play import Pairing, Program, RandomPlayer, sprt, tournament
from gamedp.play.statistics import rated
from gamedp.simulation.chain_games import ChainGames

GAME = Wubbel(goal=12)
BAD_BOT = Path(__file__).parent.parent / "helpers" / "bad_bot.py"


@attrs.frozen
class Hold:
    at: int

    def choose(self, state):
        return int(state.turn >= self.at)


PLAYERS = {f"hold {at}": Hold(at) for at in (3, 6, 9)}


class TestGames:
    def test_the_same_seed_gives_the_same_games_and_another_one_others(self):
        first, again, other = (
            tournament(GAME, PLAYERS, games=20, seed=seed, records=True) for seed in (1, 1, 2)
        )
        assert first == again
        assert first.records == again.records
        assert first.records != other.records
        assert len(first.records) == 3 * 20
        assert [pairing.games for pairing in first.pairings] == [20] * 3
        assert tournament(GAME, PLAYERS, games=20, seed=1).records == ()

    def test_who_else_plays_changes_nothing(self):
        every = tournament(GAME, PLAYERS, games=20, seed=1)
        two = {name: PLAYERS[name] for name in ("hold 3", "hold 9")}
        assert tournament(GAME, two, games=20, seed=1).pairings == (every.pairings[1],)

    def test_both_games_of_a_pair_have_the_same_dice(self):
        same = {"one": Hold(6), "other": Hold(6)}
        result = tournament(GAME, same, games=20, seed=4, records=True)
        for (_, _, first), (_, _, second) in zip(
            result.records[::2], result.records[1::2], strict=True
        ):
            assert first == second
        assert result.pairings[0].pair_scores == [0, 0, 10, 0, 0]

    def test_a_seats_dice_do_not_change_with_what_the_other_one_does(self):
        def faces(record, seat):
            return [
                outcome
                for state, action, outcome in zip(
                    record.states, record.actions, record.outcomes, strict=False
                )
                if state.player == seat and action == 0
            ]

        result = tournament(GAME, {"a": Hold(3), "b": Hold(9)}, games=40, seed=5, records=True)
        differ = 0
        for (_, _, first), (_, _, second) in zip(
            result.records[::2], result.records[1::2], strict=True
        ):
            for seat in (0, 1):
                one, other = faces(first, seat), faces(second, seat)
                common = min(len(one), len(other))
                assert one[:common] == other[:common]
                differ += len(one) != len(other)
        assert differ > 10

    def test_counts_are_those_of_the_games(self):
        result = tournament(GAME, PLAYERS, games=30, seed=6, records=True)
        for pairing in result.pairings:
            firsts = [r for a, b, r in result.records if (a, b) == (pairing.one, pairing.other)]
            seconds = [r for a, b, r in result.records if (b, a) == (pairing.one, pairing.other)]
            won = [sum(r.payoffs[0] == 1 for r in firsts), sum(r.payoffs[1] == 1 for r in seconds)]
            assert pairing.first == [won[0], 0, 15 - won[0]]
            assert pairing.second == [won[1], 0, 15 - won[1]]
            points = [
                int(a.payoffs[0] + b.payoffs[1]) for a, b in zip(firsts, seconds, strict=True)
            ]
            assert pairing.pair_scores == [points.count(0), 0, points.count(1), 0, points.count(2)]
            assert pairing.score == sum(won) / 30
        assert sum(result.score(name) for name in result.names) == 90
        assert result.pairing("hold 9", "hold 3") == result.pairings[1]

    def test_games_are_rounded_up_to_whole_pairs(self):
        found, even = (tournament(GAME, PLAYERS, games=games, seed=1) for games in (3, 4))
        assert found == even
        assert found.games == found.pairings[0].games == 4

    def test_openings_are_the_same_in_both_games(self):
        players = {"a": Hold(3), "b": Hold(9)}
        result = tournament(GAME, players, games=20, seed=5, opening=4, records=True)
        for (_, _, first), (_, _, second) in zip(
            result.records[::2], result.records[1::2], strict=True
        ):
            assert first.states[:5] == second.states[:5]

    def test_a_fault_changes_the_results_of_its_own_games_alone(self):
        bot = Program((sys.executable, "-I", "-S", str(BAD_BOT), "illegal", "1"),
                      seconds=600, start_seconds=300)  # fmt: skip
        with_bot = tournament(GAME, {**PLAYERS, "bot": bot}, games=4, seed=1)
        without = tournament(GAME, PLAYERS, games=4, seed=1)
        kept = [each for each in with_bot.pairings if each.other != "bot"]
        assert tuple(kept) == without.pairings
        lost = [each for each in with_bot.pairings if each.other == "bot"]
        assert sum(sum(each.forfeits.values()) for each in lost) >= 6
        assert all(set(each.forfeits) <= {("bot", "illegal action")} for each in lost)

    def test_an_unfinished_game_is_no_draw(self):
        result = tournament(GAME, PLAYERS, games=4, seed=1, max_plies=2)
        pairing = result.pairings[0]
        assert (pairing.games, pairing.unfinished, sum(pairing.pair_scores)) == (0, 4, 0)
        assert math.isnan(pairing.score)
        assert result.score("hold 3") == 0

    def test_a_match_stops_when_it_is_decided_and_goes_on_to_the_same_end(self, tmp_path):
        path = tmp_path / "games.jsonl"
        players = {"strong": Hold(6), "weak": Hold(1)}
        match = {"games": 2_000, "seed": 1, "better_by": (0, 100)}
        found = tournament(GAME, players, **match, save=path)
        pairing = found.pairings[0]
        assert found.test.verdict == "better"
        assert found.test == sprt(pairing.pair_scores, (0, 100))
        assert pairing.games < 1_000
        lines = path.read_bytes().splitlines(keepends=True)
        assert len(lines) == 1 + pairing.games // 2
        path.write_bytes(b"".join(lines[:-5]))
        assert tournament(GAME, players, **match, save=path) == found
        assert tournament(GAME, players, **match, save=path) == found  # nothing is left to do
        assert path.read_bytes() == b"".join(lines)
        mirrored = dict(reversed(players.items()))
        assert tournament(GAME, mirrored, **match).test.verdict == "not better"
        assert tournament(GAME, players, games=2, seed=1, better_by=(0, 1)).test.verdict == (
            "undecided"
        )

    def test_what_makes_no_sense_is_refused(self):
        for players, options, part in [
            (PLAYERS, {"better_by": (0, 5)}, "for two players"),
            ({"a": Hold(1), "b": Hold(2)}, {"better_by": (5, 0)}, "the smaller one first"),
            ({"a": Hold(1)}, {}, "two or more"),
            ({"a": Hold(1), 3: Hold(1)}, {}, "by a name"),
            (PLAYERS, {"games": 2.5}, "games is 2.5; it must be an integer, 1 or more"),
            (PLAYERS, {"games": 0}, "games is 0; it must be an integer, 1 or more"),
            (PLAYERS, {"opening": -1}, "opening is -1"),
            (PLAYERS, {"max_plies": 0}, "max_plies is 0"),
            (PLAYERS, {"max_plies": math.inf}, "max_plies is inf; it must be an integer"),
            (PLAYERS, {"opening": 0.5}, "opening is 0.5; it must be an integer"),
            (PLAYERS, {"seed": -1}, "seed is -1"),
            (PLAYERS, {"seed": np.random.default_rng(1)}, "it must be an integer, 0 or more"),
            ({"a": 1, "b": 2}, {}, "not a player"),
        ]:
            with pytest.raises(InvalidParameterError, match=part):
                tournament(GAME, players, **options)
        with pytest.raises(UnsupportedProblemError, match="has 1"):
            tournament(OnePlayer(), PLAYERS)
        with pytest.raises(InvalidParameterError, match="no games between"):
            tournament(GAME, PLAYERS, games=2, seed=1).pairing("hold 3", "nobody")


class TestExecutors:
    @pytest.mark.slow
    def test_results_do_not_depend_on_the_workers(self, pool, tmp_path):
        players = {
            "hold": wubbel.Hold(6),
            "search": gamedp.searchers.Expectiminimax(depth=2),
            "random": RandomPlayer(GAME),
            "program": Program(["no such program"]),
        }
        arguments = {"games": 8, "seed": 1, "records": True}
        alone = tournament(GAME, players, **arguments, save=tmp_path / "alone")
        assert alone.pairings[-1].forfeits
        with ThreadPoolExecutor(2) as threads, Shuffling() as shuffling:
            for number, executor in enumerate((threads, shuffling, pool)):
                save = tmp_path / f"{number}"
                found = tournament(GAME, players, **arguments, save=save, executor=executor)
                assert found == alone
                assert found.records == alone.records
                assert save.read_bytes() == (tmp_path / "alone").read_bytes()

    def test_three_players(self, pool):
        game = Three()
        players = {name: RandomPlayer(game) for name in "abc"}
        found = [tournament(game, players, games=10, seed=1, executor=e) for e in (None, pool)]
        assert found[0] == found[1]

    def test_a_match_stops_where_it_stops_alone(self, pool):
        players = {name: wubbel.Hold(at) for name, at in (("good", 8), ("bad", 1))}
        arguments = {"games": 400, "seed": 1, "better_by": (0, 50)}
        alone = tournament(GAME, players, **arguments)
        assert alone.pairings[0].games < 400
        assert tournament(GAME, players, **arguments, executor=pool) == alone

    def test_a_player_who_cannot_be_sent_is_named(self, pool):
        players = {"hold": wubbel.Hold(6), "odd": lambda state, rng: 1}
        message = "player 'odd', .*lambda.* cannot be sent to workers: .* an executor of threads"
        with pytest.raises(InvalidParameterError, match=message):
            tournament(GAME, players, games=4, executor=pool)
        with ThreadPoolExecutor(2) as threads:
            found = tournament(GAME, players, games=4, seed=1, executor=threads)
        assert found == tournament(GAME, players, games=4, seed=1)

    def test_what_was_saved_before_a_worker_died_is_gone_on_with(self, pool, tmp_path):
        players, save = {name: wubbel.Hold(6) for name in "ab"}, tmp_path / "save"
        with processes(1) as lost:
            lost.submit(os.abort)
            with pytest.raises(BrokenExecutor, match="Call again with a new executor"):
                tournament(GAME, players, games=40, seed=1, save=save, executor=lost)
        found = tournament(GAME, players, games=40, save=save, executor=pool)
        assert found == tournament(GAME, players, games=40, seed=1)


class OnePlayer(Matches):
    num_players = 1


OPTIONS = {"games": 10, "seed": 1}


class TestFiles:
    def test_it_goes_on_from_wherever_it_was_stopped(self, tmp_path):
        whole = tmp_path / "whole.jsonl"
        expected = tournament(GAME, PLAYERS, **OPTIONS, save=whole)
        text = whole.read_bytes()
        assert len(text.splitlines()) == 1 + 15
        for size in (*range(0, len(text), 97), len(text) - 1, len(text)):
            part = tmp_path / "part.jsonl"
            part.write_bytes(text[:size])
            assert tournament(GAME, PLAYERS, **OPTIONS, save=part) == expected
            assert part.read_bytes() == text

    def test_what_is_there_is_not_played_again(self, tmp_path):
        path = tmp_path / "games.jsonl"
        expected = tournament(GAME, PLAYERS, **OPTIONS, save=path)
        never = dict.fromkeys(PLAYERS, lambda state, rng: 1 / 0)
        assert tournament(GAME, never, games=10, save=path) == expected

    def test_another_round_robin_and_foreign_files_are_left_alone(self, tmp_path):
        path = tmp_path / "games.jsonl"
        tournament(GAME, PLAYERS, **OPTIONS, save=path)
        text = path.read_bytes()
        for game, players, options, part in [
            (Wubbel(goal=13), PLAYERS, {}, "game is"),
            (GAME, {"x": Hold(1), "y": Hold(2)}, {}, "players is"),
            (GAME, PLAYERS, {"games": 12}, "games is 10 there, and 12 here"),
            (GAME, PLAYERS, {"seed": 2}, "seed is 1 there, and 2 here"),
            (GAME, PLAYERS, {"opening": 1}, "opening is"),
            (GAME, PLAYERS, {"max_plies": 9}, "max_plies is"),
        ]:
            with pytest.raises(InvalidParameterError, match=part):
                tournament(game, players, **OPTIONS | options, save=path)
            assert path.read_bytes() == text
        first, second, *_ = text.splitlines(keepends=True)
        broken = [
            b"my diary",
            b"my diary\n",
            b"[]\n",
            b"[" * 20_000 + b"\n",
            first.replace(b'"seed": 1', b'"seed": true'),
            first + b"nonsense\n",
            first + second.replace(b", 0,", b", 1,"),
            first + second.replace(b"played", b"subprocess"),
            first + second.replace(b'"loss", "played"', b'"none", "time"', 1),
            first + second.replace(b'"loss", "played"', b'"draw", "time"', 1),
            first + second.replace(b'"win"', b'["win"]', 1).replace(b'"loss"', b"{}", 1),
            first + second.replace(b'"hold 3"', b'"hold 4"'),
            first + b"[" * 20_000 + b"\n",
            text + second,
        ]
        for wrong in broken:
            path.write_bytes(wrong)
            with pytest.raises(DamagedFileError):
                tournament(GAME, PLAYERS, **OPTIONS, save=path)
            assert path.read_bytes() == wrong

    @pytest.mark.skipif(os.name != "posix", reason="file locks")
    def test_one_at_a_time_may_write_to_a_file(self, tmp_path):
        path, tried = tmp_path / "games.jsonl", []

        def meddles(state, _rng):
            if not tried:
                tried.append(True)
                with pytest.raises(InvalidParameterError, match="another tournament is writing"):
                    tournament(GAME, players, games=4, seed=1, save=path)
            return PLAYERS["hold 3"].choose(state)

        players = {"meddles": meddles, "hold 6": PLAYERS["hold 6"]}
        found = tournament(GAME, players, games=4, seed=1, save=path)
        assert tried
        assert tournament(GAME, players, games=4, seed=1, save=path) == found  # it is let go

    @pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
    def test_a_kill_loses_nothing(self, tmp_path):
        path = tmp_path / "games.jsonl"
        script = (
            "import sys, gamedp\n"
            f"sys.path[:0] = {[str(Path(__file__).parent), str(BAD_BOT.parent)]!r}\n"
            "from test_tournament import GAME, PLAYERS\n"
            f"gamedp.play.tournament(GAME, PLAYERS, games=100_000, seed=1, save={str(path)!r})\n"
        )
        child = subprocess.Popen([sys.executable, "-c", script])
        wait_until(lambda: path.exists() and path.stat().st_size >= 5_000, child)
        child.send_signal(signal.SIGKILL)
        child.wait()
        kept = path.read_bytes()
        done = kept.count(b"\n") - 1
        rounds = done // 3 + 2  # as many as are there, and some to go
        head = json.loads(kept.splitlines()[0]) | {"games": 2 * rounds}
        path.write_bytes(b"\n".join([json.dumps(head).encode(), *kept.split(b"\n")[1:]]))
        resumed = tournament(GAME, PLAYERS, games=2 * rounds, seed=1, save=path)
        assert resumed == tournament(GAME, PLAYERS, games=2 * rounds, seed=1)


class TestExact:
    def test_policies_need_not_play(self):
        players = {
            "best": gamedp.solve(GAME, compile="never"),
            "hold 6": Hold(6),
            "random": RandomPlayer(GAME),
        }
        table = tournament(GAME, players, games=1000, seed=1, exact=True, compile="never")
        assert [pairing.is_exact for pairing in table.pairings] == [True] * 3
        for pairing in table.pairings:
            pair = [players[pairing.one], players[pairing.other]]
            first = gamedp.evaluate(GAME, pair, compile="never").value()
            second = gamedp.evaluate(GAME, pair[::-1], compile="never").value(player=1)
            assert pairing.first == pytest.approx([500 * first, 0, 500 * (1 - first)])
            assert pairing.second == pytest.approx([500 * second, 0, 500 * (1 - second)])
            assert pairing.games == pytest.approx(1000)
            assert pairing.unfinished == 0
        best, _, worst = table.ratings().elo
        assert best > 0 > worst
        assert "<td>2,000</td>" in table._repr_html_()

    def test_who_must_play_does(self, tmp_path):
        def function(state, _rng):
            return int(state.turn >= 5)

        players = {"hold 3": Hold(3), "function": function, "hold 6": Hold(6)}
        options = {"games": 10, "seed": 1, "compile": "never"}
        path = tmp_path / "games.jsonl"
        mixed = tournament(GAME, players, **options, exact=True, save=path)
        sampled = tournament(GAME, players, **options)
        assert [pairing.is_exact for pairing in mixed.pairings] == [False, True, False]
        assert mixed.pairings[0] == sampled.pairings[0]
        assert mixed.pairings[2] == sampled.pairings[2]
        assert path.read_bytes().count(b"\n") == 1 + 2 * 5
        assert tournament(GAME, players, **options, exact=True, save=path) == mixed
        with pytest.raises(InvalidParameterError, match="exact"):
            tournament(GAME, players, **options, save=path)

    def test_draws_and_endless_play_are_told_apart(self):
        players = {"one": Steps(1), "two": Steps(2)}
        (pairing,) = tournament(Ring(), players, games=8, exact=True, compile="never").pairings
        assert pairing.first == [0, 4, 0]
        assert pairing.second == [0, 0, 0]
        assert pairing.unfinished == 4

    def test_exact_results_have_no_openings_and_tests(self):
        for options in ({"opening": 2}, {"better_by": (0, 5)}):
            with pytest.raises(InvalidParameterError, match="exact results"):
                tournament(GAME, {"a": Hold(3), "b": Hold(6)}, exact=True, **options)


@attrs.frozen
class Steps:
    size: int

    def choose(self, _state):
        return self.size


@attrs.frozen
class Ring:
    """Two players step around three places; the game ends in a draw on place 1."""

    num_players = 2

    def initial_state(self):
        return (0, 0)

    def player(self, state):
        return state[1]

    def is_terminal(self, state):
        return state == (1, 1)

    def actions(self, _state):
        return [1, 2]

    def outcomes(self, state, action):
        yield 1.0, ((state[0] + action) % 3, 1 - state[1])

    def payoff(self, _state, _player):
        return 0.0


RESULTS = [(0, 1, 30.5, 9.5), (1, 0, 20, 20), (1, 2, 33, 7), (2, 0, 4, 36), (0, 2, 40, 0)]


def singly(results):
    """Return games that do not depend on each other: (first, second, wins, losses)."""
    return [
        (count, [(first, second, score)])
        for first, second, wins, losses in results
        for count, score in ((wins, 1.0), (losses, 0.0))
    ]


class TestRatings:
    def test_they_maximise_the_posterior(self):
        found = rated(["a", "b", "c"], singly(RESULTS))

        def loss(x):
            total = 0.5 * (x @ x) / 1_000**2
            for first, second, wins, losses in RESULTS:
                expected = 1 / (1 + 10 ** (-(x[first] - x[second] + x[3]) / 400))
                total -= wins * math.log(expected) + losses * math.log1p(-expected)
            return total

        best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-7}).x
        centred = best[:3] - best[:3].mean()
        assert found.elo == pytest.approx(centred, abs=1e-3)
        assert found.first_move == pytest.approx(best[3], abs=1e-3)
        assert found.elo.sum() == pytest.approx(0, abs=1e-9)

    def test_errors_are_as_wide_as_estimates_scatter(self):
        truth, first = np.array([120.0, 0.0, -120.0]), 40.0
        rng = np.random.default_rng(0)
        estimates, errors = [], []
        for _ in range(400):
            results = []
            for one, other in itertools.permutations(range(3), 2):
                chance = 1 / (1 + 10 ** (-(truth[one] - truth[other] + first) / 400))
                wins = rng.binomial(60, chance)
                results.append((one, other, wins, 60 - wins))
            found = rated("abc", singly(results))
            estimates.append([*found.elo, found.first_move])
            errors.append([*found.errors, found.first_move_error])
        scatter = np.std(estimates, axis=0)
        assert np.mean(errors, axis=0) == pytest.approx(scatter, rel=0.12)
        assert np.mean(estimates, axis=0) == pytest.approx([*truth, first], abs=5)

    def test_a_perfect_score_has_a_finite_rating_and_a_wide_error(self):
        found = rated("ab", singly([(0, 1, 10, 0), (1, 0, 0, 10)]))
        assert 200 < found.elo[0] < 1_000
        assert found.errors[0] > 100
        nothing = rated("ab", [])
        assert nothing.elo.tolist() == [0, 0]
        assert nothing.errors[0] > 500

    def test_games_of_a_pair_may_depend_on_each_other(self):
        """The luck of a seat, twice: half as many games as there seem to be tell of it."""
        pairs = [[(0, 1, score), (1, 0, score)] for score in (1.0, 0.0)]
        found = rated("ab", [(50, games) for games in pairs])
        single = rated("ab", singly([(0, 1, 50, 50), (1, 0, 50, 50)]))
        assert found.first_move_error == pytest.approx(2**0.5 * single.first_move_error, rel=0.01)
        assert found.errors == pytest.approx(single.errors, rel=0.01)

    def test_the_first_seat_is_known_as_well_as_its_error_says(self):
        """Of the same player twice, in a game of luck: the two games of a pair are the same."""
        players = {"a": Hold(4), "b": Hold(4)}
        game = Wubbel(goal=12)
        truth = tournament(game, players, exact=True).ratings().first_move
        within = 0
        for seed in range(60):
            found = tournament(game, players, games=60, seed=seed).ratings()
            within += abs(found.first_move - truth) <= 1.96 * found.first_move_error
        assert within >= 52  # with 0.83 of them, as if all games were independent, 50 on average

    def test_those_of_a_round_robin_are_of_its_games(self):
        result = tournament(GAME, PLAYERS, games=40, seed=1)
        found = result.ratings()
        assert found.names == result.names
        order = sorted(result.names, key=result.score)
        assert sorted(result.names, key=dict(zip(found.names, found.elo, strict=True)).get) == order


class TestSprt:
    @pytest.mark.parametrize(
        ("counts", "better_by", "llr"),
        [
            ((379, 10_170, 21_828, 10_640, 343), (0, 2), 2.946),
            ((365, 16_618, 36_229, 16_974, 390), (0, 2), 2.25),
            ((127, 4_883, 10_712, 5_150, 104), (-1.75, 0.25), 3.01),
            ((0, 0, 0, 0, 5_550), (0, 5), 111.8),
        ],
    )
    def test_it_agrees_with_fastchess(self, counts, better_by, llr):
        # As printed there, to two or three digits.
        assert sprt(counts, better_by).llr == pytest.approx(llr, rel=2e-3)

    def test_bounds_are_walds(self):
        found = sprt([0] * 5, errors=(0.05, 0.1))
        assert found.llr == 0
        assert (found.lower, found.upper) == pytest.approx((math.log(0.1 / 0.95), math.log(18)))
        assert found.verdict == "undecided"

    def test_the_mirrored_match_has_the_mirrored_ratio(self):
        counts = [5, 30, 80, 44, 11]
        assert sprt(counts, (2, 9)).llr == pytest.approx(-sprt(counts[::-1], (-9, -2)).llr)

    def test_few_pairs_decide_nothing(self):
        assert sprt([0, 0, 1, 0, 0]).verdict == "undecided"
        assert sprt([0, 0, 0, 0, 1]).verdict == "undecided"

    @pytest.mark.deep
    @pytest.mark.parametrize(("elo", "wrong"), [(0.0, "better"), (100.0, "not better")])
    def test_it_is_wrong_as_rarely_as_it_promises(self, elo, wrong):
        # Scores of pairs whose mean is so many standard deviations above a half.
        shares = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
        scores = np.arange(5) / 4
        for _ in range(60):
            mean = shares @ scores
            deviation = math.sqrt(shares @ (scores - mean) ** 2)
            wanted = 0.5 + math.sqrt(2) * elo / (800 / math.log(10)) * deviation
            shares = shares * np.exp(3 * (wanted - mean) * (scores - 0.5))
            shares /= shares.sum()
        rng = np.random.default_rng(3)
        verdicts = []
        for _ in range(250):
            counts = np.zeros(5)
            while (found := sprt(counts, (0, 100))).verdict == "undecided":
                counts += rng.multinomial(3, shares)
            verdicts.append(found.verdict)
        # 5 % of 250 are 12.5, with a standard deviation of 3.4.
        assert verdicts.count(wrong) <= 22

    @pytest.mark.deep
    def test_false_alarms_between_policies_whose_values_are_known(self):
        """2,000 matches of pairs with the same dice, the smaller difference being the true one."""
        game = Wubbel(goal=20)
        model = gamedp.compile(game)
        pair = [gamedp.Policy.from_function(model, Hold(at).choose, f"hold={at}") for at in (7, 9)]
        first, second = (gamedp.evaluate(model, order) for order in (pair, pair[::-1]))
        mean = (first.value() + second.value(player=1)) / 2
        deviation = gamedp.simulation.simulate_pairs(model, pair, pairs=10**6, seed=1).deviation
        true = (mean - 0.5) / deviation / math.sqrt(2) * 800 / math.log(10)
        games = ChainGames(model, pair, np.uint64(5), 10**6, 1, in_pairs=True)
        matches, room, alarms, step = 2_000, 2_000, 0, 4
        for match in range(matches):
            one, other = games.played_pairs(match * room, match * room + room)
            scores = (one.paid[:, 0] + other.paid[:, 1]).astype(int)
            counts, taken = np.zeros(5), 0
            while (found := sprt(counts, (true, true + 150))).verdict == "undecided":
                part = scores[taken : taken + step]
                assert len(part)
                counts += np.bincount(2 * part, minlength=5)
                taken += step
            alarms += found.verdict == "better"
        # 5 % are 100, with a standard deviation of 9.7.
        assert 20 <= alarms <= 129

    def test_what_makes_no_sense_is_refused(self):
        for arguments, part in [
            (([1, 2, 3],), "5 counts"),
            (([1, 2, 3, 4, -1],), "5 counts"),
            (([1, 2, 3, 4, math.nan],), "5 counts"),
            (([1] * 5, (5, 0)), "the smaller one first"),
            (([1] * 5, (0, 900)), "to 200"),
            (("abcde",), "5 counts"),
            (([1] * 5, 5), "the smaller one first"),
            (([1] * 5, ("a", "b")), "the smaller one first"),
            (([1] * 5, (0, 5), (0.05,)), "two probabilities"),
            (([1] * 5, (0, 5), (0, 0.5)), "two probabilities"),
            (([1] * 5, (0, 5), (0.5, 0.5)), "below 1"),
        ]:
            with pytest.raises(InvalidParameterError, match=part):
                sprt(*arguments)


def test_a_pairing_counts_forfeits_by_who_has_lost():
    pairing = Pairing("a", "b")
    pairing.add([("loss", "time"), ("win", "disconnect")])
    pairing.add([("draw", "played"), ("none", "played")])
    assert pairing.forfeits == {("a", "time"): 1, ("b", "disconnect"): 1}
    assert (pairing.first, pairing.second) == ([0, 1, 1], [1, 0, 0])
    assert (pairing.pair_scores, pairing.unfinished) == ([0, 0, 1, 0, 0], 1)
