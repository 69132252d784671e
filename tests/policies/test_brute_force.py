"""Small games by brute force: all joint policies, one by one, against what is computed."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import gamedp
from gamedp.games.matches import Matches, MatchesState
from gamedp.games.wubbel import ROLL, SAVE, State, Wubbel


def all_takes(matches):
    """Return every policy as a row: what it takes of so many matches."""
    ranges = [range(1, min(left, 3) + 1) for left in range(1, matches + 1)]
    return np.array([(0, *takes) for takes in itertools.product(*ranges)])


def results(matches, takes, misere):
    """Return what the first player gets, for all policies of the first and of the second."""
    left = np.full((len(takes), len(takes)), matches)
    found = np.zeros(left.shape, int)
    for ply in range(matches):
        rows = np.arange(len(takes))
        taken = takes[rows[:, None], left] if ply % 2 == 0 else takes[rows, left]
        left -= taken
        # Who has taken the last match has lost, if that is the rule.
        found[(left == 0) & (taken > 0)] = (-1 if misere else 1) * (1 if ply % 2 == 0 else -1)
    return found


def taking(model, row):
    """Return a row as a policy."""
    return gamedp.Policy.from_function(model, lambda state: int(row[state.left]))


@pytest.mark.parametrize("misere", [True, False])
@pytest.mark.parametrize("matches", [1, 2, 3, 5, 7, pytest.param(9, marks=pytest.mark.deep)])
def test_every_joint_policy_of_matches(matches, misere):
    takes = all_takes(matches)
    table = results(matches, takes, misere)
    model = gamedp.compile(Matches(matches=matches, misere=misere), compile="never")
    start = MatchesState(0, matches)
    assert table.min(axis=1).max() == table.max(axis=0).min() == gamedp.solve(model).value(start)
    # The policies leave nothing to chance, so that their mean is one that takes all alike.
    uniform = gamedp.Policy.uniform(model)
    low, high = gamedp.evaluate(model, [uniform, uniform]).bounds()
    assert low - 1e-12 <= table.mean() <= high + 1e-12

    rng = np.random.default_rng(matches)
    for one, other in rng.integers(0, len(takes), (6, 2)).tolist():
        pair = [taking(model, takes[one]), taking(model, takes[other])]
        assert gamedp.evaluate(model, pair).value() == table[one, other]
        answers = [gamedp.best_response(model, pair[1 - seat], seat).value() for seat in (0, 1)]
        assert answers == [table[:, other].max(), -table[one].min()]
        gain = answers[0] - table[one, other], answers[1] + table[one, other]
        found = gamedp.exploitability(model, pair)
        assert found.lower - 1e-12 <= sum(gain) / 2 <= found.upper + 1e-12
        both = {pair[1]: 0.25, taking(model, takes[one]): 0.75}
        known = np.array([0.25, 0.75]) @ table[:, [other, one]].T
        # Who sees what the other one takes does no worse than the best who does not look.
        assert gamedp.best_response(model, both).bounds()[1] >= known.max() - 1e-12


class Scores:
    """All joint policies at two scores, if both play their best afterwards; in fractions."""

    def __init__(self, goal):
        self.goal = goal
        self.best = {}  # the winning probability of who begins a turn
        for total in reversed(range(2 * goal - 1)):
            for own in range(max(0, total - goal + 1), min(total, goal - 1) + 1):
                if own >= total - own:
                    self.solve(own, total - own)

    def solve(self, own, opponent):
        """Find the values of both who may begin a turn here, as saddle points."""
        for one, other in {(own, opponent), (opponent, own)}:
            table = self.table(one, other)
            rows = [min(row) for row in table]
            columns = [max(column) for column in zip(*table, strict=True)]
            assert max(rows) == min(columns)
            self.best[one, other] = max(rows)

    def saves(self, own):
        """Return every policy of a turn: whether to save, for each number of points."""
        return list(itertools.product((False, True), repeat=self.goal - own - 1))

    def table(self, own, opponent):
        """Return what the one who begins wins with, by both policies."""
        mine = [self.line(own, opponent, policy) for policy in self.saves(own)]
        his = [self.line(opponent, own, policy) for policy in self.saves(opponent)]
        return [[(a + b * c) / (1 - b * d) for c, d in his] for a, b in mine]

    def line(self, own, opponent, saves):
        """Return a and b: a turn wins with a + b y, if the other one's turn does with y."""
        lines = {}
        for turn in reversed(range(self.goal - own)):
            if turn > 0 and saves[turn - 1]:
                lines[turn] = 1 - self.best[opponent, own + turn], Fraction(0)
                continue
            after = [lines.get(turn + face, (Fraction(1), Fraction(0))) for face in range(1, 6)]
            a = (sum(one for one, _ in after) + 1) / 6
            lines[turn] = a, (sum(one for _, one in after) - 1) / 6
        return lines[0]


@pytest.mark.parametrize("goal", [1, 2, 3, 4, 5])
def test_every_joint_policy_of_wubbel_at_any_two_scores(goal):
    scores = Scores(goal)
    model = gamedp.compile(Wubbel(goal=goal), compile="never")
    best = gamedp.solve(model, tolerance=1e-12)
    for (own, opponent), value in scores.best.items():
        low, high = best.bounds(State(0, own, opponent, 0))
        assert low <= value <= high

    rng = np.random.default_rng(goal)
    for own, opponent in [(0, 0), (goal - 1, 0), (0, goal - 1), (goal // 2, goal // 3)]:
        table = scores.table(own, opponent)
        mine, his = scores.saves(own), scores.saves(opponent)
        one, other = int(rng.integers(len(mine))), int(rng.integers(len(his)))

        def policy(saves, score, own=own, opponent=opponent):
            def choose(state):
                here = (state.own, state.opponent)
                if here != (score, own + opponent - score) or state.turn == 0:
                    return best.best_action(state)
                return SAVE if saves[state.turn - 1] else ROLL

            return gamedp.Policy.from_function(model, choose)

        pair = [policy(mine[one], own), policy(his[other], opponent)]
        start = State(0, own, opponent, 0)
        low, high = gamedp.evaluate(model, pair, everywhere=True).bounds(start)
        assert low - 1e-9 <= table[one][other] <= high + 1e-9
        answer = gamedp.best_response(model, pair[1], everywhere=True).value(start)
        assert answer == pytest.approx(float(max(row[other] for row in table)), abs=1e-9)
        answer = gamedp.best_response(model, pair[0], player=1, everywhere=True).value(start)
        assert answer == pytest.approx(float(1 - min(table[one])), abs=1e-9)
