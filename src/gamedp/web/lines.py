"""Games in progress: from the actions and outcomes of a request to positions, by the rules."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import GamedpError, UnknownStateError, shown
from gamedp.play.play import Played, drawn
from gamedp.web.refusals import Refused
from gamedp.web.requests import Start
from gamedp.web.states import state_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gamedp.web.catalogue import Basis, Made
    from gamedp.web.requests import Line

__all__ = ["generator", "number_of", "replayed", "take"]


def generator(seed: int, plies: int) -> np.random.Generator:
    """Return the random generator of one ply, the same for the same seed."""
    return np.random.default_rng((seed, plies))


def replayed(made: Made, basis: Basis, line: Line) -> tuple[Played, Start | None]:
    """Return the game of a line, and its start in the form for the next request.

    Raises
    ------
    Refused
        If the start, an action or an outcome does not exist.
    """
    state, start = _begin(made, basis, line.start)
    rules = made.rules
    played = Played(rules, [state])
    for action, outcome in zip(line.actions, line.outcomes, strict=True):
        take(played, action, outcome)
    return played, start


def take(played: Played, action: int, outcome: int | np.random.Generator) -> None:
    """Take the action with a number, with an outcome or a generator that draws one.

    Raises
    ------
    Refused
        If there is no such action or outcome, or the game is over.
    """
    if played.is_over:
        sentence = "the game is over after {plies} plies; there is no action."
        raise Refused(422, sentence, plies=len(played.actions))
    actions = played.numbered()
    if action not in actions:
        raise Refused(422, "there is no action {action} here.", action=action)
    draw = (
        functools.partial(drawn, outcome)
        if isinstance(outcome, np.random.Generator)
        else functools.partial(_check_outcome, outcome)
    )
    played.take(actions[action], draw)


def number_of(made: Made, state: Any, action: Any) -> int:
    """Return the number of an action in a state, see `Played.numbered`."""
    actions = Played(made.rules, [state]).numbered()
    return next(number for number, each in actions.items() if each == action)


def _check_outcome(outcome: int, probabilities: Sequence[float]) -> int:
    if not 0 <= outcome < len(probabilities) or probabilities[outcome] <= 0:
        raise Refused(422, "there is no outcome {outcome} of this action.", outcome=outcome)
    return outcome


def _begin(made: Made, basis: Basis, start: Start | None) -> tuple[Any, Start | None]:
    """Return the state at the start, and the start without a seed."""
    starts = made.rules.initial()
    if start is None:
        if len(starts) > 1:
            sentence = "{name} starts at random: say which start, by drawn or a seed."
            raise Refused(422, sentence, name=made.name)
        return starts[0][1], None
    if start.state is not None:
        return _given_state(made, basis, start.state, starts[0][1]), start
    number = start.drawn
    if start.seed is not None:
        rng = generator(start.seed, 2**32)  # different from that of the first ply
        number = drawn(rng, [probability for probability, _ in starts])
    assert number is not None  # noqa: S101 - the request has one of the three
    if number >= len(starts):
        sentence = "there is no start {number}; there are {count}."
        raise Refused(422, sentence, number=number, count=len(starts))
    return starts[number][1], None if len(starts) == 1 else Start(drawn=number)


def _given_state(made: Made, basis: Basis, plain: Any, example: Any) -> Any:
    """Return a state from a request if the table contains it."""
    if basis.solution is None:
        sentence = "{name} has no table, so a start cannot be given."
        raise Refused(422, sentence, name=made.name)
    try:
        state = state_like(example, plain)
        basis.solution.model.index(state)
    except UnknownStateError:
        sentence = "{state} is not a position that can be reached from the start of {name}."
        raise Refused(422, sentence, state=shown(plain), name=made.name) from None
    except (GamedpError, Refused):
        raise
    except Exception as error:  # noqa: BLE001 - rules may do anything with an invalid state
        sentence = "{state} is not a position of {name}: {reason}."
        parts: dict[str, Any] = {
            "state": shown(plain),
            "name": made.name,
            "reason": type(error).__name__,
        }
        raise Refused(422, sentence, **parts) from None
    return state
