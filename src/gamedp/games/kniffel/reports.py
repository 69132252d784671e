"""Answers of the adviser as texts for people: to a query, as advice, and about a whole game."""

from __future__ import annotations

from collections.abc import Sequence

from gamedp.games.kniffel.adviser import Adviser, Option
from gamedp.games.kniffel.analysis import Analysis
from gamedp.games.kniffel.boxes import shown
from gamedp.games.kniffel.record import Round
from gamedp.games.kniffel.situation import Situation
from gamedp.games.kniffel.words import WORDS

__all__ = ["advice", "answer", "report"]


def answer(adviser: Adviser, situation: Situation, language: str = "de") -> str:
    """Return what the article's program answers to a query, and what every decision is worth.

    Examples
    --------
    >>> adviser = Adviser.of()
    >>> situation = Situation.of("0 0 0 0 0 0 0 0 0 0 0 - 0 0")
    >>> print(answer(adviser, situation).splitlines()[-2])
    Punkterwartung: 2.301432
    """
    words = WORDS[language]
    at_start_of_turn = adviser.expectation(Situation(situation.card))
    found = adviser.expectation(situation)
    options = adviser.options(situation)
    lines = [situation.card.render(language, at_start_of_turn.value)]
    if options:
        best = words.query_entry if options[0].kept is None else words.query_keep
        lines += [
            words.query.format(number=situation.number, dice=shown(situation.dice)),
            best.format(best=options[0].name(language)),
        ]
    lines += [
        words.query_value.format(value=found.value),
        words.query_bounds.format(lower=found.lower, upper=found.upper),
    ]
    if options:
        lines += ["", advice(options, language)]
    return "\n".join(lines)


def advice(options: Sequence[Option], language: str = "de", most: int | None = None) -> str:
    """Return a table of decisions, what can be expected after them and what they lose.

    Parameters
    ----------
    options : sequence of Option
        At least one, the best one first.
    language : {"de", "en"}
    most : int, optional
        How many are shown; all of them if not given.
    """
    words = WORDS[language]
    shown_options = options[:most]
    is_keep = options[0].kept is not None
    rows = [
        (
            option.name(language),
            *(() if is_keep else (str(option.points),)),
            f"{option.value:.6f}",
            f"{option.loss:.6f}",
        )
        for option in shown_options
    ]
    lines = _table(words.keeps_head if is_keep else words.entries_head, rows, left={0})
    if len(shown_options) < len(options):
        lines.append(words.more.format(count=len(options) - len(shown_options)))
    return "\n".join(lines)


def report(analysis: Analysis, language: str = "de") -> str:
    """Return what a game brought round by round, and where its points were lost."""
    words = WORDS[language]
    record = analysis.record
    labels = list(words.report_rows)
    numbers = [
        f"{analysis.start.value:.3f}",
        f"{analysis.luck:+.3f}",
        f"{0.0 - analysis.handicap:+.3f}",
        f"{analysis.now.value:.3f}",
    ]
    if record.waits_for == "nothing":
        labels[-1], numbers[-1] = words.report_end, str(record.total)
    lines = [f"{label:<24}{number:>9}" for label, number in zip(labels, numbers, strict=True)]
    rounds = [
        _round(analysis, number, played, language)
        for number, played in enumerate(record.rounds, start=1)
    ]
    if rounds:
        lines += ["", *_table(words.rounds_head, rounds, left={1, 2})]
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
        lines += ["", words.mistakes, *_table(words.mistakes_head, mistakes, left={2, 3, 4})]
    elif analysis.decisions:
        lines += ["", words.no_mistakes]
    return "\n".join(lines)


def _round(analysis: Analysis, number: int, played: Round, language: str) -> tuple[str, ...]:
    """Return the row of one round: throws with keeps between them, the entry, luck and loss."""
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
    """Return the lines of a table; columns are flush right, but for those in `left`."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    return [
        "  ".join(
            f"{cell:<{width}}" if column in left else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]
