"""A browser, and a server of some games, for each file of tests."""

import contextlib

import pytest
from browser import Contexts, chromium, served, visits
from play_page import offered

from gamedp.web.app import make_app
from gamedp.web.tables import WebTables


@pytest.fixture(scope="module")
def listed():
    return offered()


@pytest.fixture(scope="module")
def home(listed):
    tables = WebTables()
    with served(make_app(listed, tables, ())) as address:
        yield address
    tables.close()


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def contexts(browser):
    return Contexts(browser)


@pytest.fixture
def serve():
    """Serve applications until the pages of the test are closed, which ask for more at any time."""
    with contextlib.ExitStack() as stack:

        def serve(app, tables=None):
            if tables is not None:
                stack.callback(tables.close)
            return stack.enter_context(served(app))

        yield serve


@pytest.fixture
def visit(contexts, home, serve):  # `serve`: pages are closed before what they ask
    with visits(contexts, home) as open_page:

        def visit(
            hash_="", *, site=home, locale="en-US", wait_for=".action, .offer, .problem", **options
        ):
            return open_page(site + hash_, wait_for, own=site, locale=locale, **options)

        yield visit
