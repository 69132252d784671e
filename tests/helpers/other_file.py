"""A helper of the rules in `rule_games`, in a file of its own."""

import gamedp

STEP = 2


@gamedp.helper
def clipped(value, lowest, highest):
    return min(max(value, lowest), highest)
