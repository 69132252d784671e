from .result import (
    PairedSimulation as PairedSimulation,
    SequentialInterval as SequentialInterval,
    Simulation as Simulation,
)
from .simulate import simulate as simulate, simulate_pairs as simulate_pairs
