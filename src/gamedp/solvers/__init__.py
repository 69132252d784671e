"""Solvers: one file each, one frozen class each; and what chooses among them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
