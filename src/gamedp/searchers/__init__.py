"""Searchers: from compiled rules straight to the value of one position, with no model between."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
