"""``gamedp play``: a person alone, or against the computer, a policy, a program, or another one."""

from __future__ import annotations

import contextlib
import difflib
import functools
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import attrs
from cyclopts import Parameter

import gamedp
from gamedp.cli.games import is_saved, load_saved, make_ordinary_game, position_of, starts_of
from gamedp.cli.options import Compile, GameSettings, SavedGame, StateTexts
from gamedp.cli.players import ENTRANTS, PERSON, checked_solution, read_level, read_player
from gamedp.cli.report import be_lenient, columns, fitted, how_long, player_name, say, watch
from gamedp.cli.texts import how_to_draw, refuse
from gamedp.errors import (
    LimitExceededError,
    NotSolvedError,
    UnknownStateError,
    UnsupportedProblemError,
    shown,
)
from gamedp.play.protocol import Fault, Forfeit
from gamedp.rules.expand import expand
from gamedp.views import COLUMNS

if TYPE_CHECKING:
    import numpy as np

    from gamedp.cli.players import Level
    from gamedp.play.advice import Advice, AdvisedAction
    from gamedp.play.play import Played
    from gamedp.play.protocol import Seat
    from gamedp.results.solution import Solution
    from gamedp.runtime.limit import ProgressCallback


First: TypeAlias = Literal["human", "computer", "random"]

DEPTH = 6
"""Number of plies to look ahead in a game that has too many positions to be solved."""

HELP = """\
Type the number or the name of an action, or
  hint   what you can expect after each action, and what that rests on
  undo   take back your last action, and what came after it
  help   this text
  quit   leave the game"""

LONG_MENU = 10
"""Largest number of actions listed one per line; more are listed side by side."""

MAX_STATES, MAX_STATES_IN_PYTHON = 600_000, 20_000
"""Largest number of positions of a game that is solved without a request, and that in plain
Python."""

SECONDS_TO_FIND = 20.0
"""Longest time to find the positions of such a game."""

PROMPT = "> "
UNFINISHED = "The game is left unfinished."


def play(  # noqa: PLR0913 - what is usually set in one call
    game: str,
    /,
    *,
    level: Annotated[
        str | None,
        Parameter(
            alias="--against",
            help=(
                "Set how well the computer plays: the number of plies to look ahead, or `best` to "
                "solve the game and play by the solution. If not given: best where the game is "
                f"solved in seconds, else 6. Or name who plays: {ENTRANTS}; {PERSON} for one at "
                "this terminal."
            ),
        ),
    ] = None,
    first: First = "human",
    seed: int | None = None,
    state: StateTexts = None,
    seconds: float = 10.0,
    rules: SavedGame = None,
    settings: GameSettings = None,
    compile: Compile = "auto",
    quiet: Annotated[bool, Parameter(show_default=False)] = False,
) -> None:
    """Play a game: alone, or against the computer, a policy, a program, or a person.

    Parameters
    ----------
    game
        A game as for `gamedp solve`, or a folder that `gamedp solve --save` has written.
    first
        Who takes the first action.
    seed
        Set the seed of chance, and of the computer's choice among equally good actions; a new one
        each time if not given.
    seconds
        Set the seconds of thinking that a program has for a game; it has 10 at least to start.
    quiet
        Do not show progress.
    """
    import numpy as np  # noqa: PLC0415 - not needed for --help

    from gamedp.play.play import Played, checked_seed  # noqa: PLC0415 - likewise
    from gamedp.play.players import seats_taken  # noqa: PLC0415 - likewise

    wanted = None if level is None else read_level(level)
    by_name = wanted is None and level is not None
    if is_saved(game):
        if wanted not in {None, "best"}:
            refuse(f"{game} is a solution, and the computer plays by it: leave out --level.")
        solution = checked_solution(load_saved(game, rules, settings), game)
        made = solution.model.rules.game  # type: ignore[union-attr] # it was checked
    else:
        if rules is not None:
            refuse(f"--game is for the folder of a saved solution; {game} is a game.")
        solution = None
        made = make_ordinary_game(game, settings or (), command="play")
    known = gamedp.rules.Rules(made)
    if known.num_players == 1 and (by_name or first != "human"):
        refuse(f"{game} is for one player: there is nobody to play against, or to go first.")
    seed = secrets.randbits(32) if seed is None else seed
    rng = np.random.default_rng(checked_seed(seed))
    start = position_of(starts_of(known), state, "--state") if state else None
    if state:
        _check_start(known, start)
    line = Played.begin(known, start, rng)
    count = known.num_players
    later = {"human": 0, "computer": 1}.get(first)
    later = int(rng.integers(count)) if later is None else later
    begin = line.states[-1]
    mover = 0 if line.is_over else known.player(line.states[-1])
    be_lenient()
    person = (mover + later) % count
    people = frozenset(range(count) if level == PERSON else [person])

    @functools.cache
    def adviser() -> tuple[Callable[[Any], Advice], str]:
        return _adviser(made, wanted, solution, begin, compile, quiet=quiet)

    def advise(position: Any) -> Advice:
        return adviser()[0](position)

    with contextlib.ExitStack() as stack:
        seats: dict[int, Seat] = {}
        about = ""
        if by_name and level != PERSON:
            player = read_player(str(level), known, lambda: None, seconds)
            others = [number for number in range(count) if number != person]
            taken = stack.enter_context(seats_taken(known, [player] * len(others), compile))
            seats = dict(zip(others, taken, strict=True))
            about = f"\nThe computer plays as {level}."
        elif len(people) < count and not line.is_over:
            about = f"\n{adviser()[1]}"
        say(f"{_seats(people, count)}; seed {seed}.{about}{how_to_draw(made)}")
        _GameDialogue(line, people, rng, advise, seats).run()


def _adviser(
    game: Any,
    level: Level | None,
    solution: Solution | None,
    state: Any,
    compile: Compile,
    *,
    quiet: bool,
) -> tuple[Callable[[Any], Advice], str]:
    """Return a function that advises the computer in a state, and its introduction in words."""
    from gamedp.play.advice import advise, own_action  # noqa: PLC0415 - not needed for --help
    from gamedp.play.players import LevelPlayer  # noqa: PLC0415 - likewise

    why, depth = "", DEPTH if level is None or level == "best" else level
    with watch(quiet=quiet) as progress:
        if solution is None and level == "best":
            solution = gamedp.solve(game, compile=compile, progress=progress)
        elif solution is None and level is None and not game.is_terminal(state):
            found = _solve_if_small(game, state, compile, progress)
            solution, why = (None, f"{found} ") if isinstance(found, str) else (found, "")
    if solution is not None:
        _check_known(solution, state)
        known = solution

        def by_solution(position: Any) -> Advice:
            own_action(known, position)  # refuses a position that the solution takes for an end
            return advise(known, position)

        return by_solution, f"{why}The computer plays by {_solution_words(known)}."
    computer = LevelPlayer(depth)

    def by_search(position: Any) -> Advice:
        with watch(quiet=quiet) as progress:
            return advise(
                computer.search(game, position, compile=compile, progress=progress), position
            )

    beyond = "estimated" if hasattr(game, "heuristic") else "taken for even"
    plies = "1 ply" if depth == 1 else f"{depth} plies"
    return by_search, f"{why}The computer looks {plies} ahead; what lies beyond is {beyond}."


def _solve_if_small(
    game: Any,
    state: Any,
    compile: Compile,
    progress: ProgressCallback | None,
) -> Solution | str:
    """Return the solution of a game with few positions, or the reason for none in words.

    Parameters
    ----------
    game
    state
        A position that the solution must know.
    compile, progress
        As for :func:`gamedp.solve`.
    """
    most = MAX_STATES_IN_PYTHON if compile == "never" else MAX_STATES
    try:
        solution: Solution = gamedp.solve(
            game,
            compile=compile,
            max_states=most,
            max_seconds=SECONDS_TO_FIND,
            progress=progress,
        )
        _check_known(solution, state)
    except LimitExceededError as error:
        if error.states < most:
            return (
                f"To find its positions takes longer than {SECONDS_TO_FIND:g} seconds, or too "
                "much memory; --level best goes on all the same."
            )
        return f"More than {most:,} positions are too many to solve now; --level best solves them."
    except (NotSolvedError, UnsupportedProblemError):
        return "The game is not easily solved; `gamedp solve` says why."
    except UnknownStateError:
        return "The game is solved from its start, and this position cannot be reached from there."
    if solution.guarantee is gamedp.Guarantee.NONE:
        return "Solving the game proves nothing, since play may go on for ever."
    return solution


def _check_start(rules: gamedp.rules.Rules, state: Any) -> None:
    """Ask the rules all about a position that was typed in, which errors then name."""
    expand(rules, state)
    rules.render(state)


def _check_known(solution: Solution, state: Any) -> None:
    """Raise UnknownStateError if a solution does not know a state, for any reason."""
    try:
        solution.model.index(state)
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
        message = f"{shown(state)} is not a position that can be reached: {error}"
        raise UnknownStateError(message) from None


def _seats(people: frozenset[int], count: int) -> str:
    """Print the players of the seats."""
    if count == 1:
        return "You play alone"
    if len(people) == count:
        return f"All {count} players are people"
    [person] = people
    if count == 2:
        return f"You are {player_name(person)}, the computer {player_name(1 - person)}"
    return f"You are {player_name(person)} of {count}, the computer plays the others"


class _Quit(Exception):  # noqa: N818 - not an error: the person has enough
    """The person leaves the game."""


@attrs.define
class _GameDialogue:
    """A game in progress, with its history for undo."""

    line: Played
    people: frozenset[int]
    rng: np.random.Generator
    advise: Callable[[Any], Advice]
    seats: Mapping[int, Seat]
    """The seats of the players who are not `people`; the adviser plays if this is empty."""
    forfeit: Forfeit | None = None
    before: list[tuple[Played, Any]] = attrs.field(factory=list)

    def run(self) -> None:
        """Play until the game is over or left."""
        try:
            for number, seat in self.seats.items():
                self._ask_seat(number, functools.partial(seat.begin, number))
            while not self.line.is_over and self.forfeit is None:
                self._turn()
        except _Quit:
            print(UNFINISHED)
            return
        except KeyboardInterrupt:
            print(f"\n{UNFINISHED}")
            raise
        record = self.line.record(self.forfeit)
        for seat in self.seats.values():
            seat.end(record.payoffs, record.forfeit)
        print(f"\n{_picture(self.line.rules, self.line.states[-1])}")
        if record.payoffs is not None:
            say(_result(record.payoffs, self.people))

    def _ask_seat(self, number: int, ask: Callable[[], Any]) -> Any:
        """Return the answer of a player at a seat; a fault ends the game, and is the forfeit."""
        try:
            return ask()
        except Fault as fault:
            self.forfeit = Forfeit(number, fault.reason, fault.detail)
            say(f"\nThe computer loses the game by its fault: {fault}")
            return None

    def _turn(self) -> None:
        """Let the player to move take one action."""
        line = self.line
        state = line.states[-1]
        actions = line.choices()
        mover = line.rules.player(state)
        if mover in self.people:
            if len(self.people) > 1:
                print(f"\nIt is {player_name(mover)}'s turn.")
            print(f"\n{_picture(line.rules, state)}\n\n{_menu(self._names(actions))}")
            action = self._ask(actions)
            if action is None:
                return
            self.before.append((line.copy(), self.rng.bit_generator.state))
        else:
            print(f"\n{_words(line.rules, state)}")
            action, reason = actions[0], ""
            if len(actions) > 1 and self.seats:
                seat = self.seats[mover]
                choose = functools.partial(seat.choose, state, actions, self.rng)
                action = self._ask_seat(mover, choose)
                if action is None:
                    return
            elif len(actions) > 1:
                advice = self.advise(state)
                chosen = advice.chosen or actions
                action = chosen[int(self.rng.integers(len(chosen)))]
                reason = f", {_reason(advice)}"
            many = line.rules.is_general_sum
            who = f"The computer, as {player_name(mover)}," if many else "The computer"
            say(f"\n{who} plays {line.rules.action_name(state, action)}{reason}.")
        self._take(action)

    def _take(self, action: Any) -> None:
        """Take an action, and print the outcome of chance."""
        from gamedp.play.play import drawn  # noqa: PLC0415 - not needed for --help

        state, rules = self.line.states[-1], self.line.rules

        def draw(probabilities: Sequence[float]) -> int:
            place = drawn(self.rng, probabilities)
            if probabilities[place] < 1:
                name = rules.outcome_name(state, action, place)
                say(f"Chance decides: {name}." if name else "Chance decides:")
            return place

        self.line.take(action, draw)

    def _ask(self, actions: Sequence[Any]) -> Any:
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
                    advice = self.advise(self.line.states[-1])
                    say(_hint(advice, self.people))
                case "help" | "?":
                    say(f"{HELP}\n{_menu(names)}")
                case _:
                    say(_unknown(answer, names))

    def _names(self, actions: Sequence[int]) -> dict[Any, str]:
        state = self.line.states[-1]
        return {action: self.line.rules.action_name(state, action) for action in actions}

    def _undo(self) -> bool:
        """Go back to the person's last decision, chance included; return False if there is none."""
        if not self.before:
            return False
        self.line, self.rng.bit_generator.state = self.before.pop()
        return True


def _words(rules: gamedp.rules.Rules, state: Any) -> str:
    """Return a position in words, or the game's drawing of it."""
    if not hasattr(rules.game, "render"):
        return rules.view(state).draw(columns() or COLUMNS)
    words = rules.render(state)
    return words if "\n" in words else fitted(words)


def _picture(rules: gamedp.rules.Rules, state: Any) -> str:
    """Return a position in words, followed by a drawing unless the words are one already."""
    words, drawing = _words(rules, state), rules.view(state).draw(columns() or COLUMNS)
    is_drawn = "\n" in rules.render(state) or not hasattr(rules.game, "view")
    return words if is_drawn or words == drawing else f"{words}\n{drawing}"


def _menu(names: dict[Any, str]) -> str:
    """Return the actions with their numbers; many of them side by side."""
    width = max(len(str(action)) for action in names)
    entries = [
        f"  {action!s:>{width}}" + (f"  {name}" if name != str(action) else "")
        for action, name in names.items()
    ]
    if len(entries) <= LONG_MENU:
        return "\n".join(entries)
    widest = max(map(len, entries)) + 2
    beside = max((columns() or COLUMNS) // widest, 1)
    rows = -(-len(entries) // beside)
    lines = ("".join(f"{entry:{widest}}" for entry in entries[row::rows]) for row in range(rows))
    return "\n".join(line.rstrip() for line in lines)


def _understood(answer: str, names: dict[Any, str]) -> Any:
    """Return the action with this number or name, if it is unique."""
    found = [action for action in names if answer == str(action)] or [
        action for action, name in names.items() if answer.casefold() == name.casefold()
    ]
    return found[0] if len(found) == 1 else None


def _unknown(answer: str, names: dict[Any, str]) -> str:
    known = [*names.values(), "hint", "undo", "help", "quit"]
    close = difflib.get_close_matches(answer.casefold(), known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else "`help` lists what there is."
    return f"There is no action {answer!r} here; {hint}"


def _reason(advice: Advice) -> str:
    """Return the reason for an action in words."""
    count = len(advice.best)
    if advice.is_certain:
        if len(advice.chosen) < count and math.isfinite(advice.plies):
            return f"of {count} equally good actions one that wins soonest or loses latest"
        return "the best action" if count == 1 else f"one of {count} equally good actions"
    return "which seems best" if count == 1 else f"one of {count} actions that seem equally good"


def _hint(advice: Advice, people: frozenset[int]) -> str:
    """Return the person's expectation after each action, in words."""
    width = max((len(each.name) for each in advice.actions), default=0)
    rows = [
        f"{' ' if each.best == 'no' else '*'} {each.name:<{width}}  {value}"
        for each, value in zip(advice.actions, _aligned(advice.actions), strict=True)
    ]
    head = "After each action you can expect:"
    return "\n".join([head, *rows, _verdict(advice), *_outlook(advice, people), _basis(advice)])


def _verdict(advice: Advice) -> str:
    """Return in words which actions are best, and whether that is certain."""
    best = [each.name for each in advice.best]
    how = "are" if advice.is_certain else "seem"
    if not best:
        return "Nothing is known of the actions."
    if len(advice.actions) == 1:
        return "There is nothing else to do."
    if len(best) == 1:
        return f"{best[0]} {'is' if advice.is_certain else 'seems'} best."
    if len(best) == len(advice.actions):
        return f"{'Both' if len(best) == 2 else 'All'} actions {how} equally good."
    return f"{', '.join(best[:-1])} and {best[-1]} {how} equally good."


def _basis(advice: Advice) -> str:
    """Return what the values rest on, in words."""
    if advice.depth is None:
        return f"This rests on {_solution_words(advice.result)}."
    if advice.basis == "proven":
        return "The values are proven: the search has seen all that matters."
    return f"The values are estimates: a search to depth {advice.depth}."


def _solution_words(solution: Any) -> str:
    """Return the size of a solution, and what is proven of it, in words."""
    from gamedp.play.advice import basis_of  # noqa: PLC0415 - not needed for --help

    proven = {
        "unproven": ", of which nothing is proven",
        "equilibrium": ", a proven equilibrium: no player gains by deviating alone",
        "exact": "; values are proven exactly",
        "proven": f"; values are proven to within {solution.width:.1g}",
    }
    return (
        f"the solution of all {solution.model.num_states:,} positions{proven[basis_of(solution)]}"
    )


def _outlook(advice: Advice, people: frozenset[int]) -> list[str]:
    """Return the length of play, the winner, and the choice of equally good actions, in words."""
    if math.isinf(advice.plies):
        return []
    person = next(iter(people)) if len(people) == 1 else None
    words = f"It takes {how_long(advice.plies)} to the end"
    if advice.winner is not None:
        is_you = advice.winner == person
        who = "You win" if is_you else f"{_other(advice.winner, 2, person).capitalize()} wins"
        words = f"{who} in {how_long(advice.plies)}"
    if len(advice.chosen) < len(advice.best):
        names = [each.name for each in advice.actions if each.action in advice.chosen]
        words += f", with {' or '.join(names)}"
    return [f"{words}."]


def _aligned(actions: Sequence[AdvisedAction]) -> list[str]:
    """Return the values of actions at equal width: integers, or with six decimals."""
    are_whole = all(each.value.is_integer() for each in actions)
    texts = [
        ("" if each.bound == "exact" else f"{each.bound} ")
        + (f"{each.value:g}" if are_whole else f"{each.value:.6f}")
        for each in actions
    ]
    width = max(map(len, texts), default=0)
    return [f"{text:>{width}}" for text in texts]


def _result(payoffs: Sequence[float], people: frozenset[int]) -> str:
    """Describe how a game has ended."""
    count = len(payoffs)
    if count == 1:
        return f"The game is over: {payoffs[0]:g} for you."
    person = next(iter(people)) if len(people) == 1 else None
    most = max(payoffs)
    winners = [player for player, payoff in enumerate(payoffs) if payoff == most]
    names = ["you" if player == person else _other(player, count, person) for player in winners]
    if len(winners) == count:
        verdict = "It is a draw"
    elif len(winners) > 1:
        verdict = f"{' and '.join(names)} have got the most"
    else:
        verdict = "You have won" if winners == [person] else f"{names[0]} has won"
    shares = [] if person is None else [f"{payoffs[person]:g} for you"]
    shares += [
        f"{payoff:g} for {_other(player, count, person)}"
        for player, payoff in enumerate(payoffs)
        if player != person
    ]
    return f"{verdict[0].upper()}{verdict[1:]}: {', '.join(shares)}."


def _other(player: int, count: int, person: int | None) -> str:
    """Return the other players: the computer, or another person."""
    return "the computer" if count == 2 and person is not None else player_name(player)
