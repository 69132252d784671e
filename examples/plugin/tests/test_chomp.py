"""Chomp holds what it claims, and its known values come out."""

import importlib.metadata

import numpy as np
import pytest
from gamedp_chomp import Bar, Chomp, two_rows_winning
from gamedp_chomp.page import page

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.testing import check_game


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_rules_hold_what_they_claim(rows):
    check_game(Chomp(rows=rows, columns=4))


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (3, 4), (4, 5), (5, 5)])
def test_whoever_begins_wins(rows, columns):
    solution = gamedp.solve(Chomp(rows=rows, columns=columns))
    np.testing.assert_equal(solution.bounds(), (1.0, 1.0))


def test_two_rows():
    solution = gamedp.solve(Chomp(rows=2, columns=20))
    bars = [(first, second) for first in range(1, 21) for second in range(first + 1)]
    wins = [solution.value(Bar(0, bar)) > 0 for bar in bars]
    np.testing.assert_equal(wins, [two_rows_winning(*bar) for bar in bars])


def test_gamedp_finds_it_by_its_name():
    (entry,) = importlib.metadata.entry_points(group="gamedp.games", name="chomp")
    np.testing.assert_equal(entry.load(), Chomp)


class Shared:
    """Does the work of a page at once."""

    def result(self, _key, work):
        return work(None)


@pytest.mark.parametrize("rows", [(7, 7), (5, 4), (4, 4), (1, 0)])
def test_the_page_says_which_bites_win(rows):
    query = {"rows": f"{rows[0]},{rows[1]}"}
    bites = page.answer(Shared(), query)["bites"]
    np.testing.assert_equal(any(each["wins"] for each in bites), two_rows_winning(*rows))
    np.testing.assert_equal(len(bites), sum(rows))
    np.testing.assert_equal(page.draw(Shared(), query, "").count("<li "), sum(rows))


def test_the_page_refuses_what_is_no_bar():
    for rows in ("", "8,1", "1,2", "x,y", "3"):
        with pytest.raises(InvalidParameterError):
            page.answer(Shared(), {"rows": rows})


def test_the_server_serves_the_page_and_its_style():
    testclient = pytest.importorskip("starlette.testclient")
    web = pytest.importorskip("gamedp.web.app")
    tables = pytest.importorskip("gamedp.web.tables").Tables()
    with testclient.TestClient(web.make_app({}, tables, ("testserver",), [page])) as client:
        style = client.get("/chomp-bites/static/chomp.css")
        np.testing.assert_equal(style.headers["content-type"], "text/css; charset=utf-8")
        np.testing.assert_equal(".wins" in style.text, True)
        drawn = client.get("/chomp-bites").text
        np.testing.assert_equal("chomp-bites/static/chomp.css" in drawn, True)
    tables.close()
