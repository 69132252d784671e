"""Mancala stone by stone on lists, sharing no code: what its tests hold it against."""

import functools


def moved(game, rows, kalahs, player, pit):
    """Return rows, kalahs and the next player after a move; `game` is asked for options alone."""
    rows, kalahs = [list(row) for row in rows], list(kalahs)
    source = (player, pit - 1)
    crossed = chained = False
    while True:
        before = [list(row) for row in rows]
        (owner, field), crosses = sow(game, rows, kalahs, player, source)
        crossed = crosses or (crossed and game.chains == "move")
        if owner != player or field == "kalah" or not crossed or game.chains == "never":
            break
        held = before[player][field] if game.occupied == "before" else rows[player][field] - 1
        if not held:
            break
        source, chained = (player, field), True
    if field == "kalah" and game.move_again:
        return rows, kalahs, player
    if field != "kalah":
        kalahs[player] += captured(game, rows, player, owner, field, chained)
    return rows, kalahs, (player + 1) % game.players


def sow(game, rows, kalahs, player, source):
    """Sow a pit; return where the last stone lies, and whether one has fallen on another side."""
    ring = []
    for seat in range(game.players):
        owner = (player + seat) % game.players
        ring += [(owner, field) for field in range(game.pits)]
        if owner == player:
            ring.append((player, "kalah"))
    hand, rows[player][source[1]] = rows[player][source[1]], 0
    place = ring.index(source)
    crosses = False
    for _ in range(hand):
        place = (place + 1) % len(ring)
        if game.skip_source and ring[place] == source:
            place = (place + 1) % len(ring)
        owner, field = ring[place]
        if field == "kalah":
            kalahs[player] += 1
        else:
            rows[owner][field] += 1
        crosses |= owner != player
    return ring[place], crosses


def captured(game, rows, player, owner, field, chained):
    """Take what is captured off the board; return how many stones."""
    taken = 0
    if owner != player:
        if game.captures == "run" or (game.captures == "run-unchained" and not chained):
            while field >= 0 and rows[owner][field] in {2, 3}:
                taken += rows[owner][field]
                rows[owner][field] = 0
                field -= 1
    elif game.captures.startswith("opposite") and rows[player][field] == 1:
        other, across = rows[1 - player], game.pits - 1 - field
        if other[across] or game.captures == "opposite-empty":
            taken = 1 + other[across]
            rows[player][field] = other[across] = 0
    return taken


def has_majority(game, kalahs):
    return game.majority_stop and 2 * max(kalahs) > game.players * game.pits * game.stones


def is_over(game, rows, kalahs, player):
    some_are_out = any(not any(row) for row in rows)
    return (
        has_majority(game, kalahs)
        or not any(rows[player])
        or (game.ends == "either" and some_are_out)
    )


def results(game, rows, kalahs, player):
    """Return what each player has when the game is over."""
    kept = list(kalahs)
    if has_majority(game, kalahs) or game.leftover == "nobody":
        return kept
    if game.leftover == "owner":
        return [kalah + sum(row) for kalah, row in zip(kalahs, rows, strict=True)]
    turns = [(player + seat) % game.players for seat in range(game.players)]
    out = next(each for each in turns if not any(rows[each]))
    kept[out] += sum(map(sum, rows))
    return kept


def value_function(game):
    """Return the function from rows, kalahs and player to the value for player 0 of two."""

    @functools.cache
    def value(rows, kalahs, player):
        if is_over(game, rows, kalahs, player):
            kept = results(game, rows, kalahs, player)
            return kept[0] - kept[1]
        values = []
        for pit in range(1, game.pits + 1):
            if rows[player][pit - 1]:
                after, full, following = moved(game, rows, kalahs, player, pit)
                values.append(value(tuple(map(tuple, after)), tuple(full), following))
        return min(values) if player else max(values)

    return value
