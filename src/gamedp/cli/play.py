"""``gamedp play``: a person against the computer."""

from __future__ import annotations

import difflib
import functools
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import attrs
from cyclopts import Parameter

import gamedp
from gamedp.cli.games import make_ordinary_game
from gamedp.cli.options import Compile, GameName, GameSettings, StateTexts
from gamedp.cli.positions import position_of, starts_of
from gamedp.cli.watch import be_lenient, watch
from gamedp.errors import UnsupportedProblemError

if TYPE_CHECKING:
    import numpy as np

    from gamedp.playing import GameRecord, LevelPlayer, Line
    from gamedp.search_result import SearchResult

__all__ = ["play"]

First: TypeAlias = Literal["human", "computer", "random"]

HELP = """\
Type the number or the name of an action, or
  hint   what each action is worth to you, as far as the computer looks ahead
  undo   take back your last action, and what came after it
  help   this text
  quit   leave the game"""

PROMPT = "> "


def play(
    game: GameName,
    /,
    *,
    level: int = 6,
    first: First = "human",
    seed: int | None = None,
    state: StateTexts = None,
    settings: GameSettings = None,
    compile: Compile = "auto",
    quiet: Annotated[bool, Parameter(show_default=False)] = False,
) -> None:
    """Play a game for two against the computer.

    Parameters
    ----------
    level
        Plies that the computer looks ahead.
    first
        Who takes the first action.
    seed
        What chance and the computer's choice among equals come from; another one each time if not
        given.
    quiet
        Do not show progress.
    """
    import numpy as np  # noqa: PLC0415 - not needed for --help

    from gamedp.playing import LevelPlayer, Line, checked_seed  # noqa: PLC0415 - likewise

    made = make_ordinary_game(game, settings or (), command="play")
    rules = gamedp.Rules(made)
    if rules.num_players != 2:
        message = f"{game} has {rules.num_players} players; `gamedp play` is for games for two."
        raise UnsupportedProblemError(message)
    computer = LevelPlayer(level)
    seed = secrets.randbits(32) if seed is None else seed
    rng = np.random.default_rng(checked_seed(seed))
    start = position_of(starts_of(rules), state, "--state") if state else None
    line = Line.begin(rules, start, rng)
    begins = ("human", "computer")[int(rng.integers(2))] if first == "random" else first
    mover = 0 if line.is_over else rules.player(line.states[-1])
    person = mover if begins == "human" else 1 - mover
    be_lenient()
    print(f"You are {_name(person)}, the computer {_name(1 - person)}; seed {seed}.")
    search = functools.partial(_searched, computer, made, compile, quiet=quiet)
    _Dialogue(line, person, rng, search).run()


def _name(player: int) -> str:
    return ("the first player", "the second player")[player]


def _searched(
    computer: LevelPlayer, game: Any, compile: Compile, state: Any, *, quiet: bool
) -> SearchResult:
    with watch(quiet=quiet) as progress:
        return computer.search(game, state, compile=compile, progress=progress)


class _Quit(Exception):  # noqa: N818 - not an error: the person has enough
    """The person leaves the game."""


@attrs.define
class _Dialogue:
    """A game under way, and what to go back to."""

    line: Line
    person: int
    rng: np.random.Generator
    search: Callable[[Any], SearchResult]
    before: list[tuple[Line, Any]] = attrs.field(factory=list)

    def run(self) -> None:
        """Play until the game is over or left."""
        try:
            while not self.line.is_over:
                self._turn()
        except _Quit:
            print("The game is left unfinished.")
            return
        print(f"\n{self.line.rules.render(self.line.states[-1])}")
        print(_result(self.line.record(), self.person))

    def _turn(self) -> None:
        """Let whoever is to move take one action."""
        line = self.line
        state = line.states[-1]
        actions = line.choices()
        if line.rules.player(state) == self.person:
            print(f"\n{line.rules.render(state)}\n\n{_menu(self._names(actions))}")
            action = self._ask(actions)
            if action is None:
                return
            self.before.append((line.copy(), self.rng.bit_generator.state))
        else:
            print(f"\n{line.rules.render(state)}")
            action = actions[0]
            if len(actions) > 1:
                best = self.search(state).best_actions or actions  # all are as good, or unknown
                action = best[int(self.rng.integers(len(best)))]
            print(f"\nThe computer plays {line.rules.action_name(state, action)}.")
        self._take(action)

    def _take(self, action: int) -> None:
        """Go on with an action, and say what chance made of it."""
        from gamedp.playing import drawn  # noqa: PLC0415 - not needed for --help

        def draw(chances: Sequence[float]) -> int:
            place = drawn(self.rng, chances)
            if chances[place] < 1:
                print(f"Chance decides, with probability {chances[place]:.4g}:")
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
                    print(_hint(self.search(self.line.states[-1]), self.person))
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


def _hint(result: SearchResult, person: int) -> str:
    """Return what each action is worth to the person."""
    total = result.rules.constant_sum
    words = {"exact": "", "at least": "at least ", "at most": "at most "}
    if person == 1:  # values are the first player's
        words |= {"at least": "at most ", "at most": "at least "}
    if not result.actions:
        return "nothing is known of the actions before the search came to its limit"
    width = max(len(entry.name) for entry in result.actions)
    rows = []
    for entry in result.actions:
        value = entry.value if person == 0 else total - entry.value
        star = "*" if entry.action in result.best_actions else " "
        rows.append(f"{star} {entry.name:<{width}}  {words[entry.bound]}{value:g}")
    proof = "proven" if result.is_proven else f"looking {result.statistics.depth} plies ahead"
    is_certain = set(result.best_actions) <= set(result.certain_actions)
    star = "the best ones have a star" if is_certain else "what seems best has a star"
    return "\n".join([*rows, f"to you, {proof}; {star}"])


def _result(record: GameRecord, person: int) -> str:
    """Say how a game has ended."""
    payoffs = record.payoffs
    if payoffs is None:
        return "The game is left unfinished."
    yours, others = payoffs[person], payoffs[1 - person]
    verdict = (
        "It is a draw"
        if yours == others
        else "You have won"
        if yours > others
        else "The computer has won"
    )
    return f"{verdict}: {yours:g} for you, {others:g} for the computer."
