"""The rules of games, and the expansion of one state in plain Python, without numba or scipy."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
