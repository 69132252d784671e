from .making import (
    tabulate as tabulate,
)
from .places import (
    Places as Places,
)
from .tables import (
    Tables as Tables,
)
