"""Draw the pictures of the page in the browser, for the README and the guide to `gamedp serve`.

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
from gamedp.games.wubbel import Hold, Wubbel
from gamedp.web.app import make_app
from gamedp.web.catalogue import from_registry
from gamedp.web.tables import Tables

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from browser import chromium, served

FOLDER = Path(__file__).parent / "_static"
COLOURS = 256
GAMES = ("mancala", "wubbel")


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
def opened(browser: Browser, home: str, hash_: str, theme: Any, size: Any) -> Iterator[Page]:
    """Open a page in a theme, as large as said, and wait until the game and its past are there."""
    context = browser.new_context(
        color_scheme=theme, reduced_motion="reduce", locale="en", viewport=size
    )
    page = context.new_page()
    page.goto(home + hash_)
    page.locator(".actions .number").first.wait_for(timeout=120_000)
    page.locator(".here").wait_for()
    page.evaluate("document.activeElement.blur()")
    yield page
    context.close()


def keep(picture: bytes, name: str, theme: str) -> None:
    """Write a picture in 256 colours: a third of the bytes, and nobody sees the difference."""
    small = (
        Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    )
    small.save(FOLDER / f"page-{name}-{theme}.png", optimize=True)


def draw(browser: Browser, home: str, theme: str) -> None:
    """Write the three pictures in a theme."""
    wide, table = {"width": 1200, "height": 800}, {"width": 1000, "height": 560}
    with opened(browser, home, wubbel_so_far(), theme, wide) as page:
        keep(page.screenshot(), "wubbel", theme)
    sown = address("mancala", p={"pits": 3, "stones": 3}, a=[2, 1], o=[0, 0], seed=1)
    with opened(browser, home, sown, theme, table) as page:
        keep(page.screenshot(), "mancala", theme)
    with opened(browser, home, address("wubbel", p={"goal": 50}), theme, wide) as page:
        page.locator(".surface summary").click()
        page.locator("canvas").wait_for()
        keep(page.locator(".surface").screenshot(), "surface", theme)


if __name__ == "__main__":
    tables = Tables()
    listed = {name: from_registry(name) for name in GAMES}
    with served(make_app(listed, tables)) as home, chromium() as browser:
        for theme in ("light", "dark"):
            draw(browser, home, theme)
    tables.close()
