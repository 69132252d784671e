"""The games that come along: their rules, walked in plain Python, and their closed forms."""

import pickle
from collections import defaultdict
from functools import cache

import attrs
import numpy as np
import pytest
from depth import first_of
from figures import BY_NAME, POSITIONS
from hypothesis import given, strategies as st
from wubbel_reference import winning_probabilities

from gamedp.errors import InvalidParameterError
from gamedp.games.matches import (
    Matches,
    MatchesState,
    Nim,
    NimState,
    in_ascending_order,
    matches_winning,
    nim_winning,
    nim_winning_moves,
    winning_takes,
)
from gamedp.games.wubbel import ROLL, SAVE, State, Wubbel

SMALL_GAMES = [
    Wubbel(goal=1),
    Wubbel(goal=8),
    Wubbel(goal=9, faces=4, busts=(1, 2)),
    Wubbel(goal=7, faces=2, busts=(1,)),
    Wubbel(goal=8, grace=True),
    Wubbel.pig(goal=12),
    Matches(),
    Matches(misere=False),
    Matches(matches=0),
    Matches(matches=17, takes=(2, 5)),
    Matches(matches=17, takes=(2, 5), misere=False),
    Nim(),
    Nim(misere=False),
    Nim(heaps=(6,)),
    Nim(heaps=(2, 0, 2, 1)),
]


def reachable(game):
    """Return {state: {action: outcomes}} of all positions that can come up; none where it ends."""
    found = {}
    waiting = [game.initial_state()]
    while waiting:
        state = waiting.pop()
        if state in found:
            continue
        actions = [] if game.is_terminal(state) else list(game.actions(state))
        found[state] = {action: list(game.outcomes(state, action)) for action in actions}
        waiting += [after for outcomes in found[state].values() for _, after in outcomes]
    return found


def value_to_player_0(game):
    """Solve the game by sweeps, both players' positions kept apart, without its symmetry."""
    positions = reachable(game)
    values = {
        state: 0.0 if choices else game.payoff(state, 0) for state, choices in positions.items()
    }
    change = 1.0
    while change > 1e-14:
        change = 0.0
        for state, choices in positions.items():
            if not choices:
                continue
            best = max if game.player(state) == 0 else min
            value = best(
                sum(chance * values[after] for chance, after in outcomes)
                for outcomes in choices.values()
            )
            change = max(change, abs(value - values[state]))
            values[state] = value
    return values


def value_to_mover(game, state, value):
    return value if game.player(state) == 0 else game.constant_sum - value


@pytest.mark.parametrize("game", SMALL_GAMES, ids=repr)
class TestRules:
    def test_every_choice_leads_somewhere_with_probability_one(self, game):
        for state, choices in reachable(game).items():
            assert game.is_terminal(state) or choices, state
            for action, outcomes in choices.items():
                probabilities = [chance for chance, _ in outcomes]
                assert min(probabilities) > 0, (state, action)
                assert sum(probabilities) == pytest.approx(1, abs=1e-15), (state, action)

    def test_payoffs_have_the_constant_sum(self, game):
        for state, choices in reachable(game).items():
            if not choices:
                assert game.payoff(state, 0) + game.payoff(state, 1) == game.constant_sum, state

    def test_the_representative_represents_itself(self, game):
        for state in reachable(game):
            representative, swapped = game.canonical(state)
            assert game.player(representative) == 0
            assert swapped == (game.player(state) == 1)
            assert game.canonical(representative) == (representative, False)

    def test_symmetric_positions_have_equal_values(self, game):
        values = value_to_player_0(game)
        by_representative = defaultdict(list)
        for state, value in values.items():
            representative, swapped = game.canonical(state)
            mirrored = game.constant_sum - value if swapped else value
            by_representative[representative].append(mirrored)
        for representative, mirrored in by_representative.items():
            assert max(mirrored) - min(mirrored) < 1e-12, representative

    def test_the_claim_of_no_way_back_is_true(self, game):
        positions = reachable(game)

        def successors(state):
            return {after for outcomes in positions[state].values() for _, after in outcomes}

        # Take away positions without successors until nothing is left, or only circles.
        remaining = {state: successors(state) for state in positions}
        predecessors = defaultdict(set)
        for state, following in remaining.items():
            for after in following:
                predecessors[after].add(state)
        ready = [state for state, following in remaining.items() if not following]
        while ready:
            state = ready.pop()
            del remaining[state]
            for before in predecessors[state]:
                remaining[before].discard(state)
                if not remaining[before]:
                    ready.append(before)
        assert game.acyclic == (not remaining)

    def test_people_get_words(self, game):
        for state, choices in reachable(game).items():
            assert game.render(state)
            names = [game.action_name(state, action) for action in choices]
            assert len(set(names)) == len(names), state

    def test_a_game_is_a_value(self, game):
        assert pickle.loads(pickle.dumps(game)) == attrs.evolve(game) == game
        assert hash(attrs.evolve(game)) == hash(game)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            game.misere = True


@pytest.fixture(scope="module")
def wubbel_values():
    return winning_probabilities()


class TestWubbel:
    @pytest.mark.parametrize("game", [g for g in SMALL_GAMES if isinstance(g, Wubbel)], ids=repr)
    def test_sweeps_over_the_rules_agree_with_the_reference(self, game):
        reference = winning_probabilities(game.goal, game.faces, game.busts, grace=game.grace)
        compared = 0
        for state, value in value_to_player_0(game).items():
            if game.is_terminal(state):
                continue
            expected = reference[state.own, state.opponent, state.turn]
            assert value_to_mover(game, state, value) == pytest.approx(expected, abs=1e-12), state
            compared += 1
        assert compared >= 1

    @pytest.mark.parametrize("grace", first_of([True, False]))
    def test_the_reference_solves_the_rules_in_full_size(self, grace):
        game = Wubbel(grace=grace)
        values = winning_probabilities(grace=grace)

        def value_to_player_0_of(state):
            if game.is_terminal(state):
                return game.payoff(state, 0)
            return value_to_mover(game, state, values[state.own, state.opponent, state.turn])

        for (own, opponent, turn), value in values.items():
            state = State(0, own, opponent, turn)
            best = max(
                sum(chance * value_to_player_0_of(after) for chance, after in outcomes)
                for outcomes in (game.outcomes(state, action) for action in game.actions(state))
            )
            assert best == pytest.approx(value, abs=2e-15), state
        assert len(values) == 61250 + 2500

    @pytest.mark.parametrize(
        "figure",
        [f for f in POSITIONS if f.game == "wubbel" and not f.name.startswith("pig")],
        ids=lambda figure: figure.name,
    )
    def test_winning_probabilities(self, figure):
        values = winning_probabilities(**figure.parameters)
        assert values[figure.state[1:]] == pytest.approx(figure.value, abs=figure.tolerance, rel=0)

    def test_when_to_save_at_0_to_24(self, wubbel_values):
        margins = save_margins(wubbel_values, 0, 24)
        figure = BY_NAME["wubbel.0:24.margins"]
        for points, margin in figure.value.items():
            assert margins[points - 1] == pytest.approx(margin, abs=figure.tolerance, rel=0)
        row = "".join("S" if margin > 0 else "R" for margin in margins)
        assert row == BY_NAME["wubbel.0:24"].value

    def test_decisions_are_not_monotone(self, wubbel_values):
        figure = BY_NAME["wubbel.rows.nonmonotone"].value
        rows = {
            (own, opponent): "".join(
                "S" if margin > 0 else "R" for margin in save_margins(wubbel_values, own, opponent)
            )
            for own in range(50)
            for opponent in range(50)
        }
        assert sum("SR" in row for row in rows.values()) == figure["ROLL above a SAVE"]
        assert sum("S" not in row for row in rows.values()) == figure["ROLL throughout"]
        odd = [pair for pair, row in rows.items() if "SR" in row.rstrip("R")]
        assert odd == figure["wubbel rows"]

    def test_nobody_would_pass_at_once(self, wubbel_values):
        """What a pass would be worth at best, from the values without one."""
        best = max(
            (1 - wubbel_values[opponent, own, 0]) - wubbel_values[own, opponent, 0]
            for own in range(50)
            for opponent in range(50)
        )
        assert best == pytest.approx(-0.0436, abs=5e-5)

    def test_calls_of_the_recursion_without_a_table(self):
        """A six counts as a call for the opponent with the mover's grace point."""

        @cache
        def calls(own, opponent, turn):
            if opponent >= 50 or own + turn >= 50:
                return 1
            save = calls(opponent, own + turn, 0) if turn else 0
            rolls = sum(calls(own, opponent, turn + pips) for pips in range(1, 6))
            return 1 + save + rolls + calls(opponent, own + 1, 0)

        for score, count in BY_NAME["grace.calls"].value.items():
            assert calls(score, score, 0) == count

    def test_points_beyond_the_goal_are_not_kept(self):
        outcomes = list(Wubbel().outcomes(State(1, 40, 3, 8), ROLL))
        assert [after.turn for _, after in outcomes[:5]] == [9, 10, 10, 10, 10]
        assert outcomes[5] == (1 / 6, State(0, 3, 40, 0))

    def test_a_grace_point_is_kept(self):
        *_, (_, after_six) = Wubbel(grace=True).outcomes(State(0, 40, 3, 8), ROLL)
        assert after_six == State(1, 3, 41, 0)

    def test_a_grace_point_can_win(self):
        game = Wubbel(grace=True)
        for _, after in game.outcomes(State(1, 49, 3, 0), ROLL):
            assert game.is_terminal(after)
            assert game.payoff(after, 1) == 1.0

    def test_a_turn_begins_with_a_roll(self):
        game = Wubbel()
        assert list(game.actions(State(0, 10, 10, 0))) == [ROLL]
        assert list(game.actions(State(0, 10, 10, 1))) == [ROLL, SAVE]


def save_margins(values, own, opponent):
    """Return by how much SAVE is worth more than ROLL, for 1, 2, ... points of the turn."""
    return [
        (1 - values[opponent, own + turn, 0])
        - (
            sum(values.get((own, opponent, turn + pips), 1.0) for pips in range(1, 6))
            + (1 - values[opponent, own, 0])
        )
        / 6
        for turn in range(1, 50 - own)
    ]


class TestMatches:
    @pytest.mark.parametrize("misere", [True, False])
    @pytest.mark.parametrize("largest", [1, 2, 3, 4, 6])
    def test_closed_form_against_brute_force(self, largest, misere):
        takes = tuple(range(1, largest + 1))

        @cache
        def wins(left):
            if left == 0:
                return misere  # the other player has taken the last match
            return any(not wins(left - take) for take in takes if take <= left)

        for left in range(60):
            assert matches_winning(left, takes, misere=misere) == wins(left), left
            winning = tuple(t for t in takes if t <= left and not wins(left - t))
            assert winning_takes(left, takes, misere=misere) == winning, left

    @pytest.mark.parametrize("game", [g for g in SMALL_GAMES if isinstance(g, Matches)], ids=repr)
    def test_the_rules_agree_with_brute_force(self, game):
        @cache
        def wins(left):
            if all(take > left for take in game.takes):
                return game.misere
            return any(not wins(left - take) for take in game.takes if take <= left)

        for state, value in value_to_player_0(game).items():
            assert value_to_mover(game, state, value) == (1 if wins(state.left) else -1), state

    def test_who_wins_the_article_s_game(self):
        answers = "".join("J" if matches_winning(left) else "N" for left in range(1, 19))
        assert answers == BY_NAME["matches.GS"].value

    def test_the_article_s_sample_game(self):
        left = 18
        for before, taken, winning in BY_NAME["matches.sample_game"].value:
            assert left == before
            assert winning_takes(left) == winning
            left -= taken
        assert left == 0

    def test_whoever_cannot_take_ends_the_game(self):
        state = MatchesState(player=1, left=1)
        assert Matches(takes=(2, 3)).is_terminal(state)
        assert Matches(takes=(2, 3), misere=True).payoff(state, 1) == 1.0
        assert Matches(takes=(2, 3), misere=False).payoff(state, 1) == -1.0

    @pytest.mark.parametrize("takes", [(), (2,), (1, 3), (2, 3), (1, 1), (0, 1)])
    def test_no_closed_form_for_other_takes(self, takes):
        with pytest.raises(ValueError, match="has no closed form here"):
            matches_winning(10, takes)
        with pytest.raises(ValueError, match="solve the game Matches instead"):
            winning_takes(10, takes)

    def test_no_closed_form_for_less_than_nothing(self):
        with pytest.raises(ValueError, match="left=-1 matches cannot be"):
            matches_winning(-1)


class TestNim:
    @pytest.mark.parametrize("misere", [True, False])
    @pytest.mark.parametrize("name", [name for name in BY_NAME if name.startswith("nim.bouton")])
    def test_bouton_against_brute_force(self, name, misere):
        figure = BY_NAME[name].value

        @cache
        def wins(heaps):
            if not any(heaps):
                return misere
            return any(not wins(after) for _, after in moves(heaps))

        def moves(heaps):
            for index, heap in enumerate(heaps):
                for taken in range(1, heap + 1):
                    left = (*heaps[:index], heap - taken, *heaps[index + 1 :])
                    yield (index, taken), left

        losing = 0
        for heaps in np.ndindex(*[figure["largest"] + 1] * figure["heaps"]):
            assert nim_winning(heaps, misere=misere) == wins(heaps), heaps
            winning = tuple(move for move, after in moves(heaps) if not wins(after))
            assert nim_winning_moves(heaps, misere=misere) == winning, heaps
            losing += not wins(heaps)
        assert losing == figure["losing"]

    @pytest.mark.parametrize("game", [g for g in SMALL_GAMES if isinstance(g, Nim)], ids=repr)
    def test_the_rules_agree_with_bouton(self, game):
        for state, value in value_to_player_0(game).items():
            winning = nim_winning(state.heaps, misere=game.misere)
            assert value_to_mover(game, state, value) == (1 if winning else -1), state

    def test_no_heaps_at_all(self):
        assert nim_winning((), misere=True)
        assert not nim_winning((), misere=False)
        assert nim_winning_moves(()) == ()

    @given(st.lists(st.integers(-5, 5), max_size=6))
    def test_the_order_is_that_of_sorted(self, heaps):
        assert in_ascending_order(tuple(heaps)) == tuple(sorted(heaps))

    def test_actions_name_heap_and_number(self):
        game = Nim(heaps=(3, 5, 7))
        state = NimState(0, (1, 0, 2))
        assert list(game.actions(state)) == [
            game.action(heap=0, taken=1),
            game.action(heap=2, taken=1),
            game.action(heap=2, taken=2),
        ]
        assert game.action_name(state, game.action(2, 1)) == "take 1 from heap 3"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wubbel(goal=0), "goal must be a whole number of at least 1, not 0; the usual"),
        (lambda: Wubbel(goal=1.5), r"goal must be a whole number of at least 1, not 1\.5"),
        (lambda: Wubbel(goal=True), "goal must be a whole number of at least 1, not True"),
        (lambda: Wubbel(goal="50"), "not '50'; the usual game has goal=50"),
        (lambda: Wubbel(faces=1), "faces must be a whole number of at least 2, not 1"),
        (lambda: Wubbel(busts=(7,)), r"busts=\(7,\) names something that a die with faces=6 does"),
        (lambda: Wubbel(busts=(1.5,)), r"busts=\(1\.5,\) names something"),
        (lambda: Wubbel(busts="6"), r"busts=\('6',\) names something"),
        (lambda: Wubbel(busts=()), r"lets no face bust.*some, not all, of the faces 1 to 6"),
        (lambda: Wubbel(busts=(6, 6)), "names a face twice"),
        (lambda: Wubbel(busts=range(1, 7)), "lets every face bust, so nobody ever scores"),
        (lambda: Wubbel(grace="no"), "grace must be True or False, not 'no'"),
        (lambda: Matches(matches=-1), "matches must be a whole number of at least 0, not -1"),
        (lambda: Matches(takes=(0, 1)), r"takes must be one or more whole numbers of at least 1"),
        (lambda: Matches(takes=()), r"not \(\); the usual game has takes=\(1, 2, 3\)"),
        (lambda: Matches(takes=(1, "2")), r"takes must be one or more whole numbers"),
        (lambda: Matches(takes=(2, 2)), r"takes=\(2, 2\) names a number twice; leave one out"),
        (lambda: Matches(misere=1), "misere must be True or False, not 1"),
        (lambda: Nim(heaps=()), r"heaps must be one or more whole numbers of at least 0"),
        (lambda: Nim(heaps=(3, -5)), r"not \(3, -5\); the usual game has heaps=\(3, 5, 7\)"),
    ],
)
def test_parameters_that_make_no_game(make, message):
    with pytest.raises(InvalidParameterError, match=message):
        make()


def test_parameters_as_people_write_them():
    assert Wubbel(busts=6) == Wubbel(busts=[6]) == Wubbel()
    assert Matches(takes=[3, 1, 2]) == Matches()
    assert Nim(heaps=np.array([3, 5, 7])) == Nim()
    assert type(Nim(heaps=np.array([3, 5, 7])).heaps[0]) is int
