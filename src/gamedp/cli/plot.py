"""``gamedp plot``: a picture of a game, a model or a solution, in a file."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import attrs
from cyclopts import Group, Parameter

import gamedp
from gamedp.cli import report
from gamedp.cli.games import (
    is_saved,
    load_saved,
    make_game,
    position_of,
    starts_of,
    state_where,
)
from gamedp.cli.options import (
    FILE,
    METHOD,
    OUTPUT,
    FileOptions,
    Flag,
    GameOrFile,
    GameSettings,
    Method,
    OutputOptions,
    SavedGame,
    StateTexts,
    check_file,
)
from gamedp.cli.report import watch
from gamedp.cli.solve import asked_of, names_file, solved
from gamedp.cli.texts import assignments, read_as, refuse
from gamedp.errors import UnknownNameError
from gamedp.runtime.files import write_whole

if TYPE_CHECKING:
    from gamedp.model.objectives import Objective


Kind: TypeAlias = Literal[
    "default",
    "values",
    "policy",
    "actions",
    "surface",
    "tree",
    "board",
    "components",
    "stages",
    "payoffs",
    "survival",
    "sweeps",
    "improvements",
]

UNSOLVED = {"board", "components", "sweeps", "improvements"}
"""The pictures for which nothing is solved."""

FORMATS = (".png", ".svg", ".pdf")

DOTS_PER_INCH = 150

STEPS = 100
"""The number of sweeps, policies or plies that are shown."""


@Parameter(name="*", group=Group("Picture", sort_key=0))
@attrs.frozen(kw_only=True)
class PictureOptions:
    """The picture.

    Parameters
    ----------
    kind : str
        Choose the picture; if not given, the one that suits the answer. `payoffs` and `survival`
        are of best play; `sweeps` and `improvements` show how methods of the textbooks converge.
    output : Path
        Write the picture to this file, which ends in .png, .svg or .pdf; if not given, one in this
        folder, with the name of the game.
    fields : str
        Name the fields of the state along the axes, with commas between them, as in `own,turn`.
    where : list of str
        Fix other fields, as in `opponent=24`; repeatable.
    action : str
        Show only where this action is best, by its number, or as Python writes it; for `values` and
        `surface`.
    player : int
        Show the values of this player, from 0; for `values`, `actions`, `stages` and `payoffs`.
    arrows : bool
        Show where the best action leads, on a grid; for `policy`.
    depth : int
        Show so many actions from the root; for `tree`.
    steps : int
        Show so many; for `sweeps`, `improvements` and `survival`.
    """

    kind: Kind = "default"
    output: Path | None = None
    fields: str | None = None
    where: list[str] | None = None
    action: str | None = None
    player: int | None = None
    arrows: Flag = False
    depth: int | None = None
    steps: int | None = None

    def check(self) -> None:
        """Refuse options that the picture does not take, and a file that cannot be written."""
        takes = KINDS[self.kind][0]
        for name, value in attrs.asdict(self).items():
            if _is_given(value) and name not in {"kind", "output", *takes}:
                kinds = ", ".join(kind for kind, (names, _) in KINDS.items() if name in names)
                refuse(f"--{name} is for --kind {kinds}; this is {self.kind}.")
        check_file(self.output, "--output")
        if self.output is not None and self.output.suffix.lower() not in FORMATS:
            refuse(f"{self.output} ends in none of {', '.join(FORMATS)}.")

    def axes(self) -> list[str]:
        """Return the fields along the axes."""
        return [] if self.fields is None else [name.strip() for name in self.fields.split(",")]

    def fixed(self) -> dict[str, int]:
        """Return the fields that are fixed, and their values."""
        texts = assignments(self.where or (), option="--where")
        return {name: read_as(name, text, int) for name, text in texts.items()}

    def keywords_of(self, *names: str) -> dict[str, Any]:
        """Return those of some options that are set, as keywords of a picture."""
        options = {name: getattr(self, name) for name in names}
        return {name: value for name, value in options.items() if _is_given(value)}

    @property
    def most(self) -> int:
        """The number of steps that are shown."""
        return STEPS if self.steps is None else self.steps


def _is_given(value: Any) -> bool:
    """Return whether an option is set; 0 is a number like others."""
    return value is not None and value is not False


PICTURE = PictureOptions()


def plot(
    game: GameOrFile,
    /,
    *,
    picture: PictureOptions = PICTURE,
    state: StateTexts = None,
    rules: SavedGame = None,
    settings: GameSettings = None,
    file: FileOptions = FILE,
    method: Method = METHOD,
    output: OutputOptions = OUTPUT,
) -> None:
    """Draw a game, a model in a file or a saved solution, and write the picture to a file.

    It is solved first, unless its picture needs no solution. The folder may be one that
    `gamedp solve --save` has written.
    """
    picture.check()
    if state and "state" not in KINDS[picture.kind][0]:
        refuse(f"--state is for --kind actions, tree, board, sweeps; this is {picture.kind}.")
    thing, objective, failure = _thing(game, picture, rules, settings, file, method, output)
    position = _position(thing, state)
    ax = KINDS[picture.kind][1](_Subject(thing, objective, position), picture)
    path = picture.output or Path(
        f"{_plain(game)}{'' if picture.kind == 'default' else f'-{picture.kind}'}.png"
    )
    _write(path, ax.get_figure())
    if output.json:
        report.print_json({"game": game, "kind": picture.kind, "picture": str(path)})
    else:
        print(report.lines([("picture in", str(path))]))
    if failure is not None:
        raise failure


@attrs.frozen
class _Subject:
    """The subject of a picture: a game, model or solution; its objective; and a position."""

    thing: Any
    objective: Objective
    state: Any

    @property
    def model(self) -> Any:
        """The model, of a solution or itself."""
        return getattr(self.thing, "model", self.thing)


def _thing(
    game: str,
    picture: PictureOptions,
    rules: str | None,
    settings: list[str] | None,
    file: FileOptions,
    method: Method,
    output: OutputOptions,
) -> tuple[Any, Objective, gamedp.NotSolvedError | None]:
    """Return what is drawn, its objective, and the error if it could not be solved."""
    if is_saved(game):
        if (method, file) != (METHOD, FILE):
            refuse(f"{game} holds a solution: the options for solving do not apply.")
        solution = load_saved(game, rules, settings)
        return solution, solution.objective, None
    if names_file(game, rules):
        question = asked_of(game, settings, file, method, quiet=output.quiet)
        if picture.kind in UNSOLVED:
            return question.model, question.objective, None
        answer = solved(game, question, method, quiet=output.quiet)
        return answer.solution, question.objective, answer.failure
    file.refuse()
    made, goal = make_game(game, settings or ()), method.objective.make()
    if picture.kind == "board":
        return made, goal, None
    if picture.kind in UNSOLVED:
        with watch(quiet=output.quiet) as progress:
            model = gamedp.compile(made, progress=progress, **method.explore.keywords())
        return model, goal, None
    answer = solved(game, made, method, quiet=output.quiet)
    return answer.solution, goal, answer.failure


def _position(thing: Any, texts: list[str] | None) -> Any:
    """Return the named position, or None for the start."""
    if not texts:
        return None
    model = getattr(thing, "model", thing)
    rules = getattr(model, "rules", None)
    if isinstance(model, gamedp.Model) and rules is None and not all(map(str.isdecimal, texts)):
        return state_where(model, texts, "--state")
    origin = model if rules is None else rules
    if not isinstance(model, (gamedp.Model, gamedp.StagedModel)):
        origin = gamedp.rules.Rules(thing)
    return position_of(starts_of(origin), texts, "--state")


def _default(drawn: _Subject, picture: PictureOptions) -> Any:
    options = {"where": picture.fixed()} if picture.where else {}
    return gamedp.pictures.plot(drawn.thing, *picture.axes(), **options)


def _slices(draw: Callable[..., Any], drawn: _Subject, picture: PictureOptions) -> Any:
    keywords = picture.keywords_of("player", "arrows")
    if picture.action is not None:
        keywords["action"] = _action_in(drawn.thing, picture.action)
    return draw(drawn.thing, *picture.axes(), where=picture.fixed(), **keywords)


def _action_in(thing: Any, text: str) -> Any:
    """Return the action in a text."""
    actions = getattr(getattr(thing, "model", None), "actions", ())
    if not actions:
        return read_as("--action", text, int)
    found = {name: action for action in actions for name in (str(action), repr(action))}
    if text not in found:
        kind = "action"
        raise UnknownNameError.nearest(kind, text, list(found))
    return found[text]


def _surface(drawn: _Subject, picture: PictureOptions) -> Any:
    if len(picture.axes()) != 3 or picture.action is None:
        refuse(
            "--kind surface takes three fields and an action, as in `--fields own,opponent,turn "
            "--action 1`."
        )
    return _slices(gamedp.pictures.plot_surface, drawn, picture)


def _best_play(drawn: _Subject) -> Any:
    """Return the evaluation of best play of all."""
    return gamedp.evaluate(drawn.model, [drawn.thing] * drawn.model.num_players)


def _sweeps(drawn: _Subject, picture: PictureOptions) -> Any:
    trace = gamedp.policies.trace_sweeps(drawn.model, drawn.objective, sweeps=picture.most)
    return gamedp.pictures.plot_trace(trace, state=drawn.state)


def _improvements(drawn: _Subject, picture: PictureOptions) -> Any:
    trace = gamedp.policies.trace_improvements(drawn.model, drawn.objective, most=picture.most)
    return gamedp.pictures.plot_trace(trace, state=drawn.state)


KINDS: dict[str, tuple[set[str], Callable[[_Subject, PictureOptions], Any]]] = {
    "default": ({"fields", "where"}, _default),
    "values": (
        {"fields", "where", "action", "player"},
        lambda *options: _slices(gamedp.pictures.plot_values, *options),
    ),
    "policy": (
        {"fields", "where", "arrows"},
        lambda *options: _slices(gamedp.pictures.plot_policy, *options),
    ),
    "actions": (
        {"state", "player"},
        lambda drawn, picture: gamedp.pictures.plot_actions(
            drawn.thing, drawn.state, player=picture.player or 0
        ),
    ),
    "surface": ({"fields", "where", "action"}, _surface),
    "tree": (
        {"state", "depth"},
        lambda drawn, picture: gamedp.pictures.plot_tree(
            drawn.thing, drawn.state, **picture.keywords_of("depth")
        ),
    ),
    "board": ({"state"}, lambda drawn, _: gamedp.pictures.plot_board(drawn.thing, drawn.state)),
    "components": (set(), lambda drawn, _: gamedp.pictures.plot(drawn.model)),
    "stages": (
        {"player"},
        lambda drawn, picture: gamedp.pictures.plot_stages(drawn.thing, player=picture.player or 0),
    ),
    "payoffs": (
        {"player"},
        lambda drawn, picture: gamedp.pictures.plot_distribution(
            _best_play(drawn), player=picture.player or 0
        ),
    ),
    "survival": (
        {"steps"},
        lambda drawn, picture: gamedp.pictures.plot_survival(
            _best_play(drawn).survival(picture.most)
        ),
    ),
    "sweeps": ({"state", "steps"}, _sweeps),
    "improvements": ({"state", "steps"}, _improvements),
}
"""The options that each kind of picture takes, and what draws it."""


def _plain(game: str) -> str:
    """Return the name of a game as that of a file.

    >>> _plain("path/to/file.py:MyGame"), _plain("wubbel:20"), _plain("model.umb")
    ('MyGame', 'wubbel-20', 'model')
    """
    name = game.rpartition(":")[2] if ".py:" in game else Path(game).name.split(".", maxsplit=1)[0]
    return re.sub(r"\W+", "-", name).strip("-") or "picture"


def _write(path: Path, figure: Any) -> None:
    """Write a figure to a file, completely or not at all."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower()[1:], dpi=DOTS_PER_INCH)
    write_whole(path, lambda file: file.write(buffer.getvalue()))
