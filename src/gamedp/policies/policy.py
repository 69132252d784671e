"""Policies of a model: the probability of each choice."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias

import attrs
import numpy as np

from gamedp.errors import (
    InvalidParameterError,
    UnknownNameError,
    UnsupportedProblemError,
    shown,
)
from gamedp.model.model import Model
from gamedp.policies.arrays import (
    Meaning,
    columns_of_chances,
    is_array,
    numbers_in,
    probabilities_in,
)
from gamedp.results.solution import Solution
from gamedp.rules.exactness import as_real
from gamedp.rules.expand import checked_action
from gamedp.rules.layout import PackedTable
from gamedp.rules.symmetry import counterparts
from gamedp.runtime.floats import FAINT, LEAST_PROBABILITY, SUM_ROUNDING, SUM_TOLERANCE
from gamedp.runtime.notebook import html_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from gamedp.rules.symmetry import Counterparts
    from gamedp.stages.solution import StagedSolution


class Chooser(Protocol):
    """An object that chooses an action, or the probability of each action, in a state."""

    def choose(self, state: Any, /) -> Hashable | Mapping[Any, float]:
        """Return an action, or the probability of each action that may be taken."""


PolicyLike: TypeAlias = (
    "Policy | Solution | StagedSolution | RandomPlayer | Chooser"
    " | Callable[[Any], Hashable | Mapping[Any, float]] | NDArray[Any]"
)
"""A Policy, a Solution, an object with ``choose(state)``, a function of a state, a RandomPlayer, or
an array, see `Policy.from_array`; of a staged game, its StagedSolution."""


@attrs.frozen(eq=False, repr=False)
class Policy:
    """A policy of a model: the probability of each choice in every state.

    It depends on the position alone, not on the history. Where `canonical` merges positions, it
    does the same in all positions that one state represents.

    Attributes
    ----------
    model : Model
        The model, with S states and C choices.
    probabilities : (C,) float64
        The probability of each choice in its state. All of a state may be zero: the policy is then
        undefined there, and must not reach it.
    name : str
        The name of the policy.
    rule : object, optional
        The object from which it was made.

    Raises
    ------
    gamedp.errors.InvalidParameterError
        If the numbers of a state are not probabilities, or do not sum to one within 1e-9.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=5), compile="never")
    >>> Policy.uniform(model).probabilities[:3].round(3).tolist()
    [0.333, 0.333, 0.333]
    """

    model: Model = attrs.field(validator=attrs.validators.instance_of(Model))
    probabilities: NDArray[np.float64]
    name: str = "policy"
    rule: Any = None

    def __attrs_post_init__(self) -> None:
        """Check the probabilities, scale them and lock them."""
        numbers = _checked(self.model, self.probabilities, self.name)
        numbers.flags.writeable = False
        object.__setattr__(self, "probabilities", numbers)

    def __repr__(self) -> str:
        """Return the name and the model in short."""
        return f"<Policy {self.name} of {self.model!r}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        counts = np.diff(self.model.choice_offsets)
        taken = np.concatenate([[0], np.cumsum(self.probabilities > 0)])
        of_state = np.diff(taken[self.model.choice_offsets])
        rows = {
            "policy": self.name,
            "of": repr(self.model),
            "states with a choice": f"{(counts > 1).sum():,}",
            "left to chance": f"{(of_state > 1).sum():,}",
            "not answered": f"{((counts > 0) & (of_state == 0)).sum():,}",
        }
        return html_table(rows)

    @property
    def is_mixed(self) -> bool:
        """Whether the policy randomises in some state."""
        return bool(((self.probabilities > 0) & (self.probabilities < 1)).any())

    def choose(self, state: Any) -> Any:
        """Return the action in a state.

        Raises
        ------
        UnsupportedProblemError
            If the policy randomises in that state.
        InvalidParameterError
            If the policy is undefined there.
        """
        found = self.actions(state)
        if len(found) > 1:
            message = f"{self.name} leaves it to chance in {shown(state)}: {found}."
            raise UnsupportedProblemError(message)
        if not found:
            message = f"{self.name} says nothing in {shown(state)}."
            raise InvalidParameterError(message)
        return next(iter(found))

    def actions(self, state: Any) -> dict[Any, float]:
        """Return the probability of each action in a state, without those that are never taken."""
        found: dict[Any, float] = {}
        taken: set[int] = set()
        for action, choices in equal_choices(self.model, state).items():
            chance = float(sum(self.probabilities[choice] for choice in choices))
            if chance > 0 and taken.isdisjoint(choices):  # the first of several equivalent ones
                found[action] = chance
                taken.update(choices)
        return found

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return a row for each action that may be taken, as columns of names and numbers.

        First come the fields of the state, as in :meth:`gamedp.Solution.to_columns`, and with
        several players the `mover`; then the `action`, its `action_name` in this state, and its
        `probability`. Of merged states, it is the one that represents them. There is no row where
        the game is over; where the policy is undefined, the last three are masked.
        ``pandas.DataFrame`` and ``polars.DataFrame`` accept the result unchanged, and
        :func:`gamedp.write_policy` writes it.

        Returns
        -------
        dict of str to (R,) array

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches
        >>> model = gamedp.compile(Matches(matches=2), compile="never")
        >>> columns = gamedp.Policy.uniform(model).to_columns()
        >>> list(columns)
        ['player', 'left', 'mover', 'action', 'action_name', 'probability']
        >>> columns["action_name"].tolist(), columns["probability"].tolist()
        (['take 1', 'take 2', 'take 1'], [0.5, 0.5, 1.0])
        """
        return columns_of_chances(self.model, self.probabilities)

    @classmethod
    def uniform(cls, model: Model) -> Policy:
        """Return the policy that takes all actions of a state with the same probability."""
        _check_kind(model, Model, "the model")
        counts = np.diff(model.choice_offsets)
        return cls(model, np.repeat(1.0 / np.maximum(counts, 1), counts), "uniform")

    @classmethod
    def from_solution(cls, solution: Solution, name: str = "optimal") -> Policy:
        """Return the policy of a solution.

        Raises
        ------
        UnsupportedProblemError
            If it depends on the remaining steps, as with :class:`gamedp.FiniteHorizon`.
        """
        _check_kind(solution, Solution, "the solution")
        if solution.counts_steps:
            message = (
                f"the policy of a solution for {solution.objective!r} depends on the steps that "
                "are left; a policy here does not. Ask steps_left(2).best_action(state) of the "
                "solution if there are two, or let the state count the steps."
            )
            raise UnsupportedProblemError(message)
        numbers = np.zeros(solution.model.num_choices)
        numbers[solution.policy[solution.policy >= 0]] = 1.0
        return cls(solution.model, numbers, name, solution)

    @classmethod
    def from_function(
        cls,
        model: Model,
        function: Callable[[Any], Hashable | Mapping[Any, float]],
        name: str | None = None,
        rule: Any = None,
    ) -> Policy:
        """Return the policy of a function, called in every state with more than one action.

        Parameters
        ----------
        model : Model
        function : callable
            Takes a state, and returns an action, or the probability of each action.
        name : str, optional
        rule : optional
            The object to which the function belongs.

        Raises
        ------
        InvalidParameterError
            If it returns something else. An action that the state does not have is not an error
            until the policy reaches the state.

        Examples
        --------
        >>> import gamedp
        >>> from gamedp.games.matches import Matches
        >>> model = gamedp.compile(Matches(matches=5), compile="never")
        >>> policy = Policy.from_function(model, lambda state: {1: 0.75, 2: 0.25})
        >>> policy.actions(model.state(0))
        {1: 0.75, 2: 0.25}
        """
        _check_kind(model, Model, "the model")
        _check_kind(function, Callable, "the rule")
        called = name or name_of(function)
        check_symmetric(model, function, called, merged_states(model))
        numbers = _answers(model, function, called, _open_states(model))
        return cls(model, numbers, called, function if rule is None else rule)

    @classmethod
    def from_array(
        cls,
        model: Model,
        array: ArrayLike,
        meaning: Meaning | None = None,
        name: str = "array",
    ) -> Policy:
        """Return the policy in an array of ``Solution.policy`` or another tool.

        Parameters
        ----------
        model : Model
        array : (S,) integers, or (S, A) or (C,) probabilities
            The action of each state; in terminal states -1, or, except for choices, 0. Or the
            probability of each action, with a column for each; entries of terminal states are
            ignored. Or the probability of each choice.
        meaning : {"choices", "places", "labels"}, optional
            The meaning of the integers: choices of the model, as in ``Solution.policy``;
            places, the indices of actions within their state, from 0; or labels of actions, as in
            `action_labels` of the model. Or the meaning of the columns: places, as many as the
            state with the most actions has; or labels, a column for each in ascending order, or
            from 0 on. If not given, the meaning under which the array fits every state; the array
            is refused if several fit and give different policies.
        name : str

        Raises
        ------
        InvalidParameterError
            If it is not a policy of this model, or is ambiguous.

        Examples
        --------
        >>> import gamedp
        >>> stay, go = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
        >>> model = gamedp.Model.from_scipy([stay, go], rewards=[[1.0, 0.0], [3.0, 0.0]])
        >>> solution = gamedp.solve(model, gamedp.Discounted(0.5))
        >>> solution.policy.tolist(), [solution.best_action(state) for state in (0, 1)]
        ([1, 2], [1, 0])
        >>> for numbers in (solution.policy, [1, 0]):
        ...     gamedp.Policy.from_array(model, numbers).probabilities.tolist()
        [0.0, 1.0, 1.0, 0.0]
        [0.0, 1.0, 1.0, 0.0]
        """
        _check_kind(model, Model, "the model")
        return cls(model, probabilities_in(model, array, meaning), name)

    @classmethod
    def mix(cls, policies: Mapping[Policy, float], name: str = "mixture") -> Policy:
        """Return the policy that follows one of several policies, drawn anew in each state.

        An opponent who draws one policy for the whole game is a field: see
        :func:`gamedp.best_response`.

        Parameters
        ----------
        policies : mapping of Policy to float
            Policies of one model, with their weights.

        Raises
        ------
        InvalidParameterError
            If they are something else, or the weights do not sum to one.
        """
        _check_kind(policies, Mapping, "the mixture, of policies with their weights,")
        for policy in policies:
            _check_kind(policy, Policy, "a part of the mixture")
        weights = weights_of(policies)
        (first, *others) = policies
        for other in others:
            if not same_model(first.model, other.model):
                message = f"{first.name} and {other.name} are policies of different models."
                raise InvalidParameterError(message)
        rows = (
            chance * policy.probabilities for policy, chance in zip(policies, weights, strict=True)
        )
        return cls(first.model, sum(rows, np.zeros(first.model.num_choices)), name)


def _check_kind(given: Any, kind: Any, words: str) -> None:
    """Raise InvalidParameterError unless an argument is of a kind."""
    if not isinstance(given, kind):
        message = f"{words} is {shown(given)}; it must be a {kind.__name__}."
        if kind is Model and hasattr(given, "initial_state"):
            message += " gamedp.compile(game) makes the model of a game."
        raise InvalidParameterError(message)


def as_chance(given: Any, place: str) -> float:
    """Return a probability or a weight; raise InvalidParameterError unless it is one number."""
    try:
        return as_real(given)
    except (TypeError, ValueError, OverflowError):
        message = f"{place} {shown(given)}, which is not a number that a 64-bit float holds."
        raise InvalidParameterError(message) from None


def chance_of(given: Any, action: Any, name: str, state: Any) -> float:
    """Return the probability that a policy gives to an action, as `as_chance` does."""
    return as_chance(given, f"{name} chooses {shown(action)} in {shown(state)} with")


def weights_of(given: Mapping[Any, float]) -> list[float]:
    """Return positive weights unchanged; raise unless they sum to one within 1e-9."""
    weights = [as_chance(chance, "a policy has the weight") for chance in given.values()]
    if not (weights and min(weights) > 0 and abs(sum(weights) - 1) <= SUM_TOLERANCE):
        message = f"the weights {shown(weights)} must be positive and sum to 1 within 1e-9."
        raise InvalidParameterError(message)
    if min(weights) < LEAST_PROBABILITY:
        message = f"a weight is {min(weights)!r}. {FAINT}"
        raise InvalidParameterError(message)
    return weights


def same_model(one: Model, other: Model) -> bool:
    """Return whether two models have the same states and choices."""
    return one is other or one.digest() == other.digest()


def model_of(given: Any) -> Model | None:
    """Return the model of a solution or a policy; None for a rule."""
    return given.model if isinstance(given, (Policy, Solution)) else None


def as_policies(
    given: Mapping[str, PolicyLike] | Sequence[PolicyLike], model: Model
) -> list[Policy]:
    """Convert objects that choose actions to policies of a model.

    Parameters
    ----------
    given : sequence, or mapping of name to
        Policy, Solution, object with ``choose(state)``, function of a state, RandomPlayer, array.
    model : Model

    Raises
    ------
    InvalidParameterError
        If an object is not one of these, or belongs to another model.
    """
    names, things = ("",) * len(given), given
    if isinstance(given, Mapping):
        names, things = tuple(given), list(given.values())
    asked: dict[int, Policy] = {}
    states: list[tuple[int, Any]] = []
    merged: list[tuple[Any, Any]] = []
    for name, thing in zip(names, things, strict=True):
        if id(thing) in asked:
            continue
        _refuse_other(thing, model)
        if isinstance(thing, (Policy, Solution, RandomPlayer)):
            asked[id(thing)] = _known(thing, model, name)
            continue
        if is_array(thing):
            asked[id(thing)] = Policy.from_array(model, thing, name=name or "array")
            continue
        rule = rule_of(thing)
        if not states:
            states, merged = _open_states(model), merged_states(model)
        called = name or name_of(thing)
        check_symmetric(model, rule, called, merged)
        asked[id(thing)] = Policy(model, _answers(model, rule, called, states), called, thing)
    return [asked[id(thing)] for thing in things]


def _known(given: Policy | Solution | RandomPlayer, model: Model, name: str) -> Policy:
    """Return a given policy, that of a solution, or the uniform one of a random player."""
    if isinstance(given, Policy):
        return given
    if isinstance(given, Solution):
        return Policy.from_solution(given, name or "optimal")
    return Policy.uniform(model)


def _refuse_other(given: Any, model: Model) -> None:
    """Raise InvalidParameterError for an object of another model or game."""
    own = model_of(given)
    if own is not None and not same_model(own, model):
        message = f"{shown(given)} is of another model, {own!r}, than {model!r}."
        raise InvalidParameterError(message)
    if isinstance(given, RandomPlayer) and model.rules is not None:
        refuse_other_game(given, model.rules)


def refuse_other_game(player: RandomPlayer, rules: Any) -> None:
    """Raise InvalidParameterError for a random player of another game."""
    if rules.game is not player.game and rules.game != player.game:
        message = f"{shown(player)} does not play {shown(rules.game)}."
        raise InvalidParameterError(message)


def rule_of(given: Any) -> Callable[[Any], Any]:
    """Return the function that chooses in a state: the method of an object, or the function itself.

    Raises
    ------
    InvalidParameterError
        If the object is neither.
    """
    choose: Any = getattr(given, "choose", given)
    if isinstance(given, type) or is_array(given) or not callable(choose):  # numpy's have one, too
        message = (
            f"{shown(given)} is not a policy; give a Solution, a Policy, an object with "
            "choose(state), a function of a state, or for a Model an array."
        )
        raise InvalidParameterError(message)
    return choose  # type: ignore[no-any-return]


def name_of(given: Any) -> str:
    """Return the default name of a rule."""
    return str(getattr(given, "__name__", None) or shown(given))


def _open_states(model: Model) -> list[tuple[int, Any]]:
    """Return the states with more than one choice, each with its number."""
    numbers = np.flatnonzero(np.diff(model.choice_offsets) > 1).tolist()
    table = model.states
    if isinstance(table, PackedTable):
        rows = table.codec.unpack(table.codes[numbers]).tolist()
        build = table.layout.build
        return [(number, build(iter(row))) for number, row in zip(numbers, rows, strict=True)]
    return [(number, model.state(number)) for number in numbers]


def _answers(
    model: Model, function: Callable[[Any], Any], name: str, states: list[tuple[int, Any]]
) -> NDArray[np.float64]:
    """Call a function in some states; return the probability of each choice of the model."""
    counts = np.diff(model.choice_offsets)
    numbers = np.zeros(model.num_choices)
    numbers[model.choice_offsets[:-1][counts == 1]] = 1.0
    chosen = np.zeros(model.num_states, np.int64)
    is_sure = np.zeros(model.num_states, np.bool_)
    for number, state in states:
        answer = function(state)
        if isinstance(answer, Mapping):
            first, stop = model.choice_offsets[number : number + 2].tolist()
            known = dict(zip(model.actions_of(first, stop), range(first, stop), strict=True))
            _write_probabilities(answer, known, numbers, (name, state))
            continue
        action = chosen_action(answer, name, state, known=model.actions)
        try:
            chosen[number] = model.action_label(action)
        except (UnknownNameError, OverflowError):
            continue
        is_sure[number] = True
    owners = np.repeat(np.arange(model.num_states), counts)
    taken = np.flatnonzero(is_sure[owners] & (model.action_labels == chosen[owners]))
    _, first = np.unique(owners[taken], return_index=True)  # of an action that is there twice
    numbers[taken[first]] = 1.0
    return numbers


def chosen_action(answer: Any, name: str, state: Any, *, known: Collection[Any] = ()) -> Any:
    """Return the action that a policy has chosen; a bool is refused.

    It is an integer, unless some of the `known` actions of the game are not.
    """
    if type(answer) is int:  # as nearly always; what follows takes long
        return answer
    if not isinstance(answer, (bool, np.bool_)):
        if isinstance(answer, SupportsIndex) and not isinstance(answer, np.ndarray):
            return operator.index(answer)
        if isinstance(answer, Hashable) and any(type(action) is not int for action in known):
            return answer
    kinds = "an integer" if all(type(action) is int for action in known) else "hashable"
    message = f"{name} chooses {shown(answer)} in {shown(state)}; an action is {kinds}."
    raise InvalidParameterError(message)


def _write_probabilities(
    answer: Mapping[Any, float],
    known: dict[Any, int],
    numbers: NDArray[np.float64],
    place: tuple[str, Any],
) -> None:
    """Write the probability of each action of a state."""
    name, state = place
    for action, given in answer.items():
        choice = known.get(chosen_action(action, name, state, known=known))
        chance = chance_of(given, action, name, state)
        if choice is not None:
            numbers[choice] = chance
        elif chance:
            message = (
                f"{name} chooses {shown(action)} with probability {chance:g} in {shown(state)}, "
                f"where the actions are {shown(list(known))}."
            )
            raise InvalidParameterError(message)
    total = sum(numbers[choice] for choice in known.values())
    if not abs(total - 1) <= SUM_TOLERANCE:
        message = f"the probabilities of {name} in {shown(state)} sum to {total!r}, not 1."
        raise InvalidParameterError(message)


def _checked(model: Model, given: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return the probabilities of choices, scaled to sum to one in each state."""
    numbers = numbers_in(given, f"the probabilities of {name}")
    if numbers.shape != (model.num_choices,):
        message = (
            f"the probabilities of {name} have shape {numbers.shape}; the model has "
            f"{model.num_choices} choices."
        )
        raise InvalidParameterError(message)
    counts = np.diff(model.choice_offsets)
    owners = np.repeat(np.arange(model.num_states), counts)
    bad = ~((numbers >= 0) & (numbers <= 1 + SUM_TOLERANCE))
    if bad.any():
        choice = int(bad.argmax())
        message = (
            f"{name} takes a choice in {shown(model.state(int(owners[choice])))} with probability "
            f"{float(numbers[choice])!r}."
        )
        raise InvalidParameterError(message)
    if ((numbers > 0) & (numbers < LEAST_PROBABILITY)).any():
        message = f"{name} has a probability that is too small. {FAINT}"
        raise InvalidParameterError(message)
    totals = np.bincount(owners, numbers, minlength=model.num_states)
    wrong = (totals != 0) & (np.abs(totals - 1) > SUM_TOLERANCE)
    if wrong.any():
        state = int(wrong.argmax())
        message = (
            f"the probabilities of {name} in {shown(model.state(state))} sum to "
            f"{float(totals[state])!r}, not 1 within {SUM_TOLERANCE:g}. If they are rounded, "
            "divide those of each state by their sum."
        )
        raise InvalidParameterError(message)
    off = np.abs(totals - 1) > SUM_ROUNDING
    if (off & (totals > 0)).any():
        numbers /= np.where(off & (totals > 0), totals, 1.0)[owners]
    return numbers


@attrs.frozen
class RandomPlayer:
    """A player who takes a random action, all equally likely.

    Parameters
    ----------
    game
        The game that is played.

    Examples
    --------
    >>> import numpy as np
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> RandomPlayer(Matches())(MatchesState(0, 1), np.random.default_rng(0))
    1
    """

    game: Any

    def __call__(self, state: Any, rng: np.random.Generator) -> Any:
        """Return an action in `state`."""
        actions = list(self.game.actions(state))
        return checked_action(state, actions[rng.integers(len(actions))])


def choices_in(model: Model, state: Any) -> list[tuple[Any, int]]:
    """Return the actions of a game's own state, each with an equivalent choice of the model.

    Raises
    ------
    UnknownStateError
        If the model has no such state.
    InvalidModelError
        If the state is not symmetric to its representative, as `canonical` says it is.
    """
    pairs, same = _choices_of(model, state)
    if same is None:
        return pairs
    known = dict(pairs)
    return [(own, known[its]) for own, its in same.of_state.items() if its in known]


def equal_choices(model: Model, state: Any) -> dict[Any, list[int]]:
    """Return all choices of the model that are equivalent to each action of a game's own state.

    In a state that represents itself, each action corresponds to its own choice. Elsewhere, two
    equivalent choices of the representative both correspond to each of the two actions.

    Raises
    ------
    UnknownStateError, InvalidModelError
        As for :func:`choices_in`.
    """
    pairs, same = _choices_of(model, state)
    if same is None:
        return {action: [choice] for action, choice in pairs}
    alike: dict[Any, list[int]] = {}
    for its, choice in pairs:
        alike.setdefault(same.of_state[same.of_representative[its]], []).append(choice)
    return {own: alike[its] for own, its in same.of_state.items() if its in alike}


def _choices_of(model: Model, state: Any) -> tuple[list[tuple[Any, int]], Counterparts | None]:
    """Return the representative's actions with their choices, and their images in the state.

    None for a state that represents itself.
    """
    state = model.own_state(state)
    representative, index, swapped = model.represented(state)
    first, stop = model.choice_offsets[index : index + 2].tolist()
    pairs = list(zip(model.actions_of(first, stop), range(first, stop), strict=True))
    if model.rules is None or model.states is None or representative == state:
        return pairs, None
    return pairs, counterparts(model.rules, state, representative, swapped)


MOST_MET, MOST_ASKED = 300, 24
"""Largest numbers of states visited, and of states checked among them."""


def merged_states(model: Model) -> list[tuple[Any, Any]]:
    """Return the first states with a choice that another state represents.

    Each is paired with its representative, breadth first; `MOST_ASKED` at most.
    """
    rules = model.rules
    if rules is None or model.states is None or not hasattr(type(rules.game), "canonical"):
        return []
    game, found = rules.game, []
    waiting = [state for probability, state in rules.initial() if probability > 0]
    met = set(waiting)
    for state in waiting:  # the list grows meanwhile
        if game.is_terminal(state):
            continue
        actions = [checked_action(state, action) for action in game.actions(state)]
        representative = rules.canonical(state)[0]
        if len(actions) > 1 and representative != state:
            found.append((state, representative))
            if len(found) == MOST_ASKED:
                break
        for action in actions:
            for probability, following, *_ in game.outcomes(state, action):
                if probability > 0 and following not in met and len(met) < MOST_MET:
                    met.add(following)
                    waiting.append(following)
    return found


def check_symmetric(
    model: Model, function: Callable[[Any], Any], name: str, pairs: list[tuple[Any, Any]]
) -> None:
    """Raise if a rule acts differently in states that the game declares equal.

    A rule is asked in the representatives alone, so the computed value would not be its own.

    Raises
    ------
    InvalidParameterError
        Names the two states, and the actions of the rule in them.
    """
    for state, representative in pairs:
        choices = equal_choices(model, state)
        alike = [set(same) for same in choices.values()]
        own = _taken(choices, function(state), name, state)
        its = _taken(
            equal_choices(model, representative), function(representative), name, representative
        )
        if any(abs(_of(own, same) - _of(its, same)) > SUM_TOLERANCE for same in alike):
            message = (
                f"{name} chooses {shown(function(state))} in {shown(state)} and "
                f"{shown(function(representative))} in {shown(representative)}, and these do "
                "different things, though canonical says that the two states are the same. Let it "
                "ignore what canonical leaves out, or give a game without canonical."
            )
            raise InvalidParameterError(message)


def _taken(
    choices: Mapping[Any, list[int]], answer: Any, name: str, state: Any
) -> list[tuple[int, float]]:
    """Return choices of the model with their probabilities; invalid actions are left out."""
    probabilities: Mapping[Any, float] = {}
    if type(answer) is int:  # the usual case; the rest is slow
        probabilities = {answer: 1.0}
    elif isinstance(answer, Mapping):
        probabilities = answer
    elif isinstance(answer, SupportsIndex):
        probabilities = {operator.index(answer): 1.0}
    elif isinstance(answer, Hashable):
        probabilities = {answer: 1.0}
    chances = [
        (same[0], chance_of(probabilities.get(action, 0.0), action, name, state))
        for action, same in choices.items()
    ]
    return [(choice, chance) for choice, chance in chances if chance > 0]


def _of(taken: list[tuple[int, float]], choices: set[int]) -> float:
    """Return the probability that one of some choices is taken."""
    return sum(chance for choice, chance in taken if choice in choices)
