"""Random formulas about random small games, against what all paths and all strategies say."""

from fractions import Fraction

import attrs
import pytest
from formula_reference import SmallGame, at_step, by_paths, earned_by_steps, reached
from hypothesis import given, settings, strategies as st

import gamedp

PROBABILITIES = (
    (Fraction(1),),
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(1, 3), Fraction(2, 3)),
    (Fraction(1, 10), Fraction(9, 10)),
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)),
)
NUMBERS = st.integers(0, 3).map(Fraction) | st.just(Fraction(1, 3))


@st.composite
def games(draw, most_states=4, most_players=3):
    count = draw(st.integers(2, most_states))
    rows = []
    for _ in range(count):
        choices = []
        for _ in range(draw(st.integers(1, 2))):
            parts = draw(st.sampled_from([p for p in PROBABILITIES if len(p) <= count]))
            after = draw(st.permutations(range(count)))[: len(parts)]
            choices.append((draw(NUMBERS), dict(zip(after, parts, strict=True))))
        rows.append(choices)
    players = draw(st.integers(1, most_players))
    return SmallGame(
        rows,
        owners=[draw(st.integers(0, players - 1)) for _ in range(count)],
        labels={name: set(draw(st.sets(st.integers(0, count - 1)))) for name in ("a", "b")},
        earned=[draw(NUMBERS) for _ in range(count)],
    )


@attrs.frozen
class Question:
    """A game, who plays together for what, and the formula's beginning that says so."""

    game: SmallGame
    members: frozenset[int]
    optimum: str

    def chooses(self, state):
        wants_most = (self.game.owners[state] in self.members) == (self.optimum == "max")
        return max if wants_most else min

    @property
    def wants_most(self):
        return [self.chooses(state) is max for state in range(len(self.game.rows))]

    @property
    def opposite(self):
        return attrs.evolve(self, optimum="min" if self.optimum == "max" else "max")

    def begin(self, kind):
        members = ",".join(str(member + 1) for member in sorted(self.members))
        return f"<<{members}>> {kind}{self.optimum}"

    def check(self, text, expected):
        """Ask a question that ends in ``=?``; then whether a bound at the exact value holds."""
        loaded = self.game.loaded()
        answer = gamedp.ask(loaded, text)
        for state, number in enumerate(expected):
            low, high = answer.bounds(state)
            assert low <= number <= high, (text, state)
            assert high - low <= 1e-6
        bound = expected[0]
        for compare, holds in ((">=", True), (">", False), ("<=", True), ("<", False)):
            asked = text.replace("=?", f"{compare}{bound.numerator}/{bound.denominator}", 1)
            assert gamedp.ask(loaded, asked).holds == ("yes" if holds else "no"), asked


@st.composite
def questions(draw, **options):
    game = draw(games(**options))
    members = draw(st.sets(st.integers(0, max(game.owners))))
    return Question(game, frozenset(members), draw(st.sampled_from(["min", "max"])))


@st.composite
def state_sets(draw, game):
    """Draw an expression, and the states in which it is true."""
    every = range(len(game.rows))
    text, states = draw(
        st.sampled_from([
            ('"a"', game.labels["a"]),
            ('!"b"', set(every) - game.labels["b"]),
            ('("a" | odd)', game.labels["a"] | {s for s in every if s % 2}),
            ("s=1", {1}),
            ("(s*s<=1 & half=1/2)", {0, 1}),
            ("(s+1 < three => !odd)", {s for s in every if s + 1 >= 3 or s % 2 == 0}),
            ('!"init"', set(every) - {0}),
            ("true", set(every)),
        ])
    )  # fmt: skip
    return text, set(states) & set(every)


@attrs.frozen
class Path:
    """A path formula: its text, the steps that it looks ahead, and where it holds."""

    text: str
    ahead: int
    holds: object


@st.composite
def bounded_paths(draw, game, depth=2, steps=3):
    """Draw a path formula that looks no more than some steps ahead."""
    kinds = ["states"]
    if depth:
        kinds += ["!", "&", "|", "=>", "<=>"]
        if steps:
            kinds += ["X", "F", "G", "U", "W", "R"] * 2
    kind = draw(st.sampled_from(kinds))
    if kind == "states":
        text, states = draw(state_sets(game))
        return Path(text, 0, lambda path, i: path[i] in states)
    last = 1 if kind == "X" else draw(st.integers(0, steps)) if kind in "FGUWR" else 0
    first = draw(st.integers(0, last)) if kind in "FGU" else 0
    one = draw(bounded_paths(game, depth - 1, steps - last))
    bound = draw(st.sampled_from([f"<={last}", f"<{last + 1}", f"[0,{last}]"]))
    if first:
        bound = f"[{first},{last}]"
    within = range(first, last + 1)
    if kind == "!":
        return Path(f"!({one.text})", one.ahead, lambda path, i: not one.holds(path, i))
    if kind == "X":
        return Path(f"(X ({one.text}))", 1 + one.ahead, lambda path, i: one.holds(path, i + 1))
    if kind in "FG":
        join = any if kind == "F" else all
        return Path(
            f"({kind}{bound} ({one.text}))",
            last + one.ahead,
            lambda path, i: join(one.holds(path, i + k) for k in within),
        )
    other = draw(bounded_paths(game, depth - 1, steps - last))
    ahead = last + max(one.ahead, other.ahead)

    def until(path, i):
        return any(
            other.holds(path, i + k) and all(one.holds(path, i + j) for j in range(k))
            for k in within
        )

    holds = {
        "&": lambda path, i: one.holds(path, i) and other.holds(path, i),
        "|": lambda path, i: one.holds(path, i) or other.holds(path, i),
        "=>": lambda path, i: not one.holds(path, i) or other.holds(path, i),
        "<=>": lambda path, i: one.holds(path, i) == other.holds(path, i),
        "U": until,
        "W": lambda path, i: until(path, i) or all(one.holds(path, i + k) for k in within),
        "R": lambda path, i: all(
            other.holds(path, i + k) or any(one.holds(path, i + j) for j in range(k))
            for k in within
        ),
    }[kind]
    bound = bound if kind in "UWR" else ""
    return Path(f"(({one.text}) {kind}{bound} ({other.text}))", ahead, holds)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_path_formulas_with_bounds_are_as_all_paths_say(data):
    question = data.draw(questions())
    path = data.draw(bounded_paths(question.game))
    expected = by_paths(
        question.game, question.chooses, path.ahead, lambda seen: path.holds(seen, 0)
    )
    question.check(f"{question.begin('P')}=? [{path.text}]", expected)


def without_bound(question, kind, one, other):
    """Return the probabilities of a path formula without a bound of steps."""
    game, every = question.game, set(range(len(question.game.rows)))
    if kind == "F":
        return reached(game, question.wants_most, every, other)
    if kind == "U":
        return reached(game, question.wants_most, one, other)
    if kind == "G":
        allowed, target = every, every - other
    elif kind == "W":
        allowed, target = one - other, every - one - other
    else:
        allowed, target = every - one, every - other
    return [1 - p for p in reached(game, question.opposite.wants_most, allowed, target)]


def text_of(kind, one, other):
    return f"{kind} {other}" if kind in "FG" else f"{one} {kind} {other}"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_path_formulas_without_bounds_are_as_all_strategies_say(data):
    question = data.draw(questions())
    kind = data.draw(st.sampled_from("FUGWR"))
    (left, one), (right, other) = (data.draw(state_sets(question.game)) for _ in range(2))
    expected = without_bound(question, kind, one, other)
    question.check(f"{question.begin('P')}=? [{text_of(kind, left, right)}]", expected)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_formulas_inside_of_others_are_decided_at_their_exact_values(data):
    question = data.draw(questions())
    inside = attrs.evolve(question, optimum=data.draw(st.sampled_from(["min", "max"])))
    kind = data.draw(st.sampled_from("FUGWR"))
    (left, one), (right, other) = (data.draw(state_sets(question.game)) for _ in range(2))
    values = without_bound(inside, kind, one, other)
    bound = data.draw(st.sampled_from([*values, Fraction(0), Fraction(1)]))
    compare, holds = data.draw(
        st.sampled_from([
            (">=", lambda p: p >= bound), (">", lambda p: p > bound),
            ("<=", lambda p: p <= bound), ("<", lambda p: p < bound),
        ])
    )  # fmt: skip
    among = {state for state, value in enumerate(values) if holds(value)}
    text = f"{inside.begin('P')}{compare}{bound} [{text_of(kind, left, right)}]"
    outer = data.draw(st.sampled_from("FUGWR"))
    states, one = data.draw(state_sets(question.game))
    expected = without_bound(question, outer, one, among)
    question.check(f"{question.begin('P')}=? [{text_of(outer, states, f'({text})')}]", expected)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rewards_within_steps_and_at_a_step(data):
    question, steps = data.draw(questions()), data.draw(st.integers(0, 4))
    total = earned_by_steps(question.game, question.chooses, steps)
    question.check(f"{question.begin('R')}=? [C<={steps}]", total)
    instant = at_step(question.game, question.chooses, steps)
    question.check(f"{question.begin('R')}=? [I={steps}]".replace("R", 'R{"cost"}', 1), instant)


@pytest.mark.parametrize("compare", [">=", ">", "<=", "<"])
def test_a_coalition_makes_a_bound_hold_and_alone_it_holds_whatever_is_chosen(compare):
    """The same bound, with and without a coalition, of a state that can choose 0, 1/3 or 1."""
    game = SmallGame(
        rows=[
            [(Fraction(0), {1: Fraction(1)}), (Fraction(0), {2: Fraction(1)}),
             (Fraction(0), {1: Fraction(1, 3), 2: Fraction(2, 3)})],
            [(Fraction(0), {1: Fraction(1)})],
            [(Fraction(0), {2: Fraction(1)})],
        ],
        owners=[0, 0, 0], labels={"goal": {1}}, earned=[Fraction(0)] * 3,
    )  # fmt: skip
    loaded = game.loaded(players=2)
    bound = f'P{compare}1/3 [F "goal"]'
    assert gamedp.ask(loaded, bound).holds == "no"
    assert gamedp.ask(loaded, f"<<p1>> {bound}").holds == "yes"
    assert gamedp.ask(loaded, f"<<p2>> {bound}").holds == "no"
