"""States of declared fields: named tuples, frozen dataclasses, attrs classes; tuples for them."""

import dataclasses
from typing import Any, NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from staged_games import Roll, Scores, StagedWubbel

import gamedp
from gamedp.errors import CompilationError, UnknownStateError
from gamedp.play import RandomPlayer, load_games, play_game, save_games
from gamedp.rules.layout import Layout, shaped_like
from gamedp.testing import check_game


class Named(NamedTuple):
    player: int
    heaps: tuple


@dataclasses.dataclass(frozen=True)
class Data:
    player: int
    heaps: tuple


@attrs.frozen
class Attrs:
    player: int
    heaps: tuple


@dataclasses.dataclass(frozen=True, kw_only=True)
class Nested:
    player: int
    heaps: Named


KINDS = (Named, Data, Attrs)


@attrs.frozen
class Heaps:
    """Nim: take some matches of one heap; who takes the last one wins."""

    kind: Any = Named
    heaps: tuple = (1, 2, 3)
    num_players = 2
    acyclic = True

    def initial_state(self):
        return self.kind(player=0, heaps=self.heaps)

    def is_terminal(self, state):
        return not any(state.heaps)

    def player(self, state):
        return state.player

    def actions(self, state):
        for heap, left in enumerate(state.heaps):
            for taken in range(1, left + 1):
                yield 10 * heap + taken

    def outcomes(self, state, action):
        heap, taken = divmod(action, 10)
        heaps = gamedp.with_item(state.heaps, heap, state.heaps[heap] - taken)
        yield 1.0, self.kind(player=1 - state.player, heaps=heaps)

    def payoff(self, state, player):
        return -1.0 if player == state.player else 1.0


class Sorted(Heaps):
    """The same with equal positions merged."""

    def canonical(self, state):
        return self.kind(player=0, heaps=tuple(sorted(state.heaps))), state.player == 1


@settings(max_examples=15, deadline=None)
@given(heaps=st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple))
def test_states_of_all_kinds_have_the_same_columns_and_values(heaps):
    solutions = [gamedp.solve(Heaps(kind, heaps), compile="never") for kind in KINDS]
    first, *others = (solution.to_columns() for solution in solutions)
    assert list(first)[:2] == ["player", "heaps[0]"]
    for columns in others:
        assert list(columns) == list(first)
        for name, column in first.items():
            assert np.array_equal(np.ma.filled(column, -9), np.ma.filled(columns[name], -9))
    for kind, solution in zip(KINDS, solutions, strict=True):
        for index in range(solution.model.num_states):
            state = solution.model.state(index)
            assert type(state) is kind
            assert solution.model.index(state) == (index, False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", [Heaps, Sorted])
def test_a_tuple_finds_the_state_with_its_items_everywhere(kind, rules):
    game = rules(kind)
    solution = gamedp.solve(game, compile="never")
    policy = gamedp.Policy.from_solution(solution)
    evaluation = gamedp.evaluate(game, [policy, policy], everywhere=True)
    for heaps in ((1, 2, 2), (0, 2, 3), (2, 2, 1) if rules is Sorted else (1, 0, 3)):
        given, state = (1, heaps), kind(1, heaps)
        for ask in (
            solution.value,
            solution.bounds,
            solution.best_action,
            solution.best_actions,
            solution.quickest_actions,
            solution.actions,
            solution.action_values,
            solution.principal_variation,
            solution.plies,
            policy.choose,
            policy.actions,
            solution.model.index,
            lambda state: gamedp.search(game, state, compile="never").best_actions,
            lambda state: play_game(game, [RandomPlayer(game)] * 2, 3, start=state),
        ):
            assert ask(given) == ask(state)
    start = (0, (1, 2, 3))
    assert evaluation.action_values(start) == evaluation.action_values(kind(*start))


def test_what_is_no_state_is_refused_as_it_was_given():
    for kind in KINDS:
        solution = gamedp.solve(Heaps(kind), compile="never")
        for wrong in ((1, (9, 9, 9)), (1, (1, 2)), (1,), (1, 2, 3), "x"):
            with pytest.raises(UnknownStateError):
                solution.value(wrong)


def test_a_tuple_for_two_classes_is_refused():
    @dataclasses.dataclass(frozen=True)
    class Left:
        number: int

    @dataclasses.dataclass(frozen=True)
    class Right:
        number: int

    class Two:
        def initial_state(self):
            return Left(0)

        def is_terminal(self, state):
            return state.number > 0 or (isinstance(state, Right) and state.number == 3)

        def actions(self, state):
            return ["left", "right"]

        def outcomes(self, state, action):
            kind = Left if action == "left" else Right
            yield 0.5, kind(1)
            yield 0.5, kind(2 if action == "left" else 4)

        def payoff(self, state, player):
            return float(state.number) + isinstance(state, Right)

    solution = gamedp.solve(Two(), compile="never")
    assert solution.value((2,)) == 2.0
    assert solution.value((4,)) == 5.0
    with pytest.raises(UnknownStateError, match=r"\(1,\) may be .*(Left|Right).* or .*; name the"):
        solution.value((1,))
    assert solution.value(Right(1)) == 2.0


def test_layouts_of_classes():
    layout = Layout.of(Nested(player=1, heaps=Named(0, (2, 3))))
    assert list(layout.names()) == ["player", "heaps.player", "heaps.heaps[0]", "heaps.heaps[1]"]
    assert not layout.is_compilable
    assert layout.build(iter([1, 0, 2, 3])) == Nested(player=1, heaps=Named(0, (2, 3)))
    assert Layout.of(Named(0, (1,))).is_compilable
    assert Layout.of(Data(0, ("a",))) is None
    assert shaped_like(Nested(player=1, heaps=Named(0, (2,))), (2, (1, (3,)))) == Nested(
        player=2, heaps=Named(1, (3,))
    )


def test_a_class_that_does_not_keep_its_fields_stays_an_object():
    @dataclasses.dataclass(frozen=True)
    class Counted:
        number: int
        more: int = dataclasses.field(default=0, init=False)

        def __post_init__(self):
            object.__setattr__(self, "more", self.number % 2)

        def next(self):
            after = Counted(self.number + 1)
            object.__setattr__(after, "more", 7)
            return after

    class Count:
        def initial_state(self):
            return Counted(0)

        def is_terminal(self, state):
            return state.number == 3

        def actions(self, state):
            return [0]

        def outcomes(self, state, action):
            yield 1.0, state.next()

        def payoff(self, state, player):
            return float(state.more)

    solution = gamedp.solve(Count(), compile="never")
    assert solution.value() == 7.0
    assert solution.model.state(1).more == 7


@pytest.mark.parametrize("kind", [Data, Attrs])
def test_rules_with_such_states_do_not_compile_and_say_so(kind):
    with pytest.raises(CompilationError, match="are not NamedTuples of ints and tuples of ints"):
        gamedp.solve(Heaps(kind), compile="always")
    assert check_game(Heaps(kind)).complete


@pytest.mark.parametrize("kind", [Data, Attrs])
def test_solutions_and_games_are_saved_and_loaded(kind, tmp_path):
    game = Heaps(kind)
    solution = gamedp.solve(game, compile="never")
    gamedp.save(solution, tmp_path / "solution")
    again = gamedp.load(tmp_path / "solution", game=game)
    assert again.model.state(3) == solution.model.state(3)
    assert again.value((1, (1, 1, 1))) == solution.value(kind(1, (1, 1, 1)))
    record = play_game(game, [RandomPlayer(game)] * 2, 2)
    save_games(tmp_path / "games", game, [record])
    assert load_games(tmp_path / "games", game=game)[1] == [record]


@pytest.mark.filterwarnings("ignore::gamedp.errors.CompilationWarning")
def test_commands_take_them(tmp_path, run, run_json):
    text = (
        "import attrs, dataclasses\n"
        "HEAD\nclass At:\n    number: int\n    name: str\n"
        "class Walk:\n"
        "    def initial_state(self):\n        return At(0, 'start')\n"
        "    def is_terminal(self, state):\n        return state.number > 2\n"
        "    def actions(self, state):\n        return [1, 2]\n"
        "    def outcomes(self, state, action):\n"
        "        yield 1.0, At(state.number + action, 'on the way')\n"
        "    def payoff(self, state, player):\n        return float(state.number)\n"
    )
    for name, head in (("data", "@dataclasses.dataclass(frozen=True)"), ("fine", "@attrs.frozen")):
        file = tmp_path / f"{name}.py"
        file.write_text(text.replace("HEAD", head))
        found = run_json("query", f"{file}:Walk", "--state", "number=2,name=on the way")
        assert found["state"] == {"number": 2, "name": "on the way"}
        assert found["value"] == 4.0
        found = run_json("search", f"{file}:Walk", "--exact", "--state", "number=1,name=x")
        assert found["state"] == {"number": 1, "name": "x"}
        code, _, problem = run("query", f"{file}:Walk", "--state", "numbr=2")
        assert code != 0
        assert "number" in problem


def test_a_tuple_finds_a_context_of_a_staged_game():
    solution = gamedp.solve(StagedWubbel(5), compile="never")
    for scores in ((0, 2, 3), (1, 0, 4)):
        assert solution.value(scores) == solution.value(Scores(*scores))
        assert solution.best_actions(scores, (2, 0)) == solution.best_actions(
            Scores(*scores), Roll(2, False)
        )
    assert solution.value_inside((1, 2, 3), (2, 0)) == solution.value_inside(
        Scores(1, 2, 3), Roll(2, False)
    )
