"""Environments of Gymnasium that have a table of their transitions, as rules."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import attrs

from gamedp.adapters.packages import installed, meant
from gamedp.errors import InvalidModelError, InvalidParameterError, UnsupportedProblemError, shown

Outcome: TypeAlias = tuple[float, int, float, bool]
"""Probability, next state, reward, and whether the episode ends, as in Gymnasium's tables."""

Table: TypeAlias = tuple[
    tuple[tuple[float, int], ...],
    tuple[tuple[int, tuple[tuple[int, tuple[Outcome, ...]], ...]], ...],
]
"""The start, as probabilities and states; and for each state and action the outcomes."""

HARMLESS = ("PassiveEnvChecker", "OrderEnforcing", "TimeLimit")
"""Gymnasium's wrappers that change neither transitions nor rewards, apart from a limit of time."""


class EnvironmentState(NamedTuple):
    """The number of a state in its environment, and whether the episode has ended there."""

    number: int
    over: bool


def _text_or_table(env: Any) -> Any:
    """Return a text as it is, and an environment as a text that makes an equal one, or as a table.

    What is neither is returned as it is, for the validator.
    """
    if not hasattr(env, "unwrapped"):
        return env
    found = _table(env)
    text = _text(env.spec)
    return text if text is not None and _table_of(text) == found else found


def _refuse_others(_game: object, _attribute: object, env: Any) -> None:
    if not isinstance(env, (str, tuple)):
        message = (
            f"env is {shown(env)}; it must be an environment of Gymnasium or its name, such as "
            "FrozenLake-v1."
        )
        raise InvalidParameterError(message)


def _shown(env: Any) -> str:
    return repr(env) if isinstance(env, str) else f"<table of {len(env[1]):,} states>"


@attrs.frozen(slots=False)
class Gymnasium:
    """An environment of Gymnasium [1]_ that has a table ``P``, such as FrozenLake or Taxi.

    The states are the environment's, as far as they can be reached; an episode that ends is a
    terminal state of its own, because an end belongs to a transition: the same number may be
    reached with and without one. A limit of time is not part of the table, and so not of the rules.

    Probabilities are taken as the fractions that they are rounded from: as simple ones if these
    explain them, such as 1/3, otherwise divided by their sum.

    Parameters
    ----------
    env : str or gymnasium.Env
        The name by which ``gymnasium.make`` knows the environment, followed by arguments in
        parentheses if it takes some, as in ``FrozenLake-v1(is_slippery=False)``; or an environment.
        An environment that cannot be made again by its name is kept as its table.

    Raises
    ------
    UnsupportedProblemError
        If the environment has no such table, or is wrapped in what might change it.
    MissingPackageError
        If Gymnasium is not installed: ``pip install gamedp[gymnasium]``.

    References
    ----------
    .. [1] M. Towers et al., "Gymnasium: A Standard Interface for Reinforcement Learning
       Environments", 2024. https://gymnasium.farama.org

    Examples
    --------
    >>> import gamedp
    >>> lake = gamedp.adapters.Gymnasium("FrozenLake-v1")
    >>> gamedp.solve(lake, solver="exact-policy-iteration").exact_value()
    Fraction(14, 17)
    """

    env: str = attrs.field(converter=_text_or_table, validator=_refuse_others, repr=_shown)

    __gamedp_plain__ = True

    def __attrs_post_init__(self) -> None:
        """Refuse an environment without a table."""
        self._actions  # noqa: B018 - found now, and kept

    @functools.cached_property
    def _whole_table(self) -> Table:
        env: Any = self.env
        table: Table = _table_of(env) if isinstance(env, str) else env
        return table

    @functools.cached_property
    def _actions(self) -> dict[int, dict[int, tuple[Outcome, ...]]]:
        return {state: dict(actions) for state, actions in self._whole_table[1]}

    def initial_state(self) -> list[tuple[Any, EnvironmentState]]:
        """Return the distribution of the first state."""
        probabilities, states = zip(*self._whole_table[0], strict=True)
        return [
            (probability, EnvironmentState(state, over=False))
            for probability, state in zip(meant(probabilities), states, strict=True)
        ]

    def is_terminal(self, state: EnvironmentState) -> bool:
        """Return whether the episode has ended."""
        return state.over

    def actions(self, state: EnvironmentState) -> list[int]:
        """Return the actions that the table has in a state."""
        return list(self._actions[state.number])

    def outcomes(self, state: EnvironmentState, action: int) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of the table; with their rewards, unless these are all the same."""
        row = self._actions[state.number][action]
        probabilities = meant([outcome[0] for outcome in row])
        same = self._reward_of_all(row) is not None
        for probability, (_, following, reward, over) in zip(probabilities, row, strict=True):
            if following not in self._actions and not over:
                message = f"the table leads to state {following}, which it does not have."
                raise InvalidModelError(message)
            outcome = probability, EnvironmentState(following, over)
            yield outcome if same else (*outcome, reward)

    def reward(self, state: EnvironmentState, action: int, player: int) -> float:  # noqa: ARG002
        """Return what an action earns however it turns out."""
        return self._reward_of_all(self._actions[state.number][action]) or 0.0

    @staticmethod
    def _reward_of_all(row: tuple[Outcome, ...]) -> float | None:
        """Return the reward of all outcomes that are possible; None if they differ."""
        rewards = {reward for probability, _, reward, _ in row if probability}
        return rewards.pop() if len(rewards) == 1 else None

    def payoff(self, state: EnvironmentState, player: int) -> float:  # noqa: ARG002
        """Return nothing: rewards come on the way."""
        return 0.0


def _table_of(text: str) -> Table:
    """Return the table of the environment that a text makes.

    A colon is refused: Gymnasium would import what stands before it, and texts come from files.

    Raises
    ------
    InvalidParameterError
        If Gymnasium cannot make it.
    """
    name, bracket, arguments = text.partition("(")
    if ":" in text:
        message = (
            f"env is {shown(text)}; a text imports no module. Import the one that registers the "
            "environment, and pass what `gymnasium.make` returns."
        )
        raise InvalidParameterError(message)
    try:
        call: Any = ast.parse(f"make({arguments if bracket else ')'}", mode="eval").body
        if call.args or not isinstance(call.func, ast.Name):
            raise ValueError  # noqa: TRY301 - answered below
        given = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
    except (AttributeError, SyntaxError, TypeError, ValueError):
        message = (
            f"env is {shown(text)}; arguments are written as in "
            "FrozenLake-v1(map_name='8x8', is_slippery=False)."
        )
        raise InvalidParameterError(message) from None
    gymnasium = installed("gymnasium", "gamedp[gymnasium]")
    try:
        env = gymnasium.make(name, **given)
    except Exception as error:  # an environment may raise anything
        message = f"Gymnasium cannot make {text}: {type(error).__name__}: {error}"
        raise InvalidParameterError(message) from error
    try:
        return _table(env)
    finally:
        env.close()


def _text(spec: Any) -> str | None:
    """Return the text that makes the environment of a specification; None if there is none."""
    if spec is None:
        return None
    known = installed("gymnasium", "gamedp[gymnasium]").registry.get(spec.id)
    if known is None:
        return None
    given = {
        name: value
        for name, value in spec.kwargs.items()
        if name != "render_mode" and repr(known.kwargs.get(name, known)) != repr(value)
    }
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items())
    text = f"{spec.id}({arguments})" if given else str(spec.id)
    try:
        _table_of(text)
    except (InvalidParameterError, UnsupportedProblemError):
        return None
    return text


def _table(env: Any) -> Table:
    """Return the table of an environment.

    Raises
    ------
    UnsupportedProblemError
        If it has none, or a wrapper might have changed it.
    InvalidModelError
        If the table is none.
    """
    name = type(env.unwrapped).__name__ if env.spec is None else env.spec.id
    while env is not env.unwrapped:
        if type(env).__name__ not in HARMLESS:
            message = (
                f"{name} is wrapped in {type(env).__name__}, which its table says nothing about. "
                "If it changes neither transitions nor rewards, pass `env.unwrapped`."
            )
            raise UnsupportedProblemError(message)
        env = env.env
    rows: Any = getattr(env, "P", None)
    start: Any = getattr(env, "initial_state_distrib", None)
    missing = [
        word
        for word, value in (
            ("`P`, where P[state][action] lists (probability, next state, reward, ended)", rows),
            ("`initial_state_distrib`, the probability of each first state", start),
        )
        if value is None
    ]
    if missing:
        message = (
            f"{name} has no {' and no '.join(missing)}: gamedp needs all probabilities, and cannot "
            "learn them from samples. Give the environment what is missing, or write its rules as "
            "a class, see gamedp.Game."
        )
        raise UnsupportedProblemError(message)
    try:
        return (
            tuple((_finite(p), index) for index, p in enumerate(start) if p),
            tuple(
                (
                    int(state),
                    tuple(
                        (
                            int(action),
                            tuple(
                                (_finite(p), int(to), _finite(r), bool(end))
                                for p, to, r, end in row
                            ),
                        )
                        for action, row in _items(actions)
                    ),
                )
                for state, actions in _items(rows)
            ),
        )
    except (AttributeError, TypeError, ValueError) as error:
        message = f"the table of {name} is not one of Gymnasium's: {error}."
        raise InvalidModelError(message) from error


def _items(rows: Any) -> Iterable[tuple[Any, Any]]:
    """Return the numbers of rows, and the rows, of a mapping or a list."""
    return rows.items() if hasattr(rows, "items") else enumerate(rows)


def _finite(number: Any) -> float:
    """Return a number of any library as a float."""
    found = float(number)
    if not math.isfinite(found):
        message = f"{found} is neither a probability nor a reward"
        raise ValueError(message)
    return found
