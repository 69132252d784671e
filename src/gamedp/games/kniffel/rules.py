"""The rules of Kniffel and of Yahtzee: score sheets, and the turns played from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.games._parameters import a_truth_value, as_whole, whole_at_least
from gamedp.games.kniffel.boxes import (
    FULL_HOUSE,
    KNIFFEL,
    LARGE_STRAIGHT,
    LOWER_BOXES,
    SMALL_STRAIGHT,
    a_language,
    box_names,
    counted,
    one_of,
    refuse,
)
from gamedp.games.kniffel.turn import ENTERING, KniffelTurn, Turn

JOKERS = ("none", "free", "forced")
"""Rules for the use of a further Kniffel; see :class:`Kniffel`."""

PRESETS: dict[str, dict[str, Any]] = {
    "article": {
        "further_bonus": 0,
        "joker": "none",
        "kniffel_is_full_house": True,
        "language": "de",
    },
    "yahtzee": {
        "further_bonus": 100,
        "joker": "forced",
        "kniffel_is_full_house": False,
        "language": "en",
    },
}
"""The parameters of known rules, by name."""

MOST_FACES = 20


class Sheet(NamedTuple):
    """The part of a score sheet that matters for the rest of the game.

    Attributes
    ----------
    upper : int
        The points in the upper part, as far as they count towards the bonus: at most its threshold.
    boxes : int
        The set of filled boxes: the sum of ``1 << box``.
    bonus : int
        1 if the box of the Kniffel holds its points and the rules pay for further ones; otherwise
        0.
    """

    upper: int
    boxes: int
    bonus: int


def _by_the_rules(name: str) -> Any:
    """Return the default by the preset."""

    def default(game: Kniffel) -> Any:
        return PRESETS.get(str(game.rules), PRESETS["article"])[name]

    return attrs.Factory(default, takes_self=True)


@attrs.frozen
class Kniffel:
    """Kniffel for one player, who wants as many points as can be expected.

    A staged game: each turn is a :class:`KniffelTurn` that starts from some :class:`Sheet`. Points
    are rewards of the turns; the bonus for the upper part is paid at the end, as in the article.

    Parameters
    ----------
    rules : {"article", "yahtzee"}
        The defaults of the other parameters: the rules of the article, where a Kniffel counts as a
        Full House, too, and nothing is paid for a further one; or the official rules of Yahtzee,
        with 100 points for each further one and forced jokers.
    throws, dice, faces : int
        Numbers of throws in a turn, of dice, and of faces. The boxes keep their meaning: with two
        dice, a 3er-Pasch is impossible.
    threshold : int
        Points in the upper part that earn its bonus.
    upper_bonus : int
        That bonus.
    further_bonus : int
        The points for each further Kniffel once the box of the Kniffel holds 50 points, in any box.
    joker : {"none", "free", "forced"}
        The use of a Kniffel once its box is filled, with 50 points or none. ``"free"``: any box; if
        that of its face in the upper part is filled, it counts 25 points as a Full House, 30 and 40
        as straights. ``"forced"``: the box of its face, if that is free; otherwise any free box of
        the lower part, where it counts as before; otherwise any box, for no points.
    kniffel_is_full_house : bool
        Whether a Kniffel counts as a Full House, at any time.
    language : {"de", "en"}
        Of the names of the boxes.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> game = Kniffel()
    >>> print(game.render(game.numbered(128679)))
    free: Einser, Dreier, Sechser, Kniffel, Chance; 39 points above, 24 more for the bonus
    >>> Kniffel("yahtzee").joker
    'forced'
    """

    rules: str = attrs.field(default="article", validator=one_of(*PRESETS))
    throws: int = attrs.field(default=3, converter=as_whole, validator=whole_at_least(1))
    dice: int = attrs.field(default=5, converter=as_whole, validator=whole_at_least(1))
    faces: int = attrs.field(default=6, converter=as_whole, validator=whole_at_least(2))
    threshold: int = attrs.field(default=63, converter=as_whole, validator=whole_at_least(0))
    upper_bonus: int = attrs.field(default=35, converter=as_whole, validator=whole_at_least(0))
    further_bonus: int = attrs.field(default=_by_the_rules("further_bonus"), converter=as_whole)
    joker: str = attrs.field(default=_by_the_rules("joker"), validator=one_of(*JOKERS))
    kniffel_is_full_house: bool = attrs.field(
        default=_by_the_rules("kniffel_is_full_house"), validator=a_truth_value
    )
    language: str = attrs.field(default=_by_the_rules("language"), validator=a_language)

    @faces.validator
    def _not_too_many_faces(self, _attribute: object, faces: int) -> None:
        if faces > MOST_FACES:
            refuse(
                f"faces={faces} makes a sheet of {faces + LOWER_BOXES} boxes, too many to solve; "
                f"take dice with at most {MOST_FACES} faces."
            )

    @further_bonus.validator
    def _further_bonus_is_no_loss(self, _attribute: object, bonus: object) -> None:
        if not isinstance(bonus, int) or isinstance(bonus, bool) or bonus < 0:
            refuse(
                f"further_bonus must be a whole number of at least 0, not {shown(bonus)}; "
                "leave it out for what the rules say, or set it to 0 for no such bonus."
            )

    @property
    def num_boxes(self) -> int:
        """The number of boxes of the sheet."""
        return self.faces + LOWER_BOXES

    @property
    def all_boxes(self) -> int:
        """The value of `Sheet.boxes` when all are filled."""
        return (1 << self.num_boxes) - 1

    @property
    def lower_boxes(self) -> int:
        """The value of `Sheet.boxes` when those of the lower part are filled."""
        return self.all_boxes - ((1 << self.faces) - 1)

    @property
    def kniffel_box(self) -> int:
        """The number of the Kniffel's box."""
        return self.faces + KNIFFEL

    @property
    def joker_boxes(self) -> int:
        """The boxes in which a Kniffel counts as a joker only: the sum of ``1 << box``."""
        first = SMALL_STRAIGHT if self.kniffel_is_full_house else FULL_HOUSE
        return sum(1 << (self.faces + box) for box in range(first, LARGE_STRAIGHT + 1))

    @property
    def joker_rule(self) -> int:
        """The index of `joker` in `JOKERS`."""
        return JOKERS.index(self.joker)

    def stage(self) -> KniffelTurn:
        """Return the turn that is played from every sheet."""
        return KniffelTurn(
            dice=self.dice,
            faces=self.faces,
            throws=self.throws,
            kniffel_is_full_house=self.kniffel_is_full_house,
            tells_kniffels=self.further_bonus > 0,
            jokers=self.joker != "none",
            language=self.language,
        )

    def box(self) -> dict[str, tuple[int, int]]:
        """Return the least and the greatest value of each field of a sheet."""
        return {
            "upper": (0, self.threshold),
            "boxes": (0, self.all_boxes),
            "bonus": (0, 1 if self.further_bonus > 0 else 0),
        }

    def initial_state(self) -> Sheet:
        """Return the empty sheet."""
        return Sheet(0, 0, 0)

    def is_state(self, context: Sheet) -> bool:
        """Return whether the Kniffel's box is filled if it holds points."""
        return context.bonus == 0 or (context.boxes >> self.kniffel_box) & 1 == 1

    def is_terminal(self, context: Sheet) -> bool:
        """Return whether all boxes are filled."""
        return context.boxes == self.all_boxes

    def tier(self, context: Sheet) -> int:
        """Return the number of free boxes."""
        # Counts the bits by adding neighbours: pairs, fours, eights; a product adds the bytes.
        free = self.all_boxes - context.boxes
        free -= (free >> 1) & 0x55555555
        free = (free & 0x33333333) + ((free >> 2) & 0x33333333)
        free = (free + (free >> 4)) & 0x0F0F0F0F
        return ((free * 0x01010101) >> 24) & 0xFF

    def allows(self, context: Sheet, end: Turn) -> bool:
        """Return whether the box of the entry is free, and open to a Kniffel if it is one."""
        boxes = context.boxes
        if (boxes >> end.box) & 1 == 1:
            return False
        if end.kniffel == 0 or self.joker_rule == 0:
            return True
        is_further = (boxes >> self.kniffel_box) & 1 == 1
        face_is_filled = (boxes >> (end.kniffel - 1)) & 1 == 1
        if is_further and self.joker_rule == 2:
            if not face_is_filled:
                return end.box == end.kniffel - 1
            if end.box < self.faces:
                return boxes & self.lower_boxes == self.lower_boxes
        if (self.joker_boxes >> end.box) & 1 == 1:
            return (end.points > 0) == (is_further and face_is_filled)
        return True

    def following(self, context: Sheet, end: Turn) -> Sheet:
        """Return the sheet with the entry."""
        upper = context.upper
        if end.box < self.faces:
            upper = min(upper + end.points, self.threshold)
        bonus = context.bonus
        if self.further_bonus > 0 and end.box == self.kniffel_box and end.points > 0:
            bonus = 1
        return Sheet(upper, context.boxes | (1 << end.box), bonus)

    def reward(self, context: Sheet, end: Turn, player: int) -> float:
        """Return the points of the entry, with the bonus for a further Kniffel."""
        if context.bonus > 0 and end.kniffel > 0:
            return float(end.points + self.further_bonus)
        return float(end.points)

    def payoff(self, context: Sheet, player: int) -> float:
        """Return the bonus for the upper part."""
        return float(self.upper_bonus) if context.upper >= self.threshold else 0.0

    def entries(self, context: Sheet, dice: tuple[int, ...]) -> list[Turn]:
        """Return the possible ends of a turn with this throw: its entries.

        Examples
        --------
        >>> from gamedp.games.kniffel import throw
        >>> game = Kniffel()
        >>> turn = game.stage()
        >>> for end in game.entries(game.numbered(128679), throw("13345")):
        ...     print(turn.render(end))
        1 point in Einser
        6 points in Dreier
        0 points in Sechser
        0 points in Kniffel
        16 points in Chance
        """
        turn = self.stage()
        last = Turn(ENTERING, 0, dice, 0, 0, 0)
        ends = [turn.entry(dice, action) for action in turn.actions(last)]
        return [end for end in ends if self.allows(context, end)]

    def number(self, context: Sheet) -> int:
        """Return the number of a sheet, from 0; for the article's game, the same as there.

        Examples
        --------
        >>> Kniffel().number(Sheet(upper=24, boxes=1 << 5, bonus=0))
        2072
        """
        return context.upper + (self.threshold + 1) * (
            context.boxes + (self.all_boxes + 1) * context.bonus
        )

    def numbered(self, number: int) -> Sheet:
        """Return the sheet with this number.

        Raises
        ------
        gamedp.errors.UnknownStateError
            If there is no such sheet.
        """
        rest, upper = divmod(number, self.threshold + 1)
        bonus, boxes = divmod(rest, self.all_boxes + 1)
        context = Sheet(upper, boxes, bonus)
        if not 0 <= bonus <= (1 if self.further_bonus > 0 else 0) or not self.is_state(context):
            message = (
                f"no sheet has the number {number}; the empty one is 0, and the last one of "
                f"those without a bonus {self.number(Sheet(self.threshold, self.all_boxes, 0))}."
            )
            raise gamedp.errors.UnknownStateError(message)
        return context

    def render(self, context: Sheet) -> str:
        """Return the sheet in words: see the class for an example."""
        names = box_names(self.language, self.faces)
        free = [name for box, name in enumerate(names) if not (context.boxes >> box) & 1]
        missing = self.threshold - context.upper
        upper = f"{counted(context.upper, 'point')} above, {missing} more for the bonus"
        parts = [
            f"free: {', '.join(free)}" if free else "all boxes are filled",
            upper if missing else "the bonus above is reached",
        ]
        if context.bonus:
            parts.append(
                f"{counted(self.further_bonus, 'point')} for each further {names[self.kniffel_box]}"
            )
        return "; ".join(parts)
