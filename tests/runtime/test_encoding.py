"""Parameters and options in what JSON has, and back."""

import dataclasses
import enum
import json
import math
import sys
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from gamedp.errors import UnknownNameError
from gamedp.runtime.encoding import (
    class_path,
    decode,
    decode_object,
    encode,
    encode_object,
    is_unwritable,
    near,
)
from gamedp.runtime.registry import GAMES, class_named


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


class Pair(NamedTuple):
    left: object
    right: object


@attrs.frozen
class Frozen:
    number: float
    _private: tuple = ()
    derived: int = attrs.field(init=False, default=7)


@dataclasses.dataclass(frozen=True)
class Data:
    names: tuple
    colour: Colour = Colour.RED


class Ordinary:
    def __init__(self, goal, faces=6):
        self.goal = goal
        self.faces = faces


class Private:
    def __init__(self, goal):
        self._goal = goal


@attrs.frozen
class Rounds:
    number: float = attrs.field(converter=lambda number: number + 1)


KNOWN = {class_path(kind): kind for kind in (Colour, Pair, Frozen, Data, Ordinary, Private, Rounds)}


def through_json(value):
    return json.loads(json.dumps(encode(value)))


simple = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)
)
values = st.recursive(
    simple | st.sampled_from(Colour),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(simple, inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Frozen, inner, inner),
        st.builds(Data, inner, st.sampled_from(Colour)),
    ),
    max_leaves=8,
)


@given(values)
def test_values_come_back(value):
    again = decode(through_json(value), KNOWN.get)
    assert again == value
    assert repr(again) == repr(value)  # also the types: 1 is not True


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 3), np.int8),
        np.array([True, False]),
        np.array(0.1, np.float32),
        np.array([math.inf, math.nan, -0.0]),
        np.array([2**64 - 1], np.uint64),
    ],
)
def test_arrays_come_back(array):
    again = decode(through_json(array))
    assert again.dtype == array.dtype
    assert np.array_equal(again, array, equal_nan=array.dtype.kind == "f")
    assert again.shape == array.shape


def test_numbers_of_numpy_become_plain():
    number = decode(through_json((np.int8(3), np.float64(0.1), np.bool_(True))))
    assert repr(number) == "(3, 0.1, True)"


@pytest.mark.parametrize(
    "value",
    [
        print,
        object(),
        {1, 2},
        b"bytes",
        1j,
        Ordinary(5),
        np.array(["text"]),
        np.array([None]),
        np.datetime64("2020-01-01"),
        (1, [print]),
    ],
)
def test_what_cannot_be_written_down(value):
    with pytest.raises(TypeError, match=r"a .* cannot be written down"):
        encode(value)
    fields = encode_object(Frozen(value))["fields"]
    assert is_unwritable(fields["number"])
    assert not is_unwritable(fields["private"])


@pytest.mark.parametrize("value", [Frozen(math.nan, (1,)), Data(("a",)), Ordinary(50), Pair(1, 2)])
def test_objects_come_back(value):
    again = decode_object(json.loads(json.dumps(encode_object(value))), KNOWN.get)
    assert type(again) is type(value)
    assert json.dumps(encode_object(again)) == json.dumps(encode_object(value))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Private(5), r"Private cannot be made from its fields: .*unexpected keyword"),
        (Rounds(1.0), r"Rounds cannot be made from its fields: it has others afterwards\."),
        (Frozen(print), r"Frozen cannot be made from its fields: some of them cannot be written"),
    ],
)
def test_objects_that_do_not_come_back(value, words):
    with pytest.raises(UnknownNameError, match=words):
        decode_object(encode_object(value), KNOWN.get)


@pytest.mark.parametrize(
    "path",
    [
        "no.such.module:Game",
        "math:sqrt",
        "subprocess:Popen",
        "collections:OrderedDict",
        "",
        5,
        None,
    ],
)
def test_a_text_makes_nothing_that_is_not_known(path):
    for encoded in ({"class": path, "fields": {"args": "true"}}, {"enum": path, "member": "x"}):
        with pytest.raises(UnknownNameError, match="is not registered"):
            decode(encoded)
        with pytest.raises(UnknownNameError, match="is not registered"):
            decode({"list": [{"dict": [[encoded, 1]]}]}, KNOWN.get)


def test_a_text_imports_nothing(tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("raise SystemExit('it was imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for known in (KNOWN.get, near(Frozen), lambda path: class_named(GAMES, path)):
        with pytest.raises(UnknownNameError):
            decode({"class": "planted:Game", "fields": {}}, known)
    assert "planted" not in sys.modules


def test_parts_of_an_object_are_of_the_classes_beside_its_own():
    known = {class_path(Frozen): Frozen}.get
    whole = Frozen(1.0, (Pair(Colour.RED, Data(("a",))),))
    again = decode_object(json.loads(json.dumps(encode_object(whole))), known)
    assert again == whole
    for foreign in ("enum:Enum", "subprocess:Popen", f"{__name__}:sys"):
        with pytest.raises(UnknownNameError):
            decode_object(
                {
                    "class": class_path(Frozen),
                    "fields": {"number": {"class": foreign, "fields": {}}},
                },
                known,
            )


def test_arrays_of_objects_are_not_made():
    with pytest.raises(TypeError, match="cannot be read"):
        decode({"array": [None], "dtype": "O", "shape": [1]})
