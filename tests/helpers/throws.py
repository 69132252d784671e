"""Throws of dice, in no order."""

from itertools import combinations_with_replacement


def multisets(faces, dice):
    return list(combinations_with_replacement(range(1, faces + 1), dice))
