"""``gamedp query``: one position, what it is worth, and what each action is worth."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gamedp
from gamedp.cli import report
from gamedp.cli.games import is_saved, look_in, make_game
from gamedp.cli.options import METHOD, OUTPUT, GameSettings, Method, OutputOptions
from gamedp.cli.solve import solved
from gamedp.cli.texts import assignments, kind_of, read_as
from gamedp.errors import InvalidParameterError, UnknownNameError, UnknownStateError

if TYPE_CHECKING:
    from gamedp.game import Rules
    from gamedp.model import Model
    from gamedp.solution import Solution

__all__ = ["query"]


def query(
    game: str,
    /,
    *,
    state: list[str] | None = None,
    settings: GameSettings = None,
    method: Method = METHOD,
    output: OutputOptions = OUTPUT,
) -> None:
    """Show what a position is worth, and what each action in it is worth.

    Parameters
    ----------
    game
        As for `gamedp solve`, or a folder that `gamedp solve --save` has written.
    state
        The position, as in `own=0,opponent=24,turn=17`. Fields that are not named are as at the
        start. A tuple is written `heaps=3,5,7` or `heaps=(3,5,7)`.
    """
    failure = None
    if is_saved(game):
        if settings or method != METHOD:
            message = (
                f"{game} is solved already: --set and the options of solving do not go with it."
            )
            raise InvalidParameterError(message)
        look_in(Path.cwd())  # where the game may be that it is the solution of
        solution = gamedp.load(game)
        position = _position(_starts(solution.model.rules or solution.model), state or ())
    else:
        made = make_game(game, settings or ())
        position = _position(_starts(gamedp.Rules(made)), state or ())  # before hours of solving
        solution, failure = solved(made, method, quiet=output.quiet)
    index = _index(solution.model, position)
    actions = _actions(solution, position, index)
    best = _best(solution, position) if actions else []
    if output.json:
        entries = [{key: action[key] for key in ("action", "name", "value")} for action in actions]
        facts = report.facts(game, solution, position)
        report.print_json({**facts, "state": position, "actions": entries, "best": best})
    else:
        print(report.lines(_words(solution, position, index, actions, best)))
    if failure is not None:
        raise failure


def _position(starts: Sequence[Any], texts: Sequence[str]) -> Any:
    """Return the state that is asked for; what is not said is as in all states of the start.

    Raises
    ------
    UnknownNameError
        For a field that states do not have.
    InvalidParameterError
        For a value that is not of the field's type, and if something must be said and is not.
    """
    example = starts[0]
    fields = getattr(example, "_fields", None)
    if fields is None:
        if len(texts) > 1 or (not texts and len(starts) > 1):
            message = f"give one --state, such as the start, {example!r}."
            raise InvalidParameterError(message)
        return read_as("--state", texts[0], kind_of(example)) if texts else example
    values = {
        field: column[0]
        for field, column in zip(fields, zip(*starts, strict=True), strict=True)
        if len(set(column)) == 1
    }
    for field, text in assignments(texts, option="--state").items():
        if field not in fields:
            kind = "field of the state called"
            raise UnknownNameError.nearest(kind, field, fields)
        values[field] = read_as(field, text, kind_of(getattr(example, field)))
    missing = [field for field in fields if field not in values]
    if missing:
        message = f"--state must say {', '.join(missing)}: the game starts at random."
        raise InvalidParameterError(message)
    return type(example)(**values)


def _starts(origin: Rules | Model) -> list[Any]:
    """Return the states in which play can begin."""
    if not isinstance(origin, gamedp.Rules):
        return [origin.state(int(index)) for index in origin.initial_states]
    try:
        starts = [state for _, state in origin.initial()]
        starts[0]
    except (IndexError, TypeError, ValueError):
        gamedp.compile(origin.game, compile="never")  # says what is wrong with the rules
        raise
    return starts


def _index(model: Model, position: Hashable) -> int:
    """Return the index of a position; raise UnknownStateError if it is none of the game's."""
    try:
        return model.index(position)[0]
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        message = f"{position!r} is not a state of this game: {error}"
        raise UnknownStateError(message) from None


def _actions(solution: Solution, position: Any, index: int) -> list[dict[str, Any]]:
    """Return the actions in a position; without values where a solution does not keep them."""
    try:
        return [
            {
                "action": entry.action,
                "name": entry.name,
                "value": entry.value,
                "bounds": f"{entry.lower!r} to {entry.upper!r}",
            }
            for entry in solution.action_values(position)
        ]
    except gamedp.UnsupportedProblemError:
        model = solution.model
        first, end = model.choice_offsets[index : index + 2].tolist()
        labels = model.action_labels[first:end].tolist()
        rules = model.rules
        name = str if rules is None else functools.partial(rules.action_name, position)
        return [
            {"action": label, "name": name(label), "value": None, "bounds": ""} for label in labels
        ]


def _best(solution: Solution, position: Any) -> list[int]:
    """Return the best actions: all of equal value, or the policy's where values are not kept."""
    try:
        return solution.best_actions(position)
    except gamedp.UnsupportedProblemError:
        action = solution.best_action(position)
        return [] if action is None else [action]


def _words(
    solution: Solution,
    position: Any,
    index: int,
    actions: list[dict[str, Any]],
    best: list[int],
) -> list[tuple[str, str]]:
    """Return everything about a position in words."""
    rules = solution.model.rules
    shown = repr(position)
    if rules is not None and rules.render(position) not in {shown, str(position)}:
        shown += "\n" + rules.render(position)
    pairs = [] if rules is None else [("game", report.game_words(rules.game))]
    pairs.append(("state", shown))
    if not actions:
        pairs.append(("to move", "nobody: the game is over, and the value is the payoff"))
    elif solution.model.num_players > 1:
        pairs.append(("to move", _mover(solution, position, index)))
    pairs += report.value_lines(solution, position)
    width = max((len(action["name"]) for action in actions), default=0)
    rows = [
        f"{'*' if action['action'] in best else ' '} {action['name']:<{width}}"
        + ("" if action["value"] is None else f"  {action['value']!r}   ({action['bounds']})")
        for action in actions
    ]
    if rows:
        pairs.append(("actions", "\n".join(rows)))
        names = [action["name"] for action in actions if action["action"] in best]
        any_will_do = 1 < len(names) == len(actions)
        pairs.append(("best", "any of them" if any_will_do else ", ".join(names)))
    return pairs + report.measures(solution)


def _mover(solution: Solution, position: Any, index: int) -> str:
    """Say who is to move, and what they want of the value shown."""
    model = solution.model
    player = int(model.players[index]) if model.rules is None else model.rules.player(position)
    if model.num_players > 2:
        return report.player_name(player)
    wants_most = (player == 0) == (solution.objective.optimum == "max")
    goal = "as high" if wants_most else "as low"
    return f"{report.player_name(player)}, who wants the value {goal} as possible"
