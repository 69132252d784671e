"""Chains in which every action takes as many steps as any other, for objectives that count them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from gamedp.bellman.enclosures import enclosed_sums, estimated_sums
from gamedp.model.model import Model
from gamedp.model.objectives import AverageReward, Reachability, TotalReward
from gamedp.runtime.floats import UNIT, UPWARD

if TYPE_CHECKING:
    from gamedp.model.objectives import Objective
    from gamedp.policies.chain import Process

__all__ = ["even_steps"]

PROBABILITIES_OFF = 6 * UNIT
"""Relative error of a product of two probabilities, beyond that of any stored one: as much again,
and its own rounding."""


def even_steps(process: Process, objective: Objective) -> Process:
    """Return a process in which all actions take the same number of steps, if steps count."""
    is_even = process.num_nodes == process.model.num_states
    if is_even or isinstance(objective, (TotalReward, Reachability)):
        return process
    if isinstance(objective, AverageReward):
        return _two_steps_each(process)
    return _one_step_each(process)


def _two_steps_each(process: Process) -> Process:
    """Return a process with a throw before every action, and twice the rewards.

    The average per step is then the average per action, and no probabilities are multiplied: the
    effect of a rounding error on a long-run average has no bound.
    """
    model, num_nodes = process.model, process.num_nodes
    last = int(model.choice_offsets[num_nodes])
    lengths = np.diff(model.transition_offsets)
    old = np.flatnonzero(process.sources[:last] >= 0)  # without a throw so far
    rows = np.concatenate([np.arange(model.num_choices), old])
    sizes = lengths[rows]
    is_certain = np.zeros(len(rows), np.bool_)
    is_certain[old] = True
    starts = np.repeat(model.transition_offsets[rows], sizes)
    places = np.arange(len(starts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = (places == 0) | ~np.repeat(is_certain, sizes)
    successors = model.successors[starts + places]
    probabilities = model.probabilities[starts + places]
    is_new = np.repeat(is_certain, sizes) & kept
    successors[is_new] = model.num_states + np.arange(len(old))
    probabilities[is_new] = 1.0
    ends = np.cumsum(np.where(is_certain, 1, sizes))
    sources = process.sources[rows]
    sources[old] = -1
    total = model.num_choices
    payoffs_off, rewards_off, relative = model.rounding
    doubled = Model.unchecked(
        choice_offsets=np.concatenate([model.choice_offsets, total + 1 + np.arange(len(old))]),
        transition_offsets=np.concatenate([[0], ends]),
        successors=successors[kept],
        probabilities=probabilities[kept],
        rewards=np.where(sources < 0, 0.0, 2 * model.rewards[rows]),
        players=np.concatenate([model.players, np.zeros(len(old), model.players.dtype)]),
        terminals=model.terminals,
        payoffs=model.payoffs,
        action_labels=np.where(sources < 0, 0, model.action_labels[rows]),
        initial_states=model.initial_states,
        initial_probabilities=model.initial_probabilities,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
        rounding=(payoffs_off, 2 * rewards_off, relative),
    )
    return attrs.evolve(process, model=doubled, sources=sources)


def _one_step_each(process: Process) -> Process:
    """Return a process without throws.

    The random choice of a policy and its outcome are then drawn in one step.
    """
    model, num_nodes = process.model, process.num_nodes
    last = int(model.choice_offsets[num_nodes])
    lengths = np.diff(model.transition_offsets)
    drawn = process.sources[:last] < 0
    # Parts of the new rows: an old row, or the row of a throw, with its probability.
    counts = np.where(drawn, lengths[:last], 1)
    rows = np.repeat(np.arange(last), counts)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    transitions = model.transition_offsets[rows] + places
    is_part = drawn[rows]
    shares = np.where(is_part, model.probabilities[transitions], 1.0)
    old = np.where(is_part, model.choice_offsets[model.successors[transitions]], rows)
    sizes = lengths[old]
    starts = np.repeat(model.transition_offsets[old], sizes)
    taken = starts + np.arange(len(starts)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    parts = np.concatenate([[0], np.cumsum(counts)])
    ends = np.concatenate([[0], np.cumsum(sizes)])[parts]
    earned = model.rewards[old]
    rewards = estimated_sums(parts, shares, earned)
    low, high = enclosed_sums(parts, shares, earned, earned)
    reward_off = np.maximum(rewards - low, high - rewards).max(initial=0.0)
    payoff_off, known_off, part = model.rounding
    merged = Model.unchecked(
        choice_offsets=model.choice_offsets[: num_nodes + 1].copy(),
        transition_offsets=ends,
        successors=model.successors[taken],
        probabilities=model.probabilities[taken] * np.repeat(shares, sizes),
        rewards=rewards,
        players=model.players[:num_nodes].copy(),
        terminals=model.terminals,
        payoffs=model.payoffs,
        action_labels=model.action_labels[:last].copy(),
        initial_states=model.initial_states,
        initial_probabilities=model.initial_probabilities,
        num_players=model.num_players,
        constant_sum=model.constant_sum,
        rounding=(payoff_off, float(known_off + reward_off) * UPWARD, part),
    )
    return attrs.evolve(
        process,
        model=merged,
        sources=process.sources[:last],
        probabilities_off=PROBABILITIES_OFF if drawn.any() else 0.0,
    )
