from .compare import read_rows as read_rows
from .comparison import (
    Comparison as Comparison,
    Conflict as Conflict,
    Growth as Growth,
)
from .measurement import Measurement as Measurement
from .peers import Peer as Peer
