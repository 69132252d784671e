"""A folder that any server of files can show: the page, and all positions of small games."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.play.play import Line as Played
from gamedp.runtime.files import write_whole
from gamedp.web.files import page_files
from gamedp.web.positions import basis_facts, shown_position
from gamedp.web.values import by_table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gamedp.web.basis import Basis
    from gamedp.web.catalogue import Listed, Made
    from gamedp.web.tables import Tables

__all__ = ["MOST_POSITIONS", "export"]

MOST_POSITIONS = 10_000
"""Of a game: their texts must reach a browser at once."""

ONLINE, OFFLINE = b'data-mode="server"', b'data-mode="folder"'
CHARSET = b'<meta charset="utf-8">'
POLICY = (
    b'<meta http-equiv="content-security-policy" content="default-src \'none\'; '
    b"script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'\">"
)
"""What the server says in a header."""


def export(listed: Iterable[Listed], tables: Tables, folder: Path) -> dict[str, int]:
    """Write the page and the positions of games, whose tables are known, into a folder.

    Parameters
    ----------
    listed : iterable of Listed
    tables : Tables
        That has prepared them.
    folder : Path
        Made if it does not exist; it must be empty, or one that was written by this.

    Returns
    -------
    dict of str to int
        How many positions each game has.

    Raises
    ------
    InvalidParameterError
        If there is something else in the folder.
    UnsupportedProblemError
        If a game has too many positions, or no table.
    """
    if folder.exists() and (not folder.is_dir() or _is_foreign(folder)):
        message = f"{folder} holds something else; name a new folder."
        raise InvalidParameterError(message)
    known, contents = [], {}
    for each in listed:
        game = each.make({})
        basis = tables.known(game)
        if basis is None or basis.solution is None:
            why = "" if basis is None else basis.why_not
            message = f"{each.name} has no table, which a folder would be made of. {why}"
            raise UnsupportedProblemError(message)
        data = table_data(game, basis)
        contents[each.name] = data
        facts = {**each.list_facts(basis), "fixed": True, "surface": None}
        known.append({**facts, "file": f"data/{each.name}.json"})
    for path, file in page_files().items():
        content = file.content
        if path.endswith(".html"):
            content = content.replace(ONLINE, OFFLINE).replace(CHARSET, CHARSET + POLICY)
        _write(folder / path, content)
    for name, data in contents.items():
        _write(folder / "data" / f"{name}.json", _json(data))
    _write(folder / "data" / "games.json", _json(known))
    for old in (folder / "data").glob("*.json"):  # of games that were there before
        if old.stem not in {*contents, "games"}:
            old.unlink()
    return {name: len(data["positions"]) for name, data in contents.items()}


def table_data(made: Made, basis: Basis) -> dict[str, Any]:
    """Return all positions of a game, each with the places of those that follow.

    Raises
    ------
    UnsupportedProblemError
        If there are too many.
    """
    rules, solution = made.rules, basis.solution
    assert solution is not None  # noqa: S101 - the caller has made sure
    players = range(rules.num_players)
    places: dict[Any, int] = {}
    states: list[Any] = []

    def place(state: Any) -> int:
        if state not in places:
            places[state] = len(states)
            states.append(state)
            if len(states) > MOST_POSITIONS:
                message = (
                    f"{made.name} has more than {MOST_POSITIONS:,} positions, too many for a "
                    "page without a server."
                )
                raise UnsupportedProblemError(message)
        return places[state]

    starts = [
        {"probability": float(probability), "position": place(state)}
        for probability, state in rules.initial()
    ]
    positions: list[dict[str, Any]] = []
    while len(positions) < len(states):
        state = states[len(positions)]
        played = Played(rules, [state], earned=[0.0] * rules.num_players)
        values = None if played.is_over else by_table(solution, rules, state)
        shown = shown_position(made, played, values, basis)
        for answer in shown["actions"]:
            action = answer["action"]
            answer["rewards"] = [rules.reward(state, action, player) for player in players]
            pairs = list(rules.game.outcomes(state, action))
            for chance in answer["chance"]:
                chance["next"] = place(pairs[chance["outcome"]][1])
        positions.append({**shown, "chosen": [] if values is None else list(values.choose())})
    return {
        "format": 1,
        "game": {"name": made.name, "parameters": made.parameters},
        "starts": starts,
        "range": None if basis.range is None else list(basis.range),
        "basis": basis_facts(basis, None),
        "positions": positions,
    }


def _is_foreign(folder: Path) -> bool:
    """Say whether a folder has anything that no export writes, or a page that none has written."""
    pages = [path for path in folder.iterdir() if path.name not in {"static", "data"}]
    if not pages:
        return any(folder.iterdir())
    index = folder / "index.html"
    return (
        any(path.suffix != ".html" for path in pages)
        or not index.is_file()
        or OFFLINE not in index.read_bytes()
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(content))


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
