"""``gamedp solve``, and the questions to games and models in files that other commands share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

import gamedp
from gamedp.cli import report
from gamedp.cli.games import is_model_file, make_game
from gamedp.cli.options import (
    FILE,
    KEEP,
    METHOD,
    OUTPUT,
    FileOptions,
    Fresh,
    GameOrFile,
    GameSettings,
    KeepOptions,
    Method,
    ObjectiveOptions,
    OutputOptions,
)
from gamedp.cli.report import watch
from gamedp.cli.texts import refuse
from gamedp.errors import UnknownNameError
from gamedp.questions.changes import bare
from gamedp.questions.expressions import states_of, states_where
from gamedp.rules.game import is_staged
from gamedp.verbs.certifying import certify
from gamedp.verbs.saving import save, write_policy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gamedp.adapters import LoadedModel
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.questions.answers import Answer
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution


def solve(
    game: GameOrFile,
    /,
    *,
    settings: GameSettings = None,
    fresh: Fresh = False,
    keep: KeepOptions = KEEP,
    file: FileOptions = FILE,
    method: Method = METHOD,
    output: OutputOptions = OUTPUT,
) -> None:
    """Solve a game, or a model in a file: print its value, its bounds, and what they rest on."""
    keep.check()
    if file.property is not None:
        _solve_property(game, settings, file, method, keep, output, fresh=fresh)
        return
    action = {}
    if names_file(game, fresh=fresh):
        answer = solved(
            game,
            asked_of(game, settings, file, method, quiet=output.quiet),
            method,
            quiet=output.quiet,
        )
        action = _first_action(answer.solution)
    else:
        file.refuse()
        made = make_game(game, settings or ())
        answer = solved(game, made, method, fresh=fresh, quiet=output.quiet)
    kept = kept_in(answer.solution, keep)
    if output.json:
        report.print_json(answer.facts() | action)
    else:
        pairs = [*answer.head(), *report.value_lines(answer.solution), *action.items()]
        print(report.lines([*pairs, *answer.measures(), *kept]))
    if answer.failure is not None:
        raise answer.failure


def _solve_property(
    name: str,
    settings: list[str] | None,
    file: FileOptions,
    method: Method,
    keep: KeepOptions,
    output: OutputOptions,
    *,
    fresh: bool,
) -> None:
    """Answer a formula about a model in a file, or about a game."""
    answer = answered(name, settings, file, method, fresh=fresh, quiet=output.quiet)
    solution = answer.solution
    if solution is None and (keep.save or keep.certificate or keep.policy):
        refuse(
            f"{answer.formula} needs no solution, so there is none to keep; --csv has its answer."
        )
    if keep.csv is not None:
        from gamedp.storage.texts import write_csv  # noqa: PLC0415 - for this option alone

        write_csv(keep.csv, answer.to_columns())
    kept = [] if solution is None else kept_in(solution, attrs.evolve(keep, csv=None))
    if output.json:
        kind = "model" if is_model_file(name) else "game"
        report.print_json({kind: name, **answer.facts()})
        return
    pairs = [("model", repr(answer.loaded)), ("formula", answer.formula)]
    if answer.is_boolean:
        pairs.append(("holds", str(answer.holds)))
    elif len(answer.starts) == 1:
        pairs += report.bounded(answer.value(), *answer.bounds(), player=None)
    else:
        low, high = answer.bounds()
        pairs.append(("values", f"{low!r} to {high!r}, in {len(answer.starts):,} initial states"))
    pairs += [] if solution is None else report.measures(solution)
    notes = [("note", note) for note in (*answer.notes, *answer.loaded.notes)]
    if solution is not None and keep.certificate is not None:
        loaded = answer.loaded
        if model_with_digest(loaded.model, solution.model.digest(), loaded) is None:
            folder = keep.save or "FOLDER"
            saved = "" if keep.save else f"; --save {folder} keeps it"
            note = (
                f"the proof is of a model that was made for this formula{saved}. Check it with "
                f"gamedp verify {folder} {keep.certificate}."
            )
            notes.append(("note", note))
    print(report.lines([*pairs, *notes, *kept]))


def answered(
    name: str,
    settings: list[str] | None,
    file: FileOptions,
    method: Method,
    *,
    fresh: bool = False,
    quiet: bool,
) -> Answer:
    """Answer the formula of an option.

    Raises
    ------
    GamedpError
        If the file, the formula or the options make no sense.
    """
    method.objective.refuse("--property says what is wanted")
    for option in ("reach", "allowed", "target", "reward"):
        if getattr(file, option) is not None:
            refuse(f"--{option} cannot be combined with --property, which says what is wanted.")
    thing: Any
    if names_file(name, fresh=fresh):
        thing = _read(name, settings, file, method, quiet=quiet)
        options = method.solver.keywords()
    else:
        attrs.evolve(file, property=None).refuse()
        thing = make_game(name, settings or ())
        options = method.solver.keywords()
        thing = gamedp.compile(thing, **method.explore.keywords())
    with watch(quiet=quiet) as progress:
        return gamedp.ask(thing, str(file.property), progress=progress, **options)


def names_file(
    game: str,
    rules: str | None = None,
    *,
    fresh: bool = False,
) -> bool:
    """Return whether this is a model in a file; refuse options for games and saved solutions."""
    if rules is not None:
        refuse(f"--game is for the folder of a saved solution; {game} is not one.")
    is_file = is_model_file(game)
    if is_file and fresh:
        refuse(f"--fresh is for games; {game} is a file.")
    return is_file


def solved(name: str, thing: Any, method: Method, *, fresh: bool = False, quiet: bool) -> Solved:
    """Solve a game, or answer the question about a model in a file.

    The stored table of a staged game is read unless `fresh` is set.
    """
    question = thing if isinstance(thing, Question) else None
    if question is None:
        problem: tuple[Any, ...] = (thing,)
        keywords = method.keywords() | {"keep": is_staged(thing) and not fresh}
    else:
        problem, keywords = (question.model, question.objective), method.solver.keywords()
    try:
        with watch(quiet=quiet) as progress:
            solution = gamedp.solve(*problem, progress=progress, **keywords)
    except gamedp.NotSolvedError as error:
        return Solved(name, error.solution, error, question)
    return Solved(name, solution, None, question)


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
class Solved:
    """A solution of a game, or of the `question` about a file, by the user's `name` of it.

    `failure` is the error if the solver has stopped too early, `answer` the one to a formula if the
    question was one.
    """

    name: str
    solution: Any
    failure: gamedp.NotSolvedError | None = None
    question: Question | None = None
    answer: Answer | None = None

    def facts(self, state: Any = None) -> dict[str, Any]:
        """Return the facts about a state, or about the start, for JSON."""
        facts: dict[str, Any] = self.solution.facts(state)
        if self.question is not None:
            facts |= {"objective": self.question.words, "notes": self._notes()}
        if self.answer is not None:
            facts = {"formula": self.answer.formula} | facts | {"notes": self._notes()}
        if self.solution.model.rules is not None:
            return {"game": self.name} | facts
        del facts["parameters"]
        return {"model": self.name} | facts

    def head(self) -> list[tuple[str, str]]:
        """Return in words what is solved."""
        if self.question is not None:
            return [("model", repr(self.question.loaded))]
        if self.answer is not None:
            return [("model", repr(self.answer.loaded)), ("formula", self.answer.formula)]
        rules = self.solution.model.rules
        return [] if rules is None else [("game", report.game_words(rules.game))]

    def measures(self) -> list[tuple[str, str]]:
        """Describe in words the basis of the answer and the effort."""
        measures = report.measures(self.solution)
        if self.question is not None:
            words = ", ".join(f"{name} {word}" for name, word in self.question.words.items())
            measures = [
                (label, words.removeprefix("name ") if label == "objective" else text)
                for label, text in measures
            ]
        return measures + [("note", note) for note in self._notes()]

    def _notes(self) -> list[str]:
        """Return what the answer rests on besides the solution."""
        if self.answer is not None:
            return [*self.answer.notes, *self.answer.loaded.notes]
        return [] if self.question is None else list(self.question.loaded.notes)


def asked_of(
    name: str, settings: list[str] | None, file: FileOptions, method: Method, *, quiet: bool
) -> Question:
    """Read a file, and return the question about its model.

    Raises
    ------
    GamedpError
        If the file or the options make no sense.
    """
    method.objective.name()  # contradictions are reported before a large file is read
    loaded = _read(name, settings, file, method, quiet=quiet)
    return question_about(loaded, file, method.objective)


def _read(
    name: str, settings: list[str] | None, file: FileOptions, method: Method, *, quiet: bool
) -> LoadedModel:
    """Return the model in a file."""
    with watch(quiet=quiet) as progress:
        return file.read(name, settings, method.explore, progress)


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
    if file.property is not None:
        refuse("--property is for `gamedp solve` and `gamedp query`.")
    if file.properties is not None:
        names = ", ".join(loaded.properties)
        refuse(f"--properties needs --property, which says which one is meant: {names}.")
    name, optimum = options.name(), options.wanted()
    if file.reach is not None:
        others = {"--target": file.target, "--reward": file.reward, "--draw": options.draw}
        given = [option for option, value in others.items() if value is not None]
        if name != "total" or given:
            other = given[0] if given else f"objective {name}"
            refuse(f"--reach cannot be combined with {other}; give one of them.")
        allowed = None if file.allowed is None else _states(loaded, file.allowed, "--allowed")
        goal = gamedp.Reachability(_states(loaded, file.reach, "--reach"), allowed, optimum)
        words = {"name": "reach", "target": file.reach, "allowed": file.allowed}
        return Question(loaded, loaded.model, goal, _drop_none(words | {"optimum": optimum}))
    if file.allowed is not None:
        refuse("--allowed needs --reach: it names the states through which play may get there.")
    if file.target is not None and name != "total":
        refuse(f"--target cannot be combined with the objective {name}.")
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
    return Question(loaded, loaded.with_rewards(reward), objective, _drop_none(asked))


def model_with_digest(
    model: Model, digest: str, loaded: LoadedModel | None = None
) -> tuple[Model, dict[str, str]] | None:
    """Return the model that a certificate belongs to, and the rewards of a file in words.

    That is a model as it is, with other rewards of its file, or with none at all, as formulas about
    probabilities take it; None if no digest matches.
    """
    if model.digest() == digest:
        return model, {}
    if loaded is not None:
        for reward in loaded.rewards:
            rewarded = loaded.with_rewards(reward)
            if rewarded.digest() == digest:
                return rewarded, {"reward": reward}
    if model.is_general_sum:  # no formula is asked of it
        return None
    unrewarded = bare(model)
    return (unrewarded, {}) if unrewarded.digest() == digest else None


def objective_in_words(objective: Objective, loaded: LoadedModel) -> dict[str, str]:
    """Return the options of an objective; sets of states by their labels."""
    words = {}
    for option in attrs.fields(type(objective)):
        value = getattr(objective, option.name)
        if isinstance(value, np.ndarray):
            words[option.name] = _label_of(loaded, value)
        elif value is not None:
            words[option.name] = str(value)
    return words


def _label_of(loaded: LoadedModel, states: NDArray[np.bool_]) -> str:
    """Return the label of exactly these states; their number if there is none."""
    for label, mask in loaded.labels.items():
        if np.array_equal(mask, states):
            return label
    return f"{np.count_nonzero(states):,} of {len(states):,} states"


def _drop_none(words: dict[str, Any]) -> dict[str, Any]:
    return {name: word for name, word in words.items() if word is not None}


def _reward(loaded: LoadedModel, name: str | None) -> str:
    """Return the selected rewards of the file."""
    if name is not None:
        return name
    if len(loaded.rewards) == 1:
        return next(iter(loaded.rewards))
    labels = ", ".join(loaded.labels) or "none"
    return refuse(
        f"--reward must say which reward counts: {', '.join(loaded.rewards)}."
        if loaded.rewards
        else f"{loaded.path} has no rewards; --reach asks for a probability. Its labels: {labels}."
    )


def _states(loaded: LoadedModel, text: str, option: str) -> NDArray[np.bool_] | list[int]:
    """Return the states with a label, in a list, or in which an expression is true.

    Raises
    ------
    UnknownNameError
        If there is no such label or state.
    """
    numbers = text.split(",")
    if text in loaded.labels:
        return loaded.states(text)
    if not all(map(NUMBER.fullmatch, numbers)):
        if text.isidentifier() and text not in {*loaded.variables, *loaded.formulas}:
            return loaded.states(text)  # no label: it names the nearest
        return states_where(states_of(loaded), text, option)
    states, end = [int(number) for number in numbers], len(loaded.owners)
    if max(states) >= end:
        message = f"{option}: there is no state {max(states)}; they are numbered 0 to {end - 1}."
        raise UnknownNameError(message)
    return states


def kept_in(solution: Solution | StagedSolution, keep: KeepOptions) -> list[tuple[str, str]]:
    """Save the requested results; describe in words where they are."""
    pairs = []
    if keep.save is not None:
        save(solution, keep.save)
        pairs.append(("saved in", str(keep.save)))
    if keep.certificate is not None:
        save(certify(solution), keep.certificate)
        pairs.append(("proof in", str(keep.certificate)))
    if keep.csv is not None:
        from gamedp.storage.texts import write_csv  # noqa: PLC0415 - for this option alone

        count = write_csv(keep.csv, solution.to_columns())
        pairs.append(("table in", f"{keep.csv}, {count:,} lines under a line of names"))
    if keep.policy is not None:
        write_policy(keep.policy, solution)
        pairs.append(("policy in", str(keep.policy)))
    return pairs
