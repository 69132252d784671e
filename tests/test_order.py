"""The order in which the files of the tests are run."""

from pathlib import Path
from types import SimpleNamespace

from order import LONGEST, longest_first

TESTS = Path(__file__).parent


def test_what_takes_long_is_there():
    assert len(set(LONGEST)) == len(LONGEST)
    assert [file for file in LONGEST if not (TESTS / file).is_file()] == []


def test_files_that_take_long_come_first_and_then_those_with_many_tests():
    files = ["a.py", "b.py", LONGEST[1], "b.py", LONGEST[0], "c.py", LONGEST[1]]
    items = [SimpleNamespace(path=TESTS / file, number=number) for number, file in enumerate(files)]
    longest_first(items)
    assert [item.number for item in items] == [4, 2, 6, 1, 3, 0, 5]
