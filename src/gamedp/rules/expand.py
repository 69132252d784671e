"""Expansion of one state at a time in plain Python, with everything checked.

The interpreted mode is built on it. It also writes the messages for errors that the compiled mode
finds, and some states of every compiled model are compared with it.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from gamedp.errors import InvalidModelError, UnsupportedProblemError, shown
from gamedp.rules.exactness import (
    SEVERAL,
    Gathering,
    as_rational,
    as_real,
    as_truth,
    gather,
    is_rounded,
    mean_of,
    refuse_rounded,
    sum_to_one,
)
from gamedp.rules.game import method
from gamedp.rules.layout import MOST_NESTED
from gamedp.rules.slips import Calling, note_rules
from gamedp.runtime.floats import FAINT, LEAST_PROBABILITY, SUM_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from gamedp.rules.game import Rules

__all__ = [
    "ActionNumbers",
    "Choice",
    "Expansion",
    "Numbering",
    "canonical_state",
    "check_start",
    "checked_action",
    "expand",
    "is_state",
    "refuse_no_state",
    "refuse_rewards_of_outcomes",
    "start",
]

MAX_ACTION = 2**31

OWN_PAYOFFS = (
    " If each player has payoffs of its own and wants the most of them, set constant_sum = None."
)
"""Advice for numbers of two players that add up to no constant."""

NOTHING = object()
"""Stands for the reward of an outcome that has none."""

END = object()
"""A sentinel that no rule yields."""

MOST_IN_A_ROW = 1 << 22
"""Largest number of actions of a state, or pairs of an action, that a generator of the rules may
yield; one that yields more is taken to be endless. Lists may be longer."""

IN_A_ROW = 1 << 12
"""Number of items taken between two checks of the limits of an exploration."""


class Choice(NamedTuple):
    """An action with its expected rewards (one number, or one a player) and its outcomes.

    `spread` is None, unless outcomes have rewards of their own, of which `rewards` holds the mean:
    then it is how far that may be off, as probabilities are rounded.

    `outcomes` maps (representative, swapped) to the total probability, in order of appearance; in
    an exploration, the numbers that :class:`Numbering` gives them.
    """

    action: Any
    rewards: tuple[float, ...]
    outcomes: dict[Any, float]
    spread: Fraction | None = None


class Expansion(NamedTuple):
    """The content of one state: payoffs if it is terminal, else its mover and the choices."""

    payoffs: tuple[float, ...] | None
    player: int
    choices: tuple[Choice, ...]


class Numbering:
    """The states that an exploration has visited, numbered so that each is checked only once.

    Attributes
    ----------
    states : list
        Representatives in the order of their discovery.
    indices : dict
        From a representative to its index.
    numbers : dict
        From a state to twice the index of its representative, plus one if it is swapped.
    """

    def __init__(self, seeds: Sequence[Any]) -> None:
        self.states: list[Any] = list(dict.fromkeys(seeds))
        self.indices: dict[Any, int] = {state: k for k, state in enumerate(self.states)}
        self.numbers: dict[Any, int] = {}

    def add(self, state: Any, representative: Any, *, swapped: bool) -> int:
        """Return the number of a new state; add its representative if it is not known yet."""
        index = self.indices.setdefault(representative, len(self.states))
        if index == len(self.states):
            self.states.append(representative)
        number = self.numbers[state] = 2 * index + swapped
        return number


class ActionNumbers:
    """Numbers for actions that are not integers, in the order of their first occurrence.

    Parameters
    ----------
    first : int
        The number of the first one. Integers stand for themselves if they are below it.
    """

    def __init__(self, first: int = MAX_ACTION) -> None:
        self.actions: list[Any] = []
        self._first = first
        self._numbers: dict[Any, int] = {}

    def number(self, action: Any) -> int:
        """Return the number of an action.

        Raises
        ------
        InvalidModelError
            If it is equal to one of another type: the rules would get that instead.
        """
        if type(action) is int and action < self._first:
            return action
        place = self._numbers.setdefault(action, len(self.actions))
        if place == len(self.actions):
            self.actions.append(action)
        elif type(self.actions[place]) is not type(action):
            known = self.actions[place]
            message = (
                f"the actions {shown(known)} and {shown(action)} are equal, but one is of type "
                f"{type(known).__name__} and the other {type(action).__name__}. Give equal actions "
                "one type."
            )
            raise InvalidModelError(message)
        return self._first + place

    def action(self, number: int) -> Any:
        """Return the action with a number."""
        return number if number < self._first else self.actions[number - self._first]

    def numbering(self, methods: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
        """Return methods of plain rules as a loop calls them, which knows actions by numbers."""
        actions, outcomes, reward = (methods[name] for name in ("actions", "outcomes", "reward"))
        return {
            **methods,
            "actions": lambda state: (
                self.number(checked_action(state, action)) for action in actions(state)
            ),
            "outcomes": lambda state, number: outcomes(state, self.action(number)),
            "reward": lambda state, number, player: reward(state, self.action(number), player),
        }


class _Origin:
    """The subject of a message, put into words only when needed: that is slower than the check."""

    __slots__ = ("_arguments", "_words")

    def __init__(self, words: str, *arguments: Any) -> None:
        self._words = words
        self._arguments = arguments

    def __str__(self) -> str:
        return self._words.format(*map(shown, self._arguments))


def start(rules: Rules) -> list[tuple[Any, Any, bool]]:
    """Return the initial distribution as (probability, representative, swapped) triples.

    The probabilities are floats, or Fractions if the rules give one as a rational number.
    """
    place = "the initial states"
    with Calling("initial_state"):
        pairs = rules.initial()
    if pairs and not any(hasattr(pair, "__iter__") for pair in pairs):
        message = (
            f"{place} are {shown(pairs)}. A list means (probability, state) pairs; if this is one "
            "state, use a NamedTuple or a tuple instead of a list."
        )
        raise InvalidModelError(message)
    gathering = Gathering()
    for pair in pairs:
        given, probability, state = _pair(pair, place)
        if probability > 0:
            gathering.add(canonical_state(rules, state, place), given)
    found = gathering.exactly(place)
    return [(probability, state, swapped) for (state, swapped), probability in found.items()]


def check_start(pairs: list[Any]) -> None:
    """Raise InvalidModelError unless initial (probability, context) pairs are a distribution."""
    place = "the initial states"
    gathering = Gathering()
    for number, pair in enumerate(pairs):
        given, probability, _ = _pair(pair, place)
        if probability > 0:
            gathering.add(number, given)
    gathering.scaled(place)


def expand(
    rules: Rules, state: Any, met: Numbering | None = None, look: Callable[[], None] | None = None
) -> Expansion:
    """Return the choices of `state`, checked and with duplicate outcomes merged.

    Parameters
    ----------
    rules : Rules
    state
    met : Numbering, optional
        That of an exploration: outcomes are given by number, and new ones are numbered. Numbers
        that no double is equal to are then Fractions, and rounded otherwise.
    look : callable, optional
        Called now and then while the state takes long, to raise an error at a limit.

    Raises
    ------
    InvalidModelError
        If the rules are wrong there; the message names the state and the action.
    """
    _refuse_nan(state)
    known_as = hash(state)
    game, asked = rules.game, "is_terminal"
    try:
        over = game.is_terminal(state)
        if over is not False and (over is True or as_truth(over, asked, state)):
            return Expansion(_payoffs(rules, state, exactly=met is not None), 0, ())
        asked = "player"
        player = _mover(rules, state)
        asked = "actions"
        actions = game.actions(state)
        if not hasattr(actions, "__iter__"):
            _refuse(
                f"actions({shown(state)}) returns {shown(actions)}; it must yield actions."
                f"{_missing(actions)}"
            )
        if isinstance(actions, (str, bytes)) or hasattr(actions, "_fields"):
            _refuse(
                f"actions({shown(state)}) returns {shown(actions)}; a single action is yielded, or "
                "returned in a list."
            )
        limit, left = _limit(actions), iter(actions)
        few = list(itertools.islice(_looking(left, look), limit))
        _refuse_endless(left, "actions", _Origin("actions({})", state))
        choices = tuple([_choice(rules, state, action, met, look) for action in few])
    except Exception as error:
        note_rules(error, asked, state)
        raise
    if not choices:
        message = (
            f"{shown(state)} has no actions and is not terminal. "
            "Let is_terminal say so, or let actions yield at least one."
        )
        raise InvalidModelError(message)
    if any(type(choice.action) is not int for choice in choices):
        _refuse_equal(state, [choice.action for choice in choices])
    if hash(state) != known_as:
        message = (
            f"{shown(state)} was changed in place by the rules, as they were asked for its actions "
            "and outcomes. Make a changed copy of a state instead."
        )
        raise InvalidModelError(message)
    return Expansion(None, player, choices)


def _mover(rules: Rules, state: Any) -> int:
    """Return the player to move, which must be one of the players."""
    player = rules.player(state)
    if not 0 <= player < rules.num_players:
        _refuse(
            f"player({shown(state)}) is {player}; players are numbered 0 to "
            f"{rules.num_players - 1} (set num_players)."
        )
    return player


def _refuse(message: str) -> NoReturn:
    raise InvalidModelError(message)


def _choice(  # noqa: C901 - the hot loop of explorations
    rules: Rules,
    state: Any,
    action: Any,
    met: Numbering | None,
    look: Callable[[], None] | None,
) -> Choice:
    """Return an action with its outcomes, merged and checked, and its rewards."""
    if not (type(action) is int and -MAX_ACTION <= action < MAX_ACTION):
        action = checked_action(state, action)
    place = _Origin("the outcomes of action {} in {}", action, state)
    numbers: dict[Any, int] = {} if met is None else met.numbers
    kind = type(state)
    row: dict[Any, float] = {}
    earned: dict[int, Any] = {}
    outcomes: list[Any] = []
    probabilities: list[Any] = []
    is_empty, are_floats = True, True
    try:
        pairs = rules.game.outcomes(state, action)
        if not hasattr(pairs, "__iter__"):
            _refuse(
                f"{place} are {shown(pairs)}; they must be (probability, state) pairs."
                f"{_missing(pairs)}"
            )
        limit, left = _limit(pairs), iter(pairs)
        for pair in itertools.islice(_looking(left, look), limit):
            is_empty = False
            if (
                type(pair) is tuple
                and len(pair) == 2
                and type(pair[0]) is float
                and LEAST_PROBABILITY <= pair[0] <= 1.0
            ):
                given, successor = pair
            else:
                given, probability, successor = _pair(_noted(pair, earned, len(outcomes)), place)
                if probability == 0:
                    earned.pop(len(outcomes), None)
                    continue
                are_floats = are_floats and type(given) is float
            try:
                outcome: Any = numbers.get(successor) if type(successor) is kind else None
            except TypeError:  # it has no hash, as is worded below
                outcome = None
            if outcome is None:
                outcome = _outcome(rules, successor, place, state, met)
            row[outcome] = given
            outcomes.append(outcome)
            probabilities.append(given)
        _refuse_endless(left, "pairs", place)
    except Exception as error:
        note_rules(error, "outcomes", state, action)
        raise
    if not (are_floats and len(row) == len(outcomes) and sum_to_one(probabilities)):
        row = _merged(outcomes, probabilities, place, is_empty, exactly=met is not None)
    exactly = met is not None
    if earned:
        given_rewards = [earned.get(number, NOTHING) for number in range(len(outcomes))]
        rows = probabilities, given_rewards
        found = _mean_rewards(rules, state, action, rows, exactly=exactly)
        return Choice(action, found[0], row, found[1])
    return Choice(action, _rewards(rules, state, action, exactly=exactly), row)


def refuse_rewards_of_outcomes(expansion: Expansion, state: Any) -> None:
    """Raise UnsupportedProblemError if outcomes of a state have rewards of their own."""
    for choice in expansion.choices:
        if choice.spread is not None:
            message = (
                f"the outcomes of action {shown(choice.action)} in {shown(state)} have rewards of "
                "their own, (probability, state, reward). Games are solved with these, and played "
                "one by one; searches, many games and sums of games need the mean of an action, as "
                "reward(state, action, player)."
            )
            raise UnsupportedProblemError(message)


def _noted(pair: Any, earned: dict[int, Any], number: int) -> Any:
    """Return a (probability, state) pair; note the reward of an outcome that has one."""
    if type(pair) is tuple and len(pair) == 3:
        earned[number] = pair[2]
        return pair[:2]
    return pair


def _merged(
    outcomes: list[Any], probabilities: list[Any], place: object, is_empty: bool, *, exactly: bool
) -> dict[Any, float]:
    """Return outcomes with their probabilities, equal ones added up; refuse an empty list."""
    if is_empty:
        _refuse(
            f"{place}: outcomes yielded nothing. An action leads somewhere; yield at least one "
            "(probability, state) pair, or do not offer the action."
        )
    return gather(outcomes, probabilities, place, exactly=exactly)


def _missing(answer: object) -> str:
    """Raise the error of a method that returns nothing."""
    return " Is a yield missing?" if answer is None else ""


def _limit(found: object) -> int | None:
    """Return how many items of the rules' answer are taken: all those of a list."""
    return None if hasattr(found, "__len__") else MOST_IN_A_ROW


def _looking(left: Iterator[Any], look: Callable[[], None] | None) -> Iterator[Any]:
    """Return the items of the rules' answer; call `look` now and then on the way."""
    if look is None:
        return left
    first = itertools.islice(left, IN_A_ROW)
    return itertools.chain(first, itertools.chain.from_iterable(_in_parts(left, look)))


def _in_parts(left: Iterator[Any], look: Callable[[], None]) -> Iterator[Iterable[Any]]:
    for item in left:
        look()
        yield (item,)
        yield itertools.islice(left, IN_A_ROW - 1)


def _refuse_endless(left: Iterator[object], what: str, place: object) -> None:
    """Refuse a generator that yields more than any game needs."""
    if next(left, END) is not END:
        _refuse(
            f"{place}: {MOST_IN_A_ROW:,} {what} and no end. Does the loop that yields them end? "
            "If it does, return a list."
        )


def checked_action(state: Any, action: Any) -> Any:
    """Return an action of plain rules in the form used later: an int, or another hashable object.

    What stands for an integer, such as a member of an IntEnum, becomes one.

    Raises
    ------
    InvalidModelError
        If it is beyond 32 bits, None, not equal to itself, or has no hash.
    """
    if hasattr(action, "__index__") and getattr(action, "shape", ()) == ():
        if not -MAX_ACTION <= action < MAX_ACTION:
            message = (
                f"action {shown(action)} in {shown(state)} is beyond 32 bits. Use smaller numbers."
            )
            raise InvalidModelError(message)
        return int(action)
    if action is None:
        message = (
            f"an action in {shown(state)} is None, which stands for no action at all. Give it a "
            'name, such as "pass".'
        )
        raise InvalidModelError(message)
    try:
        hash(action)
    except TypeError as error:
        message = (
            f"action {shown(action)} in {shown(state)} is neither an integer nor hashable: "
            f"{error}. {_hint(action)}"
        )
        raise InvalidModelError(message) from None
    if _holds_nan(action) or action != action:  # noqa: PLR0124 - that is what nan is
        message = (
            f"action {shown(action)} in {shown(state)} is not equal to itself, as nan is: it would "
            "never be found again. Use another number, or a text."
        )
        raise InvalidModelError(message)
    return action


def _refuse_equal(state: Any, actions: list[Any]) -> None:
    """Refuse actions of a state that are equal: taking one could mean either."""
    seen: dict[Any, Any] = {}
    for action in actions:
        if action in seen:
            message = (
                f"actions({shown(state)}) yields {shown(seen[action])} and {shown(action)}, which "
                "are equal. Yield each action once, and tell different ones apart."
            )
            raise InvalidModelError(message)
        seen[action] = action


def _outcome(rules: Rules, state: Any, place: object, like: Any, met: Numbering | None) -> Any:
    """Return (representative, swapped) of a successor, or its number in an exploration."""
    representative, swapped = canonical_state(rules, state, place, like)
    if met is None:
        return representative, swapped
    return met.add(state, representative, swapped=swapped)


def is_state(rules: Rules, state: Any) -> bool:
    """Return whether a combination from a declared box is a real state."""
    with Calling("is_state", state):
        return rules.is_state(state)


def canonical_state(rules: Rules, state: Any, place: object, like: Any = None) -> tuple[Any, bool]:
    """Return (representative, swapped) of a state, which must be hashable.

    The representative must represent itself.

    Parameters
    ----------
    rules : Rules
    state
    place : object
        Where it was found, for messages: a text, or an object that has one.
    like
        Another state of the game, if one is known.
    """
    refuse_no_state(state, place, like)
    if not hasattr(type(rules.game), "canonical"):
        return state, False
    representative, swapped = _canonical(rules, state)
    if representative is not state:
        refuse_no_state(representative, _Origin("the answers of canonical({})", state), like=state)
    if swapped and not rules.has_opponents:
        of_their_own = ", and constant_sum is None" if rules.num_players == 2 else ""
        message = (
            f"canonical({shown(state)}) swaps the players, which takes two opponents: "
            f"num_players is {rules.num_players}{of_their_own}."
        )
        raise InvalidModelError(message)
    again = _canonical(rules, representative)
    if again != (representative, False):
        message = (
            f"canonical({shown(state)}) is {shown(representative)}, but canonical of that is "
            f"{shown(again)}. A representative must represent itself, not swapped."
        )
        raise InvalidModelError(message)
    return representative, swapped


def _canonical(rules: Rules, state: Any) -> tuple[Any, bool]:
    """Return the answer of `canonical` for a state, after checking its form."""
    with Calling("canonical", state):
        pair = method(rules.game, "canonical")(rules.game, state)
    if type(pair) is not tuple or len(pair) != 2:
        message = (
            f"canonical({shown(state)}) is {shown(pair)}; it must be a pair (representative, "
            "swapped)."
        )
        raise InvalidModelError(message)
    return pair[0], bool(pair[1])


def refuse_no_state(state: Any, place: object, like: Any = None) -> None:
    """Refuse what cannot be a state: None, unhashable, deeply nested or of an unsuitable type."""
    if state is None or (_is_plain(state) and like is not None and not _is_plain(like)):
        hint = "" if like is None else f" like {shown(like)}"
        message = f"{place} contain {shown(state)}, which is not a state{hint}."
        if state is None:
            message += " Is a return missing?"
        raise InvalidModelError(message)
    if isinstance(state, tuple) and _is_deeper(state, MOST_NESTED):
        message = (
            f"{place} contain a state whose tuples are nested more than {MOST_NESTED} deep. Lay it "
            "out flat."
        )
        raise InvalidModelError(message)
    try:
        hash(state)
    except TypeError as error:
        message = (
            f"{place} contain {shown(state)}, which cannot be a state: {error}. {_hint(state)}"
        )
        raise InvalidModelError(message) from None


def _is_deeper(part: tuple[Any, ...], levels: int) -> bool:
    """Return whether tuples are nested more than `levels` deep."""
    for item in part:
        if isinstance(item, tuple) and (levels == 0 or _is_deeper(item, levels - 1)):
            return True
    return False


def _hint(state: Any) -> str:
    """Return a hint on how to make a state hashable."""
    kind = type(state)
    if isinstance(state, (list, dict, set)):
        return f"Use a NamedTuple or a tuple instead of a {kind.__name__}."
    if getattr(kind, "__hash__", None) is None and not _is_plain(state):
        return (
            f"{kind.__name__} defines __eq__ without __hash__: make it a NamedTuple, or frozen "
            "(attrs.frozen, dataclass(frozen=True)), or define __hash__ as well."
        )
    return "Use a NamedTuple of ints and tuples, or any other hashable object."


def _refuse_nan(state: Any) -> None:
    """Refuse a state that is not equal to itself: it would never be found again."""
    if _holds_nan(state):
        message = (
            f"{shown(state)} holds nan, which is not equal to itself: as a state it would never be "
            "found again. Use another number, or None, for what is not known."
        )
        raise InvalidModelError(message)


def _holds_nan(part: Any) -> bool:
    if isinstance(part, tuple):
        for item in part:  # noqa: SIM110 - a generator takes three times as long
            if type(item) is not int and _holds_nan(item):
                return True
        return False
    return isinstance(part, float) and part != part  # noqa: PLR0124 - that is what nan is


def _is_plain(state: object) -> bool:
    return type(state).__module__ == "builtins"


def _pair(pair: Any, place: object) -> tuple[Any, float, Any]:
    """Return a probability as given and as a double, and the state that it leads to."""
    try:
        given, state = pair
        probability = given if type(given) is float else as_real(given)
    except (TypeError, ValueError, OverflowError):
        raise _no_pair(pair, place) from None
    if hasattr(pair, "_fields"):  # a state of two fields, taken for a pair
        raise _no_pair(pair, place)
    if not 0 <= probability <= 1 + SUM_TOLERANCE:
        message = (
            f"{place} give {shown(state)} the probability {shown(given)}. "
            "A probability lies between 0 and 1."
        )
        raise InvalidModelError(message)
    if probability < LEAST_PROBABILITY and given > 0:
        message = f"{place} give {shown(state)} the probability {shown(given)}. {FAINT}"
        raise InvalidModelError(message)
    return probability if isinstance(given, int) else given, probability, state


def _no_pair(given: Any, place: object) -> InvalidModelError:
    """Return the error for something that is not a (probability, state) pair."""
    hint = "Yield pairs, or return a list of them."
    if hasattr(given, "_fields"):
        hint = "If it is certain, its probability is 1.0: yield 1.0, state."
    elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], float):
        hint = "The probability comes first."
    elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        hint = "A probability is a number, not a text."
    elif isinstance(given, float):
        hint = "A single pair is yielded, or returned in a list."
    return InvalidModelError(
        f"{place} contain {shown(given)}, which is not a (probability, state) pair. {hint}"
    )


def _number(value: Any, name: str, *arguments: Any, exactly: bool = False) -> Any:
    """Return the answer of a method of the rules, which must be a finite number.

    It is a float; or a Fraction if no double is equal to it and `exactly` is true.
    """
    if type(value) is float and math.isfinite(value):
        return value
    try:
        number = as_real(value)
        exact = as_rational(value) if exactly and is_rounded(value) else number
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        words = f"{name}({', '.join(map(shown, arguments))})"
        message = f"{words} is {shown(value)}; it must be one finite number."
        if value is None:
            message += " Is a return missing?"
        elif isinstance(value, (tuple, list)):
            message += f" {name} is asked for one player at a time."
        raise InvalidModelError(message)
    return exact


def _payoffs(rules: Rules, state: Any, *, exactly: bool) -> tuple[float, ...]:
    """Return the payoffs in a terminal state, as the model stores them."""
    payoffs = []
    for player in range(rules.num_players):
        with Calling("payoff", state, player):
            payoff = rules.game.payoff(state, player)
        payoffs.append(_number(payoff, "payoff", state, player, exactly=exactly))
        if exactly and rules.is_general_sum:
            refuse_rounded(payoff, f"payoff({shown(state)}, {player})", SEVERAL)
    if rules.is_general_sum:
        return tuple(payoffs)
    total = rules.constant_sum
    return _first_of_two(payoffs, total, f"constant_sum = {total!r}", "the payoffs", state)


def _rewards(rules: Rules, state: Any, action: Any, *, exactly: bool) -> tuple[float, ...]:
    num_players = rules.num_players
    if not rules.has_rewards:
        return (0.0,) * (num_players if rules.is_general_sum else 1)
    rewards = []
    for player in range(num_players):
        try:
            reward = method(rules.game, "reward")(rules.game, state, action, player)
        except Exception as error:
            note_rules(error, "reward", state, action, player)
            raise
        rewards.append(_number(reward, "reward", state, action, player, exactly=exactly))
        if exactly and rules.is_general_sum:
            refuse_rounded(reward, f"reward({shown(state)}, {shown(action)}, {player})", SEVERAL)
    if rules.is_general_sum:
        return tuple(rewards)
    return _first_of_two(rewards, 0.0, "zero", f"the rewards of action {shown(action)}", state)


def _mean_rewards(
    rules: Rules,
    state: Any,
    action: Any,
    row: tuple[list[Any], list[Any]],
    *,
    exactly: bool,
) -> tuple[tuple[float, ...], Fraction]:
    """Return the expected rewards of an action whose outcomes have some, and their error.

    Parameters
    ----------
    rules : Rules
    state
    action
    row : (list, list)
        The probability of each outcome as given, and its reward.
    exactly : bool
        Whether to return Fractions where no double is equal to a mean.
    """
    place = _Origin("the outcomes of action {} in {}", action, state)
    probabilities, given = row
    columns = list(zip(*(_earned(rules, each, place, state) for each in given), strict=True))
    certain = _rewards(rules, state, action, exactly=True)
    means, most = [], Fraction(0)
    for numbers, fixed in zip(columns, certain, strict=True):
        mean, spread = mean_of(probabilities, numbers)
        means.append(mean + Fraction(fixed))
        most = max(most, spread)
    if rules.is_general_sum and exactly and (most or any(map(is_rounded, means))):
        message = (
            f"{place} have rewards whose mean is known up to rounding only; {SEVERAL} Give "
            "probabilities and rewards as Fractions whose mean is a 64-bit number, or the mean as "
            "reward(state, action, player)."
        )
        raise InvalidModelError(message)
    try:
        rounded = tuple(map(float, means))
    except OverflowError:
        message = f"{place} have rewards whose mean is beyond the range of 64-bit numbers."
        raise InvalidModelError(message) from None
    if not exactly:
        return rounded, most
    return tuple(
        mean if mean != Fraction(near) else near  # type: ignore[misc] # as in _number
        for mean, near in zip(means, rounded, strict=True)
    ), most


def _earned(rules: Rules, given: Any, place: object, state: Any) -> tuple[Any, ...]:
    """Return the rewards of an outcome as the model stores them, exactly."""
    if given is NOTHING:
        message = (
            f"{place} have a reward, and some have none. Yield (probability, state, reward) for "
            "every outcome of an action, or for none."
        )
        raise InvalidModelError(message)
    numbers = given if isinstance(given, tuple) else (given,)
    if len(numbers) != rules.num_players and not (len(numbers) == 1 and not rules.is_general_sum):
        message = (
            f"{place} have the reward {shown(given)}; it must be one number for each of "
            f"{rules.num_players} players."
        )
        raise InvalidModelError(message)
    exact = []
    for number in numbers:
        try:
            is_finite = math.isfinite(as_real(number))
        except (TypeError, ValueError, OverflowError):
            is_finite = False
        if not is_finite:
            message = (
                f"{place} have the reward {shown(given)}; it must be a finite number of player 0, "
                "or a tuple of one for each player."
            )
            raise InvalidModelError(message)
        rational = as_rational(number)
        exact.append(Fraction(number) if rational is None else rational)
    if rules.is_general_sum or len(exact) == 1:
        return tuple(exact)
    _first_of_two(list(map(float, exact)), 0.0, "zero", "the rewards of an outcome", state)
    return (exact[0],)


def _first_of_two(
    numbers: list[float], total: float, total_name: str, what: str, state: Any
) -> tuple[float, ...]:
    """Return the first of two players' numbers, after checking their sum."""
    if len(numbers) != 2:
        return tuple(numbers)
    if abs(sum(numbers) - total) > SUM_TOLERANCE * max(1.0, *map(abs, numbers)):
        message = (
            f"{what} in {shown(state)} are {numbers[0]!r} and {numbers[1]!r}; of two players they "
            f"must add up to {total_name}."
        )
        if abs(sum(numbers) - total) > 0.01:
            if total_name.startswith("constant_sum"):
                message += (
                    f" If they always add up to {sum(numbers):g}, set constant_sum = "
                    f"{sum(numbers)!r}."
                )
            message += OWN_PAYOFFS
        raise InvalidModelError(message)
    return (numbers[0],)
