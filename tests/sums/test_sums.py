"""Nim-values: sums of games, heaps of octal games, and their periods."""

import itertools
import json
import pickle
import subprocess
import sys

import attrs
import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from rule_games import Dice, Long, Marks, Three

import gamedp
from gamedp.games.matches import (
    Matches,
    MatchesState,
    Nim,
    NimState,
    nim_winning_moves,
    winning_takes,
)
from gamedp.sums import kernels, octal
from gamedp.testing import check_game
from gamedp.testing.strategies import models

COMPILED = not numba.config.DISABLE_JIT

relaxed = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_mex():
    assert [
        gamedp.sums.mex(values) for values in ([], [0], [1], [0, 2, 1, 1, 5], (n for n in (0, 1)))
    ] == [
        0,
        1,
        0,
        3,
        2,
    ]


def test_adding_up_loads_no_compiler():
    code = "import sys, gamedp; gamedp.sums.nim_sum(1, 2); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nim_sum():
    assert gamedp.sums.nim_sum() == 0
    assert gamedp.sums.nim_sum(np.int8(6), 3) == 5
    for wrong in (-1, 1.5, "3"):
        with pytest.raises(gamedp.errors.InvalidParameterError, match="whole numbers from 0 on"):
            gamedp.sums.nim_sum(3, wrong)


@given(st.lists(st.integers(0, 1000), max_size=4))
def test_a_nim_sum_is_the_mex_of_what_can_be_reached(heaps):
    """Not but by making it less: so heaps add up as the definition of nim-values says."""
    total = gamedp.sums.nim_sum(*heaps)
    reached = {
        gamedp.sums.nim_sum(*heaps[:index], left, *heaps[index + 1 :])
        for index, heap in enumerate(heaps)
        for left in range(heap)
    }
    assert gamedp.sums.mex(reached) == total


def by_definition(model):
    """Return the nim-values of a model, one mex after the other."""
    values = {}
    for state in model.structure.order.tolist():
        rows = range(model.choice_offsets[state], model.choice_offsets[state + 1])
        values[state] = gamedp.sums.mex(values[int(model.successors[row])] for row in rows)
    return [values[state] for state in range(model.num_states)]


@st.composite
def impartial_models(draw):
    """Draw models in which the players change places with every move, and the last one wins."""
    model = draw(models(players=[2], acyclic=True, sure=True, rewards=False, max_states=10))
    return attrs.evolve(
        model,
        probabilities=-abs(model.probabilities),
        players=np.zeros(model.num_states, np.int8),
        payoffs=np.full(len(model.terminals), -1.0),
        constant_sum=0.0,
    )


@relaxed
@given(impartial_models())
def test_values_of_models(model):
    found = gamedp.sums.grundy_values(model)
    assert found.values.tolist() == by_definition(model)
    assert not found.values.flags.writeable
    solution = gamedp.solve(model)
    for state in range(model.num_states):
        assert found.value(state) == found.values[state]
        assert found.mover_wins(state) == (solution.value(state) > 0)
        best = solution.best_actions(state) if found.mover_wins(state) else []
        assert found.winning_actions(state) == best


@relaxed
@given(impartial_models())
def test_the_kernel_as_plain_python(model):
    most = int(np.diff(model.choice_offsets).max())
    values = np.zeros(model.num_states, np.int32)
    marks = np.full(most + 2, -1, np.int64)
    order = model.structure.order
    kernels.model_values(order, model.choice_offsets, model.successors, marks, values)
    assert values.tolist() == by_definition(model)


def test_the_row_of_matches():
    """The closed form of the article's game, in normal play."""
    row = gamedp.sums.grundy_values(Matches(matches=40, misere=False), compile="never")
    for left, player in itertools.product(range(41), range(2)):
        state = MatchesState(player, left)
        assert row.value(state) == left % 4
        assert tuple(row.winning_actions(state)) == winning_takes(left, misere=False)
        assert row.mover_wins(state) == (left % 4 != 0)


@pytest.mark.parametrize("heaps", [(3, 5, 7), (4, 1, 1), (0,), (2, 2), (6, 0, 3)])
def test_nim(heaps):
    game = Nim(heaps=heaps, misere=False)
    found = gamedp.sums.grundy_values(game, compile="never")
    assert found.value() == gamedp.sums.nim_sum(*heaps)
    for cut in itertools.product(*(range(heap + 1) for heap in heaps)):
        state = NimState(1, cut)
        assert found.value(state) == gamedp.sums.nim_sum(*cut)
        moves = [game.action(heap, taken) for heap, taken in nim_winning_moves(cut, misere=False)]
        assert found.winning_actions(state) == moves


PARTS = [
    (Matches(7, misere=False), Nim((1, 4), misere=False)),
    (Matches(6, (2, 3), misere=False), Matches(6, (1, 4), misere=False)),
    (
        gamedp.sums.OctalGame("0.07", (6,)),
        Matches(4, misere=False),
        gamedp.sums.OctalGame("0.3", (3,)),
    ),
    (Nim((2, 2), misere=False),),
    (),
]


@pytest.mark.parametrize("parts", PARTS, ids=repr)
def test_sums(parts):
    """What the parts say, against the values of all positions of the whole, and solving."""
    game = gamedp.sums.Sum(*parts)
    whole = gamedp.compile(game, compile="never")
    solution = gamedp.solve(whole)
    of_whole = gamedp.sums.grundy_values(whole)
    of_parts = gamedp.sums.grundy_values(game, compile="never")
    assert isinstance(of_parts, gamedp.sums.SumValues)
    for index in range(whole.num_states):
        position = whole.state(index)
        assert of_parts.value(position) == of_whole.values[index]
        assert of_parts.mover_wins(position) == (solution.value(position) == 1.0)
        assert of_parts.winning_actions(position) == of_whole.winning_actions(position)
        for rest in range(3):
            assert of_parts.winning_actions(position, rest) == of_whole.winning_actions(
                position, rest
            )
            assert of_parts.mover_wins(position, rest) == of_whole.mover_wins(position, rest)
    assert of_parts.value() == of_whole.value() == gamedp.sums.grundy_value(game, compile="never")
    check_game(game, compile=False)


def test_sums_of_sums():
    row = Matches(5, misere=False)
    nested = gamedp.sums.Sum(row, gamedp.sums.Sum(row, Matches(6, misere=False)))
    found = gamedp.sums.grundy_values(nested, compile="never")
    assert found.value() == 2
    whole = gamedp.sums.grundy_values(gamedp.compile(nested, compile="never"))
    assert found.winning_actions() == whole.winning_actions()
    assert pickle.loads(pickle.dumps(nested)) == nested == gamedp.sums.Sum(*nested.games)
    assert repr(nested) == f"Sum({row!r}, {nested.games[1]!r})"
    start = nested.initial_state()
    names = [nested.action_name(start, action) for action in found.winning_actions()]
    assert names == [
        "take 2, in game 1",
        "take 2, in game 1, in game 2",
        "take 2, in game 2, in game 2",
    ]
    assert nested.render(start).count("first player to move") == 3


@attrs.frozen
class Partisan:
    """Each player has matches of their own: whoever cannot take one has lost."""

    num_players = 2

    def initial_state(self):
        return NimState(0, (2, 3))

    def is_terminal(self, state):
        return state.heaps[state.player] == 0

    def player(self, state):
        return state.player

    def actions(self, state):
        return [1]

    def outcomes(self, state, action):
        left = gamedp.with_item(state.heaps, state.player, state.heaps[state.player] - 1)
        return [(1.0, NimState(1 - state.player, left))]

    def payoff(self, state, player):
        return -1.0 if player == state.player else 1.0


@attrs.frozen
class Again(Matches):
    """Whoever takes one match moves again."""

    def outcomes(self, state, action):
        mover = state.player if action == 1 else 1 - state.player
        yield 1.0, MatchesState(mover, state.left - action)

    def canonical(self, state):
        return state, False


@attrs.frozen
class Drawn(Again):
    """With one match left over, nobody has won."""

    def outcomes(self, state, action):
        yield 1.0, MatchesState(1 - state.player, state.left - action)

    def payoff(self, state, player):
        return 0.0 if state.left == 1 else -1.0 if player == state.player else 1.0


def circle():
    return gamedp.Model.from_arrays(
        [0, 1, 2], [0, 1, 2], [1, 0], [1.0, 1.0], players=[0, 1], num_players=2
    )


def paid():
    return gamedp.Model.from_arrays(
        [0, 1, 1], [0, 1], [1], [-1.0], rewards=[2.0], terminals=[1], num_players=2
    )


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Matches(), "loses \\(misère play\\). gamedp.solve tells who wins"),
        (Nim(), "loses \\(misère play\\)"),
        (Matches(0), "cannot move in MatchesState\\(player=0, left=0\\) does not lose"),
        (Three(), "the number of players is 3"),
        (Marks(), "action 0 in Board\\(player=0, .* is left to chance"),
        (Long(), "left to chance"),
        (circle(), "0 can be reached from itself"),
        (paid(), "choice 0 \\(action 0\\) of state 0 earns something"),
        (Again(5, misere=False), "same player moves again after action 1 in MatchesState"),
        (Drawn(5, (2, 3), misere=False), "action 2 in MatchesState.* ends the game otherwise"),
        (Partisan(), "In NimState\\(player=0, heaps=\\(2, 3\\)\\) they are not those of"),
        (gamedp.sums.Sum(Matches(3), Matches(2, misere=False)), "misère"),
    ],
)
def test_what_has_no_nim_values(game, words):
    with pytest.raises(gamedp.UnsupportedProblemError, match=f"^Nim-values are .*{words}"):
        gamedp.sums.grundy_values(game, compile="never")


def test_a_sum_is_no_misere_play():
    with pytest.raises(gamedp.UnsupportedProblemError, match=r"Matches\(.*where that is not so"):
        gamedp.solve(gamedp.sums.Sum(Matches(3), Matches(2)), compile="never")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gamedp.sums.Sum(Three()), "num_players=3; a sum is of games for two"),
        (lambda: gamedp.sums.Sum(Marks()), "starts at random"),
        (lambda: gamedp.sums.OctalGame("0.78"), "'0.78'; an octal game is given by a text like"),
        (lambda: gamedp.sums.OctalGame("77"), "'77'"),
        (lambda: gamedp.sums.OctalGame("3.7"), r"\(3, 7\)"),
        (lambda: gamedp.sums.OctalGame("12.7"), "'12.7'"),
        (lambda: gamedp.sums.OctalGame("0.00"), r"\(0,\)"),
        (lambda: gamedp.sums.OctalGame(""), "''"),
        (lambda: gamedp.sums.OctalGame(77), "77"),
        (lambda: gamedp.sums.OctalGame((0, True)), "True"),
        (lambda: gamedp.sums.OctalGame("0.7", (3, -1)), r"heaps must be .* not \(3, -1\)"),
        (lambda: gamedp.sums.OctalGame("0.7", "3"), r"heaps must be .* not \('3',\)"),
        (lambda: gamedp.sums.OctalGame.of_takes(()), "takes must be one or more"),
        (lambda: gamedp.sums.OctalGame.of_takes((0, 1)), "takes must be"),
        (lambda: gamedp.sums.OctalGame("0.7").periodicity(-1), "up_to is -1"),
        (lambda: gamedp.sums.OctalGame("0.7").grundy_sequence(2.5), r"up_to is 2\.5"),
        (lambda: gamedp.sums.OctalGame("0.77").grundy_sequence(10**12), "not fit into memory"),
    ],
)
def test_what_makes_no_game(make, words):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
        make()


def test_a_position_is_asked_for_by_its_own_type():
    found = gamedp.sums.grundy_values(gamedp.sums.Sum(Matches(3, misere=False)), compile="never")
    with pytest.raises(
        gamedp.errors.InvalidParameterError, match=r"not a gamedp\.sums\.SumPosition of 1 parts"
    ):
        found.value((0, (3,)))
    part = found.parts[0]
    with pytest.raises(gamedp.errors.UnknownStateError):
        part.winning_actions(MatchesState(0, 5))
    with pytest.raises(gamedp.errors.InvalidParameterError, match="whole numbers"):
        part.winning_actions(rest=-1)
    two = attrs.evolve(
        part.model,
        initial_states=np.array([0, 1]),
        initial_probabilities=np.array([0.5, 0.5]),
    )
    with pytest.raises(gamedp.errors.UnknownStateError, match="one of several states"):
        gamedp.sums.grundy_values(two).value()


def naive(code, up_to):
    """Return the nim-values of heaps, by the definition of octal games and of the mex."""
    values = [0]
    for heap in range(1, up_to + 1):
        after = set()
        for taken, digit in enumerate(code[: heap + 1]):
            left = heap - taken
            if digit & 1 and left == 0:
                after.add(0)
            if digit & 2 and left > 0:
                after.add(values[left])
            if digit & 4:
                after |= {values[part] ^ values[left - part] for part in range(1, left)}
        values.append(gamedp.sums.mex(after))
    return values


codes = st.tuples(st.sampled_from([0, 4]), st.lists(st.integers(0, 7), min_size=1, max_size=5)).map(
    lambda pair: (pair[0], *pair[1])
)


@relaxed
@given(codes.filter(any), st.integers(0, 150))
def test_heaps_of_any_octal_game(code, up_to):
    game = gamedp.sums.OctalGame(code)
    assert game.grundy_sequence(up_to).tolist() == naive(game.code, up_to)


@relaxed
@given(codes.filter(any), st.integers(0, 60))
def test_the_heap_kernel_as_plain_python(code, up_to):
    values = np.zeros(up_to + 1, np.int32)
    rare = np.zeros(up_to + 1, np.int64)
    is_common = np.arange(1024) % 2 == 1
    marks = np.full(1024, -1, np.int64)
    done = kernels.heap_values(np.array(code), is_common, 1, up_to + 1, 0, rare, marks, values)
    assert done == up_to + 1
    assert values.tolist() == naive(code, up_to)


@given(st.lists(st.integers(0, 2), max_size=30))
def test_matches_at_the_end(values):
    lengths = np.zeros(len(values), np.int64)
    kernels.matches_at_end(np.array(values, np.int64), lengths)
    for shift in range(len(values)):
        length = 0
        while shift + length < len(values) and values[-1 - length] == values[-1 - shift - length]:
            length += 1
        assert lengths[shift] == length


@pytest.mark.parametrize("slices", [1, 7])
def test_small_slices_and_few_values_change_nothing(monkeypatch, slices):
    whole = gamedp.sums.OctalGame("0.77").grundy_sequence(100).tolist()
    monkeypatch.setattr(octal, "HEAPS", slices)
    monkeypatch.setattr(octal, "FIRST_SIZE", 3)
    assert (
        gamedp.sums.OctalGame("0.77").grundy_sequence(100).tolist()
        == whole
        == naive((0, 7, 7), 100)
    )


GUY_SMITH = (
    "R. K. Guy, C. A. B. Smith, Proceedings of the Cambridge Philosophical Society 52 (1956)"
)
OEIS = "The On-Line Encyclopedia of Integer Sequences"
GANGOLLI_PLAMBECK = "A. Gangolli, T. Plambeck, International Journal of Game Theory 18 (1989)"

PERIODS = [
    # code, period, last exception, source
    ("0.77", 12, 70, GUY_SMITH),
    ("0.137", 34, 51, GUY_SMITH),
    ("0.07", 34, 52, f"{OEIS}: A002187, one match later"),
    ("0.117", 48, 46, f"{OEIS}: A071453"),
    ("0.1377", 24, 140, f"{OEIS}: A071434"),
    ("0.7777", 24, 141, f"{OEIS}: A071074"),
    ("0.11377", 32, 186, f"{OEIS}: A071452"),
    ("0.177", 20, 496, f"{OEIS}: A071435"),
    ("0.127", 4, 46_577, GANGOLLI_PLAMBECK),
    ("0.16", 149_459, 105_350, GANGOLLI_PLAMBECK),
    ("0.56", 144, 326_639, GANGOLLI_PLAMBECK),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "period", "last", "source"),
    [row for row in PERIODS if COMPILED or row[2] < 1000],
    ids=[row[0] for row in PERIODS if COMPILED or row[2] < 1000],
)
def test_known_periods(code, period, last, source):
    game = gamedp.sums.OctalGame(code)
    found = game.periodicity(up_to=1_000_000)
    assert (found.period, found.preperiod, found.exceptions[-1]) == (period, last + 1, last)
    # What was proven holds where it can be seen, and does not hold where an exception is named.
    values = octal._explored(game.code, found.known_up_to)[0]
    assert len(values) > found.known_up_to
    start = found.preperiod
    assert (values[start + period :] == values[start:-period]).all()
    assert values[last + period] != values[last]


def test_known_exceptions():
    kayles = gamedp.sums.OctalGame("0.77").periodicity()
    assert kayles.exceptions == (0, 3, 6, 9, 11, 15, 18, 21, 22, 28, 34, 39, 57, 70)
    chess = gamedp.sums.OctalGame("0.137").periodicity()
    assert chess.exceptions == (0, 14, 16, 17, 31, 34, 51)
    other = gamedp.sums.OctalGame("0.117").periodicity()
    assert other.exceptions[-9:] == (2, 6, 7, 12, 16, 22, 26, 36, 46)


def test_known_values():
    def values(code, up_to):
        return gamedp.sums.OctalGame(code).grundy_sequence(up_to).tolist()

    # A002186 and A002187 of the On-Line Encyclopedia of Integer Sequences.
    assert values("0.77", 24) == [
        *(0, 1, 2, 3, 1, 4, 3, 2, 1, 4, 2, 6),
        *(4, 1, 2, 7, 1, 4, 3, 2, 1, 4, 6, 7, 4),
    ]
    assert values("0.137", 20) == [*(0, 1, 1, 2, 0, 3, 1, 1, 0, 3, 3, 2, 2, 4, 0, 5, 2, 2, 3, 3, 0)]
    assert values("0.07", 21)[1:] == values("0.137", 20)
    assert values("4.4", 13)[1:] == values("0.77", 12)
    # Nim is the limit of taking 1 to k.
    assert values("0." + "3" * 9, 9) == list(range(10))


@relaxed
@given(st.sets(st.integers(1, 6), min_size=1))
def test_subtraction_games_have_a_period(takes):
    game = gamedp.sums.OctalGame.of_takes(takes)
    found = game.periodicity(up_to=20_000)
    assert found is not None
    values = game.grundy_sequence(1000).tolist()
    assert values == naive(game.code, 1000)
    start, period = found.preperiod, found.period
    assert values[start + period :] == values[start : len(values) - period]
    if start:
        assert values[start - 1] != values[start - 1 + period]
    known = values[start : start + 3 * period]
    shorter = [p for p in range(1, period) if known[p:] == known[:-p]]
    assert not shorter


@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_taking_1_to_k(most):
    found = gamedp.sums.OctalGame.of_takes(range(1, most + 1)).periodicity()
    assert (found.period, found.preperiod, found.exceptions) == (most + 1, 0, ())


@pytest.mark.parametrize("code", ["0.6", "0.007", "0.06"])
def test_where_no_period_is_known(code):
    assert gamedp.sums.OctalGame(code).periodicity(up_to=20_000 if COMPILED else 1000) is None


@pytest.mark.slow
@pytest.mark.parametrize("code", ["0.77", "0.127", "0.137", "0.16"])
def test_too_few_heaps_prove_nothing(code):
    """One value less than the theorem needs, and nothing is claimed."""
    game = gamedp.sums.OctalGame(code)
    if not COMPILED and code in ("0.127", "0.16"):
        # The kernel is compared uncompiled with the two games of short periods.
        pytest.skip("takes minutes in plain Python")
    needed = game.periodicity(up_to=10**6).known_up_to
    assert game.periodicity(up_to=needed).known_up_to == needed
    assert game.periodicity(up_to=needed - 1) is None


def test_after_a_proof_the_sequence_goes_on_by_its_period():
    game = gamedp.sums.OctalGame("0.77")
    values = game.grundy_sequence(1_000_000)
    assert len(values) == 1_000_001
    assert (values[71 + 12 :] == values[71:-12]).all()
    assert values[:2001].tolist() == naive((0, 7, 7), 2000)
    assert game.grundy_sequence(0).tolist() == [0]


HEAPS = [
    ("0.77", (6, 5, 4)),
    ("0.137", (7, 7)),
    ("4.3", (5, 3)),
    ("0.007", (9, 4)),
    ("0.15", (8, 1, 1)),
    ("0.77", ()),
    ("0.77", (0,)),
]


@pytest.mark.parametrize(("code", "heaps"), HEAPS)
def test_heaps_as_a_game(code, heaps):
    """In all positions, the values of the heaps add up, and solving knows who wins."""
    game = gamedp.sums.OctalGame(code, heaps)
    model = gamedp.compile(game, compile="never")
    found, solution = gamedp.sums.grundy_values(model), gamedp.solve(model)
    values = game.grundy_sequence(max(heaps, default=0)).tolist()
    for index in range(model.num_states):
        state = model.state(index)
        sizes = [size for size, count in enumerate(state.counts) for _ in range(count)]
        assert found.values[index] == gamedp.sums.nim_sum(*(values[size] for size in sizes))
        assert solution.value(state) == (1.0 if found.values[index] else -1.0)
        after = {
            next(iter(game.outcomes(state, action)))[1].counts for action in game.actions(state)
        }
        assert len(after) == len(list(game.actions(state)))


def test_words_of_octal_games():
    game = gamedp.sums.OctalGame(".7700", heaps=[np.int8(7), 2])
    assert game == gamedp.sums.OctalGame((0, 7, 7), heaps=(7, 2))
    assert repr(game) == "OctalGame(code='0.77', heaps=(7, 2))"
    start = game.initial_state()
    assert game.action_name(start, game.action(7, 2, 1)) == "take 2 from a heap of 7, leave 1 and 4"
    assert game.action_name(start, game.action(7, 2)) == "take 2 from a heap of 7"
    assert game.render(start) == "first player to move: heaps of 2, 7"
    assert pickle.loads(pickle.dumps(game)) == game


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="compiled rules are compared with plain ones")
@pytest.mark.parametrize(("code", "heaps"), HEAPS[:4])
def test_octal_rules_are_in_order(code, heaps):
    check_game(gamedp.sums.OctalGame(code, heaps))


@attrs.frozen
class Treblecross:
    """A row of squares; the players mark one in turn, and whoever makes three in a row wins."""

    squares: int = 7
    num_players = 2

    def initial_state(self):
        return Dice(0, 0)

    def is_terminal(self, state):
        return state.total & state.total >> 1 & state.total >> 2 != 0

    def player(self, state):
        return state.player

    def actions(self, state):
        return [square for square in range(self.squares) if not state.total >> square & 1]

    def outcomes(self, state, action):
        return [(1.0, Dice(1 - state.player, state.total | 1 << action))]

    def payoff(self, state, player):
        return -1.0 if player == state.player else 1.0

    def canonical(self, state):
        return Dice(0, state.total), state.player == 1


@pytest.mark.parametrize("squares", range(3, 12))
def test_treblecross(squares):
    """It is 0.007 with two squares more: marks at most two apart lose at once (Winning Ways)."""
    heap = squares + 2
    value = int(gamedp.sums.OctalGame("0.007").grundy_sequence(heap)[heap])
    solution = gamedp.solve(Treblecross(squares), compile="never")
    assert solution.value() == (1.0 if value else -1.0)


def test_the_command(run):
    code, out, err = run("grundy", "0.77", "--values", "12")
    assert code == 0
    assert out == (
        "code        0.77\n"
        "values      0 1 2 3 1 4 3 2 1 4 2 6 4 ...\n"
        "period      12 from heaps of 71 on, proven by the values up to 167\n"
        "exceptions  0, 3, 6, 9, 11, 15, 18, 21, 22, 28, 34, 39, 57, 70\n"
    )
    code, out, err = run("grundy", "0.6", "--up-to", "500")
    assert code == 0
    assert "none is proven by heaps up to 500; there may be one" in out
    code, out, err = run("grundy", "0.177")
    assert code == 0
    assert "66 heaps: 0, 5, 10, 15, 18, 25, 30, 35, 36, 45, ..., 288" in out
    code, out, err = run("grundy", "0.333", "--json", "--values", "4")
    assert code == 0
    assert json.loads(out) == {
        "code": "0.333",
        "values": [0, 1, 2, 3, 0],
        "period": 4,
        "preperiod": 0,
        "exceptions": [],
        "known_up_to": 7,
    }
    code, out, err = run("grundy", "0.6", "--json", "--up-to", "50")
    assert code == 0
    assert json.loads(out)["period"] is None
    code, out, err = run("grundy", "0.9")
    assert code == 2
    assert "octal game is given by a text like '0.77'" in err
    code, out, err = run("grundy", "0.7", "--values", "-1")
    assert code == 2
    assert "--values is -1" in err
