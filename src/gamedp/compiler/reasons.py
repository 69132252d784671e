"""Explanations of numba's compile errors: the reason, the line of the rules, and a remedy."""

from __future__ import annotations

import linecache
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gamedp.rules.expand import Expansion

__all__ = ["NAMED_ACTIONS", "OUTCOMES_EARN", "first_reason", "reason_at"]

NAMED_ACTIONS = (
    "its actions are not all integers, which those of compiled rules must be; number them, as an "
    "IntEnum does, and action_name() may give them words"
)
"""Reason for which rules are not compiled."""

OUTCOMES_EARN = (
    "its outcomes have rewards of their own, (probability, state, reward), which compiled rules "
    "cannot have; their mean, as reward(state, action, player), compiles"
)
"""Reason for which rules are not compiled."""

LINE_WIDTH = 100

OURS = ("gamedp/compiler", "gamedp/searchers", "gamedp/stages", "<string>")
"""Parts of paths of files that contain no rules."""

REMEDIES = (
    (r"yield in a closure", "write a loop instead of the generator expression"),
    (r"YIELD_FROM", "write a loop with `yield` instead of `yield from`"),
    (r"global name 'super'", "write the method in full, or a helper that both classes use"),
    (r"global name '(\w+)': .*<class 'function'>", "mark {0} with @gamedp.helper"),
    (r"global name '\w+': .*<class 'dict'>", "use a tuple, indexed by number, instead of the dict"),
    (r"global name '(all|any|filter|iter|map|next|reversed)'", "write a loop instead of {0}(...)"),
    (r"global name '(\w+)'", "use numbers, tuples and helpers instead of {0}"),
    (r"reflected list", "make the list a tuple"),
    (r"getitem\(\w*Tuple.*slice", "change an item with gamedp.with_item instead of slices"),
    (r"'_replace' of type (\w+)", "write {0}(...) with all its fields instead of _replace"),
    (r"'_asdict' of type", "read the fields of the state by their names instead of _asdict"),
    (r"attribute 'add' of type iter", "write a loop instead of the set in braces"),
    (r"attribute '(\w+)' of type \w*Tuple", "write a loop instead of .{0}(...)"),
    (r"attribute '(\w+)' of type Module", "write what {0} does as a loop or a helper"),
    (
        r"compile tuple\(",
        "begin with a tuple, such as the state's own, and change items with gamedp.with_item",
    ),
    (r"compile (sum|min|max)\(.*generator", "write a loop instead of the generator"),
    (r"compile mul\(\w*Tuple", "write the tuple out, or keep one in a field of the game"),
    (r"Cannot unify .*Tuple", "make both tuples equally long, or yield their items one by one"),
    (r"getitem\(Tuple\(", "give the tuple items of one type, such as floats alone"),
    (r"getiter.*Tuple", "give the tuple items of one type, and tuples in it one length"),
    (r"float\(\) only support", "write 1.0 if ... else 0.0 instead of float(...)"),
    (r"Exception matching", "test beforehand instead of catching the error"),
    (r"compile pow\(.*,.*,", "write a loop that takes % after each product"),
    (r"keyword argument 'key'", "write a loop instead of key="),
    (r"isinstance", "tell states apart by a field instead of isinstance"),
    (r"re-entrant", "write a loop instead of a method that calls itself"),
    (
        r"the game's attribute '(\w+)'",
        "make {0} a number, a tuple of one type or a numpy array",
    ),
    (r"Literal\[str\]|unicode|f-strings", "use numbers instead of texts"),
    (r"of a truth value", "write `not` instead of ~"),
    (r"round rounds", "keep the digits, or count in whole numbers"),
    (r"a set has another order", "use a tuple instead of the set"),
    (r"with and without a sign", "write int(...) around the numbers of an array"),
)
"""Texts in numba's reasons, and what to write instead; the first match counts."""


def reason_at(expansion: Expansion, error: Exception) -> str:
    """Return why rules do not compile, which have given the expansion of a state."""
    if any(type(choice.action) is not int for choice in expansion.choices):
        return NAMED_ACTIONS
    return first_reason(error)


def first_reason(error: Exception) -> str:
    """Return the essence of numba's long message: the reason, the line, and the remedy."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    reason = _reason(text) or type(error).__name__
    reason = re.sub(r"[.,]? *(Raised from|defined at) \S+ \(\d+\)$", "", reason).rstrip(".")
    return f"{reason}{_place(text)}{_remedy(reason)}"


def _reason(text: str) -> str | None:
    """Return numba's description of the error."""
    unknown: list[str] = re.findall(
        r"Unknown attribute '(\w+)' of type (?:RecordPointer\()?Record", text
    )
    if unknown:
        return f"numba knows no type for the game's attribute {unknown[-1]!r}"
    inner: list[str] = [
        sentence.strip()
        for sentence in re.findall(r"^\s*\w*Error: (.+)", text, re.MULTILINE)
        if not re.match(r"too many positional|Typing and implementation", sentence)
    ]
    if inner:
        return inner[-1]
    calls: list[str] = re.findall(r"No implementation of function .*\n\s*\n?\s*>>> (.+)", text)
    if calls:
        return f"numba cannot compile {calls[-1].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    plain = [line for line in lines if not re.match(r"Failed in|During:|- Resolution|None$", line)]
    return next(iter(plain), None)


def _place(text: str) -> str:
    """Return the file and the line of the rules, and the line itself."""
    places = re.findall(r'File "([^"]+)", line (\d+)', text)
    places += re.findall(r"Raised from (\S+) \((\d+)\)", text)
    for path, number in places:
        if not any(part in path for part in OURS):
            line = linecache.getline(path, int(number)).strip()
            quoted = f": `{textwrap.shorten(line, LINE_WIDTH, placeholder=' ...')}`" if line else ""
            return f" ({path}, line {number}{quoted})"
    return ""


def _remedy(reason: str) -> str:
    """Return what to write instead, if that is known."""
    for pattern, remedy in REMEDIES:
        found = re.search(pattern, reason)
        if found:
            return f"; {remedy.format(*found.groups())}"
    return ""
