"""Pictures of results, drawn with matplotlib (``pip install gamedp[plots]``).

Each function draws into the axes that it is given, or into new ones, and returns them. None shows a
figure or changes a setting of matplotlib: fonts, lines and colours follow ``rcParams``.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
