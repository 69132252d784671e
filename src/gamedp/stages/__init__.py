"""Games that play one sub-game in many contexts: all about them but their rules and proofs."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
