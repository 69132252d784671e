"""``gamedp kniffel``: single queries, a sheet to play at, and analyses of games."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import attrs
from cyclopts import Group, Parameter

from gamedp.cli.plugin import (
    OUTPUT,
    Flag,
    GameSettings,
    OutputOptions,
    be_lenient,
    make_game,
    print_json,
    values_of,
    watch,
)
from gamedp.errors import InvalidParameterError
from gamedp.games.kniffel import (
    Adviser,
    Card,
    Dialogue,
    Kniffel,
    Opponent,
    Option,
    Outlook,
    Prospect,
    Record,
    RecordOfTwo,
    Situation,
    analyse,
    analyse_two,
    answer,
    answer_for_goal,
    box_names,
    box_number,
    chance_in_words,
    chance_of,
    load_record,
    outlook_against,
    outlook_for_total,
    play_perfectly,
    replay,
    report,
    shown,
)
from gamedp.games.kniffel.boxes import in_words, refuse

NAME = "kniffel"

SECOND = 1 << 32
"""Offset of the seed for the throws of the second player, larger than any drawn seed."""

Words = Annotated[str, Parameter(allow_leading_hyphen=True)]


@Parameter(name="*", group=Group("Playing", sort_key=1))
@attrs.frozen(kw_only=True)
class PlayOptions:
    """Options for playing, recording and viewing a game.

    Parameters
    ----------
    card : str
        Begin with this card, its boxes as in a query but in one text; an empty one if not given.
    seed : int
        Set the seed of the throws; a new one each time if not given.
    auto : bool
        Play the game to its end without asking, with the best decisions.
    record : Path
        Record the game in this file, step by step; continue the game if the file exists.
    replay : Path
        Show a recorded game, step by step.
    analyse : Path
        Show where the points of a recorded game came from, and where they were lost.
    """

    card: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    seed: int | None = None
    auto: Flag = False
    record: Path | None = None
    replay: Path | None = None
    analyse: Path | None = None


PLAY = PlayOptions()
"""The defaults."""


@Parameter(name="*", group=Group("Other goals than points", sort_key=2))
@attrs.frozen(kw_only=True)
class GoalOptions:
    """The goal to maximise instead of the expected points.

    Parameters
    ----------
    against : str
        Advise what is most likely to win against this card, the opponent's: its thirteen boxes in
        one text, or - for an empty card. Without a query, two play at one sheet, and the second
        player begins with this card.
    against_further : int
        Set the number of further Yahtzees on that card, as --further for your own.
    opponent_plays_for : {"points", "victory"}
        Say what the opponent plays for: points, whatever you do; or to win, which takes an exact
        solution.
    opponent_is_next : bool
        Say that the next turn is the opponent's; it is yours if not given.
    draw : float
        Set what a draw counts; a victory counts 1.
    exact : bool
        Solve the last rounds exactly, even if that takes longer than some seconds.
    target : int
        Advise what is most likely to bring at least this total.
    max_contexts : float
        Set how large a table may become: by default 20 million contexts, about a gigabyte; while
        two play, 4 million.
    """

    against: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    against_further: int = 0
    opponent_plays_for: Literal["points", "victory"] = "points"
    opponent_is_next: Flag = False
    draw: float = 0.5
    exact: Flag = False
    target: int | None = None
    max_contexts: float | None = None

    @property
    def is_given(self) -> bool:
        """Whether there is a goal other than points."""
        return self.against is not None or self.target is not None

    @property
    def limits(self) -> dict[str, Any]:
        """The limit of tables, if it is given."""
        return {} if self.max_contexts is None else {"max_contexts": self.max_contexts}

    def opponent(self, rules: Kniffel) -> Opponent:
        """Return the opponent in the options; raise InvalidParameterError if it is not valid."""
        text, further = (self.against or "").strip(), self.against_further
        try:
            card = Card(further=further) if text == "-" else Card.of(text, further=further)
            card.sheet(rules)
        except InvalidParameterError as error:
            message = f"--against: {error}"
            raise InvalidParameterError(message) from error
        return Opponent(card, self.opponent_plays_for, self.opponent_is_next, self.draw)

    def check(self) -> None:
        """Refuse incompatible options."""
        given = [
            "--" + field.name.replace("_", "-")
            for field in attrs.fields(type(self))
            if getattr(self, field.name) != field.default
        ]
        if self.against is not None and self.target is not None:
            refuse("--against, --target cannot be combined: choose one of them.")
        lone = [name for name in given if name not in {"--against", "--target", "--max-contexts"}]
        if lone and self.against is None:
            refuse(f"{', '.join(lone)} needs --against, the opponent's card.")
        if given and not self.is_given:
            refuse(f"{', '.join(given)} needs --against or --target.")


GOAL = GoalOptions()
"""The defaults."""


def kniffel(
    *situation: Words,
    settings: GameSettings = None,
    further: int = 0,
    lang: Literal["de", "en"] | None = None,
    chance: str | None = None,
    play: PlayOptions = PLAY,
    goal: GoalOptions = GOAL,
    output: OutputOptions = OUTPUT,
) -> None:
    """Advise at Kniffel: a single query, or a whole game at the sheet.

    Parameters
    ----------
    situation
        A query: the thirteen boxes of the card from Einser to Chance, a number or - for each; which
        throw was the last, 0 before the first; and its dice, as in
        `- 8 - 16 15 - 15 9 25 30 40 - - 3 13345`. Without it a game begins.
    further
        Set the number of further Yahtzees on the card, where the rules pay for them.
    lang
        Choose German or English; the language of the rules if not given.
    chance
        Print how likely it is to throw what counts in this box within one turn, for a player who
        wants nothing else: Kniffel, "Large Straight", any name or number of a box.
    """
    command = _Command(settings or (), further, lang, play, goal, output)
    command.check(situation, chance)
    path = play.replay or play.analyse
    if situation:
        command.query(Situation.of(*situation, further=further))
    elif chance is not None:
        command.chance(chance)
    elif path is not None:
        command.look_at(path)
    else:
        command.play_game()


@attrs.frozen
class _Command:
    """The command with its options, and all that it does with them."""

    settings: Sequence[str]
    further: int
    language: str | None
    play: PlayOptions
    goal: GoalOptions
    output: OutputOptions

    def check(self, situation: Sequence[str], chance: str | None) -> None:
        """Refuse options that are unknown or incompatible."""
        play, goal = self.play, self.goal
        for word in situation:
            if word.startswith("-") and word != "-":
                refuse(f"Unknown option: {word}. `gamedp {NAME} --help` lists them.")
        goal.check()
        if goal.target is not None and not situation:
            refuse(
                "--target goes with a query: the thirteen boxes of your card, which throw was the "
                "last, and its dice."
            )
        alone: dict[str, Any] = {"--replay": play.replay, "--analyse": play.analyse}
        alone |= {"--auto": play.auto, "--chance": chance}
        for option, value in alone.items():
            if goal.against is not None and value:
                refuse(f"{option} cannot be combined with --against, for a query or a game of two.")
        given = {
            "--card": play.card is not None,
            "--seed": play.seed is not None,
            "--auto": play.auto,
            "--record": play.record is not None,
        }
        modes = {
            "a query": bool(situation),
            "--replay": play.replay is not None,
            "--analyse": play.analyse is not None,
            "--chance": chance is not None,
            "a game": any(given.values()),
        }
        chosen = [mode for mode, is_given in modes.items() if is_given]
        if len(chosen) > 1:
            named = [option for option, is_given in given.items() if is_given]
            parts = [mode for mode in chosen if mode != "a game"] + named
            refuse(f"{', '.join(parts)} cannot be combined: choose one thing to do.")
        if self.output.json and chosen in ([], ["a game"]) and not play.auto:
            refuse("--json cannot be combined with a game that asks; it does with --auto.")

    def query(self, situation: Situation) -> None:
        """Answer a question about one situation."""
        rules, goal = self.rules, self.goal
        language = self.language or rules.language
        adviser = self.adviser(rules)
        facts = {
            "game": NAME,
            "parameters": values_of(rules),
            "card": situation.card.entries,
            "further": situation.card.further,
            "throw": situation.number,
            "dice": shown(situation.dice) if situation.number else None,
            "points": situation.card.total_by(rules),
        }
        if not goal.is_given:
            if self.output.json:
                print_json(facts | _facts(adviser, situation, language))
            else:
                print(answer(adviser, situation, language))
            return
        with watch(quiet=self.output.quiet) as progress:
            options = {"progress": progress} | goal.limits
            if goal.target is not None:
                outlook = outlook_for_total(adviser, situation, goal.target, **options)
            else:
                opponent = goal.opponent(rules)
                outlook = outlook_against(adviser, situation, opponent, exact=goal.exact, **options)
        if self.output.json:
            print_json(facts | _goal_facts(adviser, outlook, language))
        else:
            print(answer_for_goal(adviser, outlook, language))

    def chance(self, box: str) -> None:
        """Print the probability of what counts in a box."""
        rules = self.rules
        number = box_number(box, rules.faces)
        options = ("throws", "dice", "faces", "kniffel_is_full_house")
        chance = chance_of(number, **{name: getattr(rules, name) for name in options})
        language = self.language or rules.language
        name = box_names(language, rules.faces)[number]
        if self.output.json:
            known = {"box": name, "throws": rules.throws, **chance._asdict()}
            print_json({"game": NAME, "parameters": values_of(rules)} | known)
        else:
            print(chance_in_words(chance, name, rules.throws, language))

    def look_at(self, path: Path) -> None:
        """Show a recorded game, step by step, or as an analysis of its points."""
        if self.settings:
            refuse(f"the game in {path} has its rules already: --set cannot be combined with it.")
        game = load_record(path)
        language = self.language or game.rules.language
        adviser = self.adviser_for(game)
        if self.play.replay and not self.output.json:
            replay(game, adviser, print, language)
            return
        found = analyse(game, adviser) if isinstance(game, Record) else analyse_two(game, adviser)
        if self.output.json:
            print_json(found.to_dict(language))
        else:
            print(report(found, language))

    def play_game(self) -> None:
        """Play a game of one player or two, and record it if a file is named."""
        path, as_json = self.play.record, self.output.json
        game = self._new() if path is None or not path.exists() else self._resumed(path)
        language = self.language or game.rules.language
        say: Callable[[str], None] = (lambda _text: None) if as_json else print
        latest = game

        def save(game: Record | RecordOfTwo) -> None:
            nonlocal latest
            if path is not None:
                game.save(path)
            latest = game

        save(game)  # so that a file that cannot be written is detected immediately
        adviser = self.adviser_for(game)
        try:
            if self.play.auto and isinstance(game, Record):
                game = play_perfectly(game, adviser, say, save, language)
                if as_json:
                    print_json(analyse(game, adviser).to_dict(language))
            else:
                be_lenient()
                options: dict[str, Any] = {"exact": self.goal.exact} | self.goal.limits
                if self.goal.is_given:
                    options["opponent"] = self.goal.opponent(game.rules)
                options |= {"ask": input, "say": print, "save": save, "language": language}
                Dialogue(game, adviser, **options).run()
        finally:
            if path is not None:
                name = "saved_whole" if latest.is_over else "saved"
                say(in_words(language, name, file=path))

    @property
    def rules(self) -> Kniffel:
        """The rules of the settings."""
        rules: Kniffel = make_game(NAME, self.settings)
        return rules

    @property
    def _start(self) -> Card:
        """The card at the start of a game."""
        if self.play.card is None:
            return Card(further=self.further)
        return Card.of(self.play.card, further=self.further)

    def adviser(self, rules: Kniffel) -> Adviser:
        """Solve the rules, or load an earlier solution."""
        with watch(quiet=self.output.quiet) as progress:
            return Adviser.of(rules, progress=progress, keep=True)

    def adviser_for(self, game: Record | RecordOfTwo) -> Adviser:
        """Return the adviser for a game, in the language of its stored table: it serves both."""
        rules = game.rules
        return self.adviser(attrs.evolve(rules, language=Kniffel(rules.rules).language))

    def _new(self) -> Record | RecordOfTwo:
        """Return a new game, of two players if there is a card to play against."""
        start, goal = self._start, self.goal
        seed = secrets.randbits(32) if self.play.seed is None else self.play.seed
        rules = self.rules
        spoken = attrs.evolve(rules, language=self.language or rules.language)
        first = Record(spoken, start, seed=seed)
        if not goal.is_given:
            return first
        second = Record(spoken, goal.opponent(rules).card, seed=seed + SECOND)
        return RecordOfTwo((first, second), begins=int(goal.opponent_is_next))

    def _resumed(self, path: Path) -> Record | RecordOfTwo:
        """Return the recorded game; refuse options that contradict it."""
        start, play, goal = self._start, self.play, self.goal
        game = load_record(path)
        records = game.records
        cards = [each.start for each in records]
        rules = attrs.evolve(self.rules, language=game.rules.language)
        other = goal.opponent(rules).card if goal.is_given else None
        contradictions = {
            "--set": bool(self.settings) and rules != game.rules,
            "--card": (play.card is not None or start != Card()) and start != cards[0],
            "--seed": play.seed is not None and play.seed != records[0].seed,
            "--against": other is not None and other not in cards[1:],
            "--opponent-is-next": goal.opponent_is_next and game.begins == 0,
        }
        wrong = [option for option, contradicts in contradictions.items() if contradicts]
        if play.auto and len(records) == 2:
            refuse(f"--auto plays a game of one player; the game in {path} is of two.")
        if wrong:
            refuse(
                f"the game in {path} is another one than {', '.join(wrong)} would make; "
                "leave that out to go on with it, or name a new file."
            )
        if game.is_over:
            refuse(
                f"the game in {path} is over; --analyse {path} looks at it. "
                "Name a new file for another game."
            )
        return game


def _facts(adviser: Adviser, situation: Situation, language: str) -> dict[str, Any]:
    """Return the expectation in a situation, for JSON."""
    options = adviser.options(situation)
    return {
        **attrs.asdict(adviser.expectation(situation)),
        "best": options[0].name(language) if options else None,
        "decision": options[0].kind if options else None,
        "options": [_option(option, language, ("rest", "loss")) for option in options],
    }


def _option(option: Option | Prospect, language: str, more: Sequence[str]) -> dict[str, Any]:
    """Return a decision with its value, its bounds, and more of its numbers, for JSON."""
    numbers = {name: getattr(option, name) for name in ("value", "lower", "upper", *more)}
    points = {"points": option.points} if option.kept is None else {}
    return {"name": option.name(language), **points, **numbers}


def _goal_facts(adviser: Adviser, outlook: Outlook, language: str) -> dict[str, Any]:
    """Return the facts about a goal, for JSON."""
    situation, goal, best = outlook.situation, outlook.goal, outlook.best
    wanted: dict[str, Any] = {"target": goal}
    if isinstance(goal, Opponent):
        wanted = {
            "against": {
                "card": goal.card.entries,
                "further": goal.card.further,
                "points": goal.card.total_by(adviser.rules),
                "plays_for": goal.plays_for,
                "is_next": goal.is_next,
                "draw": goal.draw,
            }
        }
    expected = adviser.expected_after(situation)
    return {
        **wanted,
        "exact": outlook.exact,
        "value": outlook.value,
        "lower": outlook.lower,
        "upper": outlook.upper,
        "best": best and best.name(language),
        "decision": best and best.kind,
        "best_for_points": best and adviser.best(situation).name(language),
        "options": [
            _option(option, language, ["loss"]) | {"expected": expected[option.decision]}
            for option in outlook.options
        ],
    }
