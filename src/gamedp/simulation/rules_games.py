"""Simulation of games by their rules, position by position, without a table of positions.

The loop of :mod:`gamedp.simulation.rules_loop`, and the rules and policies that it calls, run
compiled or as plain Python, with the same games either way.
"""

from __future__ import annotations

import functools
import types as python_types
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numba
import numpy as np

from gamedp.compiler.bridge import as_action, bind, record
from gamedp.compiler.build import fall_back
from gamedp.compiler.cache import hash_of
from gamedp.compiler.methods import compile_rules, disagree, refuse_overflow
from gamedp.compiler.native import NativeFunction, RecordPointer
from gamedp.compiler.reasons import reason_at
from gamedp.errors import InvalidModelError, InvalidParameterError, shown
from gamedp.policies.policy import RandomPlayer, chance_of, chosen_action, name_of, rule_of
from gamedp.rules.anatomy import dissect
from gamedp.rules.expand import (
    ActionNumbers,
    checked_action,
    expand,
    refuse_rewards_of_outcomes,
    start,
)
from gamedp.rules.fingerprint import Fingerprint
from gamedp.rules.game import helper, method
from gamedp.rules.layout import Layout
from gamedp.rules.slips import Calling
from gamedp.runtime.floats import SUM_TOLERANCE
from gamedp.runtime.jit import uncompiled
from gamedp.simulation.rules_loop import (
    ACT_RAISED,
    DECIDE_RAISED,
    DONE,
    GAMES_PER_CHECK,
    NUM_ASKED,
    NUM_FOUND,
    WRONG,
    act,
    decide,
    play_games,
    play_games_jit,
)
from gamedp.simulation.tally import PlayedGames, Playing, Tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.rules.game import Rules
    from gamedp.runtime.options import CompileMode
    from gamedp.runtime.workers import Workers

SLICE = 1_000_000
"""Number of plies after which a call of the loop returns, since it cannot be interrupted."""


POSITIONS, OUTCOMES = 1 << 16, 1 << 18
"""Numbers of positions and outcomes that a thread caches. With more, reading them takes longer than
calling the rules."""


class RulesGames(Playing):
    """Plays the games of given policies.

    Parameters
    ----------
    rules : Rules
    policies : sequence
        One for each seat: an object with ``choose(state)``, a function of a state, or RandomPlayer.
    key : uint64
        What the games are drawn from.
    most : int
        Plies after which a game is left unfinished.
    workers : int or Executor
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    in_pairs : bool
        Whether games come in pairs, with the same dice and swapped seats.
    """

    def __init__(
        self,
        rules: Rules,
        policies: Sequence[Any],
        key: np.uint64,
        most: int,
        workers: Workers,
        compile: CompileMode,
        *,
        in_pairs: bool = False,
    ) -> None:
        self.rules = rules
        self.policies = policies
        self.names = tuple(map(name_of, policies))
        self.total = rules.constant_sum
        self.has_rewards = hasattr(rules.game, "reward")
        self._values = {
            "key": key,
            "most": most,
            "in_pairs": in_pairs,
            "has_rewards": self.has_rewards,
            "num_players": rules.num_players,
            "has_opponents": rules.has_opponents,
            "total": float(rules.constant_sum),
            "patience": SLICE,
            "checked": GAMES_PER_CHECK,
        }
        start(rules)  # refuses an invalid distribution
        pairs = [(float(chance), state) for chance, state in rules.initial() if chance > 0]
        self._starts = [state for _, state in pairs]
        self._start_sums = np.cumsum([chance for chance, _ in pairs])
        self._joined = JoinedRules.plain(rules, policies)
        self._columns = rules.num_players if rules.is_general_sum else 1
        super().__init__(workers, [()] * self._columns)
        self._known: list[dict[str, Any]] = []
        if compile != "never" and not numba.config.DISABLE_JIT:
            self._compile(must=compile == "always")

    def _compile(self, *, must: bool) -> None:
        """Compile game and policies, if possible, by a call that plays no game."""
        game, state = self.rules.game, self._starts[0]
        layout = Layout.of(state)
        if layout is None or not layout.is_compilable:
            reason = f"its states ({shown(state)}) are not NamedTuples of ints and tuples of ints"
            fall_back(game, reason, must=must)
            return
        try:
            joined = JoinedRules.compiled(self.rules, self.policies, layout, state)
            joined.playing(self._page(joined, 0, 0) | self._nothing_known(joined))(0, 0)
        except Exception as error:  # noqa: BLE001 - numba has errors outside its own family
            expansion = expand(self.rules, state)  # they are often simply wrong
            fall_back(game, reason_at(expansion, error), must=must)
            return
        self._joined = joined

    def payoffs(self) -> tuple[set[float] | None, float, float]:
        """Return None for the unknown payoffs of player 0, and the least and the greatest one."""
        value_range = method(self.rules.game, "value_range")
        ranges = [value_range(self.rules.game, state, 0) for state in self._starts]
        lows, highs = zip(*ranges, strict=True)
        return None, float(min(lows)), float(max(highs))

    def block(self, begin: int, end: int) -> Tally:
        """Play the games with the numbers from `begin` to `end`; return their tally."""
        return self.played(begin, end).tally(self._columns)

    def played(self, begin: int, end: int) -> PlayedGames:
        """Play the games with the numbers from `begin` to `end`.

        Raises
        ------
        InvalidModelError
            If the rules are wrong in a position that is visited.
        InvalidParameterError
            If a policy takes no existing action.
        """
        joined = self._joined
        try:
            known = self._known.pop()
        except IndexError:  # one for each thread that plays
            known = self._nothing_known(joined)
        page = self._page(joined, begin, end - begin) | known
        play = joined.playing(page)
        first = begin
        while first < end:
            status, error = WRONG, None
            try:
                with np.errstate(over="ignore"):  # the plain loop counts modulo 2**64, too
                    status = play(first, end)
            except Exception as raised:  # noqa: BLE001 - whatever the rules may raise
                error = raised
            first = int(page["number"][0])
            if status != DONE:
                self._explain(first, error)
        self._known.append(known)
        return PlayedGames.of(page["earned"], page["paid"], page["plies"])

    def played_pairs(self, begin: int, end: int) -> tuple[PlayedGames, PlayedGames]:
        """Play the pairs with the numbers from `begin` to `end`; return both games of each."""
        both = self.played(2 * begin, 2 * end)
        arrays = attrs.astuple(both, recurse=False)
        first, second = (PlayedGames(*(each[place::2] for each in arrays)) for place in (0, 1))
        return first, second

    def _page(self, joined: JoinedRules, begin: int, count: int) -> dict[str, Any]:
        """Return the fields of a page for a number of games from `begin` on."""
        num_players, rows = self.rules.num_players, joined.rows(self._starts)
        streams = num_players * (1 + bool(joined.is_mixed.any()))
        fields = np.zeros((3, rows.shape[1] + 1), rows.dtype)
        return {
            **self._values,
            "is_mixed": joined.is_mixed,
            "start_sums": self._start_sums,
            "starts": rows,
            "fields": fields[0],
            "following": fields[1],
            "drawn": fields[2],
            "asked": np.zeros(NUM_ASKED, np.int64),
            "found": np.zeros(NUM_FOUND, np.int64),
            "chance": np.zeros(1),
            "streams": np.zeros(streams, np.uint64),
            "coming": np.zeros(streams, np.uint64),
            "number": np.zeros(1, np.int64),
            "origin": begin,
            "earned": np.zeros((count, num_players)),
            "paid": np.zeros((count, num_players)),
            "plies": np.zeros(count, np.int64),
        }

    def _nothing_known(self, joined: JoinedRules) -> dict[str, Any]:
        """Return an empty cache of positions for a thread; without space for plain objects."""
        nodes, edges = (POSITIONS, OUTCOMES) if joined.has_fields else (0, 0)
        starts = joined.rows(self._starts)
        return {
            "used": np.zeros(2, np.int64),
            "slots": np.zeros(1 << (2 * nodes).bit_length(), np.int32),
            "start_nodes": np.zeros((2, len(starts)), np.int32),
            "keys": np.zeros((nodes, starts.shape[1] + 1), np.int64),
            "firsts": np.zeros(nodes, np.int32),
            "sizes": np.zeros(nodes, np.int32),
            "drawers": np.zeros(nodes, np.uint8),
            "rewards": np.zeros((nodes if self.has_rewards else 0, self.rules.num_players)),
            "cumulative": np.zeros(edges),
            "successors": np.zeros(edges, np.int32),
        }

    def _explain(self, number: int, error: Exception | None) -> NoReturn:
        """Play a game again in plain Python, and raise the error of the position it stops at."""
        plain = JoinedRules.plain(self.rules, self.policies, keep=True)
        page = self._page(plain, number, 1) | self._nothing_known(plain) | {"checked": 1}
        status, again = DONE, None
        try:
            with np.errstate(over="ignore"):
                status = plain.playing(page)(number, number + 1)
        except (InvalidModelError, InvalidParameterError):
            raise
        except Exception as raised:  # noqa: BLE001 - whatever the rules may raise
            again = raised
        state = plain.met[-1]
        if status != DONE or again is not None:
            refuse_rewards_of_outcomes(expand(self.rules, state), state)
        if again is not None:
            raise again
        if self._joined.is_compiled:
            refuse_overflow(self.rules, self._joined.game.record, plain.met, error)
        disagree(f"in game {number}", error)


DECIDING = ("is_terminal", "payoff", "player", "actions")


ACTING = ("reward", "outcomes")
"""The methods of a game that `decide` and `act` call."""


@attrs.frozen(eq=False)
class JoinedRules:
    """A game and the policies of its seats, in the form that the loop takes.

    Attributes
    ----------
    loop : callable
        A function of the pointer of a page, the record of the functions called, and the numbers of
        games.
    game, table : RecordPointer
        The game, and the record of the `game` and ``gamedp_choose(state, seat, chance)``.
    met : deque
        The positions that the loop has queried, in order; empty for compiled rules.
    is_compiled : bool
    is_mixed : (N,) bool
        Whether the policy of each seat may randomise.
    """

    loop: Callable[..., int]
    game: RecordPointer
    table: RecordPointer
    met: deque[Any]
    is_compiled: bool
    is_mixed: NDArray[np.bool_]
    _functions: Callable[[RecordPointer], tuple[NativeFunction, NativeFunction]]
    _layout: Layout | None

    @property
    def has_fields(self) -> bool:
        """Whether the loop stores positions as integers, and not as objects."""
        return self._layout is not None

    def rows(self, states: Sequence[Any]) -> NDArray[Any]:
        """Return states in the form that the loop stores them, one row each."""
        if self._layout is not None:
            return np.array([self._layout.flatten(state) for state in states], np.int64)
        rows = np.empty((len(states), 1), object)
        for row, state in zip(rows, states, strict=True):
            row[0] = state
        return rows

    def playing(self, values: dict[str, Any]) -> Callable[[int, int], int]:
        """Return a function that plays a range of games on a page of named values.

        It raises the errors that the rules and the policies raise.
        """
        page = RecordPointer(self._record("games", values))
        deciding, acting = self._functions(page)
        rules = self._record(
            "rules",
            {
                "decide": deciding.given,
                "act": acting.given,
                "table": self.table.given,
                "game": self.game.given,
                "page": page.given,
            },
        )

        def play(begin: int, end: int) -> int:
            status = int(self.loop(page.itself, rules, begin, end))
            if status == DECIDE_RAISED:
                deciding.function(self.table.itself, page.itself)
            elif status == ACT_RAISED:
                acting.function(self.game.itself, page.itself)
            return WRONG if status in {DECIDE_RAISED, ACT_RAISED} else status

        return play

    def _record(self, name: str, values: dict[str, Any]) -> Any:
        return record(name, values) if self.is_compiled else python_types.SimpleNamespace(**values)

    @classmethod
    def plain(cls, rules: Rules, policies: Sequence[Any], *, keep: bool = False) -> JoinedRules:
        """Join them as plain Python, in which any object can be a position.

        Parameters
        ----------
        rules : Rules
        policies : sequence
        keep : bool
            Whether to keep all positions that are visited, and not only the last one.
        """
        met: deque[Any] = deque(maxlen=None if keep else 1)
        choosers = [_plain_chooser(rules, policy) for policy in policies]

        def decode(fields: NDArray[Any]) -> Any:
            met.append(fields[0])
            return fields[0]

        def flatten(state: Any, fields: NDArray[Any]) -> None:
            fields[0] = state

        asked = {
            name: functools.partial(method(rules.game, name), rules.game)
            for name in (*DECIDING, *ACTING)
        }
        numbers = ActionNumbers()
        game = python_types.SimpleNamespace(
            **numbers.numbering(asked) | {"player": rules.player, "is_terminal": rules.is_terminal},
            gamedp_decode=decode,
            gamedp_flatten=flatten,
        )
        table = python_types.SimpleNamespace(
            game=game,
            gamedp_choose=lambda state, seat, chance: numbers.number(choosers[seat](state, chance)),
        )
        deciding, acting = (
            NativeFunction(function, function) for function in map(uncompiled, (decide, act))
        )
        return cls(
            uncompiled(play_games),
            RecordPointer(game),
            RecordPointer(table),
            met,
            is_compiled=False,
            is_mixed=np.ones(len(policies), np.bool_),
            functions=lambda _page: (deciding, acting),
            layout=None,
        )

    @classmethod
    def compiled(
        cls,
        rules: Rules,
        policies: Sequence[Any],
        layout: Layout,
        state: Any,
    ) -> JoinedRules:
        """Join them compiled, at the first page, or loaded from disk.

        Raises
        ------
        numba.core.errors.NumbaError
            If a method cannot be compiled.
        """
        game = compile_rules(rules, layout, state)
        distinct = list({id(policy): policy for policy in policies}.values())
        bound, keys = {"game": game.game.record}, []
        for number, policy in enumerate(distinct):
            if isinstance(policy, RandomPlayer):
                keys.append("random")
            else:
                bound[f"policy_{number}"], key = _bound_policy(policy)
                keys.append(key)
        places = {id(policy): number for number, policy in enumerate(distinct)}
        text = _choosing([places[id(policy)] for policy in policies], keys)
        joined = hash_of(f"{game.key} {text} {keys}")
        key = f"{type(rules.game).__name__}-games-{joined}"
        namespace: dict[str, Any] = {"as_action": as_action}
        exec(text, namespace)  # noqa: S102 - our own text, the numbers of seats apart
        choose = {"gamedp_choose": namespace["gamedp_choose"]}
        given = bind(python_types.SimpleNamespace(**bound), key, choose, (), tuple(bound))
        table = RecordPointer(given, key)

        def functions(page: RecordPointer) -> tuple[NativeFunction, NativeFunction]:
            return (
                game.native(decide, DECIDING, page, table, key),
                game.native(act, ACTING, page),
            )

        return cls(
            play_games_jit,
            game.game,
            table,
            deque(),
            is_compiled=True,
            is_mixed=np.array([isinstance(policy, RandomPlayer) for policy in policies]),
            functions=functions,
            layout=layout,
        )


def _plain_chooser(rules: Rules, policy: Any) -> Callable[[Any, float], Any]:
    """Return a function that asks a policy in a state, with a number in [0, 1) for chance."""
    if isinstance(policy, RandomPlayer):

        def draw(state: Any, chance: float) -> Any:
            actions = list(rules.game.actions(state))
            return checked_action(state, actions[int(chance * len(actions))])

        return draw
    rule, name = rule_of(policy), name_of(policy)

    def choose(state: Any, chance: float) -> Any:
        with Calling("choose", state):
            answer = rule(state)
        if isinstance(answer, Mapping):
            answer = _drawn(answer, chance, name, state)
        actions = [checked_action(state, action) for action in rules.game.actions(state)]
        action = chosen_action(answer, name, state, known=actions)
        if action not in actions:
            message = (
                f"{name} chooses {shown(action)} in {shown(state)}, where the actions are "
                f"{shown(actions)}."
            )
            raise InvalidParameterError(message)
        return action

    return choose


def _drawn(answer: Mapping[Any, float], chance: float, name: str, state: Any) -> Any:
    """Return one of several actions, chosen by their probabilities."""
    shares = {action: chance_of(given, action, name, state) for action, given in answer.items()}
    if not (shares and all(share >= 0 for share in shares.values())) or not (
        abs(sum(shares.values()) - 1) <= SUM_TOLERANCE
    ):
        message = f"probabilities of {name} in {shown(state)} are invalid: {shown(answer)}."
        raise InvalidParameterError(message)
    reached = 0.0
    possible = [action for action, share in shares.items() if share > 0]
    for action in possible:
        reached += shares[action]
        if chance < reached:
            return action
    return possible[-1]


def _bound_policy(policy: Any) -> tuple[Any, str]:
    """Return a policy in the form for compiled loops, with a method `choose`, and its key."""
    rule = rule_of(policy)
    if isinstance(rule, python_types.FunctionType):
        fingerprint = Fingerprint()
        fingerprint.add_function("policy", rule)
        key = f"policy-{fingerprint.hexdigest()[:24]}"
        marked = _marked(rule, key)
        namespace: dict[str, Any] = {"function": marked}
        exec("def choose(self, state):\n    return function(state)", namespace)  # noqa: S102 - our own
        helpers = marked, *fingerprint.helpers
        return bind(policy, key, {"choose": namespace["choose"]}, helpers, ()), key
    anatomy = dissect(policy, ("choose",), {})
    if "choose" not in anatomy.methods:
        message = f"choose of {name_of(policy)} is not a method of its class in Python"
        raise TypeError(message)
    key = f"{type(policy).__name__}-{anatomy.digest[:24]}"
    return bind(policy, key, anatomy.methods, anatomy.helpers, anatomy.fields), key


@functools.lru_cache(maxsize=64)
def _marked(function: python_types.FunctionType, _key: str) -> Callable[..., Any]:
    """Return a copy of a function that is compiled along with the rules, one for each key.

    The key identifies the meaning of the function: a number that it reads in its module may have
    changed.
    """
    copy = python_types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    return helper(copy)


def _choosing(seats: Sequence[int], keys: Sequence[str]) -> str:
    """Write the method that asks the policy of a seat; each policy is an index into `keys`."""
    lines = ["def gamedp_choose(self, state, seat, chance):"]
    for number, key in enumerate(keys):
        own = [seat for seat, of in enumerate(seats) if of == number]
        lines.append(f"    if {' or '.join(f'seat == {seat}' for seat in own)}:")
        if key == "random":
            lines += [
                "        count = 0",
                "        for label in self.game.actions(state):",
                "            count += 1",
                "        place = int(chance * count)",
                "        for label in self.game.actions(state):",
                "            if place == 0:",
                "                return as_action(label)",
                "            place -= 1",
            ]
        else:
            lines.append(f"        return as_action(self.policy_{number}.choose(state))")
    return "\n".join([*lines, "    return 0", ""])
