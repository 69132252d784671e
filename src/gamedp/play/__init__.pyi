from .compliance import (
    ComplianceCheck as ComplianceCheck,
    check_program as check_program,
)
from .play import (
    GameRecord as GameRecord,
    play_game as play_game,
)
from .players import (
    LevelPlayer as LevelPlayer,
    RandomPlayer as RandomPlayer,
)
from .programs import (
    Program as Program,
    Remote as Remote,
)
from .records import (
    load_games as load_games,
    save_games as save_games,
)
from .round_robin import (
    Meeting as Meeting,
    Pairing as Pairing,
    RoundRobin as RoundRobin,
    round_robin as round_robin,
)
from .seat import Forfeit as Forfeit
from .statistics import (
    Ratings as Ratings,
    Sprt as Sprt,
    sprt as sprt,
)
from .tournament import (
    Tournament as Tournament,
    tournament as tournament,
)
