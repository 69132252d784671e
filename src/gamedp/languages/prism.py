"""Programs in the PRISM language [1]_: chains, decision processes and turn-based games.

Formulas are put in before modules are renamed, so a renamed module's formulas speak of its own
variables.

.. [1] https://www.prismmodelchecker.org/manual/ThePRISMLanguage/Introduction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from gamedp.languages.expressions import (
    BOOL,
    DOUBLE,
    FUNCTIONS,
    INT,
    Expression,
    ExpressionReader,
    Literal,
    Name,
    Operation,
    called,
    names_in,
    substitute,
    with_parts,
)
from gamedp.languages.programs import (
    DTMC,
    MDP,
    SMG,
    Branch,
    Command,
    Constant,
    ModelProgram,
    Module,
    ProgramPlayer,
    RewardItem,
    Synchronisation,
    Variable,
    check_program,
    values_of_constants,
    with_expressions,
)
from gamedp.languages.tokens import END, NAME, PRIMED, QUOTED, Source, TextPlace, Token

KINDS = {
    "dtmc": DTMC,
    "probabilistic": DTMC,
    "mdp": MDP,
    "nondeterministic": MDP,
    "smg": SMG,
}
"""The words for kinds of models, the old ones included."""

REFUSED = {
    "ctmc": "a chain of continuous time",
    "stochastic": "a chain of continuous time",
    "ma": "a Markov automaton of continuous time",
    "pta": "a timed automaton",
    "popta": "a timed automaton",
    "pomdp": "a process with hidden states",
    "csg": "a game whose players move at the same time",
    "idtmc": "a chain with intervals",
    "imdp": "a process with intervals",
    "system": "a composition of modules other than the usual one",
    "observables": "hidden states",
    "observable": "hidden states",
    "invariant": "continuous time",
    "clock": "continuous time",
    "smg_concurrent": "a game whose players move at the same time",
}
"""Words of the language that are not supported, and their meaning."""

RESERVED = frozenset(KINDS) | {
    "bool", "const", "double", "endinit", "endmodule", "endplayer", "endrewards", "false",
    "formula", "global", "init", "int", "label", "module", "player", "rewards", "system", "true",
}  # fmt: skip
"""Words that cannot be names."""


class PrismReader(ExpressionReader):
    """Reads a program; what it has found so far stands in its attributes."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.kind = ""
        self.constants: dict[str, Constant] = {}
        self.formulas: dict[str, Expression] = {}
        self.variables: list[Variable] = []
        self.modules: dict[str, Module] = {}
        self.copies: list[tuple[str, Token, dict[str, str], TextPlace]] = []
        self.labels: dict[str, Expression] = {}
        self.rewards: dict[str, tuple[RewardItem, ...]] = {}
        self.players: list[ProgramPlayer] = []
        self.initial: Expression | None = None
        self._names: dict[str, TextPlace] = {}

    def read(self) -> None:
        """Read all declarations."""
        declarations: Mapping[str, Callable[[], None]] = {
            "const": self._constant,
            "formula": self._formula,
            "global": lambda: self.variables.append(self._variable()),
            "init": self._initial,
            "label": self._label,
            "module": self._module,
            "player": self._player,
            "rewards": self._rewards,
        }
        while self.token.kind != END:
            token = self.token
            if token.text in KINDS:
                if self.kind:
                    token.place.refuse("the kind of the model has been named before.")
                self.kind = KINDS[self.take().text]
            elif token.text in declarations:
                self.take()
                declarations[token.text]()
            else:
                self._refuse_known()
                self.fail(f"one of {', '.join(sorted([*declarations, *KINDS]))}")

    def _refuse_known(self) -> None:
        """Refuse a word of the language that is not supported."""
        token = self.token
        if token.text in REFUSED:
            token.place.refuse(
                f"{token.text!r} stands for {REFUSED[token.text]}, which is not supported; "
                f"programs of the kinds {DTMC}, {MDP} and {SMG} are."
            )

    def name(self, what: str, *, new: bool = False) -> Token:
        """Read a name; a new one must not be known."""
        if self.token.text in RESERVED:
            self.fail(what)
        token = self.take_kind(NAME, what)
        if new:
            before = self._names.setdefault(token.text, token.place)
            if before is not token.place:
                token.place.refuse(f"{token.text!r} has been declared before, at {before}.")
        return token

    def term(self) -> Expression:
        """Read what stands between operators."""
        if self.token.text in RESERVED and self.token.text not in ("true", "false"):
            self.fail("an expression")
        return super().term()

    def _constant(self) -> None:
        kind = self.take().text if self.token.text in (BOOL, INT, DOUBLE) else INT
        token = self.name("the name of a constant", new=True)
        value = self.expression() if self.accepts("=") else None
        self.expect(";")
        self.constants[token.text] = Constant(token.text, kind, value, token.place)

    def _formula(self) -> None:
        token = self.name("the name of a formula", new=True)
        self.expect("=")
        self.formulas[token.text] = self.expression()
        self.expect(";")

    def _label(self) -> None:
        token = self.take_kind(QUOTED, "the name of a label in quotation marks")
        name = token.text[1:-1]
        if name in self.labels:
            token.place.refuse(f"the label {name!r} has been declared before.")
        self.expect("=")
        self.labels[name] = self.expression()
        self.expect(";")

    def _initial(self) -> None:
        if self.initial is not None:
            self.token.place.refuse("there is one init ... endinit before.")
        self.initial = self.expression()
        self.expect("endinit")

    def _variable(self) -> Variable:
        token = self.name("the name of a variable", new=True)
        self.expect(":")
        low = high = None
        kind = INT
        if self.accepts("["):
            low = self.expression()
            self.expect("..")
            high = self.expression()
            self.expect("]")
        elif self.accepts(BOOL):
            kind = BOOL
        else:
            self._refuse_known()
            if not self.accepts(INT):
                self.fail("a range [low..high], bool or int")
        initial = self.expression() if self.accepts("init") else None
        self.expect(";")
        return Variable(token.text, kind, low, high, initial, token.place)

    def _module(self) -> None:
        token = self.name("the name of a module")
        if token.text in self.modules or any(token.text == name for name, *_ in self.copies):
            token.place.refuse(f"the module {token.text!r} has been declared before.")
        if self.accepts("="):
            self._copy(token)
            return
        variables, commands = [], []
        while not self.accepts("endmodule"):
            if self.token.text == "[":
                commands.append(self._command())
            elif self.token.kind == NAME:
                variables.append(self._variable())
            else:
                self.fail("a variable, a command or endmodule")
        self.variables += variables
        found = Module(token.text, tuple(variables), tuple(commands), token.place)
        self.modules[token.text] = found

    def _copy(self, token: Token) -> None:
        """Read a module that is another one with other names."""
        base = self.name("the name of a module")
        self.expect("[")
        names: dict[str, str] = {}
        while True:
            old = self.name("a name to replace")
            self.expect("=")
            if old.text in names:
                old.place.refuse(f"{old.text!r} is replaced before.")
            names[old.text] = self.name("a name").text
            if not self.accepts(","):
                break
        self.expect("]")
        self.expect("endmodule")
        self.copies.append((token.text, base, names, token.place))
        self.modules[token.text] = Module(token.text, (), (), token.place)  # to keep its place

    def _command(self) -> Command:
        place = self.expect("[").place
        action = "" if self.token.text == "]" else self.name("an action").text
        self.expect("]")
        guard = self.expression()
        self.expect("->")
        branches = [self._branch()]
        while self.accepts("+"):
            branches.append(self._branch())
        self.expect(";")
        return Command(action, guard, tuple(branches), place)

    def _branch(self) -> Branch:
        place = self.token.place
        probability: Expression = Literal(1, place)
        if self.token.text == "[":
            place.refuse("a probability in an interval is not supported.")
        is_update = self.token.text == "(" and self.ahead().kind == PRIMED
        if not is_update and not (self.token.text == "true" and self.ahead().text in (";", "+")):
            probability = self.expression()
            self.expect(":")
        updates: dict[str, Expression] = {}
        while not self.accepts("true"):
            self.expect("(")
            token = self.take_kind(PRIMED, "a variable with a prime, as in (x'=1)")
            name = token.text[:-1]
            if name in updates:
                token.place.refuse(f"{name!r} is changed twice.")
            self.expect("=")
            updates[name] = self.expression()
            self.expect(")")
            if not self.accepts("&"):
                break
        return Branch(probability, updates)

    def _rewards(self) -> None:
        name = ""
        place = self.token.place
        if self.token.kind == QUOTED:
            name = self.take().text[1:-1]
        if name in self.rewards:
            place.refuse(f"the rewards {name!r} have been declared before.")
        items = []
        while not self.accepts("endrewards"):
            action, place = None, self.token.place
            if self.accepts("["):
                action = "" if self.token.text == "]" else self.name("an action").text
                self.expect("]")
            guard = self.expression()
            self.expect(":")
            items.append(RewardItem(action, guard, self.expression(), place))
            self.expect(";")
        self.rewards[name] = tuple(items)

    def _player(self) -> None:
        token = self.name("the name of a player")
        modules, actions = [], []
        while True:
            if self.accepts("["):
                actions.append(self.name("an action").text)
                self.expect("]")
            else:
                modules.append(self.name("a module or an [action]").text)
            if not self.accepts(","):
                break
        self.expect("endplayer")
        if any(token.text == other.name for other in self.players):
            token.place.refuse(f"the player {token.text!r} has been declared before.")
        self.players.append(ProgramPlayer(token.text, tuple(modules), tuple(actions), token.place))


def read_prism(source: Source, given: Mapping[str, Any]) -> ModelProgram:
    """Return the program of a text.

    Parameters
    ----------
    source : Source
    given : mapping of str to number
        Values of constants.

    Raises
    ------
    GamedpError
        Of the source's kind, with line and column, at what is not a program, or not supported.
    """
    reader = PrismReader(source)
    reader.read()
    formulas = _formulas(reader)

    def put(part: Any) -> Any:
        return with_expressions(part, lambda each: substitute(each, formulas))

    modules = put(reader.modules)
    waiting = {name for name, *_ in reader.copies}
    for name, base, names, place in reader.copies:
        if base.text not in modules or base.text in waiting:
            base.place.refuse(f"there is no module {base.text!r} before this one.")
        modules[name] = _renamed(reader, modules[base.text], name, names, place)
        waiting.remove(name)
    variables = [*put(tuple(reader.variables))]
    known = {variable.name for variable in variables}
    for module in modules.values():
        variables += [each for each in module.variables if each.name not in known]
    program = ModelProgram(
        source=source,
        kind=reader.kind or MDP,
        constants=values_of_constants(put(reader.constants), given),
        variables=tuple(variables),
        modules=tuple(modules.values()),
        synchronisations=_synchronisations(tuple(modules.values())),
        labels=put(reader.labels),
        rewards=put(reader.rewards),
        players=tuple(reader.players),
        initial=put(reader.initial),
        formulas=formulas,
    )
    check_program(program)
    _check_names(program)
    return program


def _formulas(reader: PrismReader) -> dict[str, Expression]:
    """Return each formula with the others put in."""
    found: dict[str, Expression] = {}
    rest = dict(reader.formulas)
    while rest:
        ready = [name for name, each in rest.items() if rest.keys().isdisjoint(names_in(each))]
        if not ready:
            name, formula = next(iter(rest.items()))
            formula.place.refuse(f"the formula {name!r} depends on itself.")
        for name in ready:
            found[name] = substitute(rest.pop(name), found)
    return {name: found[name] for name in reader.formulas}


def _renamed(
    reader: PrismReader, base: Module, name: str, names: Mapping[str, str], place: TextPlace
) -> Module:
    """Return a module under another name, with other names in it."""
    for variable in base.variables:
        new = names.get(variable.name)
        if new is None:
            place.refuse(f"{name!r} needs another name for the variable {variable.name!r}.")
        before = reader._names.setdefault(new, place)  # noqa: SLF001 - of the module's own class
        if before is not place:
            place.refuse(f"{new!r} has been declared before, at {before}.")

    def put(each: Expression) -> Expression:
        if isinstance(each, Name):
            return Name(names[each.name], place) if each.name in names else each
        each = with_parts(each, put)
        if isinstance(each, Operation) and each.operator in FUNCTIONS and each.operator in names:
            return called(names[each.operator], each.operands, place)
        return each

    changed: Module = with_expressions(base, put, lambda word: names.get(word, word))
    return attrs.evolve(changed, name=name, place=place)


def _synchronisations(modules: tuple[Module, ...]) -> tuple[Synchronisation, ...]:
    """Return the actions, in the order in which they appear; all modules that have one join."""
    taking: dict[str, list[int]] = {}
    for number, module in enumerate(modules):
        for command in module.commands:
            if command.action:
                numbers = taking.setdefault(command.action, [])
                if not numbers or numbers[-1] != number:
                    numbers.append(number)
    return tuple(
        Synchronisation(action, tuple((number, action) for number in numbers))
        for action, numbers in taking.items()
    )


def _check_names(program: ModelProgram) -> None:
    """Refuse rewards and players of actions and modules that there are not, and their like."""
    if not program.modules:
        TextPlace(program.source, len(program.source.text)).refuse("there is no module.")
    actions = {each.result for each in program.synchronisations} | {""}
    for items in program.rewards.values():
        for item in items:
            if item.action is not None and item.action not in actions:
                item.place.refuse(f"a reward of the action {item.action!r}, which no command has.")
    if (program.kind == SMG) != bool(program.players):
        if program.players:
            program.players[0].place.refuse(f"a program of kind {program.kind} has no players.")
        program.modules[0].place.refuse("a game needs players: player name module, [action] ...")
    _check_players(program, actions)


def _check_players(program: ModelProgram, actions: set[str]) -> None:
    modules = {module.name for module in program.modules}
    taken: set[str] = set()
    for player in program.players:
        for what, names, known in (
            ("module", player.modules, modules),
            ("action", player.actions, actions),
        ):
            for name in names:
                if name not in known:
                    player.place.refuse(f"there is no {what} {name!r} for player {player.name!r}.")
                if f"{what} {name}" in taken:
                    player.place.refuse(f"the {what} {name!r} belongs to another player, too.")
                taken.add(f"{what} {name}")
