"""Tables of all positions of a game, tier by tier, on disk; with proven bounds."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
