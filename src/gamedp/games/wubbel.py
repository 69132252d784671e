"""Wubbel and Pig: roll again and risk the points of the turn, or save them.

The rules are those of the programming contest in Linux-Magazin 09/10, as explained and solved in
"Würfeln mit Wubbel" (Joachim Breitner, Eulenspiegel 45). On a turn a player rolls one die as often
as they like. A six ends the turn and loses its points; any other face adds its pips to the turn. A
player who saves adds the turn's points to their safe ones and passes the die on. A player with 50
points, safe and of the turn together, has won. Pig (John Scarne, 1945) is the same game up to 100
with a die that busts on 1.

Two things that the article leaves open are settled here. A turn begins with a roll: passing with
nothing gained never helps, but would permit endless games. And a position is won as soon as the
turn's points suffice, without a save.

Known values: under best play the first player wins Wubbel with probability 0.537937288425229, its
variant with a grace point with 0.5428903381442385, and Pig with 0.5305927. Pig was first solved by
Todd Neller and Clifton Presser, "Optimal Play of the Dice Game Pig", The UMAP Journal 25 (2004).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import attrs
import numpy as np

import gamedp
from gamedp.errors import shown
from gamedp.games._parameters import (
    a_truth_value,
    as_whole,
    as_whole_tuple,
    texts_of,
    whole_at_least,
)

__all__ = ["ROLL", "SAVE", "Hold", "State", "Wubbel", "contraction_factor", "contraction_weights"]

ROLL, SAVE = 0, 1
ACTION_NAMES = ("ROLL", "SAVE")
PLAYER_NAMES = ("first player", "second player")


class State(NamedTuple):
    """A position, from the point of view of the player whose turn it is.

    Attributes
    ----------
    player : int
        The player to move, 0 or 1; at the end of the game, the winner.
    own, opponent : int
        The safe points of that player and of the other one.
    turn : int
        The points of this turn so far, at most the difference between the goal and `own`.
    """

    player: int
    own: int
    opponent: int
    turn: int


@attrs.frozen
class Wubbel:
    """Roll as often as you dare, then save: "Würfeln mit Wubbel" and its relatives.

    Parameters
    ----------
    goal : int
        Points that win the game.
    faces : int
        Faces of the die, all equally likely.
    busts : tuple of int
        The faces that end the turn and lose its points; a single one may be given as a number.
        Every other face scores its pips.
    grace : bool
        Whether a bust leaves one safe point (the article's *Gnadenpunkt*), which may win the
        game. Points then only grow, so that no position can occur twice.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If a parameter is invalid.

    Examples
    --------
    >>> game = Wubbel(goal=10)
    >>> state = State(player=0, own=0, opponent=4, turn=7)
    >>> for action in game.actions(state):
    ...     print(game.action_name(state, action))
    ROLL
    SAVE
    >>> list(game.outcomes(state, SAVE))
    [(1.0, State(player=1, own=4, opponent=7, turn=0))]
    """

    goal: int = attrs.field(default=50, converter=as_whole, validator=whole_at_least(1))
    faces: int = attrs.field(default=6, converter=as_whole, validator=whole_at_least(2))
    busts: tuple[int, ...] = attrs.field(default=(6,), converter=as_whole_tuple)
    grace: bool = attrs.field(default=False, validator=a_truth_value)

    num_players = 2
    constant_sum = 1.0
    surface = (
        "own",
        "opponent",
        "turn",
        SAVE,
        (0, 24),
    )  # there it is interrupted, says the article
    icon = gamedp.views.Dice((5, 2))
    texts = texts_of("wubbel")

    @busts.validator
    def _some_faces_bust_and_some_score(self, _attribute: object, busts: tuple[int, ...]) -> None:
        die = range(1, self.faces + 1)
        if any(isinstance(face, bool) or face not in die for face in busts):
            problem = f"names something that a die with faces={self.faces} does not show"
        elif len(set(busts)) != len(busts):
            problem = "names a face twice"
        elif not busts:
            problem = "lets no face bust, so the first player just rolls until they have won"
        elif len(busts) == len(die):
            problem = "lets every face bust, so nobody ever scores"
        else:
            return
        message = (
            f"busts={shown(busts)} {problem}; name some, not all, of the faces 1 to {self.faces}."
        )
        raise gamedp.errors.InvalidParameterError(message)

    @classmethod
    def pig(cls, goal: int = 100) -> Wubbel:
        """Return Pig: a 1 busts, 2 to 6 score their pips.

        Examples
        --------
        >>> Wubbel.pig()
        Wubbel(goal=100, faces=6, busts=(1,), grace=False)
        """
        return cls(goal=goal, busts=(1,))

    @classmethod
    def presets(cls) -> dict[str, Wubbel]:
        """Return the games with a name, for the page in the browser."""
        return {"Wubbel": cls(), "Gnadenpunkt": cls(grace=True), "Pig": cls.pig()}

    @property
    def acyclic(self) -> bool:
        """Whether no position can recur: only the grace point makes every turn count."""
        return self.grace

    def initial_state(self) -> State:
        """Return the start: no player has points, and player 0 is to roll."""
        return State(0, 0, 0, 0)

    def is_terminal(self, state: State) -> bool:
        """Return whether the mover's safe points and those of the turn have reached the goal."""
        return state.own + state.turn >= self.goal

    def player(self, state: State) -> int:
        """Return the player who rolls or saves."""
        return state.player

    def actions(self, state: State) -> Iterator[int]:
        """Yield ROLL and, once the turn has points, SAVE."""
        yield ROLL
        if state.turn > 0:
            yield SAVE

    def outcomes(self, state: State, action: int) -> Iterator[tuple[float, State]]:
        """Yield the position after a save, or one for each face of the die."""
        player, own, opponent, turn = state
        if action == SAVE:
            yield 1.0, State(1 - player, opponent, own + turn, 0)
            return
        chance = 1.0 / self.faces
        kept = own + 1 if self.grace else own
        for face in range(1, self.faces + 1):
            if face not in self.busts:
                # Points beyond the goal are not counted: they would only multiply the positions.
                yield chance, State(player, own, opponent, min(turn + face, self.goal - own))
            elif kept < self.goal:
                yield chance, State(1 - player, opponent, kept, 0)
            else:  # the grace point wins
                yield chance, State(player, own, opponent, 1)

    def payoff(self, state: State, player: int) -> float:
        """Return 1 for the winner, who is the player that moved last, and 0 for the other."""
        return 1.0 if player == state.player else 0.0

    def canonical(self, state: State) -> tuple[State, bool]:
        """Return the position with player 0 to move; the players' numbers do not matter."""
        return State(0, state.own, state.opponent, state.turn), state.player == 1

    def tier(self, state: State) -> int:
        """Return the safe points that both still miss. No action raises it."""
        return 2 * self.goal - state.own - state.opponent

    def box(self) -> dict[str, tuple[int, int]]:
        """Return the ranges of the fields while the game goes on, player 0 to move."""
        most = self.goal - 1
        return {"player": (0, 0), "own": (0, most), "opponent": (0, most), "turn": (0, most)}

    def is_state(self, state: State) -> bool:
        """Return whether nobody has reached the goal, or a throw has just reached it."""
        return state.own + state.turn < self.goal + self.faces

    def heuristic(self, state: State, player: int) -> float:
        """Estimate the winner by the missing points of both, the turn's points included."""
        lacking = self.goal - state.own - state.turn
        other = self.goal - state.opponent
        chance = other / (lacking + other)
        return chance if player == state.player else 1.0 - chance

    def value_range(self, state: State, player: int) -> tuple[float, float]:
        """Return 0 and 1: one player wins."""
        return 0.0, 1.0

    def action_name(self, state: State, action: int) -> str:
        """Return ROLL or SAVE."""
        return ACTION_NAMES[action]

    def outcome_name(self, state: State, action: int, outcome: int) -> str:
        """Return in words the face of the die after a roll.

        Examples
        --------
        >>> Wubbel().outcome_name(State(0, 0, 0, 0), ROLL, 5)
        'a 6, which ends the turn'
        """
        if action == SAVE:
            return ""
        face = outcome + 1
        return f"a {face}, which ends the turn" if face in self.busts else f"a {face}"

    def render(self, state: State) -> str:
        """Return the position in words.

        Examples
        --------
        >>> game = Wubbel()
        >>> print(game.render(State(player=0, own=0, opponent=24, turn=17)))
        first player to move: 0 safe + 17 of this turn against 24, up to 50
        >>> print(game.render(State(player=1, own=30, opponent=24, turn=20)))
        second player has won: 30 safe + 20 of this turn against 24, up to 50
        """
        standing = "has won" if self.is_terminal(state) else "to move"
        points = f"{state.own} safe + {state.turn} of this turn against {state.opponent}"
        return f"{PLAYER_NAMES[state.player]} {standing}: {points}, up to {self.goal}"

    def view(self, state: State) -> gamedp.views.Scores:
        """Return a drawing of both players' safe points, and those of the turn.

        Examples
        --------
        >>> print(Wubbel().view(State(player=1, own=0, opponent=25, turn=15)))
        first player   ####################                      25
        second player  ............                              0 + 15
                       up to 50
        """
        mover = (PLAYER_NAMES[state.player], state.own, state.turn)
        other = (PLAYER_NAMES[1 - state.player], state.opponent)
        rows = (mover, other) if state.player == 0 else (other, mover)
        return gamedp.views.Scores(rows, most=self.goal)

    def outcome_view(self, state: State, action: int, outcome: int) -> gamedp.views.Dice | None:
        """Return the die after a roll.

        Examples
        --------
        >>> print(Wubbel().outcome_view(State(0, 0, 0, 0), ROLL, 5))
         6
        """
        return None if action == SAVE else gamedp.views.Dice((outcome + 1,))

    def steps(
        self, state: State, action: int, outcome: int
    ) -> list[tuple[str, gamedp.views.Scores]]:
        """Return what the roll or the save has done as its only step.

        Examples
        --------
        >>> game = Wubbel()
        >>> for action, outcome in ((ROLL, 3), (ROLL, 5), (SAVE, 0)):
        ...     [(words, _)] = game.steps(State(0, own=30, opponent=9, turn=12), action, outcome)
        ...     print(words)
        a 4 brings the turn to 16
        a 6 ends the turn and costs 12
        12 are saved, which makes 42
        """
        _, following = list(self.outcomes(state, action))[outcome]
        face = outcome + 1
        if action == SAVE:
            words = f"{state.turn} are saved, which makes {following.opponent}"
        elif face in self.busts:
            words = f"a {face} ends the turn"
            words += f" and costs {state.turn}" if state.turn else ""
        elif self.is_terminal(following):
            words = f"a {face} reaches the goal of {self.goal}"
        else:
            words = f"a {face} brings the turn to {following.turn}"
        return [(words, self.view(following))]


@attrs.frozen
class Hold:
    """A policy that saves as soon as a turn has this many points: simple, but good.

    Parameters
    ----------
    points : int

    Examples
    --------
    >>> Hold(20).choose(State(player=0, own=0, opponent=24, turn=17)) == ROLL
    True
    >>> model = gamedp.compile(Wubbel(goal=10), compile="never")
    >>> round(gamedp.evaluate(model, [Hold(4), Hold(8)]).value(), 4)
    0.4444
    """

    points: int = attrs.field(default=20, converter=as_whole, validator=whole_at_least(1))

    game = Wubbel

    def choose(self, state: State) -> int:
        """Return SAVE if the turn has enough points, otherwise ROLL."""
        return SAVE if state.turn >= self.points else ROLL


def contraction_weights(goal: int = 50, faces: int = 6) -> tuple[Fraction, ...]:
    """Return the weights of a norm in which a sweep of Wubbel is a contraction.

    For two scores, let the distance between two tables p and q of winning probabilities be ::

        d(p, q) = sum over both players to move and all u of d_u |p(u) - q(u)|

    and u are the points of the turn. The article "Würfeln mit Wubbel" proves with such a norm, by
    Banach's theorem, that the two scores' positions have one solution and that sweeps converge to
    it. Its weights solve d_u = (d_(u-1) + ... + d_(u-faces+1)) / faces with d_0 = 1, and each
    except d_0 is then raised by the same small amount, which makes every inequality strict.

    Parameters
    ----------
    goal : int
        Points that win the game.
    faces : int
        Faces of the die, the highest of which busts.

    Returns
    -------
    tuple of Fraction, length goal + 1
        d_0, d_1, ..., d_goal, exactly.

    Notes
    -----
    As printed, the recurrence runs over the raised weights, whose sum diverges. It is meant for the
    weights before they are raised, as done here. And the sweep must not offer a save at u = 0, as
    the printed one does: a pass transfers the whole difference at the other player's u = 0.

    Examples
    --------
    >>> [str(weight) for weight in contraction_weights(goal=2, faces=2)]
    ['1', '17/32', '9/32']
    """
    weights = [Fraction(1)]
    while len(weights) <= goal:
        weights.append(sum(weights[1 - faces :], Fraction(0)) / faces)
    beyond = faces - sum(weights, Fraction(0))  # infinitely many would sum to `faces`
    raised_by = beyond / faces / (2 * goal)
    return (weights[0], *(weight + raised_by for weight in weights[1:]))


def contraction_factor(
    weights: Sequence[Fraction], faces: int = 6, *, may_pass: bool = False
) -> Fraction:
    """Return the factor by which a sweep shrinks distances in the norm with these weights.

    A difference at u points of the turn enters, divided by the number of faces, the positions from
    which one roll leads there: up to faces - 1 points earlier in the same turn, and for u = 0 every
    position of the other player, by a bust. The factor is the ratio of the weighted contributions
    to the original weight; if it is below 1, the sweep is a contraction. Then k sweeps from any
    start, of which the first changes the table by a distance c, end within
    factor^k / (1 - factor) * c of the solution (Banach, 1922).

    Parameters
    ----------
    weights : sequence of Fraction
        d_0, d_1, ..., all positive.
    faces : int
        Faces of the die, the highest of which busts.
    may_pass : bool
        Whether a sweep also offers a save of nothing at the start of a turn, as the article prints
        it. A pass transfers the whole difference, and the sweep is not a contraction in any such
        norm.

    Examples
    --------
    >>> float(contraction_factor(contraction_weights()))
    0.9996297969875595
    >>> round(float(contraction_factor(contraction_weights(), may_pass=True)), 2)
    1.79
    """
    arriving = [sum(weights[max(0, u - faces + 1) : u], Fraction(0)) for u in range(len(weights))]
    arriving[0] = sum(weights, Fraction(0)) + (faces - 1) * weights[0] * may_pass
    return max(flow / weight for flow, weight in zip(arriving, weights, strict=True)) / faces


def least_contraction_factor(size: int = 50, faces: int = 6) -> float:
    """Return the least factor, over all weights, by which a sweep shrinks distances.

    It is the spectral radius of the matrix of a roll, whose dominant eigenvector has the weights
    (Perron, 1907). The longest games end at this rate, by
    :func:`gamedp.policies.greatest_survival`.

    Parameters
    ----------
    size : int
        The number of weights: the number of possible points of a turn.
    faces : int
        Faces of the die, the highest of which busts.

    Raises
    ------
    InvalidParameterError
        If one of them is not an integer of at least 1.

    Examples
    --------
    >>> round(least_contraction_factor(), 12)
    0.990906651718
    """
    given: dict[str, Any] = {"size": size, "faces": faces}
    for name, number in given.items():
        if not hasattr(number, "__index__") or number < 1:
            message = f"{name} must be a whole number of at least 1, not {shown(number)}."
            raise gamedp.errors.InvalidParameterError(message)
    rolls = sum((np.eye(size, k=face) for face in range(1, faces)), np.zeros((size, size)))
    rolls[:, 0] += 1.0
    return float(abs(np.linalg.eigvals(rolls / faces)).max())
