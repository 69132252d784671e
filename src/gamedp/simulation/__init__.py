"""Games of policies by the million: on a model, by the rules, or stage by stage."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
