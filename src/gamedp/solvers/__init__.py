"""Solvers: one file each, one frozen class each; and the functions that choose among them."""

from gamedp.solvers.choose import explain, solve

__all__ = ["explain", "solve"]
