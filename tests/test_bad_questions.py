"""What a user may ask wrongly of a sound model, and numbers at the ends of the range: in words."""

import contextlib
import math
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from solving import REGISTERED

import gamedp
from gamedp.errors import InvalidParameterError
from gamedp.games.wubbel import Wubbel
from gamedp.simulation.result import check_stopping
from gamedp.testing import ConformanceError, check_game, exact_values

INF = math.inf


def sound_model(**changes):
    """Return a model: from 0 with even chances to 1 or to the goal 2; from 1 to 0 or to 3."""
    arrays = {
        "choice_offsets": [0, 1, 3, 3, 3],
        "transition_offsets": [0, 2, 3, 4],
        "successors": [1, 2, 0, 3],
        "probabilities": [0.5, 0.5, 1.0, 1.0],
        "terminals": [2, 3],
        "payoffs": [1.0, 0.0],
    }
    return gamedp.Model.from_arrays(**{**arrays, **changes})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gamedp.Reachability(2), "2 is not a set of states"),
        (lambda: gamedp.Reachability(None), "None is not a set of states"),
        (lambda: gamedp.Reachability("goal"), "'goal' is not a set of states"),
        (lambda: gamedp.Reachability([2], allowed=0), "0 is not a set of states"),
        (lambda: gamedp.TotalReward(until=7), "7 is not a set of states"),
        (lambda: gamedp.FiniteHorizon(2.7), "horizon is 2.7; it must be an integer"),
        (lambda: gamedp.FiniteHorizon("3"), "horizon is '3'"),
        (lambda: gamedp.FiniteHorizon(math.nan), "horizon is nan"),
        (lambda: gamedp.FiniteHorizon(3, allowed=[1]), "allowed needs target"),
        (lambda: gamedp.FiniteHorizon(3, target="aim"), "'aim' is not a set of states"),
        (lambda: gamedp.FiniteHorizon(3, target=[1], final=[1]), "cannot be combined with target"),
        (lambda: gamedp.Discounted("a lot"), "discount is 'a lot'"),
        (lambda: gamedp.Discounted(None), "discount is None"),
        (lambda: gamedp.Discounted(math.nan), "discount is nan"),
    ],
)
def test_what_is_no_objective_is_refused_in_words(make, words):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"objective": gamedp.TotalReward}, "the objective is TotalReward; .*TotalReward\\(\\)"),
        ({"objective": "max"}, "the objective is 'max'"),
        ({"objective": gamedp.solvers.ValueIteration()}, "the objective is ValueIteration"),
        (
            {"solver": gamedp.solvers.ValueIteration},
            "solver is ValueIteration; .*ValueIteration\\(\\)",
        ),
        ({"solver": 3}, "solver is 3"),
        ({"tolerance": 0}, "tolerance is 0; it must be a positive number"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"tolerance": "1e-6"}, "tolerance is '1e-6'"),
    ],
)
def test_what_is_no_question_is_refused_in_words(arguments, words):
    with pytest.raises(gamedp.errors.InvalidParameterError, match=words):
        gamedp.solve(sound_model(), **arguments)


def test_a_list_of_bools_is_a_mask():
    wanted = gamedp.solve(sound_model(), gamedp.Reachability([2])).values
    mask = [False, False, True, False]
    for same in (mask, tuple(mask), [np.bool_(each) for each in mask], np.array(mask)):
        np.testing.assert_array_equal(
            gamedp.solve(sound_model(), gamedp.Reachability(same)).values, wanted
        )
    with pytest.raises(gamedp.InvalidModelError, match=r"target has shape \(2,\)"):
        gamedp.solve(sound_model(), gamedp.Reachability([True, False]))
    with pytest.raises(gamedp.errors.UnknownStateError, match="there is no state True"):
        gamedp.solve(sound_model(), gamedp.Reachability({True}))


def test_a_mask_of_zeros_and_ones_is_not_taken_for_states():
    for mask in ([0, 0, 1, 0], np.array([0, 0, 1, 0])):
        with pytest.raises(gamedp.InvalidModelError, match="target has a 0 or 1 for each state"):
            gamedp.solve(sound_model(), gamedp.Reachability(mask))
    # In a model of two states, that they are meant is as likely.
    two = gamedp.Model.from_arrays([0, 1, 1], [0, 1], [1], [1.0], payoffs=[0.0])
    assert gamedp.solve(two, gamedp.Reachability([0, 1])).values.tolist() == [1, 1]


def test_a_function_that_forgets_to_return_is_refused():
    with pytest.raises(
        gamedp.errors.InvalidParameterError, match="returns None for 0; it must return"
    ):
        gamedp.solve(sound_model(), gamedp.Reachability(lambda _state: None))


@pytest.mark.parametrize(
    "solver", [gamedp.solvers.BackwardInduction(), gamedp.solvers.ExactPolicyIteration()]
)
def test_a_horizon_beyond_memory_is_refused(solver):
    for horizon in (10**15, 10**30):
        with pytest.raises(
            gamedp.errors.LimitExceededError, match="too large for this computer's memory"
        ):
            gamedp.solve(sound_model(), gamedp.FiniteHorizon(horizon), solver)


@pytest.mark.parametrize("solver", REGISTERED, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize(
    "objective", [gamedp.TotalReward(), gamedp.TotalReward(until=[0]), gamedp.Discounted(0.999)]
)
@pytest.mark.filterwarnings("error")
def test_values_beyond_the_range_are_refused_soon_and_name_the_state(solver, objective):
    # The value of state 1 is about 1e308; that of 2, on the way to it, some 1e309.
    huge = gamedp.Model.from_arrays(
        [0, 0, 2, 3],
        [0, 1, 2, 5],
        [2, 2, 1, 0, 2],
        [1.0, 1.0, 8e-10, 0.2, 0.8 - 8e-10],
        rewards=[-9e307, 9e307, 6e307],
        terminals=[0],
        payoffs=[1.0],
    )
    if not solver.supports(gamedp.Problem(huge, objective)):
        return
    words = r"the value of [12] is beyond the|nothing is proven yet"
    with pytest.raises((gamedp.InvalidModelError, gamedp.NotSolvedError), match=words) as caught:
        gamedp.solve(huge, objective, solver)
    solution = getattr(caught.value, "solution", None)
    assert solution is None or solution.upper[1] == INF


@pytest.mark.slow
@pytest.mark.parametrize("solver", REGISTERED, ids=lambda solver: type(solver).__name__)
def test_nothing_false_is_said_of_a_value_beyond_the_range(solver):
    # It is 1e308 times 2**52, but already the first sweeps come near the end of the range.
    huge = gamedp.Model.from_arrays(
        [0, 2, 2],
        [0, 2, 3],
        [0, 1, 1],
        [1 - 2.0**-52, 2.0**-52, 1.0],
        rewards=[9e307, 1e308],
        terminals=[1],
        payoffs=[0.0],
    )
    if not solver.supports(gamedp.Problem(huge)):
        return
    with pytest.raises((gamedp.InvalidModelError, gamedp.NotSolvedError)) as caught:
        gamedp.solve(huge, None, solver, relative=True)
    solution = getattr(caught.value, "solution", None)
    assert solution is None or solution.upper[0] == INF


@pytest.mark.parametrize("solver", REGISTERED, ids=lambda solver: type(solver).__name__)
def test_nothing_false_is_said_where_no_end_bounds_the_value(solver):
    huge = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[6e307])
    objective = gamedp.Discounted(0.9)  # so it is worth 6e308
    if not solver.supports(gamedp.Problem(huge, objective)):
        return
    with pytest.raises((gamedp.InvalidModelError, gamedp.NotSolvedError)) as caught:
        gamedp.solve(huge, objective, solver)
    solution = getattr(caught.value, "solution", None)
    assert solution is None or (solution.lower[0] < INF == solution.upper[0])


# Probabilities that do not quite sum to one ------------------------------------------------------


class Place(NamedTuple):
    """Where one stands."""

    at: int


@attrs.frozen
class Wait:
    """Wait long for one of two ends that are equally likely, with probabilities that are off."""

    off: float = 5e-10

    def initial_state(self):
        """Return the middle."""
        return Place(1)

    def is_terminal(self, state):
        """Say whether this is an end."""
        return state.at != 1

    def actions(self, state):
        """Return the one action."""
        return range(1)

    def outcomes(self, state, action):
        """Yield staying, and both ends."""
        yield 0.9999, state
        yield 0.00005 - self.off / 2, Place(0)
        yield 0.00005 - self.off / 2, Place(2)

    def payoff(self, state, player):
        """Return 1 at the upper end."""
        return 1.0 if state.at == 2 else 0.0


def waiting(off):
    """Return the model of that game, made of arrays."""
    probabilities = [0.9999, 0.00005 - off / 2, 0.00005 - off / 2]
    return gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 3], [0, 1, 2], probabilities, terminals=[1, 2], payoffs=[1.0, 0.0]
    )


@pytest.mark.parametrize("off", [5e-10, -9e-10, 1e-13])
@pytest.mark.parametrize("objective", [gamedp.TotalReward(), gamedp.Reachability([1])])
def test_probabilities_that_are_off_are_scaled(off, objective):
    made = waiting(off)
    solution = gamedp.solve(made, objective)
    low, high = solution.bounds(0)
    assert low <= Fraction(1, 2) <= high
    assert low <= exact_values(made, objective)[0] <= high
    assert abs(sum(map(Fraction, made.probabilities.tolist())) - 1) < Fraction(1, 2**51)
    assert gamedp.verify(made, gamedp.certify(solution)).width < 1e-6


def test_rules_are_scaled_in_both_tiers():
    compiled, plain = (gamedp.compile(Wait(), compile=each) for each in ("always", "never"))
    assert compiled.digest() == plain.digest()
    low, high = gamedp.solve(compiled).bounds()
    assert low <= 0.5 <= high


def test_probabilities_that_are_off_by_rounding_stay_as_they_are():
    tenths = gamedp.Model.from_arrays(
        [0, 1] + [1] * 10, [0, 10], range(1, 11), [0.1] * 10, terminals=range(1, 11)
    )
    assert set(tenths.probabilities.tolist()) == {0.1}


def test_a_random_start_is_scaled_too():
    started = sound_model(initial=[(0.5 - 4e-10, 2), (0.5, 3)])
    assert abs(sum(started.initial_probabilities) - 1) < 1e-15


@pytest.mark.parametrize("kind", [Fraction, float])
def test_bounds_at_a_random_start_are_rounded_outward(kind):
    # A tenth, a fifth and seven tenths of numbers that are known exactly: no mean is a double.
    numbers, tenths = [1.0, 0.1, 1e-17], [Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)]
    started = gamedp.Model.from_arrays(
        [0, 0, 0, 0],
        [0],
        np.empty(0, np.int64),
        np.empty(0),
        terminals=[0, 1, 2],
        payoffs=numbers,
        initial=[(kind(tenth), state) for state, tenth in enumerate(tenths)],
    )
    low, high = gamedp.solve(started).bounds()
    mean = sum(tenth * Fraction(x) for tenth, x in zip(tenths, numbers, strict=True))
    assert low < mean < high
    if kind is Fraction:
        assert high == math.nextafter(low, INF)
    assert high - low < 1e-15


@pytest.mark.parametrize(
    "limits",
    [{"max_states": 10}, {"max_bytes": 1e6}, {"compile": "never"}],
    ids=lambda limits: next(iter(limits)),
)
def test_limits_of_exploration_are_none_of_solving_a_model(limits):
    name = next(iter(limits))
    with pytest.raises(
        gamedp.errors.InvalidParameterError, match=f"{name} is for exploring a game"
    ):
        gamedp.solve(sound_model(), gamedp.Reachability([2]), **limits)


@pytest.mark.parametrize("seconds", [0, -1.0, math.nan, "1", None])
def test_limits_of_time_are_positive(seconds):
    with pytest.raises(gamedp.errors.InvalidParameterError, match="max_seconds"):
        gamedp.solve(sound_model(), gamedp.Reachability([2]), max_seconds=seconds)


class Long(NamedTuple):
    place: int
    cells: tuple


@attrs.frozen
class LongStates:
    """Go from place 0 to 1 and back, or stop and lose; the words for a state fill pages."""

    num_players = 2

    def initial_state(self):
        return Long(0, tuple(range(1000)))

    def is_terminal(self, state):
        return state.place >= 2

    def player(self, state):
        return state.place

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        return [(1.0, state._replace(place=1 - state.place if action == 0 else 2 + state.place))]

    def payoff(self, state, player):
        return -1.0 if state.place == 2 + player else 1.0


@attrs.frozen
class WrongHeuristic(LongStates):
    def heuristic(self, state, player):
        return math.nan


def _long():
    return gamedp.compile(LongStates(), compile="never")


def _play_wrongly():
    return gamedp.play.play_game(LongStates(), [lambda state, rng: 7] * 2, compile="never")


def _verify_wrongly():
    solution = gamedp.solve(_long())
    wrong = attrs.evolve(gamedp.certify(solution), lower=np.full(4, 0.5), upper=np.full(4, 0.5))
    return gamedp.verify(_long(), wrong)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: gamedp.solve(_long()).value(Long(4, tuple(range(1000)))), LookupError, "no"),
        (lambda: gamedp.solve(_long()).action_values(Long(2, (1,) * 1000)), LookupError, "no"),
        (
            lambda: gamedp.solve(_long(), solver=gamedp.solvers.BackwardInduction()),
            ValueError,
            "acyclic",
        ),
        (lambda: gamedp.Reachability(10**2000), ValueError, "not a set"),
        (
            lambda: gamedp.solve(_long(), gamedp.Reachability(lambda state: None)),
            ValueError,
            "returns None",
        ),
        (
            lambda: gamedp.searchers.AlphaBeta(depth=2).search(WrongHeuristic(), compile="never"),
            ValueError,
            "must be one finite number",
        ),
        (
            lambda: (
                gamedp.searchers.AlphaBeta(depth=2)
                .search(LongStates(), compile="never")
                .action_value(Long(7, (0,) * 1000))
            ),
            LookupError,
            "is not an action in",
        ),
        (_play_wrongly, ValueError, "the actions are"),
        (_verify_wrongly, ValueError, "is wrong: the value there"),
    ],
    ids=range(9),
)
def test_messages_show_long_states_in_short(ask, error, words):
    with pytest.raises(error, match=words) as raised:
        ask()
    assert len(str(raised.value)) < 1000


@attrs.frozen
class LongEverything(WrongHeuristic):
    """Its own parameters, its answers and its successors fill pages, too, and are wrong."""

    table: tuple = tuple(range(1000))

    def actions(self, state):
        return (0, 1, 2**40)

    def payoff(self, state, player):
        return tuple(range(1000))


def test_the_kit_shows_what_is_wrong_in_short():
    with pytest.raises(ConformanceError) as raised:
        check_game(LongEverything())
    lines = str(raised.value).splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) < 700
    with pytest.raises(gamedp.errors.InvalidParameterError) as raised:
        Wubbel(goal="1" * 10_000)
    assert len(str(raised.value)) < 500


@attrs.frozen
class Nested:
    """A game of one step from a state of tuples within tuples."""

    depth: int

    def initial_state(self):
        state = 1
        for _ in range(self.depth):
            state = (state,)
        return state

    def is_terminal(self, state):
        return state == (0,)

    def actions(self, state):
        return [0]

    def outcomes(self, state, action):
        return [(1.0, (0,))]

    def payoff(self, state, player):
        return 1.0


@pytest.mark.parametrize("depth", [40, 60, 500, 5_000])
def test_a_state_that_is_nested_too_deeply_is_refused(depth, tmp_path):
    game = Nested(depth)
    anyone = gamedp.play.RandomPlayer(game)
    uses = [
        lambda: gamedp.solve(game, compile="never"),
        lambda: gamedp.search(game, compile="never"),
        lambda: gamedp.simulate(game, anyone, games=2, compile="never"),
    ]
    for use in uses:
        if depth <= 50:
            use()
        else:
            with pytest.raises(gamedp.InvalidModelError, match="nested more than 50 deep"):
                use()
    record = gamedp.play.play_game(game, [anyone], compile="never")
    with contextlib.suppress(gamedp.UnsupportedProblemError):
        gamedp.play.save_games(tmp_path / "games.jsonl", game, [record])


ODD_NUMBERS = [None, "5", "", [], np.zeros(3), np.array("a"), 1j, int, float("nan"), -1]


@pytest.mark.parametrize("option", ["max_states", "max_seconds", "max_bytes"])
@pytest.mark.parametrize("number", ODD_NUMBERS, ids=repr)
def test_limits_that_are_no_numbers_are_refused(option, number):
    if option == "max_bytes" and number is None:
        return  # stands for what the machine has
    with pytest.raises(InvalidParameterError, match=f"{option} is "):
        gamedp.compile(LongStates(), compile="never", **{option: number})


@pytest.mark.parametrize(
    "word", [None, np.zeros(3), np.array(["max", "min"]), [], 3, "most"], ids=repr
)
def test_words_that_are_none_are_refused(word):
    with pytest.raises(InvalidParameterError, match="optimum is "):
        gamedp.TotalReward(word)
    with pytest.raises(InvalidParameterError, match="compile is "):
        gamedp.compile(LongStates(), compile=word)
    for ask in (gamedp.compile, gamedp.solve):
        with pytest.raises(InvalidParameterError, match="states is "):
            ask(LongStates(), states=word)
    with pytest.raises(InvalidParameterError, match="sweep is "):
        gamedp.solvers.ValueIteration(sweep=word)
    if word is not None:
        with pytest.raises(InvalidParameterError, match="there is no format"):
            gamedp.read_model("a.umb", format=word)


@pytest.mark.parametrize("option", ["games", "threads", "max_plies"])
@pytest.mark.parametrize("number", [0, 2**62, 2**70, "5", None, 1.0, True])
def test_counts_that_cannot_be_are_refused(option, number):
    model = gamedp.compile(LongStates(), compile="never")
    with pytest.raises(InvalidParameterError, match=f"{option} is "):
        gamedp.simulate(model, gamedp.Policy.uniform(model), **{option: number})


@pytest.mark.parametrize("number", [None, "", np.zeros(3), -1.0, float("inf")], ids=repr)
def test_an_interval_that_cannot_be_is_refused(number):
    with pytest.raises(InvalidParameterError, match="confidence is "):
        check_stopping(1.0, number)
    with pytest.raises(InvalidParameterError, match="width is "):
        check_stopping(number, 0.5)
