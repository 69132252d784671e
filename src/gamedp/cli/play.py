"""``gamedp play``: a person against the computer."""

from __future__ import annotations

import difflib
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import attrs
from cyclopts import Parameter

import gamedp
from gamedp.cli.games import is_saved, load_saved, make_ordinary_game
from gamedp.cli.levels import (
    BySearch,
    BySolution,
    check_known,
    checked_solution,
    read_level,
    solve_if_small,
)
from gamedp.cli.options import Compile, GameSettings, SavedGame, StateTexts
from gamedp.cli.positions import position_of, starts_of
from gamedp.cli.report import player_name
from gamedp.cli.watch import be_lenient, watch
from gamedp.errors import InvalidParameterError, UnsupportedProblemError

if TYPE_CHECKING:
    import numpy as np

    from gamedp.cli.levels import Advice, Adviser, Entry, Level
    from gamedp.play.play import GameRecord, Line
    from gamedp.results.search_result import SearchResult
    from gamedp.results.solution import Solution

__all__ = ["play"]

First: TypeAlias = Literal["human", "computer", "random"]

DEPTH = 6
"""Plies to look ahead in a game that has too many positions to be solved."""

HELP = """\
Type the number or the name of an action, or
  hint   what you can expect after each action, and what that rests on
  undo   take back your last action, and what came after it
  help   this text
  quit   leave the game"""

PROMPT = "> "
UNFINISHED = "The game is left unfinished."


def play(  # noqa: PLR0913 - what is usually set in one call
    game: str,
    /,
    *,
    level: str | None = None,
    first: First = "human",
    seed: int | None = None,
    state: StateTexts = None,
    rules: SavedGame = None,
    settings: GameSettings = None,
    compile: Compile = "auto",
    quiet: Annotated[bool, Parameter(show_default=False)] = False,
) -> None:
    """Play a game for two or more against the computer.

    Parameters
    ----------
    game
        A game as for `gamedp solve`, or a folder that `gamedp solve --save` has written.
    level
        Set how well the computer plays: the number of plies to look ahead, or `best` to solve the
        game and play by the solution. If not given: best where the game is solved in seconds, else
        6.
    first
        Who takes the first action.
    seed
        Set the seed of chance, and of the computer's choice among equally good actions; a new one
        each time if not given.
    quiet
        Do not show progress.
    """
    import numpy as np  # noqa: PLC0415 - not needed for --help

    from gamedp.play.play import Line, checked_seed  # noqa: PLC0415 - likewise

    wanted = None if level is None else read_level(level)
    if is_saved(game):
        if wanted not in {None, "best"}:
            message = f"{game} is a solution, and the computer plays by it: leave out --level."
            raise InvalidParameterError(message)
        solution = checked_solution(load_saved(game, rules, settings), game)
        made = solution.model.rules.game  # type: ignore[union-attr] # it was checked
    else:
        if rules is not None:
            message = f"--game is for the folder of a saved solution; {game} is a game."
            raise InvalidParameterError(message)
        solution = None
        made = make_ordinary_game(game, settings or (), command="play")
    known = gamedp.rules.Rules(made)
    if known.num_players < 2:
        message = f"{game} is for one player, who has no opponent; `gamedp query` advises in it."
        raise UnsupportedProblemError(message)
    seed = secrets.randbits(32) if seed is None else seed
    rng = np.random.default_rng(checked_seed(seed))
    start = position_of(starts_of(known), state, "--state") if state else None
    line = Line.begin(known, start, rng)
    count = known.num_players
    later = {"human": 0, "computer": 1}.get(first)
    later = int(rng.integers(count)) if later is None else later
    mover = 0 if line.is_over else known.player(line.states[-1])
    be_lenient()
    adviser, why = _adviser(made, wanted, solution, line.states[-1], compile, quiet=quiet)
    person = (mover + later) % count
    print(f"{_seats(person, count)}; seed {seed}.")
    if not line.is_over:
        print(f"{why}{adviser.introduction()}")
    _Dialogue(line, person, rng, adviser).run()


def _adviser(
    game: Any,
    level: Level | None,
    solution: Solution | None,
    state: Any,
    compile: Compile,
    *,
    quiet: bool,
) -> tuple[Adviser, str]:
    """Return by what the computer plays, and why, if there is something to say about that."""
    from gamedp.play.players import LevelPlayer  # noqa: PLC0415 - not needed for --help

    why, depth = "", DEPTH if level is None or level == "best" else level
    with watch(quiet=quiet) as progress:
        if solution is None and level == "best":
            solution = gamedp.solve(game, compile=compile, progress=progress)
        elif solution is None and level is None and not game.is_terminal(state):
            found = solve_if_small(game, state, compile, progress)
            solution, why = (None, f"{found} ") if isinstance(found, str) else (found, "")
    if solution is not None:
        check_known(solution, state)
        return BySolution(solution), why
    computer = LevelPlayer(depth)

    def search(position: Any) -> SearchResult:
        with watch(quiet=quiet) as progress:
            return computer.search(game, position, compile=compile, progress=progress)

    return BySearch(game, computer.depth, search), why


def _seats(person: int, count: int) -> str:
    """Say who is who."""
    if count == 2:
        return f"You are {player_name(person)}, the computer {player_name(1 - person)}"
    return f"You are {player_name(person)} of {count}, the computer plays the others"


class _Quit(Exception):  # noqa: N818 - not an error: the person has enough
    """The person leaves the game."""


@attrs.define
class _Dialogue:
    """A game under way, and what to go back to."""

    line: Line
    person: int
    rng: np.random.Generator
    adviser: Adviser
    before: list[tuple[Line, Any]] = attrs.field(factory=list)

    def run(self) -> None:
        """Play until the game is over or left."""
        try:
            while not self.line.is_over:
                self._turn()
        except _Quit:
            print(UNFINISHED)
            return
        except KeyboardInterrupt:
            print(f"\n{UNFINISHED}")
            raise
        print(f"\n{self.line.rules.render(self.line.states[-1])}")
        print(_result(self.line.record(), self.person))

    def _turn(self) -> None:
        """Let the player to move take one action."""
        line = self.line
        state = line.states[-1]
        actions = line.choices()
        mover = line.rules.player(state)
        if mover == self.person:
            print(f"\n{line.rules.render(state)}\n\n{_menu(self._names(actions))}")
            action = self._ask(actions)
            if action is None:
                return
            self.before.append((line.copy(), self.rng.bit_generator.state))
        else:
            print(f"\n{line.rules.render(state)}")
            action, reason = actions[0], ""
            if len(actions) > 1:
                advice = self.adviser.advise(state)
                action = advice.chosen[int(self.rng.integers(len(advice.chosen)))]
                reason = f", {_reason(advice)}"
            many = line.rules.num_players > 2
            who = f"The computer, as {player_name(mover)}," if many else "The computer"
            print(f"\n{who} plays {line.rules.action_name(state, action)}{reason}.")
        self._take(action)

    def _take(self, action: int) -> None:
        """Go on with an action, and say what chance made of it."""
        from gamedp.play.play import drawn  # noqa: PLC0415 - not needed for --help

        state, rules = self.line.states[-1], self.line.rules

        def draw(probabilities: Sequence[float]) -> int:
            place = drawn(self.rng, probabilities)
            if probabilities[place] < 1:
                name = rules.outcome_name(state, action, place)
                print(f"Chance decides: {name}." if name else "Chance decides:")
            return place

        self.line.take(action, draw)

    def _ask(self, actions: Sequence[int]) -> int | None:
        """Return the action that the person takes; None after an undo."""
        names = self._names(actions)
        while True:
            try:
                answer = input(PROMPT).strip()
            except EOFError:
                print()
                raise _Quit from None
            action = _understood(answer, names)
            if action is not None:
                return action
            match answer.casefold():
                case "quit":
                    raise _Quit
                case "undo":
                    if self._undo():
                        return None
                    print("There is nothing to take back.")
                case "hint":
                    print(_hint(self.adviser.advise(self.line.states[-1])))
                case "help" | "?":
                    print(f"{HELP}\n{_menu(names)}")
                case _:
                    print(_unknown(answer, names))

    def _names(self, actions: Sequence[int]) -> dict[int, str]:
        state = self.line.states[-1]
        return {action: self.line.rules.action_name(state, action) for action in actions}

    def _undo(self) -> bool:
        """Go back to the person's last decision, and chance with it; false if there is none."""
        if not self.before:
            return False
        self.line, self.rng.bit_generator.state = self.before.pop()
        return True


def _menu(names: dict[int, str]) -> str:
    """Return the actions, each with its number."""
    width = max(len(str(action)) for action in names)
    return "\n".join(
        f"  {action:>{width}}" + (f"  {name}" if name != str(action) else "")
        for action, name in names.items()
    )


def _understood(answer: str, names: dict[int, str]) -> int | None:
    """Return the action that has this number or name, if just one has."""
    found = [action for action in names if answer == str(action)] or [
        action for action, name in names.items() if answer.casefold() == name.casefold()
    ]
    return found[0] if len(found) == 1 else None


def _unknown(answer: str, names: dict[int, str]) -> str:
    known = [*names.values(), "hint", "undo", "help", "quit"]
    close = difflib.get_close_matches(answer.casefold(), known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else "`help` lists what there is."
    return f"There is no action {answer!r} here; {hint}"


def _reason(advice: Advice) -> str:
    """Say why an action is taken."""
    count = len(advice.best)
    if advice.is_certain:
        return "the best action" if count == 1 else f"one of {count} equally good actions"
    return "which seems best" if count == 1 else f"one of {count} actions that seem equally good"


def _hint(advice: Advice) -> str:
    """Return what the person can expect after each action."""
    width = max((len(entry.name) for entry in advice.entries), default=0)
    values = _aligned(advice.entries)
    rows = [
        f"{'*' if entry.is_best else ' '} {entry.name:<{width}}  {value}"
        for entry, value in zip(advice.entries, values, strict=True)
    ]
    head = "After each action you can expect:"
    return "\n".join([head, *rows, advice.verdict(), advice.basis])


def _aligned(entries: Sequence[Entry]) -> list[str]:
    """Return the values of actions, all as wide: whole numbers, or with six decimals."""
    are_whole = all(entry.value.is_integer() for entry in entries)
    texts = [
        ("" if entry.bound == "exact" else f"{entry.bound} ")
        + (f"{entry.value:g}" if are_whole else f"{entry.value:.6f}")
        for entry in entries
    ]
    width = max(map(len, texts), default=0)
    return [f"{text:>{width}}" for text in texts]


def _result(record: GameRecord, person: int) -> str:
    """Say how a game has ended."""
    payoffs = record.payoffs
    if payoffs is None:
        return UNFINISHED
    most = max(payoffs)
    winners = [player for player, payoff in enumerate(payoffs) if payoff == most]
    names = ["you" if player == person else _other(player, len(payoffs)) for player in winners]
    if len(winners) == len(payoffs):
        verdict = "It is a draw"
    elif len(winners) > 1:
        verdict = f"{' and '.join(names)} have got the most"
    else:
        verdict = "You have won" if winners == [person] else f"{names[0]} has won"
    others = [
        f"{payoff:g} for {_other(player, len(payoffs))}"
        for player, payoff in enumerate(payoffs)
        if player != person
    ]
    shares = ", ".join([f"{payoffs[person]:g} for you", *others])
    return f"{verdict[0].upper()}{verdict[1:]}: {shares}."


def _other(player: int, count: int) -> str:
    """Return whom the computer plays."""
    return "the computer" if count == 2 else player_name(player)
