"""Comparisons of solvers: rows of measurements, what follows from them, and other programs."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
