"""The small faults that can be put into a file, found by its syntax."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import attrs

__all__ = ["Mutant", "mutants_of"]

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
    "is not": "is", "in": "not in", "not in": "in", "and": "or", "or": "and", "+": "-", "-": "+",
    "*": "+", "/": "*", "//": "*", "%": "*", "**": "*", "<<": ">>", ">>": "<<", "&": "|",
    "|": "&", "^": "|",
}  # fmt: skip
"""What stands between two operands, and what is put in its place."""

SIGNS = {ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
"""What stands before an operand, and is left out."""

FUNCTIONS = {
    "abs": "", "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor",
}  # fmt: skip
"""Functions, also of numpy, and what is called in their place; nothing leaves the argument."""

WORDS = {"message", "reason", "text", "words", "place", "detail"}
"""Variables that hold what is said to people."""

Change: TypeAlias = tuple[ast.AST, int, int, str]


@attrs.frozen
class Mutant:
    """One fault.

    Attributes
    ----------
    path : str
        Of the file, within the package.
    function : str
        Its name, with those of what it stands in.
    line : str
        The text of the line, or of the first one, without blanks around it.
    change : str
        What becomes of it, in words; with a number if the line has it more than once.
    number : int
        Of the line.
    begin, end : int
        Bytes of the file that are replaced.
    new : str
        By this.
    """

    path: str
    function: str
    line: str
    change: str
    number: int
    begin: int
    end: int
    new: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is known by in the reviewed list; lines may move."""
        return self.path, self.function, self.line, self.change

    def applied_to(self, source: str) -> str:
        """Return the file with the fault."""
        text = source.encode()
        return (text[: self.begin] + self.new.encode() + text[self.end :]).decode()


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Return all faults that can be put into the functions of a file, in their order."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    lines = source.splitlines()
    found, seen = [], Counter[tuple[str, ...]]()
    for function, (_, begin, end, new) in finder.found:
        number = source.encode()[:begin].count(b"\n") + 1
        old = " ".join(source.encode()[begin:end].decode().split())
        change = f"{old} -> {new}" if new else f"without {old}"
        key = (function, lines[number - 1].strip(), change)
        seen[key] += 1
        if seen[key] > 1:
            change += f" ({seen[key]})"
        found.append(Mutant(path, function, key[1], change, number, begin, end, new))
    return found


class _Finder(ast.NodeVisitor):
    """Walks through a file and notes what can be changed where."""

    def __init__(self, source: str) -> None:
        self.text = source.encode()
        self.starts = [0, *(place.end() for place in re.finditer(rb"\n", self.text))]
        self.names: list[str] = []
        self.functions = 0
        self.found: list[tuple[str, Change]] = []

    def begin_of(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end_of(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def visit(self, node: ast.AST) -> None:
        """Note what can be done to a node, then to those in it."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            self._enter(node)
            return
        if self._is_for_people(node):
            return
        if self.functions:
            self.found += [(".".join(self.names), change) for change in self._changes(node)]
        for name, value in ast.iter_fields(node):
            if name not in {"annotation", "returns", "ctx", "decorator_list"}:
                for each in value if isinstance(value, list) else [value]:
                    if isinstance(each, ast.AST):
                        self.visit(each)

    def _enter(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        is_function = isinstance(node, ast.FunctionDef)
        self.names.append(node.name)
        self.functions += is_function
        for each in node.body:
            self.visit(each)
        self.functions -= is_function
        self.names.pop()

    @staticmethod
    def _is_for_people(node: ast.AST) -> bool:
        """Say whether a node makes words, or is none that runs."""
        if isinstance(node, ast.Assign):
            return any(isinstance(each, ast.Name) and each.id in WORDS for each in node.targets)
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Constant)
        if isinstance(node, ast.If):
            return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return isinstance(node, (ast.JoinedStr, ast.AnnAssign)) and not getattr(node, "value", None)

    def _changes(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.stmt):
            yield from self._of_statement(node)
        elif isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, right in itertools.pairwise(operands):
                yield from self._between(node, left, right)
        elif isinstance(node, ast.BinOp):
            if not any(isinstance(each, (ast.JoinedStr, ast.List)) or _is_text(each)
                       for each in (node.left, node.right)):  # fmt: skip
                yield from self._between(node, node.left, node.right)
        elif isinstance(node, ast.BoolOp):
            for left, right in itertools.pairwise(node.values):
                yield from self._between(node, left, right)
        elif isinstance(node, ast.UnaryOp):
            yield node, self.begin_of(node), self.begin_of(node) + len(SIGNS[type(node.op)]), ""
        elif isinstance(node, ast.Constant):
            yield from self._of_constant(node)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.IfExp):
            yield from self._negated(node.test)

    def _of_statement(self, node: ast.stmt) -> Iterator[Change]:
        whole = self.begin_of(node), self.end_of(node)
        if isinstance(node, (ast.If, ast.While)):
            yield from self._negated(node.test)
        elif isinstance(node, ast.AugAssign):
            gap = self.text[self.end_of(node.target) : self.begin_of(node.value)].decode()
            sign = gap.partition("=")[0].strip()  # a bracket may follow
            begin = self.end_of(node.target) + gap.index(sign)
            yield node, begin, begin + len(sign), OPERATORS[sign]
            yield node, *whole, "pass"
        elif _does_something(node):
            yield node, *whole, "pass"

    def _negated(self, test: ast.expr) -> Iterator[Change]:
        if isinstance(test, (ast.Constant, ast.Compare, ast.UnaryOp, ast.BoolOp)):
            return  # its operator is changed
        begin, end = self.begin_of(test), self.end_of(test)
        yield test, begin, end, f"not ({self.text[begin:end].decode()})"

    def _between(self, node: ast.AST, left: ast.expr, right: ast.expr) -> Iterator[Change]:
        first = self.end_of(left)
        gap = self.text[first : self.begin_of(right)].decode()
        found = re.search(r"is not|not in|\b(?:is|in|and|or)\b|[-+*/%<>=!&|^]+", gap)
        if found is not None and found[0] in OPERATORS:
            begin = first + len(gap[: found.start()].encode())
            yield node, begin, begin + len(found[0]), OPERATORS[found[0]]

    def _of_constant(self, node: ast.Constant) -> Iterator[Change]:
        value = node.value
        if isinstance(value, bool):
            new = str(not value)
        elif isinstance(value, int):
            new = str(value + 1)
        elif isinstance(value, float):
            new = repr(2 * value or 1.0)
        else:
            return
        yield node, self.begin_of(node), self.end_of(node), new

    def _of_call(self, node: ast.Call) -> Iterator[Change]:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in FUNCTIONS and node.args:
            end = self.end_of(called)
            begin = end - len(name) if FUNCTIONS[name] else self.begin_of(called)
            yield node, begin, end, FUNCTIONS[name]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _does_something(node: ast.stmt) -> bool:
    """Say whether a statement has an effect beside a variable: it can be left out."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Subscript)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    return isinstance(node, (ast.Raise, ast.Continue, ast.Break))
