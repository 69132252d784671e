"""Simulation of games of given policies."""

from __future__ import annotations

from typing import Any

from gamedp.policies.given import (
    check_counts,
    is_of_stages,
    listed,
    model_for,
    refuse_by_rules,
    rules_for,
    seeded,
)
from gamedp.policies.policy import as_policies, name_of
from gamedp.runtime.options import CompileMode
from gamedp.simulation.chain_games import ChainGames
from gamedp.simulation.result import Simulation, Stopping
from gamedp.simulation.rules_games import RulesGames
from gamedp.simulation.staged_games import StagedGames

__all__ = ["simulate"]


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
        If an argument is not a policy, or takes no existing action, or a number is not positive.
    UnsupportedProblemError
        If there is a `width`, no rewards on the way, and the range of payoffs is unknown.

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
    check_counts(threads, games=games, max_plies=max_plies)
    given = listed(policies)
    seed, key = seeded(seed)
    playing: RulesGames | ChainGames | StagedGames
    if is_of_stages(game_or_model):
        refuse_by_rules(by_rules)
        playing = StagedGames(game_or_model, given, key, max_plies, threads, compile)
        names, total = playing.names, playing.model.constant_sum
    elif by_rules:
        rules = rules_for(game_or_model, given)
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
        payoffs = playing.payoffs()
        stopping = Stopping(width, confidence, games, *payoffs, has_rewards=playing.has_rewards)
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
