"""The results of simulations, and their comparison with exact values."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, Literal, TypeAlias

import attrs

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.model.objectives import TotalReward
from gamedp.policies.evaluation import Evaluation
from gamedp.policies.statistics import (
    counted_as_paid,
    mean_and_deviation_of,
    normal_p_value,
    student_interval,
)
from gamedp.results.status import check_player
from gamedp.runtime.notebook import html_table, with_error
from gamedp.runtime.options import check_word, is_number
from gamedp.simulation.tally import BLOCK, Tally
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.result import Distribution

Kind: TypeAlias = Literal["exact", "wilson"]


def _is_certain(exact: Evaluation | StagedSolution) -> bool:
    """Return whether nothing in these games is left to chance."""
    if not isinstance(exact, Evaluation):
        return False
    model = exact.chain.model
    return len(model.initial_states) == 1 and len(model.successors) == model.num_choices


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Simulation:
    """The result of a simulation of given policies.

    The numbers depend on the seed alone, not on the number of threads.

    Attributes
    ----------
    names : tuple of str
        The policies, that of player 0 first.
    games : int
    seed : int
    unfinished : int
        Number of games that were left at the limit of plies.
    outcomes : tuple of dict of float to int
        For each player, the number of games by final payoff; for a staged game, by total.
    means, deviations : tuple of float
        For each player, the mean of the totals, rewards and payoff, of the games that ended, and
        their standard deviation; NaN if none or one has ended.
    mean_plies : float
        The average number of actions of a game, including those left unfinished.
    sequential : SequentialInterval or None
        The interval at the stop if there was a `width`.
    """

    names: tuple[str, ...]
    games: int
    seed: int
    unfinished: int
    outcomes: tuple[dict[float, int], ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    mean_plies: float
    sequential: SequentialInterval | None = None
    _has_rewards: bool

    @classmethod
    def of(
        cls,
        tally: Tally,
        names: tuple[str, ...],
        *,
        seed: int,
        total: float,
        has_rewards: bool,
        sequential: SequentialInterval | None = None,
    ) -> Simulation:
        """Return the simulation of a tally; `total` is the sum of the payoffs of two opponents."""
        columns = range(len(tally.sums))
        means, deviations = zip(*map(tally.moments, columns), strict=True)
        outcomes = tally.outcomes
        if not has_rewards:  # squares of large payoffs leave nothing of their differences
            counted, deviations = zip(*map(mean_and_deviation_of, outcomes), strict=True)
            pairs = zip(means, counted, strict=True)
            means = tuple(mean if math.isfinite(mean) else own for mean, own in pairs)
        if len(names) == 2 and len(tally.sums) == 1:  # opponents
            means = (means[0], total - means[0])
            deviations = (deviations[0], deviations[0])
            outcomes = tuple(
                counted_as_paid(outcomes[0], total, of_other=player == 1) for player in (0, 1)
            )
        return cls(
            names=names,
            games=tally.games,
            seed=seed,
            unfinished=tally.unfinished,
            outcomes=outcomes,
            means=means,
            deviations=deviations,
            mean_plies=tally.plies / tally.games,
            sequential=sequential,
            has_rewards=has_rewards,
        )

    def __repr__(self) -> str:
        """Return the players and the result in short."""
        names = " against ".join(self.names)
        got = f"player 0 got {self.means[0]:.6g}" if self.finished else "none of which has ended"
        return f"<Simulation of {names}: {self.games:,} games, {got}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {f"player {place}": name for place, name in enumerate(self.names)}
        rows |= {"games": f"{self.games:,}", "unfinished": f"{self.unfinished:,}"}
        for player, mean in enumerate(self.means):
            error = self.standard_error(player)
            rows[f"mean for player {player}"] = with_error(mean, error, "games that have ended")
        found = self.sequential
        if found is not None:
            words = f"with a confidence of {found.confidence:g} after {found.looks:,} looks"
            words += ", approximate" if found.is_approximate else ""
            rows["expected for player 0"] = f"{found.low:.6g} … {found.high:.6g} {words}"
        rows |= {"mean plies": f"{self.mean_plies:.6g}", "seed": str(self.seed)}
        return html_table(rows)

    def facts(self) -> dict[str, Any]:
        """Return the results by name, as ``gamedp simulate --json`` prints them."""
        return {
            "games": self.games,
            "seed": self.seed,
            "unfinished": self.unfinished,
            "means": self.means,
            "standard_errors": [self.standard_error(each) for each in range(len(self.names))],
            "outcomes": self.outcomes,
            "mean_plies": self.mean_plies,
            "sequential": None if self.sequential is None else attrs.asdict(self.sequential),
        }

    @property
    def finished(self) -> int:
        """The number of games that ended."""
        return self.games - self.unfinished

    def standard_error(self, player: int = 0) -> float:
        """Return the standard error of the mean."""
        check_player(len(self.means), player)
        return self.deviations[player] / math.sqrt(self.finished) if self.finished else math.nan

    def count(self, payoff: float, player: int = 0) -> int:
        """Return the number of games in which a player got a payoff at the end."""
        check_player(len(self.means), player)
        return self.outcomes[player].get(payoff, 0)

    def interval(
        self,
        payoff: float,
        player: int = 0,
        *,
        kind: Kind = "exact",
        confidence: float = 0.95,
    ) -> tuple[float, float]:
        """Return a confidence interval of the probability of a payoff among games that end.

        It is valid for a number of games that was fixed beforehand; after a sequential stop, see
        `sequential`.

        Parameters
        ----------
        payoff : float
        player : int
        kind : {"exact", "wilson"}
            The interval of Clopper and Pearson, which contains the truth at least as often as the
            confidence says; or Wilson's, which is narrower and does so on average.
        confidence : float

        Raises
        ------
        UnsupportedProblemError
            If no game has ended.
        InvalidParameterError
            If there is no such kind, or the confidence does not lie between 0 and 1.
        """
        from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, and rarely needed

        self._refuse_none()
        check_word("kind", kind, Kind)
        check_confidence(confidence)
        test = binomtest(self.count(payoff, player), self.finished)
        low, high = test.proportion_ci(confidence, kind)
        return float(low), float(high)

    def agrees_with(
        self, exact: Evaluation | StagedSolution | Distribution, player: int = 0
    ) -> float:
        """Return the p-value of games like these if the exact result is correct.

        For an evaluation without rewards on the way, it is that of :meth:`Evaluation.p_value`; with
        rewards, by the normal distribution of the mean, with the deviation of the games. For a
        distribution of totals, it is by the largest distance between the share of games up to a
        total and its probability [1]_: the p-value is at most the returned number, and 0 for an
        impossible total. All this holds for a number of games that was fixed beforehand; after a
        sequential stop, it is approximate.

        Parameters
        ----------
        exact : Evaluation, StagedSolution or Distribution
            The exact result of the same policies; for a staged game in which all follow its
            solution, the solution, or the result of :func:`gamedp.stages.distribution`.
        player : int
            A distribution of totals is player 0's.

        Raises
        ------
        UnsupportedProblemError
            If some games are unfinished, which the value includes; or the value is not that of a
            total; or there are too few games for a p-value.

        References
        ----------
        .. [1] P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals
           of Probability 18 (1990).
        """
        if isinstance(exact, Distribution):
            return self._agrees_with_totals(exact, player)
        check_player(len(self.means), player)
        self.refuse(exact)
        if not self._has_rewards and isinstance(exact, Evaluation):
            return exact.p_value(self.outcomes[player], player)
        error, is_known = self.standard_error(player), _is_certain(exact)
        bounds = exact.bounds(player=player)
        return normal_p_value(self.means[player], error, bounds, is_known=is_known)

    def _agrees_with_totals(self, exact: Distribution, player: int) -> float:
        """Return the p-value of the totals of player 0."""
        self._refuse_unfinished()
        if player != 0:
            message = "a distribution of totals is player 0's; name no other player."
            raise UnsupportedProblemError(message)
        seen, possible = self.outcomes[0], {total for total, chance in exact if chance > 0}
        if not possible.issuperset(seen):
            return 0.0
        share = chance = apart = 0.0
        for total, probability in exact:
            share += seen.get(total, 0) / self.games
            chance += probability
            apart = max(apart, abs(share - chance))
        return min(1.0, 2 * math.exp(-2 * self.games * apart * apart))

    def refuse(self, exact: Evaluation | StagedSolution) -> None:
        """Raise UnsupportedProblemError if the games cannot be compared with a value."""
        self._refuse_unfinished()
        if not isinstance(exact.objective, TotalReward):
            message = f"games are counted as they are, and {exact.objective!r} does not."
            raise UnsupportedProblemError(message)

    def _refuse_unfinished(self) -> None:
        self._refuse_none()
        if self.unfinished:
            message = f"{self.unfinished:,} games are unfinished; raise max_plies."
            raise UnsupportedProblemError(message)

    def _refuse_none(self) -> None:
        if not self.finished:
            message = f"none of {self.games:,} games has ended; raise max_plies."
            raise UnsupportedProblemError(message)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class PairedSimulation:
    """The result of games of two policies in pairs, with swapped seats and the same dice.

    The k-th throw of the first seat is the same in both games of a pair, and so is that of the
    second seat. Luck is then shared, and fewer games are needed to compare the policies. The pairs
    are independent of one another, but the two games of a pair are not, so errors are those of
    pairs.

    Attributes
    ----------
    names : tuple of str
        The policies.
    pairs : int
    seed : int
    unfinished : int
        Number of pairs with a game that was left at the limit of plies. The means leave them out.
    means : (float, float)
        The average payoff of each policy over both seats.
    deviation : float
        The standard deviation of a policy's average payoff in the two games of a pair.
    seatings : (Simulation, Simulation)
        The first games of all pairs, in which the first policy is player 0; and the second games.
    """

    names: tuple[str, str]
    pairs: int
    seed: int
    unfinished: int
    means: tuple[float, float]
    deviation: float
    seatings: tuple[Simulation, Simulation]

    def __repr__(self) -> str:
        """Return the players and the result in short."""
        one, other = self.names
        mean = with_error(self.means[0], self.standard_error, "pairs that have ended")
        return (
            f"<PairedSimulation of {one} against {other}: {self.pairs:,} pairs, {one} got {mean}>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            f"mean for policy {place}": (
                f"{with_error(mean, self.standard_error, 'pairs that have ended')} ({name})"
            )
            for place, (name, mean) in enumerate(zip(self.names, self.means, strict=True))
        }
        rows |= {"pairs": f"{self.pairs:,}", "unfinished": f"{self.unfinished:,}"}
        if not math.isnan(self.independent_error):
            rows["error without pairs"] = f"{self.independent_error:.2g}"
        return html_table(rows | {"seed": str(self.seed)})

    def facts(self) -> dict[str, Any]:
        """Return the results by name, as ``gamedp simulate --pairs --json`` prints them."""
        names = ("pairs", "seed", "unfinished", "means", "standard_error", "independent_error")
        return {name: getattr(self, name) for name in names}

    @property
    def finished(self) -> int:
        """The number of pairs in which both games ended."""
        return self.pairs - self.unfinished

    @property
    def standard_error(self) -> float:
        """The standard error of the means."""
        return self.deviation / math.sqrt(self.finished) if self.finished else math.nan

    @property
    def independent_error(self) -> float:
        """The standard error if each game had its own dice."""
        errors = [each.standard_error() for each in self.seatings]
        return math.hypot(*errors) / 2

    def agrees_with(self, first: Evaluation, second: Evaluation) -> float:
        """Return the p-value of pairs like these if the evaluations of both seatings are correct.

        By the normal distribution of the mean of pairs.

        Parameters
        ----------
        first, second : Evaluation
            The evaluations of the policies in their order, and with swapped seats.

        Raises
        ------
        UnsupportedProblemError
            If some games are unfinished, which the value counts, too; or it is not that of a total;
            or there are too few pairs for a p-value.
        """
        for each, evaluation in zip(self.seatings, (first, second), strict=True):
            each.refuse(evaluation)
        both = zip(first.bounds(), second.bounds(player=1), strict=True)
        low, high = (math.fsum(ends) / 2 for ends in both)
        is_known = _is_certain(first) and _is_certain(second)
        error = self.standard_error
        return normal_p_value(self.means[0], error, (low, high), is_known=is_known)


GROWTH = 1.5
"""Factor between the numbers of games at successive looks."""


@attrs.frozen
class SequentialInterval:
    """The confidence interval of player 0's mean after a sequential stop.

    Attributes
    ----------
    low, high : float
        The ends of an interval that contains the expected payoff of games that end, with this
        confidence.
    confidence : float
        The confidence of the intervals of all looks together, whichever look was the last one.
    looks : int
        The number of times that the interval was examined.
    is_approximate : bool
        Whether it is Student's interval, for games with rewards on the way. It assumes that the
        mean of many games is nearly normal, and may miss rare large rewards.
    """

    low: float
    high: float
    confidence: float
    looks: int
    is_approximate: bool = False

    @property
    def width(self) -> float:
        """The distance between the two ends."""
        return self.high - self.low


@attrs.frozen(eq=False)
class Stopping:
    """The rule for when to examine the games so far, and whether to stop.

    The allowed error is split evenly between all possible looks, so that with the promised
    confidence the intervals of all of them contain the mean (the union bound). With only two
    payoffs, an interval is that of Clopper and Pearson [1]_. Otherwise it follows from Hoeffding's
    inequality for payoffs in a range [2]_: with the mean x and the true one p on a scale of 0 to 1,
    ``x log(x / p) + (1 - x) log((1 - x) / (1 - p))`` is at most ``log(2 / error) / games``.

    Rewards on the way have no known range. The interval is then Student's, whose confidence is
    approximate.

    Attributes
    ----------
    width : float
        The width of the interval at which to stop.
    confidence : float
    games : int
        The largest number of games.
    payoffs : collection of float or None
        All possible payoffs, if they are known.
    low, high : float
        The range of payoffs.
    has_rewards : bool
        Whether there may be rewards on the way, besides the payoffs.

    References
    ----------
    .. [1] C. Clopper, E. Pearson, "The use of confidence or fiducial limits illustrated in the case
       of the binomial", Biometrika 26 (1934).
    .. [2] W. Hoeffding, "Probability inequalities for sums of bounded random variables", Journal
       of the American Statistical Association 58 (1963), theorem 1.
    """

    width: float
    confidence: float
    games: int
    payoffs: Collection[float] | None
    low: float
    high: float
    has_rewards: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse invalid values."""
        check_stopping(self.width, self.confidence)
        if not self.has_rewards and not math.isfinite(self.high - self.low):
            message = (
                "to stop at a width, the range of payoffs must be known: let the game have a "
                "value_range(state, player), or simulate a number of games."
            )
            raise UnsupportedProblemError(message)

    def looks(self) -> list[int]:
        """Return the numbers of games after which to look."""
        found, wanted = [], float(BLOCK)
        while wanted < self.games:
            found.append(math.ceil(wanted / BLOCK) * BLOCK)
            wanted *= GROWTH
        return [*(look for look in found if look < self.games), self.games]

    def interval(self, tally: Tally, looks: int) -> SequentialInterval:
        """Return the interval at a look, given the number of looks so far."""
        error = (1 - self.confidence) / len(self.looks())
        count = tally.games - tally.unfinished
        if self.has_rewards:
            mean, deviation = tally.moments(0)
            deviation = math.hypot(deviation, tally.rounding(0))
            ends = student_interval(mean, deviation, count, 1 - error)
            return SequentialInterval(*ends, self.confidence, looks, is_approximate=True)
        low, high = 0.0, 1.0
        if count and self.high > self.low:
            if self.payoffs is not None and len(self.payoffs) <= 2:
                middle = self.low + (self.high - self.low) / 2
                counts = tally.outcomes[0].items()
                wins = sum(count for payoff, count in counts if payoff > middle)
                low, high = _clopper_pearson(wins, count, error)
            else:
                mean, _ = mean_and_deviation_of(tally.outcomes[0])
                mean = (mean / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
                low, high = _hoeffding(min(max(mean, 0.0), 1.0), count, error)
        extent = self.high / 2 - self.low / 2  # all of it may be too large for doubles
        low, high = (self.low + half + half for half in (low * extent, high * extent))
        return SequentialInterval(low, high, self.confidence, looks)


def check_stopping(width: Any, confidence: Any) -> None:
    """Raise InvalidParameterError for an impossible width or confidence."""
    if not (is_number(width) and 0 < width < math.inf):
        message = f"width is {shown(width)}; it must be a positive number."
        raise InvalidParameterError(message)
    check_confidence(confidence)


def check_confidence(confidence: Any) -> None:
    """Raise InvalidParameterError unless a confidence lies between 0 and 1."""
    if not (is_number(confidence) and 0 < confidence < 1):
        message = f"confidence is {shown(confidence)}; it must lie between 0 and 1."
        raise InvalidParameterError(message)


def _clopper_pearson(wins: int, count: int, error: float) -> tuple[float, float]:
    from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, and rarely needed

    low, high = binomtest(wins, count).proportion_ci(1 - error, "exact")
    return float(low), float(high)


def _hoeffding(mean: float, count: int, error: float) -> tuple[float, float]:
    """Return the range of means whose divergence from the observed one is not too large."""
    most = math.log(2 / error) / count

    def last(true: float, end: float) -> float:
        """Return the last number on the way from `true` to `end` that is not refuted."""
        for _ in range(100):
            middle = (true + end) / 2
            if _divergence(mean, middle) <= most:
                true = middle
            else:
                end = middle
        return end

    return last(mean, 0.0), last(mean, 1.0)


def _divergence(seen: float, true: float) -> float:
    """Return the divergence of Kullback and Leibler of two probabilities."""
    parts = ((seen, true), (1 - seen, 1 - true))
    return math.fsum(
        0.0 if one == 0 else math.inf if other <= 0 else one * math.log(one / other)
        for one, other in parts
    )
