"""Lists in the documentation that come from the entry points: nobody has to keep them."""

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
