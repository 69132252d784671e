"""Comparison of the action values and best actions of a solution with exact ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import attrs

import gamedp
from gamedp.errors import shown
from gamedp.testing.exact import exact_choice_values, exact_committed_values

ACTION_VALUES = "action_values hold"
BEST_ACTIONS = "best_actions are best"
"""Names of checks."""


def may_miss_its_end(model: gamedp.Model, objective: Any) -> bool:
    """Return whether play may go on for ever, or end, without reaching the objective's end."""
    endless = (gamedp.TotalReward, gamedp.Reachability, gamedp.AverageReward)
    must_reach = getattr(objective, "until", None) is not None
    return isinstance(objective, endless) and (must_reach or not model.structure.always_ends)


@attrs.frozen(eq=False)
class AdviceTrial:
    """A solution with proven bounds, and the exact values of its choices.

    Attributes
    ----------
    solution : Solution
    truth : list of Fraction
        S exact values.
    choice_values : list of Fraction
        C exact values, if play is at its best after the choice.
    committed : list of Fraction or None
        C exact values, if the mover always takes the choice in its state; None if not computable.
    slack : Fraction
        The tolerance within which an action counts as best.
    """

    solution: gamedp.Solution
    truth: list[Any]
    choice_values: list[Any]
    committed: list[Any] | None
    slack: Fraction

    @classmethod
    def of(cls, solution: gamedp.Solution, truth: list[Any], slack: Fraction) -> AdviceTrial:
        """Prepare the check of a solution whose exact values are known."""
        model, objective = solution.model, solution.objective
        choice_values = exact_choice_values(model, objective)
        committed: list[Any] | None = choice_values
        if may_miss_its_end(model, objective):
            try:
                committed = exact_committed_values(model, objective)
            except gamedp.UnsupportedProblemError:  # of policies that nobody takes
                committed = None
        return cls(solution, truth, choice_values, committed, slack)

    def complaints(self) -> Iterator[tuple[str, str]]:
        """Yield the errors as (check, description with the place) pairs."""
        offsets = self.solution.model.choice_offsets.tolist()
        for index in range(self.solution.model.num_states):
            choices = range(offsets[index], offsets[index + 1])
            if choices:
                state = self.solution.model.state(index)
                for check, words in self._of_state(index, state, choices):
                    yield check, f"in state {shown(state)}: {words}"

    def _of_state(self, index: int, state: Any, choices: range) -> Iterator[tuple[str, str]]:
        """Yield the errors of the advice in a state, as (check, description) pairs."""
        solution = self.solution
        maybe = solution.best_actions(state)
        certain = solution.best_actions(state, certain=True)
        if solution.counts_steps and solution.following is None:
            # The solver keeps no values for the steps of a horizon; so its policy is all there is.
            if maybe != [solution.best_action(state)]:
                yield BEST_ACTIONS, f"{maybe} are not what the policy takes"
            return
        entries = solution.action_values(state)
        for entry, choice in zip(entries, choices, strict=True):
            value = self.choice_values[choice]
            inside = entry.lower <= entry.value <= entry.upper
            if not inside or not (entry.lower <= value <= entry.upper or math.isnan(value)):
                words = f"action {entry.action} is worth {_number(value)}, not {entry.value!r} "
                yield ACTION_VALUES, f"{words}({entry.lower!r} to {entry.upper!r})"
        listed = [entry.action for entry in entries if entry.best != "no"]
        if listed != maybe or set(certain) - set(maybe) or solution.best_action(state) not in maybe:
            yield BEST_ACTIONS, f"{certain}, {maybe}, {listed} and the policy do not agree"
        for entry, choice in zip(entries, choices, strict=True):
            yield from self._of_action(index, choice, entry.action in maybe, entry.best)

    def _of_action(
        self, index: int, choice: int, listed: bool, best: str
    ) -> Iterator[tuple[str, str]]:
        """Yield the errors of an action that counts as best, or does not."""
        if self.committed is None:
            return
        solution, value, got = self.solution, self.truth[index], self.committed[choice]
        (action,) = solution.model.actions_of(choice, choice + 1)
        gap = Fraction(0) if got == value else abs(got - value)
        if listed and gap > self.slack:
            words = f"action {shown(action)} counts as best and brings {_number(got)}"
            yield BEST_ACTIONS, f"{words}; the value is {_number(value)}"
        if best == "certain" and gap > 0:
            yield BEST_ACTIONS, f"action {shown(action)} is not best, and said to be for certain"
        if gap == 0 and not listed and not self._may_leave_out and not self._is_gained(value):
            yield BEST_ACTIONS, f"action {shown(action)} is as good as any, and missing"

    def _is_gained(self, value: Any) -> bool:
        """Whether a value is infinite by endless play: then only the policy's actions are checked.

        A target is missed, and the total so infinite, by the graph alone.
        """
        missed = getattr(self.solution.objective, "until", None) is not None and value > 0
        return abs(value) == math.inf and not missed

    @property
    def _may_leave_out(self) -> bool:
        """Whether some equally good actions may be left out.

        There may be more to choose them by; or play that goes on for ever earns and loses in turn.
        """
        solution, rewards = self.solution, self.solution.model.rewards
        if solution.distances is not None or isinstance(solution.objective, gamedp.AverageReward):
            return True
        is_total = isinstance(solution.objective, gamedp.TotalReward)
        if solution.model.structure.always_ends or not is_total:
            return False
        one_sign = (rewards >= 0).all() or (rewards <= 0).all()
        return bool(rewards.any() if solution.model.has_swaps else not one_sign)


def _number(number: Any) -> str:
    return repr(float(number))
