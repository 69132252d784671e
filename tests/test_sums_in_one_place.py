"""Where bounds are reported, sums come from the one place that counts what they are rounded.

A sum of products that is put together by hand brings an allowance for rounding of its own, or none:
so ``@`` and its kin do not stand in the rooms that report bounds, but for the functions below, each
for its reason.
"""

import ast
from pathlib import Path

import gamedp

ROOT = Path(gamedp.__file__).parent
ROOMS = ("policies", "results", "simulation")

NAMES = frozenset(
    ("average", "dot", "einsum", "fsum", "inner", "matmul", "mean", "nansum", "sum", "vdot")
)
"""Functions that add up, whoever has them."""

COUNTING = "counts integers"
CHECKING = "whether given probabilities sum to one, and scales them: they count as they are then"
STATISTICS = "statistics of games that were played, which are no bounds"
TOGETHER = "how likely actions that do the same are together, which is a probability and no bound"
EXACT = "fractions, which are not rounded"

REVIEWED = {
    "policies/arrays.py": {"_of_table": COUNTING},
    "policies/arguments.py": {"StageRule.shares": CHECKING},
    "policies/statistics.py": {"mean_and_deviation_of": STATISTICS, "p_value": STATISTICS},
    "simulation/chain_games.py": {"_board": "what games are drawn by"},
    "simulation/rules_games.py": {"_drawn": CHECKING},
    "policies/policy.py": {
        "Policy._repr_html_": COUNTING,
        "Policy.actions": TOGETHER,
        "Policy.mix": "makes a policy, whose probabilities are those that come of it",
        "_checked": CHECKING,
        "_of": TOGETHER,
        "_write_probabilities": CHECKING,
        "weights_of": CHECKING,
    },
    "policies/response.py": {"Response._node": COUNTING},
    "simulation/result.py": {
        "PairedSimulation.agrees_with": STATISTICS,
        "Stopping.interval": STATISTICS,
        "_divergence": STATISTICS,
    },
    "simulation/tally.py": {
        "PlayedGames.tally": STATISTICS,
        "Playing.pairs": STATISTICS,
        "Playing.tally_pairs": STATISTICS,
        "_sum": STATISTICS,
    },
    "results/optimal_choices.py": {
        "OptimalChoices._drop_waits": COUNTING,
        "OptimalChoices._with_bias": "compares to within an allowance, and reports no number",
        "_best_of_others": COUNTING,
    },
    "results/base.py": {"exact_mean": EXACT},
}
"""The functions that may add up, by files; and why."""


def adds_up(node):
    """Return whether a node of a syntax tree adds up products or numbers."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        return isinstance(node.op, ast.MatMult)
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if name == "bincount":
        return len(node.args) > 1 or any(each.arg == "weights" for each in node.keywords)
    if name in {"reduceat", "at", "reduce", "accumulate"}:
        return getattr(called.value, "attr", "") == "add"
    return name in NAMES


def functions(tree, names=()):
    """Go through the innermost functions of a syntax tree, each with what stands in it alone."""
    own = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            yield from functions(child, (*names, child.name))
        else:
            found = [*ast.walk(child)]
            own += found
            for inner in found:
                if isinstance(inner, ast.FunctionDef):
                    yield from functions(inner, (*names, inner.name))
    yield ".".join(names), own


def sums_in(source):
    """Return the functions of a file that add up."""
    return {name for name, nodes in functions(ast.parse(source)) if any(map(adds_up, nodes))}


def test_bounds_of_sums_come_from_one_place():
    found = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if names := sums_in(path.read_text(encoding="utf-8")):
                found[name] = names
    assert found == {name: set(reasons) for name, reasons in REVIEWED.items()}


def test_sums_by_hand_would_be_seen():
    source = """
def one(a, b):
    return a @ b

class Two:
    def three(self, a, n):
        a @= n
        def four():
            return np.bincount(n, a)
        return np.add.reduceat(a, n)

def five(a):
    return math.fsum(a) + a.dot(a) + sum(a)

def six(a, n):
    return np.bincount(n), np.maximum.reduceat(a, n), np.cumsum(n), a.at(n)
"""
    assert sums_in(source) == {"one", "Two.three", "Two.three.four", "five"}
