"""Formulas to ask about the random processes of `storm_models`, alone and inside of each other."""

ATOMS = ('"goal"', '"safe"', '"both"', '!"goal"', '"safe" & !"both"', '"goal" | "both"')

PATHS = [
    "F {0}",
    "F<=3 {0}",
    "F<=0 {0}",
    "F[1,3] {0}",
    "F>=2 {0}",
    "({1}) U ({0})",
    "({1}) U<=4 ({0})",
    "({1}) U[2,4] ({0})",
    "({1}) U<3 ({0})",
    "X {0}",
    "G {0}",
]
"""Path formulas that Storm has a method of its own for."""

LONG_PATHS = [
    "F ({0} & (X {1}))",
    "(F {0}) & (F {1})",
    "(F {0}) | (G {1})",
    "X (X {0})",
    "(F {0}) & (G {1})",
    "!(F {0})",
    "(X {0}) => (F {1})",
    "F (({0}) & (X (F {1})))",
    "(({1}) U ({0})) | (X {1})",
]
"""Path formulas of LTL."""

REWARDS = [
    'R{{"cost"}}{opt}=? [F {0}]',
    'R{{"time"}}{opt}=? [C<=3]',
    'R{{"cost"}}{opt}=? [C]',
    'R{{"cost"}}{opt}=? [LRA]',
    "LRA{opt}=? [{0}]",
]

NESTED = [
    "F P{compare}{bound} [{inner}]",
    "(P{compare}{bound} [{inner}]) U ({0})",
    "X (P{compare}{bound} [{inner}] | {1})",
    "G !P{compare}{bound} [{inner}]",
    "({0}) U<=3 (P{compare}{bound} [X {1}])",
]
