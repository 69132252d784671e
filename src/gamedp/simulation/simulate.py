"""Simulation of games of given policies, one by one or in pairs."""

from __future__ import annotations

import functools
import math
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.model import Model
from gamedp.policies.arguments import as_list, as_model, check_count, is_of_stages
from gamedp.policies.policy import RandomPlayer, as_policies, model_of, refuse_other_game, rule_of
from gamedp.rules.game import Rules
from gamedp.runtime.options import CompileMode, checked_whole
from gamedp.runtime.workers import check_executor
from gamedp.simulation.chain_games import ChainGames
from gamedp.simulation.result import PairedSimulation, Simulation, Stopping
from gamedp.simulation.rules_games import RulesGames
from gamedp.simulation.staged_games import StagedGames
from gamedp.simulation.tally import Playing, moments

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from gamedp.model.objectives import AnyModel
    from gamedp.policies.policy import PolicyLike
    from gamedp.rules.game import AnyRules, Game, StagedGame
    from gamedp.runtime.workers import Workers
    from gamedp.stages.model import StagedModel


def simulate(  # noqa: PLR0913 - what is usually set in one call
    game_or_model: Game | Model | StagedGame | StagedModel,
    policies: PolicyLike | Sequence[PolicyLike],
    *,
    games: int = 100_000,
    seed: int | None = None,
    threads: int = 1,
    executor: Executor | None = None,
    max_plies: int = 1_000_000,
    width: float | None = None,
    confidence: float = 0.95,
    by_rules: bool = False,
    compile: CompileMode = "auto",
) -> Simulation:
    """Play games of given policies, by the million.

    The games are walks on the Markov chain that the policies induce. The exact value needs no
    games, see :func:`gamedp.evaluate`; games are for quantities that are not computed, for checks,
    and to see the effect of chance in a number of games. A game with too many positions for that is
    played `by_rules`.

    The players of a staged game follow a :class:`gamedp.StagedSolution` of it, or are asked in a
    :class:`gamedp.stages.Position`, a state of the stage and its context: a player of the ordinary
    game :class:`gamedp.stages.Flattened` also plays the staged one. Payoffs are then the totals of
    games, rewards included; :func:`gamedp.stages.distribution` computes their exact distribution if
    all players follow a solution.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`, a
        Model or a StagedModel.
    policies : policy or sequence of policies
        As for :func:`gamedp.evaluate`; for a staged game, its solution, or a player that is asked
        in a position. A policy always does the same in the same state, or randomises by returning
        the probability of each action.
    games : int
        Number of games; the largest number if there is a `width`.
    seed : int, optional
        The same seed gives the same games; a new one is drawn each time if not given.
    threads : int
        Number of threads; the games are the same for any number.
    executor : concurrent.futures.Executor, optional
        Its workers play the games, in place of `threads`: those of a ``ProcessPoolExecutor`` or of
        a cluster. The games are the same. What is given here is sent to other processes, which
        must be able to import the classes and functions.
    max_plies : int
        Stop a game after this many plies; it counts as unfinished. In a staged game, actions inside
        the stage count.
    width : float, optional
        Stop once the mean of player 0 is known within an interval of this width, by `sequential` of
        the result. With rewards on the way, the interval is Student's, which is approximate.
    confidence : float
        The confidence of that interval.
    by_rules : bool
        Whether to follow the rules from position to position, instead of exploring all positions
        first. A policy is then an object with ``choose(state)``, or a function of a state, and
        compiled along with the rules; or a :class:`gamedp.play.RandomPlayer`. They are asked in the
        game's own states, not in their representatives. Each thread caches the answers of compiled
        ones, with their outcomes, for the first 65,536 positions that it visits, and asks once
        there; elsewhere it asks each time. The games differ from those on the chain for the same
        seed.
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`; the games are the same.

    Returns
    -------
    Simulation

    Raises
    ------
    InvalidParameterError
        If an argument is not a policy, or takes no existing action, or a number is not positive,
        or something cannot be sent to the workers.
    UnsupportedProblemError
        If there is a `width`, no rewards on the way, and the range of payoffs is unknown.
    concurrent.futures.BrokenExecutor
        If a worker is lost.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=6), compile="never")
    >>> pair = [gamedp.Policy.uniform(model), gamedp.solve(model)]
    >>> found = gamedp.simulate(model, pair, games=1000, seed=7)
    >>> found.agrees_with(gamedp.evaluate(model, pair)) > 0.001
    True

    By the rules alone, only the positions that occur are examined:

    >>> game = Matches(matches=30)
    >>> pair = [gamedp.play.RandomPlayer(game), lambda state: 1]
    >>> gamedp.simulate(game, pair, games=100, seed=7, by_rules=True, compile="never").finished
    100

    A small Kniffel, and a test that the points of these games agree with their exact distribution:

    >>> from gamedp.games.kniffel import Kniffel
    >>> small = Kniffel(dice=2, faces=2, threshold=3)
    >>> solution = gamedp.solve(small, compile="never")
    >>> found = gamedp.simulate(small, solution, games=500, seed=7)
    >>> found.agrees_with(gamedp.stages.distribution(solution)) > 0.001
    True

    A player who always enters the throw in the first open box:

    >>> from gamedp.stages import Flattened
    >>> flat = Flattened(small)
    >>> def first(position):
    ...     return min(flat.actions(position))
    >>> found = gamedp.simulate(small, first, games=500, seed=7, compile="never")
    >>> found.agrees_with(gamedp.evaluate(flat, first, compile="never")) > 0.001
    True
    """
    threads, games, max_plies = counts(threads, games=games, max_plies=max_plies)
    seed, key = _seeded(seed)
    playing = _playing(
        game_or_model, policies, key, max_plies, by_rules, compile, False,
        threads=threads, executor=executor,
    )  # fmt: skip
    sequential = None
    if width is None:
        playing.play(games)
    else:
        payoffs = playing.payoffs()
        stopping = Stopping(width, confidence, games, *payoffs, has_rewards=playing.has_rewards)
        for number, look in enumerate(stopping.looks(), 1):
            playing.play(look)
            sequential = stopping.interval(playing.tally(), number)
            if sequential.width <= width:
                break
    return Simulation.of(
        playing.tally(),
        playing.names,
        seed=seed,
        total=playing.total,
        has_rewards=playing.has_rewards,
        sequential=sequential,
    )


def simulate_pairs(  # noqa: PLR0913 - what is usually set in one call
    game_or_model: Game | Model | StagedGame | StagedModel,
    policies: Sequence[PolicyLike],
    *,
    pairs: int = 50_000,
    seed: int | None = None,
    threads: int = 1,
    executor: Executor | None = None,
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
    seed, threads, executor, max_plies, by_rules, compile
        As for :func:`gamedp.simulate`.

    Returns
    -------
    PairedSimulation

    Raises
    ------
    InvalidParameterError, concurrent.futures.BrokenExecutor
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
    threads, pairs, max_plies = counts(threads, pairs=pairs, max_plies=max_plies)
    seed, key = _seeded(seed)
    playing = _playing(
        game_or_model, policies, key, max_plies, by_rules, compile, True,
        threads=threads, executor=executor,
    )  # fmt: skip
    names, total, has_rewards = playing.names, playing.total, playing.has_rewards
    tallies, sums, finished = playing.tally_pairs(pairs)
    lead, deviation = moments(sums, finished)
    mean = total / 2 + lead
    first, second = (
        Simulation.of(tally, order, seed=seed, total=total, has_rewards=has_rewards)
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


def _playing(
    given: Game | Model | StagedGame | StagedModel,
    policies: PolicyLike | Sequence[PolicyLike],
    *options: Any,
    threads: int,
    executor: Executor | None,
) -> Playing:
    """Return what plays the games of policies by threads, or by the workers of an executor."""
    if executor is not None and threads != 1:
        message = f"threads is {shown(threads)} beside an executor; give one of the two."
        raise InvalidParameterError(message)
    listed = as_list(policies)
    check_executor(executor, {"what is played": given, "one of the policies": listed})
    made_by: Callable[..., Playing] = functools.partial(_made, given, listed, *options)
    playing = made_by(threads if executor is None else executor)
    playing.made_by = functools.partial(made_by, 1)
    return playing


def _made(
    given: Game | Model | StagedGame | StagedModel,
    policies: list[Any],
    key: np.uint64,
    most: int,
    by_rules: bool,
    compile: CompileMode,
    in_pairs: bool,
    workers: Workers,
) -> Playing:
    """Return what plays the games of policies, drawn from a key, up to a number of plies each."""
    count = len(policies)
    if is_of_stages(given):
        refuse_by_rules(by_rules)
        staged = StagedGames(given, policies, key, most, workers, compile, in_pairs=in_pairs)
        refuse_others(count, staged.model, in_pairs=in_pairs)
        return staged
    if by_rules:
        rules = _rules_for(given, policies)
        refuse_others(count, rules, in_pairs=in_pairs)
        return RulesGames(rules, policies, key, most, workers, compile, in_pairs=in_pairs)
    model = as_model(given, policies, compile)
    if model.mean_rewards:
        message = (
            "rewards differ between the outcomes of an action, and the model keeps their means, "
            "which is not what single games earn. gamedp.evaluate has the expectation, and "
            "gamedp.play.play_game plays the rules one game at a time."
        )
        raise UnsupportedProblemError(message)
    refuse_others(count, model, in_pairs=in_pairs)
    made = as_policies(policies, model)
    return ChainGames(model, made, key, most, workers, in_pairs=in_pairs)


MOST_THREADS = 1_024
"""Largest number of threads: more than any machine runs at once."""


def _seeded(seed: int | None) -> tuple[int, np.uint64]:
    """Return a seed, a new one for None, and the key of the games drawn from it."""
    seed = secrets.randbits(32) if seed is None else checked_whole("seed", seed, 0, math.inf)
    return seed, np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]


def counts(threads: Any, **numbers: Any) -> tuple[int, ...]:
    """Return integers; raise InvalidParameterError unless all are positive, and not too large."""
    named = (checked_whole(name, number, 1) for name, number in numbers.items())
    return checked_whole("threads", threads, 1, MOST_THREADS), *named


def refuse_by_rules(by_rules: bool) -> None:
    """Raise InvalidParameterError if a staged game is to be played by its rules alone."""
    if by_rules:
        message = (
            "a staged game is always played from stage to stage, without a table of all contexts; "
            "leave by_rules out."
        )
        raise InvalidParameterError(message)


def refuse_others(policies: int, game: AnyRules | AnyModel, *, in_pairs: bool = True) -> None:
    """Raise UnsupportedProblemError unless pairs are of two policies of opponents."""
    if in_pairs and (not game.has_opponents or policies != 2):
        message = "pairs are of two policies, in a game for two with a constant sum."
        raise UnsupportedProblemError(message)


def _rules_for(given: Any, policies: list[Any]) -> Rules:
    """Return the rules for play by rules; raise if a policy cannot be played by rules."""
    rules = given.rules if isinstance(given, Model) else Rules(given)
    if rules is None:
        message = "this model has no game, whose rules could be followed; leave by_rules out."
        raise InvalidParameterError(message)
    check_count(len(policies), rules.num_players)
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
