from .pairs import simulate_pairs as simulate_pairs
from .result import (
    PairedSimulation as PairedSimulation,
    SequentialInterval as SequentialInterval,
    Simulation as Simulation,
)
from .simulate import simulate as simulate
