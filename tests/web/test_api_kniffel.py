"""The page of Kniffel says what the adviser says."""

import asyncio
import re

import numba
import pytest
from web_client import Client

from gamedp.games.kniffel import Adviser, Kniffel, Situation
from gamedp.games.kniffel.adviser import MOST_KNOWN
from gamedp.games.kniffel.page import page
from gamedp.web.jobs import Jobs

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="the whole table takes minutes uncompiled"
)

CARD = "-,8,-,16,15,-,15,9,25,30,40,-,-"
QUERY = {"card": CARD, "throw": "3", "dice": "13345", "lang": "en"}


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


def test_the_form_works_without_javascript(client):
    answer = client.get("/kniffel", params=QUERY)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "<script" not in answer.text
    assert "style=" not in answer.text
    assert "Best entry: Threes" in answer.text
    assert "239.713069" in answer.text
    fields = dict(re.findall(r'<input id="\w+" name="(\w+)" value="(\w*)"', answer.text))
    assert fields["box1"] == "8"
    assert (fields["throw"], fields["dice"]) == ("3", "13345")
    # What the form sends is the same question.
    again = client.get("/kniffel", params=fields | {"lang": "en"})
    assert "239.713069" in again.text
    assert "Bester Eintrag: Dreier" in client.get("/kniffel", params=fields).text


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
    assert "<script" not in drawn.text
    assert 'role="alert"' in drawn.text


def test_the_page_waits_for_what_is_worked_out():
    with Client(games=(), pages=[page]) as client:
        client.tables.solves = Jobs(0, 4)  # nobody's turn ever comes
        answer = client.get("/kniffel", params={"lang": "en"})
        assert answer.status_code == 200
        assert answer.headers["refresh"] == "1"
        assert "Worked out once" in answer.text
        assert client.get("/api/kniffel").status_code == 202
        assert client.get("/api/pages").json() == [{"name": "kniffel", "title": page.title}]


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
