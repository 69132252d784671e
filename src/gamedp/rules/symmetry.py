"""Symmetry: which action of a state corresponds to which action of its representative.

A model knows the choices of representatives alone. The actions of any other state are those of the
rules in that state, whose numbers and order may differ. Two actions correspond if they lead to the
same representatives and earn the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from gamedp.errors import InvalidModelError, shown
from gamedp.rules.expand import expand
from gamedp.runtime.floats import SUM_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gamedp.rules.game import Rules

__all__ = ["Counterparts", "counterparts"]


@attrs.frozen
class Counterparts:
    """The actions of a state and of its representative, each with an equivalent one of the other.

    Attributes
    ----------
    of_state : dict
        For each action in the state, in the game's order, one in the representative.
    of_representative : dict
        The reverse.
    """

    of_state: dict[Any, Any]
    of_representative: dict[Any, Any]


@attrs.frozen
class _ChoiceRow:
    """An action as seen by the representative's players: its rewards and its outcomes.

    `outcomes` maps (representative, swapped) to the probability.
    """

    action: Any
    rewards: tuple[float, ...]
    outcomes: dict[tuple[Any, bool], float]

    def gap(self, other: _ChoiceRow) -> float:
        """Return the distance between two rows that lead to the same states."""
        gaps = [
            abs(probability - other.outcomes[key]) for key, probability in self.outcomes.items()
        ]
        for one, two in zip(self.rewards, other.rewards, strict=True):
            gaps.append(abs(one - two) / max(1.0, abs(one), abs(two)))
        return max(gaps)


def counterparts(rules: Rules, state: Any, representative: Any, swapped: bool) -> Counterparts:
    """Match each action of a state with an equivalent one of its representative, and conversely.

    Two actions do the same if they lead to the same representatives with the same probabilities,
    the same players changing places, and earn the same; that is, to within 1e-9. Whether players
    change places does not matter on the way to a position that is its own mirror image, like a
    draw, or a throw for who begins.

    Parameters
    ----------
    rules : Rules
    state, representative, swapped
        As returned by `canonical`.

    Raises
    ------
    InvalidModelError
        If an action of one has no counterpart in the other, or another player chooses: then
        `canonical` does not declare a symmetry. Or if the rules are wrong in one of them.
    """
    one, other = expand(rules, state), expand(rules, representative)
    swap = "with the players swapped" if swapped else "as it is"
    words = (
        f"canonical({shown(state)}) is {shown(representative)}, {swap}, but they are not symmetric:"
    )
    hint = "Fix canonical(); gamedp.testing.check_game checks it."
    if (one.payoffs is None) != (other.payoffs is None):
        over = state if other.payoffs is None else representative
        message = f"{words} only in {shown(over)} the game is over. {hint}"
        raise InvalidModelError(message)
    rows = [_ChoiceRow(c.action, _seen(c.rewards, swapped), _swapped(c.outcomes, swapped))
            for c in one.choices]  # fmt: skip
    others = [_ChoiceRow(c.action, c.rewards, c.outcomes) for c in other.choices]
    found = _matched(rows, others)
    if None in (*found[0].values(), *found[1].values()):
        mirrors: dict[Any, bool] = {}
        found = _matched(
            [_without_mirrors(rules, row, mirrors) for row in rows],
            [_without_mirrors(rules, row, mirrors) for row in others],
        )
    for here, there, matches in ((state, representative, found[0]),
                                 (representative, state, found[1])):  # fmt: skip
        for action, match in matches.items():
            if match is None:
                message = (
                    f"{words} action {shown(action)} in {shown(here)} does what none in "
                    f"{shown(there)} does. "
                )
                raise InvalidModelError(message + hint)
    of_state = {action: match for action, match in found[0].items() if match is not None}
    of_representative = {action: match for action, match in found[1].items() if match is not None}
    # With nothing to choose, it does not matter whose choice it is.
    if (one.player ^ swapped) != other.player and len(set(of_state.values())) > 1:
        message = f"{words} player {one.player} chooses in the one, {other.player} in the other. "
        raise InvalidModelError(message + hint)
    return Counterparts(of_state, of_representative)


def _seen(rewards: tuple[float, ...], swapped: bool) -> tuple[float, ...]:
    """Return rewards as seen by the representative's players."""
    return tuple(-reward for reward in rewards) if swapped else rewards


def _swapped(
    outcomes: dict[tuple[Any, bool], float], swapped: bool
) -> dict[tuple[Any, bool], float]:
    """Return outcomes as seen by the representative's players."""
    return {
        (state, other ^ swapped): probability for (state, other), probability in outcomes.items()
    }


def _matched(
    rows: list[_ChoiceRow], others: list[_ChoiceRow]
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return for each action the nearest one on the other side, or None if none is near."""
    return _nearest(rows, others), _nearest(others, rows)


def _nearest(rows: Iterable[_ChoiceRow], others: Iterable[_ChoiceRow]) -> dict[Any, Any]:
    """Return for each action the nearest of the other rows, or None if none is near."""
    by_support: dict[frozenset[tuple[Any, bool]], list[_ChoiceRow]] = {}
    for other in others:
        by_support.setdefault(frozenset(other.outcomes), []).append(other)
    found: dict[Any, Any] = {}
    for row in rows:
        candidates = by_support.get(frozenset(row.outcomes), [])
        best = min(candidates, key=row.gap, default=None)
        is_near = best is not None and row.gap(best) <= SUM_TOLERANCE
        found[row.action] = best.action if best is not None and is_near else None
    return found


def _without_mirrors(rules: Rules, row: _ChoiceRow, mirrors: dict[Any, bool]) -> _ChoiceRow:
    """Return a row without swaps on the way to states that are their own mirror images."""
    outcomes: dict[tuple[Any, bool], float] = {}
    for (state, swapped), probability in row.outcomes.items():
        if state not in mirrors:
            mirrors[state] = _is_own_mirror(rules, state)
        key = state, swapped and not mirrors[state]
        outcomes[key] = outcomes.get(key, 0.0) + probability
    return attrs.evolve(row, outcomes=outcomes)


def _is_own_mirror(rules: Rules, representative: Any) -> bool:
    """Return whether a position is the same for both players."""
    if not rules.has_opponents:
        return False
    expansion = expand(rules, representative)
    if expansion.payoffs is not None:
        (payoff,) = expansion.payoffs
        size = max(1.0, abs(payoff), abs(rules.constant_sum))
        return abs(2 * payoff - rules.constant_sum) <= SUM_TOLERANCE * size
    if len(expansion.choices) != 1:
        return False  # for one of them chooses
    (choice,) = expansion.choices
    row = _ChoiceRow(choice.action, choice.rewards, choice.outcomes)
    mirror = _ChoiceRow(choice.action, _seen(row.rewards, True), _swapped(row.outcomes, True))
    return row.outcomes.keys() == mirror.outcomes.keys() and row.gap(mirror) <= SUM_TOLERANCE
