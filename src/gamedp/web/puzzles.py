"""Puzzles: positions of a solved game with a single best action, by what any other one loses."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import GamedpError
from gamedp.play.advice import advise, bounds_in_equilibria
from gamedp.play.play import Played
from gamedp.web.positions import basis_facts, shown_position
from gamedp.web.refusals import Refused
from gamedp.web.states import plain_number, plain_state, state_like

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gamedp.results.solution import Solution
    from gamedp.runtime.arrays import Floats
    from gamedp.runtime.limit import ProgressCallback
    from gamedp.web.catalogue import Basis, Made
    from gamedp.web.requests import PuzzlesRequest
    from gamedp.web.tables import WebTables

__all__ = ["puzzle_list", "puzzles_answer"]

MOST_PUZZLES = 24
"""Largest number of puzzles of a game."""

MOST_ALIKE = 12
"""Largest number of them with the same best action."""

MOST_CANDIDATES = 120
"""Largest number of positions with the same best action that are looked at for them."""

LEVELS = 25
"""Number of equal parts of the largest gap in which gaps are sorted."""

MOST_NEAR = 2
"""Largest number of puzzles of one such part with the same best action: they look much the same."""

FEW_GAPS = 4
"""Where there are no more gaps, as between a win and a loss, nothing is much the same."""

MOST_PLAYED = 20_000
"""Largest number of positions to which a game is played if its states cannot be given."""

FIELDS = ("state", "view", "text", "mover", "players")
"""Parts of a position that a puzzle shows; the values of actions are not among them."""


def puzzles_answer(tables: WebTables, made: Made, _request: PuzzlesRequest) -> dict[str, Any]:
    """Return the answer to `puzzles`.

    Raises
    ------
    Pending
        While the table or the puzzles are being made.
    Refused
        If the game has no table.
    """
    basis = tables.basis(made)
    if basis.solution is None:
        sentence = "{name} has no table, so no puzzles: a search proves too little."
        raise Refused(409, sentence, "states", name=made.name)
    found = tables.searches.find(
        ("puzzles", made.key), lambda report: puzzle_list(made, basis, progress=report)
    ).value()
    return {
        "game": {"name": made.name, "parameters": made.parameters},
        "basis": basis_facts(basis, None),
        "puzzles": found,
    }


def puzzle_list(
    made: Made,
    basis: Basis,
    played: Mapping[Any, Any] | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> list[dict[str, Any]]:
    """Return the puzzles of a game, those that cost most first.

    In each, one action is proven to be the only best one: its lower bound is above the upper bounds
    of all others, by `gap`. Where each player has payoffs of their own, these are the bounds of
    :func:`bounds_in_equilibria`. Among equal ones, those with more actions come first. At most
    `MOST_ALIKE` have the same best action, and at most `MOST_NEAR` of them much the same gap, so
    that not all ask for the same.

    Parameters
    ----------
    made : Made
    basis : Basis
        With a table.
    played : mapping, optional
        A position that may be given for each representative; if not given, the representative.
    progress : callable, optional
        As for :func:`bounds_in_equilibria`, which takes seconds for half a million states.
    """
    solution, rules = basis.solution, made.rules
    assert solution is not None  # noqa: S101 - the caller has made sure
    lines = None if played is not None else _lines(made)
    puzzles: list[dict[str, Any]] = []
    alike: collections.Counter[int] = collections.Counter()
    near: collections.Counter[tuple[int, int | None]] = collections.Counter()
    own = bounds_in_equilibria(solution, progress=progress) if rules.is_general_sum else None
    for index, level in _candidates(solution, own):
        state = solution.model.state(index)
        if played is not None:
            if state not in played:
                continue
            state = played[state]
        line = {"start": {"state": plain_state(state)}, "actions": [], "outcomes": []}
        if lines is not None:
            if state not in lines:
                continue
            state, line = lines[state]
        known = advise(solution, state).actions
        best = [each for each in known if each.best != "no"]
        if len(best) != 1 or best[0].best != "certain":
            continue
        lower, second = best[0].lower, max(each.upper for each in known if each is not best[0])
        if own is not None:
            choices = slice(*solution.model.choice_offsets[index : index + 2].tolist())
            lower, second = own[0][choices].max(), np.sort(own[1][choices])[-2]
        action = best[0].action
        is_full = alike[action] == MOST_ALIKE or near[action, level] == MOST_NEAR
        if not lower > second or is_full:
            continue
        alike[action] += 1
        near[action, level] += level is not None
        shown = shown_position(made, Played(rules, [state]), None, basis)
        puzzles.append(
            {
                "line": line,
                **{name: shown[name] for name in FIELDS},
                "choices": len(known),
                "best": plain_number(lower),
                "second": plain_number(second),
                "gap": plain_number(lower - second),
            }
        )
        if len(puzzles) == MOST_PUZZLES:
            break
    return puzzles


def _candidates(
    solution: Solution, own: tuple[Floats, Floats] | None
) -> list[tuple[int, int | None]]:
    """Return the states that have a single best choice, those where any other loses most first.

    By the bounds of all choices together, `own` if given; the table then says of each whether it is
    so. With each, the level of its gap, from `LEVELS` for the largest; None if gaps are few.
    """
    model, table = solution.model, solution.q_table()
    counts = np.diff(model.choice_offsets)
    places = np.flatnonzero(counts)
    if not len(places):
        return []
    counts, starts = counts[places], model.choice_offsets[:-1][places]
    second_moves = np.repeat(model.players[places] == 1, counts)
    low = np.where(second_moves, -table["upper"], table["lower"])
    high = np.where(second_moves, -table["lower"], table["upper"])
    if own is not None:
        low, high = own
    most = np.maximum.reduceat(low, starts)
    is_best = low == np.repeat(most, counts)
    with np.errstate(invalid="ignore"):
        gaps = most - np.maximum.reduceat(np.where(is_best, -np.inf, high), starts)
    good = np.isfinite(gaps) & (gaps > 0) & (np.add.reduceat(is_best.astype(np.int64), starts) == 1)
    best = np.zeros(len(places), np.int64)
    owners = np.repeat(np.arange(len(places)), counts)
    best[owners[is_best]] = model.action_labels[is_best]
    order = np.lexsort((places, -counts, -gaps))
    order = order[good[order]]
    is_graded = len(np.unique(gaps[order].round(6))) > FEW_GAPS
    levels = np.rint(LEVELS * gaps[order] / gaps[order].max(initial=0.0)).astype(np.int64)
    found: collections.Counter[tuple[int, int]] = collections.Counter()
    kept: list[tuple[int, int | None]] = []
    for place, level in zip(order.tolist(), levels.tolist(), strict=True):
        kind = (int(best[place]), level if is_graded else 0)
        found[kind] += 1
        if found[kind] <= (MOST_CANDIDATES // 4 if is_graded else MOST_CANDIDATES):
            kept.append((int(places[place]), level if is_graded else None))
    return kept


def _lines(made: Made) -> dict[Any, tuple[Any, dict[str, Any]]] | None:
    """Return the shortest lines to the first positions; None if any state can be given directly."""
    rules = made.rules
    starts = rules.initial()
    first = starts[0][1]
    try:
        if state_like(first, plain_state(first)) == first:
            return None
    except (Refused, GamedpError):
        pass  # a start of another kind cannot be given; it is played to
    found: dict[Any, tuple[Any, dict[str, Any]]] = {}
    waiting: collections.deque[tuple[Any, dict[str, Any]]] = collections.deque()

    def meet(state: Any, line: dict[str, Any]) -> None:
        representative, _ = rules.canonical(state)
        if representative not in found:
            found[representative] = state, line
            waiting.append((state, line))

    for number, (_, state) in enumerate(starts):
        start = None if len(starts) == 1 else {"drawn": number}
        meet(state, {"start": start, "actions": [], "outcomes": []})
    while waiting and len(found) < MOST_PLAYED:
        state, line = waiting.popleft()
        for action, outcome, following in _following(made, state):
            longer = {
                "start": line["start"],
                "actions": [*line["actions"], action],
                "outcomes": [*line["outcomes"], outcome],
            }
            meet(following, longer)
    return found


def _following(made: Made, state: Any) -> Iterator[tuple[int, int, Any]]:
    """Yield what may come next: the action, the outcome, and the position."""
    game = made.rules.game
    if made.rules.is_terminal(state):
        return
    for number, action in Played(made.rules, [state]).numbered().items():
        for outcome, (probability, following, *_) in enumerate(game.outcomes(state, action)):
            if probability > 0:
                yield number, outcome, following
