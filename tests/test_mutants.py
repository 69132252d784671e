"""The tool that puts faults into the library: what it can make, draw, and notice."""

import ast
from functools import cache

import attrs
import pytest
from mutants import recording
from mutants.__main__ import judged
from mutants.choosing import PACKAGE, ROOT, Recorded, Reviewed, chosen, known_mutants
from mutants.making import mutants_of
from mutants.trying import KILLED, SURVIVED, TIMEOUT, UNCOVERED, Tried, tried, what_fails

SOURCE = '''\
def worth(x, *, many=1):
    """Return 2 + 2."""
    total = 0.0
    for each in x:
        if each < 0 and not many:
            continue
        total += abs(each) * 2
    message = "a" + f"{total + 1}"
    x[0] = min(total, -x[1])
    if many and flag(x):
        raise ValueError(message)
    return total if flag(x) else 0
'''


all_faults = cache(known_mutants)


def faults(source):
    return {mutant.change: mutant for mutant in mutants_of("some.py", source)}


def test_all_kinds_of_faults_are_found_and_words_are_left_alone():
    assert [mutant.change for mutant in mutants_of("some.py", SOURCE)] == [
        "0.0 -> 1.0", "and -> or", "< -> <=", "0 -> 1", "without not", "continue -> pass",
        "+ -> -", "total += abs(each) * 2 -> pass", "* -> +", "without abs", "2 -> 3",
        "x[0] = min(total, -x[1]) -> pass", "0 -> 1", "min -> max", "without -", "1 -> 2",
        "and -> or", "raise ValueError(message) -> pass", "flag(x) -> not (flag(x))", "0 -> 1",
    ]  # fmt: skip


def test_a_fault_changes_one_place_and_leaves_a_program():
    found = faults(SOURCE)
    assert "total += (each) * 2" in found["without abs"].applied_to(SOURCE)
    assert "if each <= 0 and not many:" in found["< -> <="].applied_to(SOURCE)
    assert "if each < 0 and  many:" in found["without not"].applied_to(SOURCE)
    assert "        pass\n    return" in found["raise ValueError(message) -> pass"].applied_to(
        SOURCE
    )
    for mutant in found.values():
        assert mutant.function == "worth"
        assert SOURCE.splitlines()[mutant.number - 1].strip() == mutant.line
        assert ast.dump(ast.parse(mutant.applied_to(SOURCE))) != ast.dump(ast.parse(SOURCE))


def test_text_beyond_ascii_moves_nothing():
    (mutant,) = mutants_of("some.py", 'def f(x):\n    return "→", x + y\n')
    assert mutant.applied_to('def f(x):\n    return "→", x + y\n').endswith('"→", x - y\n')


def test_a_bracket_after_the_sign_is_left_where_it_is():
    source = "def f(x, y):\n    x //= (\n        y\n    )\n"
    assert faults(source)["// -> *"].applied_to(source) == source.replace("//", "*")


def test_faults_of_the_same_line_are_told_apart_and_survive_a_move():
    source = "def f(x):\n    return x + x + 1\n"
    keys = [mutant.key for mutant in mutants_of("some.py", source)]
    assert len(set(keys)) == len(keys) == 3
    assert [mutant.key for mutant in mutants_of("some.py", f"import os\n\n{source}")] == keys


def test_every_module_has_faults_with_a_key_of_their_own():
    found = all_faults()
    assert len({mutant.key for mutant in found}) == len(found) > 5000
    assert {
        "bellman/residuals.py",
        "certificates/checking/directions.py",
        "results/solution.py",
    } <= {mutant.path for mutant in found}


def test_every_reviewed_fault_is_there_still():
    """Who changes such a line looks at the list again."""
    reviewed = Reviewed.read(ROOT / "tests" / "mutants" / "reviewed.toml")
    keys = {mutant.key for mutant in all_faults()}
    assert sorted((reviewed.equivalent | reviewed.noticed.keys()) - keys) == []
    assert not reviewed.equivalent & reviewed.noticed.keys()
    for test in reviewed.noticed.values():
        file, name = test.split("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_the_draw_depends_on_the_seed_alone():
    found = [
        attrs.evolve(mutant, path=path)
        for path in ("new.py", "old.py", "older.py")
        for mutant in mutants_of(path, SOURCE)
    ]
    reviewed = Reviewed(
        frozenset({found[0].key}), dict.fromkeys([found[-1].key, found[-2].key], "")
    )

    def draw(seed):
        return chosen(found, reviewed, {"new.py"}, count=12, noticed=1, seed=seed)

    assert draw("a") == draw("a") != draw("b")
    for seed in "abcdef":
        some = draw(seed)
        assert len(set(some)) == len(some) == 12
        assert found[0] not in some
        assert sum(mutant.key in reviewed.noticed for mutant in some) == 1
        assert sum(mutant.path == "new.py" for mutant in some) >= 5


def record(folder, lines, seconds):
    """Write what a run under coverage would."""
    of_tests = {test: {str(PACKAGE / path): numbers} for test, (path, numbers) in lines.items()}
    recording.write(folder / "data", of_tests, seconds)
    return Recorded(folder / "data")


@pytest.mark.deep
def test_faults_are_tried_on_the_tests_that_run_the_line(tmp_path):
    """The same fault is noticed by one test and not by another, and by none where none runs."""
    source = (PACKAGE / "rules" / "ranking.py").read_text(encoding="utf-8")
    (mutant,) = (
        mutant
        for mutant in mutants_of("rules/ranking.py", source)
        if (mutant.function, mutant.change) == ("binomial", "min -> max")
    )
    verdicts = []
    for name in ("test_binomials", "test_binomials_out_of_range"):
        test = f"tests/rules/test_ranking.py::{name}"
        here = tmp_path / name
        here.mkdir()
        found = record(here, {test: (mutant.path, [mutant.number])}, {f"{test}": 0.1})
        result = tried(mutant, found, "seed")
        verdicts.append(result.verdict)
        assert result.test.startswith(test) == (result.verdict == KILLED)
        moved = attrs.evolve(mutant, number=mutant.number + 1)
        assert tried(moved, found, "seed").verdict == UNCOVERED
    assert verdicts == [KILLED, SURVIVED]
    assert what_fails(["tests/rules/test_ranking.py::test_binomials"]) == ""
    assert what_fails(["tests/rules/test_ranking.py::test_that_is_not_there"]) != ""


def test_tests_are_drawn_within_their_time(tmp_path):
    lines = {f"tests/{file}.py::test_{k}": ("model.py", [7]) for file in "abcdef" for k in range(9)}
    seconds = {f"{test}[{row}]": 0.5 for test in lines for row in range(20)}
    seconds["tests/a.py::test_0[0]"] = 1e6
    found = record(tmp_path, lines, seconds)
    (mutant,) = mutants_of("model.py", "\n\n\n\n\ndef f(x):\n    return -x\n")
    tests = found.tests_of(mutant)
    assert tests == sorted(lines)
    some, total = found.drawn(tests, 6.0, "seed")
    assert total == 6.0
    assert len(set(some)) == len(some) == 12
    assert len({test.partition("::")[0] for test in some}) <= 4
    assert found.drawn(tests, 6.0, "seed") == (some, total)
    assert found.drawn(tests, 0.1, "seed")[1] >= 0.5  # one at least


def judged_with(verdicts, reviewed):
    mutants = mutants_of("some.py", SOURCE)
    results = [
        Tried(mutant, verdict, "", 1.0) for mutant, verdict in zip(mutants, verdicts, strict=False)
    ]
    return judged(results, reviewed)


def test_what_fails_a_run(capsys):
    """Not a single fault that goes unnoticed, but one that was noticed before, or very many."""
    keys = [mutant.key for mutant in mutants_of("some.py", SOURCE)]
    nothing = Reviewed(frozenset(), {})
    assert judged_with([KILLED, TIMEOUT, SURVIVED, UNCOVERED], nothing) == 0
    assert 'function = "worth"' in capsys.readouterr().out
    assert judged_with([KILLED, SURVIVED, SURVIVED, UNCOVERED], nothing) == 0
    assert judged_with([SURVIVED, SURVIVED, SURVIVED, UNCOVERED], nothing) == 1
    assert "only 0 of 4 were noticed" in capsys.readouterr().out
    reviewed = Reviewed(frozenset(), {keys[2]: "the test"})
    assert judged_with([KILLED, KILLED, KILLED, SURVIVED], reviewed) == 0
    assert judged_with([KILLED, KILLED, SURVIVED, KILLED], reviewed) == 1
    assert "1 of these were noticed before" in capsys.readouterr().out


def test_what_fails_without_any_fault_says_nothing_of_the_share(capsys, monkeypatch):
    monkeypatch.setattr("mutants.__main__.what_fails", lambda _: "killed test_a.py::test_b")
    most = [SURVIVED, SURVIVED, SURVIVED, UNCOVERED]
    assert judged_with(most, Reviewed(frozenset(), {})) == 0
    assert "how many were noticed is not judged" in capsys.readouterr().out
    key = mutants_of("some.py", SOURCE)[2].key
    assert judged_with(most, Reviewed(frozenset(), {key: "the test"})) == 1
