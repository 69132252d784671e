"""Compilation of a game to its model, in compiled or interpreted mode."""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import time
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np

from gamedp.compiler.limits import SHOWN_STATES, ExplorationBudget, ExplorationLimits
from gamedp.compiler.reasons import NAMED_ACTIONS, OUTCOMES_EARN, first_reason
from gamedp.compiler.spot_check import ask_again, spot_check
from gamedp.errors import (
    CompilationError,
    CompilationWarning,
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    UnsupportedProblemError,
    shown,
    warn,
)
from gamedp.model.model import Model, given_numbers
from gamedp.rules.exactness import (
    LONG_ROW,
    MAX_EXACT_INTEGER,
    SEVERAL,
    as_array,
    as_given,
    model_numbers,
    refuse_rounded,
    upward,
)
from gamedp.rules.expand import (
    ActionNumbers,
    Expansion,
    Numbering,
    canonical_state,
    expand,
    is_state,
    start,
)
from gamedp.rules.game import PLAIN_MARK, Rules, method
from gamedp.rules.layout import WORD_LIMIT, Codec, Layout, ObjectTable, PackedTable, rows_of_box
from gamedp.rules.slips import Calling, refuse_hidden
from gamedp.runtime.compile_clock import without_collection
from gamedp.runtime.options import CompileMode, StateChoice, check_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from gamedp.compiler.explorer import Explorer
    from gamedp.runtime.limit import ProgressCallback

Ranges: TypeAlias = list[tuple[int, int]]
"""The first and the last number of each field of a state."""

__all__ = [
    "ExploredRows",
    "Patience",
    "compile_game",
    "explore",
    "fall_back",
    "model_of_arrays",
    "model_of_rows",
    "payments_of",
    "ranges_of",
    "seeds_of",
]

CHECK_EVERY = 256
"""Number of states between two checks of the limits."""

LOOK_EVERY = 16
"""Number of states between two checks of patience: they may have many outcomes each."""

INTERPRETED_STATES_BEFORE_WARNING = 1 << 16
"""Number of states from which on growing fields cause a warning: some seconds of plain Python."""

BYTES = (300, 250, 200, 70)
"""Approximate bytes of a representative, a numbered state, a choice and a transition."""


@attrs.frozen
class Patience:
    """Limits of plain Python's work, beyond which compiling pays.

    Attributes
    ----------
    states : float
        States found, whether they have been explored or not.
    transitions : float
    seconds : float
        Processor time.
    """

    states: float = float("inf")
    transitions: float = float("inf")
    seconds: float = float("inf")


FENCED = Expansion((0.0,), 0, ())
"""A state that is not expanded."""


class ExploredRows(Numbering):
    """A growing model as plain lists; states in the order of their discovery.

    Parameters
    ----------
    seeds : sequence of states
        The representatives from which the exploration begins.
    budget : ExplorationBudget
        Knows the limits.
    """

    def __init__(self, seeds: Sequence[Any], budget: ExplorationBudget) -> None:
        super().__init__(seeds)
        self._budget = budget
        self.done = 0
        self.choice_offsets = [0]
        self.transition_offsets = [0]
        self.successors: list[int] = []
        self.probabilities: list[float] = []
        self.rewards: list[float] = []
        self.players: list[int] = []
        self.terminals: list[int] = []
        self.payoffs: list[float] = []
        self.actions: list[Any] = []
        self.spreads: dict[int, Fraction] = {}
        self.fenced: list[int] = []

    @property
    def limits(self) -> ExplorationLimits:
        """The limits of the budget."""
        return self._budget.limits

    @property
    def num_bytes(self) -> int:
        """The approximate memory of all lists."""
        sizes = len(self.states), len(self.numbers), len(self.actions), len(self.successors)
        return sum(size * each for size, each in zip(sizes, BYTES, strict=True))

    @property
    def is_named(self) -> bool:
        """Whether some actions are not integers."""
        return any(type(action) is not int for action in self.actions)

    def reason(self) -> str:
        """Return why rules that have given these rows cannot be compiled; empty if they may be."""
        if self.spreads:
            return OUTCOMES_EARN
        return NAMED_ACTIONS if self.is_named else ""

    def note(self, spread: Fraction | None) -> None:
        """Note how far the mean reward of the next choice may be off, if its outcomes have some."""
        if spread is not None:
            self.spreads[len(self.actions)] = spread

    def look(self) -> None:
        """Check the limits."""
        sizes = len(self.states), len(self.actions), len(self.successors)
        self._budget.check(
            self.done,
            *sizes,
            self.num_bytes,
            lambda: self.states[-SHOWN_STATES:],
            INTERPRETED_STATES_BEFORE_WARNING,
        )


def explore(
    rules: Rules,
    rows: ExploredRows,
    patience: Patience | None = None,
    is_fenced: Callable[[Any], bool] | None = None,
) -> bool:
    """Continue the exploration; return whether all reachable states have been explored.

    Without `patience` it is, or a limit raises its error. With some, it may be given up before; a
    limit of memory then is not an error, as compiled rules take less. States that are fenced off
    are not expanded: they are ends that pay 0, and are noted.
    """
    begin = time.thread_time()
    states, successors, probabilities = rows.states, rows.successors, rows.probabilities
    rewards, actions, ends = rows.rewards, rows.actions, rows.transition_offsets
    limits = rows.limits
    while rows.done < len(states):
        done = rows.done
        if patience is not None and (
            len(states) > patience.states or len(successors) > patience.transitions
        ):
            return False
        if done % LOOK_EVERY == 0:
            if patience is not None and (
                time.thread_time() - begin > patience.seconds or rows.num_bytes > limits.max_bytes
            ):
                return False
            if done % CHECK_EVERY == 0 and done > 0:
                rows.look()
        if len(states) > limits.max_states:
            rows.look()
        payoffs, player, choices = _expanded(rules, rows, is_fenced)
        rows.players.append(player)
        if payoffs is not None:
            rows.terminals.append(done)
            rows.payoffs.extend(payoffs)
        for action, earned, outcomes, spread in choices:
            rows.note(spread)
            row = outcomes.items()
            for number, probability in sorted(row) if len(row) > LONG_ROW else row:
                successors.append(number >> 1)
                probabilities.append(-probability if number & 1 else probability)
            ends.append(len(successors))
            rewards.extend(earned)
            actions.append(action)
        rows.choice_offsets.append(len(actions))
        rows.done = done + 1
    rows.look()
    return True


def _expanded(
    rules: Rules, rows: ExploredRows, is_fenced: Callable[[Any], bool] | None
) -> Expansion:
    """Return the content of the next state; nothing of one that is fenced off, which is noted."""
    state = rows.states[rows.done]
    if is_fenced is not None and is_fenced(state):
        rows.fenced.append(rows.done)
        return FENCED
    return expand(rules, state, rows, rows.look)


LOOK_AHEAD, LOOK_AHEAD_SECONDS = 1000, 1.0
"""Number of states, and seconds, of the search for mistakes if rules do not compile."""

AT_FIRST = Patience(states=1_000, transitions=5_000, seconds=0.05)
"""Work of plain Python that takes less time than reading compiled rules from disk."""

AT_MOST = Patience(states=40_000, transitions=200_000, seconds=1.0)
"""Work of plain Python that takes about as long as compiling the rules."""

_warned: set[type] = set()


def compile_game(
    game: Any,
    *,
    compile: CompileMode = "auto",
    states: StateChoice = "reachable",
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    progress: ProgressCallback | None = None,
) -> Model:
    """Return the model of an ordinary game; see :func:`gamedp.compile`."""
    check_word("compile", compile, CompileMode)
    check_word("states", states, StateChoice)
    rules = Rules(game)
    limits = (
        ExplorationLimits(max_states, max_seconds)
        if max_bytes is None
        else ExplorationLimits(max_states, max_seconds, max_bytes)
    )
    budget = ExplorationBudget(limits, progress)
    begin = start(rules)
    layout = Layout.of(begin[0][1])
    box = ranges_of(rules, layout) if states == "all" else []
    rows = None
    if compile == "auto":
        rows = _begun(rules, begin, layout, box, budget)
    is_open = rows is None or rows.done < len(rows.states)
    if is_open and rows is not None and (reason := rows.reason()):
        fall_back(game, reason, must=False)
    elif compile != "never" and is_open:
        model = _compiled(rules, begin, layout, box, budget, must=compile == "always")
        if model is not None:
            return model
    if rows is None:
        rows = _seeded(rules, begin, layout, box, budget)
    explore(rules, rows)
    model = model_of_rows(rules, begin, rows)
    ask_again(rules, model)
    return _finished(rules, model, budget, 0.0)


def _seeded(
    rules: Rules,
    begin: list[tuple[Any, Any, bool]],
    layout: Layout | None,
    box: Ranges,
    budget: ExplorationBudget,
) -> ExploredRows:
    """Return rows with the states from which the exploration begins: the start, and the box."""
    seeds = [state for _, state, _ in begin]
    if box and layout:
        seeds = seeds_of(rules, layout, rows_of_box(box), budget, seeds)
    return ExploredRows(seeds, budget)


def seeds_of(
    rules: Rules,
    layout: Layout,
    slices: Iterable[NDArray[np.int64]],
    budget: ExplorationBudget,
    first: Sequence[Any] = (),
) -> list[Any]:
    """Return the representatives of real states among rows of fields, after others."""
    seeds: dict[Any, None] = dict.fromkeys(first)
    fields = (row for rows in slices for row in rows.tolist())
    for number, row in enumerate(fields):
        if number % CHECK_EVERY == 0:
            size = len(seeds) * BYTES[0]
            budget.check(0, len(seeds), 0, 0, size, lambda: list(seeds)[-SHOWN_STATES:])
        state = layout.build(iter(row))
        if is_state(rules, state):
            seeds[canonical_state(rules, state, "the box")[0]] = None
    return list(seeds)


def _begun(
    rules: Rules,
    begin: list[tuple[Any, Any, bool]],
    layout: Layout | None,
    box: Ranges,
    budget: ExplorationBudget,
) -> ExploredRows | None:
    """Explore in plain Python for about the compile time, unless the rules are compiled already.

    A small game is explored completely this way, before numba would have begun. Both modes give the
    same model: only the time depends on which of them finishes. None where a box is large.
    """
    if _size(box) > AT_MOST.states:
        return None
    rows = _seeded(rules, begin, layout, box, budget)
    for patience in (AT_FIRST, AT_MOST):
        if explore(rules, rows, patience) or _is_kept(rules, layout):
            break
    return rows


def _is_kept(rules: Rules, layout: Layout | None) -> bool:
    """Return whether the compiled rules are on disk already."""
    if layout is None or not layout.is_compilable:
        return False
    with without_collection():
        from gamedp.compiler.cache import are_kept  # noqa: PLC0415 - brings numba along

    return are_kept(rules, layout)


def _compiled(
    rules: Rules,
    begin: list[tuple[Any, Any, bool]],
    layout: Layout | None,
    box: Ranges,
    budget: ExplorationBudget,
    *,
    must: bool,
) -> Model | None:
    """Return the model made by compiled rules, or None if they do not compile."""
    if layout is None or not layout.is_compilable:
        reason = f"its states ({shown(begin[0][1])}) are not NamedTuples of ints and tuples of ints"
        fall_back(rules.game, reason, must=must)
        return None
    for _, state, _ in begin:
        if not all(-(2**63) <= value < 2**63 for value in layout.flatten(state)):
            reason = f"the initial state {shown(state)} has a field beyond 64 bits"
            fall_back(rules.game, reason, must=must)
            return None
    with without_collection():
        from gamedp.compiler.explorer import Explorer  # noqa: PLC0415
        from gamedp.compiler.methods import compile_rules  # noqa: PLC0415

    before = budget.seconds
    try:
        explorer = Explorer(rules, layout, compile_rules(rules, layout, begin[0][1]), budget)
        explorer.warm_up(with_box=bool(box))
    except Exception as error:  # noqa: BLE001 - numba has errors outside its own family, too
        reason = _look_for_mistakes(rules, begin) or first_reason(error)
        fall_back(rules.game, reason, must=must)
        return None
    compiled_at = budget.seconds
    table = explorer.run([state for _, state, _ in begin], box)
    model = model_of_arrays(rules, begin, explorer, table)
    spot_check(rules, model)
    model = _with_integers(rules, model, is_compiled=explorer.compiled.is_compiled)
    return _finished(rules, model, budget, compiled_at - before)


def _warn_of_no_mover(rules: Rules, model: Model) -> None:
    """Warn of a two-player game without `player` whose `canonical` never exchanges the players."""
    kind = type(rules.game)
    chooses = np.diff(model.choice_offsets) > 1
    if not model.has_opponents or hasattr(kind, "player") or not chooses.any():
        return
    if not (model.has_swaps or (model.initial_probabilities < 0).any()):
        message = (
            f"{kind.__name__} has no player(state), and its canonical never lets the players "
            f"change places, so every move is player 0's, as in "
            f"{shown(model.state(int(chooses.argmax())))}. Write player(state), which returns who "
            "is to move, 0 or 1."
        )
        warn(message, RuntimeWarning)


def _finished(rules: Rules, model: Model, budget: ExplorationBudget, compiling: float) -> Model:
    """Return the model with the times taken; everything but compiling counts as exploring.

    That is also what it takes to put the arrays together, and to ask the rules again.
    """
    _warn_of_no_mover(rules, model)
    seconds = {"compile": compiling, "explore": budget.seconds - compiling}
    return Model.unchecked(**{**model.__getstate__(), "seconds": seconds})


def _look_for_mistakes(rules: Rules, begin: list[tuple[Any, Any, bool]]) -> str:
    """Explore a few states in plain Python: rules that do not compile are often just wrong.

    Return the reason for which these do not, if it shows there.
    """
    budget = ExplorationBudget(ExplorationLimits(LOOK_AHEAD, LOOK_AHEAD_SECONDS), None)
    rows = ExploredRows([state for _, state, _ in begin], budget)
    with contextlib.suppress(LimitExceededError):
        explore(rules, rows)
    return rows.reason()


def fall_back(game: Any, reason: str, *, must: bool) -> None:
    """Raise if rules must be compiled; warn once of a class why they run as plain Python."""
    kind = type(game)
    if must:
        message = f"the rules of {kind.__name__} cannot be compiled: {reason}"
        raise CompilationError(message)
    if kind not in _warned and not hasattr(kind, PLAIN_MARK):
        _warned.add(kind)
        message = (
            f"the rules of {kind.__name__} run as plain Python, which is far slower than compiled: "
            f"{reason}. compile='never' asks for this without a warning."
        )
        warn(message, CompilationWarning)


def ranges_of(rules: Rules, layout: Layout | None) -> Ranges:
    """Return the ranges that the game's `box` gives, in the order of the state's fields.

    Raises
    ------
    UnsupportedProblemError
        If the game has no such method, or its states have no fields.
    InvalidParameterError
        If it gives others, or one is not a range of 64-bit integers.
    LimitExceededError
        If it holds more states than can be counted through.
    """
    game = rules.game
    box_of = f"box() of {type(game).__name__}"
    if layout is None:
        message = (
            'states="all" needs states that are NamedTuples of ints and tuples of ints; '
            f"{type(game).__name__} has others."
        )
        raise UnsupportedProblemError(message)
    refuse_hidden(game, ["box"])
    if not hasattr(type(game), "box"):
        message = (
            f'{type(game).__name__} has no method box(), which states="all" needs; let it return '
            f"the range of each field of the state, {layout.ranges()}."
        )
        raise UnsupportedProblemError(message)
    with Calling("box"):
        box = game.box()
    if not isinstance(box, Mapping):
        message = f"{box_of} is {shown(box)}; it must give a range (first, last) for each field."
        raise InvalidParameterError(message)
    names = list(layout.names())
    if set(box) != set(names):
        message = (
            f"{box_of} must give a range for each field of the state, {', '.join(names)}; it gives "
            f"{', '.join(map(str, box)) or 'none'}."
        )
        raise InvalidParameterError(message)
    ranges = []
    for name in names:
        try:
            first, last = map(operator.index, box[name])
        except (TypeError, ValueError):
            message = f"{box_of} gives {name} {shown(box[name])}; it must be (first, last)."
            raise InvalidParameterError(message) from None
        if not -(2**63) <= first <= last < 2**63:
            reason = "empty" if first > last else "beyond 64 bits"
            message = f"{box_of} gives {name} the range {first} to {last}, which is {reason}."
            raise InvalidParameterError(message)
        ranges.append((first, last))
    if _size(ranges) > WORD_LIMIT:
        message = f"{box_of} has {_size(ranges):.3g} states, too many to enumerate."
        raise LimitExceededError(message, states=0, choices=0, transitions=0)
    return ranges


def _size(box: Ranges) -> int:
    """Return the number of combinations in a box."""
    return math.prod(last + 1 - first for first, last in box)


def _narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in the smallest integers that hold them."""
    low, high = (int(labels.min()), int(labels.max())) if len(labels) else (0, 0)
    for dtype in (np.int8, np.int16):
        limits = np.iinfo(dtype)
        if limits.min <= low and high <= limits.max:
            return labels.astype(dtype)
    return labels


def _per_player(numbers: NDArray[Any], rules: Rules) -> NDArray[Any]:
    """Drop the axis of players if one number is stored for all."""
    return numbers if rules.is_general_sum else numbers.reshape(len(numbers))


def _initial(begin: list[tuple[Any, Any, bool]]) -> dict[str, NDArray[Any]]:
    """Return the initial states, which were entered first, and their given probabilities."""
    order = {state: index for index, state in enumerate(dict.fromkeys(s for _, s, _ in begin))}
    return {
        "initial_states": np.array([order[state] for _, state, _ in begin], np.int64),
        "initial_probabilities": as_array([-p if swapped else p for p, _, swapped in begin]),
    }


def model_of_arrays(
    rules: Rules,
    begin: list[tuple[Any, Any, bool]],
    explorer: Explorer,
    table: PackedTable,
) -> Model:
    """Return the model explored by the compiled loop."""
    num_players, begins = rules.num_players, _initial(begin)
    rewards = (
        explorer.rewards
        if explorer.has_rewards
        else np.zeros((len(explorer.labels), explorer.rewards.shape[1]))
    )
    return Model.unchecked(
        choice_offsets=explorer.choice_offsets,
        transition_offsets=explorer.transition_offsets,
        successors=explorer.successors,
        probabilities=explorer.probabilities,
        rewards=_per_player(rewards, rules),
        players=explorer.players,
        terminals=explorer.terminals,
        payoffs=_per_player(explorer.payoffs, rules),
        action_labels=_narrow(explorer.labels),
        initial_states=begins["initial_states"],
        **model_numbers(initial_probabilities=begins["initial_probabilities"]),
        num_players=num_players,
        constant_sum=rules.constant_sum,
        states=table,
        rules=rules,
    )


def _with_integers(rules: Rules, model: Model, *, is_compiled: bool) -> Model:
    """Return a model with the exact integers that compiled loops have rounded."""
    payments = payments_of(rules, model, compiled=is_compiled)
    numbers = model_numbers(**payments)
    numbers["fractions"] = model.fractions | numbers["fractions"]
    return Model.unchecked(**{**model.__getstate__(), **numbers})


def model_of_rows(
    rules: Rules,
    begin: list[tuple[Any, Any, bool]],
    rows: ExploredRows,
) -> Model:
    """Return the model explored by plain Python."""
    num_players, begins = rules.num_players, _initial(begin)
    stored = num_players if rules.is_general_sum else 1
    rewards = as_given(rows.rewards).reshape(-1, stored)
    payoffs = as_given(rows.payoffs).reshape(-1, stored)
    labels, numbers = rows.actions, ActionNumbers(first=0)
    if rows.is_named:
        labels = [numbers.number(action) for action in rows.actions]
    model = Model.unchecked(
        choice_offsets=np.array(rows.choice_offsets, np.int64),
        transition_offsets=np.array(rows.transition_offsets, np.int64),
        successors=np.array(rows.successors, np.int32),
        players=np.array(rows.players, np.int8),
        terminals=np.array(rows.terminals, np.int64),
        action_labels=_narrow(np.array(labels, np.int32)),
        actions=tuple(numbers.actions),
        initial_states=begins["initial_states"],
        **model_numbers(
            probabilities=as_given(rows.probabilities),
            rewards=_per_player(rewards, rules),
            payoffs=_per_player(payoffs, rules),
            initial_probabilities=begins["initial_probabilities"],
        ),
        num_players=num_players,
        constant_sum=rules.constant_sum,
        states=_table_of(rows),
        rules=rules,
        mean_rewards=bool(rows.spreads),
    )
    return _with_spreads(model, rows.spreads) if rows.spreads else model


def _with_spreads(model: Model, spreads: Mapping[int, Fraction]) -> Model:
    """Return a model whose bounds allow for mean rewards that are known up to rounding only."""
    given = given_numbers(model, "rewards")
    most, part = Fraction(model.rounding[1]), Fraction(model.rounding[2])
    for choice, spread in spreads.items():
        row = zip(np.atleast_1d(given[choice]), np.atleast_1d(model.rewards[choice]), strict=True)
        for number, near in row:
            stored = Fraction(float(near))
            error = abs(Fraction(number) - stored) + spread
            if error:
                most = max(most, error)
                part = max(part, error / abs(stored) if stored else Fraction(2))
    rounding = (model.rounding[0], upward(most), upward(part))
    return Model.unchecked(**{**model.__getstate__(), "rounding": rounding})


def _table_of(rows: ExploredRows) -> ObjectTable | PackedTable:
    """Pack the states if all have the same layout, else keep them as objects."""
    layout = Layout.of(rows.states[0])
    if layout is None or layout.is_leaf:
        return ObjectTable(rows.states, rows.indices)
    try:
        fields = _fields_of(layout, rows.states)
    except (InvalidModelError, OverflowError):
        return ObjectTable(rows.states, rows.indices)
    if not layout.is_compilable and not _are_built(layout, fields, rows.states):
        return ObjectTable(rows.states, rows.indices)
    ends = [last + 1 for last in fields.max(axis=0).tolist()]  # beyond 64 bits perhaps
    codec = Codec.of_ranges(fields.min(axis=0).tolist(), ends)
    codes = codec.pack(fields)
    codes.flags.writeable = False
    return PackedTable(layout, codec, codes)


def _are_built(layout: Layout, fields: NDArray[np.int64], states: list[Any]) -> bool:
    """Return whether the states are what their classes make of their fields."""
    try:
        return all(
            layout.build(iter(row)) == state
            for row, state in zip(fields.tolist(), states, strict=True)
        )
    except (TypeError, ValueError):
        return False


def _fields_of(layout: Layout, states: list[Any]) -> NDArray[np.int64]:
    """Return the fields of all states, a row each; ten times as fast for flat ones."""
    chained = itertools.chain.from_iterable
    width = len(layout.parts)
    if (
        issubclass(layout.kind, tuple)
        and all(part.kind is int for part in layout.parts)
        and set(map(type, states)) == {layout.kind}
        and set(map(len, states)) == {width}
        and set(map(type, chained(states))) == {int}
    ):
        return np.fromiter(chained(states), np.int64, len(states) * width).reshape(
            len(states), width
        )
    return np.array([layout.flatten(state) for state in states], np.int64)


def payments_of(rules: Rules, model: Model, *, compiled: bool) -> dict[str, NDArray[Any]]:
    """Return the exact rewards and payoffs of a model as given by the rules.

    Parameters
    ----------
    rules : Rules
        Asked again, in plain Python, where what is stored may be a rounded integer.
    model : Model
        As it was explored.
    compiled : bool
        Whether the rules were; if they have run as plain Python after all, all is asked.

    Raises
    ------
    InvalidModelError
        If payments of players with payoffs of their own are not doubles.
    """
    owners = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))

    def payoff(place: int, player: int) -> tuple[str, Any]:
        state = model.state(int(model.terminals[place]))
        return f"payoff({shown(state)}, {player})", rules.game.payoff(state, player)

    def reward(choice: int, player: int) -> tuple[str, Any]:
        state, (action,) = model.state(int(owners[choice])), model.actions_of(choice, choice + 1)
        earned = method(rules.game, "reward")(rules.game, state, action, player)
        return f"reward({shown(state)}, {shown(action)}, {player})", earned

    found = {}
    for name, ask in (("payoffs", payoff), ("rewards", reward)):
        stored = getattr(model, name)
        sizes = np.abs(stored) if stored.ndim == 1 else np.abs(stored).max(axis=1, initial=0.0)
        given = {}
        for place in np.flatnonzero((sizes >= MAX_EXACT_INTEGER) | (not compiled)).tolist():
            for player in range(rules.num_players if rules.is_general_sum else 1):
                words, given[place] = ask(place, player)
                if rules.is_general_sum:
                    refuse_rounded(given[place], words, SEVERAL)
        found[name] = stored
        if given and stored.ndim == 1:
            numbers = stored.tolist()
            for place, number in given.items():
                numbers[place] = number
            found[name] = as_given(numbers)
    return found
