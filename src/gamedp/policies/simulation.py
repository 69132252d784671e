"""What games of given policies say of the exact value."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import attrs

from gamedp.errors import UnsupportedProblemError
from gamedp.model.objectives import TotalReward
from gamedp.policies.evaluation import Evaluation
from gamedp.policies.observed import normal_p_value
from gamedp.policies.sequential import SequentialInterval
from gamedp.policies.tally import Tally, counted_as_paid, mean_and_deviation_of
from gamedp.results.status import check_player
from gamedp.runtime.notebook import html_table, with_error
from gamedp.stages.solution import StagedSolution
from gamedp.stages.totals.result import Distribution

__all__ = ["PairedSimulation", "Simulation"]

Kind: TypeAlias = Literal["exact", "wilson"]


def _is_certain(exact: Evaluation | StagedSolution) -> bool:
    """Say whether nothing in these games is left to chance."""
    if not isinstance(exact, Evaluation):
        return False
    model = exact.chain.model
    return len(model.initial_states) == 1 and len(model.successors) == model.num_choices


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Simulation:
    """Games of given policies.

    The numbers depend on the seed alone, not on the number of threads.

    Attributes
    ----------
    names : tuple of str
        The policies, that of player 0 first.
    games : int
    seed : int
    unfinished : int
        Games that were left after so many plies.
    outcomes : tuple of dict of float to int
        For each player, how many games paid what at the end; of a staged game, what was earned
        and paid in all.
    means, deviations : tuple of float
        For each player what was earned and paid on average in the games that ended, and the
        standard deviation of it; NaN if none or one has ended.
    mean_plies : float
        How many actions a game took on average, those left unfinished among them.
    sequential : SequentialInterval or None
        Where games stopped once enough was known: what is known then.
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
        """Return what games say; `total` is what the payoffs of two players add up to."""
        columns = range(len(tally.sums))
        means, deviations = zip(*map(tally.moments, columns), strict=True)
        outcomes = tally.outcomes
        if not has_rewards:  # squares of large payoffs leave nothing of their differences
            counted, deviations = zip(*map(mean_and_deviation_of, outcomes), strict=True)
            pairs = zip(means, counted, strict=True)
            means = tuple(mean if math.isfinite(mean) else own for mean, own in pairs)
        if len(names) == 2:
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
        """Say who played, and what came of it."""
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

    @property
    def finished(self) -> int:
        """How many games came to their end."""
        return self.games - self.unfinished

    def standard_error(self, player: int = 0) -> float:
        """Return the standard error of the mean."""
        check_player(len(self.means), player)
        return self.deviations[player] / math.sqrt(self.finished) if self.finished else math.nan

    def count(self, payoff: float, player: int = 0) -> int:
        """Return in how many games a player was paid that at the end."""
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
        """Return a confidence interval of how likely a player is paid that, of games that end.

        It is for a number of games that was fixed beforehand; where they stopped once enough was
        known, `sequential` says what is.

        Parameters
        ----------
        payoff : float
        player : int
        kind : {"exact", "wilson"}
            That of Clopper and Pearson, which contains the truth at least as often as it says; or
            Wilson's, which is narrower and does so on average.
        confidence : float

        Raises
        ------
        UnsupportedProblemError
            If no game has ended.
        """
        from scipy.stats import binomtest  # noqa: PLC0415 - slow to import, and rarely needed

        self._refuse_none()
        test = binomtest(self.count(payoff, player), self.finished)
        low, high = test.proportion_ci(confidence, kind)
        return float(low), float(high)

    def agrees_with(
        self, exact: Evaluation | StagedSolution | Distribution, player: int = 0
    ) -> float:
        """Return the p-value of games like these, if what is computed is right.

        Of an evaluation, and nothing earned on the way, as by :meth:`Evaluation.p_value`; else by
        the normal distribution of the mean, with the deviation of the games. Of a distribution of
        totals, by the largest distance between the shares of games up to a total and its chance
        [1]_: the p-value is at most what is returned, and 0 for a total that cannot be. All that is
        for a number of games that was fixed beforehand; where games stopped once enough was known,
        it is approximate.

        Parameters
        ----------
        exact : Evaluation, StagedSolution or Distribution
            Of the same policies: of a staged game that all play by its solution, the solution, or
            what :func:`gamedp.stages.distribution` says of its totals.
        player : int
            A distribution of totals is player 0's.

        Raises
        ------
        UnsupportedProblemError
            If some games are unfinished, which the value counts, too; or it is not that of a total;
            or so few games have no p-value.

        References
        ----------
        .. [1] P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals
           of Probability 18 (1990).
        """
        if isinstance(exact, Distribution):
            return self._agrees_with_totals(exact, player)
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
    """Games of two policies in pairs: the seats change, and the dice stay.

    The k-th throw of whoever sits first is the same in both games of a pair, and so is that of the
    second seat. Luck is then shared, and the two policies are compared with fewer games. The pairs
    are independent of one another, the two games of a pair are not: so errors are those of pairs.

    Attributes
    ----------
    names : tuple of str
        The policies.
    pairs : int
    seed : int
    unfinished : int
        Pairs of which a game was left after so many plies. The means leave them out.
    means : (float, float)
        What each policy got on average in both seats.
    deviation : float
        The standard deviation of what a policy gets in a pair, on average of its two games.
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
        """Say who played, and what came of it."""
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

    @property
    def finished(self) -> int:
        """How many pairs came to their end in both games."""
        return self.pairs - self.unfinished

    @property
    def standard_error(self) -> float:
        """The standard error of the means."""
        return self.deviation / math.sqrt(self.finished) if self.finished else math.nan

    @property
    def independent_error(self) -> float:
        """What the standard error would be if each game had dice of its own."""
        errors = [each.standard_error() for each in self.seatings]
        return math.hypot(*errors) / 2

    def agrees_with(self, first: Evaluation, second: Evaluation) -> float:
        """Return the p-value of pairs like these, if the evaluations of both seatings are right.

        By the normal distribution of the mean of pairs.

        Parameters
        ----------
        first, second : Evaluation
            Of the policies in their order, and with the seats changed.

        Raises
        ------
        UnsupportedProblemError
            If some games are unfinished, which the value counts, too; or it is not that of a total;
            or so few pairs have no p-value.
        """
        for each, evaluation in zip(self.seatings, (first, second), strict=True):
            each.refuse(evaluation)
        both = zip(first.bounds(), second.bounds(player=1), strict=True)
        low, high = (math.fsum(ends) / 2 for ends in both)
        is_known = _is_certain(first) and _is_certain(second)
        error = self.standard_error
        return normal_p_value(self.means[0], error, (low, high), is_known=is_known)
