"""The page of Kniffel says what the adviser says."""

import asyncio
import html
import math
import re

import attrs
import numba
import pytest
from web_client import Client

import gamedp
from gamedp.games.kniffel import (
    Adviser,
    Card,
    Kniffel,
    Opponent,
    Situation,
    analyse,
    outlook_against,
    outlook_for_total,
)
from gamedp.games.kniffel.adviser import MOST_KNOWN, reasons
from gamedp.games.kniffel.answers import explained, game_text, read_query
from gamedp.games.kniffel.page import page
from gamedp.games.kniffel.puzzles import MOST_OF_A_KIND, SEEDS, puzzles
from gamedp.web.files import files_of_pages, page_files
from gamedp.web.jobs import Jobs

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="the whole table takes minutes uncompiled"
)

CARD = "-,8,-,16,15,-,15,9,25,30,40,-,-"
OWN_SCRIPT = ['<script type="module" src="kniffel/static/kniffel.js"></script']
QUERY = {"card": CARD, "throw": "3", "dice": "13345", "lang": "en"}


def scripts(text):
    """Return all that might run, as far as the next mark."""
    return re.findall(r"<script[^>]*>[^>]*", text)


@pytest.fixture(scope="module")
def client():
    with Client(games=(), pages=[page]) as client:
        while client.get("/api/kniffel", params=QUERY).status_code == 202:
            pass
        yield client


@pytest.fixture(scope="module")
def adviser():
    return Adviser.of(Kniffel(), keep=True)


@pytest.mark.parametrize(
    ("number", "dice"), [("1", "11456"), ("2", "13345"), ("3", "13345"), ("0", "")]
)
def test_every_number_is_the_adviser_s(client, adviser, number, dice):
    query = QUERY | {"throw": number, "dice": dice}
    found = client.get("/api/kniffel", params=query).json()
    situation = Situation.of(CARD.replace(",", " "), number, dice)
    expected = adviser.expectation(situation)
    assert [found[name] for name in ("value", "lower", "upper", "rest")] == [
        expected.value,
        expected.lower,
        expected.upper,
        expected.rest,
    ]
    options = adviser.options(situation)
    assert len(found["options"]) == len(options)
    for each, known in zip(found["options"], options, strict=True):
        assert each["name"] == known.name("en")
        assert (each["value"], each["loss"]) == (known.value, known.loss)
        assert (each["lower"], each["upper"]) == (known.lower, known.upper)


@pytest.mark.parametrize(
    ("change", "entry"),
    [
        ({}, {"name": "Large Straight", "box": 10, "points": 40}),
        ({"goal": "total", "total": "190"}, {"name": "Large Straight", "box": 10, "points": 40}),
        ({"dice": "11456"}, None),
        ({"throw": "3"}, None),
    ],
)
def test_what_is_best_entered_now_is_named(client, change, entry):
    card = "1,8,9,16,15,18,15,9,25,30,-,-,20"
    query = {"card": card, "throw": "1", "dice": "12345", "lang": "en"} | change
    while (answer := client.get("/api/kniffel", params=query)).status_code == 202:
        pass
    best = answer.json()["options"][0]
    assert best.get("entry") == entry
    drawn = client.get("/kniffel", params=query).text
    assert ("Best entry: Large Straight (40)" in drawn) == (entry is not None)


def test_the_form_works_without_javascript(client):
    answer = client.get("/kniffel", params=QUERY)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert scripts(answer.text) == OWN_SCRIPT
    assert "style=" not in answer.text
    assert "Best entry: Threes" in answer.text
    assert "239.713069" in answer.text
    fields = dict(re.findall(r'<input id="\w+" name="(\w+)" value="(\w*)"', answer.text))
    assert fields["box1"] == "8"
    assert (fields["throw"], fields["dice"]) == ("3", "13345")
    # What the form sends is the same question.
    again = client.get("/kniffel", params=fields | {"lang": "en"})
    assert "239.713069" in again.text
    german = client.get("/kniffel", params=fields).text
    assert "Bester Eintrag: Dreier" in german
    assert "Punkterwartung: 239,713069" in german


@pytest.mark.parametrize(
    "change",
    [
        {"card": "1,2,3"},
        {"dice": "77777"},
        {"dice": "1" * 900},
        {"throw": "9"},
        {"throw": "-1"},
        {"further": "99999"},
        {"lang": "<script>"},
        {"card": "<script>alert(1)</script>"},
        {"evil": "1"},
        {"rules": "mine"},
        {"goal": "glory"},
        {"plays": "chess"},
        {"goal": "total", "total": "-1"},
        {"goal": "beat", "against": "1,2"},
        {"game": "12"},
        {"game": "12345.b.12345"},
        {"game": "12345.66.12345"},
        {"game": "12345.12345.12345.12345.12345.a_12345", "players": "3"},
        {"game": "12345_12345"},
        {"game": "12345.1.1.1.1.1.1.a"},
        {"game": "12345", "goal": "beat"},
        {"game": "_".join(["12345.0.12345.0.12345.m"] * 2)},
        {"game": "_".join(["12345.0.12345.0.12345.a"] * 90)},
        {"why": "99"},
        {"why": "<script>"},
        {"card": ",".join(["9" * 300] * 13)},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_said(client, change):
    answer = client.get("/api/kniffel", params=QUERY | change)
    assert answer.status_code == 422
    assert answer.json()["error"]
    drawn = client.get("/kniffel", params=QUERY | change)
    assert drawn.status_code == 422
    assert scripts(drawn.text) == OWN_SCRIPT
    assert 'role="alert"' in drawn.text


@pytest.mark.parametrize(
    ("query", "english", "german"),
    [
        (
            {"box1": "7"},
            "Twos cannot hold “7”: possible are 0, 2, 4, 6, 8, 10",
            "in Zweier kann nicht „7“ stehen: möglich sind 0, 2, 4, 6, 8, 10",
        ),
        (
            {"box6": "x"},
            "Three of a Kind cannot hold “x”: possible are 0, 5 to 30",
            "in 3er-Pasch kann nicht „x“ stehen: möglich sind 0, 5 bis 30",
        ),
        ({"dice": "1334", "throw": "1"}, "“1334” is no throw", "„1334“ ist kein Wurf"),
        ({"dice": "13347", "throw": "2"}, "“13347” is no throw", "„13347“ ist kein Wurf"),
        ({"dice": "", "throw": "1"}, "“” is no throw", "„“ ist kein Wurf"),
        ({"throw": "4", "dice": "13345"}, "from 0 to 3", "von 0 bis 3"),
        ({"total": "-5"}, "a whole number from 0 to 9999", "eine ganze Zahl von 0 bis 9999"),
        ({"against": "1 2"}, "a card has 13 boxes, and 2 are", "hat 13 Felder, und hier stehen 2"),
        ({"against": ",".join(["9"] * 13)}, "Ones cannot hold “9”", "in Einser kann nicht „9“"),
        ({"further": "1"}, "further Yahtzees count only if", "weitere Kniffel zählen nur"),
        ({"against_further": "1"}, "further Yahtzees count only", "weitere Kniffel zählen nur"),
        (
            {**{f"box{box}": "0" for box in range(13)}, "throw": "1", "dice": "13345"},
            "the card is full",
            "der Zettel ist voll",
        ),
    ],
)
def test_a_field_is_refused_in_the_language_of_the_form(client, query, english, german):
    for language, words in (("en", english), ("de", german)):
        asked_in = {"lang": language, **query}
        refused = client.get("/api/kniffel", params=asked_in)
        assert refused.status_code == 422
        assert words in refused.json()["error"]
        drawn = client.get("/kniffel", params=asked_in)
        assert drawn.status_code == 422
        assert 'role="alert" class="problem">' in drawn.text
        assert words in html.unescape(drawn.text)
    fields = re.findall(r'<input id="(\w+)"', drawn.text)
    assert {"further", "against_further", "total", "against"} <= set(fields)


@pytest.mark.slow
def test_the_page_waits_for_what_is_worked_out():
    with Client(games=(), pages=[page]) as client:
        client.tables.solves = jobs = Jobs(0, 4)
        jobs._turns._short = 0  # nobody's turn ever comes
        answer = client.get("/kniffel", params={"lang": "en"})
        assert answer.status_code == 200
        assert answer.headers["refresh"] == "1"
        assert "Worked out once" in answer.text
        assert client.get("/api/kniffel").status_code == 202
        german = client.get("/kniffel", params={"lang": "de"})
        assert re.search(
            r"dann lädt die Seite neu: wartet auf einen freien Platz, \d+ s<", german.text
        )
        (listed,) = client.get("/api/pages").json()
        own = {"name": "kniffel", "title": page.title, "about": page.about}
        assert {name: listed[name] for name in own} == own
        assert listed["texts"]["de"]["about"].startswith("Fünf Würfel")
        assert listed["icon"]["faces"] == [6, 6, 6]


def test_the_files_of_the_page_are_served_beside_it(client):
    sizes = {path: len(file.packed) for path, file in files_of_pages([page]).items()}
    assert {path.rpartition("/")[0] for path in sizes} == {"kniffel/static"}
    assert 0 < sum(sizes.values()) < 29_000
    for path in sizes:
        assert client.get(f"/{path}").status_code == 200
    assert not any("kniffel" in path for path in page_files())


def test_the_start_page_links_to_what_needs_no_javascript(client):
    without = re.search(r"<noscript>.*</noscript>", client.get("/").text, re.DOTALL)[0]
    links = re.findall(r'<a href="([^"]+)" lang="(..)"', without)
    assert links == [("kniffel?lang=en", "en"), ("kniffel?lang=de", "de")]
    for address, language in links:
        form = client.get(f"/{address}")
        assert form.status_code == 200
        assert f'<html lang="{language}">' in form.text
    assert client.get("/index.html").headers["etag"] == client.get("/").headers["etag"]
    with Client(games=()) as bare:
        assert "<a href" not in re.search(r"<noscript>.*</noscript>", bare.get("/").text)[0]


def test_an_adviser_answers_in_threads(client, adviser, monkeypatch):
    monkeypatch.setattr("gamedp.games.kniffel.adviser.MOST_KNOWN", 2)
    assert MOST_KNOWN > 2

    async def all_at_once(many):
        async def one(left):
            query = QUERY | {"throw": "2", "dice": left}
            answers = [await many.get("/api/kniffel", params=query) for _ in range(3)]
            return {answer.json()["value"] for answer in answers}

        return await asyncio.gather(*(one(left) for left in dice))

    dice = ["11111", "12345", "13345", "55566", "66666", "22334", "12356", "44455"]
    found = client.run(all_at_once)
    for left, values in zip(dice, found, strict=True):
        situation = Situation.of(CARD.replace(",", " "), 2, left)
        assert values == {adviser.expectation(situation).value}
    # However many ask: so many situations are kept, and one more for each who asks just now.
    kept = client.tables.solves.known(("page", "kniffel", ("rules", "article"))).result
    assert len(kept._known) <= 2 + len(dice)


def test_users_with_different_goals_share_their_tables(client):
    mine, his = "3,8,9,16,15,18,15,9,25,30,40,-,20", "3,8,9,16,15,24,17,9,25,30,40,0,-"
    goals = [
        {},
        {"goal": "total", "total": "200"},
        {"goal": "total", "total": "210"},
        {"goal": "beat", "against": his},
    ]
    before = client.tables.solves.started

    async def all_at_once(many):
        async def one(user):
            for dice in ("11166", "12345", "66666"):
                query = {"card": mine, "throw": "2", "dice": dice, "lang": "en"}
                query |= goals[user % len(goals)]
                while (await many.get("/api/kniffel", params=query)).status_code == 202:
                    pass

        await asyncio.gather(*(one(user) for user in range(8)))

    client.run(all_at_once)
    # One table for each total of this card, and one for this opponent.
    assert client.tables.solves.started - before <= 2


def asked(client, **query):
    """Ask until there is an answer."""
    while True:
        answer = client.get("/api/kniffel", params={"lang": "en", **query})
        if answer.status_code != 202:
            assert answer.status_code == 200
            return answer.json()


def test_the_official_rules_have_an_adviser_of_their_own(client):
    query = {"card": "-,8,9,16,15,-,15,9,25,30,-,50,-", "further": "1", "throw": "3"}
    found = asked(client, rules="yahtzee", dice="33333", **query)
    situation = Situation.of(query["card"].replace(",", " "), 3, "33333", further=1)
    known = Adviser.of(Kniffel("yahtzee"), keep=True).options(situation)
    assert [(each["value"], each["loss"]) for each in found["options"]] == [
        (each.value, each.loss) for each in known
    ]
    assert found["points"] == situation.card.total == 277
    assert {"box": 10, "points": 40, "further": True} in found["entries"]


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["article", "yahtzee"])
@pytest.mark.parametrize(
    "seeds", [range(5), pytest.param(SEEDS, marks=pytest.mark.deep)], ids=["some", "all"]
)
def test_puzzles_have_one_best_decision_that_is_not_the_obvious_one(seeds, rules, monkeypatch):
    monkeypatch.setattr("gamedp.games.kniffel.puzzles.SEEDS", seeds)
    with Client(games=(), pages=[page]) as client:
        found = check_puzzles(client, rules)
    if seeds != SEEDS:  # to find all of them twice takes long
        (first, *_) = puzzles(Adviser.of(Kniffel(rules), keep=True))
        assert game_text((first.record,)) == found[0]["game"]


def check_puzzles(client, rules):
    found = asked(client, puzzles="1", rules=rules)
    assert found["rules"] == rules
    assert found.keys() == {"rules", "puzzles"}
    gaps = [each["gap"] for each in found["puzzles"]]
    assert gaps == sorted(gaps, reverse=True)
    kinds = [each["decision"] for each in found["puzzles"]]
    assert set(kinds) == {"keep", "entry"}
    assert max(kinds.count(kind) for kind in kinds) <= MOST_OF_A_KIND
    for puzzle in found["puzzles"]:
        assert puzzle.keys() == {
            *("game", "round", "throw", "dice", "decision", "choices", "gap")
        }  # and no solution
        answer = asked(client, game=puzzle["game"], rules=rules)
        assert (answer["round"], answer["throw"], answer["dice"]) == (
            puzzle["round"],
            puzzle["throw"],
            puzzle["dice"],
        )
        options = answer["options"]
        assert (answer["decision"], len(options)) == (puzzle["decision"], puzzle["choices"])
        best, *others = options
        assert 0 < puzzle["gap"] < best["lower"] - max(each["upper"] for each in others)
        situation = read_query({"game": puzzle["game"], "rules": rules}).situation
        if puzzle["decision"] == "entry":
            assert best["points"] < max(each["points"] for each in others)
        else:
            stay = best["kept"].replace("-", "")
            assert len(stay) < 5
            assert len(stay) < max(situation.dice) or len(set(stay)) != 1
    return found["puzzles"]


def test_nobody_waits_for_puzzles_that_are_stopped(adviser):
    class StoppedError(Exception):
        pass

    def stop(progress):
        assert (progress.phase, progress.total) == ("play", len(SEEDS))
        raise StoppedError

    with pytest.raises(StoppedError):
        puzzles(adviser, progress=stop)


def test_a_goal_is_what_the_library_makes_of_it(client, adviser):
    mine, his = "3,8,9,16,15,18,15,9,25,30,40,-,20", "3,8,9,16,15,24,17,9,25,30,40,0,-"
    situation = Situation.of(mine.replace(",", " "), 2, "11166")
    query = {"card": mine, "throw": "2", "dice": "11166"}
    found = asked(client, goal="total", total="200", **query)
    outlook = outlook_for_total(adviser, situation, 200)
    assert (found["goal"], found["value"]) == ("total", outlook.value)
    assert [each["value"] for each in found["options"]] == [o.value for o in outlook.options]
    found = asked(client, goal="beat", against=his, **query)
    outlook = outlook_against(adviser, situation, Opponent(Card.of(his.replace(",", " "))))
    assert found["exact"] is outlook.exact is True
    assert (found["value"], found["lower"], found["upper"]) == (
        outlook.value,
        outlook.lower,
        outlook.upper,
    )
    assert [each["loss"] for each in found["options"]] == [o.loss for o in outlook.options]
    assert found["opponent"]["points"] == 231


@pytest.mark.slow
def test_an_opponent_may_play_to_win(client, adviser):
    mine, his = "3,8,9,16,15,18,15,9,25,30,40,-,20", "3,8,9,16,15,24,17,9,25,30,40,0,-"
    situation = Situation.of(mine.replace(",", " "), 2, "11166")
    query = {"card": mine, "throw": "2", "dice": "11166", "goal": "beat", "against": his}
    found = asked(client, plays="victory", **query)
    opponent = Opponent(Card.of(his.replace(",", " ")), "victory")
    outlook = outlook_against(adviser, situation, opponent)
    assert (found["goal"], found["plays"], found["exact"]) == ("beat", "victory", True)
    assert "too_large" not in found
    assert (found["value"], found["lower"], found["upper"]) == (
        outlook.value,
        outlook.lower,
        outlook.upper,
    )
    assert [each["value"] for each in found["options"]] == [o.value for o in outlook.options]
    # He does no better by playing for points.
    assert found["value"] <= asked(client, plays="points", **query)["value"] + 1e-9
    drawn = client.get("/kniffel", params={"lang": "en", "plays": "victory", **query})
    assert "against an opponent who plays to win" in drawn.text


def test_where_it_is_too_much_to_win_against_play_to_win_it_is_said(client, adviser, monkeypatch):
    monkeypatch.setattr("gamedp.games.kniffel.answers.MOST_CONTEXTS", 100_000)
    mine, his = "3,8,9,16,-,18,15,9,25,30,40,-,20", "3,8,9,16,-,24,17,9,25,30,40,0,-"
    query = {"card": mine, "throw": "3", "dice": "11166", "goal": "beat", "against": his}
    found = asked(client, plays="victory", **query)
    assert (found["goal"], found["plays"]) == ("beat", "points")
    too_large = found["too_large"]
    assert too_large["contexts"] > too_large["most"] == 100_000
    plain = asked(client, plays="points", **query)
    assert "too_large" not in plain
    assert found["options"] == plain["options"]
    # After as many entries as it says, it is not too large any more.
    cards = Card.of(mine.replace(",", " ")), Card.of(his.replace(",", " "))
    for number in range(too_large["entries"]):
        card = cards[number % 2]
        free = card.entries.index(None)
        filled = (*card.entries[:free], 0, *card.entries[free + 1 :])
        cards = (Card(filled), cards[1]) if number % 2 == 0 else (cards[0], Card(filled))
    later = {"card": cards[0].arguments, "against": cards[1].arguments, "goal": "beat"}
    assert asked(client, plays="victory", **later)["plays"] == "victory"
    drawn = client.get("/kniffel", params={"lang": "en", "plays": "victory", **query})
    assert f"at most {too_large['entries']} more entries" in drawn.text
    assert "against an opponent who plays for points" in drawn.text


EARLY_CARD = "-,-,-,16,-,-,15,-,25,-,-,-,20"


@pytest.mark.parametrize("goal", ["total", "beat"])
def test_a_goal_that_takes_too_long_is_bounded_by_play_for_points(client, adviser, goal):
    query = {"card": EARLY_CARD, "goal": goal, "total": "250", "rules": "article"}
    his = "-,-,9,-,-,-,-,-,25,30,40,-,20"
    found = asked(client, throw="3", dice="11456", against=his, **query)
    too_large = found["too_large"]
    assert too_large["goal"] == goal
    assert too_large["contexts"] > too_large["most"]
    assert too_large["seconds"] > 16
    assert 0 < too_large["entries"] <= 8
    assert (found["goal"], found["exact"], found["then"]) == (goal, False, "points")
    card, other = Card.of(EARLY_CARD.replace(",", " ")), Card.of(his.replace(",", " "))
    opponent = gamedp.stages.distribution(adviser.solution, other.sheet(adviser.rules))

    def worth(mine):
        if goal == "total":
            return mine >= 250
        missing = mine - other.entered(adviser.rules)
        return 1 - opponent.at_least(missing) + opponent.probability(missing) / 2

    for option in found["options"][:3]:
        after = card.with_throw("11456", option["box"], adviser.rules)
        mine = gamedp.stages.distribution(adviser.solution, after.sheet(adviser.rules))
        entered = after.entered(adviser.rules)
        known = math.fsum(chance * worth(entered + total) for total, chance in mine)
        assert option["value"] == pytest.approx(known, abs=1e-12)
        assert 0 < option["value"] - option["lower"] < 1e-11
        assert option["upper"] == 1.0
        assert option["loss"] == found["value"] - option["value"]
    # Who is in a hurry gets the same.
    quick = asked(client, throw="3", dice="11456", against=his, quick="1", **query)
    assert quick["options"] == found["options"]
    assert "too_large" not in quick
    # The turn as a whole is as good as what its throws leave, and what is kept of them.
    first = asked(client, throw="0", against=his, **query)
    assert (first["options"], first["then"]) == ([], "points")
    kept = asked(client, throw="1", dice="11456", against=his, **query)
    assert kept["decision"] == "keep"
    drawn = client.get(
        "/kniffel", params={"lang": "en", "throw": "3", "dice": "11456", "against": his, **query}
    )
    assert "Too many boxes are free to follow this goal to the end" in drawn.text
    shown = math.floor(1e6 * found["lower"]) / 1e6
    assert f"<strong>Probability, at least: {shown:.6f}</strong>." in drawn.text
    assert "(advised)" in drawn.text
    assert "(best)" not in drawn.text
    said = "Who plays to win against such an opponent reaches as much or more."
    assert (said in drawn.text) == (goal == "beat")


@pytest.mark.deep
def test_a_goal_may_be_had_from_the_first_throw_on(client, adviser):
    start = asked(client, goal="beat")
    # Nobody is ahead of one who plays the same way, and a draw counts half.
    assert start["value"] == pytest.approx(0.5, abs=1e-12)
    assert 0.5 - 1e-11 < start["lower"] < 0.5
    alone = asked(client, goal="total", total="250")
    started = client.tables.solves.started
    found = asked(client, goal="total", total="300", throw="1", dice="66666")
    assert client.tables.solves.started == started  # one table is for all goals, and all throws
    assert found["options"][0]["name"] == "66666"
    assert found["value"] < alone["value"]
    assert found["value"] > asked(client, goal="total", total="300")["value"] + 0.1


@pytest.mark.parametrize(
    ("language", "words"), [("en", "once at most 9 boxes are free"), ("de", "höchstens 9 Felder")]
)
def test_where_there_is_too_little_memory_for_an_early_goal_it_is_said(
    client, monkeypatch, language, words
):
    little = attrs.evolve(client.tables.limits, bytes=4e8)
    monkeypatch.setattr(client.tables, "limits", little)
    for against in ("", ",".join(["-"] * 10 + ["40", "0", "20"])):
        query = {"lang": language, "goal": "beat", "against": against, "card": EARLY_CARD}
        while (refused := client.get("/api/kniffel", params=query)).status_code == 202:
            pass  # what is left on the other card
        assert refused.status_code == 422
        assert words in refused.json()["error"]
        assert "500 MB" in refused.json()["error"]
    late = {"card": EARLY_CARD, "goal": "total", "total": "250", "quick": "1"}
    assert asked(client, **late)["then"] == "points"


def test_points_to_reach_are_refused_in_the_language_of_who_plays(client):
    for language, words in (("en", "a whole number from 0"), ("de", "eine ganze Zahl von 0")):
        query = {"lang": language, "game": GAME, "goal": "total", "total": "-5"}
        refused = client.get("/api/kniffel", params=query)
        assert refused.status_code == 422
        assert words in refused.json()["error"]


GAME = "13345.33.33456.33.33366.c_12345.12345.12345.12345.12345.k_11446.44.14446"


def test_a_game_of_two_is_played_in_turns(client):
    found = asked(client, game=GAME, players="2")
    assert (found["turn"], found["round"], found["waits_for"]) == (0, 2, "keep")
    assert [each["points"] for each in found["players"]] == [9, 40]
    assert found["game"] == GAME
    found = asked(client, game=f"{GAME}.444", players="2")
    assert (found["waits_for"], found["kept"], found["options"]) == ("throw", "444", [])
    found = asked(client, game=GAME)  # one player: the same turns, one after the other
    assert (found["round"], found["points"]) == (3, 49)


def test_the_report_is_the_analysis(client, adviser):
    query = {"game": GAME, "lang": "en"}
    (found,) = asked(client, report="1", **query)["report"]
    known = analyse(read_query(query).records[0], adviser)
    assert (found["loss"], found["luck"], found["choices"]) == (
        known.handicap,
        known.luck,
        len(known.decisions),
    )
    for line, decision in zip(found["decisions"], known.decisions, strict=True):
        assert line["chosen"]["value"] == decision.chosen.value
        assert line["best"]["name"] == decision.best.name("en")
        assert line["loss"] == decision.chosen.loss
    assert found["classes"] == [5, 0, 0, 2, 0]
    assert found["mistakes"] == 2


@pytest.mark.parametrize(
    ("rules", "card", "number", "dice", "decision"),
    [
        # From an empty card, seconds are spent on the rounds that follow.
        pytest.param("article", "", 1, "11456", "11", marks=pytest.mark.deep),
        ("article", "- 8 - 16 15 - 15 9 25 30 40 - -", 2, "13345", "33"),
        ("yahtzee", "- 8 - 16 15 - 15 9 25 30 - 50 -", 2, "33335", "3333"),
        ("yahtzee", "- 8 9 16 15 - 15 9 25 30 - 50 -", 3, "33333", "10"),
    ],
)
def test_a_decision_is_worth_the_sum_of_its_parts(client, rules, card, number, dice, decision):
    adviser = Adviser.of(Kniffel(rules), keep=True)
    situation = Situation(Card.of(card) if card else Card(), number, dice)
    option = adviser.option(situation, int(decision) if number == 3 else decision)
    best = adviser.best(situation)
    chosen, other = reasons(adviser, situation, [option, best])
    assert chosen.total == pytest.approx(option.value, abs=1e-9)
    assert other.total == pytest.approx(best.value, abs=1e-9)
    apart = [one.points - two.points for one, two in zip(chosen.boxes, other.boxes, strict=True)]
    apart += [chosen.bonus - other.bonus, chosen.further - other.further]
    assert math.fsum(apart) == pytest.approx(-option.loss, abs=1e-9)
    free = [box for box, entry in enumerate(situation.card.entries) if entry is None]
    assert [box.box for box in chosen.boxes] == free
    assert math.fsum(box.now for box in chosen.boxes) == pytest.approx(1)
    assert all(0 <= box.points <= 50 for box in chosen.boxes)
    query = {"card": card.replace(" ", ","), "rules": rules, "throw": number, "dice": dice}
    told = asked(client, why=decision, **query)["why"]
    assert told == {
        "chosen": explained(chosen, "en"),
        "best": explained(other, "en"),
        "loss": option.loss,
    }


def test_a_box_brings_what_it_holds_in_the_end_on_average():
    """By all ways in which the last two rounds may go, in plain Python."""
    adviser = Adviser.of(Kniffel(), keep=True)
    situation = Situation.of("3 8 9 16 15 - 15 9 25 30 40 0 - 3 13466")
    (reason,) = reasons(adviser, situation, [adviser.option(situation, "Chance")])
    (sixes, chance) = reason.boxes
    assert (chance.box, chance.now, chance.points) == (12, 1.0, 20.0)
    assert (sixes.box, sixes.now) == (5, 0.0)
    # Sixes alone: each of five dice shows one after three throws with probability 91/216.
    assert sixes.points == pytest.approx(5 * 6 * 91 / 216)
    # The upper part has 51, so that two of them make 63 and bring the bonus.
    fewer = sum(math.comb(5, n) * (91 / 216) ** n * (125 / 216) ** (5 - n) for n in (0, 1))
    assert reason.bonus == pytest.approx(35 * (1 - fewer))
