from .compliance import (
    ComplianceCheck as ComplianceCheck,
    check_program as check_program,
)
from .match import (
    Match as Match,
    match as match,
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
from .protocol import Forfeit as Forfeit
from .records import (
    load_games as load_games,
    save_games as save_games,
)
from .statistics import (
    Ratings as Ratings,
    Sprt as Sprt,
    sprt as sprt,
)
from .tournament import (
    Meeting as Meeting,
    Pairing as Pairing,
    Tournament as Tournament,
    tournament as tournament,
)
