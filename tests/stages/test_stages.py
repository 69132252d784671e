"""Staged games: solved like the ordinary games that they are, and refused in words."""

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest
from depth import first_of
from staged_games import Date, Day, Debts, Journey, Roll, Scores, StagedWubbel, Walk, WubbelTurn

import gamedp
from gamedp.games.kniffel import Kniffel, KniffelTurn
from gamedp.games.wubbel import State, Wubbel
from gamedp.rules.anatomy import fields_read
from gamedp.stages import compile as compile_module, unrolled_code
from gamedp.stages.context_loop import sweep_contexts_jit
from gamedp.stages.vector_code import program_of
from gamedp.testing import check_game, exact_values

MODES = ("always", "never")


@pytest.mark.parametrize("mode", MODES)
def test_turns_of_wubbel_are_worth_what_the_whole_game_says(mode):
    staged = gamedp.solve(StagedWubbel(12), compile=mode, tolerance=1e-9)
    whole = gamedp.solve(Wubbel(goal=12), tolerance=1e-9)
    assert staged.guarantee is gamedp.Guarantee.TWO_SIDED
    assert staged.width <= 1e-9
    for own in range(12):
        for opponent in range(12):
            context = Scores(0, own, opponent)
            low, high = staged.bounds(context)
            least, most = whole.bounds(State(0, own, opponent, 0))
            assert low <= most
            assert least <= high
            other = Scores(1, own, opponent)
            assert staged.value(other) == 1 - staged.value(context)
            assert staged.value(other, player=1) == pytest.approx(staged.value(context))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="takes minutes in plain Python")
def test_wubbel_has_its_known_value():
    solution = gamedp.solve(StagedWubbel(50), tolerance=1e-8)
    low, high = solution.bounds()
    assert low <= 0.537937288425229 <= high
    assert high - low <= 1e-8


def test_inside_a_turn_of_wubbel_the_values_are_those_of_the_whole_game():
    staged = gamedp.solve(StagedWubbel(12), tolerance=1e-10)
    whole = gamedp.solve(Wubbel(goal=12), tolerance=1e-10)
    for turn in range(1, 10):
        ours = staged.action_values(Scores(0, 2, 4), Roll(turn, over=False))
        theirs = whole.action_values(State(0, 2, 4, turn))
        for one, other in zip(ours, theirs, strict=True):
            assert one.action == other.action
            assert one.lower <= other.upper
            assert other.lower <= one.upper
        assert staged.best_actions(Scores(0, 2, 4), Roll(turn, over=False)) == whole.best_actions(
            State(0, 2, 4, turn)
        )


class LargeDebts(Debts):
    """Losses by way of numbers that 64 bits do not hold."""

    def reward(self, context, end, player):
        assert type(end.heads) is type(context.paid) is int
        return super().reward(context, end, player) * ((end.debt + 12) * 10**18 // (10**18 * 12))


def test_plain_rules_get_integers_of_python():
    """Those of numpy would overflow, and numbers be wrong with no more than a warning."""
    found = gamedp.solve(LargeDebts(), compile="never")
    assert found.value() == gamedp.solve(Debts(), compile="never").value()


class LongDay(Day):
    """A day that does not say whether it is over."""

    def is_terminal(self, state):
        return None if state.step == 2 else state.step == 3


class Doubtful(Journey):
    """Of such days."""

    def stage(self):
        return LongDay()


def test_a_stage_that_does_not_say_whether_it_is_over():
    for game in (Doubtful(), gamedp.stages.Flattened(Doubtful())):
        with pytest.raises(gamedp.InvalidModelError, match=r"is_terminal\(Walk.* is None; it must"):
            gamedp.solve(game, compile="never")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("days", [1, 2, 5])
def test_two_opponents_and_forbidden_ends_as_in_the_flattened_game(mode, days):
    game = Journey(days=days, again=False)
    solution = gamedp.solve(game, compile=mode)
    flat = gamedp.compile(gamedp.stages.Flattened(game), compile="never")
    truth = exact_values(flat)
    begin = game.stage().initial_state()
    for left in range(1, days + 1):
        for luck in (0, 1):
            index, _ = flat.index(gamedp.stages.Position(Date(left, luck), begin))
            low, high = solution.bounds(Date(left, luck))
            assert Fraction(low) <= truth[index] <= Fraction(high)
    low, high = solution.bounds()
    start = sum(
        (
            Fraction(chance) * truth[state]
            for chance, state in zip(
                flat.initial_probabilities.tolist(), flat.initial_states.tolist(), strict=True
            )
        ),
        Fraction(0),
    )
    assert Fraction(low) <= start <= Fraction(high)


@pytest.mark.parametrize("optimum", ["max", "min"])
def test_days_that_come_again_are_solved_by_repeated_sweeps(optimum):
    objective = gamedp.TotalReward(optimum=optimum)
    solution = gamedp.solve(Journey(days=4), objective, tolerance=1e-9)
    flat = gamedp.solve(
        gamedp.stages.Flattened(Journey(days=4)), objective, tolerance=1e-10, compile="never"
    )
    assert solution.guarantee is gamedp.Guarantee.TWO_SIDED
    assert solution.width <= 1e-9
    begin = Walk(2, 0, 0, rested=False)
    for left in range(1, 5):
        for luck in (0, 1):
            low, high = solution.bounds(Date(left, luck))
            least, most = flat.bounds(gamedp.stages.Position(Date(left, luck), begin))
            assert low <= most
            assert least <= high
    assert solution.statistics.sweeps > 2


@attrs.frozen
class CountedTurn(KniffelTurn):
    """A turn of Kniffel that counts how often it is asked for outcomes."""

    asked = 0

    def outcomes(self, state, action):
        type(self).asked += 1
        return KniffelTurn.outcomes(self, state, action)


@attrs.frozen
class CountedKniffel(Kniffel):
    def stage(self):
        return CountedTurn(dice=self.dice, faces=self.faces, throws=self.throws)


def test_a_whole_game_is_played_flattened_without_going_all_ways_again():
    flat = gamedp.stages.Flattened(CountedKniffel(dice=4, faces=4))
    record = gamedp.play.play_game(flat, [gamedp.play.RandomPlayer(flat)], seed=1)
    assert record.is_finished
    # Each turn looks at each of its choices once; the ways through it are a thousand times more.
    choices = gamedp.compile(flat.game.stage(), compile="never").num_choices
    turns = len({position.context for position in record.states})
    assert CountedTurn.asked <= 2 * turns * choices + record.plies


def test_inside_a_day_every_position_is_that_of_the_flattened_game():
    game = Journey(days=3)
    solution = gamedp.solve(game, tolerance=1e-10)
    flat = gamedp.solve(gamedp.stages.Flattened(game), tolerance=1e-10, compile="never")
    for context in (Date(1, 1), Date(1, 0), Date(3, 1)):
        part = solution.inside(context)
        assert part.guarantee is gamedp.Guarantee.TWO_SIDED
        for index in range(part.model.num_states):
            state = part.model.state(index)
            low, high = part.bounds(state)
            least, most = flat.bounds(gamedp.stages.Position(context, state))
            assert low <= most
            assert least <= high
            if part.policy[index] >= 0 and state.step < 3:
                assert part.best_actions(state, 1e-6) == flat.best_actions(
                    gamedp.stages.Position(context, state), 1e-6
                )
    assert solution.inside(Date(1, 1)) is solution.inside(Date(1, 1))
    with pytest.raises(gamedp.errors.UnknownStateError, match="not a state of this model"):
        solution.inside(Date(1, 1)).value(Walk(2, 1, 3, rested=True))
    assert solution.inside(Date(1, 0)).value(Walk(2, 1, 3, rested=True)) == 2 + 3


def test_both_tiers_and_any_number_of_threads_give_the_same_numbers():
    values = [
        gamedp.solve(StagedWubbel(9), solver=gamedp.stages.StageInduction(threads=threads)).values
        for threads in (1, 2, 5)
    ]
    values.append(gamedp.solve(StagedWubbel(9), compile="never").values)
    for other in values[1:]:
        np.testing.assert_array_equal(values[0], other)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is no machine code")
@pytest.mark.parametrize("optimum", ["max", "min"])
def test_unrolled_code_finds_what_the_sweep_finds(optimum):
    """All values are negative here, so that ends which are not allowed must not count as zero."""
    objective = gamedp.TotalReward(optimum=optimum)
    truth = exact_values(
        gamedp.compile(gamedp.stages.Flattened(Debts()), compile="never"), objective
    )[0]
    for unrolls in (False, True, None):
        solution = gamedp.solve(Debts(), objective, gamedp.stages.StageInduction(unrolls=unrolls))
        low, high = solution.bounds()
        assert Fraction(low) <= truth <= Fraction(high)
        assert high - low < 1e-10


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is no machine code")
def test_unrolled_code_finds_the_same_numbers():
    """Rows are used again here, and many states choose among the same ends."""
    model = gamedp.compile(Kniffel(dice=2, faces=3))
    unrolled, looped = (
        gamedp.solve(model, solver=gamedp.stages.StageInduction(unrolls=unrolls)).values
        for unrolls in (True, False)
    )
    np.testing.assert_array_equal(unrolled, looped)


@pytest.mark.slow
@pytest.mark.parametrize("rules", first_of(["article", "yahtzee"]))
def test_tiers_agree_where_contexts_of_one_block_allow_different_ends(rules):
    game = Kniffel(rules, dice=2, faces=2, throws=1, threshold=2)
    values = [gamedp.solve(game, compile=mode).values for mode in MODES]
    assert np.isfinite(values[0]).sum() > 512
    np.testing.assert_array_equal(*values)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is no machine code")
def test_unrolled_code_is_kept_and_only_for_those_who_agree():
    solver = gamedp.stages.StageInduction(unrolls=True)
    two = gamedp.solve(Journey(days=3, again=False), solver=solver)  # two movers: as always
    assert two.value() == gamedp.solve(Journey(days=3, again=False)).value()
    program = program_of(gamedp.compile(Debts()).stage)
    gamedp.solve(Debts(), solver=solver)
    assert unrolled_code.is_unrolled(program)
    unrolled_code._code.cache_clear()  # as in a new process
    unrolled, code = unrolled_code.unrolled(program)
    assert code.cache_hits == 1
    sweeper = gamedp.compile(Debts()).sweeper
    assert sweeper.unroll(program, 1, unrolls=None).address == unrolled.address
    assert sweeper.unroll(program, 1, unrolls=False) is program
    assert not unrolled_code.is_unrolled(program._replace(rewards=program.rewards + 1))


def reads_two(self, context, end):
    return context.left > 1 and (context.luck == 0 or end.rested)


def hands_on(self, context, end):
    return bool(context) and context.left > 1


def keeps_a_copy(self, context, end):
    copy = context
    return copy.luck == 0


def asks_inside(self, context, end):
    return any(context.left > number for number in range(3))


def takes_all(self, *all_of_them):
    return all_of_them[0].left > 1


@pytest.mark.parametrize(
    ("function", "fields"),
    [
        (reads_two, {"left", "luck"}),
        (hands_on, None),
        (keeps_a_copy, None),
        (asks_inside, None),
        (takes_all, None),
        (Journey.allows, {"left", "luck"}),
        (Debts.allows, {"paid"}),
    ],
)
def test_which_fields_of_a_context_matter(function, fields):
    assert fields_read(function, 1) == fields


def test_the_flattened_game_is_in_order():
    check_game(gamedp.stages.Flattened(Journey(days=2)), compile=False)


def test_words_for_people():
    model = gamedp.compile(Journey(days=2))
    assert repr(model) == (
        "<StagedModel Journey(days=2, again=True): 6 contexts, a stage of 19 states>"
    )
    solution = gamedp.solve(model)
    assert repr(solution).startswith("<StagedSolution value=")
    assert "<th>contexts</th><td>4</td>" in solution._repr_html_()
    assert "6 contexts, in each a stage of 19 states" in gamedp.explain(model)
    with pytest.raises(gamedp.errors.UnknownNameError, match="no player 2"):
        solution.value(player=2)


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (Date(5, 0), "outside the box of contexts: left 0 to 2, luck 0 to 1"),
        (Walk(0, 0, 0, rested=False), "does not fit"),
        (7, "does not fit"),
    ],
)
def test_unknown_contexts_are_refused(context, words):
    solution = gamedp.solve(Journey(days=2))
    with pytest.raises(gamedp.errors.UnknownStateError, match=words):
        solution.value(context)


def test_where_the_game_is_over_nothing_is_inside():
    solution = gamedp.solve(Journey(days=2))
    assert solution.value(Date(0, 1)) == 1.0
    assert solution.bounds(Date(0, 1)) == (1.0, 1.0)
    with pytest.raises(gamedp.errors.UnknownStateError, match="the game is over in Date"):
        solution.inside(Date(0, 1))


CLIMBS, STRAYS, FORBIDS, PAYS, OWES, DENIES, TURNS, DIVIDES = range(8)


@attrs.frozen
class Wrong(Journey):
    """A journey with one of many faults; its rules are compiled once for all of them."""

    days: int = 2
    fault: int = CLIMBS

    def tier(self, context):
        return -context.left if self.fault == CLIMBS else context.left

    def following(self, context, end):
        if self.fault == STRAYS:
            return Date(context.left - 1, end.place)
        if self.fault == DIVIDES:
            return Date(context.left - 1 + 0 // (end.place - 3), 0)
        if end.place == 0:
            return Date(context.left, 1 - context.luck)
        return Date(context.left - 1, int(end.place > 2))

    def allows(self, context, end):
        if self.fault == FORBIDS:
            return context.left == 2 or end.place == 9
        return context.left > 1 or context.luck == 0 or not end.rested

    def reward(self, context, end, player):
        if self.fault == PAYS:
            return np.inf if end.place == 3 else 0.0
        return (end.place - 0.5 * context.luck) * (1 - 2 * player)

    def payoff(self, context, player):
        return np.nan if self.fault == OWES else (3.0 - 2.0 * context.luck) * (1 - 2 * player)

    def is_state(self, context):
        return self.fault != DENIES or context.left > 0

    def canonical(self, context):
        return (Date(context.left, 1 - context.luck) if self.fault == TURNS else context), False


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(CLIMBS, r"tier\(\) must never rise along play", id="climbs"),
        pytest.param(STRAYS, "which is outside the box of contexts", id="strays"),
        pytest.param(FORBIDS, "cannot be played to an end that allows", id="forbids"),
        pytest.param(PAYS, "not finite", id="pays"),
        pytest.param(OWES, "payoff.*is nan; it must be a finite number", id="owes"),
        pytest.param(DENIES, "which is_state\\(\\) denies", id="denies"),
        pytest.param(TURNS, "it must represent itself", id="turns"),
    ],
)
def test_wrong_rules_are_refused_in_words(fault, words, mode):
    with pytest.raises(gamedp.InvalidModelError, match=words) as caught:
        gamedp.solve(Wrong(fault=fault), compile=mode)
    assert "Date(" in str(caught.value)


@attrs.frozen
class Undecided(Journey):
    """It does not say whether it is over."""

    def is_terminal(self, context):
        pass


def test_a_context_that_is_not_said_to_be_over_or_not_is_refused():
    words = r"is_terminal\(Date\(.*is None; it must be True or False. Is a return missing"
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.solve(Undecided(), compile="never")


@attrs.frozen
class OddTiers(Journey):
    """Its tiers are of another kind, or too large."""

    unit: object = 0.5

    def tier(self, context):
        return context.left * self.unit


@pytest.mark.parametrize(("unit", "mode"), [*((0.5, mode) for mode in MODES), (2**62, "never")])
def test_a_tier_that_is_no_integer_of_64_bits_is_refused(unit, mode):
    words = r"tier\(Date\(.*it must be an integer of 64 bits"
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.solve(OddTiers(unit=unit), compile=mode)


def test_no_tables_are_made_of_a_staged_game(tmp_path):
    """It has `tier` and `box`, too, but of its contexts."""
    with pytest.raises(TypeError, match="Journey is not a game: it has no method actions"):
        gamedp.tables.tabulate(Journey(), tmp_path / "tables")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", MODES)
def test_rules_that_raise_are_named(mode):
    with pytest.raises(ZeroDivisionError) as caught:
        gamedp.solve(Wrong(fault=DIVIDES), compile=mode)
    assert caught.value.__notes__ == ["gamedp: raised by the rules in Date(left=1, luck=0)"]


class Rounds(Journey):
    """Rules that mean something else compiled: what is an int or a float is a float there."""

    def reward(self, context, end, player):
        large = 2**53 + context.left if context.left > 0 else 0.5
        return 1.0 if large - 2**53 == 1 else -1.0


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="there is no other mode")
def test_rules_that_differ_when_they_are_compiled_are_refused():
    with pytest.raises(gamedp.InvalidModelError, match=r"disagree on the value of Walk.* in Date"):
        gamedp.compile(Rounds(days=2), compile="always")


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_the_sweep_is_compiled_once_for_all_staged_games():
    gamedp.compile(Journey(days=2, again=False), compile="always")
    known = set(sweep_contexts_jit.overloads)
    gamedp.compile(StagedWubbel(12), compile="always")
    assert len(known) > 0
    assert set(sweep_contexts_jit.overloads) == known


@attrs.frozen
class WrongBox(Journey):
    def box(self):
        return {"left": (0, 2)}


@attrs.frozen
class EmptyBox(Journey):
    def box(self):
        return {"left": (0, -1), "luck": (0, 1)}


@attrs.frozen
class Huge(Journey):
    def box(self):
        return {"left": (0, 2**40), "luck": (0, 1)}


class Circle(NamedTuple):
    place: int


class Endless(WubbelTurn):
    """A stage that goes round."""

    def initial_state(self):
        return Circle(0)

    def is_terminal(self, state):
        return state.place == 2

    def actions(self, state):
        yield 0
        yield 1

    def outcomes(self, state, action):
        yield 1.0, Circle(1 - state.place if action else 2)

    def payoff(self, state, player):
        return 0.0


class AtRandom(Endless):
    def initial_state(self):
        return [(0.5, Circle(0)), (0.5, Circle(1))]

    def outcomes(self, state, action):
        yield 1.0, Circle(2)


class OverAtOnce(Endless):
    def initial_state(self):
        return Circle(2)


class EndlessJourney(Journey):
    num_players = 1

    def stage(self):
        return Endless()


class RandomJourney(Journey):
    num_players = 1

    def stage(self):
        return AtRandom()


class NoJourney(Journey):
    num_players = 1

    def stage(self):
        return OverAtOnce()


class LoneJourney(Journey):
    num_players = 1


class Texts(Journey):
    def initial_state(self):
        return "now"


@pytest.mark.parametrize(
    ("game", "error", "words"),
    [
        (WrongBox(), gamedp.InvalidModelError, "a range for each field of a context, left, luck"),
        (EmptyBox(), gamedp.InvalidModelError, "which is empty"),
        (Huge(), gamedp.errors.InvalidParameterError, "too large for a table"),
        (EndlessJourney(), gamedp.UnsupportedProblemError, "can go on for ever: Circle"),
        (RandomJourney(), gamedp.UnsupportedProblemError, "begins at random"),
        (NoJourney(), gamedp.InvalidModelError, "over where it begins"),
        (LoneJourney(), gamedp.UnsupportedProblemError, "has 2 players"),
        (Texts(), gamedp.InvalidModelError, "'now' is no context"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Journey) else "",
)
def test_what_cannot_be_staged_is_refused_in_words(game, error, words):
    with pytest.raises(error, match=words):
        gamedp.compile(game)


def test_a_class_or_half_a_game_is_refused():
    with pytest.raises(TypeError, match="pass an instance"):
        gamedp.rules.StagedRules(Journey)
    with pytest.raises(TypeError, match="has no method box, initial_state"):
        gamedp.rules.StagedRules(type("Half", (), {"stage": lambda self: None})())


def test_solvers_and_games_of_the_other_kind_are_refused():
    with pytest.raises(gamedp.UnsupportedProblemError, match="A staged game is solved by"):
        gamedp.solve(Journey(), solver=gamedp.solvers.BackwardInduction())
    with pytest.raises(gamedp.UnsupportedProblemError, match="is for staged games"):
        gamedp.solve(Wubbel(goal=5), solver=gamedp.stages.StageInduction())
    with pytest.raises(gamedp.UnsupportedProblemError, match="no other objective"):
        gamedp.solve(Journey(), gamedp.Discounted(0.5))
    with pytest.raises(gamedp.errors.InvalidParameterError, match="states is for ordinary games"):
        gamedp.compile(Journey(), states="all")
    with pytest.raises(gamedp.errors.InvalidParameterError, match="threads is 0"):
        gamedp.stages.StageInduction(threads=0)


class ForEver(Journey):
    """A day may always be followed by the same day."""

    def following(self, context, end):
        return context if end.rested else Date(context.left - 1, 0)

    def allows(self, context, end):
        return True


def test_where_days_may_go_on_for_ever_nothing_is_claimed():
    solution = gamedp.solve(ForEver(days=2), gamedp.TotalReward(optimum="min"))
    assert solution.guarantee is gamedp.Guarantee.NONE
    assert solution.status is gamedp.Status.UNPROVEN
    assert solution.bounds() == (-np.inf, np.inf)


def test_a_run_that_stops_early_says_so():
    with pytest.raises(gamedp.NotSolvedError, match=r"limit of sweeps.*Raise max_sweeps") as caught:
        gamedp.solve(Journey(days=3), solver=gamedp.stages.StageInduction(max_sweeps=1))
    assert caught.value.solution.status is gamedp.Status.SWEEP_LIMIT
    with pytest.raises(gamedp.NotSolvedError, match="limit of time") as caught:
        gamedp.solve(StagedWubbel(20), solver=gamedp.stages.StageInduction(max_seconds=1e-9))
    assert caught.value.solution.bounds() == (-np.inf, np.inf)
    with pytest.raises(gamedp.NotSolvedError, match="Ask for a tolerance of") as caught:
        gamedp.solve(Journey(days=3, again=False), tolerance=1e-30)
    low, high = caught.value.solution.bounds()
    assert high - low < 1e-10


@attrs.frozen
class FaintWubbel(StagedWubbel):
    """For the smallest number there is: half of it is no number."""

    constant_sum = 5e-324

    def payoff(self, context, player):
        return 0.0 if player == context.player else 5e-324


def test_what_underflows_is_allowed_for():
    game = FaintWubbel(5)
    solution = gamedp.solve(game, tolerance=1e-300)
    for context in (Scores(0, 0, 0), Scores(1, 2, 3), Scores(0, 4, 4)):
        low, high = gamedp.solve(StagedWubbel(5)).bounds(context)
        least, most = solution.bounds(context)
        assert Fraction(least) <= Fraction(low) * Fraction(5e-324)
        assert Fraction(high) * Fraction(5e-324) <= Fraction(most)
        assert most - least < 1e-300


class Spot(NamedTuple):
    place: int


@attrs.frozen
class Scattered:
    """It starts in one of four places, three of which are ends, whose payoffs cancel out."""

    def stage(self):
        return Journey().stage()

    def box(self):
        return {"place": (0, 3)}

    def initial_state(self):
        return [(0.1, Spot(1)), (0.7, Spot(2)), (0.2, Spot(3))]

    def is_terminal(self, context):
        return context.place > 0

    def payoff(self, context, player):
        return (0.0, 7e6, -1e6, 1e-9)[context.place] * (1 - 2 * player)

    def following(self, context, end):
        return Spot(1)

    num_players = 2


def test_an_average_over_starts_that_cancel():
    """The mean is exact; the bounds hold for all probabilities that doubles may stand for."""
    solution = gamedp.solve(Scattered(), compile="never")
    starts = [
        (Fraction(chance), Fraction(Scattered().payoff(spot, 0)))
        for chance, spot in Scattered().initial_state()
    ]
    mean = sum(chance * payoff for chance, payoff in starts) / sum(chance for chance, _ in starts)
    assert solution.value() == float(mean)
    low, high = solution.bounds()
    assert Fraction(low) <= mean <= Fraction(high)
    assert high - low < 1e-8
    assert solution.bounds(player=1) == (-high, -low)


@attrs.frozen
class Begun(Journey):
    starts: tuple = ()

    def initial_state(self):
        return list(self.starts)


@pytest.mark.parametrize(
    ("starts", "words"),
    [
        (((0.5, Date(3, 0)),), "the initial states have total probability 0.5, not 1"),
        (((-0.5, Date(3, 0)), (1.5, Date(3, 1))), "the probability -0.5"),
        (((1e-310, Date(3, 0)), (1.0, Date(3, 1))), "has too few digits for proofs"),
    ],
)
def test_starts_that_are_no_distribution_are_refused(starts, words):
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.compile(Begun(starts=starts), compile="never")


def test_probabilities_of_starts_are_scaled():
    game = Begun(again=False, starts=((0.5, Date(3, 0)), (0.5 - 1e-10, Date(3, 1))))
    solution = gamedp.solve(game, compile="never")
    weights = [Fraction(chance) for chance, _ in game.starts]
    for end in (0, 1):
        mean = sum(
            weight * Fraction(solution.bounds(context)[end])
            for weight, (_, context) in zip(weights, game.starts, strict=True)
        ) / sum(weights)
        assert abs(Fraction(solution.bounds()[end]) - mean) < Fraction(1e-12)
    assert abs(sum(solution.model.initial_probabilities) - 1) < 1e-15


def test_bounds_at_the_start_are_those_of_the_mean_rounded_outward():
    starts = tuple((1 / 8, Date(left, luck)) for left, luck in itertools.product(range(4), (0, 1)))
    solution = gamedp.solve(Begun(again=False, starts=starts), compile="never")
    bounds = [solution.bounds(context) for _, context in starts]
    for end, outward in ((0, -math.inf), (1, math.inf)):
        numbers = [Fraction(each[end]) for each in bounds]
        mean = sum(numbers) / 8
        # An eighth stands for what agrees with it to two units in the last place.
        mean += Fraction(math.copysign(2.0**-51, outward)) * sum(abs(x - mean) for x in numbers) / 8
        found = solution.bounds()[end]
        assert (Fraction(found) - mean) * int(math.copysign(1, outward)) >= 0
        assert abs(Fraction(found) - mean) < Fraction(math.ulp(found))
    # Where play is over nothing is in doubt, not even by a double.
    known = np.flatnonzero((solution.errors == 0) & ~np.isnan(solution.values))
    assert len(known)
    assert np.array_equal(solution.lower[known], solution.values[known])
    assert np.array_equal(solution.upper[known], solution.values[known])


def test_a_small_staged_game_begins_in_plain_python(monkeypatch):
    def solved(mode="auto"):
        return gamedp.solve(StagedWubbel(goal=5), compile=mode)

    made, plain = [], solved("never")
    compiled = compile_module._compiled
    monkeypatch.setattr(
        compile_module, "_compiled", lambda *args, **kw: made.append(1) or compiled(*args, **kw)
    )
    np.testing.assert_array_equal(solved().values, plain.values)
    assert not made
    # Once it has taken longer than it may, the rules are compiled, and only once.
    monkeypatch.setattr(compile_module, "SECONDS_BEFORE_COMPILING", 0.0)
    np.testing.assert_array_equal(solved().values, plain.values)
    assert len(made) == 1
    monkeypatch.setattr(compile_module, "PLAIN_ENDS", 0)
    np.testing.assert_array_equal(solved().values, plain.values)
    assert len(made) == 2


def test_plain_python_goes_on_where_the_rules_of_a_staged_game_do_not_compile(monkeypatch):
    monkeypatch.setattr(compile_module, "SECONDS_BEFORE_COMPILING", 0.0)
    monkeypatch.setattr(compile_module, "_compiled", lambda *_, **__: None)
    game = StagedWubbel(goal=5)
    values = gamedp.solve(game, compile="never").values
    np.testing.assert_array_equal(gamedp.solve(game).values, values)
