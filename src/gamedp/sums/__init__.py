"""Sums of impartial games: nim-values, and the games of taking and splitting heaps.

Does not import its parts: adding up nim-values loads no compiler.
"""
