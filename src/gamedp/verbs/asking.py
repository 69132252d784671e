"""Formulas about models: `ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.errors import InvalidParameterError, UnknownNameError, UnsupportedProblemError, shown
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

EXACT_SECONDS = 60.0
"""The time for exact numbers where a bound is undecided, if no limit is given."""


def ask(
    loaded: LoadedModel | Model | Game,
    formula: str,
    **options: Any,
) -> Answer:
    """Answer a formula about a model: a probability, a reward, or whether a bound holds.

    Parameters
    ----------
    loaded : LoadedModel, Model or game
        What :func:`gamedp.read_model` returns; or a model, or a game, whose variables are the fields
        of its states, and whose players are numbered from 1.
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
        If no solver supports what is asked, or players of the game change places.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> answer = gamedp.ask(Matches(matches=6), "<<1>> Pmax=? [F left=0 & player=2]")
    >>> answer.value()
    0.0
    """
    from gamedp.languages.formulas import read_formula
    from gamedp.questions.answers import Answer
    from gamedp.questions.formulas import AS_ASKED, CLOSE, EXACTLY, Asking

    if not isinstance(formula, str):
        message = f"a formula is a text, and not {shown(formula)}."
        raise InvalidParameterError(message)
    subject = _subject(loaded)
    name, text = _text_of(subject, formula)

    def solved(model: Model, objective: Objective, closely: int) -> Solution:
        if closely == AS_ASKED:
            return solve(model, objective, **options)
        kept = {name: value for name, value in options.items() if name in ("progress",)}
        if closely == EXACTLY:
            from gamedp.solvers import ExactPolicyIteration

            seconds = options.get("max_seconds", EXACT_SECONDS)
            return solve(model, objective, ExactPolicyIteration(max_seconds=seconds), **kept)
        seconds = options.get("max_seconds", float("inf"))
        return solve(model, objective, tolerance=CLOSE, max_seconds=seconds, **kept)

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


def _text_of(loaded: LoadedModel, formula: str) -> tuple[str, str]:
    """Return what to call a formula, and its text; that of a property, if it is the name of one."""
    properties = getattr(loaded, "properties", {})
    if formula in properties:
        return f"property {formula}", properties[formula]
    return "the formula", formula


def _subject(given: Any) -> LoadedModel:
    """Return a model with what formulas can name: for a game, the fields of its states."""
    import attrs
    import numpy as np

    from gamedp.adapters.loaded import LoadedModel
    from gamedp.model.model import Model
    from gamedp.results.columns import fields_of

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
    variables = dict(model.variables)
    if model.states is not None:
        fields = fields_of(model).items()
        variables |= {name: column for name, column in fields if column.dtype.kind in "biu"}
    named = attrs.evolve(
        model,
        variables={
            name: column if column.dtype == np.bool_ else column.astype(np.int64)
            for name, column in variables.items()
        },
    )
    rewards = {} if model.is_general_sum else {"reward": model.rewards}
    kept = (
        {"reward": model.fractions["rewards"]} if rewards and "rewards" in model.fractions else {}
    )
    game = None if model.rules is None else type(model.rules.game).__name__
    return LoadedModel(
        model=named,
        rewards=rewards,
        fractions=kept,
        owners=model.players.astype(np.int64),
        num_players=model.num_players,
        path=Path(game or "model"),
    )
