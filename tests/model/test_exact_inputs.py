"""Numbers that no double holds, however they come in: bounds and exact values against fractions.

Random models in rational numbers, of wildly different sizes and with signs that cancel, are given
as arrays, as rules, as matrices and as files, solved, and compared with an oracle that enumerates
policies in fractions and shares nothing with the library.
"""

import decimal
import itertools
import random
from fractions import Fraction
from typing import NamedTuple

import attrs
import numpy as np
import pytest

import gamedp

EXACT = gamedp.solvers.ExactPolicyIteration()
SWEEPS = gamedp.solvers.ValueIteration(max_sweeps=20_000)  # what takes more never ends
HORIZON, DISCOUNT = 3, Fraction(1, 2)

OBJECTIVES = {
    "total": gamedp.TotalReward,
    "discounted": lambda optimum: gamedp.Discounted(float(DISCOUNT), optimum),
    "horizon": lambda optimum: gamedp.FiniteHorizon(HORIZON, optimum),
}


# Random models, and their values ------------------------------------------------------------------


@attrs.frozen
class Choice:
    """The outcomes of an action by state, and what it earns in each."""

    outcomes: dict
    earned: dict

    @property
    def mean(self):
        """What it earns on average."""
        return sum(self.outcomes[state] * self.earned[state] for state in self.outcomes)


@attrs.frozen
class Table:
    """A model: the choices of each state, payoffs in the last ones, who moves, and the start."""

    choices: list
    payoffs: list
    players: list
    start: list

    @property
    def num_states(self):
        """How many states there are."""
        return len(self.choices) + len(self.payoffs)


def a_number(draw):
    """Return a rational number of any size and sign."""
    size = Fraction(10) ** draw.randint(-9, 15)
    return draw.choice([-1, 1]) * Fraction(draw.randint(0, 50), draw.randint(1, 30)) * size


def shares(draw, count):
    """Return so many probabilities."""
    weights = [draw.choice([1, 1, 3, 10**6]) * draw.randint(1, 20) for _ in range(count)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def cancelling(draw, weights):
    """Return numbers whose mean is nothing, or little beside them."""
    numbers = [a_number(draw) for _ in weights]
    rest = sum(w * x for w, x in zip(weights[1:], numbers[1:], strict=True))
    if draw.random() < 0.6:
        numbers[0] = draw.choice([0, Fraction(1, 7)]) - rest / weights[0]
    return numbers


def a_table(draw, *, of_transitions=True):
    """Return a random model in which play surely ends; what is earned may depend on what comes."""
    inner, ends = draw.randint(1, 3), draw.randint(1, 2)
    players = [draw.randint(0, draw.randint(0, 1)) for _ in range(inner)] + [0] * ends
    choices = []
    for _ in range(inner):
        found = []
        for _ in range(draw.randint(1, 2)):
            to = {draw.randrange(inner, inner + ends)} | {
                draw.randrange(inner + ends) for _ in range(draw.randint(0, 2))
            }
            weights = shares(draw, len(to))
            numbers = cancelling(draw, weights)
            if not of_transitions:
                numbers = [numbers[0]] * len(to)
            to = sorted(to)
            found.append(
                Choice(dict(zip(to, weights, strict=True)), dict(zip(to, numbers, strict=True)))
            )
        choices.append(found)
    payoffs = [a_number(draw) for _ in range(ends)]
    starts = draw.sample(range(inner + ends), draw.randint(1, min(3, inner + ends)))
    start = list(zip(shares(draw, len(starts)), starts, strict=True))
    return Table(choices, payoffs, players, start)


def solved_in_fractions(matrix, column):
    """Return the solution of a linear system."""
    rows = [[*row, number] for row, number in zip(matrix, column, strict=True)]
    for pivot in range(len(rows)):
        best = next(place for place in range(pivot, len(rows)) if rows[place][pivot])
        rows[pivot], rows[best] = rows[best], rows[pivot]
        rows[pivot] = [number / rows[pivot][pivot] for number in rows[pivot]]
        for place, row in enumerate(rows):
            if place != pivot and row[pivot]:
                rows[place] = [a - row[pivot] * b for a, b in zip(row, rows[pivot], strict=True)]
    return [row[-1] for row in rows]


def of_policy(table, policy, discount):
    """Return the values of all states if a choice is taken in each."""
    inner = len(table.choices)
    taken = [table.choices[state][policy[state]] for state in range(inner)]
    matrix = [
        [(state == other) - discount * choice.outcomes.get(other, 0) for other in range(inner)]
        for state, choice in enumerate(taken)
    ]
    paid = [
        sum(choice.outcomes.get(inner + end, 0) * pay for end, pay in enumerate(table.payoffs))
        for choice in taken
    ]
    column = [choice.mean + discount * pay for choice, pay in zip(taken, paid, strict=True)]
    return [*solved_in_fractions(matrix, column), *table.payoffs]


def truth(table, kind, optimum):
    """Return the value of each state, by looking at all policies of both players."""
    best, worst = (max, min) if optimum == "max" else (min, max)
    if kind == "horizon":
        values = [Fraction(0)] * len(table.choices) + table.payoffs
        for _ in range(HORIZON):
            values = [
                (worst if player else best)(
                    choice.mean + sum(p * values[to] for to, p in choice.outcomes.items())
                    for choice in choices
                )
                for choices, player in zip(table.choices, table.players, strict=False)
            ] + table.payoffs
        return values
    discount = DISCOUNT if kind == "discounted" else Fraction(1)
    mine, others = (
        list(
            itertools.product(
                *(
                    range(len(choices)) if mover == player else [None]
                    for choices, mover in zip(table.choices, table.players, strict=False)
                )
            )
        )
        for player in (0, 1)
    )
    worst_of_each = []
    for own in mine:
        both = [
            [b if a is None else a for a, b in zip(own, other, strict=True)] for other in others
        ]
        answers = [of_policy(table, policy, discount) for policy in both]
        worst_of_each.append([worst(numbers) for numbers in zip(*answers, strict=True)])
    return [best(numbers) for numbers in zip(*worst_of_each, strict=True)]


# Ways in ------------------------------------------------------------------------------------------


def arrays_of(table):
    """Return what Model.from_arrays takes, in fractions."""
    rows = [choice for choices in table.choices for choice in choices]
    inner = len(table.choices)
    return {
        "choice_offsets": np.cumsum([0, *map(len, table.choices), *[0] * len(table.payoffs)]),
        "transition_offsets": np.cumsum([0, *(len(choice.outcomes) for choice in rows)]),
        "successors": [to for choice in rows for to in choice.outcomes],
        "probabilities": [p for choice in rows for p in choice.outcomes.values()],
        "rewards": [choice.mean for choice in rows],
        "players": table.players,
        "terminals": range(inner, table.num_states),
        "payoffs": table.payoffs,
        "initial": table.start,
        "num_players": 2,
    }


def as_arrays(table, _folder):
    """Give arrays of fractions, and decimals where there are any."""
    arrays = arrays_of(table)
    with decimal.localcontext(prec=400, traps=[decimal.Inexact]):
        for name in ("rewards", "payoffs"):
            arrays[name] = [
                decimal.Decimal(number.numerator) / number.denominator
                if number.denominator in {1, 2, 5, 10, 100}
                else number
                for number in arrays[name]
            ]
    return gamedp.Model.from_arrays(**arrays)


class Place(NamedTuple):
    """A state of rules made from a table."""

    number: int


@attrs.frozen(eq=False)
class TableGame:
    """The rules that a table is."""

    table: Table
    num_players = 2

    def initial_state(self):
        """Return where play begins."""
        return [(share, Place(state)) for share, state in self.table.start]

    def is_terminal(self, state):
        """Return whether it has a payoff."""
        return state.number >= len(self.table.choices)

    def player(self, state):
        """Return who moves."""
        return self.table.players[state.number]

    def actions(self, state):
        """Return the numbers of the choices."""
        return range(len(self.table.choices[state.number]))

    def outcomes(self, state, action):
        """Yield the outcomes."""
        choice = self.table.choices[state.number][action]
        for number, probability in choice.outcomes.items():
            yield probability, Place(number)

    def reward(self, state, action, player):
        """Return the average of what is earned."""
        mean = self.table.choices[state.number][action].mean
        return mean if player == 0 else -mean

    def payoff(self, state, player):
        """Return the payoff."""
        paid = self.table.payoffs[state.number - len(self.table.choices)]
        return paid if player == 0 else -paid


def as_rules(table, _folder):
    """Give rules that answer in fractions."""
    return gamedp.compile(TableGame(table), compile="never")


def as_saved(table, folder):
    """Save a solution and take the model from there."""
    solution = gamedp.solve(as_arrays(table, folder), solver=EXACT, tolerance=1e300)
    gamedp.save(solution, folder / "saved")
    return gamedp.load(folder / "saved").model


def as_umb(table, folder):
    """Write a file of fractions, and read it."""
    gamedp.write_model(folder / "model.umb", as_arrays(table, folder))
    return gamedp.read_model(folder / "model.umb").model


def closed(table):
    """Return the rows of a chain of ends: each payoff is earned on a step to a last state."""
    last = table.num_states
    paid = [[Choice({last: Fraction(1)}, {last: payoff})] for payoff in table.payoffs]
    return [*table.choices, *paid, [Choice({last: Fraction(1)}, {last: Fraction(0)})]]


def as_drn(table, folder):
    """Write Storm's text, half of each reward beside the state's first choice, and read it."""
    lines = ["@type: MDP", "@reward_models", "gain", "@nr_states", str(table.num_states + 1)]
    lines.append("@model")
    for state, choices in enumerate(closed(table)):
        half = choices[0].mean / 3
        lines.append(f"state {state} [{half}]{' init' if state == table.start[0][1] else ''}")
        for number, choice in enumerate(choices):
            lines.append(f"\taction {number} [{choice.mean - half}]")
            lines += [f"\t\t{to} : {share}" for to, share in choice.outcomes.items()]
    (folder / "model.drn").write_text("\n".join(lines))
    return gamedp.read_model(folder / "model.drn").model


def as_tra(table, folder):
    """Write PRISM's files, rewards of states and of transitions among them, and read them."""
    rows = [
        (state, number, to, share, choice.earned[to] - Fraction(state, 7))
        for state, choices in enumerate(closed(table))
        for number, choice in enumerate(choices)
        for to, share in choice.outcomes.items()
    ]
    states, choices = table.num_states + 1, len({row[:2] for row in rows})
    begin, end = [f"{states} {choices} {len(rows)}"], [f"{states} {states}"]
    (folder / "model.tra").write_text(
        "\n".join(begin + [f"{s} {c} {to} {share}" for s, c, to, share, _ in rows])
    )
    (folder / "model.trew").write_text(
        "\n".join(begin + [f"{s} {c} {to} {earned}" for s, c, to, _, earned in rows])
    )
    (folder / "model.srew").write_text(
        "\n".join(end + [f"{state} {Fraction(state, 7)}" for state in range(states)])
    )
    (folder / "model.lab").write_text(f'0="init"\n{table.start[0][1]}: 0')
    return gamedp.read_model(folder / "model.tra").model


def as_written_again(reader, ending):
    """Return a way in that writes what another has read, and reads it."""

    def way(table, folder):
        model = reader(table, folder)
        gamedp.write_model(folder / f"again{ending}", model)
        return gamedp.read_model(folder / f"again{ending}").model

    return way


WAYS = {
    "arrays": as_arrays,
    "rules": as_rules,
    "saved": as_saved,
    "umb": as_umb,
    "drn": as_drn,
    "tra": as_tra,
    "drn again": as_written_again(as_drn, ".drn"),
    "tra again": as_written_again(as_tra, ".tra"),
    "tra as umb": as_written_again(as_tra, ".umb"),
}
ONE_PLAYER = {name for name in WAYS if name.startswith(("drn", "tra"))}
UNIFORM_START = ONE_PLAYER | {"umb"}
"""Ways in that know but one initial state, or several that are as likely."""


def prepared(table, way):
    """Return a table as a format can say it."""
    if way in ONE_PLAYER:
        table = attrs.evolve(table, players=[0] * len(table.players))
    if way in UNIFORM_START:
        table = attrs.evolve(table, start=[(Fraction(1), table.start[0][1])])
    return table


# The tests ----------------------------------------------------------------------------------------


def solution_of(model, objective, solver=None):
    """Return a solution, however wide its bounds; None if it is refused."""
    try:
        return gamedp.solve(model, objective, solver, tolerance=1e-6)
    except gamedp.NotSolvedError as error:
        return error.solution
    except gamedp.UnsupportedProblemError:
        return None


def places(model, values):
    """Yield the states of a model, of rules those that are reached, with their values."""
    if model.states is None:
        yield from enumerate(values)
        return
    for index in range(model.num_states):
        state = model.state(index)
        yield state, values[state.number]


def holds(solution, values, start):
    """Assert that bounds contain the values of all states, and of the start."""
    for place, value in places(solution.model, values):
        low, high = solution.bounds(place)
        assert low <= value <= high
    low, high = solution.bounds()
    assert low <= start <= high


def check(seed, folder):
    """Compare a random model with the oracle by one of the ways in."""
    draw = random.Random(seed)  # noqa: S311 - a test
    way = draw.choice(list(WAYS))
    table = prepared(a_table(draw), way)
    optimum = draw.choice(["max", "min"])
    # Payoffs are earned one step later in files.
    kind = "total" if way in UNIFORM_START else draw.choice(list(OBJECTIVES))
    values = truth(table, kind, optimum)
    start = sum(share * values[state] for share, state in table.start)
    model, objective = WAYS[way](table, folder), OBJECTIVES[kind](optimum)
    exact = solution_of(model, objective, EXACT)
    assert all(exact.exact_value(place) == value for place, value in places(model, values))
    assert exact.exact_value() == start
    holds(exact, values, start)
    for solver in (None, SWEEPS, gamedp.solvers.BackwardInduction()):
        solution = solution_of(model, objective, solver)
        if solution is not None:
            holds(solution, values, start)


@pytest.mark.parametrize("seed", range(20))
def test_what_comes_in_exactly_is_solved_exactly(seed, tmp_path):
    check(seed, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [*range(20, 60), *range(1000, 1150)])
def test_more_that_comes_in_exactly_is_solved_exactly(seed, tmp_path):
    check(seed, tmp_path)


# Doubles stand for what was meant, to two units in the last place ---------------------------------


def as_doubles(table):
    """Give arrays with the doubles nearest to probabilities."""
    arrays = arrays_of(table)
    arrays["probabilities"] = list(map(float, arrays["probabilities"]))
    arrays["initial"] = [(float(share), state) for share, state in table.start]
    return gamedp.Model.from_arrays(**arrays)


def as_matrices(table):
    """Give matrices of doubles, and the rewards of transitions."""
    matrices = np.zeros((2, table.num_states, table.num_states))
    earned = np.zeros(matrices.shape, object)
    for state, choices in enumerate(table.choices):
        for number, choice in enumerate(choices):
            for to, share in choice.outcomes.items():
                matrices[number, state, to] = share
                earned[number, state, to] = choice.earned[to]
    keywords = {key: arrays_of(table)[key] for key in ("players", "terminals", "payoffs")}
    initial = [(float(share), state) for share, state in table.start]
    return gamedp.Model.from_scipy(
        matrices, transition_rewards=earned, initial=initial, num_players=2, **keywords
    )


def check_doubles(seed):
    """Compare a random model with the oracle whose probabilities were rounded on the way in."""
    draw = random.Random(seed)  # noqa: S311 - a test
    table, optimum = a_table(draw), draw.choice(["max", "min"])
    kind = draw.choice(list(OBJECTIVES))
    values = truth(table, kind, optimum)
    start = sum(share * values[state] for share, state in table.start)
    model = draw.choice([as_matrices, as_doubles])(table)
    for solver in (None, SWEEPS, gamedp.solvers.BackwardInduction()):
        solution = solution_of(model, OBJECTIVES[kind](optimum), solver)
        if solution is not None and solution.exact is None:
            holds(solution, values, start)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_contain_what_rounded_probabilities_were_meant_to_say(seed):
    check_doubles(seed)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [*range(20, 40), *range(1000, 1150)])
def test_more_bounds_contain_what_rounded_probabilities_were_meant_to_say(seed):
    check_doubles(seed)


# One by one ---------------------------------------------------------------------------------------

SURE = {
    "choice_offsets": [0, 0, 0], "transition_offsets": [0], "successors": [], "probabilities": [],
}  # fmt: skip
"""Two states that pay, and nothing to choose."""


@pytest.mark.parametrize("kind", [Fraction, float])
def test_a_start_by_chance_with_payoffs_that_cancel(kind):
    start = [(kind(Fraction(1, 49)), 0), (kind(Fraction(48, 49)), 1)]
    model = gamedp.Model.from_arrays(**SURE, payoffs=[48e12, -1e12], initial=start)
    solution = gamedp.solve(model)
    low, high = solution.bounds()
    assert low <= 0 <= high
    assert (low == 0 == high) == (kind is Fraction)
    assert (gamedp.solve(model, solver=EXACT).exact_value() == 0) == (kind is Fraction)


@attrs.frozen
class ByLot:
    """Rules that pay by the lot that is drawn at the start."""

    lots: tuple = ((Fraction(1, 49), 48 * 10**12), (Fraction(48, 49), -(10**12)))

    def initial_state(self):
        """Return the lots."""
        return [(share, Place(number)) for number, (share, _) in enumerate(self.lots)]

    def is_terminal(self, state):
        """Return that all is over."""
        return True

    def actions(self, state):
        """Return nothing."""
        return ()

    def outcomes(self, state, action):
        """Return nothing."""
        return ()

    def payoff(self, state, player):
        """Return what the lot pays."""
        return self.lots[state.number][1]


@pytest.mark.parametrize("mode", ["never", "auto"])
def test_rules_that_start_by_chance(mode, tmp_path):
    model = gamedp.compile(ByLot(), compile=mode)
    assert gamedp.solve(model).bounds() == (0, 0)
    exact = gamedp.solve(model, solver=EXACT)
    assert exact.exact_value() == 0
    gamedp.save(exact, tmp_path / "saved")
    again = gamedp.load(tmp_path / "saved", game=ByLot())
    assert again.exact_value() == 0
    assert again.bounds() == (0, 0)
    low, high = gamedp.solve(ByLot(((1 / 49, 48e12), (48 / 49, -1e12)))).bounds()
    assert low < 0 < high


def test_rewards_of_transitions_that_cancel():
    bet = {"transition_rewards": [[[8e15, -3e15], [0, 0]]], "payoffs": [0]}
    model = gamedp.Model.from_scipy([[[0, 1], [0, 0]]], **bet)
    assert model.rounding == (0, 0, 0)
    ends = {"players": [0, 0, 0], "payoffs": [0, 0]}
    rewards = np.array([[[0, 8e15, -3e15], [0, 0, 0], [0, 0, 0]]])
    model = gamedp.Model.from_scipy(
        [[[0, 3 / 11, 8 / 11], [0, 0, 0], [0, 0, 0]]], transition_rewards=rewards, **ends
    )
    low, high = gamedp.solve(model, tolerance=100).bounds(0)
    assert low <= 0 <= high
    assert high - low < 50


NUMBERS = {
    "fraction": (Fraction(1, 3), Fraction(1, 3)),
    "decimal": (decimal.Decimal("0.1"), Fraction(1, 10)),
    "tiny": (decimal.Decimal("-1e-400"), Fraction(-1, 10**400)),
    "int": (2**53 + 1, 2**53 + 1),
    "numpy int": (np.int64(2**53 + 1), 2**53 + 1),
    "unsigned": (np.uint64(2**64 - 1), 2**64 - 1),
    "long": (1 - 10**30, 1 - 10**30),
    "long double": (1 + np.longdouble(2) ** -60, 1 + Fraction(1, 2**60)),
}


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("others", [[0.5], [Fraction(2, 3)], []], ids=str)
def test_numbers_of_all_kinds_are_kept(kind, others):
    number, exactly = NUMBERS[kind]
    if kind == "long double" and np.finfo(np.longdouble).nmant < 60:
        pytest.skip("a long double is a double here")
    offsets = np.zeros(2 + len(others), np.int64)
    model = gamedp.Model.from_arrays(offsets, [0], [], [], payoffs=[number, *others])
    for state, payoff in enumerate([exactly, *others]):
        assert gamedp.solve(model, solver=EXACT).exact_value(state) == payoff
        low, high = gamedp.solve(model, tolerance=1e20).bounds(state)
        assert low <= payoff <= high


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"constant_sum": Fraction(1, 3)}, "constant_sum is Fraction"),
        ({"constant_sum": decimal.Decimal("0.1")}, "constant_sum is Decimal"),
        ({"num_players": 3, "payoffs": [[Fraction(1, 3), 0, 0]]}, r"payoffs\[0\] is Fraction"),
        (
            {"num_players": 3, "payoffs": [[0, 0, 0]], "rewards": [[0, 2**53 + 1, 0]]},
            r"for player 1",
        ),
        ({"probabilities": [1, Fraction(1, 10**400)]}, "too few digits"),
        ({"initial": [(1, 0), (Fraction(1, 10**400), 1)]}, "too few digits"),
        ({"rewards": [decimal.Decimal("1e400")]}, "must be finite|real numbers"),
        ({"rewards": [decimal.Decimal("1e999999999")]}, "real numbers"),
        ({"rewards": [decimal.Decimal("1e-999999999")]}, "real numbers"),
        ({"rewards": [Fraction(10**400)]}, "real numbers"),
        ({"rewards": [decimal.Decimal("nan")]}, "must be finite"),
    ],
    ids=str,
)
def test_what_no_double_can_stand_for_is_refused(changes, words):
    arrays = {
        "choice_offsets": [0, 1, 1], "transition_offsets": [0, 2], "successors": [0, 1],
        "probabilities": [0.5, 0.5], "terminals": [1], "payoffs": [0], "num_players": 2,
    }  # fmt: skip
    with pytest.raises(gamedp.InvalidModelError, match=words):
        gamedp.Model.from_arrays(**(arrays | changes))


@pytest.mark.parametrize("discount", [Fraction(9, 10), decimal.Decimal("0.9")], ids=str)
def test_a_discount_that_no_double_is_equal_to_is_refused(discount):
    with pytest.raises(gamedp.errors.InvalidParameterError, match="no 64-bit float"):
        gamedp.Discounted(discount)
    assert gamedp.Discounted(Fraction(1, 2)).discount == 0.5


@pytest.mark.parametrize("number", ["1e400", "1e-999999999", "1e999999999", "nan"])
@pytest.mark.parametrize("mode", ["never", "auto"])
def test_rules_that_pay_what_is_beyond_all_numbers_are_refused(number, mode):
    with pytest.raises(gamedp.InvalidModelError, match=r"payoff\(.* must be one finite number"):
        gamedp.compile(ByLot(((1, decimal.Decimal(number)),)), compile=mode)


def test_fractions_that_belong_to_other_numbers_are_refused():
    model = gamedp.Model.from_arrays(**SURE, payoffs=[Fraction(1, 3), 0])
    assert model.fractions["payoffs"][0] == Fraction(1, 3)
    assert not model.fractions["payoffs"].flags.writeable
    with pytest.raises(gamedp.InvalidModelError, match="fractions"):
        attrs.evolve(model, payoffs=np.array([0.5, 0.0]))
    other = gamedp.Model.from_arrays(**SURE, payoffs=[1 / 3, 0])
    assert other.digest() != model.digest()
    assert attrs.evolve(model, fractions={}).digest() == other.digest()


@pytest.mark.parametrize("objective", [gamedp.TotalReward("min"), gamedp.Discounted(0.9)], ids=str)
def test_rules_that_give_decimals(objective):
    lots = ((decimal.Decimal("0.1"), decimal.Decimal("0.3")), (decimal.Decimal("0.9"), 1))
    solution = gamedp.solve(ByLot(lots), objective, compile="never")
    low, high = solution.bounds()
    assert low <= Fraction(93, 100) <= high
    assert low < high
    exact = gamedp.solve(ByLot(lots), objective, EXACT, compile="never")
    assert exact.exact_value() == Fraction(93, 100)


def test_rational_numbers_prove_nothing_of_probabilities_that_are_rounded():
    """A tenth of 9e16 and nine tenths of -1e16 are 0; what the doubles make of it is .28."""
    tenths = np.array([[0.0, 0.1, 0.9], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    earned = np.zeros((3, 3))
    earned[0] = 0.0, 9e16, -1e16
    model = gamedp.Model.from_scipy([tenths], transition_rewards=[earned])
    with pytest.raises(gamedp.NotSolvedError) as caught:
        gamedp.solve(model, gamedp.Discounted(0.5))
    low, high = caught.value.solution.bounds(0)
    assert low <= 0 <= high
