"""Formulas about models: `ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnsupportedProblemError, shown
from gamedp.verbs.compiling import compile as compile_rules
from gamedp.verbs.solving import solve

if TYPE_CHECKING:
    from gamedp.adapters.loaded import LoadedModel
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.questions.answers import Answer
    from gamedp.results.solution import Solution
    from gamedp.rules.game import Game

__all__ = ["ask"]

DECIDING_SECONDS = 60.0
"""The time for closer numbers, and for exact ones, where a bound is undecided; if none is given."""


def ask(
    loaded: LoadedModel | Model | Game,
    formula: str,
    **options: Any,
) -> Answer:
    """Answer a formula about a model: a probability, a reward, or whether a bound holds.

    Parameters
    ----------
    loaded : LoadedModel, Model or game
        What :func:`gamedp.read_model` returns; or a model, or a game, whose variables are the
        fields of its states, and whose players are numbered from 1.
    formula : str
        A formula, or the name of a property in the file.
    **options
        Of :func:`gamedp.solve`, other than the objective.

    Returns
    -------
    gamedp.questions.answers.Answer

    Raises
    ------
    InvalidParameterError
        If the formula is malformed, or of a kind that is not supported; the message names the line
        and the column.
    UnknownNameError
        If the model has no such label, variable, constant, reward or property.
    NotSolvedError
        As :func:`gamedp.solve`.
    UnsupportedProblemError
        If no solver supports the question, or players of the game change places.

    Examples
    --------
    One of two coins is thrown, of which the first is fair; `coin` is then 1 for heads, 2 for tails:

    >>> import gamedp
    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 3, 4], [0, 2, 4, 5, 6], [1, 2, 1, 2, 1, 2], [0.5, 0.5, third, 1 - third, 1, 1],
    ...     variables={"coin": [0, 1, 2]},
    ... )
    >>> gamedp.ask(model, "Pmax=? [F coin=1]").value()
    0.5
    >>> gamedp.ask(model, "P>=1/3 [F coin=1]").holds, gamedp.ask(model, "P>1/3 [F coin=1]").holds
    ('yes', 'no')
    """
    from gamedp.languages.formulas import read_formula
    from gamedp.questions.answers import Answer
    from gamedp.questions.formulas import Asking
    from gamedp.questions.quantities import AS_ASKED, CLOSE_WIDTH, EXACTLY

    subject = _subject(loaded)
    name, text = _text_of(subject, formula)

    def solved(model: Model, objective: Objective, closely: int) -> Solution:
        if closely == AS_ASKED:
            return solve(model, objective, **options)
        seconds = options.get("max_seconds", DECIDING_SECONDS)
        kept = {name: value for name, value in options.items() if name == "progress"}
        if closely == EXACTLY:
            from gamedp.solvers import ExactPolicyIteration

            return solve(model, objective, ExactPolicyIteration(max_seconds=seconds), **kept)
        return solve(model, objective, tolerance=CLOSE_WIDTH, max_seconds=seconds, **kept)

    asking = Asking(subject, solved)
    found = read_formula(text, name)
    is_boolean, lower, upper, solution = asking.answer(found)
    return Answer(
        loaded=subject,
        formula=text.strip(),
        lower=lower,
        upper=upper,
        is_boolean=is_boolean,
        solution=solution,
        notes=tuple(asking.notes),
    )


def _text_of(loaded: LoadedModel, formula: Any) -> tuple[str, str]:
    """Return what to call a formula, and its text; that of a property, if it is the name of one."""
    if not isinstance(formula, str):
        message = f"a formula is a text, and not {shown(formula)}."
        raise InvalidParameterError(message)
    if formula in loaded.properties:
        return f"property {formula}", loaded.properties[formula]
    return "the formula", formula


def _subject(given: Any) -> LoadedModel:
    """Return a model with what formulas can name: for a game, the fields of its states."""
    import attrs
    import numpy as np

    from gamedp.adapters.loaded import LoadedModel
    from gamedp.model.model import Model

    if isinstance(given, LoadedModel):
        return given
    model = given if isinstance(given, Model) else compile_rules(given)
    if not isinstance(model, Model):
        message = "formulas are about ordinary games and models; this game is staged."
        raise UnsupportedProblemError(message)
    if model.has_swaps:
        message = (
            "formulas cannot be asked of a game whose players change places: a state stands for "
            "another one there, and its fields are not those of that state. Leave `canonical` out."
        )
        raise UnsupportedProblemError(message)
    named = attrs.evolve(model, variables=dict(model.variables) | _fields(model))
    rewards = {} if model.is_general_sum else {"reward": model.rewards}
    kept = (
        {"reward": model.fractions["rewards"]} if rewards and "rewards" in model.fractions else {}
    )
    game = None if model.rules is None else type(model.rules.game).__name__
    return LoadedModel(
        model=named,
        rewards=rewards,
        fractions=kept,
        rounding={"reward": model.rounding[1:]} if rewards else {},
        means=frozenset({"reward"} if rewards and model.mean_rewards else ()),
        owners=model.players.astype(np.int64),
        num_players=model.num_players,
        path=Path(game or "model"),
    )


def _fields(model: Model) -> dict[str, Any]:
    """Return the fields of a game's states that are integers or truth values, as variables."""
    import numpy as np

    from gamedp.results.columns import fields_of
    from gamedp.runtime.encoding import declared_fields

    if model.states is None or not model.num_states:
        return {}
    declared = declared_fields(model.state(0)) or {}
    return {
        name: column.astype(np.bool_ if isinstance(declared.get(name), bool) else np.int64)
        for name, column in fields_of(model).items()
        if column.dtype.kind in "biu"
    }
