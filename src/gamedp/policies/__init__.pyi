from .chain import InducedChain as InducedChain
from .cross_table import (
    CrossTable as CrossTable,
    cross_table as cross_table,
)
from .evaluation import Evaluation as Evaluation, evaluate as evaluate
from .lengths import (
    Remoteness as Remoteness,
    Survival as Survival,
    greatest_survival as greatest_survival,
    remoteness as remoteness,
)
from .policy import Policy as Policy
from .response import (
    Exploitability as Exploitability,
    Response as Response,
    best_response as best_response,
    exploitability as exploitability,
)
from .statistics import student_interval as student_interval
from .trace import (
    Trace as Trace,
    trace_improvements as trace_improvements,
    trace_sweeps as trace_sweeps,
)
