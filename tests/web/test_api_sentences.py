"""What the server says, in the language of who asks: complete in both, and never half of each."""

import ast
import importlib.resources
import re
import string

import numpy as np
import pytest
from hostile_requests import HOSTILE
from web_client import Client

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.rules import Rules
from gamedp.runtime.registry import GAMES, PAGES, registered
from gamedp.web.app import language_of
from gamedp.web.plugin import Page
from gamedp.web.refusals import Refused
from gamedp.web.sentences import GERMAN, PHASES, texts_of, translated

KINDS = {".py", ".js", ".css", ".html"}
GERMAN_HEADERS = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def constants(tree):
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def said_in(tree):
    """Return the sentences of refusals: where one is made, or where a name is given to one."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refused":
            found |= constants(node.args[1])
        if isinstance(node, ast.Assign) and node.targets[0].id == "sentence":
            found |= constants(node.value)
        if isinstance(node, ast.Assign) and node.targets[0].id == "sentences":
            found |= {each.value for each in node.value.values}
    return found


def fields(sentence):
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def test_every_sentence_has_a_german_one():
    said = set()
    for file in importlib.resources.files("gamedp.web").iterdir():
        if file.name.endswith(".py"):
            tree = ast.parse(file.read_text("utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name):
                    node.targets[0] = ast.Name("other")
            said |= said_in(tree)
    assert said - {404, 405} == set(GERMAN)
    assert len(said) > 30
    for english, german in GERMAN.items():
        assert fields(english) == fields(german)
        assert english == "{reason}" or english != german
    assert PHASES["en"].keys() == PHASES["de"].keys()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "en"),
        ("de", "de"),
        ("fr,de-CH;q=0.7,en", "de"),
        ("en-GB,de", "en"),
        ("den,de", "de"),
        ("," * 999, "en"),
    ],
)
def test_the_language_of_who_asks(accepted, language):
    assert language_of(accepted) == language


@pytest.fixture(scope="module")
def client():
    with Client(["matches", "nim", "wubbel", "mancala"]) as client:
        client.position("matches")
        yield client


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_refusal_is_in_the_language_of_who_asks(client, kind):
    request, _ = HOSTILE[kind]
    own = request.get("headers") or {}
    english, german = (
        client.request(
            request["method"],
            request["path"],
            headers={**own, **wanted},
            content=request.get("content"),
        )
        for wanted in ({}, GERMAN_HEADERS)
    )
    assert german.status_code == english.status_code
    assert german.json()["error"] != english.json()["error"]
    assert german.headers["content-language"] == "de"
    assert english.headers["content-language"] == "en"


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("wubbel", {"goal": 0}, "goal muss eine ganze Zahl ab 1 sein, nicht 0; üblich ist 50."),
        ("wubbel", {"faces": 1}, "faces muss eine ganze Zahl ab 2 sein"),
        ("wubbel", {"busts": [9]}, "nennt etwas, das der Würfel nicht zeigt; es gibt 1 bis 6."),
        ("wubbel", {"busts": [1, 1]}, "nennt eine Seite zweimal"),
        ("wubbel", {"busts": []}, "ein Wubbel muss möglich sein"),
        ("wubbel", {"busts": [1, 2, 3, 4, 5, 6]}, "dann bekommt niemand je Punkte"),
        ("matches", {"takes": [1, 1]}, "nennt eine Zahl zweimal"),
        ("matches", {"takes": []}, "takes muss aus ganzen Zahlen ab 1 bestehen"),
        ("mancala", {"players": 3, "captures": "opposite"}, "ist für zwei Spieler"),
        ("mancala", {"pits": 60, "stones": 60}, "ist zu groß; nimm weniger"),
        ("mancala", {"pits": "6"}, "pits ist nicht von der richtigen Art, int, oder zu groß."),
    ],
)
def test_what_a_registered_game_says_of_its_rules(client, name, parameters, words):
    answer = client.post(
        f"/api/games/{name}/position",
        json={"line": {}, "parameters": parameters},
        headers=GERMAN_HEADERS,
    )
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_free_words_stay_as_they_are():
    assert translated("my rules: {no} such thing", {"{} else": "{}"}) == "my rules: {no} such thing"
    error = Refused(422, "{reason}", reason=gamedp.InvalidModelError("odd {words}"))
    assert error.message_in("de") == error.message == str(error) == "odd {words}"


def test_who_looks_at_a_wrong_address_reads_the_own_language(client):
    shown = client.get("/none", headers={"accept": "text/html", **GERMAN_HEADERS})
    assert (shown.status_code, shown.headers["content-language"]) == (404, "de")
    assert '<html lang="de">' in shown.text
    assert "Unter dieser Adresse gibt es nichts." in shown.text
    assert "Alle Spiele" in shown.text


def test_a_page_of_its_own_says_its_language():
    def refuse(_shared, _query, *_note):
        raise Refused(503, "too many clients ask for work; ask again in a moment.")

    page = Page(
        name="own", title="Own", answer=refuse, draw=refuse, language=lambda query: query["lang"]
    )
    with Client(["matches"], pages=[page]) as client:
        found = client.get("/api/own?lang=de", headers={"accept-language": "en"})
        assert (found.status_code, found.headers["retry-after"]) == (503, "1")
        assert found.json()["error"].startswith("Zu viele")
        drawn = client.get("/own?lang=en", headers={**GERMAN_HEADERS, "accept": "text/html"})
        assert drawn.headers["content-type"].startswith("text/html")
        assert "Too many clients ask" in drawn.text


class Shy:
    """Its words cannot be read."""

    @staticmethod
    def texts(language):
        return {"names": {"a {}": "eine {} und {}"}} if language == "de" else {"about": 3}


def test_words_that_cannot_be_read_are_left_out(caplog):
    assert texts_of(Shy) == texts_of(object()) == {}
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]


def test_nothing_here_names_a_game():
    """A game that is registered does nothing here that another author's cannot do."""
    names = {entry.name for group in (GAMES, PAGES) for entry in registered(group).values()}
    assert len(names) >= 5
    forbidden = re.compile(rf"(?<![.\w])(?:{'|'.join(sorted(names))})\b", re.IGNORECASE)
    files = [*importlib.resources.files("gamedp.web").rglob("*")]
    texts = {file: file.read_text("utf-8") for file in files if file.suffix in KINDS}
    assert len(texts) > 30
    assert not {file.name for file, text in texts.items() if forbidden.search(text)}
    assert not {file.name for file in files if forbidden.search(file.name)}


TOLD = [
    *(Matches(), Nim(), Nim(misere=False), Wubbel(goal=9), Wubbel(goal=9, grace=True)),
    *(Mancala(pits=3, stones=3), Mancala.kalah(pits=3, stones=3), Mancala(pits=3, players=3)),
    Mancala(pits=2, stones=3, captures="opposite-empty"),
]


@pytest.mark.parametrize("game", TOLD, ids=repr)
def test_what_happens_and_why_is_said_in_german(game):
    """Along random games: actions, outcomes, steps and patterns, and no English is left in them."""
    rules, names = Rules(game), texts_of(type(game))["de"]["names"]
    rng = np.random.default_rng(7)
    said = set()
    for _ in range(8):
        state = rules.initial()[0][1]
        while not rules.is_terminal(state):
            pattern = rules.pattern(state)
            said.add(pattern.words if pattern else "")
            action = int(rng.choice(list(game.actions(state))))
            outcome = int(rng.integers(len(list(game.outcomes(state, action)))))
            said |= {rules.action_name(state, action), rules.outcome_name(state, action, outcome)}
            said |= {words for words, _ in rules.steps(state, action, outcome)}
            state = list(game.outcomes(state, action))[outcome][1]
    for words in said - {""}:
        german = translated(words, names)
        assert german != words
        assert not re.search(r"\b(the|of|is|are|which|taken|stones|turn|wins|loses)\b", german)
