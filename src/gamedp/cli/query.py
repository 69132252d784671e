"""``gamedp query``: the value of a position, and of each action in it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

import gamedp
from gamedp.cli import report
from gamedp.cli.games import (
    is_saved,
    load_saved,
    make_game,
    picture_of,
    position_of,
    starts_of,
    state_where,
)
from gamedp.cli.options import (
    FILE,
    METHOD,
    OUTPUT,
    FileOptions,
    Fresh,
    GameSettings,
    Method,
    OutputOptions,
    SavedGame,
)
from gamedp.cli.solve import Solved, answered, asked_of, names_file, solved
from gamedp.cli.texts import refuse
from gamedp.errors import UnknownStateError, shown
from gamedp.play.advice import winner_of
from gamedp.rules.game import is_staged

if TYPE_CHECKING:
    from gamedp.model.model import Model
    from gamedp.results.solution import Solution
    from gamedp.results.status import ActionValue
    from gamedp.stages.model import StagedModel
    from gamedp.stages.solution import StagedSolution


END_OF_STAGE = "nobody: this ends the stage"

SIGNS = {"certain": "*", "possible": "?", "no": " "}


def query(  # noqa: PLR0913 - one for each kind of option
    game: str,
    /,
    *,
    state: list[str] | None = None,
    inside: list[str] | None = None,
    rules: SavedGame = None,
    settings: GameSettings = None,
    fresh: Fresh = False,
    file: FileOptions = FILE,
    method: Method = METHOD,
    output: OutputOptions = OUTPUT,
) -> None:
    """Show the value of a position, and of each action in it.

    Parameters
    ----------
    game
        As for `gamedp solve`, or a folder that `gamedp solve --save` has written.
    state
        Name the position, as in `own=0,opponent=24,turn=17`. Fields you leave out are as at the
        start. A tuple is written `heaps=3,5,7` or `heaps=(3,5,7)`. In a model of a file, give the
        number of the state, or an expression that is true in it alone, as in `x=2 & !b`.
    inside
        Name the position inside the stage of a staged game, whose --state is a context, as in
        `phase=1,throws=2,dice=1,0,2,1,1,0`.
    """
    if is_saved(game):
        if fresh or (method, file) != (METHOD, FILE):
            refuse(f"{game} holds a solution: --fresh and the options for solving do not apply.")
        solution = load_saved(game, rules, settings)
        found, thing = Solved(game, solution), solution.model.rules or solution.model
    elif file.property is not None:
        reply = answered(game, settings, file, method, fresh=fresh, quiet=output.quiet)
        found = Solved(game, reply.solution_of_states(), answer=reply)
        thing = found.solution.model.rules or found.solution.model
    elif names_file(game, rules, fresh=fresh):
        question = asked_of(game, settings, file, method, quiet=output.quiet)
        found, thing = None, question.model
    else:
        file.refuse()
        question = make_game(game, settings or ())
        kind = gamedp.rules.StagedRules if is_staged(question) else gamedp.rules.Rules
        found, thing = None, kind(question)
    place = _place(thing, state or (), inside)  # before hours of solving
    if found is None:
        found = solved(game, question, method, fresh=fresh, quiet=output.quiet)
    is_staged_solution = isinstance(found.solution, gamedp.StagedSolution)
    answer = (_answer_of_stage if is_staged_solution else _answer)(found.solution, *place)
    if output.json:
        report.print_json(_facts(found, *place, answer))
    else:
        words = _words(found.solution, place[0], answer)
        print(report.lines([*found.head(), *words, *found.measures()]))
    if found.failure is not None:
        raise found.failure


def _facts(found: Solved, state: Any, inside: Any, answer: _QueryAnswer) -> dict[str, Any]:
    """Return everything about a position for JSON."""
    solution = found.solution
    facts = found.facts(state) | {
        "value": answer.value, "lower": answer.lower, "upper": answer.upper, "state": state
    }  # fmt: skip
    keys: tuple[str, ...] = ("action", "name", "value", "best")
    if solution.model.is_general_sum:
        keys += ("values", "bounds")
    if not isinstance(solution, gamedp.Solution):
        facts["inside"] = inside
    else:
        columns = solution.model.variables
        if columns:
            facts["variables"] = {name: array[state] for name, array in columns.items()}
        if solution.distances is not None:
            facts["distance"] = solution.distance(state)
        if math.isfinite(plies := solution.plies(state)):
            facts["plies"] = plies
    facts["actions"] = [{key: action[key] for key in keys} for action in answer.actions]
    names = [action["name"] for action in answer.actions if action["best"] != "no"]
    return facts | {"best": answer.best, "best_names": names}


@attrs.frozen
class _QueryAnswer:
    """The answer for a place.

    Attributes
    ----------
    value, lower, upper : float
        Player 0's.
    actions : list of dict
        With ``"value"`` None where a solution does not keep it. With more than two players,
        ``"value"`` is player 0's, and ``"values"`` and ``"bounds"`` have those of all.
    best : list of int
        The actions that are best, or may be; those of the policy with more than two players.
    mover : str
        The player to move, in words; empty if that is obvious.
    pictures : list of (label, text)
        The place in the words of the game.
    """

    value: float
    lower: float
    upper: float
    actions: list[dict[str, Any]]
    best: list[int]
    mover: str
    pictures: list[tuple[str, str]]


def _place(
    origin: gamedp.rules.Rules | gamedp.rules.StagedRules | Model,
    state: Sequence[str],
    inside: Sequence[str] | None,
) -> tuple[Any, Any]:
    """Return the state that the options name, and that inside of its stage, if they do."""
    if isinstance(origin, gamedp.Model) and not all(map(str.isdecimal, state)):
        position: Any = state_where(origin, state, "--state")
    else:
        position = position_of(starts_of(origin), state, "--state")
    if inside is None:
        return position, None
    if not isinstance(origin, gamedp.rules.StagedRules):
        refuse("--inside is for staged games; the positions of this one are given by --state.")
    stage = gamedp.rules.Rules(origin.game.stage())
    return position, position_of(starts_of(stage), inside, "--inside")


def _answer(solution: Solution, position: Any, _inside: None) -> _QueryAnswer:
    """Return the answer for a state."""
    model = solution.model
    index, _ = _index(model, position)
    actions = _actions(solution, position)
    mover = report.OVER
    if actions:
        mover = "" if model.num_players == 1 else _mover(solution, position, index)
    return _QueryAnswer(
        solution.value(position),
        *solution.bounds(position),
        actions,
        _best(actions),
        mover,
        [("state", _picture(model, position))],
    )


def _picture(model: Model, position: Any) -> str:
    """Return a state in words: the game's drawing, or the model's variables."""
    drawn = picture_of(model.rules, position)
    return f"{drawn}   {model.state_name(position)}" if model.variables else drawn


def _answer_of_stage(solution: StagedSolution, context: Any, state: Any) -> _QueryAnswer:
    """Return the answer for a context, or for a state of the stage inside it."""
    rules = solution.model.rules
    pictures = [("state", picture_of(rules, context))]
    _, swapped = _index(solution.model, context)
    if state is None:
        mover = report.OVER if rules.is_terminal(context) else ""
        numbers = (solution.value(context), *solution.bounds(context))
        return _QueryAnswer(*numbers, [], [], mover, pictures)
    part = solution.inside(context)
    index, _ = _index(part.model, state)
    actions = _together(solution.action_values(context, state))
    numbers = solution.value_inside(context, state)
    mover = END_OF_STAGE
    if actions:
        player = int(part.model.players[index]) ^ swapped
        mover = "" if rules.num_players == 1 else _wish(solution, player)
    pictures.append(("inside", picture_of(part.model.rules, state)))
    return _QueryAnswer(*numbers, actions, _best(actions), mover, pictures)


def _index(model: Model | StagedModel, position: Hashable) -> tuple[int, bool]:
    """Return the index of a position and whether places are swapped; raise UnknownStateError."""
    try:
        return model.index(position)
    except UnknownStateError as error:
        if not isinstance(model.rules, gamedp.rules.Rules):
            raise
        message = f"{error} `gamedp search` takes any position."
        raise UnknownStateError(message) from None
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        message = f"{shown(position)} is not a state of this game: {error}"
        raise UnknownStateError(message) from None


def _actions(solution: Solution, position: Any) -> list[dict[str, Any]]:
    """Return the actions in a position, without values if the solution does not store them."""
    count = solution.model.num_players
    try:
        return _together(
            *(
                solution.action_values(position, player)
                for player in range(count if count > 2 else 1)
            )
        )
    except gamedp.UnsupportedProblemError:
        model = solution.model
        chosen = solution.best_action(position)
        return [
            {
                "action": label,
                "name": model.action_name(label, position),
                "value": None,
                "best": "certain" if label == chosen else "no",
            }
            for label in solution.actions(position)
        ]


def _together(*of_players: list[ActionValue]) -> list[dict[str, Any]]:
    """Return one entry for each action, with the values of all players that have them."""
    return [
        attrs.asdict(entries[0], recurse=False)
        | {
            "values": [entry.value for entry in entries],
            "bounds": [(entry.lower, entry.upper) for entry in entries],
        }
        for entries in zip(*of_players, strict=True)
    ]


def _best(actions: list[dict[str, Any]]) -> list[Any]:
    """Return the actions that are best, or may be."""
    return [action["action"] for action in actions if action["best"] != "no"]


def _words(
    solution: Solution | StagedSolution, state: Any, answer: _QueryAnswer
) -> list[tuple[str, str]]:
    """Return everything about a position in words."""
    count, pairs = solution.model.num_players, [*answer.pictures]
    if answer.mover:
        pairs.append(("to move", answer.mover))
    if count > 2:
        pairs += report.value_lines(solution, state)
    else:
        numbers = (answer.value, answer.lower, answer.upper)
        pairs += report.bounded(*numbers, player=None if count == 1 else 0)
    if isinstance(solution, gamedp.Solution):
        pairs += _to_the_end(solution, state)
    if answer.actions:
        pairs.append(("actions", "\n".join(_rows(answer))))
        if any(action["value"] is None for action in answer.actions):
            solver = type(solution.solver).__name__
            pairs.append(("no values", f"{solver} keeps none with one step fewer to go"))
        for label, standing in (("best", "certain"), ("maybe best", "possible")):
            names = [_called(action) for action in answer.actions if action["best"] == standing]
            any_will_do = 1 < len(names) == len(answer.actions)
            if names:
                pairs.append((label, "any of them" if any_will_do else ", ".join(names)))
        if isinstance(solution, gamedp.Solution):
            pairs += _played(solution, state, answer)
    return pairs


def _called(action: dict[str, Any]) -> str:
    """Return the name of an action, or its number if it has none."""
    return action["name"] or str(action["action"])


def _to_the_end(solution: Solution, state: Any) -> list[tuple[str, str]]:
    """Return the length of play and the winner in words; nothing if unknown."""
    plies = solution.plies(state)
    if math.isinf(plies):
        return [] if solution.distances is None else [("to the end", "never")]
    who = winner_of(solution, state)
    wins = "" if who is None else f": {report.player_name(who)} wins"
    return [("to the end", f"{report.how_long(plies)}{wins}")]


def _played(solution: Solution, state: Any, answer: _QueryAnswer) -> list[tuple[str, str]]:
    """Return the equally good actions that are played, if not all of them are."""
    chosen = solution.quickest_actions(state)
    if len(chosen) >= len(answer.best):
        return []
    names = [_called(action) for action in answer.actions if action["action"] in chosen]
    return [("played", ", ".join(names))]


def _rows(answer: _QueryAnswer) -> list[str]:
    """Return the lines of all actions, with * before the best ones, ? before possible ones."""
    width = max(len(_called(action)) for action in answer.actions)
    rows = []
    for action in answer.actions:
        first = f"{SIGNS[action['best']]} {_called(action):<{width}}"
        known = "values" in action
        numbers = zip(action["values"], action["bounds"], strict=True) if known else ()
        lines = [f"  {value!r}   ({low!r} to {high!r})" for value, (low, high) in numbers]
        if len(lines) > 1:
            lines = [
                f"{line}   for {report.player_name(player)}" for player, line in enumerate(lines)
            ]
        heads = [first, *[" " * len(first)] * (len(lines) - 1)]
        rows += [head + line for head, line in zip(heads, lines or [""], strict=True)]
    return rows


def _mover(solution: Solution, position: Any, index: int) -> str:
    """Describe the player to move, and whether they maximise the value shown."""
    model = solution.model
    player = int(model.players[index]) if model.rules is None else model.rules.player(position)
    return report.player_name(player) if model.is_general_sum else _wish(solution, player)


def _wish(solution: Solution | StagedSolution, player: int) -> str:
    """Describe one of two players, and whether they maximise the value shown."""
    wants_most = (player == 0) == (solution.objective.optimum == "max")
    return report.wish(player, wants_most=wants_most)
