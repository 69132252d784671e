"""Models in files: questions about them, and the answers."""

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
from gamedp.cli.positions import states_where
from gamedp.cli.watch import watch
from gamedp.errors import InvalidParameterError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.results.solution import Solution

__all__ = [
    "Answer",
    "Question",
    "answered",
    "asked_of",
    "model_with_digest",
    "question_about",
    "solve_file",
]


NUMBER = re.compile(r"\d{1,20}")
"""A state's number; more digits than there can be are not converted."""


@attrs.frozen(eq=False)
class Question:
    """A question about the model in a file: an objective, and the options that gave it."""

    loaded: LoadedModel
    model: Model
    objective: Objective
    words: dict[str, Any]


@attrs.frozen(eq=False)
class Answer:
    """The answer for the model in a file; `failure` if the solver has stopped too early."""

    question: Question
    solution: Solution
    failure: gamedp.NotSolvedError | None

    def facts(self, name: str, state: int | None = None) -> dict[str, Any]:
        """Return the facts about a state, or about the start, for JSON; `name` is the file's."""
        facts = self.solution.facts(state)
        facts |= {"objective": self.question.words, "notes": self.question.loaded.notes}
        del facts["parameters"]
        return {"model": name} | facts

    def measures(self) -> list[tuple[str, str]]:
        """Describe in words the basis of the answer and the effort."""
        words = ", ".join(f"{name} {word}" for name, word in self.question.words.items())
        return [
            (label, words.removeprefix("name ") if label == "objective" else text)
            for label, text in report.measures(self.solution)
        ] + [("note", note) for note in self.question.loaded.notes]


def asked_of(name: str, file: FileOptions, method: Method) -> Question:
    """Read a file, and return the question about its model.

    Raises
    ------
    GamedpError
        If the file or the options make no sense.
    """
    max_bytes = method.explore.for_file()
    method.objective.name()  # contradictions are reported before a large file is read
    loaded = file.read(name, max_bytes)
    return question_about(loaded, file, method.objective)


def answered(question: Question, method: Method, *, quiet: bool) -> Answer:
    """Solve the model in a file."""
    failure = None
    try:
        with watch(quiet=quiet) as progress:
            solution = gamedp.solve(
                question.model, question.objective, progress=progress, **method.solver.keywords()
            )
    except gamedp.NotSolvedError as error:
        solution, failure = error.solution, error
    return Answer(question, solution, failure)


def solve_file(
    name: str,
    file: FileOptions,
    method: Method,
    output: OutputOptions,
    keep: KeepOptions,
) -> None:
    """Solve the model in a file and print the value of its start; save the requested results.

    Raises
    ------
    GamedpError
        If the file or the options make no sense, or the solver stops too early.
    """
    answer = answered(asked_of(name, file, method), method, quiet=output.quiet)
    kept = kept_in(answer.solution, keep)
    action = _first_action(answer.solution)
    if output.json:
        report.print_json(answer.facts(name) | action)
    else:
        pairs = [("model", repr(answer.question.loaded)), *report.value_lines(answer.solution)]
        print(report.lines([*pairs, *action.items(), *answer.measures(), *kept]))
    if answer.failure is not None:
        raise answer.failure


def _first_action(solution: Solution) -> dict[str, str]:
    """Return the name of the best action at the start, if there is a single start and a choice.

    Nothing is returned if the policy is unknown.
    """
    if len(solution.model.initial_states) > 1 or len(solution.actions()) < 2:
        return {}
    action = solution.best_action()
    return {} if action is None else {"action": solution.model.action_name(action)}


def question_about(loaded: LoadedModel, file: FileOptions, options: ObjectiveOptions) -> Question:
    """Return the question about a model."""
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
        return Question(loaded, loaded.model, goal, _given(words | {"optimum": optimum}))
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
    return Question(loaded, loaded.with_rewards(reward), objective, _given(asked))


def model_with_digest(
    loaded: LoadedModel, objective: Objective, digest: str
) -> tuple[Model, dict[str, str]]:
    """Return the model in a file that a certificate belongs to, and its objective in words.

    The model gets those rewards of the file with which its digest matches; it is unchanged if none
    match. The words name these rewards, and the labels of the sets of states.
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
    """Return the label of exactly these states; their number if there is none."""
    for label, mask in loaded.labels.items():
        if np.array_equal(mask, states):
            return label
    return f"{np.count_nonzero(states):,} of {len(states):,} states"


def _given(words: dict[str, Any]) -> dict[str, Any]:
    return {name: word for name, word in words.items() if word is not None}


def _reward(loaded: LoadedModel, name: str | None) -> str:
    """Return the selected rewards of the file."""
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
    """Return the states with a label, in a list, or with given values of variables.

    Raises
    ------
    UnknownNameError
        If there is no such label or state.
    """
    numbers = text.split(",")
    if text not in loaded.labels and "=" in text:
        return states_where(loaded.model, numbers, option)
    if text in loaded.labels or not all(map(NUMBER.fullmatch, numbers)):
        return loaded.states(text)
    states, end = [int(number) for number in numbers], loaded.model.num_states
    if max(states) >= end:
        message = f"{option}: there is no state {max(states)}; they are numbered 0 to {end - 1}."
        raise UnknownNameError(message)
    return states
