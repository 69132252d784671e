"""Chances and totals of a model, with bounds that allow for what is undecided."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from gamedp.bellman.enclosures import rounded_outward
from gamedp.errors import NotSolvedError, UnsupportedProblemError
from gamedp.model.objectives import (
    AverageReward,
    FiniteHorizon,
    Objective,
    Optimum,
    Reachability,
    TotalReward,
)
from gamedp.questions.changes import (
    as_written,
    bare,
    cut,
    looped,
    with_room_for_decimals,
    without_payoffs,
)
from gamedp.questions.truth import StateNumbers, Truth
from gamedp.results.status import Guarantee

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.questions.paths import Product
    from gamedp.runtime.arrays import Flags

Solve = Callable[["Model", Objective, int], Any]
"""``solve(model, objective, closely)`` returns a solution."""

OPPOSITE: dict[str, Optimum] = {"min": "max", "max": "min"}

AS_ASKED, CLOSELY, EXACTLY = range(3)
"""The ways to compute a number, from the least to the most close."""

CLOSE_WIDTH = 1e-13
"""The distance of bounds that is tried before exact numbers; rounding may allow no less."""

MOST_EXACT = 200_000
"""The largest number of transitions of a model that is solved exactly."""


class NotExactError(Exception):
    """There are no exact numbers; the message says why."""


@attrs.frozen(eq=False)
class Quantities:
    """The numbers that one side can expect of a model.

    Attributes
    ----------
    solve : function
    model : Model
    optimum : {"min", "max"}
        What player 0 wants.
    closely : int
        `AS_ASKED`, `CLOSELY` or `EXACTLY`.
    """

    solve: Solve
    model: Model
    optimum: Optimum
    closely: int

    def opposite(self) -> Quantities:
        """Return the same with the opposite wish."""
        return attrs.evolve(self, optimum=OPPOSITE[self.optimum])

    def chances(self) -> Quantities:
        """Return the same with a model in which nothing is earned."""
        return attrs.evolve(self, model=bare(self.model))

    # Chances

    def until(self, allowed: Truth, target: Truth, first: int, last: int | None) -> StateNumbers:
        """Return the probabilities of reaching some states by way of others, within some steps."""
        steps = None if last is None else last - first

        def reached(one: Flags, other: Flags) -> StateNumbers:
            way = None if one.all() else one
            if steps is None:
                return self._solved(self.model, Reachability(other, way, self.optimum))
            goal = FiniteHorizon(steps, self.optimum, target=other, allowed=way)
            return self._solved(self.model, goal)

        # More states, more paths.
        found = between(
            reached(allowed.certain, target.certain),
            None
            if allowed.is_known and target.is_known
            else reached(allowed.possible, target.possible),
        )
        if first == 0:
            return found
        return between(
            self._delayed(found, allowed.certain, first),
            None if allowed.is_known else self._delayed(found, allowed.possible, first),
        )

    def _delayed(self, numbers: StateNumbers, allowed: Flags, steps: int) -> StateNumbers:
        """Return what numbers are expected to be after some steps, each from an allowed state."""
        if allowed.all():
            return self.after(numbers, steps)
        # The state after all steps need not be allowed, so the last step stands alone.
        last = self.after(numbers, 1)
        exact = None if last.exact is None else last.exact * allowed
        lower, upper = (np.where(allowed, each, 0.0) for each in (last.lower, last.upper))
        before = StateNumbers(lower, upper, exact, last.solution)
        if steps == 1:
            return before
        ended = cut(self.model, ~allowed, np.zeros(len(allowed)))
        return attrs.evolve(self, model=ended).after(before, steps - 1)

    def after(self, last: StateNumbers, steps: int) -> StateNumbers:
        """Return what numbers of states are expected to be after some steps."""

        def expected(final: NDArray[Any]) -> StateNumbers:
            return self._solved(self.model, FiniteHorizon(steps, self.optimum, final=final))

        if self.closely == EXACTLY and last.exact is not None:
            return expected(last.exact)
        is_known = (last.lower == last.upper).all()
        return between(expected(last.lower), None if is_known else expected(last.upper))

    def long_path(self, product: Product) -> StateNumbers:
        """Return the probabilities of a formula, from its products with the model."""
        found = []
        for ended in product.ended:
            numbers = self._solved(ended.model, Reachability(ended.target, None, self.optimum))
            found.append(numbers.at(ended.starts))
        return between(found[0], None if len(found) == 1 else found[1])

    def long_run(self, states: Truth) -> StateNumbers:
        """Return the share of the steps that play is in some states, in the long run."""
        model = looped(bare(self.model))
        sources = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))

        def share(mask: Flags) -> StateNumbers:
            counting = attrs.evolve(model, rewards=mask[sources].astype(float))
            return self._solved(counting, AverageReward(self.optimum))

        return between(share(states.certain), None if states.is_known else share(states.possible))

    # Rewards

    def average(self) -> StateNumbers:
        """Return the reward of a step in the long run."""
        return self._solved(without_payoffs(self.model), AverageReward(self.optimum))

    def earn_within(self, steps: int | None) -> StateNumbers:
        """Return what is earned within some steps, or in all."""
        if steps is None:
            return self._solved(self.model, TotalReward(self.optimum))
        return self._solved(without_payoffs(self.model), FiniteHorizon(steps, self.optimum))

    def until_target(self, target: Truth, *, or_missed: bool) -> StateNumbers:
        """Return what is earned until a target is reached.

        If it may be missed, that is infinite; with `or_missed`, what was earned on the way.
        """

        def total(states: Flags) -> StateNumbers:
            if not or_missed:
                return self._solved(self.model, TotalReward(self.optimum, until=states))
            ended = cut(self.model, states, np.zeros(len(states)))
            return self._solved(ended, TotalReward(self.optimum))

        if target.is_known:
            return total(target.certain)
        return between(total(target.possible), total(target.certain))  # who stops later, earns more

    # Solving

    def _written(self, model: Model) -> Model:
        """Return a model with its decimals as they are written."""
        if model.num_transitions > MOST_EXACT:
            message = f"the model has {model.num_transitions:,} transitions, too many to be exact."
            raise NotExactError(message)
        written = as_written(model)
        if isinstance(written, str):
            raise NotExactError(written)
        return written

    def _solved(self, model: Model, objective: Objective) -> StateNumbers:
        """Return the values of a model, as closely as asked."""
        if self.closely == EXACTLY:
            return self._exactly(self._written(model), objective)
        roomy = with_room_for_decimals(model)
        try:
            solution = self.solve(roomy, objective, self.closely)
        except NotSolvedError as error:
            if self.closely == AS_ASKED:
                raise
            solution = error.solution
        except UnsupportedProblemError:  # rewards of both signs, whose errors add up for ever
            if roomy is model:
                raise
            try:
                return self._exactly(self._written(model), objective)
            except NotExactError:
                solution = self.solve(model, objective, self.closely)
        lower, upper = solution.lower, solution.upper
        if isinstance(objective, AverageReward):  # a reward that is never earned has no average
            least, most = model.rewards.min(initial=0), model.rewards.max(initial=0)
            unknown = model.rounding[1] + model.rounding[2] * max(-least, most)
            least, most = rounded_outward(least, most, unknown)
            lower, upper = np.clip(lower, least, most), np.clip(upper, least, most)
        if solution.guarantee is not Guarantee.TWO_SIDED:
            lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
        return StateNumbers(lower, upper, None, solution)

    def _exactly(self, model: Model, objective: Objective) -> StateNumbers:
        try:
            solution = self.solve(model, objective, EXACTLY)
        except (NotSolvedError, UnsupportedProblemError) as error:
            raise NotExactError(str(error)) from error
        exact = np.array(solution.exact, object)
        return StateNumbers(solution.lower, solution.upper, exact, solution)


def between(low: StateNumbers, high: StateNumbers | None) -> StateNumbers:
    """Return the numbers between two, of which the first are no larger; the first if alone."""
    return low if high is None else StateNumbers(low.lower, high.upper, None, high.solution)
