"""One position, as the page shows it: the answer to `position`."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import UnknownStateError, UnsupportedProblemError
from gamedp.play.advice import Advice, advise, basis_of
from gamedp.views import to_plain
from gamedp.web.catalogue import MOST_OUTCOMES
from gamedp.web.lines import generator, number_of, replayed, take
from gamedp.web.refusals import Refused
from gamedp.web.requests import Look, Player
from gamedp.web.states import plain_number, plain_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from gamedp.play.play import Played
    from gamedp.results.solution import Solution
    from gamedp.web.catalogue import Basis, Made
    from gamedp.web.requests import PositionRequest, Start, Then
    from gamedp.web.tables import WebTables

__all__ = [
    "basis_facts",
    "chances",
    "happened",
    "position_answer",
    "shown_position",
    "steps_between",
]

logger = logging.getLogger("gamedp")

RELATIONS = {"exact": "=", "at least": "≥", "at most": "≤"}
"""The meaning of a value, as a sign."""


def position_answer(tables: WebTables, made: Made, request: PositionRequest) -> dict[str, Any]:
    """Return the answer to `position`.

    Raises
    ------
    Pending
        While a table or a search that it needs is in progress.
    Refused
        If the request makes no sense in this game.
    """
    basis = tables.basis(made)
    played, start = replayed(made, basis, request.line)
    last = pending = None
    if request.then is not None:
        last, pending = _go_on(tables, made, basis, played, request.then)
    state = played.states[-1]
    advice = None
    if not played.is_over:
        advice = _advice(tables, made, basis, state, request.look)
    return {
        "game": {"name": made.name, "parameters": made.parameters},
        "line": {
            "start": _plain_start(start),
            "actions": [
                number_of(made, state, action)
                for state, action in zip(played.states, played.actions, strict=False)
            ],
            "outcomes": played.outcomes,
        },
        "played": last,
        "previous": _view_of(made, played.states[-2]) if played.actions else None,
        "steps": _last_steps(made, played),
        "pending": pending,
        **shown_position(made, played, advice, basis),
        "earned": [plain_number(float(number)) for number in played.earned],
        "range": None if basis.range is None else list(basis.range),
        "basis": basis_facts(basis, advice),
    }


def basis_facts(basis: Basis, advice: Advice | None) -> dict[str, Any]:
    """Return the source of the values; for a table, also where it has none."""
    solution = basis.solution
    why = None if advice is None else advice.basis
    if why is None and solution is not None:
        why = basis_of(solution)
    return {
        "kind": "search" if solution is None else "table",
        "states": None if solution is None else solution.model.num_states,
        "why": why,
        "why_not": basis.why_not,
        "depth": None if advice is None else advice.depth,
        "width": None if solution is None else plain_number(solution.width),
        "plies": None if basis.remoteness is None else basis.remoteness.kind,
        "why_no_plies": basis.why_no_lengths,
        "stakes": dict(basis.stakes),
    }


def _plain_start(start: Start | None) -> dict[str, Any] | None:
    if start is None:
        return None
    return attrs.asdict(start, filter=lambda _attribute, value: value is not None)


def _advice(
    tables: WebTables, made: Made, basis: Basis, state: Any, look: Look | None
) -> Advice | None:
    """Return the values of a position and its actions; None if they are not requested."""
    if basis.solution is not None:
        return advise(basis.solution, state)
    if look is None:
        return None
    try:
        return advise(tables.search(made, state, look), state)
    except UnsupportedProblemError as error:
        sentence = "{why} And it cannot be searched: {reason}"
        raise Refused(409, sentence, "states", why=basis.why_not, reason=error) from None


def shown_position(
    made: Made, played: Played, advice: Advice | None, basis: Basis
) -> dict[str, Any]:
    """Return the view, the actions and the values of the last position."""
    rules, state = made.rules, played.states[-1]
    over = played.is_over
    shown = _view_of(made, state)
    spots = {} if shown is None else {each["action"]: each["place"] for each in shown["spots"]}
    payoffs = played.record().payoffs
    each = [] if advice is None else [_numbers(basis, *of_player) for of_player in advice.values]
    return {
        "state": plain_state(state),
        "view": shown,
        "text": rules.render(state),
        "players": rules.num_players,
        "mover": None if over else rules.player(state),
        "over": over,
        "payoffs": None if payoffs is None else [plain_number(number) for number in payoffs],
        "value": None if advice is None else _value(each[0]),
        "each": each,
        **_length(made, basis, advice, state),
        "pattern": None if over else _pattern(made, basis, state),
        "actions": [] if over else _actions(made, played, advice, basis, spots),
    }


def _view_of(made: Made, state: Any) -> dict[str, Any] | None:
    """Return the picture of a state; None if the game has none."""
    return to_plain(made.rules.view(state)) if hasattr(made.rules.game, "view") else None


def _pattern(made: Made, basis: Basis, state: Any) -> dict[str, Any] | None:
    """Return the game's pattern of a position, as far as the table proves it."""
    try:
        found = made.rules.pattern(state)
        if found is None:
            return None
        view = None if found.view is None else to_plain(found.view)
    except Exception:  # of any author: the page does without
        logger.exception("the pattern of %s fails", made.name)
        return None
    is_proven = found.claim in {"", _proven_end(made, basis, state)}
    return {
        "words": found.words if is_proven else "",
        "view": view,
        "here": found.here,
        "row": [
            {"name": name, "ends": _proven_end(made, basis, other)} for name, other in found.row
        ],
    }


def _proven_end(made: Made, basis: Basis, state: Any) -> str | None:
    """Return what the table proves that the mover gets; None if it is not a result, or unknown."""
    solution, rules = basis.solution, made.rules
    if solution is None or basis.stakes["kind"] not in {"win", "result"}:
        return None
    if not basis.stakes["certain"]:  # a good chance is not a win
        return None
    try:
        lower, upper = solution.bounds(state, rules.player(state))
    except UnknownStateError:
        return None
    half = rules.constant_sum / 2
    if lower > half or upper < half:
        return "win" if lower > half else "loss"
    return "draw" if lower == upper else None


def _last_steps(made: Made, played: Played) -> list[dict[str, Any]]:
    """Return what the last action has done, step by step."""
    if not played.actions:
        return []
    return steps_between(made, played.states[-2], played.actions[-1], played.outcomes[-1])


def steps_between(made: Made, state: Any, action: int, outcome: int) -> list[dict[str, Any]]:
    """Return the steps of an action in words and pictures; none if the game does not say them."""
    try:
        told = made.rules.steps(state, action, outcome)
    except Exception:  # of any author: the page shows the move without them
        logger.exception("the steps of %s fail", made.name)
        return []
    return [{"words": words, "view": _bare(to_plain(view))} for words, view in told]


def _bare(view: dict[str, Any]) -> dict[str, Any]:
    """Return a plain view without spots, and without the drawing in letters of other kinds."""
    return view | {"spots": [], "text": view["text"] if view["kind"] == "text" else ""}


def _length(made: Made, basis: Basis, advice: Advice | None, state: Any) -> dict[str, Any]:
    """Return the remaining length of play from a position, and its result for the mover."""
    if basis.remoteness is None or advice is None:
        return {"plies": None, "ends": None}
    plies = basis.remoteness.plies(state)
    return {"plies": plain_number(plies), "ends": _ends(made, basis, plies, advice.values[0][1])}


def _ends(made: Made, basis: Basis, plies: float, number: float) -> str | None:
    """Return the result of a game without chance for the mover, given the payoff."""
    is_forced = basis.remoteness is not None and basis.remoteness.kind == "forced"
    if not is_forced or not made.rules.has_opponents or plies == float("inf"):
        return None
    half = made.rules.constant_sum / 2
    return "win" if number > half else "loss" if number < half else "draw"


def _numbers(
    basis: Basis, player: int, number: float, lower: float, upper: float
) -> dict[str, Any]:
    return {
        "player": player,
        "number": plain_number(number),
        "lower": _bound(lower, basis),
        "upper": _bound(upper, basis),
    }


def _bound(bound: float, basis: Basis) -> float | str | None:
    """Return a bound of a value; None for an infinite one of a search, which says nothing."""
    return None if basis.solution is None and math.isinf(bound) else plain_number(bound)


def _value(numbers: dict[str, Any]) -> dict[str, Any]:
    rest = {name: number for name, number in numbers.items() if name != "player"}
    return {**rest, "relation": "="}


def _actions(
    made: Made,
    played: Played,
    advice: Advice | None,
    basis: Basis,
    spots: dict[int, Any],
) -> list[dict[str, Any]]:
    """Return each action with its value, and its possible outcomes."""
    rules, state = made.rules, played.states[-1]
    known = {} if advice is None else {each.action: each for each in advice.actions}
    values = [each.value for each in known.values() if not math.isnan(each.value)]
    most = max(values, default=math.nan)
    lengths = {} if basis.remoteness is None else basis.remoteness.after(state)
    answers = []
    left = MOST_OUTCOMES
    for number, action in played.numbered().items():
        found = known.get(action)
        following = chances(made, state, action, basis.solution, left)
        left -= len(following)
        answer: dict[str, Any] = {
            "action": number,
            "name": rules.action_name(state, action),
            "spot": spots.get(number),
            "chance": following,
            "number": None,
            "lower": None,
            "upper": None,
            "relation": None,
            "best": "possible",
            "loss": None,
            "plies": None,
            "ends": None,
        }
        if found is not None:
            loss = 0.0 if found.value == most else most - found.value
            answer |= {
                "number": plain_number(found.value),
                "lower": _bound(found.lower, basis),
                "upper": _bound(found.upper, basis),
                "relation": RELATIONS[found.bound],
                "best": found.best,
                "loss": plain_number(loss),
            }
            if action in lengths:
                plies = lengths[action]
                answer["plies"] = plain_number(plies)
                answer["ends"] = _ends(made, basis, plies, found.value)
        answers.append(answer)
    return answers


def chances(
    made: Made, state: Any, action: Any, solution: Solution | None, most: int | None = None
) -> list[dict[str, Any]]:
    """Return the possible outcomes of an action, and the mover's values after them.

    Raises
    ------
    Refused
        If there are more than `most`: a page cannot show them.
    """
    rules = made.rules
    mover = rules.player(state)
    answers: list[dict[str, Any]] = []
    for number, outcome in enumerate(rules.game.outcomes(state, action)):
        probability, following, *_ = outcome
        if probability <= 0:
            continue
        if len(answers) == (MOST_OUTCOMES if most is None else most):
            sentence = "a position of {name} has more than {most:,} outcomes of its actions."
            raise Refused(409, sentence, "size", name=made.name, most=MOST_OUTCOMES)
        after = None
        if solution is not None:
            reward = float(rules.earned(state, action, outcome, mover))
            after = plain_number(reward + solution.value(following, mover))
        seen = rules.outcome_view(state, action, number)
        answers.append(
            {
                "outcome": number,
                "probability": plain_number(probability),
                "name": rules.outcome_name(state, action, number),
                "view": None if seen is None else to_plain(seen),
                "number": after,
            }
        )
    return answers


def _go_on(
    tables: WebTables, made: Made, basis: Basis, played: Played, then: Then
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Carry out the next step; return what has happened, or the action that waits for chance."""
    rules, state, plies = made.rules, played.states[-1], len(played.actions)
    rng = None if then.seed is None else generator(then.seed, plies)
    if played.is_over:
        raise Refused(422, "the game is over; nothing comes next.")
    actions = played.numbered()
    if then.player is None:
        number = then.action
        assert number is not None  # noqa: S101 - the request has one or the other
    else:
        assert rng is not None  # noqa: S101 - the request of a player has a seed
        advice = None
        if len(actions) > 1 and then.player.kind != "random":
            look = then.player.look or (None if basis.solution is not None else Look(seconds=0.5))
            by = attrs.evolve(basis, solution=None) if then.player.kind == "search" else basis
            advice = _advice(tables, made, by, state, look)
        action = _chosen(then.player, list(actions.values()), advice, rng)
        number = number_of(made, state, action)
        found = [] if not then.by_hand else chances(made, state, action, None)
        if len(found) > 1:
            name = rules.action_name(state, action)
            for each in found:
                del each["number"]
            return None, {"action": number, "name": name, "chance": found}
    outcome = rng if rng is not None else then.outcome
    assert outcome is not None  # noqa: S101 - the request has one or the other
    take(played, number, outcome)
    return happened(made, played), None


def _chosen(
    player: Player, actions: Sequence[Any], advice: Advice | None, rng: np.random.Generator
) -> Any:
    """Return the action that the computer takes.

    Parameters
    ----------
    player : Player
    actions : sequence
        All legal actions.
    advice : Advice or None
        None for a random player, and if there is only one action.
    rng : numpy.random.Generator
        Decides among equally good actions, and whether the player makes a mistake.
    """
    mistaken = player.chance is not None and rng.random() < player.chance
    among: Sequence[Any] = () if advice is None or mistaken else advice.chosen
    among = among or actions
    return among[int(rng.integers(len(among)))]


def happened(made: Made, played: Played, ply: int = -1) -> dict[str, Any]:
    """Return the action of a ply, the last one if not given, and its outcome."""
    rules = made.rules
    state = played.states[ply if ply >= 0 else ply - 1]
    action, outcome = played.actions[ply], played.outcomes[ply]
    pairs = list(rules.game.outcomes(state, action))
    return {
        "mover": rules.player(state),
        "action": number_of(made, state, action),
        "name": rules.action_name(state, action),
        "outcome": outcome,
        "outcome_name": rules.outcome_name(state, action, outcome),
        "probability": plain_number(pairs[outcome][0]),
        "forced": len(list(rules.game.actions(state))) == 1,
    }
