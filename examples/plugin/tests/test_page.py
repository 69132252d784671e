"""The page of Chomp says which bites win, and is served with its style."""

import pytest
from gamedp_chomp.page import page

from gamedp.errors import InvalidParameterError


class Shared:
    """Does the work of a page at once."""

    def result(self, _key, work):
        return work(None)


@pytest.mark.parametrize("rows", [(7, 7), (5, 4), (4, 4), (1, 0)])
def test_the_page_says_which_bites_win(rows):
    query = {"rows": f"{rows[0]},{rows[1]}"}
    bites = page.answer(Shared(), query)["bites"]
    assert any(each["wins"] for each in bites) == (rows[0] - rows[1] != 1)
    assert len(bites) == sum(rows)
    assert page.draw(Shared(), query, "").count("<li ") == sum(rows)


def test_the_page_refuses_what_is_no_bar():
    for rows in ("", "8,1", "1,2", "x,y", "3"):
        with pytest.raises(InvalidParameterError):
            page.answer(Shared(), {"rows": rows})


def test_the_server_serves_the_page_and_its_style():
    testclient = pytest.importorskip("starlette.testclient")
    web = pytest.importorskip("gamedp.web.app")
    tables = pytest.importorskip("gamedp.web.tables").WebTables()
    with testclient.TestClient(web.make_app({}, tables, ("testserver",), [page])) as client:
        style = client.get("/chomp-bites/static/chomp.css")
        assert style.headers["content-type"] == "text/css; charset=utf-8"
        assert ".wins" in style.text
        drawn = client.get("/chomp-bites").text
        assert "chomp-bites/static/chomp.css" in drawn
    tables.close()
