from .tables import (
    Tables as Tables,
    tabulate as tabulate,
)
