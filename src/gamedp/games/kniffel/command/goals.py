"""``gamedp kniffel`` with goals other than expected points: to win, or to reach a total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import attrs
from cyclopts import Group, Parameter

from gamedp.cli.plugin import Flag
from gamedp.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    import gamedp
    from gamedp.games.kniffel import Adviser, Kniffel, Opponent, Outlook, Situation

__all__ = ["GOAL", "GoalOptions", "goal_facts", "opponent_of", "outlook_of"]


@Parameter(name="*", group=Group("Other goals than points", sort_key=2))
@attrs.frozen(kw_only=True)
class GoalOptions:
    """The goal to maximise instead of the expected points.

    Parameters
    ----------
    against : str
        Advise what is most likely to win against this card, the opponent's: its thirteen boxes in
        one text, or - for an empty card. Without a query, two play at one sheet, and the second
        player begins with this card.
    against_further : int
        Set the number of further Yahtzees on that card, as --further for your own.
    opponent_plays_for : {"points", "victory"}
        Say what the opponent plays for: points, whatever you do; or to win, which takes an exact
        solution.
    opponent_is_next : bool
        Say that the next turn is the opponent's; it is yours if not given.
    draw : float
        Set what a draw counts; a victory counts 1.
    exact : bool
        Solve the last rounds exactly, even if that takes longer than some seconds.
    target : int
        Advise what is most likely to bring at least this total.
    max_contexts : float
        Set how large a table may become: by default 20 million contexts, about a gigabyte; while
        two play, 4 million.
    """

    against: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    against_further: int = 0
    opponent_plays_for: Literal["points", "victory"] = "points"
    opponent_is_next: Flag = False
    draw: float = 0.5
    exact: Flag = False
    target: int | None = None
    max_contexts: float | None = None

    def given(self) -> list[str]:
        """Return the options that differ from their defaults, by their command-line names."""
        return [
            "--" + field.name.replace("_", "-")
            for field in attrs.fields(type(self))
            if getattr(self, field.name) != field.default
        ]

    @property
    def is_given(self) -> bool:
        """Whether there is a goal other than points."""
        return self.against is not None or self.target is not None

    def check(self) -> None:
        """Refuse incompatible options."""
        given = self.given()
        if self.against is not None and self.target is not None:
            message = "--against, --target do not go together: choose one of them."
            raise InvalidParameterError(message)
        lone = [name for name in given if name not in {"--against", "--target", "--max-contexts"}]
        if lone and self.against is None:
            message = f"{', '.join(lone)} needs --against, the opponent's card."
            raise InvalidParameterError(message)
        if given and not self.is_given:
            message = f"{', '.join(given)} needs --against or --target."
            raise InvalidParameterError(message)


GOAL = GoalOptions()
"""The defaults."""


def outlook_of(
    adviser: Adviser,
    situation: Situation,
    goal: GoalOptions,
    progress: Callable[[gamedp.Progress], None] | None,
) -> Outlook:
    """Return the probability of the goal, and that after every decision."""
    from gamedp.games.kniffel import (  # noqa: PLC0415 - as above
        outlook_against,
        outlook_for_total,
    )

    options: dict[str, Any] = {"progress": progress}
    if goal.max_contexts is not None:
        options["max_contexts"] = goal.max_contexts
    if goal.target is not None:
        return outlook_for_total(adviser, situation, goal.target, **options)
    opponent = opponent_of(adviser.rules, goal)
    return outlook_against(adviser, situation, opponent, exact=goal.exact, **options)


def opponent_of(rules: Kniffel, goal: GoalOptions) -> Opponent:
    """Return the opponent in the options; raise InvalidParameterError if it is not valid."""
    from gamedp.games.kniffel import Card, Opponent  # noqa: PLC0415 - as above

    text = (goal.against or "").strip()
    try:
        further = goal.against_further
        card = Card(further=further) if text == "-" else Card.of(text, further=further)
        card.sheet(rules)
    except InvalidParameterError as error:
        message = f"--against: {error}"
        raise InvalidParameterError(message) from error
    return Opponent(card, goal.opponent_plays_for, goal.opponent_is_next, goal.draw)


def goal_facts(adviser: Adviser, outlook: Outlook, language: str) -> dict[str, Any]:
    """Return the facts about a goal, for JSON."""
    from gamedp.games.kniffel import Opponent  # noqa: PLC0415 - as above

    situation, goal, best = outlook.situation, outlook.goal, outlook.best
    if isinstance(goal, Opponent):
        wanted: dict[str, Any] = {
            "against": {
                "card": goal.card.entries,
                "further": goal.card.further,
                "points": goal.card.total_by(adviser.rules),
                "plays_for": goal.plays_for,
                "is_next": goal.is_next,
                "draw": goal.draw,
            }
        }
    else:
        wanted = {"target": goal}
    expected = adviser.expected_after(situation)
    for_points = adviser.best(situation) if best is not None else None
    return {
        **wanted,
        "exact": outlook.exact,
        "value": outlook.value,
        "lower": outlook.lower,
        "upper": outlook.upper,
        "best": best and best.name(language),
        "decision": best and ("entry" if best.kept is None else "keep"),
        "best_for_points": for_points and for_points.name(language),
        "options": [
            {
                "name": option.name(language),
                **({"points": option.points} if option.kept is None else {}),
                **{name: getattr(option, name) for name in ("value", "lower", "upper", "loss")},
                "expected": expected[option.decision],
            }
            for option in outlook.options
        ],
    }
