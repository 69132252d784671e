"""Policies as values: what they are worth against each other, and what the best answer is."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
