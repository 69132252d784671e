"""Wubbel solved for itself: every position's winning probability, without a line of gamedp.

The positions of two scores depend on each other only through the two values at the start of a turn.
If x is the value of the player who moves after a bust, one pass down the points of a turn gives all
its values, each with its slope in x. Two such passes, one for each player, map x to a number that
must be x again; they are convex or concave and piecewise linear, and Newton's method finds the
solution in a few steps, up to rounding.
"""


def winning_probabilities(goal=50, faces=6, busts=(6,), *, grace=False):
    """Return {(own, opponent, turn): winning probability of the mover}, with own + turn < goal."""
    scores = [face for face in range(1, faces + 1) if face not in busts]
    start = {}  # (own, opponent): the value at the start of a turn
    values = {}

    def save(own, opponent, points):
        return 1.0 - start[opponent, own + points] if points else 0.0  # a turn begins with a roll

    def turn(own, opponent, answer, answer_slope):
        """Return the (value, slope) of every number of points, up to where all of them win."""
        line = [(1.0, 0.0)] * (goal - own + faces)
        for points in reversed(range(goal - own)):
            nexts = [line[points + face] for face in scores]
            value = (sum(v for v, _ in nexts) + len(busts) * (1.0 - answer)) / faces
            slope = (sum(s for _, s in nexts) - len(busts) * answer_slope) / faces
            line[points] = max((value, slope), (save(own, opponent, points), 0.0))
        return line[: goal - own]

    def store(own, opponent, line):
        start[own, opponent] = line[0][0]
        for points, (value, _) in enumerate(line):
            values[own, opponent, points] = value

    for total in reversed(range(2 * goal - 1)):
        for own in range(max(0, total - goal + 1), min(goal - 1, total) + 1):
            opponent = total - own
            if grace:
                answer = start[opponent, own + 1] if own + 1 < goal else 0.0
                store(own, opponent, turn(own, opponent, answer, 0.0))
            elif own >= opponent:
                guess = 0.5  # at what `ours` begins with
                for _ in range(20):
                    theirs = turn(opponent, own, guess, 1.0)
                    ours = turn(own, opponent, *theirs[0])
                    value, slope = ours[0]
                    step = (value - guess) / (1.0 - slope)
                    guess += step
                    if abs(step) < 1e-14:
                        break
                else:
                    raise ArithmeticError((own, opponent))
                store(opponent, own, theirs)
                store(own, opponent, ours)
    return values
