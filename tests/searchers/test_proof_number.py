"""Proof-number search answers as the sparse core does."""

import math

import attrs
import pytest
from depth import first_of
from search_games import Bounded, Earning, MadeUp, Mirrored, Node

import gamedp
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel


@attrs.frozen
class Forward(MadeUp):
    acyclic = True


@attrs.frozen
class ForwardMirrored(Mirrored):
    acyclic = True


@attrs.frozen
class ForwardBounded(Bounded):
    acyclic = True


def ask(game, mode="auto", **options):
    result = gamedp.searchers.ProofNumberSearch(**options).search(game, compile=mode)
    assert result.status is gamedp.Status.SOLVED
    return result


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_of([Forward, ForwardMirrored, ForwardBounded]))
@pytest.mark.parametrize("table_bytes", [0, 2**20])
def test_win_draw_and_loss(kind, table_bytes):
    for seed in range(25):
        game = kind(seed=seed, layers=6)
        truth = gamedp.solve(game)
        result = ask(game, table_bytes=table_bytes)
        value = truth.value()
        assert result.lower <= value <= result.upper
        assert (result.lower > 0) == (value > 0)
        assert (result.upper < 0) == (value < 0)
        if value == 0:
            assert result.value() == 0
        if result.best_actions:
            start = game.initial_state()
            for entry in truth.action_values(start):
                assert (entry.action in result.best_actions) == (
                    (entry.value > 0) == (value > 0) and (entry.value < 0) == (value < 0)
                )


@attrs.frozen
class NeverBehind(Forward):
    """Player 0 never loses, which is known at the start and nowhere else."""

    def payoff(self, state, player):
        worth = max(0.0, MadeUp.payoff(self, state, 0))
        return worth if player == 0 else -worth

    def value_range(self, state, player):
        if state.layer > 0:
            return -9.0, 9.0
        return (0.0, 9.0) if player == 0 else (-9.0, 0.0)


def test_answers_to_one_question_are_none_to_the_next():
    draws = 0
    for seed in range(60):
        game = NeverBehind(seed=seed, layers=5)
        actions = gamedp.solve(game, compile="never").action_values(game.initial_state())
        if max(entry.value for entry in actions) == 0:
            draws += 1
            result = ask(game, "never")
            assert result.value() == 0
            assert result.best_actions == tuple(entry.action for entry in actions)
    assert draws > 3


@pytest.mark.parametrize("kind", [Forward, ForwardMirrored, ForwardBounded])
def test_the_line_keeps_the_answer(kind):
    lengths = set()
    for seed in range(25):
        game = kind(seed=seed, layers=6)
        result = ask(game, "never")
        if result.value() == 0:
            assert result.principal_variation == ()  # the answer to two questions
            continue
        state = game.initial_state()
        for action, following in result.principal_variation:
            assert (1.0, following) in list(game.outcomes(state, action))
            state = following
        assert game.is_terminal(state)
        assert result.lower <= game.payoff(state, 0) <= result.upper
        lengths.add(len(result.principal_variation))
    assert len(lengths) > 2


@pytest.mark.parametrize("at_least", [-3.0, -1.0, 0.0, 0.5, 2.0])
def test_any_question(at_least):
    for seed in range(25):
        game = Forward(seed=seed, layers=6)
        result = ask(game, at_least=at_least)
        assert (result.lower >= at_least) == (gamedp.solve(game).value() >= at_least)
        assert result.lower >= at_least or result.upper < at_least


def test_both_tiers_do_the_same_work():
    for seed in range(4):
        game = ForwardMirrored(seed=seed, layers=6)
        compiled, plain = ask(game), ask(game, "never")
        assert compiled.statistics.nodes == plain.statistics.nodes
        assert (compiled.lower, compiled.upper) == (plain.lower, plain.upper)


def test_both_tiers_prove_the_same_with_a_full_table():
    # They hash positions differently, so they forget different ones: the nodes may differ here.
    has_room, too_small = [], []
    for seed in (12, 13, 14):
        game = ForwardMirrored(seed=seed, layers=8)
        compiled, plain = (ask(game, mode, table_bytes=2**12) for mode in ("auto", "never"))
        assert (compiled.lower, compiled.upper) == (plain.lower, plain.upper)
        assert compiled.best_actions == plain.best_actions
        too_small += [compiled.statistics.nodes, plain.statistics.nodes]
        has_room += [ask(game, mode).statistics.nodes for mode in ("auto", "never")]
    assert has_room[::2] == has_room[1::2]
    assert sum(too_small) > sum(has_room)  # it was full


@pytest.mark.parametrize("game", [Matches(matches=18), Matches(matches=17), Nim((3, 4, 5))])
def test_matches(game):
    assert (ask(game).lower > 0) == (gamedp.solve(game).value() > 0)


@pytest.mark.parametrize("majority_stop", [False, True])
def test_mancala(majority_stop):
    for pits, stones in ((2, 3), (3, 2), (3, 3), (4, 1)):
        game = Mancala(pits=pits, stones=stones, majority_stop=majority_stop)
        value = gamedp.solve(game).value()
        result = ask(game)
        assert (result.lower > 0) == (value > 0)
        assert (result.upper < 0) == (value < 0)


@pytest.mark.slow
def test_tables_shorten_the_way():
    game = Mancala(pits=4, stones=2)
    tables = gamedp.tables.tabulate(game, last_tier=8)
    with_tables, without = ask(game, endings=tables), ask(game)
    assert with_tables.value() == without.value() == 0
    assert with_tables.statistics.nodes < without.statistics.nodes
    assert with_tables.statistics.ending_probes > 0


def test_limits_leave_what_is_known():
    result = gamedp.searchers.ProofNumberSearch(max_nodes=50).search(Mancala(stones=3))
    assert result.status is gamedp.Status.NODE_LIMIT
    assert (result.has_value, result.value()) == (False, 0.0)
    assert (result.lower, result.upper) == (-36.0, 36.0)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Wubbel(goal=10, grace=True), "more than one outcome"),
        (MadeUp(), "acyclic"),
        (attrs.make_class("Paid", [], bases=(Earning,), class_body={"acyclic": True})(), "rewards"),
    ],
)
def test_what_it_cannot_do_is_refused(game, words):
    with pytest.raises(gamedp.UnsupportedProblemError, match=words):
        gamedp.searchers.ProofNumberSearch().search(game)


CROSSED, GUESSLESS, NOBODYS = range(3)


@attrs.frozen
class Faulty(Forward):
    """One of three faults in the middle layer; one class, so that it is compiled once."""

    fault: int = CROSSED

    def value_range(self, state, player):
        is_crossed = self.fault == CROSSED and state.layer == 2 and player == 1
        return (1.0, 0.0) if is_crossed else (-9.0, 9.0)

    def heuristic(self, state, player):
        return math.inf if self.fault == GUESSLESS and state.layer == 2 else 0.0

    def player(self, state):
        return 2 if self.fault == NOBODYS and state.layer == 2 else state.player


@attrs.frozen
class Halving(Forward):
    """Half a point is settled in some positions, which leaves no whole number to take off."""

    def settled(self, state, player):
        half = 0.5 if state.layer == 2 and state.place > 0 else 0.0
        return half if player == 0 else -half

    def remainder(self, state):
        return Node(state.player, state.layer, 0)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "never"])
@pytest.mark.parametrize(
    ("game", "words"),
    [
        (Faulty(1, 6, fault=CROSSED), r"value_range\(Node\(.*layer=2.*, 1\) is \(1\.0, 0\.0\)"),
        (Faulty(1, 6, fault=GUESSLESS), r"heuristic\(Node\(.*layer=2.* is inf"),
        (Faulty(1, 6, fault=NOBODYS), r"player\(Node\(.*layer=2.* 2"),
        (Halving(1, 6), r"settled and the tables contradict each other in Node"),
    ],
    ids=["range", "heuristic", "player", "settled"],
)
def test_wrong_rules_are_named(game, words, mode):
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.searchers.ProofNumberSearch().search(game, compile=mode)
