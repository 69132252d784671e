"""Sums of impartial games: nim-values, and the games of taking and splitting heaps.

Adding nim-values does not load the compiler.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
