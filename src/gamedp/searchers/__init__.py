"""Searchers: the value of one position directly from compiled rules, without a model."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
