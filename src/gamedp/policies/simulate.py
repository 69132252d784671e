"""Games of given policies, played by the million."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.policies.chain_games import ChainGames, ChainPairs
from gamedp.policies.given import listed, model_for
from gamedp.policies.policy import as_policies, model_of, name_of, refuse_other_game, rule_of
from gamedp.policies.random_player import RandomPlayer
from gamedp.policies.rules_games import RulesGames
from gamedp.policies.sequential import Stopping
from gamedp.policies.simulation import PairedSimulation, Simulation
from gamedp.policies.tally import Tally, in_blocks, moments
from gamedp.rules.game import Rules
from gamedp.runtime.options import Tier

__all__ = ["simulate", "simulate_pairs"]


def simulate(  # noqa: PLR0913 - what is usually set in one call
    game_or_model: Any,
    policies: Any,
    *,
    games: int = 100_000,
    seed: int | None = None,
    threads: int = 1,
    max_plies: int = 1_000_000,
    width: float | None = None,
    confidence: float = 0.95,
    by_rules: bool = False,
    compile: Tier = "auto",
) -> Simulation:
    """Play games of given policies, by the million.

    They are walks on the Markov chain that the policies leave. The exact value needs no games, see
    :func:`gamedp.evaluate`; these are for what is not computed, for checking it, and to see how
    much chance there is in so many games. A game with too many positions for that is played
    `by_rules`.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game`, or a Model.
    policies : policy or sequence of policies
        As for :func:`gamedp.evaluate`.
    games : int
        At most so many, if there is a `width`.
    seed : int, optional
        The same seed gives the same games; a new one each time if not given.
    threads : int
        How many play; the games are the same for any number.
    max_plies : int
        Leave a game unfinished after so many.
    width : float, optional
        Stop once the mean of player 0 is known within an interval as narrow as this, by
        `sequential` of the result. For games in which nothing is earned on the way.
    confidence : float
        With which it is known.
    by_rules : bool
        Whether to follow the rules from position to position, instead of exploring all positions
        first. A policy is then an object with ``choose(state)``, or a function of a state, and
        compiled along with the rules; or a :class:`gamedp.play.RandomPlayer`. They are asked in the
        game's own states, not in their representatives. The games are others than those on the
        chain for the same seed.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`; the games are the same.

    Returns
    -------
    Simulation

    Raises
    ------
    InvalidParameterError
        If something is no policy, or takes no action that there is, or a number is not positive.
    UnsupportedProblemError
        If there is a `width`, and what may be earned has no range that is known.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> pair = [gamedp.Policy.uniform(model), gamedp.solve(model)]
    >>> found = gamedp.simulate(model, pair, games=1000, seed=7)
    >>> found.agrees_with(gamedp.evaluate(model, pair)) > 0.001
    True

    By the rules alone, no position is looked at that does not come up:

    >>> game = Matches(matches=30)
    >>> pair = [gamedp.play.RandomPlayer(game), lambda state: 1]
    >>> gamedp.simulate(game, pair, games=100, seed=7, by_rules=True, compile="never").finished
    100
    """
    for name, number in (("games", games), ("threads", threads), ("max_plies", max_plies)):
        _checked(name, number, 1)
    given = listed(policies)
    seed = secrets.randbits(32) if seed is None else _checked("seed", seed, 0)
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    playing: RulesGames | ChainGames
    if by_rules:
        rules = _rules_of(game_or_model, given)
        names, total = tuple(map(name_of, given)), rules.constant_sum
        playing = RulesGames(rules, given, key, max_plies, threads, compile)
    else:
        model = model_for(game_or_model, given, compile)
        made = as_policies(given, model)
        names, total = tuple(policy.name for policy in made), model.constant_sum
        playing = ChainGames(model, made, key, max_plies, threads)
    sequential = None
    if width is None:
        playing.play(games)
    else:
        if playing.has_rewards:
            message = "to stop at a width, nothing may be earned on the way; give games alone."
            raise UnsupportedProblemError(message)
        stopping = Stopping(width, confidence, games, *playing.payoffs())
        for number, look in enumerate(stopping.looks(), 1):
            playing.play(look)
            sequential = stopping.interval(playing.tally(), number)
            if sequential.width <= width:
                break
    return Simulation.of(
        playing.tally(),
        names,
        seed=seed,
        total=total,
        has_rewards=playing.has_rewards,
        sequential=sequential,
    )


def simulate_pairs(
    game_or_model: Any,
    policies: Any,
    *,
    pairs: int = 50_000,
    seed: int | None = None,
    threads: int = 1,
    max_plies: int = 1_000_000,
    by_rules: bool = False,
    compile: Tier = "auto",
) -> PairedSimulation:
    """Compare two policies by games in pairs: the seats change, and the dice stay.

    The k-th throw of whoever sits first is the same in both games of a pair, and so is that of the
    second seat (common random numbers [1]_): so luck decides less.

    Parameters
    ----------
    game_or_model
        For two players.
    policies : sequence of two policies
        As for :func:`gamedp.simulate`.
    pairs : int
        Of games.
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
        If the game is not for two.

    References
    ----------
    .. [1] A. Law, "Simulation Modeling and Analysis" (2014), section 11.2.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.wubbel import Hold, Wubbel
    >>> game = Wubbel(goal=12)
    >>> found = gamedp.policies.simulate_pairs(
    ...     game, [Hold(6), Hold(2)], pairs=500, seed=1, compile="never"
    ... )
    >>> found.standard_error < found.independent_error
    True
    """
    for name, number in (("pairs", pairs), ("threads", threads), ("max_plies", max_plies)):
        _checked(name, number, 1)
    given = listed(policies)
    seed = secrets.randbits(32) if seed is None else _checked("seed", seed, 0)
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    if by_rules:
        rules = _rules_of(game_or_model, given)
        names, total, num_players = list(map(name_of, given)), rules.constant_sum, rules.num_players
    else:
        model = model_for(game_or_model, given, compile)
        made = as_policies(given, model)
        names = [policy.name for policy in made]
        total, num_players = model.constant_sum, model.num_players
    if num_players != 2 or len(given) != 2:
        message = "pairs are of two policies, in a game for two."
        raise UnsupportedProblemError(message)
    if by_rules:
        by_rule = RulesGames(rules, given, key, max_plies, threads, compile, in_pairs=True)
        play, has_rewards = by_rule.played_pairs, by_rule.has_rewards
    else:
        on_chain = ChainPairs(model, made, key, max_plies)
        play, has_rewards = on_chain.played, on_chain.has_rewards
    blocks: dict[int, tuple[Tally, Tally, float, float, int]] = {}

    def run(_thread: int, block: int, begin: int, end: int) -> None:
        first, second = play(begin, end)
        both = first.is_over & second.is_over
        means = (first.earned[both, 0] + second.earned[both, 1]) / 2
        sums = math.fsum(means), math.fsum(means * means)
        blocks[block] = first.tally(), second.tally(), *sums, int(both.sum())

    in_blocks(0, pairs, threads, run)
    firsts, seconds, totals, squares, finished = zip(
        *(blocks[block] for block in sorted(blocks)), strict=True
    )
    mean, deviation = moments((math.fsum(totals), math.fsum(squares)), sum(finished))
    one, other = names
    seatings = (
        Simulation.of(Tally.total(tallies), order, seed=seed, total=total, has_rewards=has_rewards)
        for tallies, order in ((firsts, (one, other)), (seconds, (other, one)))
    )
    first, second = seatings
    return PairedSimulation(
        names=(one, other),
        pairs=pairs,
        seed=seed,
        unfinished=pairs - sum(finished),
        means=(mean, total - mean),
        deviation=deviation,
        seatings=(first, second),
    )


def _checked(name: str, number: Any, least: int) -> int:
    """Return an integer that is not too small."""
    if isinstance(number, bool) or not isinstance(number, int) or number < least:
        message = f"{name} is {shown(number)}; it must be an integer, {least} or more."
        raise InvalidParameterError(message)
    return number


def _rules_of(given: Any, policies: list[Any]) -> Rules:
    """Return the rules that policies are to play by; raise for what cannot do so."""
    rules = given.rules if isinstance(given, Model) else Rules(given)
    if rules is None:
        message = "this model has no game, whose rules could be followed; leave by_rules out."
        raise InvalidParameterError(message)
    if len(policies) != rules.num_players:
        message = (
            f"{len(policies)} policies are given for a game of {rules.num_players} players; each "
            "player needs one."
        )
        raise InvalidParameterError(message)
    for policy in policies:
        if model_of(policy) is not None:
            message = (
                f"{shown(policy)} is a table of positions; leave by_rules out, or give a function "
                "of a state."
            )
            raise InvalidParameterError(message)
        if isinstance(policy, RandomPlayer):
            refuse_other_game(policy, rules)
        else:
            rule_of(policy)
    return rules
