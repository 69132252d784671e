"""``gamedp kniffel`` for whole games of one player or two: play, record, replay, analyse."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import attrs
from cyclopts import Group, Parameter

from gamedp.cli.plugin import (
    Flag,
    OutputOptions,
    be_lenient,
    make_game,
    print_json,
    watch,
)
from gamedp.errors import InvalidParameterError
from gamedp.games.kniffel.command.goals import GoalOptions, opponent_of

if TYPE_CHECKING:
    from gamedp.games.kniffel import Adviser, Card, Kniffel, Record, RecordOfTwo

__all__ = ["NAME", "PLAY", "PlayOptions", "adviser_of", "look_at", "play_game", "rules_of"]

NAME = "kniffel"

SECOND = 1 << 32
"""Offset of the seed for the throws of the second player, larger than any drawn seed."""


@Parameter(name="*", group=Group("Playing", sort_key=1))
@attrs.frozen(kw_only=True)
class PlayOptions:
    """Options for playing, recording and viewing a game.

    Parameters
    ----------
    card : str
        Begin with this card, its boxes as in a query but in one text; an empty one if not given.
    seed : int
        Set the seed of the throws; a new one each time if not given.
    auto : bool
        Play the game to its end without asking, with the best decisions.
    record : Path
        Record the game in this file, step by step; continue the game if the file exists.
    replay : Path
        Show a recorded game, step by step.
    analyse : Path
        Show where the points of a recorded game came from, and where they were lost.
    """

    card: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    seed: int | None = None
    auto: Flag = False
    record: Path | None = None
    replay: Path | None = None
    analyse: Path | None = None


PLAY = PlayOptions()
"""The defaults."""


def rules_of(settings: Sequence[str]) -> Kniffel:
    """Return the rules of the settings."""
    rules: Kniffel = make_game(NAME, settings)
    return rules


def adviser_of(rules: Kniffel, output: OutputOptions) -> Adviser:
    """Solve the rules, or load an earlier solution."""
    from gamedp.games.kniffel import Adviser  # noqa: PLC0415 - not needed for --help

    with watch(quiet=output.quiet) as progress:
        return Adviser.of(rules, progress=progress, keep=True)


def as_solved(rules: Kniffel) -> Kniffel:
    """Return the rules in the language in which their table is stored; it serves both languages."""
    return attrs.evolve(rules, language=type(rules)(rules.rules).language)


def look_at(
    path: Path,
    settings: Sequence[str],
    language: str | None,
    output: OutputOptions,
    *,
    step_by_step: bool,
) -> None:
    """Show a recorded game, step by step, or as an analysis of its points."""
    from gamedp.games.kniffel import (  # noqa: PLC0415 - not needed for --help
        RecordOfTwo,
        analyse,
        analyse_two,
        load_record,
        replay,
        replay_of_two,
        report,
        report_of_two,
    )

    if settings:
        message = f"the game in {path} has its rules already: --set does not go with it."
        raise InvalidParameterError(message)
    game = load_record(path)
    language = language or game.rules.language
    adviser = adviser_of(as_solved(game.rules), output)
    if isinstance(game, RecordOfTwo):
        if output.json:
            print_json(analyse_two(game, adviser).to_dict(language))
        elif step_by_step:
            replay_of_two(game, adviser, print, language)
        else:
            print(report_of_two(analyse_two(game, adviser), language))
    elif output.json:
        print_json(analyse(game, adviser).to_dict(language))
    elif step_by_step:
        replay(game, adviser, print, language)
    else:
        print(report(analyse(game, adviser), language))


def play_game(
    settings: Sequence[str],
    further: int,
    language: str | None,
    play: PlayOptions,
    goal: GoalOptions,
    output: OutputOptions,
) -> None:
    """Play a game of one player or two, and record it if a file is named."""
    from gamedp.games.kniffel import (  # noqa: PLC0415 - as above
        Card,
        RecordOfTwo,
        analyse,
        play_perfectly,
    )

    start = Card(further=further) if play.card is None else Card.of(play.card, further=further)
    if play.record is not None and play.record.exists():
        game = _resumed(play.record, start, settings, play, goal)
    else:
        game = _new(start, settings, language, play, goal)
    language = language or game.rules.language
    say = _say_nothing if output.json else print
    save = None if play.record is None else _File(play.record, language, say)
    if save is not None:
        save(game)  # so that a file that cannot be written is detected immediately
    adviser = adviser_of(as_solved(game.rules), output)
    try:
        if play.auto and not isinstance(game, RecordOfTwo):
            game = play_perfectly(game, adviser, say, save, language)
            if output.json:
                print_json(analyse(game, adviser).to_dict(language))
        else:
            be_lenient()
            _ask(game, adviser, goal, save, language)
    finally:
        if save is not None:
            save.say_where()


def _ask(
    game: Record | RecordOfTwo,
    adviser: Adviser,
    goal: GoalOptions,
    save: _File | None,
    language: str,
) -> None:
    """Let one person play, or two, by question and answer."""
    from gamedp.games.kniffel import (  # noqa: PLC0415 - as above
        Dialogue,
        DialogueForTwo,
        RecordOfTwo,
    )

    options: dict[str, Any] = {"ask": input, "say": print, "save": save, "language": language}
    if not isinstance(game, RecordOfTwo):
        Dialogue(game, adviser, **options).run()
        return
    if goal.is_given:
        options["opponent"] = opponent_of(game.rules, goal)
    if goal.max_contexts is not None:
        options["max_contexts"] = goal.max_contexts
    DialogueForTwo(game, adviser, exact=goal.exact, **options).run()


def _new(
    start: Card, settings: Sequence[str], language: str | None, play: PlayOptions, goal: GoalOptions
) -> Record | RecordOfTwo:
    """Return a new game, of two players if there is a card to play against."""
    from gamedp.games.kniffel import Record, RecordOfTwo  # noqa: PLC0415 - as above

    seed = secrets.randbits(32) if play.seed is None else play.seed
    rules = rules_of(settings)
    spoken = attrs.evolve(rules, language=language or rules.language)
    first = Record(spoken, start, seed=seed)
    if not goal.is_given:
        return first
    second = Record(spoken, opponent_of(rules, goal).card, seed=seed + SECOND)
    return RecordOfTwo((first, second), begins=int(goal.opponent_is_next))


def _resumed(
    path: Path, start: Card, settings: Sequence[str], play: PlayOptions, goal: GoalOptions
) -> Record | RecordOfTwo:
    """Return the recorded game; refuse options that contradict it."""
    from gamedp.games.kniffel import Card, RecordOfTwo, load_record  # noqa: PLC0415 - as above

    game = load_record(path)
    records = game.records if isinstance(game, RecordOfTwo) else (game,)
    begins = game.begins if isinstance(game, RecordOfTwo) else 0
    cards = [each.start for each in records]
    rules = attrs.evolve(rules_of(settings), language=game.rules.language)
    other = opponent_of(rules, goal).card if goal.is_given else None
    contradictions = {
        "--set": bool(settings) and rules != game.rules,
        "--card": (play.card is not None or start != Card()) and start != cards[0],
        "--seed": play.seed is not None and play.seed != records[0].seed,
        "--against": other is not None and other not in cards[1:],
        "--opponent-is-next": goal.opponent_is_next and begins == 0,
    }
    wrong = [option for option, contradicts in contradictions.items() if contradicts]
    if play.auto and len(records) == 2:
        message = f"--auto plays a game of one player; the game in {path} is of two."
        raise InvalidParameterError(message)
    if wrong:
        message = (
            f"the game in {path} is another one than {', '.join(wrong)} would make; "
            "leave that out to go on with it, or name a new file."
        )
        raise InvalidParameterError(message)
    if game.is_over:
        message = (
            f"the game in {path} is over; --analyse {path} looks at it. "
            "Name a new file for another game."
        )
        raise InvalidParameterError(message)
    return game


@attrs.define
class _File:
    """The file of a recorded game; called with the record after each step."""

    path: Path
    language: str
    say: Callable[[str], None]
    last: Record | RecordOfTwo | None = None

    def __call__(self, game: Record | RecordOfTwo) -> None:
        game.save(self.path)
        self.last = game

    def say_where(self) -> None:
        """Print where the game is, and how to continue with it."""
        from gamedp.games.kniffel import WORDS  # noqa: PLC0415 - not needed for --help

        words = WORDS[self.language]
        is_over = self.last is not None and self.last.is_over
        self.say((words.saved_whole if is_over else words.saved).format(file=self.path))


def _say_nothing(_text: str) -> None:
    """Keep the output free for JSON."""
