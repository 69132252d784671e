"""``gamedp kniffel``: single queries, the sheet to play at, and games taken apart afterwards."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
from cyclopts import Group, Parameter

from gamedp.cli.games import make_game
from gamedp.cli.kniffel_goals import GOAL, GoalOptions, goal_facts, opponent_of, outlook_of
from gamedp.cli.options import OUTPUT, Flag, GameSettings, OutputOptions
from gamedp.cli.parameters import values_of
from gamedp.cli.report import print_json
from gamedp.cli.watch import be_lenient, watch
from gamedp.errors import InvalidParameterError

if TYPE_CHECKING:
    from gamedp.games.kniffel import Adviser, Kniffel, Option, Record, Situation

__all__ = ["kniffel"]

NAME = "kniffel"

SECOND = 1 << 32
"""What is added to the seed for the throws of the second player: more than any that is drawn."""

Words = Annotated[str, Parameter(allow_leading_hyphen=True)]


@Parameter(name="*", group=Group("Playing", sort_key=1))
@attrs.frozen(kw_only=True)
class PlayOptions:
    """How a game is played, kept and looked at.

    Parameters
    ----------
    card : str
        The card to begin with, its boxes as in a query but in one text; an empty one if not given.
    seed : int
        What the throws come from; another one each time if not given.
    auto : bool
        Play the game to its end without asking, every decision the best one.
    record : Path
        Keep the game in this file as it goes; go on with it if the file is there.
    replay : Path
        Show a game that was kept, step by step.
    analyse : Path
        Show where the points of a game that was kept came from, and where they were lost.
    """

    card: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    seed: int | None = None
    auto: Flag = False
    record: Path | None = None
    replay: Path | None = None
    analyse: Path | None = None


PLAY = PlayOptions()
"""What holds where nothing is said."""


def kniffel(
    *situation: Words,
    settings: GameSettings = None,
    further: int = 0,
    lang: Literal["de", "en"] | None = None,
    chance: str | None = None,
    play: PlayOptions = PLAY,
    goal: GoalOptions = GOAL,
    output: OutputOptions = OUTPUT,
) -> None:
    """Advise at Kniffel: a single query, or a whole game at the sheet.

    Parameters
    ----------
    situation
        A query: the thirteen boxes of the card from Einser to Chance, a number or - for each; which
        throw was the last, 0 before the first; and its dice, as in
        `- 8 - 16 15 - 15 9 25 30 40 - - 3 13345`. Without it a game begins.
    further
        How many further Yahtzees the card has, where the rules pay for them.
    lang
        German or English; the language of the rules if not given.
    chance
        Print how likely it is to throw what counts in this box within one turn, for a player who
        wants nothing else: Kniffel, "Large Straight", any name or number of a box.
    """
    _check(situation, chance, play, goal, output)
    kept_in = play.replay or play.analyse
    if situation:
        _query(_situation(situation, further), settings or (), lang, goal, output)
    elif chance is not None:
        _chance(chance, settings or (), lang, output)
    elif kept_in is not None:
        _look_at(kept_in, settings or (), lang, output, step_by_step=kept_in == play.replay)
    elif goal.is_given:
        _play_together(settings or (), further, lang, play, goal, output)
    else:
        _play(settings or (), further, lang, play, output)


def _check(
    situation: Sequence[str],
    chance: str | None,
    play: PlayOptions,
    goal: GoalOptions,
    output: OutputOptions,
) -> None:
    """Refuse options that are unknown, or do not go together."""
    for word in situation:
        if word.startswith("-") and word != "-":
            message = f"Unknown option: {word}. `gamedp {NAME} --help` lists them."
            raise InvalidParameterError(message)
    goal.check()
    if goal.target is not None and not situation:
        message = (
            "--target goes with a query: the thirteen boxes of your card, which throw was the "
            "last, and its dice."
        )
        raise InvalidParameterError(message)
    alone: dict[str, Any] = {
        "--record": play.record,
        "--replay": play.replay,
        "--analyse": play.analyse,
    }
    alone |= {"--auto": play.auto, "--chance": chance}
    for option, value in alone.items():
        if goal.against is not None and value:
            message = f"{option} does not go with --against, which is for a query or a game of two."
            raise InvalidParameterError(message)
    given = {
        "--card": play.card is not None,
        "--seed": play.seed is not None,
        "--auto": play.auto,
        "--record": play.record is not None,
    }
    modes = {
        "a query": bool(situation),
        "--replay": play.replay is not None,
        "--analyse": play.analyse is not None,
        "--chance": chance is not None,
        "a game": any(given.values()),
    }
    chosen = [mode for mode, is_given in modes.items() if is_given]
    if len(chosen) > 1:
        named = [option for option, is_given in given.items() if is_given]
        parts = [mode for mode in chosen if mode != "a game"] + named
        message = f"{', '.join(parts)} do not go together: choose one thing to do."
        raise InvalidParameterError(message)
    if output.json and chosen in ([], ["a game"]) and not play.auto:
        message = "--json does not go with a game that asks; it does with --auto."
        raise InvalidParameterError(message)


def _rules(settings: Sequence[str]) -> Kniffel:
    rules: Kniffel = make_game(NAME, settings)
    return rules


def _adviser(rules: Kniffel, output: OutputOptions) -> Adviser:
    from gamedp.games.kniffel import Adviser  # noqa: PLC0415 - not needed for --help

    with watch(quiet=output.quiet) as progress:
        return Adviser.of(rules, progress=progress, keep=True)


def _as_solved(rules: Kniffel) -> Kniffel:
    """Return the rules in the language in which their table is kept: it serves both."""
    return attrs.evolve(rules, language=type(rules)(rules.rules).language)


def _situation(words: Sequence[str], further: int) -> Situation:
    from gamedp.games.kniffel import Situation  # noqa: PLC0415 - not needed for --help

    return Situation.of(*words, further=further)


def _query(
    situation: Situation,
    settings: Sequence[str],
    language: str | None,
    goal: GoalOptions,
    output: OutputOptions,
) -> None:
    from gamedp.games.kniffel import answer, answer_for_goal  # noqa: PLC0415 - as above

    rules = _rules(settings)
    language = language or rules.language
    adviser = _adviser(rules, output)
    if not goal.is_given:
        if output.json:
            print_json(_known(adviser, situation) | _facts(adviser, situation, language))
        else:
            print(answer(adviser, situation, language))
        return
    with watch(quiet=output.quiet) as progress:
        outlook = outlook_of(adviser, situation, goal, progress)
    if output.json:
        print_json(_known(adviser, situation) | goal_facts(adviser, outlook, language))
    else:
        print(answer_for_goal(adviser, outlook, language))


def _chance(box: str, settings: Sequence[str], language: str | None, output: OutputOptions) -> None:
    from gamedp.games.kniffel import (  # noqa: PLC0415 - as above
        box_names,
        box_number,
        chance_in_words,
        chance_of,
    )

    rules = _rules(settings)
    number = box_number(box, rules.faces)
    options = ("throws", "dice", "faces", "kniffel_is_full_house")
    chance = chance_of(number, **{name: getattr(rules, name) for name in options})
    language = language or rules.language
    name = box_names(language, rules.faces)[number]
    if output.json:
        facts = {"game": NAME, "parameters": values_of(rules), "box": name, "throws": rules.throws}
        print_json(facts | chance._asdict())
    else:
        print(chance_in_words(chance, name, rules.throws, language))


def _known(adviser: Adviser, situation: Situation) -> dict[str, Any]:
    """Return what a situation is, for JSON."""
    from gamedp.games.kniffel import shown  # noqa: PLC0415 - not needed for --help

    return {
        "game": NAME,
        "parameters": values_of(adviser.rules),
        "card": situation.card.entries,
        "further": situation.card.further,
        "throw": situation.number,
        "dice": shown(situation.dice) if situation.number else None,
        "points": situation.card.total_by(adviser.rules),
    }


def _facts(adviser: Adviser, situation: Situation, language: str) -> dict[str, Any]:
    """Return what can be expected in a situation, for JSON."""
    options = adviser.options(situation)
    return {
        **attrs.asdict(adviser.expectation(situation)),
        "best": options[0].name(language) if options else None,
        "decision": None if not options else "entry" if options[0].kept is None else "keep",
        "options": [_option(option, language) for option in options],
    }


def _option(option: Option, language: str) -> dict[str, Any]:
    numbers = {name: getattr(option, name) for name in ("value", "lower", "upper", "rest", "loss")}
    points = {"points": option.points} if option.kept is None else {}
    return {"name": option.name(language), **points, **numbers}


def _look_at(
    path: Path,
    settings: Sequence[str],
    language: str | None,
    output: OutputOptions,
    *,
    step_by_step: bool,
) -> None:
    from gamedp.games.kniffel import Record, analyse, replay, report  # noqa: PLC0415 - as above

    if settings:
        message = f"the game in {path} has its rules already: --set does not go with it."
        raise InvalidParameterError(message)
    record = Record.load(path)
    language = language or record.rules.language
    adviser = _adviser(_as_solved(record.rules), output)
    if output.json:
        print_json(analyse(record, adviser).to_dict(language))
    elif step_by_step:
        replay(record, adviser, print, language)
    else:
        print(report(analyse(record, adviser), language))


def _play(
    settings: Sequence[str],
    further: int,
    language: str | None,
    play: PlayOptions,
    output: OutputOptions,
) -> None:
    from gamedp.games.kniffel import Dialogue, analyse, play_perfectly  # noqa: PLC0415 - as above

    record = _begun(settings, further, language, play)
    language = language or record.rules.language
    say = _say_nothing if output.json else print
    save = None if play.record is None else _File(play.record, language, say)
    if save is not None:
        save(record)  # so that a file that cannot be written is found out at once
    adviser = _adviser(_as_solved(record.rules), output)
    try:
        if play.auto:
            record = play_perfectly(record, adviser, say, save, language)
        else:
            be_lenient()
            Dialogue(record, adviser, ask=input, say=say, save=save, language=language).run()
    finally:
        if save is not None:
            save.say_where()
    if output.json:
        print_json(analyse(record, adviser).to_dict(language))


def _play_together(
    settings: Sequence[str],
    further: int,
    language: str | None,
    play: PlayOptions,
    goal: GoalOptions,
    output: OutputOptions,
) -> None:
    """Let two play at one sheet."""
    from gamedp.games.kniffel import DialogueForTwo, Record  # noqa: PLC0415 - as above

    first = _begun(settings, further, language, play)
    opponent = opponent_of(first.rules, goal)
    seed = None if first.seed is None else first.seed + SECOND
    second = Record(first.rules, opponent.card, seed=seed)
    adviser = _adviser(_as_solved(first.rules), output)
    most = {} if goal.max_contexts is None else {"max_contexts": goal.max_contexts}
    be_lenient()
    DialogueForTwo(
        (first, second),
        adviser,
        ask=input,
        say=print,
        language=language or first.rules.language,
        opponent=opponent,
        exact=goal.exact,
        **most,
    ).run()


def _begun(
    settings: Sequence[str], further: int, language: str | None, play: PlayOptions
) -> Record:
    """Return the game that goes on, or a new one."""
    from gamedp.games.kniffel import Card, Record  # noqa: PLC0415 - not needed for --help

    start = Card(further=further) if play.card is None else Card.of(play.card, further=further)
    if play.record is None or not play.record.exists():
        seed = secrets.randbits(32) if play.seed is None else play.seed
        rules = _rules(settings)
        spoken = attrs.evolve(rules, language=language or rules.language)
        return Record(spoken, start, seed=seed)
    record = Record.load(play.record)
    rules = attrs.evolve(_rules(settings), language=record.rules.language)
    contradictions = {
        "--set": bool(settings) and rules != record.rules,
        "--card": (play.card is not None or further > 0) and start != record.start,
        "--seed": play.seed is not None and play.seed != record.seed,
    }
    wrong = [option for option, contradicts in contradictions.items() if contradicts]
    if wrong:
        message = (
            f"the game in {play.record} is another one than {', '.join(wrong)} would make; "
            "leave that out to go on with it, or name a new file."
        )
        raise InvalidParameterError(message)
    if record.waits_for == "nothing":
        message = (
            f"the game in {play.record} is over; --analyse {play.record} looks at it. "
            "Name a new file for another game."
        )
        raise InvalidParameterError(message)
    return record


@attrs.define
class _File:
    """Where a game is kept; called with the record after each step."""

    path: Path
    language: str
    say: Callable[[str], None]
    last: Record | None = None

    def __call__(self, record: Record) -> None:
        record.save(self.path)
        self.last = record

    def say_where(self) -> None:
        """Say where the game is, and what may be done with it."""
        from gamedp.games.kniffel import WORDS  # noqa: PLC0415 - not needed for --help

        words = WORDS[self.language]
        is_over = self.last is not None and self.last.waits_for == "nothing"
        self.say((words.saved_whole if is_over else words.saved).format(file=self.path))


def _say_nothing(_text: str) -> None:
    """Keep the output free for JSON."""
