"""Round robins of games for three: sets of players in all orders, and their mean payoffs."""

import itertools
import json
import math
from typing import NamedTuple

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.cli import main
from gamedp.errors import DamagedFileError, InvalidParameterError, UnsupportedProblemError
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.play import Program, RandomPlayer, tournament
from gamedp.play.pairing import new_meeting

SAFE, BOLD = 0, 1


class Points(NamedTuple):
    """Whose turn it is, counted from the start, and what each player has."""

    turn: int
    points: tuple[int, int, int]


@attrs.frozen
class ThreeThrows:
    """Take 2 points, or throw for 1 to 4; two rounds. The first of those with most is paid 1."""

    num_players = 3

    def initial_state(self):
        return Points(0, (0, 0, 0))

    def player(self, state):
        return state.turn % 3

    def is_terminal(self, state):
        return state.turn == 6

    def actions(self, state):
        yield SAFE
        yield BOLD

    def outcomes(self, state, action):
        for points in (2,) if action == SAFE else (1, 2, 3, 4):
            own = list(state.points)
            own[state.turn % 3] += points
            yield (1.0 if action == SAFE else 0.25), Points(state.turn + 1, tuple(own))

    def payoff(self, state, player):
        return float(state.points.index(max(state.points)) == player)


@attrs.frozen
class Once:
    """Throws in one of the rounds."""

    when: int

    def choose(self, state):
        return BOLD if state.turn // 3 == self.when else SAFE


@attrs.frozen
class Always:
    action: int

    def choose(self, state):
        return self.action


GAME = ThreeThrows()
PLAYERS = {"bold": Always(BOLD), "safe": Always(SAFE), "early": Once(0), "late": Once(1)}


def test_every_set_of_three_meets_in_all_orders():
    table = tournament(GAME, PLAYERS, games=12, seed=1, records=True)
    sets = list(itertools.combinations(PLAYERS, 3))
    assert [meeting.names for meeting in table.meetings] == sets
    assert all(len(meeting.payoffs) == 2 for meeting in table.meetings)
    orders = [order for *order, _ in table.records]
    assert sorted(map(tuple, orders)) == sorted(
        order for names in sets for order in [*itertools.permutations(names)] * 2
    )
    for names, meeting in zip(sets, table.meetings, strict=True):
        groups = [record for *order, record in table.records if set(order) == set(names)]
        own = [order for *order, _ in table.records if set(order) == set(names)]
        for place, name in enumerate(names):
            paid = [
                record.payoffs[order.index(name)] for order, record in zip(own, groups, strict=True)
            ]
            means = [math.fsum(paid[:6]) / 6, math.fsum(paid[6:]) / 6]
            assert [group[place] for group in meeting.payoffs] == means
    assert table == tournament(GAME, PLAYERS, games=12, seed=1)
    assert table != tournament(GAME, PLAYERS, games=12, seed=2)


def test_who_else_plays_changes_nothing():
    every = tournament(GAME, PLAYERS, games=12, seed=1)
    three = {name: PLAYERS[name] for name in ("bold", "safe", "late")}
    assert tournament(GAME, three, games=12, seed=1).meetings == (every.meetings[1],)


def test_all_games_of_a_group_have_the_same_opening_and_dice():
    same = dict.fromkeys(("one", "other", "third"), Always(BOLD))
    table = tournament(GAME, same, games=30, seed=4, opening=1, records=True)
    groups = [
        [record.states for *_, record in table.records[first : first + 6]]
        for first in range(0, 30, 6)
    ]
    assert all(len(set(states)) == 1 for states in groups)
    assert len({states[0] for states in groups}) > 1
    assert table.payoff("one")[0] == pytest.approx(1 / 3)  # each order once: all get the same
    assert table.payoff("one")[1] == 0.0


def test_mean_payoffs_agree_with_the_exact_ones():
    # By a seed that is fixed: farther than four errors in 6 of 100,000 right programs.
    table = tournament(GAME, PLAYERS, games=300, seed=3, compile="never")
    model = gamedp.compile(GAME, compile="never")
    exact = {}
    for order in itertools.permutations(PLAYERS, 3):
        found = gamedp.evaluate(model, [PLAYERS[name] for name in order])
        for place, name in enumerate(order):
            exact.setdefault(name, []).append(found.value(player=place))
    for name, values in exact.items():
        mean, error = table.payoff(name)
        assert 0 < error < 0.07
        assert abs(mean - np.mean(values)) < 4 * error
    for meeting in table.meetings:
        payoffs = np.array(meeting.payoffs)
        for place, name in enumerate(meeting.names):
            mean, error = meeting.payoff(name)
            assert mean == pytest.approx(payoffs[:, place].mean())
            assert error == pytest.approx(payoffs[:, place].std(ddof=1) / math.sqrt(50))
    own = [meeting.payoff("bold") for meeting in table.meetings if "bold" in meeting.names]
    assert table.payoff("bold")[0] == pytest.approx(np.mean([mean for mean, _ in own]))
    spread = math.sqrt(sum(error**2 for _, error in own)) / 3
    assert table.payoff("bold")[1] == pytest.approx(spread)


def test_games_without_payoffs_are_counted_and_left_out():
    absent = {"bold": Always(BOLD), "safe": Always(SAFE), "gone": Program("./no-such-program")}
    table = tournament(GAME, absent, games=6, seed=1)
    (meeting,) = table.meetings
    assert meeting.forfeits == {("gone", "no start"): 6}
    assert (meeting.payoffs, meeting.unfinished) == ([], 0)
    assert all(map(math.isnan, table.payoff("bold")))
    short = tournament(GAME, PLAYERS, games=6, seed=1, max_plies=3)
    assert [meeting.unfinished for meeting in short.meetings] == [6] * 4
    one = tournament(GAME, PLAYERS, games=6, seed=1)
    mean, error = one.payoff("bold")
    assert 0 <= mean <= 1
    assert math.isnan(error)
    shown = one._repr_html_() + one.meetings[0]._repr_html_()
    assert "nan" not in shown
    assert shown.count("no error: fewer than two groups of games") == len(PLAYERS) + 3
    assert "unknown: there are no groups of games" in table._repr_html_()


def test_what_makes_no_sense_is_refused():
    two = {"bold": Always(BOLD), "safe": Always(SAFE)}
    for players, options, part in [
        (two, {"games": 6}, "there must be 3 or more"),
        (PLAYERS, {"games": -6}, "games is -6; it must be an integer, 1 or more"),
        (PLAYERS, {"games": 6, "better_by": (0, 5)}, "better_by is for two players"),
        (PLAYERS, {"games": 6, "seed": -1}, "seed is -1"),
    ]:
        with pytest.raises(InvalidParameterError, match=part):
            tournament(GAME, players, **options)
    table = tournament(GAME, PLAYERS, games=6, seed=1)
    for ask in (table.ratings, lambda: table.score("bold"), lambda: table.pairing("bold", "safe")):
        with pytest.raises(UnsupportedProblemError, match=r"payoff\(name\) says what a player"):
            ask()
    with pytest.raises(InvalidParameterError, match="there is no player 'nobody'"):
        table.payoff("nobody")
    with pytest.raises(InvalidParameterError, match="'late' is not one of bold, safe, early"):
        table.meetings[0].payoff("late")
    pair = tournament(Wubbel(goal=9), {"a": Hold(3), "b": Hold(5)}, games=2, seed=1)
    with pytest.raises(UnsupportedProblemError, match="games for two are counted as won"):
        pair.payoff("a")


def test_games_are_rounded_up_to_whole_groups():
    assert tournament(GAME, PLAYERS, games=7, seed=1) == tournament(GAME, PLAYERS, games=12, seed=1)
    assert tournament(GAME, PLAYERS, seed=1).games == 102  # by default


def test_what_each_order_brought_is_in_the_records():
    table = tournament(GAME, PLAYERS, games=18, seed=1, records=True)
    for meeting in table.meetings:
        for order in itertools.permutations(meeting.names):
            paid = [record.payoffs for *names, record in table.records if tuple(names) == order]
            assert len(paid) == 3
            assert meeting.by_order[order] == pytest.approx(np.mean(paid, axis=0))


class TestFiles:
    @pytest.mark.slow
    def test_it_goes_on_from_wherever_it_was_stopped(self, tmp_path):
        players = PLAYERS | {"gone": Program("./no-such-program")}
        expected = tournament(GAME, players, games=12, seed=1, save=tmp_path / "whole")
        assert sum(meeting.unfinished for meeting in expected.meetings) == 0
        assert sum(sum(meeting.forfeits.values()) for meeting in expected.meetings) == 6 * 12
        text = (tmp_path / "whole").read_bytes()
        assert len(text.splitlines()) == 1 + 10 * 2
        path = tmp_path / "part"
        for size in (*range(0, len(text), len(text) // 6), len(text) - 1, len(text)):
            path.write_bytes(text[:size])
            assert tournament(GAME, players, games=12, seed=1, save=path) == expected
            assert path.read_bytes() == text

    def test_unfinished_games_are_kept(self, tmp_path):
        never = dict.fromkeys(PLAYERS, lambda state, rng: 1 / 0)
        options = {"games": 6, "seed": 1, "max_plies": 3, "save": tmp_path / "table"}
        table = tournament(GAME, PLAYERS, **options)
        assert [meeting.unfinished for meeting in table.meetings] == [6] * 4
        assert tournament(GAME, never, **options) == table

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda line: line[-1].pop(),
            lambda line: line.insert(0, "bold"),
            lambda line: line.__setitem__(3, 1),
            lambda line: line.__setitem__(3, False),
            lambda line: line[-1][0].__setitem__(0, [1.0, 0.0]),
            lambda line: line[-1][0].__setitem__(0, [1.0, 0.0, math.nan]),
            lambda line: line[-1][0].__setitem__(0, [1.0, 0.0, "0"]),
            lambda line: line[-1][0].__setitem__(0, "bold"),
            lambda line: line[-1].__setitem__(0, ["late", "time"]),
            lambda line: line[-1].__setitem__(0, [[1.0, 0.0, 0.0], "time"]),
            lambda line: line[-1].__setitem__(0, [{}, []]),
        ],
        ids=[
            "few",
            "names",
            "later",
            "type",
            "short",
            "nan",
            "text",
            "name",
            "who",
            "how",
            "kinds",
        ],
    )
    def test_what_cannot_have_been_is_refused(self, tmp_path, wrong):
        path = tmp_path / "table"
        tournament(GAME, PLAYERS, games=6, seed=1, save=path)
        first, second, *_ = path.read_text().splitlines()
        line = json.loads(second)
        wrong(line)
        path.write_text(f"{first}\n{json.dumps(line)}\n")
        with pytest.raises(DamagedFileError, match="damaged at round 1 of bold, safe, early"):
            tournament(GAME, PLAYERS, games=6, seed=1, save=path)


class TestExact:
    def test_policies_need_not_play(self):
        table = tournament(GAME, PLAYERS, exact=True, seed=1, compile="never")
        model = gamedp.compile(GAME, compile="never")
        for meeting in table.meetings:
            assert meeting.is_exact
            assert len(meeting.by_order) == 6
            for order, payoffs in meeting.by_order.items():
                found = gamedp.evaluate(model, [PLAYERS[name] for name in order])
                assert payoffs == tuple(found.value(player=seat) for seat in range(3))
            for name in meeting.names:
                own = [paid[order.index(name)] for order, paid in meeting.by_order.items()]
                assert meeting.payoff(name) == (pytest.approx(np.mean(own)), 0.0)
        sampled = tournament(GAME, PLAYERS, games=300, seed=3)
        for name in PLAYERS:
            mean, error = sampled.payoff(name)
            assert abs(mean - table.payoff(name)[0]) < 4 * error

    def test_who_must_play_does(self, tmp_path):
        players = PLAYERS | {"function": lambda state, _rng: state.turn % 2}
        options = {"games": 12, "seed": 1, "compile": "never"}
        path = tmp_path / "table"
        mixed = tournament(GAME, players, **options, exact=True, save=path)
        sampled = tournament(GAME, players, **options)
        for one, other in zip(mixed.meetings, sampled.meetings, strict=True):
            assert one.is_exact == ("function" not in one.names)
            assert one.is_exact or one == other
        assert path.read_bytes().count(b"\n") == 1 + 2 * 6
        assert tournament(GAME, players, **options, exact=True, save=path) == mixed
        with pytest.raises(InvalidParameterError, match="exact"):
            tournament(GAME, players, **options, save=path)

    def test_rewards_on_the_way_count(self):
        table = tournament(
            Shares(), {name: Always(0) for name in "abc"}, exact=True, compile="never"
        )
        played = tournament(Shares(), {name: Always(0) for name in "abc"}, games=6)
        assert table.meetings[0].by_order[tuple("abc")] == pytest.approx((3.0, 4.0, 5.0))
        assert table.payoff("a") == (pytest.approx(4.0), 0.0)
        for order, payoffs in played.meetings[0].by_order.items():
            assert payoffs == pytest.approx(table.meetings[0].by_order[order])


@attrs.frozen
class Shares:
    """Each of three earns 3 and its number, in its turn."""

    num_players = 3

    def initial_state(self):
        return 0

    def player(self, state):
        return state

    def is_terminal(self, state):
        return state == 3

    def actions(self, _state):
        return [0, 1]

    def outcomes(self, state, _action):
        yield 1.0, state + 1

    def reward(self, state, _action, player):
        return 3.0 + player if player == state else 0.0

    def payoff(self, _state, _player):
        return 0.0


def test_it_shows_the_mean_payoffs_the_best_first():
    table = tournament(GAME, PLAYERS, games=12, seed=1)
    best = max(PLAYERS, key=lambda name: table.payoff(name)[0])
    assert f"{best} {table.payoff(best)[0]:.6g}" in repr(table)
    shown = table._repr_html_()
    assert all(shown.index(best) <= shown.index(name) for name in PLAYERS)


def test_the_command_compares_mean_payoffs(capsys):
    asked = ["tournament", "mancala", "--set", "players=3,pits=1,stones=1", "--compile", "never"]
    asked += ["--entrants", "random,level=1,level=2", "--games", "12", "--seed", "2", "--quiet"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    game = gamedp.games.mancala.Mancala(players=3, pits=1, stones=1)
    players = {"random": RandomPlayer(game)}
    players |= {f"level={depth}": gamedp.play.LevelPlayer(depth) for depth in (1, 2)}
    table = tournament(game, players, games=12, seed=2, compile="never")
    assert [tuple(each.values()) for each in found["entrants"]] == [
        (name, *table.payoff(name)) for name in players
    ]
    (meeting,) = found["meetings"]
    assert (meeting["groups"], meeting["unfinished"], meeting["forfeits"]) == (2, 0, [])
    assert main(asked) == 0
    words = capsys.readouterr().out
    assert "12 count, in groups of 6 orders with the same dice" in words
    assert "on average, with the standard error" in words
    assert main([*asked, "--max-plies", "1"]) == 0
    assert "12 after 1 plies; their groups do not count" in capsys.readouterr().out


def test_the_command_rounds_saves_and_resumes(capsys, tmp_path):
    path = tmp_path / "table.jsonl"
    asked = ["tournament", "mancala", "--set", "players=3,pits=1,stones=1", "--compile", "never"]
    asked += ["--entrants", "random,level=1,level=2", "--games", "10", "--seed", "2", "--quiet"]
    assert main([*asked, "--save", str(path)]) == 0
    words = capsys.readouterr().out
    assert "12 count, in groups of 6 orders with the same dice; 12 each instead of 10" in words
    assert f"saved in    {path}" in words
    assert main([*asked, "--save", str(path)]) == 2
    assert "--resume goes on with it" in capsys.readouterr().err
    assert main([*asked, "--save", str(path), "--resume"]) == 0
    assert capsys.readouterr().out == words


@pytest.mark.parametrize("size", [1e-200, 1e200, 1.5e308])
def test_meetings_with_payoffs_whose_squares_are_no_doubles_have_an_error(size):
    names = ("a", "b", "c")
    large, small = new_meeting(names), new_meeting(names)
    for meeting, unit in ((large, size), (small, 1.0)):
        for share in (-1.0, 0.5, 1.0):
            paid = {"a": share * unit, "b": 0.0, "c": -share * unit}
            orders = itertools.permutations(names)
            meeting.add([(tuple(paid[name] for name in order), "played") for order in orders])
    for name in names:
        wanted = [size * number for number in small.payoff(name)]
        assert large.payoff(name) == pytest.approx(wanted, rel=1e-12, abs=0.0)
