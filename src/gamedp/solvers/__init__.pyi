from .methods.anderson_acceleration import AndersonAcceleration as AndersonAcceleration
from .methods.backward_induction import BackwardInduction as BackwardInduction
from .methods.exact_policy_iteration import ExactPolicyIteration as ExactPolicyIteration
from .methods.interval_iteration import IntervalIteration as IntervalIteration
from .methods.linear_programming import LinearProgramming as LinearProgramming
from .methods.modified_policy_iteration import ModifiedPolicyIteration as ModifiedPolicyIteration
from .methods.optimistic_value_iteration import OptimisticValueIteration as OptimisticValueIteration
from .methods.policy_iteration import PolicyIteration as PolicyIteration
from .methods.prioritized_sweeping import PrioritizedSweeping as PrioritizedSweeping
from .methods.relative_value_iteration import RelativeValueIteration as RelativeValueIteration
from .methods.retrograde import Retrograde as Retrograde
from .methods.sound_value_iteration import SoundValueIteration as SoundValueIteration
from .methods.strategy_iteration import StrategyIteration as StrategyIteration
from .methods.topological_value_iteration import (
    TopologicalValueIteration as TopologicalValueIteration,
)
from .methods.value_iteration import ValueIteration as ValueIteration
from .request import Support as Support
from .tools.base import (
    Solver as Solver,
    make_solution as make_solution,
)
from .tools.prepared import (
    Prepared as Prepared,
    prepare as prepare,
)
