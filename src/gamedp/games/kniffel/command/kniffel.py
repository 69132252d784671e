"""``gamedp kniffel``: single queries, a sheet to play at, and analyses of games."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
from cyclopts import Parameter

from gamedp.cli.plugin import (
    OUTPUT,
    GameSettings,
    OutputOptions,
    print_json,
    values_of,
    watch,
)
from gamedp.errors import InvalidParameterError
from gamedp.games.kniffel.command.games import (
    NAME,
    PLAY,
    PlayOptions,
    adviser_of,
    look_at,
    play_game,
    rules_of,
)
from gamedp.games.kniffel.command.goals import GOAL, GoalOptions, goal_facts, outlook_of

if TYPE_CHECKING:
    from gamedp.games.kniffel import Adviser, Option, Situation

__all__ = ["kniffel"]

Words = Annotated[str, Parameter(allow_leading_hyphen=True)]


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
        Set the number of further Yahtzees on the card, where the rules pay for them.
    lang
        Choose German or English; the language of the rules if not given.
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
        look_at(kept_in, settings or (), lang, output, step_by_step=kept_in == play.replay)
    else:
        play_game(settings or (), further, lang, play, goal, output)


def _check(
    situation: Sequence[str],
    chance: str | None,
    play: PlayOptions,
    goal: GoalOptions,
    output: OutputOptions,
) -> None:
    """Refuse options that are unknown or incompatible."""
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
    alone: dict[str, Any] = {"--replay": play.replay, "--analyse": play.analyse}
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

    rules = rules_of(settings)
    language = language or rules.language
    adviser = adviser_of(rules, output)
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

    rules = rules_of(settings)
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
    """Return a situation, for JSON."""
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
    """Return the expectation in a situation, for JSON."""
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
