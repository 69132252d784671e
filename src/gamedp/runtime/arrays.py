"""Types of arrays, as annotations name them: of any shape, and of the numbers that kernels take."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.signedinteger[Any]]
Naturals: TypeAlias = NDArray[np.unsignedinteger[Any]]
