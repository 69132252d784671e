"""Sums of impartial games: nim-values, and the games of taking and splitting heaps.

Does not import its parts: who only adds up nim-values loads no compiler.
"""
