"""A page of Chomp's own: a bar to bite into, with the winning bites marked.

The server draws it, without JavaScript; its style is a file of this package.
"""

import importlib.resources
from html import escape

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.web.plugin import Page
from gamedp_chomp import Chomp, State

__all__ = ["page"]

COLUMNS = 7


def bar_of(query):
    """Return the two rows of a query, such as ``rows=5,4``."""
    try:
        first, second = (int(row) for row in query.get("rows", f"{COLUMNS},{COLUMNS}").split(","))
    except ValueError:
        first = second = -1
    if not 1 <= first <= COLUMNS or not 0 <= second <= first:
        message = f"rows must be two numbers up to {COLUMNS}, the larger one first, such as 5,4."
        raise InvalidParameterError(message)
    return State(0, (first, second))


def answer(shared, query):
    """Return which bites win, as a JSON value."""
    bar = bar_of(query)
    solution = shared.result("solution", lambda _progress: gamedp.solve(Chomp(2, COLUMNS)))
    game = Chomp(2, COLUMNS)
    wins = {each.action: each.value > 0 for each in solution.action_values(bar)}
    return {
        "rows": list(bar.rows),
        "bites": [
            {"name": game.action_name(bar, action), "wins": is_win}
            for action, is_win in wins.items()
        ],
    }


def draw(shared, query, note):
    """Return the page."""
    told = f"<p role='status'>{escape(note)}</p>" if note else ""
    if shared is not None and not note:
        bites = answer(shared, query)["bites"]
        told = "".join(
            f"<li class='{'wins' if each['wins'] else 'loses'}'>{escape(each['name'])}: "
            f"{'wins' if each['wins'] else 'loses'}</li>"
            for each in bites
        )
        told = f"<ol>{told}</ol>"
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Chomp</title>"
        "<link rel='stylesheet' href='static/style.css'>"
        "<link rel='stylesheet' href='chomp-bites/static/chomp.css'></head>"
        f"<body><main id='page'><h1>Chomp: which bites win</h1>{told}</main></body></html>"
    )


page = Page(
    name="chomp-bites",
    title="Chomp: which bites win",
    about="Two rows of chocolate, and every bite's fate.",
    answer=answer,
    draw=draw,
    static=importlib.resources.files("gamedp_chomp") / "static",
)
