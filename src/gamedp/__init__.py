"""gamedp solves games and Markov decision processes, with proven bounds.

Write the rules once, as one plain Python class; see :class:`gamedp.Game`. Then
:func:`gamedp.solve` gives the value of every position between proven bounds, and the best action.

The names are listed in ``__init__.pyi``, which type checkers read, too. They are imported when they
are first asked for, so that ``import gamedp`` loads neither numba nor scipy.
"""

import sys
from typing import Any

from lazy_loader import attach_stub

_attribute, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Return a public name, imported now; of one that does not exist, Python offers the nearest."""
    try:
        return _attribute(name)
    except AttributeError as error:
        if error.name is None:
            error.name, error.obj = name, sys.modules[__name__]
        raise
