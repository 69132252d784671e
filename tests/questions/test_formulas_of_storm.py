"""A hundred formulas and more, against Storm's exact engine.

What it says is kept in ``formulas_of_storm.json``, with its version; so this runs without it.
Where stormpy is installed, it is asked again. ``python tests/questions/test_formulas_of_storm.py``
writes the file.
"""

import json
import math
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest

import gamedp

KEPT = Path(__file__).with_name("formulas_of_storm.json")
CASES = json.loads(KEPT.read_text())["cases"] if KEPT.is_file() else []


def model_of(case, folder):
    path = Path(folder) / "process.drn"
    path.write_text(case["drn"])
    return gamedp.read_model(path)


def number(text):
    return math.inf if text == "inf" else Fraction(text)


def test_there_are_enough_of_each_kind():
    kinds = [case["kind"] for case in CASES]
    assert len(kinds) >= 120
    assert min(kinds.count(kind) for kind in set(kinds)) >= 30
    assert len({case["formula"] for case in CASES}) >= 100


@pytest.mark.parametrize("number_of_case", range(len(CASES)))
def test_bounds_contain_what_storm_says_and_bounds_at_it_are_decided(number_of_case, tmp_path):
    case = CASES[number_of_case]
    loaded, text = model_of(case, tmp_path), case["formula"]
    answer = gamedp.ask(loaded, text)
    for state, value in enumerate(map(number, case["values"])):
        low, high = answer.bounds(state)
        assert low <= value <= high, (text, state)
        assert math.isinf(value) or high - low <= 1e-6 * max(1, abs(value))
    (start,) = answer.starts.tolist()
    value = number(case["values"][start])
    if math.isinf(value):
        return
    for compare, holds in ((">=", "yes"), (">", "no"), ("<=", "yes"), ("<", "no")):
        bound = text.replace("=?", f"{compare}{value.numerator}/{value.denominator}", 1)
        assert gamedp.ask(loaded, bound).holds == holds, bound


@pytest.mark.parametrize("number_of_case", range(0, len(CASES), 5))
def test_storm_still_says_so(number_of_case, tmp_path):
    pytest.importorskip("stormpy", reason="stormpy, with which we compare, is not installed")
    from storm_models import answers, exact_model

    case = CASES[number_of_case]
    path = tmp_path / "process.umb"
    gamedp.write_model(path, model_of(case, tmp_path))
    found = answers(exact_model(path), case["formula"])
    assert found == list(map(number, case["values"]))


def write():
    """Ask Storm, and keep what it says."""
    import storm_models
    import stormpy
    from formulas import KINDS, random_formula

    storm_models._decimal = str  # as fractions, which are exact
    cases = []
    for seed in range(40):
        process = storm_models.random_process(seed)
        with tempfile.TemporaryDirectory() as folder:
            case = {"drn": process.drn()}
            path = Path(folder) / "process.umb"
            gamedp.write_model(path, model_of(case, folder))
            model = storm_models.exact_model(path)
        for place, kind in enumerate(KINDS):
            text = random_formula(kind, 10 * seed + place)
            try:
                values = storm_models.answers(model, text)
            except RuntimeError:  # Storm does not read it
                continue
            cases.append({**case, "kind": kind, "formula": text, "values": list(map(str, values))})
    source = f"stormpy {stormpy.__version__}, exact engine"
    KEPT.write_text(json.dumps({"source": source, "cases": cases}, indent=0) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))
    write()
