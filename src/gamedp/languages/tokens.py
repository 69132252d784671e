"""Words of a text, each with its line and column."""

from __future__ import annotations

import re
from typing import NoReturn

import attrs

from gamedp.errors import GamedpError, InvalidModelError, shown

NAME, PRIMED, NUMBER, QUOTED, SIGN, END = "name", "primed", "number", "quoted", "sign", "end"
"""Kinds of tokens; a primed name is the next value of a variable, as in ``x'``."""

MOST_DIGITS = 1000
"""Characters of a number, and of one in a message more than it takes to recognise it."""

TOKEN = re.compile(
    r"""
    (?P<space>(?:\s+|//[^\n]*)+)
    |(?P<number>(?:\d*\.\d+|\d+)(?:[eE][+-]?\d+)?)
    |(?P<quoted>"[^"\n]*")
    |(?P<primed>[A-Za-z_]\w*')
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign><=>|=>|->|<=|>=|!=|\.\.|<<|>>|\|\||[-+*/()\[\]{}=<>&|!?:;,^%])
    """,
    re.VERBOSE | re.ASCII,
)


@attrs.frozen(eq=False)
class Source:
    """A text, and how to say where in it something is wrong.

    Attributes
    ----------
    name : str
        What to call it in messages, such as the path of a file.
    text : str
    kind : type of exception
    """

    name: str
    text: str = attrs.field(repr=False)
    kind: type[GamedpError] = InvalidModelError

    def where(self, at: int) -> str:
        """Return words for the place of a character."""
        return f"line {self.line(at)}, column {at - self.text.rfind(chr(10), 0, at)}"

    def line(self, at: int) -> int:
        """Return the number of the line of a character, from 1 on."""
        return self.text.count("\n", 0, at) + 1


@attrs.frozen
class TextPlace:
    """A place in a text."""

    source: Source
    at: int

    def __str__(self) -> str:
        """Return the line and column."""
        return self.source.where(self.at)

    def error(self, message: str) -> GamedpError:
        """Return the error for something wrong at this place."""
        return self.source.kind(f"{self.source.name}, {self}: {message}")

    def refuse(self, message: str) -> NoReturn:
        """Raise the error for something wrong at this place."""
        raise self.error(message) from None


@attrs.frozen
class Token:
    """A word of a text.

    Attributes
    ----------
    kind : str
        `NAME`, `PRIMED`, `NUMBER`, `QUOTED`, `SIGN`, or `END` after the last one.
    text : str
        As it is written, quotation marks and prime included; empty at the end.
    place : TextPlace
    """

    kind: str
    text: str
    place: TextPlace = attrs.field(eq=False, repr=False)


def tokens_of(source: Source) -> list[Token]:
    """Return the tokens of a text without spaces and comments, with one of the kind `END` last.

    Raises
    ------
    GamedpError
        Of the source's kind, at the first character that begins no token.

    Examples
    --------
    >>> from gamedp.languages.tokens import Source, tokens_of
    >>> [token.text for token in tokens_of(Source("text", "x>=2 // much"))]
    ['x', '>=', '2', '']
    """
    found, at, text = [], 0, source.text
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            what = "a quotation mark that is not closed" if text[at] == '"' else shown(text[at])
            TextPlace(source, at).refuse(f"{what} cannot stand here.")
        kind, word = str(match.lastgroup), match.group()
        if kind != "space":
            if kind == NUMBER and len(word) > MOST_DIGITS:
                TextPlace(source, at).refuse(f"a number has at most {MOST_DIGITS:,} digits.")
            found.append(Token(kind, word, TextPlace(source, at)))
        at = match.end()
    return [*found, Token(END, "", TextPlace(source, len(text)))]


class Reader:
    """Goes through the tokens of a text.

    Parameters
    ----------
    source : Source

    Attributes
    ----------
    token : Token
        The next one.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = tokens_of(source)
        self._next = 0
        self.token = self.tokens[0]

    def ahead(self, count: int = 1) -> Token:
        """Return the token that many after the next one."""
        return self.tokens[min(self._next + count, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Return the next token and go on."""
        token = self.token
        self._next = min(self._next + 1, len(self.tokens) - 1)
        self.token = self.tokens[self._next]
        return token

    def accepts(self, word: str) -> bool:
        """Go on if the next token is the word; return whether it was."""
        found = self.token.text == word
        if found:
            self.take()
        return found

    def expect(self, word: str) -> Token:
        """Return the next token, which must be the word, and go on."""
        if self.token.text != word:
            self.fail(f"{word!r}")
        return self.take()

    def take_kind(self, kind: str, what: str) -> Token:
        """Return the next token, which must be of a kind, and go on."""
        if self.token.kind != kind:
            self.fail(what)
        return self.take()

    def fail(self, wanted: str) -> NoReturn:
        """Raise the error for a token that stands where something else should be."""
        token = self.token
        found = "the text ends" if token.kind == END else f"{shown(token.text)} stands"
        hint = " Whether two are equal is asked by a single =." if token.text == "=" else ""
        token.place.refuse(f"{found} where {wanted} should be.{hint}")
