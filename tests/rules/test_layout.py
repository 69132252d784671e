"""States packed into integers and back: layouts, codecs, tables."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from gamedp.errors import InvalidModelError, UnknownStateError
from gamedp.rules.layout import MAX_INT64, WORD_LIMIT, Codec, Layout, ObjectTable, PackedTable

SMALLEST = -(2**63)


class Hand(NamedTuple):
    cards: tuple
    open: bool


class Position(NamedTuple):
    player: int
    hands: tuple
    score: int


class Twin(NamedTuple):
    player: int
    hands: tuple
    score: int


STATE = Position(1, (Hand((3, 5), True), Hand((0, 9), False)), -7)


def test_the_layout_of_a_state():
    layout = Layout.of(STATE)
    assert list(layout.names()) == [
        "player",
        "hands[0].cards[0]",
        "hands[0].cards[1]",
        "hands[0].open",
        "hands[1].cards[0]",
        "hands[1].cards[1]",
        "hands[1].open",
        "score",
    ]
    assert layout.flatten(STATE) == [1, 3, 5, True, 0, 9, False, -7]
    built = layout.build(iter(layout.flatten(STATE)))
    assert built == STATE
    assert type(built) is Position
    assert type(built.hands) is tuple
    assert type(built.hands[0]) is Hand
    assert built.hands[0].open is True
    assert type(built.score) is int


def test_integers_of_other_libraries_become_plain():
    layout = Layout.of(Position(np.int8(1), (np.bool_(True),), np.uint64(5)))
    assert layout == Layout.of(Position(0, (False,), 0))
    assert layout.flatten(Position(np.int8(1), (np.bool_(True),), np.uint64(5))) == [1, True, 5]


@pytest.mark.parametrize(
    "state", ["e4", 1.5, None, frozenset((1,)), (1, "e4"), Position(0, ([],), 0), (1, (2, 3.0))]
)
def test_other_states_have_no_layout(state):
    assert Layout.of(state) is None


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (STATE[:2], "does not fit the states of this game: a Position of 3 items is expected."),
        (tuple(STATE), "does not fit the states of this game: a Position of 3 items is expected."),
        (Twin(*STATE), "Twin(player=1, hands="),
        (
            (1, 2, 3),
            "(1, 2, 3) does not fit the states of this game: a Position of 3 items is expected.",
        ),
        (STATE._replace(hands=STATE.hands[:1]), "a tuple of 2 items is expected."),
        (STATE._replace(score=0.5), "0.5 in Position("),
        (STATE._replace(score=None), "is not an integer, as it is in other states."),
        (STATE._replace(score=(1,)), "(1,) in Position("),
        (
            STATE._replace(hands=(Hand((3, 5), 2), STATE.hands[1])),
            "is not a truth value, as it is in other states.",
        ),
        ("e4", "'e4' does not fit the states of this game"),
    ],
)
def test_states_that_are_laid_out_otherwise(other, words):
    with pytest.raises(InvalidModelError) as caught:
        Layout.of(STATE).flatten(other)
    assert words in str(caught.value)


@st.composite
def ranges(draw):
    """Fields' ranges as (low, end) within 64 bits, narrow and wide ones mixed."""
    widths = st.one_of(
        st.integers(1, 9),
        st.sampled_from([2**31, 2**61, WORD_LIMIT - 1, WORD_LIMIT, WORD_LIMIT + 1, 2**64]),
    )
    found = []
    for width in draw(st.lists(widths, min_size=1, max_size=9)):
        low = draw(
            st.one_of(
                st.sampled_from([SMALLEST, MAX_INT64 + 1 - width]),
                st.integers(SMALLEST, MAX_INT64 + 1 - width),
                st.just(max(SMALLEST, min(-3, MAX_INT64 + 1 - width))),
            )
        )
        found.append((low, low + width))
    return found


@given(ranges(), st.data())
def test_packing_and_unpacking(limits, data):
    codec = Codec.of_ranges([low for low, _ in limits], [end for _, end in limits])
    row = st.tuples(
        *(
            st.one_of(st.just(low), st.just(end - 1), st.integers(low, end - 1))
            for low, end in limits
        )
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=9))
    fields = np.array(rows, np.int64)
    codes = codec.pack(fields)
    assert codes.shape == (len(rows), codec.num_words)
    assert np.array_equal(codec.unpack(codes), fields)
    assert [codec.code(row) for row in rows] == list(map(tuple, codes.tolist()))
    assert len(np.unique(codes, axis=0)) == len(set(rows))
    assert all(codec.contains(fields) for fields in rows)
    if codec.size:
        assert codec.num_words == 1
        assert codes.min() >= 0
        assert codes.max() < codec.size <= WORD_LIMIT


@given(ranges(), st.data())
def test_what_is_out_of_range(limits, data):
    codec = Codec.of_ranges([low for low, _ in limits], [end for _, end in limits])
    inside = [low for low, _ in limits]
    place = data.draw(st.integers(0, len(limits) - 1))
    low, end = limits[place]
    outside = data.draw(st.sampled_from([low - 1, end, 2**64, -(2**64)]))
    wide = end - low > WORD_LIMIT or end > MAX_INT64
    assume(not wide or not SMALLEST <= outside <= MAX_INT64)
    inside[place] = outside
    assert not codec.contains(inside)


@pytest.mark.parametrize(
    ("widths", "words", "size"),
    [
        ([], 1, 1),
        ([1, 1, 1], 1, 1),
        ([2, 3, 4], 1, 24),
        ([2**31, 2**31], 1, WORD_LIMIT),
        ([2**31, 2**31, 2], 2, 0),
        ([WORD_LIMIT], 1, WORD_LIMIT),
        ([WORD_LIMIT + 1], 1, 0),
        ([WORD_LIMIT + 1, 1], 2, 0),
        ([2, WORD_LIMIT + 1, 3], 3, 0),
        ([WORD_LIMIT + 1, 2, 3, WORD_LIMIT + 1], 3, 0),
        ([1, WORD_LIMIT + 1], 1, 0),
    ],
)
def test_how_many_words_a_code_takes(widths, words, size):
    codec = Codec.of_ranges([0] * len(widths), widths)
    assert (codec.num_words, codec.size) == (words, size)


def test_a_field_that_ends_where_64_bits_do():
    codec = Codec.of_ranges([MAX_INT64 - 4, 0], [MAX_INT64 + 1, 2])
    fields = np.array([[MAX_INT64 - 4, 1], [MAX_INT64, 0]])
    assert np.array_equal(codec.unpack(codec.pack(fields)), fields)
    assert codec.contains([MAX_INT64, 1])
    assert not codec.contains([MAX_INT64 + 1, 1])


leaves = st.one_of(st.integers(-3, 3), st.integers(SMALLEST, MAX_INT64), st.booleans())


@st.composite
def like_states(draw):
    """States that are all laid out alike: nested tuples and named ones, at random."""

    def shape(depth):
        kind = draw(st.sampled_from([int, bool, "wide"] + [tuple, Hand] * (depth < 3)))
        if kind is tuple:
            return tuple, [shape(depth + 1) for _ in range(draw(st.integers(0, 3)))]
        return (Hand, [shape(depth + 1), shape(depth + 1)]) if kind is Hand else (kind, [])

    def state(kind, parts):
        if kind is int:
            return draw(st.integers(-3, 3))
        if kind is bool:
            return draw(st.booleans())
        if kind == "wide":
            return draw(st.integers(SMALLEST, MAX_INT64))
        items = [state(*part) for part in parts]
        return tuple(items) if kind is tuple else kind(*items)

    parts = [shape(1), shape(1), shape(1)]
    count = draw(st.integers(1, 8))
    return list(dict.fromkeys(state(Position, parts) for _ in range(count)))


def table_of_states(states):
    layout = Layout.of(states[0])
    rows = [layout.flatten(state) for state in states]
    columns = list(zip(*rows, strict=True))
    codec = Codec.of_ranges([min(c) for c in columns], [max(c) + 1 for c in columns])
    codes = codec.pack(np.array(rows, np.int64).reshape(len(rows), -1))
    return PackedTable(layout, codec, codes)


@given(like_states())
def test_a_table_finds_its_states(states):
    table = table_of_states(states)
    assert len(table) == len(states)
    for index, state in enumerate(states):
        found = table.state(index)
        assert found == state
        assert Layout.of(found) == table.layout
        assert table.index(state) == index
    fields = table.fields()
    assert fields.shape == (len(states), len(list(table.layout.names())))
    assert fields.tolist() == [list(map(int, table.layout.flatten(state))) for state in states]


@given(like_states(), st.data())
def test_a_table_knows_what_it_does_not_hold(states, data):
    place = data.draw(st.integers(0, len(states) - 1))
    missing = states[place]
    rest = [state for state in states if state != missing]
    assume(rest)
    with pytest.raises(UnknownStateError, match=r"is not a state of|does not fit the states of"):
        table_of_states(rest).index(missing)


def table():
    return table_of_states(
        [Position(0, (0, 0), 5), Position(0, (1, 2), 5), Position(0, (2, 1), -5)]
    )


@pytest.mark.parametrize(
    "state",
    [
        Position(0, (1, 1), 5),
        Position(1, (0, 0), 5),
        Position(0, (0, 0), 6),
        Position(0, (0, 0), 2**70),
        Position(0, (0, 0), -(2**70)),
        Position(0, (0, 0), 5.0),
        Position(0, (0, 0, 0), 5),
        Position(0, 0, 5),
        Twin(0, (0, 0), 5),
        (0, (0, 0), 5),
        (),
        0,
        None,
        "start",
        [0],
    ],
)
def test_unknown_states(state):
    with pytest.raises(UnknownStateError) as caught:
        table().index(state)
    assert repr(state) in str(caught.value)


def test_a_state_may_be_looked_up_in_other_integers():
    assert table().index(Position(np.int64(0), (np.int8(2), True), -5)) == 2


def test_codes_of_several_words_are_found():
    states = [Position(player, (2**62 * player, -player), MAX_INT64) for player in range(-1, 2)]
    found = table_of_states(states)
    assert found.codec.num_words > 1
    assert [found.index(state) for state in states] == [0, 1, 2]
    with pytest.raises(UnknownStateError):
        found.index(Position(0, (0, 1), MAX_INT64))


def test_a_table_is_locked_also_after_pickling():
    first = table()
    assert first.index(Position(0, (1, 2), 5)) == 1
    for found in (first, pickle.loads(pickle.dumps(first))):
        assert not found.codes.flags.writeable
        assert found.index(Position(0, (1, 2), 5)) == 1
        assert found.state(1) == Position(0, (1, 2), 5)


def test_objects_are_kept_as_they_are():
    states = ["start", frozenset({1}), (1, "end")]
    kept = ObjectTable(states, {state: index for index, state in enumerate(states)})
    assert len(kept) == 3
    assert [kept.index(kept.state(index)) for index in range(3)] == [0, 1, 2]
    with pytest.raises(UnknownStateError, match="'end' is not a state of this model"):
        kept.index("end")
