"""Proof-number search: who wins, by looking first where a proof seems nearest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from gamedp.compiler import proof_loop as loop
from gamedp.compiler.memory import untouched
from gamedp.compiler.search import SearchRules, search_rules, table_entries
from gamedp.errors import InvalidModelError, UnsupportedProblemError
from gamedp.search_result import SearchedAction, SearchResult, SearchStatistics
from gamedp.searchers.base import (
    OutOfTime,
    Watch,
    checked_range,
    ended,
    refuse_chance,
    root_of,
    step,
)
from gamedp.solution import Guarantee, Status
from gamedp.solvers.options import positive

if TYPE_CHECKING:
    from gamedp.progress import ProgressCallback
    from gamedp.searchers.base import Choice, Root

__all__ = ["ProofNumberSearch"]

INFINITY = math.inf


@attrs.frozen(kw_only=True)
class ProofNumberSearch:
    """Find out who wins, or whether a player gets at least so much.

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
    >>> result = gamedp.ProofNumberSearch().search(Matches(matches=18), compile="never")
    >>> result.lower > 0, result.best_actions
    (True, (1,))
    """

    at_least: float | None = None
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
            answer was proven: for a loss, or where nothing is proven, there are none. The principal
            variation keeps the answer to the end of the game, whatever the other one might have
            tried instead; there is none for a draw.

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
        return _Search(self, root, compile, progress).run()


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
        low, high = (
            root.value(end - root.half)
            for end in checked_range(root.rules, root.state, root.player)
        )
        low, high = min(low, high), max(low, high)
        status = Status.SOLVED
        best: tuple[int, ...] = ()
        middle = root.half
        half_best: tuple[int, ...] = ()
        try:
            if self.options.at_least is not None:
                goal = float(self.options.at_least)
                low, high, best = self._ask(goal, low, high, exceeds=False)
            else:
                low, high, best = self._ask(middle, low, high, exceeds=True)
                if high <= middle:
                    low, high, half_best = self._ask(middle, low, high, exceeds=False)
        except OutOfTime:
            is_late = self.watch.seconds > self.options.max_seconds
            status = Status.TIME_LIMIT if is_late else Status.NODE_LIMIT
        return self._result(status, low, high, best or half_best)

    def _line(self, status: Status, *, is_draw: bool) -> tuple[tuple[int, Any], ...]:
        """Follow play that keeps the answer: whoever can, takes the first action that does.

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

    def _ask(
        self, goal: float, low: float, high: float, *, exceeds: bool
    ) -> tuple[float, float, tuple[int, ...]]:
        """Return what is known of player 0's value after a question, and the actions that do it."""

        def keeps(end: float) -> bool:
            return end > goal if exceeds else end >= goal

        if self.counters[loop.NODES]:
            self.infos[:] = 0  # it holds answers to another question
        if not keeps(low) and keeps(high):
            if self._answer(self.root.state, 0, goal, exceeds=exceeds):
                low = math.nextafter(goal, INFINITY) if exceeds else goal
            else:
                high = goal if exceeds else math.nextafter(goal, -INFINITY)
        holds = keeps(low)
        self.answered = goal, exceeds, holds
        if self.root.player != (0 if holds else 1):
            return low, high, ()  # the answer holds whatever the mover does
        return low, high, self._actions(goal, exceeds=exceeds, holds=holds)

    def _actions(self, goal: float, *, exceeds: bool, holds: bool) -> tuple[int, ...]:
        """Return the actions after which the answer still holds; the table knows most of them."""
        return tuple(
            choice.action
            for choice in self.root.choices
            if self._holds_after(choice, goal, exceeds=exceeds) == holds
        )

    def _holds_after(self, choice: Choice, goal: float, *, exceeds: bool) -> bool:
        outcome = choice.outcomes[0]
        side = int(outcome.swapped)
        if outcome.is_terminal:
            payoff = float(self.root.rules.game.payoff(outcome.state, side))
            return payoff > goal or (payoff == goal and not exceeds)
        return self._answer(outcome.state, side, goal, exceeds=exceeds)

    def _answer(self, state: Any, prover: int, goal: float, *, exceeds: bool) -> bool:
        """Run the loop on a position until the prover's question is answered."""
        rules, game = self.rules, self.root.rules.game
        settled = 0.0
        if self.strips:
            settled = float(game.settled(state, prover))
            state = game.remainder(state)
            settled -= float(game.settled(state, prover))
        self.counters[[loop.PLY, loop.PHASE]] = 0, loop.ENTER
        self.fields[0] = [*rules.flatten(state), int(settled), prover]
        self.ints[0, [loop.MOST_PROOF, loop.MOST_DISPROOF]] = loop.SOLVED
        work = self._work(rules, goal, exceeds=exceeds)
        while True:
            stack = self.fields[: int(self.counters[loop.PLY]) + 1, :-2]
            status = rules.run(work, self.watch.budget(), stack)
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
            message = (
                f"what the game says of values, of what is settled or of endings after {state!r} "
                "contradicts itself; gamedp.testing.check_game and EndgameTables.verify tell more."
            )
            raise InvalidModelError(message)
        rules.explain(stack)

    def _result(
        self, status: Status, low: float, high: float, best: tuple[int, ...]
    ) -> SearchResult:
        root, rules = self.root, self.root.rules
        actions = tuple(
            SearchedAction(
                choice.action,
                rules.action_name(root.state, choice.action),
                low if root.player == 0 else high,
                "at least" if root.player == 0 else "at most",
                low if root.player == 0 else -INFINITY,
                INFINITY if root.player == 0 else high,
            )
            for choice in root.choices
            if choice.action in best
        )
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
            actions=actions,
            principal_variation=self._line(
                status, is_draw=self.options.at_least is None and low == high
            ),
            status=status,
            guarantee=Guarantee.TWO_SIDED,
            statistics=work,
        )
