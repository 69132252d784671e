"""Draw the pictures of the page in the browser, for the guides to `gamedp serve` and to Kniffel.

``python docs/draw_pages.py`` serves the games, looks at them in the Chromium of this machine, and
writes ``docs/_static/page-NAME-light.png`` and ``-dark.png``.
"""

import base64
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page

import gamedp
from gamedp.games.kniffel.page import page as kniffel
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.web.app import make_app
from gamedp.web.catalogue import from_registry
from gamedp.web.tables import WebTables

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from browser import SEEN, chromium, served

FOLDER = Path(__file__).parent / "_static"
COLOURS = {"surface": 256}
FEW_COLOURS = 128
GAMES = ("mancala", "matches", "nim", "wubbel")
KNIFFEL = "23346.33.13335.333.33356.c_22555.22555.22555.22555.22555.i_23556"
"""Twelve points for threes, a full house, and the first throw of the third round."""


def address(name: str, **rest: Any) -> str:
    """Return what stands behind the page's address for a game under way."""
    text = json.dumps(rest, separators=(",", ":"))
    return f"#{name}/{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"


def wubbel_so_far() -> str:
    """Return a game of Wubbel in which the first player saves too early."""
    game = Wubbel(50)
    best = gamedp.solve(game, tolerance=1e-9)
    record = gamedp.play.play_game(game, [Hold(11), best], seed=23)
    states = enumerate(record.states[:30])
    plies = max(ply for ply, state in states if state.player == 0 and state.turn >= 10)
    actions, outcomes = record.actions[:plies], record.outcomes[:plies]
    return address("wubbel", p={"goal": 50}, a=actions, o=outcomes, seed=1)


@contextlib.contextmanager
def opened(
    browser: Browser, where: str, theme: Any, size: Any, seen: str = ".here"
) -> Iterator[Page]:
    """Open a page in a theme, as large as said, and wait until what is to be seen is there."""
    context = browser.new_context(
        color_scheme=theme, reduced_motion="reduce", locale="en", viewport=size
    )
    page = context.new_page()
    page.add_init_script(SEEN)
    page.goto(where)
    page.locator(seen).first.wait_for(timeout=120_000)
    page.evaluate("document.activeElement.blur()")
    yield page
    context.close()


def keep(picture: bytes, name: str, theme: str) -> None:
    """Write a picture in few colours: a third of the bytes, and nobody sees the difference."""
    whole, colours = Image.open(io.BytesIO(picture)).convert("RGB"), COLOURS.get(name, FEW_COLOURS)
    small = whole.quantize(colours, dither=Image.Dither.NONE)
    small.save(FOLDER / f"page-{name}-{theme}.png", optimize=True)


def draw(browser: Browser, home: str, theme: str) -> None:
    """Write the pictures in a theme."""
    wide, table = {"width": 1200, "height": 800}, {"width": 1000, "height": 560}
    with opened(browser, home + wubbel_so_far(), theme, wide) as page:
        keep(page.screenshot(), "wubbel", theme)
    sown = address("mancala", p={"pits": 3, "stones": 3}, a=[2, 1], o=[0, 0], seed=1)
    with opened(browser, home + sown, theme, table) as page:
        keep(page.screenshot(), "mancala", theme)
    taken = address("matches", a=[1, 3, 2, 1], o=[0] * 4, seats=["person"] * 2, seed=1)
    with opened(browser, home + taken, theme, wide) as page:
        page.locator(".because > summary").click()
        page.locator(".strip").wait_for()
        page.evaluate("document.activeElement.blur()")
        keep(page.screenshot(), "why", theme)
    with opened(browser, home + "#nim/puzzles", theme, wide, ".puzzle-list a") as page:
        page.locator(".puzzle-list a").first.click()
        page.locator(".puzzle").wait_for()
        page.evaluate("document.activeElement.blur()")
        keep(page.locator(".play > .table").screenshot(), "puzzle", theme)
    thrown = f"{home}kniffel?lang=en#players=1&game={KNIFFEL}"
    with opened(browser, thrown, theme, {"width": 1280, "height": 760}, ".is-best") as page:
        keep(page.screenshot(), "kniffel", theme)
    with opened(browser, home + address("wubbel", p={"goal": 50}), theme, wide) as page:
        page.locator(".surface summary").click()
        page.locator("canvas").wait_for()
        keep(page.locator(".surface").screenshot(), "surface", theme)


if __name__ == "__main__":
    tables = WebTables()
    listed = {name: from_registry(name) for name in GAMES}
    with served(make_app(listed, tables, (), [kniffel])) as home, chromium() as browser:
        for theme in ("light", "dark"):
            draw(browser, home, theme)
    tables.close()
