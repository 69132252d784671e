"""Results of searches: the value of one position, its bounds, and the best actions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import attrs

from gamedp.errors import shown
from gamedp.results.status import check_player, opposite_bounds
from gamedp.runtime.notebook import html_table
from gamedp.runtime.options import values_of
from gamedp.runtime.registry import SEARCHERS, name_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from gamedp.results.status import Guarantee, Status
    from gamedp.rules.game import Rules


@attrs.frozen
class SearchStatistics:
    """Statistics of a search.

    Attributes
    ----------
    nodes : int
        Positions entered; one that is searched again counts again. Positions that alpha-beta need
        not enter, since the position before decides them, do not count.
    depth : int
        Plies of the last search that finished; 0 if none did.
    table_hits, table_entries : int
        The number of positions found in the transposition table, and the table's capacity.
    ending_probes : int
        The number of reads of a table.
    cutoffs : int
        Positions left before all their actions were searched.
    seconds : float
        Duration of the search, without compiling the rules.
    """

    nodes: int
    depth: int
    table_hits: int = 0
    table_entries: int = 0
    ending_probes: int = 0
    cutoffs: int = 0
    seconds: float = 0.0

    @property
    def nodes_per_second(self) -> float:
        """Return the number of positions entered per second."""
        return self.nodes / self.seconds if self.seconds > 0 else 0.0


@attrs.frozen
class SearchedAction:
    """One action at the root.

    Attributes
    ----------
    action
        The action as the rules have it.
    name : str
        The name of the action.
    value : float
        Player 0's value after it, as found by the search; see `bound`.
    bound : {"exact", "at least", "at most"}
        How `value` relates to the result at this depth: an action that cannot be best is searched
        only until that is known.
    lower, upper : float
        The true value lies between these.
    plies : int or None
        The number of plies, including this one, until the value is certainly reached: for an
        action that wins or loses, if it is known.
    """

    action: Any
    name: str
    value: float
    bound: Literal["exact", "at least", "at most"]
    lower: float
    upper: float
    plies: int | None = attrs.field(default=None, kw_only=True)


@attrs.frozen(eq=False, kw_only=True, repr=False)
class SearchResult:
    """The value of one position, and the best actions in it.

    Attributes
    ----------
    rules : Rules
    state
        The position, the root of the search.
    searcher : object
        The searcher with its options.
    lower, upper : float
        Player 0's true value of the position lies between these; they are equal if the search has
        proven it.
    best_actions : tuple
        The actions that are as good as any, as far as the search saw, in the game's order. Where
        the search ended at its depth, that rests on estimates; `certain_actions` are proven best.
    actions : tuple of SearchedAction
        All actions, in the game's order; empty if the game is over, or nothing is known of them.
    principal_variation : tuple of (action, state)
        Best play from the root: each action with the position that it leads to.
    status : Status
    guarantee : Guarantee
    statistics : SearchStatistics
    has_value : bool
        Whether the search has found a value. If not, because a limit was reached first or only
        bounds were asked for, the value is the game's own estimate of the position, within the
        bounds.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> result = gamedp.search(Matches(matches=18), compile="never")
    >>> result.value(), result.bounds(), result.best_actions, result.certain_actions
    (1.0, (1.0, 1.0), (1,), (1,))
    """

    rules: Rules
    state: Hashable
    searcher: Any
    _value: float
    lower: float
    upper: float
    best_actions: tuple[Any, ...]
    actions: tuple[SearchedAction, ...]
    principal_variation: tuple[tuple[Any, Any], ...]
    status: Status
    guarantee: Guarantee
    statistics: SearchStatistics
    has_value: bool = True

    def value(self, player: int = 0) -> float:
        """Return what `player` gets from the position on under best play.

        As far as the search saw: at its depth limit, the game's heuristic replaces the true
        value.
        """
        check_player(self.rules.num_players, player)
        return self.rules.constant_sum - self._value if player == 1 else self._value

    def bounds(self, player: int = 0) -> tuple[float, float]:
        """Return (lower, upper) of what `player` truly gets from the position on."""
        check_player(self.rules.num_players, player)
        if player == 1:
            return opposite_bounds(self.rules.constant_sum, self.lower, self.upper)
        return self.lower, self.upper

    @property
    def is_proven(self) -> bool:
        """Whether the true value is known."""
        return self.lower == self.upper

    def action_value(self, action: Any) -> SearchedAction:
        """Return the result for one action.

        Raises
        ------
        KeyError
            If it is not an action of the root.
        """
        for entry in self.actions:
            if entry.action == action:
                return entry
        message = f"{shown(action)} is not an action in {shown(self.state)}."
        raise KeyError(message)

    @property
    def plies(self) -> float:
        """Return the number of plies until the winner is certain, by a quickest action.

        Infinite in a draw, and if it is unknown.
        """
        half = self.rules.constant_sum / 2
        if self.rules.is_general_sum or self.lower <= half <= self.upper:
            return math.inf
        found = (self.action_value(action).plies for action in self.quickest_actions)
        return float(next(found, None) or math.inf)

    @property
    def quickest_actions(self) -> tuple[Any, ...]:
        """Return the best actions that win soonest or lose latest.

        All best ones if the length is unknown, and in a draw; a losing action of unknown length
        counts as long. A win is more than half of the constant sum.
        """
        half = self.rules.constant_sum / 2
        if not self.best_actions or self.rules.is_general_sum or self.lower <= half <= self.upper:
            return self.best_actions
        found = {each.action: each.plies or math.inf for each in self.actions}
        lengths = {action: found[action] for action in self.best_actions}
        ahead = (self.lower > half) == (self.rules.player(self.state) == 0)
        wanted = (min if ahead else max)(lengths.values())
        return tuple(action for action, length in lengths.items() if length == wanted)

    @property
    def certain_actions(self) -> tuple[Any, ...]:
        """Return the actions that are proven best by the bounds.

        If rounding has widened the bounds, no two actions are certainly equal. With more than two
        players, no action is known to be best.
        """
        low, high = self._from_the_mover()
        return tuple(
            entry.action
            for place, entry in enumerate(self.actions)
            if low[place]
            >= min(high[-1], max(high[:place] + high[place + 1 : -1], default=low[-1]))
            and not self.rules.is_general_sum
        )

    @property
    def possible_actions(self) -> tuple[Any, ...]:
        """Return the actions that may be best: those that the bounds do not exclude."""
        low, high = self._from_the_mover()
        return tuple(
            entry.action
            for entry, most in zip(self.actions, high, strict=False)
            if most >= max(low) or self.rules.is_general_sum
        )

    def _from_the_mover(self) -> tuple[list[float], list[float]]:
        """Return bounds of the actions, and last of the root, as a maximising player sees them."""
        ends = [(entry.lower, entry.upper) for entry in self.actions] + [(self.lower, self.upper)]
        if self.actions and self.rules.player(self.state) != 0:
            ends = [(-high, -low) for low, high in ends]
        return [low for low, _ in ends], [high for _, high in ends]

    def facts(self) -> dict[str, Any]:
        """Return the result by name, as ``gamedp search --json`` prints it."""
        options, work = values_of(self.searcher), self.statistics
        tables = options.get("endings")
        if tables is not None:
            options["endings"] = {"last_tier": tables.last_tier, "positions": tables.num_places}
        line = self.principal_variation
        return {
            "parameters": values_of(self.rules.game),
            "searcher": {"name": name_of(SEARCHERS, self.searcher), **options},
            "state": self.state,
            "status": self.status.name,
            "guarantee": self.guarantee.name,
            "proven": self.is_proven,
            "value": self.value() if self.has_value else None,
            "lower": self.lower,
            "upper": self.upper,
            **self._facts_of_players(),
            "actions": [attrs.asdict(entry, recurse=False) for entry in self.actions],
            "best": self.best_actions,
            "quickest": self.quickest_actions,
            "certainly_best": self.certain_actions,
            "possibly_best": self.possible_actions,
            "line": [
                {"action": action, "name": name}
                for (action, _), name in zip(line, self.line_names(), strict=True)
            ],
            "end": line[-1][1] if line else self.state,
            **attrs.asdict(work),
            "nodes_per_second": work.nodes_per_second,
        }

    def _facts_of_players(self) -> dict[str, Any]:
        """Return facts about each player, for a searcher for any number of players."""
        return {}

    def line_names(self) -> list[str]:
        """Return the actions of the `principal_variation` in words."""
        states = [self.state, *(state for _, state in self.principal_variation)]
        return [
            self.rules.action_name(state, action)
            for state, (action, _) in zip(states, self.principal_variation, strict=False)
        ]

    def __repr__(self) -> str:
        """Return the value, its bounds and the depth of the search."""
        return (
            f"<SearchResult value={self._value!r} lower={self.lower!r} upper={self.upper!r} "
            f"best_actions={list(self.best_actions)} depth={self.statistics.depth} "
            f"status={self.status.name}>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {
            "value": f"{self._value!r}",
            "bounds": f"{self.lower!r} … {self.upper!r}",
            "best": ", ".join(
                self.rules.action_name(self.state, action) for action in self.best_actions
            ),
            "status": self.status.value,
            "searcher": repr(self.searcher),
            "nodes": f"{self.statistics.nodes:,}",
        }
        return html_table(rows)
