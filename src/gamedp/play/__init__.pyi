from .play import (
    GameRecord as GameRecord,
    LevelPlayer as LevelPlayer,
    RandomPlayer as RandomPlayer,
    play_game as play_game,
)
from .records import (
    load_games as load_games,
    save_games as save_games,
)
from .tournament import (
    Tournament as Tournament,
    tournament as tournament,
)
