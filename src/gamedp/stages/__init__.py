"""Staged games, which play one sub-game in many contexts; their rules and proofs are elsewhere."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
