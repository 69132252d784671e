"""Models in files: what is asked of them, and their answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import gamedp
from gamedp.adapters import LoadedModel
from gamedp.cli import report
from gamedp.cli.keeping import kept_in
from gamedp.cli.options import (
    FileOptions,
    KeepOptions,
    Method,
    ObjectiveOptions,
    OutputOptions,
)
from gamedp.cli.watch import watch
from gamedp.errors import InvalidParameterError, UnknownNameError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective

__all__ = ["Question", "model_with_digest", "question_about", "solve_file"]


WHOLE = re.compile(r"-?\d{1,18}")


@attrs.frozen(eq=False)
class Question:
    """What is asked of a model: an objective, and how the options said it."""

    model: Model
    objective: Objective
    words: dict[str, Any]


def solve_file(
    name: str,
    file: FileOptions,
    method: Method,
    output: OutputOptions,
    keep: KeepOptions,
) -> None:
    """Solve the model in a file and print what is known of its start; save what is asked for.

    Raises
    ------
    GamedpError
        If the file or the options make no sense, or the solver stops too early.
    """
    max_bytes = method.explore.for_file()
    method.objective.name()  # what contradicts is said before a large file is read
    loaded = gamedp.read_model(name, coalition=file.coalition, max_bytes=max_bytes)
    question = question_about(loaded, file, method.objective)
    failure = None
    try:
        with watch(quiet=output.quiet) as progress:
            solution = gamedp.solve(
                question.model, question.objective, progress=progress, **method.solver.keywords()
            )
    except gamedp.NotSolvedError as error:
        solution, failure = error.solution, error
    kept = kept_in(solution, keep)
    if output.json:
        facts = report.facts(name, solution) | {"objective": question.words, "notes": loaded.notes}
        facts |= _first_action(loaded, solution)
        del facts["parameters"]
        report.print_json({"model": facts.pop("game")} | facts)
    else:
        words = ", ".join(f"{name} {word}" for name, word in question.words.items())
        pairs = [("model", repr(loaded)), *report.value_lines(solution)]
        pairs += _first_action(loaded, solution).items()
        pairs += [
            (label, words.removeprefix("name ") if label == "objective" else text)
            for label, text in report.measures(solution)
        ]
        pairs += [("note", note) for note in loaded.notes]
        print(report.lines([*pairs, *kept]))
    if failure is not None:
        raise failure


def _first_action(loaded: LoadedModel, solution: gamedp.Solution) -> dict[str, str]:
    """Return what to do at the start by its name in the file, if there is one start and a choice.

    No word of a policy that is not known.
    """
    start = loaded.model.initial_states[0]
    begin, end = loaded.model.choice_offsets[start : start + 2].tolist()
    if len(loaded.model.initial_states) > 1 or end - begin < 2:
        return {}
    return {"action": loaded.action_name(int(solution.policy[start]))}


def question_about(loaded: LoadedModel, file: FileOptions, options: ObjectiveOptions) -> Question:
    """Return what is asked of a model."""
    name, optimum = options.name(), options.wanted()
    if file.reach is not None:
        others = {"--target": file.target, "--reward": file.reward, "--draw": options.draw}
        given = [option for option, value in others.items() if value is not None]
        if name != "total" or given:
            other = given[0] if given else f"objective {name}"
            message = f"--reach does not go with {other}; give one of them."
            raise InvalidParameterError(message)
        allowed = None if file.allowed is None else _states(loaded, file.allowed, "--allowed")
        goal = gamedp.Reachability(_states(loaded, file.reach, "--reach"), allowed, optimum)
        words = {"name": "reach", "target": file.reach, "allowed": file.allowed}
        return Question(loaded.model, goal, _given(words | {"optimum": optimum}))
    if file.allowed is not None:
        message = "--allowed needs --reach: it says on which states one may get there."
        raise InvalidParameterError(message)
    if file.target is not None and name != "total":
        message = f"--target does not go with the objective {name}."
        raise InvalidParameterError(message)
    reward = _reward(loaded, file.reward)
    objective = options.make()
    if file.target is not None:
        until = _states(loaded, file.target, "--target")
        objective = gamedp.TotalReward(optimum, until=until)
    asked = {
        "name": name,
        "reward": reward,
        "until": file.target,
        "discount": options.discount,
        "horizon": options.horizon,
        "optimum": optimum,
    }
    return Question(loaded.with_rewards(reward), objective, _given(asked))


def model_with_digest(
    loaded: LoadedModel, objective: Objective, digest: str
) -> tuple[Model, dict[str, str]]:
    """Return the model in a file that a certificate is of, and words for its objective.

    The model has those of the file's rewards with which it has the digest; it is as it is if it
    never has. The words say which rewards these are, and by which labels sets of states are known.
    """
    words = {}
    for option in attrs.fields(type(objective)):
        value = getattr(objective, option.name)
        if isinstance(value, np.ndarray):
            words[option.name] = _label_of(loaded, value)
        elif value is not None:
            words[option.name] = str(value)
    if loaded.model.digest() == digest:
        return loaded.model, words
    for reward in loaded.rewards:
        model = loaded.with_rewards(reward)
        if model.digest() == digest:
            return model, {"reward": reward} | words
    return loaded.model, words


def _label_of(loaded: LoadedModel, states: NDArray[np.bool_]) -> str:
    """Return the label that just these states have; how many they are if there is none."""
    for label, mask in loaded.labels.items():
        if np.array_equal(mask, states):
            return label
    return f"{np.count_nonzero(states):,} of {len(states):,} states"


def _given(words: dict[str, Any]) -> dict[str, Any]:
    return {name: word for name, word in words.items() if word is not None}


def _reward(loaded: LoadedModel, name: str | None) -> str:
    """Return which of the file's rewards is meant."""
    if name is not None:
        return name
    if len(loaded.rewards) == 1:
        return next(iter(loaded.rewards))
    labels = ", ".join(loaded.labels) or "none"
    message = (
        f"--reward must say which reward counts: {', '.join(loaded.rewards)}."
        if loaded.rewards
        else f"{loaded.path} has no rewards; --reach asks for a probability. Its labels: {labels}."
    )
    raise InvalidParameterError(message)


def _states(loaded: LoadedModel, text: str, option: str) -> NDArray[np.bool_] | list[int]:
    """Return the states that a label has, that are listed, or in which variables are so.

    Raises
    ------
    UnknownNameError
        If there is no such label or state.
    """
    numbers = text.split(",")
    if text not in loaded.labels and "=" in text:
        return _where(loaded, numbers, option)
    if text in loaded.labels or not all(number.isdecimal() for number in numbers):
        return loaded.states(text)
    states, end = [int(number) for number in numbers], loaded.model.num_states
    if max(states) >= end:
        message = f"{option}: there is no state {max(states)}; they are numbered 0 to {end - 1}."
        raise UnknownNameError(message)
    return states


def _where(loaded: LoadedModel, conditions: list[str], option: str) -> NDArray[np.bool_]:
    """Return the states in which variables have values, as in ``x=2``, ``b=true``."""
    found = np.ones(loaded.model.num_states, np.bool_)
    for condition in conditions:
        name, _, value = condition.partition("=")
        if name not in loaded.variables:
            kind = "variable"
            raise UnknownNameError.nearest(kind, name, loaded.variables)
        column = loaded.variables[name]
        words = ("false", "true") if column.dtype == np.bool_ else ()
        if value not in words and (words or not WHOLE.fullmatch(value)):
            wanted = " or ".join(words) or "a whole number"
            message = f"{option}: {name} is {wanted}, not {shown(value)}."
            raise InvalidParameterError(message)
        found &= column == (words.index(value) if words else int(value))
    if not found.any():
        message = f"{option}: there is no state with {', '.join(conditions)}."
        raise UnknownNameError(message)
    return found
