"""Lists in the documentation that come from entry points and sources: nobody has to keep them."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib.metadata import entry_points

MARK = "REGISTERED-SOLVERS\n"
"""Where a page lists the solvers."""

ENTRY = """\
.. autoclass:: {}
   :members:
   :inherited-members: BaseException, Enum, NamedTuple, str, tuple
"""


def with_solvers(text: str) -> str:
    """Return the text of a page with its list of gamedp's solvers, by their public names."""
    if MARK not in text:
        return text
    values = sorted(
        point.value
        for point in entry_points(group="gamedp.solvers")
        if point.value.startswith("gamedp.")
    )
    # gamedp.solvers.methods.policy_iteration:PolicyIteration is gamedp.solvers.PolicyIteration.
    names = [".".join([*value.split(".")[:2], value.split(":")[1]]) for value in values]
    return text.replace(MARK, "\n".join(ENTRY.format(name) for name in names))


def computed_once(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the public properties of a class that are cached, each with its docstring.

    Classes of attrs have slots instead, which have no docstring: Sphinx does not see them.
    """
    for base in kind.__mro__:
        if not base.__module__.startswith("gamedp."):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        for node in tree.body if isinstance(tree, ast.ClassDef) else ():
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if "cached_property" in decorators and not getattr(kind, node.name).__doc__:
                # Without sections: what is appended here is not read by numpydoc any more.
                text = re.split(r"\n\n[A-Z]\w+\n-+\n", ast.get_docstring(node) or "")[0]
                yield node.name, re.sub(r" \[\d+\]_", "", text)


def property_lines(kind: type) -> list[str]:
    """Return what the reference says of the properties that are computed once."""
    return [
        line
        for name, text in computed_once(kind)
        for line in ("", f".. py:property:: {name}", "", *textwrap.indent(text, "   ").split("\n"))
    ]
