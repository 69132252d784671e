from .composition import (
    Sum as Sum,
    SumPosition as SumPosition,
)
from .grundy import (
    GrundyValues as GrundyValues,
    SumValues as SumValues,
    grundy_value as grundy_value,
    grundy_values as grundy_values,
    mex as mex,
    nim_sum as nim_sum,
)
from .octal import (
    OctalGame as OctalGame,
    OctalPosition as OctalPosition,
    Periodicity as Periodicity,
)
