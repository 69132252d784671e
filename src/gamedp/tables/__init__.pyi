from .making import (
    tabulate as tabulate,
)
from .tables import (
    Tables as Tables,
)
