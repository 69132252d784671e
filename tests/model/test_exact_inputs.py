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
    for solver in (None, gamedp.solvers.ValueIteration(), gamedp.solvers.BackwardInduction()):
        solution = solution_of(model, objective, solver)
        if solution is not None:
            holds(solution, values, start)


@pytest.mark.parametrize("seed", range(60))
def test_what_comes_in_exactly_is_solved_exactly(seed, tmp_path):
    check(seed, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_more_that_comes_in_exactly_is_solved_exactly(seed, tmp_path):
    check(seed, tmp_path)
