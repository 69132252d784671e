"""The compiled sparse-transition core: a game as a few read-only arrays."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsFloat, SupportsIndex

import attrs
import numpy as np

from gamedp.errors import (
    SEVERAL_STARTS,
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
    UnknownStateError,
    shown,
)
from gamedp.model.validation.forms import ARRAYS
from gamedp.rules.exactness import model_numbers, written
from gamedp.rules.game import Rules
from gamedp.runtime.notebook import html_table

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import scipy.sparse
    from numpy.typing import ArrayLike, NDArray

    from gamedp.graph.structure import Structure
    from gamedp.model.objectives import AnyModel
    from gamedp.model.validation.forms import Variables
    from gamedp.rules.layout import StateTable

MOST_NAMED = 20
"""Largest number of actions that a message lists."""


@attrs.frozen(eq=False, kw_only=True, repr=False)
class Model:
    """A game or Markov decision process as sparse arrays, all of them read-only.

    S states, C choices (each a state with an action), T transitions, Z terminal states, N players.
    Made by :func:`gamedp.compile`, :meth:`from_arrays` or :meth:`from_scipy`.

    Attributes
    ----------
    choice_offsets : (S+1,) int64
        The choices of state s are ``choice_offsets[s] .. choice_offsets[s+1] - 1``. A state has
        none exactly if it is terminal.
    transition_offsets : (C+1,) int64
        The transitions of choice c are ``transition_offsets[c] .. transition_offsets[c+1] - 1``.
    successors : (T,) int32 or int64
        The state a transition leads to.
    probabilities : (T,) float64
        Its probability. Negative if the two players change places on the way: the value of the
        transition is then ``constant_sum`` minus the successor's value.
    rewards : (C,) float64, or (C, N)
        Expected reward of a choice, for player 0; or for each player, if each has payoffs of their
        own: three and more, or two without a constant sum.
    players : (S,) int8
        The player to move; of two opponents player 0 maximises the value, player 1 minimises it.
    terminals : (Z,) int64
        The terminal states, ascending.
    payoffs : (Z,) float64, or (Z, N) as `rewards`
        The payoff of player 0 (or of each player) there.
    action_labels : (C,) signed integers
        The action of a choice: the game's own integer, or its number in `actions`.
    actions : tuple
        The game's own actions, numbered from 0 in the order in which they were first met, if some
        are not integers; otherwise empty.
    action_names : tuple of str
        The name of each number in `action_labels`, if a file or arrays have given names; otherwise
        empty. An action without a name has the name ``""``.
    variables : mapping of str to (S,) int64 or bool
        The value of each variable of a program in each state, if a file or arrays have given them.
        For example, ``model.variables["x"] > 3`` is a set of states.
    notes : tuple of str
        Changes made to the input, in words; see `normalise` of :meth:`from_arrays`.
    mean_rewards : bool
        Whether rewards were given that differ between the outcomes of a choice: `rewards` are their
        means then. These give the same values, but not what single plays earn.
    initial_states : (I,) int64
    initial_probabilities : (I,) float64
        The start of the game; signed like `probabilities`.
    num_players : int
    constant_sum : float
        The sum of two opponents' payoffs.
    states : StateTable or None
        Maps indices back to the game's own states; None for a model made of arrays.
    rules : Rules or None
        The game that the model was compiled from.
    rounding : (float, float, float)
        Largest distance of payoffs, and of rewards, as given from the stored ones, and of either as
        a part of the stored one; 0 unless fractions were given, or integers that no double holds,
        or rewards that differ between the transitions of a choice.
    fractions : mapping of str to array of objects
        Those of `probabilities`, `rewards`, `payoffs` and `initial_probabilities` that were given
        with numbers that no double is equal to: the same array again, with these numbers as
        :class:`fractions.Fraction`; the last one also if they are doubles, because Fractions count
        exactly there, and doubles to two units in the last place.
    seconds : mapping
        Seconds to ``"compile"`` the rules and to ``"explore"`` the states, including the checks of
        plain rules in some of them.

    Examples
    --------
    A state with two choices, to stay for a reward of 1 or to leave, and one with none:

    >>> import gamedp
    >>> model = gamedp.Model.from_arrays(
    ...     choice_offsets=[0, 2, 2], transition_offsets=[0, 1, 2], successors=[0, 1],
    ...     probabilities=[1.0, 1.0], rewards=[1.0, 0.0], terminals=[1],
    ... )
    >>> model
    <Model 2 states, 2 choices, 2 transitions>
    >>> round(gamedp.solve(model, gamedp.Discounted(0.5), tolerance=1e-9).value(0), 6)
    2.0
    """

    choice_offsets: NDArray[np.int64]
    transition_offsets: NDArray[np.int64]
    successors: NDArray[np.int32] | NDArray[np.int64]
    probabilities: NDArray[np.float64]
    rewards: NDArray[np.float64]
    players: NDArray[np.int8]
    terminals: NDArray[np.int64]
    payoffs: NDArray[np.float64]
    action_labels: NDArray[np.signedinteger[Any]]
    initial_states: NDArray[np.int64]
    initial_probabilities: NDArray[np.float64]
    num_players: int = 1
    constant_sum: float = 0.0
    states: StateTable | None = None
    rules: Rules | None = None
    seconds: Mapping[str, float] = attrs.field(factory=dict)
    rounding: tuple[float, float, float] = (0.0, 0.0, 0.0)
    fractions: Mapping[str, NDArray[Any]] = attrs.field(factory=dict)
    action_names: tuple[str, ...] = ()
    actions: tuple[Hashable, ...] = ()
    variables: Variables = attrs.field(factory=dict)
    notes: tuple[str, ...] = ()
    mean_rewards: bool = False

    def __attrs_post_init__(self) -> None:
        """Refuse infinite rewards and arrays that loops would read beyond; lock the arrays."""
        from gamedp.model.validation import check_model  # noqa: PLC0415 - only needed here

        check_model(self)
        check_finite(self)
        self._lock()

    @classmethod
    def unchecked(cls, **fields: Any) -> Model:
        """Make a model of arrays that gamedp itself has just built; nothing is checked."""
        model = cls.__new__(cls)
        defaults: dict[str, Any] = {
            "num_players": 1,
            "constant_sum": 0.0,
            "states": None,
            "rules": None,
            "seconds": {},
            "rounding": (0.0, 0.0, 0.0),
            "fractions": {},
            "action_names": (),
            "actions": (),
            "variables": {},
            "notes": (),
            "mean_rewards": False,
        }
        model.__setstate__(defaults | fields)
        return model

    def _lock(self) -> None:
        arrays = (getattr(self, name) for name in ARRAYS)
        for array in (*arrays, *self.fractions.values(), *self.variables.values()):
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        """Return only the fields: lazily computed attributes are computed again."""
        return {name: getattr(self, name) for name in FIELDS}

    def __copy__(self) -> Model:
        """Return the same model without what is known of its graph; the arrays are shared.

        So is the digest, if it has been taken: it is that of the arrays.
        """
        model = type(self).__new__(type(self))
        for name in FIELDS:
            object.__setattr__(model, name, getattr(self, name))
        try:
            digest = object.__getattribute__(self, "_digest")
        except AttributeError:  # not taken yet
            return model
        object.__setattr__(model, "_digest", digest)
        return model

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the fields and lock the arrays again: pickle returns them writable."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self._lock()

    def __repr__(self) -> str:
        """Return the size of the model."""
        name = "" if self.rules is None else f"{self.rules.game!r}: "
        return (
            f"<Model {name}{self.num_states:,} states, {self.num_choices:,} choices, "
            f"{self.num_transitions:,} transitions>"
        )

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        rows = {} if self.rules is None else {"game": shown(self.rules.game)}
        rows |= {
            "players": str(self.num_players),
            "states": f"{self.num_states:,}",
            "terminal states": f"{len(self.terminals):,}",
            "choices": f"{self.num_choices:,}",
            "transitions": f"{self.num_transitions:,}",
            "bytes": f"{self.num_bytes:,}",
        }
        return html_table(rows)

    @property
    def num_states(self) -> int:
        """The number of states (S)."""
        return len(self.choice_offsets) - 1

    @property
    def num_choices(self) -> int:
        """The number of choices (C)."""
        return len(self.transition_offsets) - 1

    @property
    def num_transitions(self) -> int:
        """The number of transitions (T)."""
        return len(self.successors)

    @property
    def num_bytes(self) -> int:
        """Bytes that the arrays take."""
        codes = getattr(self.states, "codes", None)
        arrays = sum([getattr(self, name).nbytes for name in ARRAYS])
        return arrays if codes is None else int(arrays + codes.nbytes)

    @property
    def is_general_sum(self) -> bool:
        """Whether each player has payoffs of their own: three and more, or two that say so."""
        return self.payoffs.ndim > 1

    @property
    def has_opponents(self) -> bool:
        """Whether there are two players, of whom one gets what a constant sum leaves."""
        return self.num_players == 2 and not self.is_general_sum

    @functools.cached_property
    def has_swaps(self) -> bool:
        """Whether the players change places on some transition."""
        if not self.has_opponents or not self.num_transitions:  # only two opponents can
            return False
        return bool(self.probabilities.min() < 0)

    @functools.cached_property
    def is_terminal(self) -> NDArray[np.bool_]:
        """Whether a state is terminal; (S,)."""
        mask = np.zeros(self.num_states, np.bool_)
        mask[self.terminals] = True
        mask.flags.writeable = False
        return mask

    @functools.cached_property
    def is_deterministic(self) -> bool:
        """Whether every choice leads to one state with certainty."""
        sure = self.num_transitions == self.num_choices
        return sure and bool((np.abs(self.probabilities) == 1).all())

    @functools.cached_property
    def coded_probabilities(self) -> tuple[NDArray[np.uint16], NDArray[np.float64]] | None:
        """The probabilities as numbers (T,) of a few values (P,), if there are 4,096 at most.

        ``values[numbers]`` are exactly the same probabilities, in two bytes a transition instead of
        eight: solvers of large models read them faster. None if there are more values.
        """
        from gamedp.bellman import equation  # noqa: PLC0415 - brings numba along

        codes = np.empty(self.num_transitions, np.uint16)
        slots, values = (
            np.zeros(equation.SLOTS, np.uint16),
            np.empty(equation.MAX_CODES, np.uint64),
        )
        count = equation.collect_jit(self.probabilities.view(np.uint64), slots, values, codes)
        if count > equation.MAX_CODES:
            return None
        found = codes, values[:count].view(np.float64).copy()
        for array in found:
            array.flags.writeable = False
        return found

    @functools.cached_property
    def structure(self) -> Structure:
        """Components, levels and end components; computed when first needed."""
        from gamedp.graph.structure import Structure  # noqa: PLC0415 - brings numba along

        return Structure.of(self.choice_offsets, self.transition_offsets, self.successors)

    @functools.cached_property
    def transition_matrix(self) -> scipy.sparse.csr_array[np.float64]:
        """The (C, S) matrix of signed probabilities; shares the memory of the model's arrays.

        These are read-only, and may have parallel transitions: take a ``.copy()`` for the methods
        of scipy that sort or add up in place, such as ``sum_duplicates``.

        For values v, ``constants + transition_matrix @ v`` is the value of every choice, where
        ``constants`` are the rewards plus `constant_sum` times the probability of a swap.
        """
        import scipy.sparse  # noqa: PLC0415 - slow to import, and rarely needed

        matrix: scipy.sparse.csr_array[np.float64] = scipy.sparse.csr_array(
            (self.num_choices, self.num_states), dtype=np.float64
        )
        # Set one by one: the constructor would copy indices and offsets to one common type, which
        # is the only one that the stubs know.
        matrix.data = self.probabilities
        matrix.indices = self.successors  # type: ignore[assignment]
        matrix.indptr = (
            self.transition_offsets  # type: ignore[assignment]
            if self.successors.dtype == np.int64 or self.num_transitions >= 2**31
            else self.transition_offsets.astype(np.int32)
        )
        return matrix

    def state(self, index: int) -> Any:
        """Return the game's own state with that index (the index itself without a game).

        Raises
        ------
        UnknownStateError
            If there is no state with that index.
        """
        if not 0 <= index < self.num_states:
            message = f"there is no state {index}; states are numbered 0 to {self.num_states - 1}."
            raise UnknownStateError(message)
        return int(index) if self.states is None else self.states.state(int(index))

    def only_start(self) -> Any:
        """Return the game's own state that play starts in (its index without a game).

        Raises
        ------
        UnknownStateError
            If it starts in one of several.
        """
        if len(self.initial_states) != 1:
            raise UnknownStateError(SEVERAL_STARTS)
        return int(self.initial_states[0]) if self.rules is None else self.rules.only_start()

    def own_state(self, state: Any) -> Any:
        """Return a state in the form of the rules: for a plain tuple, the object with these fields.

        So (3, 4) finds ``Position(3, 4)``. Anything but a tuple is returned unchanged.

        Raises
        ------
        UnknownStateError
            If states of several classes have these fields.
        """
        return state if self.states is None or self.rules is None else self.states.own(state)

    def index(self, state: Hashable) -> tuple[int, bool]:
        """Return the index of a state's representative and whether the players are swapped.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        return self.represented(state)[1:]

    def represented(self, state: Hashable) -> tuple[Any, int, bool]:
        """Return a state's representative, its index, and whether the players are swapped.

        Parameters and errors are those of :meth:`index`.
        """
        if self.states is None or self.rules is None:
            # Without a game, a state is an index.
            number = -1
            if type(state) is not bool:
                with contextlib.suppress(TypeError):
                    number = operator.index(state)  # type: ignore[arg-type]
            if not 0 <= number < self.num_states:
                message = (
                    f"there is no state {shown(state)}; the model has no game, and its states are "
                    "the "
                    f"numbers 0 to {self.num_states - 1}."
                )
                raise UnknownStateError(message)
            return state, number, False
        state = self.states.own(state)
        if not hasattr(type(self.rules.game), "canonical"):
            return state, self.states.index(state), False
        layout = getattr(self.states, "layout", None)
        if layout is not None:
            try:
                layout.flatten(state)
            except InvalidModelError as error:
                raise UnknownStateError(str(error)) from None
        representative, swapped = self.rules.canonical(state)
        return representative, self.states.index(representative), swapped

    def actions_of(self, first: int, stop: int) -> list[Any]:
        """Return the game's own actions of the choices from `first` to before `stop`."""
        labels: list[int] = self.action_labels[first:stop].tolist()
        return [self.actions[label] for label in labels] if self.actions else labels

    def action_label(self, action: Hashable) -> int:
        """Return the number of one of the game's own actions in `action_labels`.

        An integer is its own number, unless `actions` numbers them all.

        Raises
        ------
        UnknownNameError
            If the model has no such action.
        """
        if not self.actions:
            if isinstance(action, SupportsIndex):
                return operator.index(action)
        elif (label := self._labels.get(action)) is not None:
            return label
        known = shown(list(self.actions[:MOST_NAMED])) if self.actions else "integers"
        message = f"{shown(action)} is not an action of this model; its actions are {known}."
        raise UnknownNameError(message)

    @functools.cached_property
    def _labels(self) -> dict[Hashable, int]:
        return {action: label for label, action in enumerate(self.actions)}

    def action_name(self, action: Hashable, state: Hashable | None = None) -> str:
        """Return the name of an action: its number, where actions have no names.

        Parameters
        ----------
        action
            As :meth:`gamedp.Solution.best_action` returns it.
        state : optional
            The state in which it is taken: a game names its actions in a state, and needs one.

        Raises
        ------
        UnknownNameError
            If there is no such action.
        InvalidParameterError
            If a state must be given.

        Examples
        --------
        >>> import gamedp
        >>> model = gamedp.Model.from_arrays(
        ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], payoffs=[1.0],
        ...     action_names=["stay", "leave"],
        ... )
        >>> model.action_name(gamedp.solve(model).best_action(0))
        'leave'
        """
        if self.rules is not None:
            if state is None:
                message = "the actions of a game have names in a state; say in which one."
                raise InvalidParameterError(message)
            return self.rules.action_name(state, action)
        given: Any = action
        is_number = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
        number = int(given) if is_number else -1
        if 0 <= number < len(self.action_names):
            return self.action_names[number]
        if self.action_names or not (is_number and (self.action_labels == number).any()):
            known = ", ".join(map(str, np.unique(self.action_labels)[:MOST_NAMED].tolist()))
            asked = number if is_number else shown(given)
            message = f"there is no action {asked}; those of this model are {known}."
            raise UnknownNameError(message)
        return str(number)

    def state_name(self, state: Hashable) -> str:
        """Return a state's variables in words; the state itself if there are none.

        Raises
        ------
        UnknownStateError
            If the model has no such state.
        """
        index, _ = self.index(state)
        if not self.variables:
            return str(state)
        columns = self.variables.items()
        return ", ".join(f"{name}={str(column[index]).lower()}" for name, column in columns)

    def digest(self) -> str:
        """Return the SHA-256 of all arrays, and of `fractions`: equal for equal models.

        It does not cover names of actions, variables or notes.
        """
        return self._digest

    @functools.cached_property
    def _digest(self) -> str:
        """The digest that :meth:`digest` returns; computed once, as no array changes."""
        digest = hashlib.sha256(f"{self.num_players} {self.constant_sum!r}".encode())
        for name in ARRAYS:
            array = getattr(self, name)
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        for name, array in sorted(self.fractions.items()):
            digest.update(f"{name} {written(array.tolist())}".encode())
        return digest.hexdigest()

    @classmethod
    def from_arrays(  # noqa: PLR0913 - they are what a model is
        cls,
        choice_offsets: ArrayLike,
        transition_offsets: ArrayLike,
        successors: ArrayLike,
        probabilities: ArrayLike,
        *,
        rewards: ArrayLike | None = None,
        players: ArrayLike | None = None,
        terminals: ArrayLike | None = None,
        payoffs: ArrayLike | None = None,
        action_labels: ArrayLike | None = None,
        initial: int | Sequence[tuple[SupportsFloat, int]] = 0,
        num_players: int | None = None,
        constant_sum: float | None = 0.0,
        action_names: Sequence[str] = (),
        variables: Mapping[str, ArrayLike] = MappingProxyType({}),
        normalise: bool = False,
    ) -> Model:
        """Make a model of arrays, which are checked and copied.

        Transitions with probability zero are dropped, and those of a choice that lead to the same
        state are added up. Probabilities whose sum differs from one by more than rounding explains
        are scaled.

        Numbers may be of any library. A :class:`fractions.Fraction`, a :class:`decimal.Decimal` or
        an integer that no double is equal to is kept exactly, beside the nearest double: bounds
        contain the value of the given numbers, and :class:`gamedp.solvers.ExactPolicyIteration`
        computes it. A float counts as stored; a float that is a probability, to two units in the
        last place.

        Parameters
        ----------
        choice_offsets, transition_offsets, successors : array_like of int
            As in :class:`Model`.
        probabilities : (T,) array_like
            As in :class:`Model`; those of a choice sum to one, signs aside. Negative ones, where
            the players change places, need ``num_players=2``.
        rewards : (C,) or (C, N) array_like, optional
            Zero if not given. With two opponents, one column is enough; two must sum to zero.
        players : (S,) array_like of int, optional
            The player who chooses in each state. If not given, player 0 makes all choices.
        terminals : array_like of int, optional
            The terminal states, in any order: exactly those without choices. They may be left out
            if there are none, or if `payoffs` has a number for each.
        payoffs : (Z,) or (Z, N) array_like, optional
            Payoffs of player 0 (or of each player) in each of `terminals`, in the same order; zero
            if not given. With two opponents, two columns must sum to `constant_sum`.
        action_labels : (C,) array_like of int, optional
            By default the choices of each state are numbered from 0.
        initial : int or list of (probability, state)
            The start of the game; a probability may be negative as in `probabilities`.
        num_players : int, optional
            By default one more than the largest of `players`.
        constant_sum : float or None
            The sum of the two players' payoffs. None says that each of two players has payoffs of
            its own, in two columns; with three and more that is always so.
        action_names : sequence of str
            The name of each number in `action_labels`, from 0; or none.
        variables : mapping of str to (S,) array_like of int or bool
            Variables that describe the states.
        normalise : bool
            Whether probabilities may have been rounded, to single precision or few digits, or
            computed: those of a choice that sum to something from 0.9 to 1.1 are divided by their
            sum, and those that are below 0 by at most 1e-6 are replaced by 0 (unless there are two
            players, who may change places). Bounds are then those of the resulting model, not of
            all models that the numbers might have been rounded from. The changes are listed in
            `notes` of the model.

        Raises
        ------
        InvalidModelError
            For offsets that do not fit, states or players that do not exist, probabilities that are
            negative where players cannot change places, NaN, infinite or do not sum to one within
            1e-9, rewards or payoffs that are not finite (or, if players have payoffs of their own,
            not doubles), and states without choices that are not terminal. The message names the
            state and the choice.

        Examples
        --------
        A walk that ends at the right with probability 3/4 a step:

        >>> import gamedp
        >>> model = gamedp.Model.from_arrays(
        ...     [0, 1, 1], [0, 2], [0, 1], [0.25, 0.75], rewards=[1.0], terminals=[1], payoffs=[0.0]
        ... )
        >>> model
        <Model 2 states, 1 choices, 2 transitions>
        """
        from gamedp.model.validation import (  # noqa: PLC0415 - only needed here
            checked_arrays,
            names_and_variables,
        )

        names, columns = names_and_variables(action_names, variables)
        return cls(
            action_names=names,
            variables=columns,
            **checked_arrays(
                choice_offsets=choice_offsets,
                transition_offsets=transition_offsets,
                successors=successors,
                probabilities=probabilities,
                rewards=rewards,
                players=players,
                terminals=terminals,
                payoffs=payoffs,
                action_labels=action_labels,
                initial=initial,
                num_players=num_players,
                constant_sum=constant_sum,
                normalise=normalise,
            ),
        )

    @classmethod
    def from_scipy(
        cls,
        matrices: Sequence[Any],
        rewards: ArrayLike | None = None,
        *,
        transition_rewards: Sequence[Any] | None = None,
        **keywords: Any,
    ) -> Model:
        """Make a model of one sparse (S, S) matrix for each action.

        Parameters
        ----------
        matrices : sequence of scipy sparse arrays or matrices, or dense arrays; or (A, S, S) array
            ``matrices[a][s, t]`` is the probability that action a leads from s to t. An empty row
            means that the action is not available in that state; a state in which none is, is
            terminal. The choices keep the numbers of their matrices as labels.
        rewards : (S, A) or (S,) array_like, optional
            Expected reward of action a in state s, or of any action in it. Rewards of actions that
            are not available may be anything. If players have payoffs of their own (S, A, N).
        transition_rewards : sequence of A (S, S) arrays, dense or sparse, optional
            Instead of `rewards` if they depend on the next state: ``[a][s, t]`` is the reward that
            action a earns player 0 if it leads from s to t. The model keeps the expected reward of
            each choice, which gives the same values. Exact answers use it exactly, computed from
            the probabilities as stored, scaled to sum to one; bounds include its rounding, and the
            effect of two units in the last place of each probability.
        **keywords
            `players`, `terminals`, `payoffs`, `initial`, `num_players`, `constant_sum`,
            `action_names`, `variables`, `normalise` as in :meth:`from_arrays`.

        Raises
        ------
        InvalidModelError
            As in :meth:`from_arrays`, and if the matrices are not all square and of one size.

        Examples
        --------
        >>> import gamedp, scipy.sparse
        >>> stay, go = scipy.sparse.eye_array(2), scipy.sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
        >>> gamedp.Model.from_scipy([stay, go], rewards=[[1.0, 0.0], [2.0, 0.0]])
        <Model 2 states, 4 choices, 4 transitions>

        A bet that pays 2 in state 1 and costs 1 in state 0, at even odds:

        >>> bets = [[[0.5, 0.5], [0.5, 0.5]]]
        >>> pays = [[[-1.0, 2.0], [-1.0, 2.0]]]
        >>> gamedp.Model.from_scipy(bets, transition_rewards=pays).rewards.tolist()
        [0.5, 0.5]
        """
        from gamedp.model.validation import (  # noqa: PLC0415 - brings scipy along
            arrays_of_matrices,
            expected_rewards,
            normalised,
        )

        arrays = arrays_of_matrices(matrices, rewards)
        model = cls.from_arrays(**arrays, **keywords)
        if transition_rewards is None:
            return model
        if rewards is not None or model.is_general_sum:
            message = (
                "give rewards or transition_rewards, not both; if players have payoffs of their "
                "own, the expected rewards of each."
            )
            raise InvalidModelError(message)
        if model.notes:
            offsets, signed = arrays["transition_offsets"], model.has_opponents
            arrays["probabilities"], _ = normalised(offsets, arrays["probabilities"], signed=signed)
        given, (reward, part), differ = expected_rewards(arrays, transition_rewards)
        found = with_rewards(model, given, reward, part)
        return attrs.evolve(found, mean_rewards=differ)


FIELDS = tuple(field.name for field in attrs.fields(Model))
"""The names of a model's attributes, without those that are computed lazily."""


def given_numbers(model: AnyModel, name: str) -> NDArray[Any]:
    """Return an array of a model; of objects if it was given numbers that no double is equal to.

    Those are then Fractions, and the others floats.
    """
    array: NDArray[Any] = model.fractions.get(name, getattr(model, name))
    return array


def with_rewards(
    model: Model, rewards: NDArray[Any], error: float = 0.0, part: float = 0.0
) -> Model:
    """Return a model with other rewards.

    Parameters
    ----------
    model : Model
    rewards : (C,) float64, or objects
        Doubles, or Fractions where no double is equal to the reward of a choice.
    error, part : float
        Largest distance of a reward from the nearest double, and as a part of that.
    """
    numbers = model_numbers(rewards=rewards)
    kept = {name: array for name, array in model.fractions.items() if name != "rewards"}
    return attrs.evolve(
        model,
        rewards=numbers["rewards"],
        rounding=(model.rounding[0], error, max(model.rounding[2], part)),
        fractions=kept | numbers["fractions"],
    )


def describe_choice(model: Model, choice: int) -> str:
    """Return a description of a choice: its action and its state."""
    state = int(np.searchsorted(model.choice_offsets, choice, side="right")) - 1
    (action,) = model.actions_of(choice, choice + 1)
    if model.rules is None:
        name = f" {model.action_names[action]!r}" if model.action_names else ""
        return f"choice {choice} (action {action}{name}) of state {state}"
    return f"action {shown(action)} in {shown(model.state(state))}"


def check_finite(model: Model) -> None:
    """Raise InvalidModelError if a reward or payoff is NaN or infinite."""
    for name, array in (("reward", model.rewards), ("payoff", model.payoffs)):
        if not len(array):
            continue
        finite = np.isfinite(array)
        if np.logical_and.reduce(finite, axis=None):
            continue
        bad = np.flatnonzero(~(finite if array.ndim == 1 else finite.all(axis=1)))
        place = (
            describe_choice(model, int(bad[0]))
            if name == "reward"
            else f"terminal state {shown(model.state(int(model.terminals[bad[0]])))}"
        )
        message = f"the {name} of {place} is {array[bad[0]]}; it must be a finite number."
        raise InvalidModelError(message)
