"""Answers of the adviser as texts: to a query, as advice, and about a whole game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from gamedp.games.kniffel.adviser import Adviser
from gamedp.games.kniffel.analysis import Analysis, AnalysisOfTwo
from gamedp.games.kniffel.boxes import WORDS, in_words, shown
from gamedp.games.kniffel.card import Card, Situation
from gamedp.games.kniffel.outlook import Opponent, Outlook
from gamedp.games.kniffel.prospects import Kind, Option, Prospect
from gamedp.games.kniffel.record import RecordOfTwo, Round
from gamedp.games.kniffel.remainder import MOST_CONTEXTS
from gamedp.games.kniffel.turn import Chance


def answer(adviser: Adviser, situation: Situation, language: str = "de") -> str:
    """Return the answer of the article's program to a query, and the value of every decision.

    Examples
    --------
    >>> adviser = Adviser.of()
    >>> situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 0")
    >>> print(answer(adviser, situation).splitlines()[-2])
    Punkterwartung: 2.301432
    """
    at_start_of_turn = adviser.expectation(Situation(situation.card))
    found = adviser.expectation(situation)
    options = adviser.options(situation)
    lines = [situation.card.render(language, at_start_of_turn.value)]
    if options:
        lines += _best_in_words(situation, options[0], language)
    lines += [
        in_words(language, "query_value", value=found.value),
        in_words(language, "query_bounds", lower=found.lower, upper=found.upper),
    ]
    if options:
        lines += ["", advice(options, language)]
    return "\n".join(lines)


def _best_in_words(
    situation: Situation, best: Option | Prospect | None, language: str
) -> list[str]:
    """Return the lines of a throw, if there was one, and of the best decision after it."""
    dice = shown(situation.dice)
    lines = [in_words(language, "query", number=situation.number, dice=dice)]
    if best is not None:
        name = "query_entry" if best.kept is None else "query_keep"
        lines.append(in_words(language, name, best=best.name(language)))
    return lines if situation.number > 0 else []


def chance_in_words(chance: Chance, name: str, throws: int, language: str = "de") -> str:
    """Return the probability of a throw that counts in a box, as text.

    Parameters
    ----------
    chance : Chance
    name : str
        Of the box.
    throws : int
        The number of throws.
    language : {"de", "en"}

    Examples
    --------
    >>> from gamedp.games.kniffel import chance_of
    >>> print(chance_in_words(chance_of("Kniffel"), "Kniffel", 3).splitlines()[0])
    Kniffel in 3 Würfen: 4.60 %
    """
    count = WORDS[language]["throws"][throws > 1].format(number=throws)
    return "\n".join(
        [
            in_words(language, "chance", box=name, throws=count, percent=100 * chance.value),
            in_words(language, "query_bounds", lower=chance.lower, upper=chance.upper),
            in_words(language, "chance_alone"),
        ]
    )


def advice(options: Sequence[Option], language: str = "de", most: int | None = None) -> str:
    """Return a table of decisions, with the expectations after them and their losses.

    Parameters
    ----------
    options : sequence of Option
        At least one, the best one first.
    language : {"de", "en"}
    most : int, optional
        The number of decisions shown; all if not given.
    """
    lines = _decisions(
        options[:most],
        {
            "expected": lambda option: f"{option.value:.6f}",
            "loss": lambda option: f"{option.loss:.6f}",
        },
        language,
    )
    if len(lines) <= len(options):
        lines.append(in_words(language, "more", count=len(options) + 1 - len(lines)))
    return "\n".join(lines)


def _decisions(
    options: Sequence[Kind], numbers: dict[str, Callable[[Kind], str]], language: str
) -> list[str]:
    """Return the table of some decisions with their numbers, which are given by their heads."""
    is_keep = options[0].kept is not None
    heads = [options[0].kind, *([] if is_keep else ["points"]), *numbers]
    rows = [
        [
            option.name(language),
            *([] if is_keep else [str(option.points)]),
            *(number(option) for number in numbers.values()),
        ]
        for option in options
    ]
    return _table([WORDS[language]["heads"][head] for head in heads], rows, left={0})


def answer_for_goal(adviser: Adviser, outlook: Outlook, language: str = "de") -> str:
    """Return the probability of winning, or of a total, and that after every decision.

    Parameters
    ----------
    adviser : Adviser
        The adviser for the expected points.
    outlook : Outlook
    language : {"de", "en"}

    Examples
    --------
    >>> from gamedp.games.kniffel import outlook_for_total
    >>> adviser = Adviser.of()
    >>> situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 2 11166")
    >>> outlook = outlook_for_total(adviser, situation, 50)
    >>> for line in answer_for_goal(adviser, outlook, "en").splitlines()[-13:-10]:
    ...     print(line)
    keep    reaches      loss  expected
    111    0.027778  0.000000     1.389
    66     0.004630  0.023148     0.231
    """
    words = WORDS[language]
    situation, best = outlook.situation, outlook.best
    lines = [_cards(adviser, outlook, language)]
    lines += [
        *_best_in_words(situation, best, language),
        winning_in_words(outlook, language),
        in_words(language, "query_bounds", lower=outlook.lower, upper=outlook.upper),
        *_conditions(outlook, language),
    ]
    if best is None:
        lines += [words["nothing_depends"]] if situation.number > 0 else []
        return "\n".join(lines)
    expected = adviser.expected_after(situation)
    for_points = adviser.best(situation)
    if expected[best.decision] < for_points.lower:
        lines.append(
            in_words(
                language,
                "better_for_points",
                best=for_points.name(language),
                value=for_points.value,
                mine=expected[best.decision],
            )
        )
    return "\n".join([*lines, "", *prospects_in_words(outlook, expected, language)])


def _cards(adviser: Adviser, outlook: Outlook, language: str) -> str:
    """Return a drawing of the card, next to the opponent's if there is one."""
    card, goal = outlook.situation.card, outlook.goal
    if not isinstance(goal, Opponent):
        return card.render(language, adviser.expectation(Situation(card)).value)
    return side_by_side(adviser, (card, goal.card), WORDS[language]["both_cards"], language)


def side_by_side(
    adviser: Adviser, cards: Sequence[Card], heads: Sequence[str], language: str = "de"
) -> str:
    """Return two cards as text, each with its expectation, under a heading.

    Parameters
    ----------
    adviser : Adviser
    cards, heads : sequences of two Card, two str
    language : {"de", "en"}
    """
    left, right = (
        card.render(language, adviser.expectation(Situation(card)).value).splitlines()
        for card in cards
    )
    lines = [(f" {heads[0]}", f" {heads[1]}"), *zip_longest(left, right, fillvalue="")]
    width = max(map(len, left))
    return "\n".join(f"{one:<{width}}   {other}".rstrip() for one, other in lines)


def winning_in_words(outlook: Outlook, language: str) -> str:
    """Return the probability of winning, or of the total, on one line."""
    if not isinstance(outlook.goal, Opponent):
        return in_words(language, "reaches", total=outlook.goal, value=outlook.value)
    if outlook.exact:
        return in_words(language, "wins", value=outlook.value)
    return in_words(language, "wins_between", lower=outlook.lower, upper=outlook.upper)


def _conditions(outlook: Outlook, language: str) -> list[str]:
    """Return the assumptions of a probability of winning."""
    words, goal, larger = WORDS[language], outlook.goal, outlook.larger
    if not isinstance(goal, Opponent):
        return []
    is_next = words["is_next"] if goal.is_next else ""
    lines = [
        words["plays_for"][goal.plays_for] + is_next + in_words(language, "draw", draw=goal.draw)
    ]
    if not outlook.exact:
        lines.append(words["between"])
        if larger is not None and larger.contexts <= MOST_CONTEXTS:
            lines.append(in_words(language, "exact_takes", size=larger))
    return lines


def prospects_in_words(outlook: Outlook, expected: Mapping[Any, float], language: str) -> list[str]:
    """Return the table of all decisions."""
    value = "wins" if isinstance(outlook.goal, Opponent) else "reaches"
    numbers: dict[str, Callable[[Prospect], str]] = {value: lambda each: f"{each.value:.6f}"}
    if not outlook.exact:
        numbers["upper"] = lambda each: f"{each.upper:.6f}"
    numbers["loss"] = lambda each: f"{each.loss:.6f}"
    numbers["expected"] = lambda each: f"{expected[each.decision]:.3f}"
    return _decisions(outlook.options, numbers, language)


def report(analysis: Analysis | AnalysisOfTwo, language: str = "de") -> str:
    """Return the points of a game round by round, and where points were lost.

    Of a game of two, the result is first, and then the report of each player.
    """
    words = WORDS[language]
    if isinstance(analysis, AnalysisOfTwo):
        lines = [winner_in_words(analysis.game, language)] if analysis.game.is_over else []
        for number, each in enumerate(analysis.players, start=1):
            lines += [*([""] if lines else []), in_words(language, "player", number=number)]
            lines += [report(each, language)]
        return "\n".join(lines)
    record = analysis.record
    labels = list(words["report_rows"])
    numbers = [
        f"{analysis.start.value:.3f}",
        f"{analysis.luck:+.3f}",
        f"{0.0 - analysis.handicap:+.3f}",
        f"{analysis.now.value:.3f}",
    ]
    if record.is_over:
        labels[-1], numbers[-1] = words["report_end"], str(record.total)
    lines = [f"{label:<24}{number:>9}" for label, number in zip(labels, numbers, strict=True)]
    rounds = [
        _round(analysis, number, played, language)
        for number, played in enumerate(record.rounds, start=1)
    ]
    if rounds:
        lines += ["", *_table(words["rounds_head"], rounds, left={1, 2})]
    mistakes = [
        (
            str(each.round),
            str(each.situation.number),
            shown(each.situation.dice),
            each.chosen.name(language),
            each.best.name(language),
            f"{each.chosen.loss:.6f}",
        )
        for each in analysis.mistakes
    ]
    if mistakes:
        lines += ["", words["mistakes"], *_table(words["mistakes_head"], mistakes, left={2, 3, 4})]
    elif analysis.decisions:
        lines += ["", words["no_mistakes"]]
    return "\n".join(lines)


def winner_in_words(game: RecordOfTwo, language: str = "de") -> str:
    """Return the points of both players, and the winner."""
    first, second = (record.total for record in game.records)
    points = in_words(language, "points_of_both", first=first, second=second)
    if game.winner is None:
        return f"{points}\n{in_words(language, 'no_winner')}"
    winner = in_words(language, "player", number=game.winner + 1)
    return f"{points}\n{in_words(language, 'winner', player=winner)}"


def _round(analysis: Analysis, number: int, played: Round, language: str) -> tuple[str, ...]:
    """Return the row of one round: throws with the keeps between them, the entry, luck and loss."""
    dice = [shown(played.throws[0])]
    for stay, after in zip(played.keeps, (*played.throws[1:], None), strict=False):
        dice.append(f"({shown(stay)})")
        dice += [] if after is None else [shown(after)]
    taken = [each.chosen for each in analysis.decisions if each.round == number]
    entry = next((option for option in taken if option.kept is None), None)
    luck = sum(each.luck for each in analysis.throws if each.round == number)
    return (
        str(number),
        " ".join(dice),
        entry.name(language) if entry else "",
        str(entry.points) if entry else "",
        f"{luck:+.3f}",
        f"{sum(option.loss for option in taken):.3f}",
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: set[int]) -> list[str]:
    """Return the lines of a table; columns are aligned right, except for those in `left`."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return [
        "  ".join(
            f"{cell:<{width}}" if column in left else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
