"""The page of all games, as tests meet it: its games, its addresses, its buttons and numbers."""

import base64
import json
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from web_client import listed_game

from gamedp.cli.games import make_ordinary_game
from gamedp.web.catalogue import from_registry

GAMES = {
    "mancala": {"pits": 2, "stones": 2},
    "matches": {"matches": 9},
    "nim": {"heaps": [1, 2, 3]},
    "wubbel": {"goal": 9},
}
NOUGHTS = "noughts-and-crosses"
EXAMPLES = Path(__file__).parents[2] / "examples"
MINUS, UNKNOWN = "\N{MINUS SIGN}", "\N{EN DASH}"


def offered():
    """Return the games that the server offers, one of them from a file."""
    rules = make_ordinary_game(f"{EXAMPLES / 'noughts.py'}:NoughtsAndCrosses", (), command="serve")
    return {**{name: from_registry(name) for name in GAMES}, NOUGHTS: listed_game(NOUGHTS, rules)}


def address(name, **rest):
    text = json.dumps({"p": GAMES.get(name, {}), **rest}, separators=(",", ":"))
    code = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"#{name}/{code}"


def open_actions(page):
    """Wait until a person may act, or the game is over; return the buttons."""
    page.locator('.action:not([aria-disabled="true"])').first.wait_for()
    return page.locator(".action")


def printed(value, *, sign=False, fixed=False):
    """Return a number as the page prints it; of two that are equally near, the larger one."""
    exact = Decimal(abs(value))
    is_short = value == int(value) and not fixed
    text = str(int(exact)) if is_short else str(exact.quantize(Decimal("1.0000"), ROUND_HALF_UP))
    if not float(text):
        return text
    return (MINUS if value < 0 else "+" if sign else "") + text


def told_by(page):
    """Return what the address of the page holds."""
    code = page.url.partition("#")[2].partition("/")[2]
    return json.loads(base64.urlsafe_b64decode(code + "==="))


def seen(page):
    """Return all that the page says of a position."""
    open_actions(page)
    plies = len(told_by(page)["a"])
    page.locator(".past > .plies .ply").nth(plies - 1).wait_for()
    parts = (".title", ".standing", ".actions", ".past > .plies", ".report", ".basis")
    texts = [page.locator(part).first.inner_text() for part in parts]
    return [*texts, page.locator(".board").inner_html()]
