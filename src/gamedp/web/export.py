"""Export to a folder for any static file server: the page, and all positions of small games."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError
from gamedp.play.advice import advise
from gamedp.play.play import Played
from gamedp.runtime.files import is_temporary, write_whole
from gamedp.web.files import page_files
from gamedp.web.positions import basis_facts, shown_position, steps_between
from gamedp.web.puzzles import puzzle_list
from gamedp.web.refusals import Refused
from gamedp.web.surface import AXES, surface_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from gamedp.results.solution import Solution
    from gamedp.web.catalogue import Basis, Listed, Made
    from gamedp.web.tables import WebTables

__all__ = ["MOST_BYTES", "MOST_POSITIONS", "export"]

MOST_POSITIONS = 10_000
"""Largest number of positions of a game: a browser must load their texts in one go."""

MOST_BYTES = 50_000_000
"""Largest size of these texts in bytes."""

MOST_BYTES_OF_STEPS = 10_000_000
"""Largest size of the steps of a game in bytes."""

LIST = "games"
"""The name of the file that lists the games."""

ONLINE, OFFLINE = b'data-mode="server"', b'data-mode="folder"'
CHARSET = b'<meta charset="utf-8">'
POLICY = (
    b'<meta http-equiv="content-security-policy" content="default-src \'none\'; '
    b"script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'\">"
)
"""The policy that the server sends in a header."""


def export(games: Iterable[Listed], tables: WebTables, folder: Path) -> dict[str, tuple[int, Path]]:
    """Write the page, and the positions of games with known tables, into a folder.

    Parameters
    ----------
    games : iterable of Listed
    tables : WebTables
        The tables, which have been prepared.
    folder : Path
        Created if it does not exist; it must be empty, or written by an earlier export.

    Returns
    -------
    dict of str to (int, Path)
        The number of positions of each game, and their file.

    Raises
    ------
    InvalidParameterError
        If the folder contains anything else.
    UnsupportedProblemError
        If a game has too many positions and no surface, or no table. With a surface, the figure of
        it is exported alone.
    """
    if folder.exists() and (not folder.is_dir() or _is_foreign(folder)):
        message = f"{folder} holds something else; name a new folder."
        raise InvalidParameterError(message)
    listed = list(games)
    names = _file_names([each.name for each in listed])
    known, contents, counts = [], {}, {}
    for each in listed:
        game = each.make({})
        basis = tables.known(game)
        if basis is None or basis.solution is None:
            why = "" if basis is None else basis.why_not
            message = f"{each.name} has no table, which a folder would be made of. {why}"
            raise UnsupportedProblemError(message)
        facts = each.list_facts(basis)
        path = f"data/{names[each.name]}"
        surface = _surface(facts["surface"], basis.solution)
        if surface is not None:
            facts["surface"] |= {"file": f"{path}.bin", "stakes": dict(basis.stakes)}
            contents[f"{path}.bin"] = surface
        else:
            facts["surface"] = None
        given = {name: plain for name, plain in game.parameters.items() if plain is not None}
        # The rules cannot be changed here, so the page states all of them.
        facts |= {"fixed": True, "given": given, "file": f"{path}.json.gz"}
        known.append(facts)
        if surface is not None and basis.solution.model.num_states > MOST_POSITIONS:
            facts["file"] = None  # nothing to play, but a figure to look at
            counts[each.name] = basis.solution.model.num_states, folder / f"{path}.bin"
            continue
        data = table_data(game, basis)
        # What positions have in common is said in each: packed, it is a fortieth of the size.
        contents[f"{path}.json.gz"] = gzip.compress(_json(data), mtime=0)
        counts[each.name] = len(data["positions"]), folder / f"{path}.json.gz"
    contents[f"data/{LIST}.json"] = _json(known)
    _write_page(folder)
    for path, content in contents.items():
        _write(folder / path, content)
    for old in (folder / "data").iterdir():  # files of earlier games
        if old.suffix in {".json", ".gz", ".bin"} and f"data/{old.name}" not in contents:
            old.unlink()
    return counts


def table_data(made: Made, basis: Basis) -> dict[str, Any]:
    """Return all positions of a game, each with the indices of its successors.

    Raises
    ------
    UnsupportedProblemError
        If there are too many positions, or their texts are too large.
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
    size = 0
    while len(positions) < len(states):
        state = states[len(positions)]
        played = Played(rules, [state])
        advice = None if played.is_over else advise(solution, state)
        shown = shown_position(made, played, advice, basis)
        actions = played.numbered() if shown["actions"] else {}
        for answer in shown["actions"]:
            action = actions[answer["action"]]
            answer["rewards"] = [rules.reward(state, action, player) for player in players]
            pairs = list(rules.game.outcomes(state, action))
            if any(len(pair) > 2 for pair in pairs):
                message = (
                    f"outcomes of {made.name} have rewards of their own, which a page without a "
                    "server does not add up."
                )
                raise InvalidParameterError(message)
            for chance in answer["chance"]:
                chance["next"] = place(pairs[chance["outcome"]][1])
        chosen = (
            [number for number, action in actions.items() if action in advice.chosen]
            if advice is not None
            else []
        )
        positions.append({**shown, "chosen": chosen})
        size += len(_json(positions[-1]))
        if size > MOST_BYTES:
            message = (
                f"the positions of {made.name} are more than {MOST_BYTES:,} bytes, too much for a "
                "page without a server."
            )
            raise UnsupportedProblemError(message)
    _add_steps(made, states, positions)
    by_representative: dict[Any, Any] = {}
    for state in states:
        by_representative.setdefault(rules.canonical(state)[0], state)
    return {
        "format": 1,
        "game": {"name": made.name, "parameters": made.parameters},
        "starts": starts,
        "range": None if basis.range is None else list(basis.range),
        "basis": basis_facts(basis, None),
        "positions": positions,
        "puzzles": puzzle_list(made, basis, by_representative),
    }


def _add_steps(made: Made, states: list[Any], positions: list[dict[str, Any]]) -> None:
    """Add the steps of all actions, unless there are too many; the page then shows none."""
    if not made.rules.has_steps:
        return
    size, added = 0, []
    for state, position in zip(states, positions, strict=True):
        for answer in position["actions"]:
            for chance in answer["chance"]:
                steps = steps_between(made, state, answer["action"], chance["outcome"])
                size += len(_json(steps))
                if size > MOST_BYTES_OF_STEPS:
                    return
                added.append((chance, steps))
    for chance, steps in added:
        chance["steps"] = steps


def _surface(axes: Mapping[str, Any] | None, solution: Solution) -> bytes | None:
    """Return the decision surface of a game; None if it has none that can be drawn."""
    if axes is None:
        return None
    try:
        return surface_bytes(solution, **{axis: axes[axis] for axis in AXES})
    except Refused:
        return None


def _file_names(names: Iterable[str]) -> dict[str, str]:
    """Return a file name for each game that is valid on every system and in every address.

    >>> _file_names(["go", "Go", "games", "some.package:Game"])
    {'go': 'go', 'Go': 'go-2', 'games': 'games-2', 'some.package:Game': 'some-package-game'}
    """
    files: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "game"
        file, number = plain, 2
        while file in {LIST, *files.values()}:
            file, number = f"{plain}-{number}", number + 1
        files[name] = file
    return files


def _is_foreign(folder: Path) -> bool:
    """Return whether a folder has anything that no export writes, or a page that none has written.

    That includes links, whose targets do not belong to the folder.
    """
    found = [path for path in folder.iterdir() if not is_temporary(path)]
    if any(path.is_symlink() for path in found):
        return True
    pages = [path for path in found if path.name not in {"static", "data"}]
    if not pages:
        return bool(found)
    index = folder / "index.html"
    return (
        any(path.suffix != ".html" for path in pages)
        or not index.is_file()
        or OFFLINE not in index.read_bytes()
    )


def _write_page(folder: Path) -> None:
    """Write the page, the folder's mark first, so that an interrupted export can be repeated."""
    files = page_files()
    for path in sorted(files, key=lambda path: path != "index.html"):
        content = files[path].content
        if path.endswith(".html"):
            content = content.replace(ONLINE, OFFLINE).replace(CHARSET, CHARSET + POLICY)
        _write(folder / path, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, lambda file: file.write(content))


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
