"""Tables for notebooks and data frames."""

import re
from html.parser import HTMLParser
from typing import NamedTuple

import attrs
import numpy as np
import pytest

import gamedp
from gamedp.games.kniffel import Kniffel
from gamedp.games.matches import Matches
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.runtime.notebook import html_rows, html_table


def cells(table):
    return dict(re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", table))


class Cells(HTMLParser):
    """Reads a table, and refuses whatever is not one."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.rows = []
        self.inside = False

    def handle_starttag(self, tag, attrs):
        assert tag in {"table", "tr", "th", "td"}
        assert not attrs  # no colours, which would suit either a light page or a dark one
        if tag == "tr":
            self.rows.append([])
        self.inside = tag in {"th", "td"}
        if self.inside:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        assert self.inside, data
        self.rows[-1][-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def parsed(table):
    """The text of each cell."""
    reader = Cells()
    reader.feed(table)
    reader.close()
    return reader.rows


BAD = """<script>alert("1")</script><!-- & 'x' --></td></table><img src=x onerror=y>"""


class Odd(NamedTuple):
    """A state that says something nasty."""

    left: int

    def __repr__(self):
        return BAD


class OddGame:
    """A game whose words are markup."""

    def __repr__(self):
        return BAD

    def initial_state(self):
        return Odd(3)

    def is_terminal(self, state):
        return state.left == 0

    def actions(self, state):
        return [0, 1] if state.left > 1 else [0]

    def outcomes(self, state, action):
        return [(1.0, Odd(state.left - 1 - action))]

    def payoff(self, state, player):
        return 1.0

    def action_name(self, state, action):
        return BAD


@attrs.frozen(repr=False)
class OddKniffel(Kniffel):
    """A staged game called like that."""

    def __repr__(self):
        return BAD


def shown_things():
    """One of everything that notebooks show, with bad words wherever words come from outside."""
    model = gamedp.compile(OddGame(), compile="never")
    chance = attrs.evolve(gamedp.Policy.uniform(model), name=BAD)
    yield model
    yield chance
    yield gamedp.solve(model)
    yield gamedp.solve(model, gamedp.Discounted(0.5))
    yield gamedp.search(OddGame(), compile="never")
    yield gamedp.evaluate(model, [chance])
    yield gamedp.evaluate(model, [chance]).chain
    yield gamedp.simulate(model, [chance], games=10, seed=1)
    for sweeps in (3, 30):
        yield gamedp.policies.trace_sweeps(model, gamedp.Discounted(0.5), sweeps=sweeps)
    yield gamedp.policies.trace_improvements(model, gamedp.Discounted(0.5))
    certificate = gamedp.certify(gamedp.solve(model))
    yield certificate
    yield attrs.evolve(gamedp.verify(model, certificate), claim=BAD)
    staged = gamedp.solve(Kniffel(dice=1, faces=2, throws=1, threshold=3), compile="never")
    yield staged
    yield attrs.evolve(staged.model, rules=attrs.evolve(staged.model.rules, game=OddKniffel()))
    yield gamedp.stages.distribution(staged)
    game = Matches(6)
    two = gamedp.compile(game, compile="never")
    players = attrs.evolve(gamedp.Policy.uniform(two), name=BAD)
    yield gamedp.best_response(two, against=players)
    yield gamedp.best_response(two, against={Two(): 0.5, One(): 0.5})
    yield gamedp.simulation.simulate_pairs(two, [players, players], pairs=10, seed=1)
    yield gamedp.exploitability(two, [players, players])
    yield gamedp.cross_table(two, {BAD: players, "best": gamedp.solve(two)})
    yield gamedp.cross_table(two, {f"{BAD}{number}": players for number in range(12)})
    random = gamedp.play.RandomPlayer(game)
    games = gamedp.play.tournament(
        game, {BAD: random, "other": random}, games=4, seed=1, compile="never"
    )
    yield games
    yield games.ratings()
    yield gamedp.play.match(game, random, random, games=4, seed=1, compile="never")
    yield from games.meetings
    gone = gamedp.play.Pairing(BAD, "other")
    gone.add([("loss", BAD), ("none", "played")])
    yield gone
    for exact in (False, True):
        yield from _of_three((BAD, "b", "c"), exact=exact).meetings
    yield gamedp.play.sprt([1, 2, 3, 4, 5])
    yield gamedp.play.check_program(game, gamedp.play.Program(f"./{BAD}"))[0]
    yield gamedp.sums.grundy_values(OddNim(4, misere=False), compile="never")


def _of_three(players, *, exact):
    """A round robin of Mancala; a player of equal chances is of that game."""
    game = gamedp.games.mancala.Mancala(players=3, pits=1, stones=1)
    seated = dict.fromkeys(players, gamedp.play.RandomPlayer(game))
    return gamedp.play.tournament(game, seated, games=6, seed=1, exact=exact, compile="never")


@attrs.frozen(repr=False)
class OddNim(Matches):
    """Normal play, called like that."""

    def __repr__(self):
        return BAD


class One:
    """Takes one match."""

    def choose(self, state):
        return 1

    def __repr__(self):
        return BAD


class Two(One):
    """Takes two where there are two."""

    def choose(self, state):
        return min(2, state.left)


def test_what_states_and_players_are_called_is_never_markup():
    kinds, said = set(), 0
    for thing in shown_things():
        table = thing._repr_html_()
        rows = parsed(table)
        assert table.count("<table>") == table.count("</table>") == 1
        assert all(len(row) > 1 for row in rows)
        assert len(table) < 20_000
        words = "".join(cell for row in rows for cell in row)
        said += "<script>" in words
        kinds.add(type(thing).__name__)
    assert said >= 20
    assert len(kinds) >= 25
    assert {"Sprt", "Pairing", "Meeting", "GrundyValues", "ComplianceCheck"} <= kinds


def test_tables_are_bounded_and_can_be_written():
    rows = parsed(html_table({f"row {number}": "x" * 10_000 for number in range(100)}))
    assert rows[-1] == ["… 60 more"]
    assert len(rows) == 41
    assert {len(row[1]) for row in rows[:-1]} == {400}
    table = html_rows(["\ud800"], [("\udfff<", "ä")])
    assert parsed(table) == [["\\ud800"], ["\\udfff<", "ä"]]
    assert table.encode()


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("game", "objective"),
    [
        (Wubbel(6, faces=2, busts=(2,)), gamedp.TotalReward()),  # places change
        (Matches(6), gamedp.TotalReward()),
        (Matches(6), gamedp.Discounted(0.9)),
    ],
)
def test_a_q_table_has_the_value_of_each_action(game, objective, player):
    solution = gamedp.solve(game, objective, compile="never")
    table = solution.q_table(player)
    model = solution.model
    assert all(len(column) == model.num_choices for column in table.values())
    row = 0
    for number in range(model.num_states):
        state = model.state(number)
        for one in solution.action_values(state, player) if not model.is_terminal[number] else []:
            assert tuple(state) == tuple(table[name][row] for name in state._fields)
            found = [table[name][row] for name in ("action", "value", "lower", "upper")]
            assert found == [one.action, one.value, one.lower, one.upper]
            assert table["taken"][row] == (one.action == solution.best_action(state))
            row += 1
    assert row == model.num_choices


def test_a_q_table_of_a_model_of_arrays():
    model = gamedp.Model.from_arrays(
        [0, 2, 2], [0, 1, 2], [1, 1], [1.0, 1.0], payoffs=[0.0], rewards=[3.0, 5.0]
    )
    table = gamedp.solve(model).q_table()
    assert table["state"].tolist() == [0, 0]
    assert table["value"].tolist() == [3.0, 5.0]
    assert table["taken"].tolist() == [False, True]
    with pytest.raises(LookupError, match="there is no player 1"):
        gamedp.solve(model).q_table(1)


def test_a_model_shows_its_size():
    model = gamedp.compile(Matches(6), compile="never")
    table = cells(model._repr_html_())
    assert table["states"] == str(model.num_states)
    assert table["choices"] == str(model.num_choices)
    assert table["game"].startswith("Matches(matches=6")
    arrays = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[1.0])
    assert "game" not in cells(arrays._repr_html_())


def test_a_policy_shows_what_it_leaves_open_and_no_markup():
    model = gamedp.compile(Matches(6), compile="never")
    numbers = np.array(gamedp.Policy.uniform(model).probabilities)
    numbers[: model.choice_offsets[1]] = 0
    table = cells(gamedp.Policy(model, numbers, name="<b>odd</b>")._repr_html_())
    assert table["policy"] == "&lt;b&gt;odd&lt;/b&gt;"
    choices = int((np.diff(model.choice_offsets) > 1).sum())
    assert table["states with a choice"] == str(choices)
    assert table["left to chance"] == str(choices - 1)
    assert table["not answered"] == "1"


def test_an_evaluation_and_a_cross_table_show_what_policies_get():
    game = Wubbel(8)
    found = gamedp.evaluate(game, [Hold(3), Hold(5)], compile="never")
    table = cells(found._repr_html_())
    low, high = found.bounds()
    assert table["bounds for player 0"] == f"{low!r} … {high!r}"
    assert table["guarantee"] == "the true value lies between the bounds"
    assert table["player 1"] == found.policies[1].name
    cross = gamedp.cross_table(game, {"<three>": Hold(3), "five": Hold(5)}, compile="never")
    header, *rows = parsed(cross._repr_html_())
    best, worst = cross.ranking()
    assert header == ["policy", "average against all others", best, worst]
    assert [row[0] for row in rows] == [best, worst]
    shown = {row[0]: [float(number) for number in row[1:]] for row in rows}
    assert shown["five"][0] == pytest.approx(cross.means[1], abs=1e-6)
    places = [cross.names.index(name) for name in (best, worst)]
    assert shown["five"][1:] == pytest.approx(cross.both[1, places].tolist(), abs=1e-4)


def test_meetings_and_tests_of_a_match_show_their_numbers():
    pairing = gamedp.play.Pairing("a", "b")
    pairing.add([("loss", "time"), ("win", "played")])
    pairing.add([("draw", "played"), ("none", "played")])
    table = cells(pairing._repr_html_())
    assert table["players"] == "a against b"
    assert table["sitting first"] == "wins 0, draws 1, loses 1"
    assert table["sitting second"] == "wins 1, draws 0, loses 0"
    assert (table["games"], table["unfinished"], table["forfeits"]) == ("3", "1", "a: time (1)")
    (meeting,) = _of_three("abc", exact=True).meetings
    header, *rows = parsed(meeting._repr_html_())
    assert header == ["player", "mean payoff"]
    assert rows[0] == ["a", f"{meeting.payoff('a')[0]:.6g}"]
    assert rows[3] == ["games", "computed"]
    table = cells(gamedp.play.sprt([0, 0, 0, 0, 5_550])._repr_html_())
    assert (table["verdict"], table["ends at"]) == ("better", "-2.944 and 2.944")
    table = cells(
        gamedp.sums.grundy_values(Matches(6, misere=False), compile="never")._repr_html_()
    )
    assert table["nim-value at the start"] == "2"
    assert table["largest nim-value"] == "3"
