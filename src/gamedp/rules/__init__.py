"""What a game is, and one state of it in plain Python: nothing here needs numba or scipy."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
