"""Formulas of PCTL and its kin, with rewards, coalitions and co-safe LTL: text into syntax trees.

The grammar is that of PRISM's property language [1]_, and Storm's, as far as it goes here. In a
path formula, ``U W R`` bind least, then ``X F G``, then the operators of expressions.

.. [1] https://www.prismmodelchecker.org/manual/PropertySpecification/AllOnOnePage
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import attrs

from gamedp.errors import InvalidParameterError
from gamedp.languages.expressions import (
    Expression,
    ExpressionReader,
    Literal,
    Name,
    Operation,
)
from gamedp.languages.prism import RESERVED, PrismReader
from gamedp.languages.tokens import END, NAME, NUMBER, QUOTED, Source, TextPlace

OPERATORS = {
    kind + optimum: (kind, optimum or None)
    for kind in ("P", "R", "S", "LRA")
    for optimum in ("", "min", "max")
}
"""The words that begin an operator: its kind, and what is wanted."""

COMPARISONS = ("<=", ">=", "<", ">")

BINARY, UNARY = ("U", "W", "R"), ("X", "F", "G")

FILTERS = {
    "min": "min",
    "max": "max",
    "avg": "avg",
    "sum": "sum",
    "+": "sum",
    "count": "count",
    "argmin": "argmin",
    "argmax": "argmax",
    "forall": "forall",
    "&": "forall",
    "exists": "exists",
    "|": "exists",
    "first": "first",
    "state": "state",
    "range": "range",
    "print": "print",
    "printall": "print",
}
"""The names of filters, and those they stand for."""

REFUSED = {
    "E": "CTL is not understood; for E [...] say P>0 [...].",
    "A": "CTL is not understood; for A [...] say P>=1 [...], which leaves out paths of "
    "probability zero.",
    "multi": "several objectives at once are not understood; ask for one of them.",
    "F0": "F0, whose total is zero where the target is missed, is not understood; Fc counts what "
    "was earned, and F infinity.",
    "T": "T, expected time, is for models of continuous time.",
}
"""Words of other property languages, and what to say of them."""

WORDS = RESERVED | {*OPERATORS, *BINARY, *UNARY, *REFUSED, "Fc"}
"""Words that cannot be names in formulas."""

EVERYBODY = "*"
"""The coalition of all players."""


@attrs.frozen
class Temporal:
    """A temporal operator of a path formula.

    Attributes
    ----------
    operator : {"X", "F", "G", "U", "W", "R"}
    operands : tuple of Formula
        One, or two for ``U W R``.
    first, last : Expression or None
        The steps within which it counts: from `first` on, up to `last`.
    place : TextPlace
    """

    operator: str
    operands: tuple[Formula, ...]
    first: Expression | None
    last: Expression | None
    place: TextPlace = attrs.field(eq=False, repr=False)

    @property
    def depth(self) -> int:
        """The number of operators inside of each other."""
        return 1 + max(part.depth for part in self.operands)

    @property
    def parts(self) -> int:
        """The number of its parts."""
        return 1 + sum(part.parts for part in self.operands)


@attrs.frozen
class RewardPath:
    """A path of a formula about rewards: which of them count.

    Attributes
    ----------
    kind : {"F", "Fc", "C", "I", "S"}
        Until states are reached (`F`; with `Fc`, what was earned counts also where they are
        missed), all, up to a step (`C` with `steps`), at a step, or a step in the long run.
    until : Formula or None
    steps : Expression or None
    """

    kind: str
    until: Formula | None = None
    steps: Expression | None = None


@attrs.frozen
class Query:
    """An operator ``P``, ``R``, ``S`` or ``LRA`` with what it is about.

    Attributes
    ----------
    kind : {"P", "R", "LRA"}
        ``S`` is another name of ``LRA``.
    optimum : {"min", "max"} or None
    comparison : str or None
        One of `COMPARISONS`; None for a number, ``=?``.
    bound : Expression or None
    reward : str, int or None
        The name of a reward structure, or its number from 1 on.
    path : Formula or RewardPath
        A path formula for P, `RewardPath` for R, states for LRA.
    coalition : tuple of str, or None
        Names of players, or their numbers from 1 on; ``("*",)`` for all.
    """

    kind: str
    optimum: str | None
    comparison: str | None
    bound: Expression | None
    reward: str | int | None
    path: Formula | RewardPath
    place: TextPlace = attrs.field(eq=False, repr=False)
    coalition: tuple[str, ...] | None = None
    depth = 1
    parts = 1


@attrs.frozen
class Filter:
    """``filter(kind, formula, states)``; without states, all count."""

    kind: str
    formula: Formula
    states: Formula | None
    place: TextPlace = attrs.field(eq=False, repr=False)
    depth = 1
    parts = 1


Formula: TypeAlias = Expression | Temporal | Query | Filter


def read_formula(text: str, name: str = "the formula") -> Formula:
    """Return the syntax tree of a formula.

    Parameters
    ----------
    text : str
    name : str
        What to call the text in messages.

    Raises
    ------
    InvalidParameterError
        At the first word that cannot stand where it does, with line and column.

    Examples
    --------
    >>> from gamedp.languages.formulas import read_formula
    >>> read_formula('Pmax=? [ F<=3 "goal" ]').path
    Temporal(operator='F', operands=(Label(name='goal'),), first=None, last=Literal(value=3))
    """
    found: Formula = FormulaReader(Source(name, text, InvalidParameterError)).alone()
    refuse_paths(found)
    return found


def operands_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the parts that an operator joins."""
    return formula.operands if isinstance(formula, (Operation, Temporal)) else ()


def walk(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all its parts, but nothing inside of operators and filters."""
    yield formula
    for part in operands_of(formula):
        yield from walk(part)


def refuse_paths(formula: Formula) -> None:
    """Refuse temporal operators where states are meant."""
    for part in walk(formula):
        if isinstance(part, Temporal):
            part.place.refuse(
                f"{part.operator} is about paths: it stands inside of P>=p [...] or P=? [...]."
            )


class FormulaReader(ExpressionReader):
    """Reads formulas."""

    def expression(self) -> Formula:  # type: ignore[override] # formulas have more parts
        """Read a formula of states, or of paths."""
        left = self._unary()
        if self.token.text not in BINARY or self.token.kind != NAME:
            return left
        token = self.take()
        first, last = self._steps()
        found = Temporal(token.text, (left, self._unary()), first, last, token.place)
        if self.token.text in BINARY:
            self.token.place.refuse(
                f"put {found.operator} or {self.token.text} in parentheses: it is not clear which "
                "is inside of the other."
            )
        return found

    def _unary(self) -> Formula:
        """Read a formula that no ``U W R`` joins."""
        token = self.token
        if token.kind == NAME and token.text in ("F0", "Fc"):
            self._refuse(token.text) if token.text == "F0" else self.fail("a path formula")
        if token.kind != NAME or token.text not in UNARY:
            return super().expression()
        self.take()
        first, last = (None, None) if token.text == "X" else self._steps()
        self._nested += 1
        if self._nested > MOST_NESTED:
            token.place.refuse(f"a formula is nested more than {MOST_NESTED} times.")
        inner = self._unary()
        self._nested -= 1
        return Temporal(token.text, (inner,), first, last, token.place)

    def _steps(self) -> tuple[Expression | None, Expression | None]:
        """Read the bound of a temporal operator: its first and its last step."""
        token = self.token
        if token.text == "{":
            token.place.refuse("bounds of rewards are not understood, only bounds of steps.")
        if token.text in ("=", *COMPARISONS):
            self.take()
            steps = self._number()
            if token.text in ("<", ">"):
                one = Literal(1, token.place)
                sign = "-" if token.text == "<" else "+"
                steps = Operation(sign, (steps, one), token.place)
            first = None if token.text in ("<", "<=") else steps
            return first, None if token.text in (">", ">=") else steps
        if token.text == "[" and self.ahead().text != "]":
            self.take()
            first = self._plain()
            self.expect(",")
            last = self._plain()
            self.expect("]")
            return first, last
        return None, None

    def _number(self) -> Expression:
        """Read a bound: a number or a name, or anything in parentheses."""
        token = self.token
        if token.text != "(" and token.kind not in (NUMBER, NAME):
            self.fail("a number, a constant, or an expression in parentheses")
        if token.kind == NAME and self.ahead().text != "(":
            self.take()
            return Name(token.text, token.place)
        return self._state_free(super().term())

    def _plain(self) -> Expression:
        """Read an expression without operators of formulas."""
        return self._state_free(super().expression())

    def _state_free(self, found: Expression) -> Expression:
        for part in walk(found):
            if not isinstance(part, (Literal, Name, Operation)):
                part.place.refuse("a bound is a number: no label or operator can stand in it.")
        return found

    def _states(self) -> Formula:
        """Read a formula of states."""
        found = self.expression()
        refuse_paths(found)
        return found

    def term(self) -> Formula:  # type: ignore[override] # formulas have more parts
        """Read what stands between operators."""
        token = self.token
        if token.text == "<<":
            return self._coalition()
        if token.kind == NAME:
            if token.text in OPERATORS:
                return self._query()
            if token.text == "filter" and self.ahead().text == "(":
                return self._filter()
            if token.text in REFUSED and self.ahead().text in ("[", "(", "=", *COMPARISONS):
                self._refuse(token.text)
            if token.text in (*UNARY, *BINARY):
                token.place.refuse(
                    f"put {token.text} and what it is about in parentheses: only at the beginning "
                    "of a formula it is clear how far it goes."
                )
        if token.text in ("[", "[["):
            token.place.refuse("name those who play together, as in <<1,2>>, not their opponents.")
        return super().term()

    def _refuse(self, word: str) -> None:
        self.token.place.refuse(REFUSED[word])

    def _coalition(self) -> Formula:
        """Read ``<<1,two>>`` and the operator behind it."""
        place = self.take().place
        players = []
        while self.token.text != ">>":
            token = self.token
            if token.kind not in (NAME, NUMBER, QUOTED) and token.text != EVERYBODY:
                self.fail("a player")
            players.append(self.take().text.strip('"'))
            if self.token.text == ":":
                place.refuse("several coalitions with goals of their own are not understood.")
            if self.token.text != ">>":
                self.expect(",")
        self.take()
        if self.token.text not in OPERATORS:
            self.fail("P, R, S or LRA")
        return attrs.evolve(self._query(), coalition=tuple(players))

    def _query(self) -> Query:
        token = self.take()
        kind, optimum = OPERATORS[token.text]
        reward = None
        if kind == "R" and self.accepts("{"):
            reward = self._reward()
        if optimum is None and self.token.text in ("min", "max"):
            optimum = self.take().text
        comparison = bound = None
        if self.accepts("="):
            self.expect("?")
        elif self.token.text in COMPARISONS:
            comparison = self.take().text
            bound = self._state_free(self.between(STRENGTH_OF_SUMS))
        else:
            self.fail("=? or a bound, as in >=0.5,")
        self.expect("[")
        path: Formula | RewardPath
        if kind == "P":
            path = self.expression()
        elif kind == "R":
            path = self._earned()
        else:
            path = self._states()
        self.expect("]")
        kind = "LRA" if kind == "S" else kind
        return Query(kind, optimum, comparison, bound, reward, path, token.place)

    def _reward(self) -> str | int:
        """Return the name or the number of a reward structure."""
        token = self.token
        if token.kind == NUMBER and token.text.isdecimal():
            found: str | int = int(self.take().text)
        else:
            found = self.take_kind(QUOTED, "the name of a reward in quotation marks").text[1:-1]
        if self.token.text == "/":
            self.token.place.refuse("ratios of rewards are not understood.")
        self.expect("}")
        return found

    def _earned(self) -> RewardPath:
        """Read which rewards a formula counts."""
        token = self.token
        word = token.text if token.kind == NAME else ""
        if word == "F0":
            self._refuse(word)
        if word not in ("F", "Fc", "C", "I", "S", "LRA"):
            self.fail("F, C, C<=k, I=k or S")
        self.take()
        if word in ("F", "Fc"):
            if self.token.text in ("=", "[", *COMPARISONS):
                self.token.place.refuse("a reward until a target has no bound of steps; use C<=k.")
            return RewardPath(word, until=self._states())
        if word in ("C", "I") and self.token.text != "]":
            wanted = ("<=", "<") if word == "C" else ("=",)
            if self.token.text not in wanted:
                self.fail(f"{wanted[0]!r}")
            return RewardPath(word, steps=self._steps()[1])
        if word == "I":
            self.fail("'='")
        return RewardPath("S" if word == "LRA" else word)

    def _filter(self) -> Filter:
        place = self.take().place
        self.expect("(")
        token = self.take()
        if token.text not in FILTERS:
            names = ", ".join(dict.fromkeys(FILTERS))
            token.place.refuse(f"there is no filter {token.text!r}; there are {names}.")
        self.expect(",")
        formula = self._states()
        states = self._states() if self.accepts(",") else None
        self.expect(")")
        return Filter(FILTERS[token.text], formula, states, place)


class PropertiesReader(FormulaReader, PrismReader):  # type: ignore[misc] # formulas have more parts
    """Reads a file of properties: formulas, and constants, labels and formulas that they use.

    Each property may have a name in quotation marks before it; the others are called by their
    number, from 1 on. One that is not understood ends with its line, or with a semicolon before: it
    is refused when it is asked for.

    Attributes
    ----------
    properties : dict of str to str
        The text of each property, by its name.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.properties: dict[str, str] = {}
        declare = {"const": self._constant, "formula": self._formula, "label": self._label}
        while self.token.kind != END:
            if self.token.text in declare:
                declare[self.take().text]()
            else:
                self._property()

    def _property(self) -> None:
        name = f"{len(self.properties) + 1}"
        if self.token.kind == QUOTED and self.ahead().text == ":":
            name = self.take().text[1:-1]
            self.take()
        if name in self.properties:
            self.token.place.refuse(f"there is a property {name!r} before.")
        begin, text = self.token.place.at, self.source.text
        first = self._next
        try:
            self.expression()
        except self.source.kind:
            self._next, self._nested = first, 0
            self.token = self.tokens[first]
            line = text.find("\n", begin) % (len(text) + 1)
            while self.token.kind != END and self.token.text != ";" and self.token.place.at < line:
                self.take()
        last = self.tokens[self._next - 1]
        self.properties[name] = text[begin : last.place.at + len(last.text)]
        self.accepts(";")


STRENGTH_OF_SUMS = 8
"""Operators that can stand in a bound bind at least like sums."""

MOST_NESTED = 120
"""The largest depth of temporal operators inside of each other."""


def is_boolean(formula: Query | Filter | Operation) -> bool:
    """Return whether a formula of states, with operators, is true or false, and no number."""
    if isinstance(formula, Query):
        return formula.comparison is not None
    if isinstance(formula, Operation):
        return formula.operator in ("!", "&", "|", "=>", "<=>", "=", "!=", *COMPARISONS)
    return formula.kind in ("forall", "exists", "argmin", "argmax")
