"""``gamedp grundy``: the nim-values of an octal game, and their period."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

import gamedp
from gamedp.cli.report import lines, print_json
from gamedp.errors import InvalidParameterError

__all__ = ["grundy"]

MOST_EXCEPTIONS = 20
"""Largest number of exceptions listed in full; of more, only the first and the last ones."""


def grundy(
    code: str,
    /,
    *,
    up_to: int = 100_000,
    values: int = 24,
    as_json: Annotated[bool, Parameter(name="--json", show_default=False)] = False,
) -> None:
    """Print the nim-values of the heaps of an octal game, and their period.

    Parameters
    ----------
    code
        Such as 0.77, Kayles; or 0.137, Dawson's chess.
    up_to
        Look for a period in heaps up to this size.
    values
        Show the values of heaps up to this size.
    as_json
        Print one JSON object.
    """
    if values < 0:
        message = f"--values is {values}; it must be a heap, from 0 on."
        raise InvalidParameterError(message)
    game = gamedp.sums.OctalGame(code)
    found = game.periodicity(up_to)
    shown = game.grundy_sequence(values).tolist()
    if as_json:
        facts = {"period": None, "preperiod": None, "exceptions": None, "known_up_to": up_to}
        if found is not None:
            facts |= {name: getattr(found, name) for name in facts}
        print_json({"code": code, "values": shown, **facts})
        return
    pairs = [("code", code), ("values", f"{' '.join(map(str, shown))} ...")]
    if found is None:
        pairs.append(("period", f"none is proven by heaps up to {up_to:,}; there may be one"))
    else:
        pairs += [
            ("period", str(found).removeprefix("period ")),
            ("exceptions", _listed(found.exceptions)),
        ]
    print(lines(pairs))


def _listed(sizes: tuple[int, ...]) -> str:
    """Return the sizes in words, in short if there are many."""
    texts = [f"{size:,}" for size in sizes]
    if len(sizes) > MOST_EXCEPTIONS:
        half = MOST_EXCEPTIONS // 2
        listed = ", ".join([*texts[:half], "...", *texts[-half:]])
        return f"{len(sizes):,} heaps: {listed}"
    return ", ".join(texts) or "none"
