"""Kniffel, known as Yahtzee: five dice, three throws a turn, thirteen boxes to fill.

The rules are those of "Über das perfekte Kniffel-Spiel" (Felix Holderied, 1999 to 2014). A turn has
up to three throws; between them any dice may stay on the table. After the last one the throw is
entered in a free box: the sum of one face, of all dice for a 3er-Pasch, a 4er-Pasch or Chance, 25
for a Full House, 30 and 40 for straights of four and five, 50 for a Kniffel. At least 63 points in
the upper six boxes earn another 35. Where the article leaves something open, its numbers decide: a
Kniffel counts as a Full House.

Yahtzee's official rules (Hasbro, 40958) differ for a Yahtzee that is thrown when its box is filled.
If that holds 50 points, 100 more are paid. The throw must go into the box of its face; if that is
filled, into any free box of the lower part, as a joker: for 25 points as a Full House, 30 and 40 as
straights; if those are filled too, into any other, for none. The "free choice" that players know
from older sheets and solvers leaves the box to the player, and the throw is a joker if the box of
its face is filled. A Yahtzee that is not a joker is not a Full House.

Known values: from the empty sheet, the value of the article's rules is 245.904728 points, and
without the Kniffel as a Full House 245.870775, the number for Yahtzee without bonuses and jokers in
the literature. The value of Yahtzee with free jokers is 254.589609 (Tom Verhoeff, "How to Maximize
Your Score in Solitaire Yahtzee", 1999; Phil Woodward, "Yahtzee: The Solution", Chance 16, 2003;
James Glenn, "An Optimal Strategy for Yahtzee", 2006), with the forced jokers of the official rules
254.587729.

On top of the rules there is an :class:`Adviser`, which knows the value of every keep and every
entry in any :class:`Situation`; a :class:`Record` of a game, and :func:`analyse`, which separates
luck from lost points; and the :class:`Dialogue` of ``gamedp kniffel``. For other goals than
expected points, :class:`Targets` has the best probability of reaching any total, and a
:class:`Duel` that of winning; the :class:`Outlook` of a situation is one or the other. :func:`gain`
computes the gain in winning probability from playing to win.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
