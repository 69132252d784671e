"""Check that a format of files keeps models as they are, and refuses damaged files in words."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import attrs
import numpy as np

import gamedp
from gamedp.testing.complaints import Complaints
from gamedp.testing.solver_checks import small_problems

CUTS = 25
"""Number of places at which a file is cut, and at which a byte is changed."""

RETURN = "models come back as they were"
BYTES = "the same model gives the same bytes"
REFUSAL = "damaged files are read or refused in words"
"""Names of checks."""

KEPT = ("choice_offsets", "transition_offsets", "successors", "probabilities", "players")
"""Arrays of a model that come back as they were."""


@attrs.frozen
class FormatReport:
    """The models and files that :func:`check_format` has tried.

    Attributes
    ----------
    written : tuple of str
        Models that were written and came back as they were; :func:`small_problems` has them.
    refused : tuple of str
        Models that the format says it cannot express.
    damaged : int
        Number of damaged files that were read or refused.
    """

    written: tuple[str, ...]
    refused: tuple[str, ...]
    damaged: int


def check_format(name: str, files: Iterable[str | Path] = ()) -> FormatReport:
    """Check a registered format of files.

    What is written is read as the same, and the same model gives the same bytes. A file that is cut
    or has one changed byte is either read or refused by an error of gamedp.

    Parameters
    ----------
    name : str
        The ending of its files, as registered in the group ``gamedp.formats``.
    files : iterable of path
        Good files of that format, to be read, damaged and read again; needed for a format that
        cannot be written.

    Raises
    ------
    ConformanceError
        Lists what is wrong.

    Examples
    --------
    >>> from gamedp.testing import check_format
    >>> report = check_format("drn")
    >>> "a walk" in report.written, report.damaged
    (True, 50)
    """
    complaints = Complaints((RETURN, BYTES, REFUSAL))
    written: list[str] = []
    refused: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        good = [Path(file).read_bytes() for file in files]
        path = Path(folder, f"model.{name}")
        for word, problem in small_problems().items():
            if problem.model.is_general_sum:
                continue  # no file has them
            try:
                gamedp.write_model(path, problem.model, ends="none")
            except (gamedp.InvalidModelError, gamedp.errors.InvalidParameterError):
                refused.append(word)
                continue
            if not written:
                good.append(path.read_bytes())
            _check_return(complaints, word, problem.model, path)
            written.append(word)
        if not good:
            complaints.add(RETURN, "it writes no model; give `files`")
        damaged = [copy for content in good for copy in _damaged(content)]
        for number, copy in enumerate(damaged):
            path.write_bytes(copy)
            _check_refusal(complaints, number, path)
    complaints.raise_if_any(f"the format {name!r} breaks its promises", complaints.names)
    return FormatReport(tuple(written), tuple(refused), len(damaged))


def _check_return(complaints: Complaints, word: str, model: gamedp.Model, path: Path) -> None:
    """Check that a model comes back as it was, and is written in the same bytes again."""
    content = path.read_bytes()
    try:
        again = gamedp.read_model(path).model
    except Exception as error:  # noqa: BLE001 - which one is the complaint
        complaints.add(RETURN, f"{type(error).__name__}: {error}", word)
        return
    if model.has_swaps or model.payoffs.any():  # written as more states
        same = gamedp.solve(again).bounds()
        value = gamedp.solve(model, gamedp.TotalReward()).bounds()
        if max(same[0], value[0]) > min(same[1], value[1]):
            complaints.add(RETURN, f"the value is {value} before, {same} after", word)
    else:
        for array in KEPT:
            if not np.array_equal(getattr(model, array), getattr(again, array)):
                complaints.add(RETURN, f"other {array}", word)
        if not np.array_equal(model.rewards, again.rewards):
            complaints.add(RETURN, "other rewards", word)
    gamedp.write_model(path, model, ends="none")
    if path.read_bytes() != content:
        complaints.add(BYTES, "the second time they differ", word)


def _damaged(content: bytes) -> list[bytes]:
    """Return truncated copies of a file, and copies with one changed byte; the same each time."""
    places = np.linspace(0, max(len(content) - 1, 0), CUTS).astype(int).tolist()
    changed = [
        content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :] for place in places
    ]
    return [content[:place] for place in places] + changed


def _check_refusal(complaints: Complaints, number: int, path: Path) -> None:
    """Check that a damaged file is read, or refused by an error of gamedp."""
    try:
        gamedp.read_model(path)
    except gamedp.GamedpError:
        return
    except Exception as error:  # noqa: BLE001 - which one is the complaint
        complaints.add(REFUSAL, f"copy {number} raises {type(error).__name__}: {error}")
