"""``gamedp compare``: what it prints and writes."""

import csv
import json

import cyclopts
import pytest

import gamedp
from gamedp.cli.options import Bytes
from gamedp.games.wubbel import Wubbel

QUICK = ("--quiet", "--seconds", "0.001", "--max-seconds", "60")


def test_a_table(run):
    code, out, _ = run("compare", "matches?matches=18", "--solvers", "default,alpha-beta", *QUICK)
    assert code == 0
    title, header, *rows = out.splitlines()
    assert title == "matches?matches=18: 19 states, 51 transitions"
    assert header.split()[0] == "method"
    assert sorted(row.split()[:2] for row in rows) == [
        ["alpha-beta", "proven"],
        ["default", "proven"],
    ]


def test_the_first_parameter_may_follow_a_colon(run):
    problem = "wubbel:4?grace=true"
    code, out, _ = run("compare", problem, "--solvers", "default", "--json", *QUICK)
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row["problem"] == problem
    assert row["value"] == pytest.approx(gamedp.solve(Wubbel(goal=4, grace=True)).value())


@pytest.mark.slow
def test_json_csv_and_rows(run, tmp_path):
    table, rows = tmp_path / "table.csv", tmp_path / "rows.jsonl"
    code, out, _ = run(
        *("compare", "matches", "--sizes", "matches=10,20,40", "--solvers", "default"),
        *("--json", "--csv", table, "--save", rows, *QUICK),
    )
    assert code == 0
    found = json.loads(out)
    assert [row["size"] for row in found["rows"]] == [10.0, 20.0, 40.0]
    assert len(found["growth"]) == 1
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["value"]) for line in lines] == [row["value"] for row in found["rows"]]
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 3


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.umb"
    model = gamedp.Model.from_arrays(
        [0, 1, 1, 1], [0, 3], [0, 1, 2], [0.25, 0.5, 0.25], terminals=[1, 2]
    )
    gamedp.write_model(path, model, labels={"goal": [False, True, False]}, rewards={})
    return path


def test_a_model_in_a_file(run, model_file):
    methods = ("--solvers", "default,policy-iteration", "--json", *QUICK)
    code, out, _ = run("compare", model_file, "--reach", "goal", *methods)
    assert code == 0
    values = [row["value"] for row in json.loads(out)["rows"]]
    assert values == pytest.approx([2 / 3] * 2)


@pytest.mark.slow
def test_each_file_has_a_question_of_its_own(run, model_file):
    problems = [f"{model_file}?reach={states}" for states in ("goal", "2", "2&optimum=min")]
    options = ("--solvers", "default", "--json", *QUICK)
    code, out, _ = run(
        "compare", "matches?matches=9", model_file, *problems, "--reach", "1", *options
    )
    assert code == 2  # --reach is for files
    code, out, _ = run("compare", "matches?matches=9", *problems, *options)
    assert code == 0
    rows = json.loads(out)["rows"]
    assert [row["problem"] for row in rows] == ["matches?matches=9", *problems]
    assert [row["value"] for row in rows][1:] == pytest.approx([2 / 3, 1 / 3, 1 / 3])


@pytest.mark.deep
def test_all_methods_on_a_game(run):
    code, out, _ = run("compare", "wubbel?goal=10", "--json", *QUICK[:-1], "2")
    assert code == 0
    found = json.loads(out)
    assert len(found["rows"]) > 20
    assert not found["conflicts"]
    (ranking,) = found["ranking"].values()
    assert "default" in ranking


@pytest.mark.parametrize(
    ("text", "number"), [("4G", 4e9), ("1.5g", 1.5e9), ("4e9", 4e9), ("20M", 2e7)]
)
def test_bytes_with_a_letter(text, number):
    options = cyclopts.App(result_action="return_value")

    @options.default
    def most(*, max_bytes: Bytes = None):
        return max_bytes

    assert options(["--max-bytes", text]) == number


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name a game"),
        (("matches", "--solvers", "nothing"), "solver or searcher"),
        (("matches", "--max-bytes", "4X"), "'4X' is not a number of bytes, such as 4e9 or 4G"),
        (("matches", "--sizes", "most"), "--sizes"),
        (("matches", "--sizes", "size=3"), "parameter of Matches"),
        (("matches", "nim", "--sizes", "matches=3"), "one game"),
        (("matches", "--reach", "goal"), "for a model in a file"),
        (("matches", "--csv", "."), "folder"),
        (("matches?sticks=3",), "matches"),
        (("model.umb?reech=goal",), "reach"),
        (("model.umb?reach",), "as in reach=goal"),
        (("model.umb?optimum=most",), "optimum"),
    ],
)
def test_what_makes_no_sense_is_refused(run, arguments, words):
    code, _, error = run("compare", *arguments, *QUICK)
    assert code == 2
    assert words in error
