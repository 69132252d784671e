"""Formulas to ask about the random processes of `storm_models`, alone and inside of each other."""

from __future__ import annotations

import random

ATOMS = ('"goal"', '"safe"', '"both"', '!"goal"', '"safe" & !"both"', '"goal" | "both"')

PATHS = (
    "F {0}",
    "F<=3 {0}",
    "F<=0 {0}",
    "F[1,3] {0}",
    "({1}) U ({0})",
    "({1}) U<=4 ({0})",
    "({1}) U<3 ({0})",
    "X {0}",
    "G {0}",
)
"""Path formulas for which Storm has a method of its own."""

LONG_PATHS = (
    "F ({0} & (X {1}))",
    "(F {0}) & (F {1})",
    "X (X {0})",
    "!(F {0})",
    "(F {0}) | (X {1})",
    "F (({0}) & (X (F {1})))",
    "(({1}) U ({0})) | (X {1})",
)
"""Path formulas of LTL, co-safe or their opposite."""

REWARDS = (
    'R{{"cost"}}{opt}=? [F {0}]',
    'R{{"time"}}{opt}=? [C<=3]',
    'R{{"cost"}}{opt}=? [C]',
    'R{{"cost"}}{opt}=? [LRA]',
    "LRA{opt}=? [{0}]",
)

NESTED = (
    "F P{compare}{bound} [{inner}]",
    "(P{compare}{bound} [{inner}]) U ({0})",
    "X (P{compare}{bound} [{inner}] | {1})",
    "G !P{compare}{bound} [{inner}]",
    "({0}) U<=3 (P{compare}{bound} [X {1}])",
)
BOUNDS = ("0", "1", "0.5", "0.25", "0.1", "1/4")

KINDS = ("path", "long path", "reward", "nested")


def random_formula(kind: str, seed: int) -> str:
    """Return a formula that asks for a number."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    one, other, optimum = rng.choice(ATOMS), rng.choice(ATOMS), rng.choice(("min", "max"))
    if kind == "reward":
        return rng.choice(REWARDS).format(one, other, opt=optimum)
    if kind == "nested":
        inner = rng.choice(PATHS[:1] + PATHS[4:5] + PATHS[7:]).format(*rng.sample(ATOMS, 2))
        compare, bound = rng.choice((">", ">=", "<", "<=")), rng.choice(BOUNDS)
        form = rng.choice(NESTED)
        path = form.format(one, other, inner=inner, compare=compare, bound=bound)
    else:
        path = rng.choice(PATHS if kind == "path" else LONG_PATHS).format(one, other)
    return f"P{optimum}=? [{path}]"
