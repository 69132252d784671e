"""Games of Kniffel that are almost over."""

from gamedp.games.kniffel import Record, played_perfectly
from gamedp.games.kniffel.answers import game_text


def almost_over(adviser, players, seed=5, left=1):
    """Return a game in which so many of each player's rounds are left, and the record of each."""
    records = [Record(seed=seed + player) for player in range(players)]
    for player, record in enumerate(records):
        while len(record.card.free_boxes()) > left:
            record = played_perfectly(record, adviser)  # noqa: PLW2901 - it goes on
        records[player] = record
    return game_text(tuple(records)), records
