"""A real browser, and a server that it asks over the network of this machine."""

import contextlib
import shutil
import socket
import threading

import numba
import pytest

from gamedp.web.serve import configured

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")

PATIENCE = 240_000
"""Milliseconds: the first to ask waits for compiling and solving, on a busy machine, too."""

COUNT_MOVES = """
    window.moves = 0;
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (...given) {
      window.moves++;
      return animate.apply(this, given);
    };
"""
"""Put into a page, it counts what is moved."""

KNOWN = "kniffel mancala matches nim noughts-and-crosses views wubbel"
SEEN = f"""
    try {{
      localStorage.setItem("gamedp-rules", "{KNOWN}");
    }} catch {{
      // an empty page keeps nothing
    }}
"""
"""Put into a page, it folds the rules of games, as for those who have played them before."""


@contextlib.contextmanager
def chromium():
    """Start the browser that the machine has; skip the test if there is none.

    Uncompiled, a page in a browser shows nothing new: it asks a server what test_api.py asks, too.

    Playwright runs an event loop in this thread until it is closed, so no other may run meanwhile.
    """
    if numba.config.DISABLE_JIT:
        pytest.skip("pages are shown by compiled code; the server is asked uncompiled, too")
    api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(NAMES)} is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextlib.contextmanager
def served(app):
    """Serve an application at a free port; yield its address."""
    uvicorn = pytest.importorskip("uvicorn")
    server = uvicorn.Server(configured(app))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


class Contexts:
    """What pages of one file of tests are opened in; a new one for each is half of what one costs.

    A page is opened as if it were the first: nothing is kept of what another one has stored.
    """

    def __init__(self, browser):
        self.browser = browser
        self.known = {}

    def open_page(self, *, width, height, locale=None, java_script_enabled=True, **media):
        """Return a page of this size, for readers who see it so and read this language."""
        key = locale, java_script_enabled
        if key not in self.known:
            self.known[key] = self.browser.new_context(
                locale=locale, java_script_enabled=java_script_enabled
            )
            self.known[key].set_default_timeout(PATIENCE)
            self.known[key].new_page()  # stays, as a browser begins anew after its last page
        page = self.known[key].new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**media)
        return page

    def forget(self, page, address):
        """Forget what pages of a site have stored."""
        session = page.context.new_cdp_session(page)
        origin = "/".join(address.split("/")[:3])
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()


@contextlib.contextmanager
def visits(contexts, site):
    """Yield what opens pages, each with nothing stored; nothing must stand in their consoles.

    But the status of an error that is `expected`. Rules are unfolded on a `first` visit alone.
    """
    pages, said = [], []

    def visit(
        address,
        wait_for,
        *,
        width=900,
        height=700,
        motion="reduce",
        patched="",
        own=site,
        expected=None,
        first=False,
        **options,
    ):
        page = contexts.open_page(width=width, height=height, reduced_motion=motion, **options)
        pages.append(page)
        contexts.forget(page, address)
        if not first:
            page.add_init_script(SEEN)
        if patched:
            page.add_init_script(patched)
        page.on(
            "console",
            lambda message: (
                None
                if expected is not None and str(expected) in message.text
                else said.append(message.text)
            ),
        )
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.extend(() if own in request.url else [request.url]))
        page.goto(address)
        if wait_for:
            page.locator(wait_for).first.wait_for()
        return page

    try:
        yield visit
    finally:
        for page in pages:
            page.close()
    assert said == [], "\n".join(said)


def focused(page):
    """Return what has the focus: its tag and its classes."""
    return page.evaluate("document.activeElement.tagName + '.' + document.activeElement.className")


def axe_complaints(page):
    """Return what axe finds to be no use to somebody."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    violations = axe.Axe().run(page).response["violations"]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in violations]


def axe_complaints_light_and_dark(page):
    """Return what axe finds in light colours and in dark ones, which style sheets alone tell."""
    found = []
    for scheme in ("dark", "light"):  # which is then left as pages are
        page.emulate_media(color_scheme=scheme)
        found += [(scheme, *each) for each in axe_complaints(page)]
    return found
