"""Games of two policies in pairs, with swapped seats and the same dice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from gamedp.policies.given import (
    check_counts,
    is_of_stages,
    listed,
    model_for,
    refuse_by_rules,
    refuse_others,
    rules_for,
    seeded,
)
from gamedp.policies.policy import as_policies, name_of
from gamedp.policies.tally import Played, Tally, added, in_blocks, moments, sums_of
from gamedp.runtime.options import CompileMode
from gamedp.simulation.chain_games import ChainPairs
from gamedp.simulation.result import PairedSimulation, Simulation
from gamedp.simulation.rules_games import RulesGames
from gamedp.simulation.staged_games import StagedGames

__all__ = ["simulate_pairs"]

Play: TypeAlias = Callable[[int, int], tuple[Played, Played]]
"""A function that plays a range of pairs, and returns both games of each."""


def simulate_pairs(
    game_or_model: Any,
    policies: Any,
    *,
    pairs: int = 50_000,
    seed: int | None = None,
    threads: int = 1,
    max_plies: int = 1_000_000,
    by_rules: bool = False,
    compile: CompileMode = "auto",
) -> PairedSimulation:
    """Compare two policies by games in pairs, with swapped seats and the same dice.

    The k-th throw of the first seat is the same in both games of a pair, and so is that of the
    second seat (common random numbers [1]_), which reduces the variance.

    Parameters
    ----------
    game_or_model
        A game for two players, which may be staged.
    policies : sequence of two policies
        As for :func:`gamedp.simulate`.
    pairs : int
        Number of pairs of games.
    seed, threads, max_plies, by_rules, compile
        As for :func:`gamedp.simulate`.

    Returns
    -------
    PairedSimulation

    Raises
    ------
    InvalidParameterError
        As for :func:`gamedp.simulate`.
    UnsupportedProblemError
        If the game is not for two players.

    References
    ----------
    .. [1] A. Law, "Simulation Modeling and Analysis" (2014), section 11.2.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Hold, Wubbel
    >>> game = Wubbel(goal=12)
    >>> found = gamedp.simulation.simulate_pairs(
    ...     game, [Hold(6), Hold(2)], pairs=500, seed=1, compile="never"
    ... )
    >>> found.standard_error < found.independent_error
    True
    """
    check_counts(threads, pairs=pairs, max_plies=max_plies)
    given = listed(policies)
    seed, key = seeded(seed)
    if is_of_stages(game_or_model):
        refuse_by_rules(by_rules)
        staged = StagedGames(game_or_model, given, key, max_plies, threads, compile, in_pairs=True)
        refuse_others(len(given), staged.model.num_players)
        play, has_rewards = staged.played_pairs, staged.has_rewards
        names, total = list(staged.names), staged.model.constant_sum
    elif by_rules:
        rules = rules_for(game_or_model, given)
        refuse_others(len(given), rules.num_players)
        games = RulesGames(rules, given, key, max_plies, threads, compile, in_pairs=True)
        play, has_rewards, total = games.played_pairs, games.has_rewards, rules.constant_sum
        names = list(map(name_of, given))
    else:
        model = model_for(game_or_model, given, compile)
        refuse_others(len(given), model.num_players)
        made = as_policies(given, model)
        chains = ChainPairs(model, made, key, max_plies)
        play, has_rewards, total = chains.played, chains.has_rewards, model.constant_sum
        names = [policy.name for policy in made]
    tallies, sums, finished = _tallied(play, pairs, threads, total / 2)
    lead, deviation = moments(sums, finished)
    mean = total / 2 + lead
    first, second = (
        Simulation.of(tally, tuple(order), seed=seed, total=total, has_rewards=has_rewards)
        for tally, order in zip(tallies, (names, names[::-1]), strict=True)
    )
    one, other = names
    return PairedSimulation(
        names=(one, other),
        pairs=pairs,
        seed=seed,
        unfinished=pairs - finished,
        means=(mean, total - mean),
        deviation=deviation,
        seatings=(first, second),
    )


def _tallied(
    play: Play, pairs: int, threads: int, half: float
) -> tuple[tuple[Tally, Tally], tuple[float, float], int]:
    """Play all pairs.

    Returns
    -------
    tallies : (Tally, Tally)
        The tallies of the first games of all pairs, and of the second ones.
    sums : (float, float)
        The sum over pairs of the first policy's average payoff minus half of the constant sum, and
        the sum of its squares. Without the subtraction, squares of large payoffs would lose the
        differences.
    finished : int
        The number of pairs of which both games have ended; the sums are over these.
    """
    blocks: dict[int, tuple[Tally, Tally, tuple[float, float], int]] = {}

    def run(_thread: int, block: int, begin: int, end: int) -> None:
        first, second = play(begin, end)
        both = first.is_over & second.is_over
        own, other = first.earned[both, 0] / 2, second.earned[both, 1] / 2
        means = own - half / 2 + (other - half / 2)
        blocks[block] = first.tally(), second.tally(), sums_of(means), int(both.sum())

    in_blocks(0, pairs, threads, run)
    firsts, seconds, sums, finished = zip(*(blocks[block] for block in sorted(blocks)), strict=True)
    tallies = Tally.total(firsts), Tally.total(seconds)
    return tallies, added(sums), sum(finished)
