"""The rules by which bounds are accepted, of one or two players."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import attrs
import numpy as np

from gamedp.certificates.checking.choice_values import (
    Rows,
    choice_values,
    exact_choice_value,
    exactly_keeps,
    slices,
)
from gamedp.certificates.checking.directions import (
    ARRAYS,
    NEVER,
    Direction,
    Ending,
    check_draw,
    known_values,
    oriented,
    refusal,
    words_of,
)
from gamedp.certificates.checking.first_look import look
from gamedp.certificates.checking.rule_set import MOST_SHIFT, Counts
from gamedp.errors import CertificateError, shown
from gamedp.model.model import Model, check_finite, describe_choice
from gamedp.model.objectives import FiniteHorizon, Objective, resolved

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.certificates.certificate import Certificate
    from gamedp.runtime.arrays import Flags, Floats
    from gamedp.runtime.limit import Reporter

    Integers = NDArray[np.int64]


class BoundsRules:
    """Bounds of the values of one or two players, each checked as a lower one.

    Every finite bound keeps an inequality by an action that does what its rank demands. The page on
    certificates in the documentation has the theorems, one for each kind of objective, with their
    proofs.
    """

    name = "bounds"
    model_type: type = Model
    arrays = ARRAYS
    most_shift = MOST_SHIFT

    def sizes(self, model: Model) -> dict[str, int]:
        """Return the number of states."""
        return {"S": model.num_states}

    def accepts(self, model: Model, objective: Objective) -> str:
        """Return why there are no certificates for such a problem; ``""`` if there are."""
        return refusal(model, objective)

    def claim(self, model: Model, objective: Objective) -> str:
        """Return the claim in words."""
        return words_of(model, objective)

    def check(self, model: Model, certificate: Certificate, reporter: Reporter) -> Counts:
        """Raise CertificateError unless everything holds."""
        check_finite(model)
        objective = resolved(certificate.objective, model)
        check_draw(model, objective)
        in_rationals = 0
        with np.errstate(all="ignore"):  # what overflows is decided in rational numbers
            if isinstance(objective, FiniteHorizon):
                found = recompute(model, certificate, objective, reporter)
                _check_steps(model, certificate, found)
            else:
                directions = [oriented(model, certificate, objective, sign) for sign in (1.0, -1.0)]
                in_rationals = _check_directions(model, directions, reporter)
        return Counts(model.num_states, model.num_choices, in_rationals)


def _check_directions(model: Model, directions: list[Direction], reporter: Reporter) -> int:
    """Check both bounds of every state; return how many inequalities were decided in rationals."""
    for direction in directions:
        check_ends(model, direction)
        _check_infinite(model, direction)
    taken = 0
    for direction, left in zip(directions, look(model, directions), strict=True):
        for rows in slices(model, left):
            reporter.report(int(rows.movers[0]), model.num_states, f"{direction.name} bounds")
            taken += _check_rows(model, direction, rows)
    return taken


def check_ends(model: Model, direction: Direction) -> None:
    """Check the bound in states where the value is known."""
    wrong = direction.ends & ~(direction.top <= direction.values)
    if wrong.any():
        state = int(wrong.argmax())
        message = (
            f"{_claim(model, direction, state)} is wrong: the value there is "
            f"{direction.sign * float(direction.values[state])!r}."
        )
        raise CertificateError(message)


def _check_infinite(model: Model, direction: Direction) -> None:
    """Refuse an infinite value where it is impossible, or there are no rules for it."""
    may_be = direction.until if direction.ending is Ending.FREE else not direction.never_earns
    infinite = direction.required & (direction.bound == np.inf)
    if infinite.any() and not may_be:
        state = int(infinite.argmax())
        message = (
            f"{_claim(model, direction, state)} is not certified: no rule proves that it is "
            "infinite on that side."
        )
        raise CertificateError(message)


def _check_rows(model: Model, direction: Direction, rows: Rows) -> int:
    """Check the states of some choices; return the number of inequalities decided in rationals."""
    holds, fails = compare(model, direction, rows)
    if direction.escapes is not None:
        _check_escapes(model, direction, rows, direction.escapes)
    required = direction.required[rows.movers]
    if (_do(direction, rows, holds & _falls(direction, rows)) | ~required).all():
        return 0
    progress = progresses(model, direction, rows)
    undecided = np.flatnonzero(~_do(direction, rows, holds & progress) & required)
    return sum(
        _settle(model, direction, rows, int(place), (holds, fails | ~progress))
        for place in undecided
    )


def _do(direction: Direction, rows: Rows, good: Flags) -> Flags:
    """Return which states have a good choice or, if they are an opponent's, only good ones."""
    if len(rows.movers) == len(rows.choices):
        return good
    helps = direction.maximise[rows.movers]
    if helps.all():
        return np.logical_or.reduceat(good, rows.first_choices)
    every: Flags = np.logical_and.reduceat(good, rows.first_choices)
    if helps.any():
        every |= helps & np.logical_or.reduceat(good, rows.first_choices)
    return every


def compare(model: Model, direction: Direction, rows: Rows) -> tuple[Flags, Flags]:
    """Return for each choice whether it certainly keeps the bound, and certainly does not."""
    holds, fails = np.ones(len(rows.choices), np.bool_), np.zeros(len(rows.choices), np.bool_)
    for inequality in direction.inequalities:
        values = choice_values(model, direction, inequality, rows)
        its_holds, its_fails = values.compare(*inequality.of(rows.state_of))
        holds &= its_holds
        fails |= its_fails
    infinite = direction.bound[rows.state_of] == np.inf  # their ranks say all
    return holds | infinite, fails & ~infinite


def _falls(direction: Direction, rows: Rows) -> Flags:
    """Return which choices certainly satisfy the ranks, as far as that is easy to see.

    The rank of a finite bound falls, or none is needed.
    """
    if direction.ending is Ending.FREE:
        falls = np.ones(len(rows.choices), np.bool_)
    else:
        rank = direction.ranks[0][rows.state_of]
        least = np.minimum.reduceat(rows.follow(*direction.ranks), rows.starts)
        falls = (rank < NEVER) & (rank > least)
    return falls & (direction.bound[rows.state_of] < np.inf)


def progresses(model: Model, direction: Direction, rows: Rows) -> Flags:
    """Return for each choice whether it satisfies the rank of its state."""
    bound = direction.bound[rows.state_of]
    infinite = bound == np.inf
    if direction.ending is Ending.FREE and not infinite.any():
        return np.ones(len(bound), np.bool_)
    reward = np.zeros(len(bound))
    if direction.inequalities[0].rewarded:
        reward = direction.sign * model.rewards[rows.choices]
    earns = reward > 0
    if direction.gains is not None:
        gain_after = np.minimum.reduceat(rows.follow(*direction.gains), rows.starts)
        earns |= (reward == 0) & (direction.gains[0][rows.state_of] > gain_after)
    progress = np.ones(len(bound), np.bool_)
    if direction.ending is not Ending.FREE:
        rank, falls, keeps = _ranks_after(direction.ranks, rows)
        progress = falls
        if direction.ending is Ending.RANKED:
            # A player who stays at a rank earns infinitely often, or loses nothing by endless play.
            content = direction.top[rows.state_of] <= direction.draw
            goes_on = _drifts(model, direction, rows, earns | ((reward >= 0) & content))
            progress |= keeps & (rank > 0) & goes_on
            progress |= (rank == NEVER) & content & ((reward >= 0) | direction.never_earns)
    if infinite.any():
        _, falls, keeps = _ranks_after(direction.traps, rows)
        if direction.ending is Ending.FREE:
            endless = falls | keeps
        else:
            # The constant that a change of places adds is finite.
            after = rows.follow(direction.bound, -direction.inequalities[0].other)
            falls &= np.minimum.reduceat(after, rows.starts) > -np.inf
            endless = falls | (keeps & _drifts(model, direction, rows, earns))
        progress = np.where(infinite, endless, progress)
    return progress


def _check_escapes(model: Model, direction: Direction, rows: Rows, escapes: Integers) -> None:
    """Refuse infinite values if a player who earns ever more cannot reach the target after all.

    From wherever they may be by then: so all states need an escape whose bound claims something.
    """
    _, falls, _ = _ranks_after((escapes, escapes), rows)
    falls &= np.minimum.reduceat(direction.bound[rows.successors], rows.starts) > -np.inf
    wrong = direction.required[rows.movers] & ~_do(direction, rows, falls)
    if wrong.any():
        state = int(rows.movers[wrong.argmax()])
        message = (
            f"{_claim(model, direction, state)} is not certified: its escape, "
            f"{_rank(escapes[state])}, does not fall until the target is reached."
        )
        raise CertificateError(message)


def _drifts(model: Model, direction: Direction, rows: Rows, otherwise: Flags) -> Flags:
    """Return for each choice whether its expected reward certainly exceeds the fall of a number.

    Numbers do not fall for ever; so who goes on among states that have one earns ever more. That
    takes that nothing else is done there: `otherwise` is for the choices of other states.
    """
    if direction.drift is None:
        return otherwise
    number = direction.drift.bound[rows.state_of]
    holds, _ = choice_values(model, direction, direction.drift, rows).compare(
        np.nextafter(number, np.inf)
    )
    return np.where(np.isfinite(number), holds, otherwise)


def _ranks_after(ranks: tuple[Integers, Integers], rows: Rows) -> tuple[Integers, Flags, Flags]:
    """Return the rank of each choice's state, whether it can fall, and whether it must stay."""
    rank = ranks[0][rows.state_of]
    after = rows.follow(*ranks)
    least = np.minimum.reduceat(after, rows.starts)
    most = np.maximum.reduceat(after, rows.starts)
    counts = rank < NEVER
    return rank, counts & (rank > least), counts & (rank == least) & (rank == most)


def _settle(
    model: Model, direction: Direction, rows: Rows, place: int, known: tuple[Flags, Flags]
) -> int:
    """Decide one state in rational numbers, or raise; return the number of inequalities."""
    state = int(rows.movers[place])
    holds, fails = known
    taken = 0
    rows_of_choices = enumerate(
        range(*model.choice_offsets[state : state + 2].tolist()), int(rows.first_choices[place])
    )
    for row, choice in rows_of_choices:
        keeps = not fails[row]
        if keeps and not holds[row]:
            taken += 1
            keeps = exactly_keeps(model, direction, choice)
        if keeps == bool(direction.maximise[state]):
            if keeps:
                return taken
            _refuse(model, direction, state, choice)
    if direction.maximise[state]:
        _refuse(model, direction, state, None)
    return taken


def recompute(
    model: Model,
    certificate: Certificate,
    objective: FiniteHorizon,
    reporter: Reporter,
) -> tuple[Floats, Floats]:
    """Return bounds of the totals over the horizon, computed step by step, rounded outward."""
    ends, start = known_values(model, objective)
    low = high = lower = upper = start
    if objective.final is not None and objective.final.dtype == object:  # doubles next to Fractions
        low, high = lower, upper = np.nextafter(start, -np.inf), np.nextafter(start, np.inf)
    for step in range(objective.horizon):
        reporter.report(step, objective.horizon, f"{step:,} steps to go")
        before = lower, upper
        now = attrs.evolve(certificate, lower=lower, upper=upper)
        lower, upper = (
            _step_back(model, oriented(model, now, objective, sign), ~ends, start)
            for sign, start in ((1.0, low), (-1.0, high))
        )
        if all(map(np.array_equal, before, (lower, upper))):
            break  # each further step does the same
    return lower, upper


def _step_back(model: Model, direction: Direction, going_on: Flags, start: Floats) -> Floats:
    """Return a bound with one more step to go, from the one of `direction`."""
    earlier = direction.sign * start
    for rows in slices(model, going_on):
        values = choice_values(model, direction, direction.inequalities[0], rows).lower()
        earlier[rows.movers] = np.where(
            direction.maximise[rows.movers],
            np.maximum.reduceat(values, rows.first_choices),
            np.minimum.reduceat(values, rows.first_choices),
        )
    return direction.sign * earlier


def _check_steps(model: Model, certificate: Certificate, recomputed: tuple[Floats, Floats]) -> None:
    """Raise unless the bounds claim no more than those computed step by step."""
    for sign, name, bound in zip((1, -1), ("lower", "upper"), recomputed, strict=True):
        claimed = certificate.lower if sign > 0 else certificate.upper
        wrong = ~(sign * claimed <= sign * bound)
        if wrong.any():
            state = int(wrong.argmax())
            message = (
                f"{name}[{state}] = {float(claimed[state])!r} of {shown(model.state(state))} is "
                f"not certified: step by step it comes to {float(bound[state])!r}."
            )
            raise CertificateError(message)


# The messages of refusals ------------------------------------------------------------------------


def _claim(model: Model, direction: Direction, state: int) -> str:
    """Return the claim for a state in words."""
    number = direction.sign * float(direction.bound[state])
    return f"{direction.name}[{state}] = {number!r} of state {shown(model.state(state))}"


def _refuse(model: Model, direction: Direction, state: int, choice: int | None) -> NoReturn:
    """Raise for a state with an insufficient choice of an opponent, or without a sufficient one."""
    lead = ""
    if choice is None:
        choice = max(
            range(*model.choice_offsets[state : state + 2].tolist()),
            key=lambda each: exact_choice_value(model, direction, direction.inequalities[0], each),
        )
        lead = "no action keeps it; the best, "
    where = describe_choice(model, choice)
    message = (
        f"{_claim(model, direction, state)} is not certified: {lead}{where}, "
        f"{_reason(model, direction, state, choice)}."
    )
    raise CertificateError(message)


def _reason(model: Model, direction: Direction, state: int, choice: int) -> str:
    """Return the reason for which a choice is insufficient."""
    rows = Rows.of(model, np.array([state]))
    row = choice - int(rows.choices[0])
    if direction.bound[state] == np.inf:
        least = int(np.minimum.reduceat(rows.follow(*direction.traps), rows.starts)[row])
        return (
            "does not do what the rank of an infinite value demands: it is "
            f"{_rank(direction.traps[0][state])}, and the least after it is {_rank(least)}"
        )
    for inequality in direction.inequalities:
        short = inequality.exact(state) - exact_choice_value(model, direction, inequality, choice)
        if short > 0:
            limit = "no more" if direction.sign > 0 else "no less"
            what = "rewards and biases" if inequality.gain is not None else "bounds"
            return (
                f"guarantees {limit} than that minus {_short(short)}, by the {what} of its "
                "successors"
            )
    rank = int(direction.ranks[0][state])
    if rank == NEVER:
        best = f"{direction.sign * direction.draw!r} at best"
        if direction.top[state] <= direction.draw:
            best += ", and earns less than nothing"
        return f"may go on for ever, for its rank is -1, which has the value {best}"
    least = int(np.minimum.reduceat(rows.follow(*direction.ranks), rows.starts)[row])
    return (
        f"does not lead to an end: its rank is {_rank(rank)}, and the least after it is "
        f"{_rank(least)}, not below"
    )


def _rank(rank: int) -> int:
    """Return a rank in the form of a certificate."""
    return -1 if rank == NEVER else int(rank)


def _short(number: Fraction | float) -> str:
    """Return a number in few digits; it may be beyond the range of floating point."""
    try:
        return f"{float(number):.3g}"
    except OverflowError:
        return "more than 1e308"
