from .compare import read_rows as read_rows
from .comparison import (
    Comparison as Comparison,
    Conflict as Conflict,
    Growth as Growth,
)
from .peers import Peer as Peer
from .row import Row as Row
