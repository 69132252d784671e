"""The boxes of the score sheet: their numbers, their names, and the points of a throw in each.

The boxes are numbered from 0: one for each face (Einser, Zweier, ...), then the seven of the lower
part. A throw is a tuple that counts the dice of each face, the ones first.
"""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import attrs

import gamedp
from gamedp.errors import shown as in_short
from gamedp.games._parameters import as_whole

HOME = importlib.resources.files("gamedp.games.kniffel")

WORDS: Final[dict[str, dict[str, Any]]] = json.loads((HOME / "words.json").read_text("utf-8"))
"""The texts by language; fields in braces are filled in."""

THREE_ALIKE, FOUR_ALIKE, FULL_HOUSE, SMALL_STRAIGHT, LARGE_STRAIGHT, KNIFFEL, CHANCE = range(7)
"""The boxes of the lower part; on a sheet their numbers follow those of the upper part."""

LOWER_BOXES = 7
FULL_HOUSE_POINTS, SMALL_STRAIGHT_POINTS, LARGE_STRAIGHT_POINTS, KNIFFEL_POINTS = 25, 30, 40, 50

LANGUAGES = tuple(WORDS)


@gamedp.helper
def kniffel_face(dice: tuple[int, ...]) -> int:
    """Return the face that all dice show, or 0.

    Examples
    --------
    >>> kniffel_face((0, 0, 0, 5, 0, 0)), kniffel_face((0, 0, 1, 4, 0, 0))
    (4, 0)
    """
    shown_face = 0
    for face in range(len(dice)):
        if dice[face] > 0:
            if shown_face > 0:
                return 0
            shown_face = face + 1
    return shown_face


@gamedp.helper
def points(dice: tuple[int, ...], box: int, kniffel_is_full_house: bool) -> int:
    """Return the points of a throw in a box, without jokers.

    Parameters
    ----------
    dice : tuple of int
        The number of dice by face.
    box : int
    kniffel_is_full_house : bool
        Whether dice that are all alike count as a Full House.

    Examples
    --------
    >>> [points((0, 0, 2, 3, 0, 0), box, True) for box in range(13)]
    [0, 0, 6, 12, 0, 0, 18, 0, 25, 0, 0, 0, 18]
    """
    faces = len(dice)
    if box < faces:
        return dice[box] * (box + 1)
    total = kinds = pairs = most = run = longest = 0
    for face in range(faces):
        count = dice[face]
        total += count * (face + 1)
        kinds += 1 if count > 0 else 0
        pairs += 1 if count > 1 else 0
        most = max(most, count)
        run = run + 1 if count > 0 else 0
        longest = max(longest, run)
    lower = box - faces
    worth = 0
    if (
        (lower == THREE_ALIKE and most >= 3)
        or (lower == FOUR_ALIKE and most >= 4)
        or lower == CHANCE
    ):
        worth = total
    elif lower == FULL_HOUSE:
        if (most >= 3 and pairs >= 2) or (kniffel_is_full_house and kinds == 1):
            worth = FULL_HOUSE_POINTS
    elif lower == SMALL_STRAIGHT and longest >= 4:
        worth = SMALL_STRAIGHT_POINTS
    elif lower == LARGE_STRAIGHT and longest >= 5:
        worth = LARGE_STRAIGHT_POINTS
    elif lower == KNIFFEL and kinds == 1:
        worth = KNIFFEL_POINTS
    return worth


@gamedp.helper
def points_as_joker(faces: int, box: int) -> int:
    """Return the points of a joker in the box of the Full House or of a straight.

    Examples
    --------
    >>> [points_as_joker(6, box) for box in (8, 9, 10)]
    [25, 30, 40]
    """
    lower = box - faces
    if lower == FULL_HOUSE:
        return FULL_HOUSE_POINTS
    return SMALL_STRAIGHT_POINTS if lower == SMALL_STRAIGHT else LARGE_STRAIGHT_POINTS


def box_names(language: str = "de", faces: int = 6) -> tuple[str, ...]:
    """Return the names of all boxes, in the order of their numbers.

    Parameters
    ----------
    language : {"de", "en"}
    faces : int

    Examples
    --------
    >>> box_names()[:3], box_names("en")[-2:]
    (('Einser', 'Zweier', 'Dreier'), ('Yahtzee', 'Chance'))
    >>> box_names("de", faces=7)[6]
    '7er'
    """
    names = WORDS[language]["boxes"]
    further = (names["further"].format(face) for face in range(7, faces + 1))
    return (*names["upper"][:faces], *further, *names["lower"])


def refuse(message: str) -> NoReturn:
    """Raise InvalidParameterError."""
    raise gamedp.errors.InvalidParameterError(message)


def box_number(name: str, faces: int = 6) -> int:
    """Return the number of a box, from 0, by its name on either sheet.

    Capitals, blanks and hyphens do not matter, nor whether umlauts are spelled out. A number counts
    the boxes from 1, as on the sheet.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If there is no such box.

    Examples
    --------
    >>> box_number("Kleine Strasse"), box_number("full-house"), box_number("Twos"), box_number("13")
    (9, 8, 1, 12)
    """
    known = {str(number): number - 1 for number in range(1, faces + LOWER_BOXES + 1)}
    for face in range(1, faces + 1):
        known |= {f"{face}er": face - 1, f"{face}s": face - 1}
    known["aces"] = 0
    for language in LANGUAGES:
        known |= {_plain(each): box for box, each in enumerate(box_names(language, faces))}
    box = known.get(_plain(str(name)))
    if box is None:
        german, english = (", ".join(box_names(language, faces)) for language in LANGUAGES)
        refuse(f"no box is called {in_short(name)}; the boxes are {german}; in English: {english}.")
    return box


def _plain(name: str) -> str:
    """Reduce a name to its distinguishing characters."""
    lower = name.casefold().replace("ü", "ue").replace("ß", "ss")
    return re.sub(r"[\s_-]+", "", lower)


def throw(text: str | Sequence[int], *, dice: int = 5, faces: int = 6) -> tuple[int, ...]:
    """Read a throw: the number of dice by face.

    Parameters
    ----------
    text : str or sequence of int
        The faces in any order, such as ``"13345"`` or ``(1, 3, 3, 4, 5)``.
    dice, faces : int
        The required number of dice, and the number of their faces.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If it is not a throw of these dice; the message says why.

    Examples
    --------
    >>> throw("13345")
    (1, 0, 2, 1, 1, 0)
    >>> throw("1334")
    Traceback (most recent call last):
    ...
    gamedp.errors.InvalidParameterError: the throw '1334' has 4 dice; it takes 5.
    """
    shown_faces = _faces(text, faces)
    if len(shown_faces) != dice:
        refuse(f"the throw {in_short(text)} has {len(shown_faces)} dice; it takes {dice}.")
    return _counts(shown_faces, faces)


def kept(text: str | Sequence[int], dice: tuple[int, ...]) -> tuple[int, ...]:
    """Read which dice of a throw stay on the table: the number by face.

    Parameters
    ----------
    text : str or sequence of int
        Their faces in any order, such as ``"33"``; empty or ``"-"`` if all are thrown again.
    dice : tuple of int
        The throw.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the throw has no such dice.

    Examples
    --------
    >>> kept("33", throw("11336"))
    (0, 0, 2, 0, 0, 0)
    """
    counts = _counts(_faces(text, len(dice)), len(dice))
    for face, (wanted, there) in enumerate(zip(counts, dice, strict=True), start=1):
        if wanted > there:
            refuse(
                f"{in_short(text)} keeps {wanted} dice that show {face}; the throw "
                f"{shown(dice)} has {there} of them. Name dice of the throw only."
            )
    return counts


def shown(dice: tuple[int, ...]) -> str:
    """Return dice as their faces in ascending order; no dice as a dash.

    Examples
    --------
    >>> shown((1, 0, 2, 1, 1, 0)), shown((0, 0, 0, 0, 0, 0))
    ('13345', '-')
    """
    return ("" if len(dice) < 10 else " ").join(map(str, faces_of(dice))) or "-"


def faces_of(dice: tuple[int, ...]) -> list[int]:
    """Return the faces of dice in ascending order."""
    return [face for face, count in enumerate(dice, start=1) for _ in range(count)]


def _faces(text: str | Sequence[int], faces: int) -> list[int]:
    items: Sequence[Any] = text
    if isinstance(text, str):  # faces of two digits are separated; those of one may be
        items = re.findall(r"\d+|[^\s,;-]" if faces > 9 else r"[^\s,;-]", text)
    shown_faces = []
    for item in items:
        digits = str(item if isinstance(item, str) else as_whole(item))
        face = int(digits) if digits.isdecimal() else 0
        if not 1 <= face <= faces:
            refuse(
                f"{in_short(text)} shows {item}, which no die does; their faces are 1 to {faces}."
            )
        shown_faces.append(face)
    return shown_faces


def _counts(shown_faces: list[int], faces: int) -> tuple[int, ...]:
    return tuple(shown_faces.count(face) for face in range(1, faces + 1))


def counted(number: int, word: str) -> str:
    """Return a count with a noun.

    Examples
    --------
    >>> counted(1, "point"), counted(0, "point")
    ('1 point', '0 points')
    """
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def one_of(*known: str) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    """Return a validator that requires one of some texts."""

    def check(_game: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value not in known:
            refuse(f"{attribute.name} must be one of {', '.join(known)}, not {in_short(value)}.")

    return check


a_language = one_of(*LANGUAGES)
"""Requires a language in which the boxes have names."""


def in_words(language: str, name: str, /, **parts: object) -> str:
    """Return one of the texts, with its fields filled in."""
    text: str = WORDS[language][name]
    return text.format(**parts)
