"""Proof-number search: finds who wins by searching first where a proof seems closest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np

from gamedp.compiler.native import RAISED, call_native, compiled_for_all
from gamedp.errors import UnsupportedProblemError
from gamedp.results.search_result import SearchedAction, SearchResult
from gamedp.results.status import Guarantee, Status, opposite_bounds
from gamedp.runtime.jit import inlined
from gamedp.runtime.machine import allocate_lazily
from gamedp.runtime.options import finite, limits_last
from gamedp.searchers.base import INFINITY, RootAction, Search, Searcher
from gamedp.searchers.bound_rules import table_entries
from gamedp.searchers.driver import Loop, OutOfTime, values_of_tables
from gamedp.searchers.node_loop import ENTER, ask_actions_jit, come_to_jit
from gamedp.searchers.position_loop import (
    FULL,
    KNOWN,
    NO_NUMBER,
    UNREAD,
    enter,
    follow_for_one,
    list_actions,
)
from gamedp.searchers.root import checked_range, payoff_of, refuse_contradiction, root_of, step
from gamedp.searchers.stacks import (
    BUCKET,
    POSITIONS,
    Fields,
    LoopStatus,
    find_entry_jit,
    hash_fields_jit,
)

if TYPE_CHECKING:
    from gamedp.searchers.root import Root, RootChoice

# Phases, besides ENTER.
UPDATE, RETURN, BEGIN = range(1, 4)

PLY = Fields("row first count current is_own most_proof most_disproof began")
"""A position on the way, its actions, the one being searched, and the limits of its numbers.

What the action at some place leads to stands in the row after that number. The last two fields of a
row are the prover's rewards on the way there, and the prover's number.
"""

MOST_LEAD = 1 << 10
"""Largest lead of an estimate beyond the goal that counts."""

SOLVED = 1 << 30
"""A proof number of a position that is disproven, and a disproof number of one that is proven."""


def meets(value: float, needed: float, exceeds: bool) -> bool:
    """Return whether a value reaches the goal, or exceeds it where it must."""
    return value > needed or (value == needed and not exceeds)


meets_jit = inlined(meets)


def keep_numbers(
    keys: Any, infos: Any, efforts: Any, fields: Any, proof: int, disproof: int, effort: int
) -> None:
    """Enter the numbers of a position; in a full bucket, the cheapest entry is replaced."""
    first = (hash_fields_jit(fields) & (infos.size // BUCKET - 1)) * BUCKET
    place = first
    least = 1 << 62
    for entry in range(first, first + BUCKET):
        same = infos[entry] != 0
        for k in range(fields.size):
            if not same or keys[entry, k] != fields[k]:
                same = False
                break
        if same:
            place = entry
            effort += efforts[entry]
            break
        cost = -1 if infos[entry] == 0 else efforts[entry]
        if cost < least:
            least = cost
            place = entry
    for k in range(fields.size):
        keys[place, k] = fields[k]
    infos[place] = proof << 31 | disproof
    efforts[place] = effort


keep_numbers_jit = inlined(keep_numbers)


def count_action(work: Any, page: Any, rules: Any, row: int, place: int) -> int:
    """Enter the proof and disproof numbers of the outcome of an action.

    Parameters
    ----------
    work, page, rules
        Of the loop; the position is the one at ``tally.ply``.
    row : int
        Of the position.
    place : int
        Of the action.

    Returns
    -------
    status : LoopStatus
        DONE; or why the loop must return. Where the fault is of the position after the action, that
        stands at ``tally.ply`` then.
    """
    tally, question, fields = work.tally[0], page.question[0], page.fields
    prover_field, infinity = fields.shape[1] - 1, float("inf")
    prover, banked = fields[row, prover_field], fields[row, prover_field - 1]
    action, after = page.actions[place], place + 1
    question.row = row
    question.first = after
    question.action = action.label
    question.mover = prover
    number = call_native(rules.follow_for_one, rules.game, rules.page)
    if number == FULL:
        tally.wanted = POSITIONS
        return LoopStatus.GROW
    if number > 1:
        return LoopStatus.CHANCE
    if number != 1:
        return LoopStatus.FAILED if number == RAISED else LoopStatus.BAD_RULES
    position = page.positions[after]
    side = prover ^ position.swapped
    action.proof = 0
    action.disproof = SOLVED
    if position.is_over:
        if not meets_jit(position.low, work.goal - banked, work.exceeds):
            action.proof = SOLVED
            action.disproof = 0
        return LoopStatus.DONE
    work.plies[tally.ply + 1].row = after
    if position.mover < 0 or position.mover >= work.num_players:
        tally.ply += 1
        return LoopStatus.BAD_RULES
    if position.ending == NO_NUMBER:
        return LoopStatus.OUTSIDE
    if position.ending == UNREAD:
        tally.wanted = position.block
        return LoopStatus.READ
    low, high = position.low, position.high
    if position.ending == KNOWN:
        tally.probes += 1
        one, other = position.ending_low, position.ending_high
        if position.mover != side:
            one, other = work.constant_sum - other, work.constant_sum - one
        low = max(low, one)
        high = min(high, other)
    is_whole = position.banked == round(position.banked)
    if not is_whole or not low <= high or low == infinity or high == -infinity:
        tally.ply += 1
        return LoopStatus.UNORDERED
    banked += int(position.banked)
    fields[after, prover_field] = side
    fields[after, prover_field - 1] = banked
    needed = work.goal - banked
    if meets_jit(low, needed, work.exceeds):
        return LoopStatus.DONE
    if not meets_jit(high, needed, work.exceeds):
        action.proof = SOLVED
        action.disproof = 0
        return LoopStatus.DONE
    if not abs(position.estimate) < infinity:
        tally.ply += 1
        return LoopStatus.BAD_ESTIMATE
    hashed = hash_fields_jit(fields[after])
    entry = find_entry_jit(work.keys, work.infos, fields[after], hashed)
    if entry >= 0:
        tally.hits += 1
        action.proof = work.infos[entry] >> 31
        action.disproof = work.infos[entry] & (2 * SOLVED - 1)
        return LoopStatus.DONE
    # Positions farther from a table, or from the goal by the game's own estimate, are
    # likely to cost more.
    effort = 1
    if page.top_tier >= 0:
        effort += max(0, position.tier - page.top_tier)
    lead = int(min(max(position.estimate - needed, -2.0 * MOST_LEAD), 2.0 * MOST_LEAD))
    action.proof = effort + min(max(0, -lead), MOST_LEAD)
    action.disproof = effort + min(max(0, lead), MOST_LEAD)
    return LoopStatus.DONE


count_action_jit = inlined(count_action)


def weigh(actions: Any, first: int, count: int, is_own: bool) -> Any:
    """Return the cheapest action for the mover, its number, the next one, and the others' sum.

    Of the numbers of the positions after it, the least counts for the mover, and the others' add
    up: here as the greatest and one more for each, for where they share positions, a sum would
    count these twice.
    """
    least = 2 * SOLVED
    second = 2 * SOLVED
    chosen = first
    greatest = 0
    open_actions = 0
    for place in range(first, first + count):
        action, best = actions[place], actions[chosen]
        own = action.proof if is_own else action.disproof
        other = action.disproof if is_own else action.proof
        if own < least or (own == least and other < (best.disproof if is_own else best.proof)):
            second = least
            least = own
            chosen = place
        elif own < second:
            second = own
        if other > greatest:
            greatest = other
        if other != 0:
            open_actions += 1
    summed = greatest
    if greatest != 0 and greatest < SOLVED:
        summed = greatest + open_actions - 1
        if summed >= SOLVED:
            summed = SOLVED - 1
    if least > SOLVED:
        least = SOLVED
    if least == 0:
        summed = SOLVED
    elif summed == 0:
        least = SOLVED
    return chosen, least, second, summed


weigh_jit = inlined(weigh)


def prove(work: Any, page: Any, rules: Any, budget: int) -> Any:
    """Decide whether the prover reaches the goal in the position at ply 0.

    The phases::

        BEGIN   at the first position  --> ENTER
        ENTER   a position             --> UPDATE, with first numbers of all actions
        UPDATE  its numbers            --> ENTER one ply down; RETURN if they are beyond the limits
        RETURN  with its numbers       --> UPDATE one ply up

    Parameters
    ----------
    work
        ``plies`` is the stack; ``goal`` is what the prover wants to get, or to exceed where
        ``exceeds`` says so.
    page, rules
        The record of a question to the rules, see `gamedp.searchers.driver`.
    budget : int
        Positions after which to pause.

    Returns
    -------
    status : LoopStatus
        DONE, with ``tally.proof`` 0 if it is proven and ``tally.disproof`` 0 if it is not so.
    """
    plies, positions, actions, fields = work.plies, page.positions, page.actions, page.fields
    tally, question = work.tally[0], page.question[0]
    prover_field = fields.shape[1] - 1
    ply, phase = tally.ply, tally.phase
    proof, disproof = tally.proof, tally.disproof
    last_node = tally.nodes + budget
    if phase == BEGIN:
        question.row = 0
        if call_native(rules.enter, rules.game, rules.page) == RAISED:
            return LoopStatus.FAILED
        phase = ENTER
    while True:
        here = plies[ply]
        if phase == ENTER:
            status = come_to_jit(tally, plies, ply, last_node)
            if status != LoopStatus.DONE:
                return status
            row = here.row
            mover = positions[row].mover
            if mover < 0 or mover >= work.num_players:
                return LoopStatus.BAD_RULES
            is_own = mover == fields[row, prover_field]
            first = 0
            if ply > 0:
                first = plies[ply - 1].first + plies[ply - 1].count
            status, listed = ask_actions_jit(tally, question, rules, row, first)
            if status != LoopStatus.DONE:
                return status
            if first + listed >= len(positions):
                tally.wanted = POSITIONS
                return LoopStatus.GROW
            count = 0
            for place in range(first, first + listed):
                status = count_action_jit(work, page, rules, row, place)
                if status != LoopStatus.DONE:
                    return status
                count += 1
                if (actions[place].proof if is_own else actions[place].disproof) == 0:
                    break
            tally.nodes += 1
            if ply > tally.deepest:
                tally.deepest = ply
            here.first = first
            here.count = count
            here.is_own = is_own
            here.began = tally.nodes
            phase = UPDATE
        elif phase == UPDATE:
            is_own = here.is_own != 0
            chosen, least, second, summed = weigh_jit(actions, here.first, here.count, is_own)
            proof, disproof = (least, summed) if is_own else (summed, least)
            most_own = here.most_proof if is_own else here.most_disproof
            most_other = here.most_disproof if is_own else here.most_proof
            if least >= most_own or summed >= most_other or least == 0 or summed == 0:
                keep_numbers_jit(
                    work.keys, work.infos, work.efforts, fields[here.row], proof, disproof,
                    tally.nodes - here.began + 1,
                )  # fmt: skip
                phase = RETURN
                continue
            here.current = chosen
            other = actions[chosen].disproof if is_own else actions[chosen].proof
            own_limit = min(second + second // 4 + 1, most_own)
            other_limit = most_other - summed + other
            if other_limit > SOLVED or most_other >= SOLVED:
                other_limit = SOLVED
            ply += 1
            plies[ply].row = chosen + 1
            plies[ply].most_proof = own_limit if is_own else other_limit
            plies[ply].most_disproof = other_limit if is_own else own_limit
            phase = ENTER
        else:
            if ply == 0:
                tally.ply = 0
                tally.proof = proof
                tally.disproof = disproof
                return LoopStatus.DONE
            ply -= 1
            action = actions[plies[ply].current]
            action.proof = proof
            action.disproof = disproof
            phase = UPDATE


prove_jit = compiled_for_all(prove)


LOOP = Loop(prove_jit, (enter, list_actions, follow_for_one), PLY)


@attrs.frozen(kw_only=True, field_transformer=limits_last)
class ProofNumberSearch(Searcher[SearchResult]):
    """Finds who wins, or whether a player gets at least a given payoff.

    Depth-first proof-number search [1]_: for every position, the least number of others that must
    be proven to prove it is kept, and the same for disproof; the cheapest is searched next. Shared
    successors would be counted repeatedly, so the largest number counts, plus one for each other
    [2]_. Its strength is the narrow path through a wide tree: it finds forced wins far below the
    depth that alpha-beta reaches.

    For deterministic games without rewards on the way in which no position can recur; the game
    must say so (``acyclic = True``).

    The bounds of the result are the answer: for a win the lower one is just above half of the
    constant sum. Unless they meet, the only value of the result is the game's own estimate. The
    best actions are those after which the answer was proven, by whatever amount: all that win, if
    one does. For a loss by an unknown amount, or if nothing is proven, there are none. The bounds
    of an action are those proven for it. The principal variation keeps the answer to the end of the
    game, whatever the opponent might try instead; there is none for a draw.

    Parameters
    ----------
    at_least : float or None
        The question: does player 0 get at least this much? None asks for win, draw or loss: whether
        player 0 gets more than half of the constant sum, exactly half, or less.
    endings : Tables, optional
        Of exactly this game, which numbers its positions: see :func:`gamedp.tables.tabulate`.
    table_bytes : float
        The size limit of the table of positions.
    max_seconds, max_nodes : float
        Limits at which the result so far is returned, with a status that says so.

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

    takes_chance = False
    at_least: float | None = attrs.field(default=None, validator=attrs.validators.optional(finite))
    endings: Any = None
    table_bytes: float = 2**26

    def _root(self, game: Any, state: Any) -> Root:
        root = super()._root(game, state)
        name = type(game).__name__
        if root.choices and not root.rules.claims_acyclic:
            message = (
                f"ProofNumberSearch is for games in which no position recurs, and {name} does "
                "not say that it is one (acyclic = True). Use Retrograde."
            )
            raise UnsupportedProblemError(message)
        if root.choices and hasattr(game, "reward"):
            message = f"ProofNumberSearch is for games without rewards, unlike {name}."
            raise UnsupportedProblemError(message)
        return root

    def _start(self, root: Root, *asked: Any) -> ProofSearch:
        return ProofSearch(self, root, *asked)


class ProofSearch(Search[SearchResult]):
    """A running search."""

    loop = LOOP
    extra_fields = 2  # what the prover has banked, and who that is

    def __init__(self, options: ProofNumberSearch, root: Root, *asked: Any) -> None:
        self.answered: tuple[float, bool, bool] | None = None
        self.asked: tuple[float, bool] | None = None
        self.banks = hasattr(root.rules.game, "remainder")
        tables = values_of_tables(options.endings, root.rules)
        super().__init__(options, root, *asked, endings=tables, banks=self.banks)

    def _arrays(self, num_fields: int) -> dict[str, Any]:
        """Return the transposition table and the question."""
        self.entries = max(4, table_entries(self.options.table_bytes, num_fields))
        return {
            "keys": allocate_lazily((self.entries, num_fields), np.int64),
            "infos": allocate_lazily((self.entries,), np.int64),
            "efforts": allocate_lazily((self.entries,), np.int64),
            "goal": 0.0,
            "exceeds": False,
            "constant_sum": float(self.root.rules.constant_sum),
        }

    def run(self) -> SearchResult:
        """Ask one question, or two."""
        root = self.root
        self.low, self.high = self._range(root.state, root.player, is_swapped=False)
        self.found = [self._start(choice) for choice in root.choices]
        questions = [(root.half, True), (root.half, False)]
        if self.options.at_least is not None:
            questions = [(float(self.options.at_least), False)]
        best: tuple[Any, ...] = ()
        status = Status.SOLVED
        try:
            for goal, exceeds in questions:
                self._ask(goal, exceeds=exceeds)
                best = self._actions(goal, exceeds=exceeds) or best
                if meets(self.low, goal, exceeds):
                    break
        except OutOfTime:
            status = self.budget.status
        return self._result(status, best)

    def _range(self, state: Any, player: int, *, is_swapped: bool) -> tuple[float, float]:
        """Return the game's own bounds of player 0's value; the players may have changed places."""
        low, high = checked_range(self.root.rules, state, player)
        if player == int(is_swapped):
            return low, high
        return opposite_bounds(self.root.rules.constant_sum, low, high)

    def _start(self, choice: RootChoice) -> RootAction:
        """Return the rules' own bounds for an action without looking ahead."""
        child = choice.outcomes[0]
        if child.is_terminal:
            payoff = payoff_of(self.root.rules, child.state, int(child.swapped))
            return RootAction(choice, low=payoff, high=payoff)
        low, high = self._range(child.state, child.player, is_swapped=child.swapped)
        return RootAction(choice, low=low, high=high)

    def _line(self, status: Status, *, is_draw: bool) -> tuple[tuple[Any, Any], ...]:
        """Follow play that preserves the answer: a player who can takes the first such action.

        All actions of the opponent preserve it; the first one stands for them. This fails for a
        draw, which is the answer to two questions: no line is searched for there.
        """
        if status is not Status.SOLVED or self.answered is None or is_draw:
            return ()
        goal, exceeds, holds = self.answered
        self.budget = self.budget.for_line()
        root, line = self.root, []
        try:
            while root.choices:
                keeps = root.player == (0 if holds else 1)
                # Of equal ones the first: of those that keep the answer, one that ends the game.
                order = sorted(
                    root.choices,
                    key=lambda choice: choice.outcomes[0].is_terminal != keeps,
                )
                taken = order[0]
                if keeps:
                    taken = next(
                        choice
                        for choice in order
                        if self._holds_after(choice, goal, exceeds=exceeds) == holds
                    )
                line.append((taken.action, step(root, taken)))
                root = root_of(root.rules.game, line[-1][1], "ProofNumberSearch", with_chance=False)
        except OutOfTime:
            pass  # as far as that
        return tuple(line)

    def _ask(self, goal: float, *, exceeds: bool) -> None:
        """Decide whether player 0 gets at least some value at the root, and record the answer."""
        if meets(self.low, goal, exceeds):
            holds = True
        elif not meets(self.high, goal, exceeds):
            holds = False
        else:
            holds = self._answer(self.root.state, 0, goal, exceeds=exceeds)
        self.low, self.high = _narrow(self.low, self.high, goal, exceeds=exceeds, holds=holds)
        self.answered = goal, exceeds, holds
        for entry in self.found:
            # Nothing that the mover may do is better than the value.
            if self.root.player == 0:
                entry.high = min(entry.high, self.high)
            else:
                entry.low = max(entry.low, self.low)

    def _actions(self, goal: float, *, exceeds: bool) -> tuple[Any, ...]:
        """Return the actions after which the answer still holds; the table knows most of them.

        Empty if it holds after all actions, unless the value itself is known.
        """
        holds = meets(self.low, goal, exceeds)
        if self.root.player != (0 if holds else 1) and self.low != self.high:
            return ()
        # Where the game's own range says more than the answer, the best actions are to keep that.
        low, high = _narrow(-INFINITY, INFINITY, goal, exceeds=exceeds, holds=holds)
        if self.root.player == 0 and self.low > low:
            goal, exceeds, holds = self.low, False, True
        elif self.root.player == 1 and self.high < high:
            goal, exceeds, holds = self.high, True, False
        best = []
        for entry in self.found:
            after = self._holds_after(entry.choice, goal, exceeds=exceeds)
            if after == holds:
                best.append(entry.choice.action)
            entry.low, entry.high = _narrow(
                entry.low, entry.high, goal, exceeds=exceeds, holds=after
            )
        return tuple(best)

    def _holds_after(self, choice: RootChoice, goal: float, *, exceeds: bool) -> bool:
        outcome = choice.outcomes[0]
        side = int(outcome.swapped)
        if outcome.is_terminal:
            payoff = payoff_of(self.root.rules, outcome.state, side)
            return meets(payoff, goal, exceeds)
        return self._answer(outcome.state, side, goal, exceeds=exceeds)

    def _answer(self, state: Any, prover: int, goal: float, *, exceeds: bool) -> bool:
        """Run the loop on a position until the prover's question is answered."""
        driver, game = self.driver, self.root.rules.game
        if self.asked != (goal, exceeds):
            self.asked = goal, exceeds
            driver.change(goal=goal, exceeds=exceeds)
            if driver.nodes:
                driver.work["infos"][:] = 0  # it holds answers to another question
        settled = 0.0
        if self.banks:
            settled = float(game.settled(state, prover))
            state = game.remainder(state)
            settled -= float(game.settled(state, prover))
            if settled != int(settled):
                refuse_contradiction(self.root.state)
        first = driver.enter(state, int(settled), prover)
        first.most_proof = first.most_disproof = SOLVED
        self.tally.phase = BEGIN
        while True:
            driver.run(self.budget)
            if self.tally.proof == 0 or self.tally.disproof == 0:  # else one is at its limit
                return bool(self.tally.proof == 0)

    def _action(self, entry: RootAction, best: tuple[Any, ...]) -> SearchedAction:
        """Return proven bounds of one action; for the best ones, lower bounds of their value."""
        action = entry.choice.action
        value = entry.low
        bound: Literal["exact", "at least", "at most"] = "at least"
        if (action in best) != (self.root.player == 0):
            value, bound = entry.high, "at most"
        if entry.low == entry.high:
            bound = "exact"
        name = self.root.rules.action_name(self.root.state, action)
        plies = self.root.plies_of(entry.choice, value - self.root.half)
        return SearchedAction(action, name, value, bound, entry.low, entry.high, plies=plies)

    def _result(self, status: Status, best: tuple[Any, ...]) -> SearchResult:
        root, low, high = self.root, self.low, self.high
        return SearchResult(
            **self.common(status, int(self.tally.deepest) + 1),
            value=low if low == high else min(max(root.value(root.estimate()), low), high),
            has_value=low == high,
            lower=low,
            upper=high,
            best_actions=best,
            actions=tuple(self._action(entry, best) for entry in self.found),
            principal_variation=self._line(
                status, is_draw=self.options.at_least is None and low == high == root.half
            ),
            guarantee=Guarantee.TWO_SIDED,
        )


def _narrow(
    low: float, high: float, goal: float, *, exceeds: bool, holds: bool
) -> tuple[float, float]:
    """Return bounds of a value that meets a goal, or does not."""
    if holds:
        return max(low, math.nextafter(goal, INFINITY) if exceeds else goal), high
    return low, min(high, goal if exceeds else math.nextafter(goal, -INFINITY))
