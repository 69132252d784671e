"""Proof-number search: who wins, by looking first where a proof seems nearest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import attrs
import numpy as np

from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.results.search_result import SearchedAction, SearchResult, SearchStatistics
from gamedp.results.solution import Guarantee, Status
from gamedp.runtime.floats import rounds
from gamedp.runtime.memory import untouched
from gamedp.runtime.options import finite, positive
from gamedp.searchers import proof_number_loop as loop
from gamedp.searchers.bound_rules import SearchRules, search_rules, table_entries
from gamedp.searchers.proof_number_loop import meets
from gamedp.searchers.root import (
    OutOfTime,
    Watch,
    checked_range,
    ended,
    heeding_ctrl_c,
    payoff_of,
    refuse_chance,
    refuse_estimate,
    root_of,
    step,
)

if TYPE_CHECKING:
    from gamedp.runtime.progress import ProgressCallback
    from gamedp.searchers.root import Choice, Root

__all__ = ["ProofNumberSearch"]

INFINITY = math.inf


@attrs.frozen(kw_only=True)
class ProofNumberSearch:
    """Find out who wins, or whether a player gets at least a given payoff.

    Depth-first proof-number search [1]_: of every position it is kept how many others would have to
    be proven, at least, to prove it, and how many to disprove it; what costs least is searched
    next. Positions that share what comes after them would be counted often, so the largest number
    counts, and one more for each other [2]_. Its strength is the narrow way through a wide tree: a
    forced win is found far below the depth that alpha-beta reaches.

    For deterministic games in which no position can come again; the game must say so
    (``acyclic = True``).

    Parameters
    ----------
    at_least : float or None
        The question: does player 0 get at least so much? None asks for win, draw or loss: whether
        player 0 gets more than half of the constant sum, just that, or less.
    endings : EndgameTables, optional
        Tables of the endings of this very game.
    table_bytes : float
        What the table of positions may take.
    max_seconds, max_nodes : float
        Limits after which what is known is returned, with a status that says so.

    References
    ----------
    .. [1] A. Nagai, "Df-pn algorithm for searching AND/OR trees and its applications", University
       of Tokyo, 2002.
    .. [2] T. Ueda, T. Hashimoto, J. Hashimoto, H. Iida, "Weak proof-number search", Computers and
       Games 2008.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> result = gamedp.searchers.ProofNumberSearch().search(Matches(matches=18), compile="never")
    >>> result.lower > 0, result.best_actions
    (True, (1,))
    """

    at_least: float | None = attrs.field(default=None, validator=attrs.validators.optional(finite))
    endings: Any = None
    table_bytes: float = 2**26
    max_seconds: float = attrs.field(default=INFINITY, validator=positive)
    max_nodes: float = attrs.field(default=INFINITY, validator=positive)

    def search(
        self,
        game: Any,
        state: Any = None,
        *,
        compile: Literal["auto", "always", "never"] = "auto",
        progress: ProgressCallback | None = None,
    ) -> SearchResult:
        """Search a position; the parameters are those of :meth:`AlphaBeta.search`.

        Returns
        -------
        SearchResult
            Its bounds are the answer: of a win the lower one is just above half of the constant
            sum. The value is NaN unless they meet. The best actions are those after which the
            answer was proven, by whatever amount: all that win, if one does. For a loss by an
            unknown amount, or where nothing is proven, there are none. The bounds of an action are
            what was proven of that action. The principal variation keeps the answer to the end of
            the game, whatever the other one might have tried instead; there is none for a draw.

        Raises
        ------
        UnsupportedProblemError
            If there is chance, rewards on the way, or a position may come again.
        InvalidModelError
            If the rules are wrong somewhere; names the state and the action.
        """
        root = root_of(game, state, "ProofNumberSearch", with_chance=False)
        if not root.choices:
            return ended(root, self)
        name = type(game).__name__
        if not root.rules.claims_acyclic:
            message = (
                f"ProofNumberSearch is for games in which no position comes again, and {name} does "
                "not say that it is one (acyclic = True). Use Retrograde."
            )
            raise UnsupportedProblemError(message)
        if hasattr(game, "reward"):
            message = f"ProofNumberSearch is for games without rewards, unlike {name}."
            raise UnsupportedProblemError(message)
        search = _Search(self, root, compile, progress)
        return heeding_ctrl_c(search.watch, search.run)


@attrs.define
class _Found:
    """One action at the root, and bounds of what player 0 gets after it."""

    choice: Choice
    low: float
    high: float


class _Search:
    """A search under way."""

    def __init__(
        self,
        options: ProofNumberSearch,
        root: Root,
        compile: Literal["auto", "always", "never"],
        progress: ProgressCallback | None,
    ) -> None:
        self.options = options
        self.root = root
        self.answered: tuple[float, bool, bool] | None = None
        self.asked: tuple[float, bool] | None = None
        self.strips = hasattr(root.rules.game, "remainder")
        self.counters = np.zeros(loop.COUNTERS, np.int64)
        self.ints = np.zeros((64, loop.INTS), np.int64)
        self.proofs = np.zeros(1024, np.int64)
        self.disproofs = np.zeros(1024, np.int64)
        self.entries = 4
        self._lay_out(1)
        self.rules = search_rules(
            root.rules, root.state, loop.prove, self._example, compile=compile
        )
        self.entries = max(4, table_entries(options.table_bytes, self.rules.num_fields + 2))
        self._lay_out(self.rules.num_fields)
        self.watch = Watch(
            options.max_seconds,
            options.max_nodes,
            progress,
            lambda: int(self.counters[loop.NODES]),
        )

    def _lay_out(self, num_fields: int) -> None:
        shape = (self.entries, num_fields + 2)
        self.fields = np.zeros((len(self.ints), num_fields + 2), np.int64)
        self.child_fields = np.zeros((len(self.proofs), num_fields + 2), np.int64)
        self.keys = untouched(shape, np.int64)
        self.infos = untouched(shape[:1], np.int64)
        self.efforts = untouched(shape[:1], np.int64)

    def _example(self, rules: SearchRules) -> Any:
        self._lay_out(rules.num_fields)
        return self._work(rules, 0.0, exceeds=False)

    def _work(self, rules: SearchRules, goal: float, *, exceeds: bool) -> Any:
        endings = self.options.endings
        names = ("fields", "ints", "counters", "child_fields", "proofs", "disproofs", "keys",
                 "infos", "efforts", "strips")  # fmt: skip
        return rules.work(
            **{name: getattr(self, name) for name in names},
            goal=goal,
            exceeds=exceeds,
            constant_sum=rules.rules.constant_sum,
            most_material=-1 if endings is None else endings.material,
            endings=np.zeros(1, np.int8) if endings is None else endings.values,
            ending_offsets=np.zeros(1, np.int64) if endings is None else endings.offsets,
            ending_sizes=np.zeros(1, np.int64) if endings is None else endings.sizes,
            ending_present=np.zeros(1, np.bool_) if endings is None else endings.present,
        )

    def run(self) -> SearchResult:
        """Ask one question, or two."""
        root = self.root
        self.low, self.high = self._range(root.state, root.player, is_swapped=False)
        self.found = [self._start(choice) for choice in root.choices]
        questions = [(root.half, True), (root.half, False)]
        if self.options.at_least is not None:
            questions = [(float(self.options.at_least), False)]
        best: tuple[int, ...] = ()
        status = Status.SOLVED
        try:
            for goal, exceeds in questions:
                self._ask(goal, exceeds=exceeds)
                best = self._actions(goal, exceeds=exceeds) or best
                if meets(self.low, goal, exceeds):
                    break
        except OutOfTime:
            status = self.watch.status
        return self._result(status, best)

    def _range(self, state: Any, player: int, *, is_swapped: bool) -> tuple[float, float]:
        """Return the game's own bounds of what player 0 gets; the players may have changed places.

        A difference that is no 64-bit number is rounded away from what it bounds.
        """
        low, high = checked_range(self.root.rules, state, player)
        if player == int(is_swapped):
            return low, high
        total = self.root.rules.constant_sum
        ends = total - high, total - low
        if rounds(total, -high, ends[0]):
            ends = math.nextafter(ends[0], -INFINITY), ends[1]
        if rounds(total, -low, ends[1]):
            ends = ends[0], math.nextafter(ends[1], INFINITY)
        return ends

    def _start(self, choice: Choice) -> _Found:
        """Return what the rules say of an action without looking ahead."""
        child = choice.outcomes[0]
        if child.is_terminal:
            payoff = payoff_of(self.root.rules, child.state, int(child.swapped))
            return _Found(choice, payoff, payoff)
        return _Found(choice, *self._range(child.state, child.player, is_swapped=child.swapped))

    def _line(self, status: Status, *, is_draw: bool) -> tuple[tuple[int, Any], ...]:
        """Follow play that preserves the answer: a player who can takes the first such action.

        The other one's actions all leave it as it is; the first one stands for them. Not so in a
        draw, which is the answer to two questions: no line is looked for there.
        """
        if status is not Status.SOLVED or self.answered is None or is_draw:
            return ()
        goal, exceeds, holds = self.answered
        self.watch = self.watch.for_line()
        root, line = self.root, []
        try:
            while root.choices:
                taken = root.choices[0]
                if root.player == (0 if holds else 1):
                    taken = next(
                        choice
                        for choice in root.choices
                        if self._holds_after(choice, goal, exceeds=exceeds) == holds
                    )
                line.append((taken.action, step(root, taken)))
                root = root_of(root.rules.game, line[-1][1], "ProofNumberSearch", with_chance=False)
        except OutOfTime:
            pass  # as far as that
        return tuple(line)

    def _ask(self, goal: float, *, exceeds: bool) -> None:
        """Find out whether player 0 gets so much at the root, and note what that says."""
        if meets(self.low, goal, exceeds):
            holds = True
        elif not meets(self.high, goal, exceeds):
            holds = False
        else:
            holds = self._answer(self.root.state, 0, goal, exceeds=exceeds)
        self.low, self.high = _narrowed(self.low, self.high, goal, exceeds=exceeds, holds=holds)
        self.answered = goal, exceeds, holds
        for entry in self.found:
            # Nothing that the mover may do is better than the value.
            if self.root.player == 0:
                entry.high = min(entry.high, self.high)
            else:
                entry.low = max(entry.low, self.low)

    def _actions(self, goal: float, *, exceeds: bool) -> tuple[int, ...]:
        """Return the actions after which the answer still holds; the table knows most of them.

        There are none if it holds whatever the mover does, unless the value itself is known.
        """
        holds = meets(self.low, goal, exceeds)
        if self.root.player != (0 if holds else 1) and self.low != self.high:
            return ()
        # Where the game's own range says more than the answer, the best actions are to keep that.
        low, high = _narrowed(-INFINITY, INFINITY, goal, exceeds=exceeds, holds=holds)
        if self.root.player == 0 and self.low > low:
            goal, exceeds, holds = self.low, False, True
        elif self.root.player == 1 and self.high < high:
            goal, exceeds, holds = self.high, True, False
        best = []
        for entry in self.found:
            after = self._holds_after(entry.choice, goal, exceeds=exceeds)
            if after == holds:
                best.append(entry.choice.action)
            entry.low, entry.high = _narrowed(
                entry.low, entry.high, goal, exceeds=exceeds, holds=after
            )
        return tuple(best)

    def _holds_after(self, choice: Choice, goal: float, *, exceeds: bool) -> bool:
        outcome = choice.outcomes[0]
        side = int(outcome.swapped)
        if outcome.is_terminal:
            payoff = payoff_of(self.root.rules, outcome.state, side)
            return meets(payoff, goal, exceeds)
        return self._answer(outcome.state, side, goal, exceeds=exceeds)

    def _answer(self, state: Any, prover: int, goal: float, *, exceeds: bool) -> bool:
        """Run the loop on a position until the prover's question is answered."""
        rules, game = self.rules, self.root.rules.game
        if self.asked != (goal, exceeds):
            self.asked = goal, exceeds
            if self.counters[loop.NODES]:
                self.infos[:] = 0  # it holds answers to another question
        settled = 0.0
        if self.strips:
            settled = float(game.settled(state, prover))
            state = game.remainder(state)
            settled -= float(game.settled(state, prover))
            if settled != int(settled):
                self._contradicts(self.root.state)
        self.counters[[loop.PLY, loop.PHASE]] = 0, loop.ENTER
        self.fields[0] = [*rules.flatten(state), int(settled), prover]
        self.ints[0, [loop.MOST_PROOF, loop.MOST_DISPROOF]] = loop.SOLVED
        work = self._work(rules, goal, exceeds=exceeds)
        while True:
            stack = self.fields[: int(self.counters[loop.PLY]) + 1, :-2]
            status = rules.run(work, self.watch.budget(), stack, self.fields[:, :-2])
            if status == loop.DONE:
                if self.counters[loop.PROOF] != 0 and self.counters[loop.DISPROOF] != 0:
                    continue  # a number has reached its limit
                return bool(self.counters[loop.PROOF] == 0)
            if status == loop.PAUSED:
                self.watch.look()
                continue
            self._mend(status)
            work = self._work(rules, goal, exceeds=exceeds)

    def _mend(self, status: int) -> None:
        """Make room, or say what is wrong."""
        if status == loop.READ:
            self.options.endings.read(int(self.counters[loop.WANTED]))
            return
        if status in {loop.GROW_PLIES, loop.GROW_CHILDREN}:
            names = (
                ("fields", "ints")
                if status == loop.GROW_PLIES
                else ("child_fields", "proofs", "disproofs")
            )
            for name in names:
                array = getattr(self, name)
                setattr(self, name, np.concatenate((array, np.zeros_like(array))))
            return
        self._complain(status)

    def _complain(self, status: int) -> NoReturn:
        """Raise the error of the rules that the loop has met."""
        rules = self.rules
        stack = self.fields[: int(self.counters[loop.PLY]) + 1, :-2]
        state = rules.build(stack[-1])
        choices = root_of(rules.rules.game, state, "ProofNumberSearch", with_chance=True).choices
        for choice in choices:
            if len(choice.outcomes) > 1:
                refuse_chance(state, choice.action, "ProofNumberSearch")
        if status == loop.OUTSIDE:
            self.options.endings.refuse(state)
        if status == loop.UNORDERED:
            for choice in choices:
                self._start(choice)
            self._contradicts(state)
        for choice in choices:
            child = choice.outcomes[0]
            refuse_estimate(rules.rules, child.state)
            if self.strips and not child.is_terminal:
                refuse_estimate(rules.rules, rules.rules.game.remainder(child.state))
        rules.explain(stack)

    def _contradicts(self, state: Any) -> NoReturn:
        """Raise the error of claims that cannot all be true."""
        message = (
            f"what the game says of values, of what is settled or of endings after {shown(state)} "
            "contradicts itself; gamedp.testing.check_game and EndgameTables.verify tell more."
        )
        raise InvalidModelError(message)

    def _action(self, entry: _Found, best: tuple[int, ...]) -> SearchedAction:
        """Return what is proven of one action: of the best ones, how good they are at least."""
        action = entry.choice.action
        value = entry.low
        bound: Literal["exact", "at least", "at most"] = "at least"
        if (action in best) != (self.root.player == 0):
            value, bound = entry.high, "at most"
        if entry.low == entry.high:
            bound = "exact"
        name = self.root.rules.action_name(self.root.state, action)
        return SearchedAction(action, name, value, bound, entry.low, entry.high)

    def _result(self, status: Status, best: tuple[int, ...]) -> SearchResult:
        root, rules, low, high = self.root, self.root.rules, self.low, self.high
        work = SearchStatistics(
            nodes=int(self.counters[loop.NODES]) + 1,
            depth=int(self.counters[loop.DEEPEST]) + 1,
            table_hits=int(self.counters[loop.HITS]),
            table_entries=self.entries,
            ending_probes=int(self.counters[loop.PROBES]),
            seconds=self.watch.seconds,
        )
        return SearchResult(
            rules=rules,
            state=root.state,
            searcher=self.options,
            value=low if low == high else math.nan,
            lower=low,
            upper=high,
            best_actions=best,
            actions=tuple(self._action(entry, best) for entry in self.found),
            principal_variation=self._line(
                status, is_draw=self.options.at_least is None and low == high == root.half
            ),
            status=status,
            guarantee=Guarantee.TWO_SIDED,
            statistics=work,
        )


def _narrowed(
    low: float, high: float, goal: float, *, exceeds: bool, holds: bool
) -> tuple[float, float]:
    """Return bounds of a value that meets a goal, or does not."""
    if holds:
        return max(low, math.nextafter(goal, INFINITY) if exceeds else goal), high
    return low, min(high, goal if exceeds else math.nextafter(goal, -INFINITY))
