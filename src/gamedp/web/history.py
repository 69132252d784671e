"""A game so far: its value at each ply, choice and luck distinguished, and the mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gamedp.play.advice import advise
from gamedp.web.lines import number_of, replayed
from gamedp.web.positions import happened
from gamedp.web.states import plain_number

if TYPE_CHECKING:
    from gamedp.play.play import Played
    from gamedp.results.solution import Solution
    from gamedp.web.catalogue import Made
    from gamedp.web.requests import HistoryRequest
    from gamedp.web.tables import WebTables

__all__ = ["history_answer"]


def history_answer(tables: WebTables, made: Made, request: HistoryRequest) -> dict[str, Any]:
    """Return the answer to `history`.

    Raises
    ------
    Pending, Refused
        As for `position_answer`.
    """
    basis = tables.basis(made)
    played, _ = replayed(made, basis, request.line)
    plies, values = _plies(made, played, basis.solution)
    payoffs = played.record().payoffs
    mistakes = [ply for ply in plies if ply["mistake"]]
    mistakes.sort(key=lambda ply: ply["choice"])
    return {
        "kind": "none" if basis.solution is None else "table",
        "plies": [{name: _plain(value) for name, value in ply.items()} for ply in plies],
        "values": _plain(values),
        "over": played.is_over,
        "payoffs": _plain(payoffs),
        "players": [_sums(player, plies) for player in range(made.rules.num_players)],
        "mistakes": [ply["ply"] for ply in mistakes],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _plies(
    made: Made, played: Played, solution: Solution | None
) -> tuple[list[dict[str, Any]], list[float] | None]:
    """Return the facts about each ply, and the standing of each player in the last position."""
    rules = made.rules
    players = range(rules.num_players)
    earned = [0.0] * rules.num_players
    plies = []
    for ply, action in enumerate(played.actions):
        state, following = played.states[ply : ply + 2]
        entry = {"ply": ply, **happened(made, played, ply)}
        rewards = [rules.reward(state, action, player) for player in players]
        entry |= _told_apart(made, solution, state, following, action, rewards)
        if solution is not None:
            entry["values"] = _standing(solution, state, earned)
        earned = [had + got for had, got in zip(earned, rewards, strict=True)]
        plies.append(entry)
    return plies, None if solution is None else _standing(solution, played.states[-1], earned)


def _standing(solution: Solution, state: Any, earned: list[float]) -> list[float]:
    """Return the earnings of each player so far, and the expectation of the rest."""
    return [had + solution.value(state, player) for player, had in enumerate(earned)]


def _told_apart(
    made: Made,
    solution: Solution | None,
    state: Any,
    following: Any,
    action: Any,
    rewards: list[float],
) -> dict[str, Any]:
    """Return the change of the mover's value by the choice of a ply, and by luck."""
    if solution is None:
        names = ("before", "chosen", "after", "choice", "luck", "best_name", "values")
        return {**dict.fromkeys(names), "best": [], "mistake": False}
    advice = advise(solution, state)
    mover = made.rules.player(state)
    most = max(each.value for each in advice.actions)
    taken = next(each for each in advice.actions if each.action == action)
    best = advice.best
    after = rewards[mover] + solution.value(following, mover)
    return {
        "before": most,
        "chosen": taken.value,
        "after": after,
        "choice": taken.value - most,
        "luck": after - taken.value,
        "best": [number_of(made, state, each.action) for each in best],
        "best_name": best[0].name if best else None,
        "mistake": taken.best == "no" and taken.value < most,
    }


def _sums(player: int, plies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the total effect of a player's choices, and of luck."""
    own = [ply for ply in plies if ply["mover"] == player]
    return {
        "player": player,
        "choices": sum(not ply["forced"] for ply in own),
        "mistakes": sum(ply["mistake"] for ply in own),
        "cost": _plain(0.0 - sum(ply["choice"] or 0.0 for ply in own)),
        "luck": _plain(sum((ply["luck"] or 0.0 for ply in own), 0.0)),
    }
