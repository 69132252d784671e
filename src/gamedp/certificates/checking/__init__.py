"""The checker: a claim, its evidence, and the inequalities that prove it."""
