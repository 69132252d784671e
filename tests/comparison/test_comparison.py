"""Comparisons: what is measured, who is believed, and what is kept."""

import functools
import json
import math

import attrs
import numba
import numpy as np
import pytest
import wrong_answers
from hypothesis import given, strategies as st

import gamedp
from gamedp.comparison import Comparison, Measurement, read_rows
from gamedp.errors import InvalidParameterError, UnknownNameError
from gamedp.games.kniffel import Kniffel
from gamedp.games.matches import Matches, Nim
from gamedp.games.wubbel import Wubbel
from gamedp.testing.models import Pig

GAME = Matches(matches=18)
FEW = ["default", "value-iteration", "retrograde"]
# Each method is called once more at most, and has time enough on a slow machine in plain Python.
compare = functools.partial(gamedp.compare, seconds=0.001, max_seconds=60.0)


def of_methods(table):
    return {row.method: row for row in table.rows}


def row(method, low, high, *, seconds=(1.0,), guarantee="TWO_SIDED", problem="p", **more):
    """Return a solved row with bounds at the start alone."""
    return Measurement(
        problem=problem,
        method=method,
        kind="solver",
        status="SOLVED",
        guarantee=guarantee,
        value=(low + high) / 2,
        lower=low,
        upper=high,
        warm_seconds=seconds,
        **more,
    )


class TestMeasuring:
    def test_all_methods_have_a_row(self):
        table = compare(GAME, max_seconds=5.0)
        rows = of_methods(table)
        known = gamedp.runtime.registry.registered
        assert set(rows) == {"default", *known("gamedp.solvers"), *known("gamedp.searchers")}
        assert not table.conflicts
        answered = [each for each in table.rows if each.value is not None]
        assert len(answered) > 8
        for each in answered:
            low, high = each.lower, each.upper
            assert low <= 1.0 <= high
        for each in table.rows:
            assert each.value is not None or each.reason

    def test_calls_are_apart_and_counted(self):
        table = compare(GAME, solvers=FEW)
        for each in table.rows:
            assert table.verdict(each) == "proven"
            assert each.warm_seconds  # how many depends on the machine
            assert each.first_seconds > 0
            assert each.spread[0] <= each.seconds <= each.spread[1]
            assert each.touched == each.sweeps * each.transitions

    def test_a_method_at_its_limit_is_shown_and_has_no_rank(self):
        slow = gamedp.solvers.ValueIteration(max_sweeps=2)
        table = compare(Wubbel(goal=10), solvers=["default", slow])
        rows = of_methods(table)
        stopped = rows["value-iteration(max_sweeps=2)"]
        assert stopped.status == "SWEEP_LIMIT"
        assert table.verdict(stopped) == "stopped"
        assert [each.method for each in table.ranking(table.problems[0])] == ["default"]

    def test_who_finds_out_less_than_the_value_has_no_rank(self):
        table = compare(Nim(), solvers=["default", "proof-number-search", "alpha-beta"])
        rows = of_methods(table)
        verdicts = [table.verdict(each) for each in rows.values()]
        assert verdicts == ["proven", "partial", "proven"]
        ranked = [each.method for each in table.ranking(table.problems[0])]
        assert sorted(ranked) == ["alpha-beta", "default"]
        shown = [(cells[0], cells[1], cells[2]) for cells in table.cells(table.problems[0])[1:]]
        assert ("default", "proven", "1") in shown
        assert ("proof-number-search", "partial", "4.941e-324 to inf") in shown

    @pytest.mark.slow
    def test_methods_that_count_endless_play_as_0_take_part_whatever_it_counts(self):
        named = ["default", "strategy-iteration", "interval-iteration"]
        for objective in (None, gamedp.TotalReward(draw=0.25)):
            table = compare(Pig(3), objective, named, processes=True, tolerance=1e-3)
            assert [table.verdict(each) for each in table.rows] == ["proven"] * 3

    def test_payoffs_that_cannot_be_shifted_are_an_answer_of_each_method(self):
        huge = gamedp.Model.from_arrays(
            [0, 2, 4, 4, 4], [0, 1, 2, 3, 4], [1, 2, 0, 3], [1.0] * 4, players=[0, 1, 0, 0],
            terminals=[2, 3], payoffs=[1.5e308, -1.5e308], num_players=2, constant_sum=1e308,
        )  # fmt: skip
        table = compare(huge, solvers=["default", "interval-iteration"], processes=True)
        assert {table.verdict(each) for each in table.rows} == {"none"}
        assert all(each.reason for each in table.rows)

    def test_searchers_are_held_against_solvers(self):
        table = compare(GAME, solvers=["minimax", "alpha-beta", "default"])
        rows = of_methods(table)
        assert rows["minimax"].nodes > rows["alpha-beta"].nodes > 0
        assert {table.verdict(each) for each in table.rows} == {"proven"}

    def test_a_model_has_no_searchers(self):
        model = gamedp.compile(GAME)
        table = compare(model, solvers=["alpha-beta", "default"])
        assert [each.status for each in table.rows] == ["UNSUPPORTED", "SOLVED"]
        assert "rules" in table.rows[0].reason

    def test_a_staged_game_and_its_ordinary_form(self):
        small = Kniffel(dice=1, faces=2, throws=1, threshold=3)
        solvers = ["stage-induction", "default", "backward-induction"]
        table = compare(small, solvers=solvers)
        assert [table.verdict(each) for each in table.rows] == ["proven"] * 3
        assert table.rows[2].states != table.rows[0].states  # positions, and contexts

    def test_problems_keep_their_objectives(self):
        model = gamedp.Model.from_arrays([0, 1], [0, 1], [0], [1.0], rewards=[1.0])
        soon, late = (gamedp.Problem(model, gamedp.Discounted(each)) for each in (0.5, 0.9))
        table = compare({"soon": soon, "late": late}, solvers="default")
        assert [each.problem for each in table.rows] == ["soon", "late"]
        assert table.rows[0].value < table.rows[1].value

    def test_sizes_and_growth(self):
        sizes = {"matches": [100, 1_000, 10_000]}
        table = compare(Matches(), solvers=["default"], sizes=sizes)
        assert [each.size for each in table.rows] == [100.0, 1_000.0, 10_000.0]
        (growth,) = table.growth()
        assert growth.sizes == tuple(each.transitions for each in table.rows)
        assert math.isfinite(growth.exponent)  # how large depends on what else the machine does

    def test_sizes_keep_the_other_parameters_in_their_names(self):
        sizes = {"matches": [5, 18]}
        table = compare(Matches(misere=False), solvers="retrograde", sizes=sizes)
        assert table.problems == (
            "Matches(matches=5, misere=False)",
            "Matches(matches=18, misere=False)",
        )

    def test_who_fails_later_has_no_answer(self):
        late = wrong_answers.RaisingLater()
        table = compare(GAME, solvers=[late, "default"])
        failed = table.rows[0]
        assert failed.status == "FAILED"
        assert failed.value is None
        assert failed.warm_seconds == ()

    def test_what_is_raised_is_a_row(self):
        table = compare(GAME, solvers=[wrong_answers.Raising(), "default"])
        assert [each.status for each in table.rows] == ["FAILED", "SOLVED"]
        assert table.rows[0].reason == "ZeroDivisionError: on purpose"


class TestTrust:
    def test_a_wrong_solver_has_no_time_and_harms_nobody(self):
        table = compare(GAME, solvers=[wrong_answers.Wrong(), *FEW])
        rows = of_methods(table)
        assert table.verdict(rows["Wrong"]) == "conflict"
        assert len(table.conflicts) == 3
        assert all("Wrong" in str(conflict) for conflict in table.conflicts)
        assert {each.method for each in table.ranking(table.problems[0])} == set(FEW)
        assert math.isnan(table.to_columns()["seconds"][0])

    def test_of_two_that_disagree_neither_is_trusted(self):
        table = Comparison((row("one", 0.0, 1.0), row("other", 2.0, 3.0)), 1e-6)
        assert len(table.conflicts) == 1
        assert [table.verdict(each) for each in table.rows] == ["conflict", "conflict"]
        assert table.ranking("p") == []
        assert table.proven_bounds("p") == []

    def test_bounds_that_touch_agree(self):
        table = Comparison((row("one", 0.0, 1.0), row("other", 1.0, 3.0)), 1e-6)
        assert not table.conflicts
        assert table.proven_bounds("p") == [(1.0, 1.0)]
        assert table.error(table.rows[0]) == 0.5

    def test_examined_states_count(self):
        one = row("one", 0.0, 1.0, examined=((0.0, 1.0), (0.0, 1.0)))
        other = row("other", 0.0, 1.0, examined=((0.0, 1.0), (1.5, 2.0)))
        (conflict,) = Comparison((one, other), 1e-6).conflicts
        assert conflict.state == 1

    def test_nan_is_in_no_bounds(self):
        table = Comparison((row("one", 0.0, 1.0), row("nan", math.nan, math.nan)), 1e-6)
        assert len(table.conflicts) == 1

    @pytest.mark.parametrize(
        ("value", "verdict"),
        [(1.0, "confirmed"), (1.0 + 9e-7, "confirmed"), (1.0 + 2e-6, "wrong"), (math.nan, "wrong")],
    )
    def test_values_without_bounds_count_within_the_tolerance(self, value, verdict):
        peer = row("peer", value, value, guarantee="NONE")
        table = Comparison((row("one", 1.0, 1.0), peer), 1e-6)
        assert table.verdict(peer) == verdict
        assert table.counts(peer) == (verdict == "confirmed")

    def test_values_that_nobody_can_confirm_do_not_count(self):
        peer = row("peer", 1.0, 1.0, guarantee="NONE")
        table = Comparison((peer,), 1e-6)
        assert table.verdict(peer) == "unconfirmed"
        assert table.ranking("p") == []

    @given(st.lists(st.tuples(st.floats(-2, 2), st.floats(0, 1)), min_size=1, max_size=6))
    def test_what_is_left_agrees(self, intervals):
        rows = tuple(
            row(str(number), low, low + width) for number, (low, width) in enumerate(intervals)
        )
        table = Comparison(rows, 1e-6)
        trusted = table.ranking("p")
        assert all(
            max(one.lower, other.lower) <= min(one.upper, other.upper)
            for one in trusted
            for other in trusted
        )
        if not table.conflicts:
            assert len(trusted) == len(rows)
        for low, high in table.proven_bounds("p"):
            assert low <= high

    def test_ranks_are_by_the_median(self):
        quick = row("quick", 0.0, 1.0, seconds=(1.0, 2.0, 90.0))
        slow = row("slow", 0.0, 1.0, seconds=(3.0, 3.0, 3.0))
        table = Comparison((slow, quick), 1e-6)
        assert [each.method for each in table.ranking("p")] == ["quick", "slow"]


class TestProcesses:
    @pytest.mark.slow
    def test_each_method_has_its_own_process_and_limits(self, tmp_path):
        file = tmp_path / "rows.jsonl"
        wrong = [getattr(wrong_answers, name)() for name in ("Wrong", "Dying", "Mute", "Loud")]
        options = {"solvers": ["default", "retrograde", *wrong]}
        table = compare(GAME, **options, processes=True, save=file)
        rows = of_methods(table)
        verdicts = {name: table.verdict(each) for name, each in rows.items()}
        proven = dict.fromkeys(["default", "retrograde", "Loud"], "proven")
        assert verdicts == proven | {"Wrong": "conflict", "Dying": "none", "Mute": "none"}
        assert all("exit code 7" in rows[name].reason for name in ("Dying", "Mute"))
        assert rows["default"].peak_bytes > 10**7
        again = compare(GAME, **options, processes=True, save=file)
        assert again.rows == table.rows  # to the last digit: nothing was measured again

    def test_what_is_refused_at_once_needs_no_process(self, monkeypatch):
        monkeypatch.delattr("gamedp.comparison.measure.subprocess.Popen")
        table = compare(Wubbel(goal=5), solvers="backward-induction", processes=True)
        together = compare(Wubbel(goal=5), solvers="backward-induction")
        assert table.rows[0].status == together.rows[0].status == "UNSUPPORTED"
        assert table.rows[0].reason == together.rows[0].reason != ""

    @pytest.mark.deep
    def test_the_endless_and_the_greedy_are_ended(self):
        wrong = [wrong_answers.Endless(), wrong_answers.Greedy()]
        table = compare(
            GAME, solvers=[*wrong, "default"], processes=True, max_seconds=0.1, max_bytes=1e9
        )
        statuses = [each.status for each in table.rows]
        assert statuses == ["OUT_OF_TIME", "OUT_OF_MEMORY", "SOLVED"]

    @pytest.mark.slow
    def test_a_model_that_is_too_large_is_said_to_be(self, monkeypatch):
        monkeypatch.setattr("gamedp.comparison.methods.MAX_FLATTENED", 10)
        small = Kniffel(dice=1, faces=2, throws=1, threshold=3)
        options = {"processes": True}
        table = compare(small, solvers=["default", "value-iteration"], **options)
        assert [each.status for each in table.rows] == ["SOLVED", "TOO_LARGE"]
        none = compare(Wubbel(goal=50), solvers="default", max_bytes=10**5)
        assert none.rows[0].status == "TOO_LARGE"

    def test_a_class_of_the_program_itself_is_refused(self, monkeypatch):
        monkeypatch.setattr(wrong_answers.Loud, "__module__", "__main__")
        with pytest.raises(InvalidParameterError, match="Put classes into a file"):
            compare(GAME, solvers=wrong_answers.Loud(), processes=True)


class TestFiles:
    def test_it_does_what_is_left(self, tmp_path):
        file = tmp_path / "rows.jsonl"
        first = compare(GAME, solvers="default", save=file)
        with file.open("ab") as out:
            out.write(b'{"key": "torn')  # the process was killed here
        both = compare(GAME, solvers=["default", "retrograde"], save=file)
        assert both.rows[0] == first.rows[0]
        assert read_rows(file).rows == both.rows

    def test_other_options_are_measured_anew(self, tmp_path):
        file = tmp_path / "rows.jsonl"
        for tolerance in (1e-3, 1e-6):
            compare(GAME, solvers="default", tolerance=tolerance, save=file)
        assert len(read_rows(file).rows) == 2

    @pytest.mark.parametrize(
        "line",
        [
            "no json",
            "[]",
            '{"key": "a"}',
            '{"key": "a", "row": {}}',
            '{"key": "a", "row": {"problem": 1, "method": "m", "kind": "solver", "status": "S"}}',
            '{"key": "a", "row": {"problem": "p", "method": "m", "kind": "x", "status": "S"}}',
            '{"key": [], "row": {"problem": "p", "method": "m", "kind": "peer", "status": "S"}}',
        ],
    )
    def test_other_files_are_refused_and_left_alone(self, tmp_path, line):
        file = tmp_path / "rows.jsonl"
        file.write_text(f"{line}\n")
        with pytest.raises(InvalidParameterError, match="line 1"):
            compare(GAME, solvers="default", save=file)
        assert file.read_text() == f"{line}\n"

    def test_a_row_survives_json(self):
        one = row("one", -math.inf, 1.0, examined=((0.0, math.inf),), states=3, size=2.0)
        assert Measurement.from_facts(json.loads(one.to_json())) == one

    def test_what_a_row_lacks_is_named(self):
        with pytest.raises(InvalidParameterError, match="lacks method, kind"):
            Measurement.from_facts({"problem": "p", "status": "SOLVED"})


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"solvers": "value-iterations"}, "value-iteration"),
            ({"solvers": ["default", "default"]}, "twice"),
            ({"solvers": gamedp.solvers.ValueIteration}, "neither a solver nor a searcher"),
            ({"solvers": 3}, "neither a solver nor a searcher"),
            ({"peers": ["stork"]}, "storm"),
            ({"sizes": {"match": [3]}}, "matches"),
            ({"sizes": {"matches": [3], "most": [2]}}, "one parameter"),
            ({"max_seconds": 0}, "positive"),
            ({"seconds": "long"}, "positive"),
            ({"tolerance": -1}, "positive"),
            ({"save": ""}, "path"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, options, words):
        with pytest.raises((InvalidParameterError, UnknownNameError), match=words):
            compare(GAME, **options)

    def test_an_objective_beside_a_problem(self):
        problem = gamedp.Problem(gamedp.compile(GAME), gamedp.TotalReward())
        with pytest.raises(InvalidParameterError, match="an objective of its own"):
            compare(problem, gamedp.Discounted(0.5))

    def test_nothing_to_compare_on(self):
        with pytest.raises(InvalidParameterError, match="nothing to compare"):
            compare([])


class TestShowing:
    def test_tables(self):
        table = compare(GAME, solvers=[*FEW, "policy-iteration"])
        text = str(table)
        assert "19 states, 51 transitions" in text
        assert text.splitlines()[1].split()[:2] == ["method", "answer"]
        assert "<table>" in table._repr_html_()
        assert "4 methods on 1 problems" in repr(table)

    def test_columns_and_facts(self):
        table = compare(GAME, solvers=FEW)
        columns = table.to_columns()
        assert {len(column) for column in columns.values()} == {3}
        assert columns["value"].dtype == np.float64
        facts = json.loads(json.dumps(table.facts()))
        assert [each["method"] for each in facts["rows"]] == FEW
        assert sorted(facts["ranking"][table.problems[0]]) == sorted(FEW)

    def test_progress(self):
        seen = []
        compare(GAME, solvers=FEW, progress=seen.append)
        assert {each.phase for each in seen} >= {"compare"}
        assert attrs.evolve(seen[-1], seconds=0.0).total == 3


PEERS = {
    "quantecon": "quantecon",
    "mdpsolver": "mdpsolver",
    "pymdptoolbox": "mdptoolbox",
    "jaxdp": "jaxdp",
}


class TestPeers:
    @pytest.mark.parametrize("optimum", ["max", "min"])
    @pytest.mark.parametrize("name", PEERS)
    def test_discounted_problems(self, name, optimum):
        pytest.importorskip(PEERS[name])
        if name == "quantecon" and numba.config.DISABLE_JIT:
            pytest.skip("QuantEcon's own kernels do not run uncompiled")
        rng = np.random.default_rng(1)
        model = gamedp.Model.from_arrays(
            [0, 2, 5, 6, 6],
            [0, 2, 3, 5, 6, 7, 9],
            [0, 1, 2, 1, 3, 0, 3, 2, 3],
            [0.5, 0.5, 1.0, 0.25, 0.75, 1.0, 1.0, 0.5, 0.5],
            rewards=rng.normal(size=6),
            payoffs=[4.0],
        )
        objective = gamedp.Discounted(0.9, optimum)
        table = compare(model, objective, ["default"], peers=[name])
        assert [table.verdict(each) for each in table.rows] == ["proven", "confirmed"]
        assert table.error(table.rows[1]) < 1e-5

    def test_a_model_too_large_to_be_dense(self):
        states = np.arange(4000)
        ring = gamedp.Model.from_arrays(
            np.append(states, 4000), np.append(states, 4000), (states + 1) % 4000, np.ones(4000)
        )
        table = compare(ring, gamedp.Discounted(0.9), "default", peers=["jaxdp"])
        assert "dense entries" in table.rows[1].reason

    @pytest.mark.parametrize("game", [Wubbel(goal=4), Matches(matches=7)])
    def test_openspiel(self, game):
        pytest.importorskip("pyspiel")
        pytest.importorskip("cvxpy")
        table = compare(game, solvers="default", peers=["openspiel"])
        assert [table.verdict(each) for each in table.rows] == ["proven", "confirmed"]
        assert table.error(table.rows[1]) < 1e-5

    def test_what_openspiel_is_not_asked(self):
        pays_on_the_way = gamedp.Model.from_arrays(
            [0, 1, 1], [0, 1], [1], [1.0], rewards=[2.0], terminals=[1]
        )
        table = compare(pays_on_the_way, solvers="default", peers=["openspiel"])
        assert "pay at the end alone" in table.rows[1].reason
        table = compare(pays_on_the_way, gamedp.Discounted(0.5), "default", peers=["openspiel"])
        assert "one player or two opponents" in table.rows[1].reason

    @pytest.mark.parametrize("optimum", ["max", "min"])
    def test_storm(self, optimum):
        pytest.importorskip("stormpy")
        model = gamedp.Model.from_arrays(
            [0, 2, 3, 3],
            [0, 2, 4, 6],
            [0, 1, 1, 2, 0, 2],
            [0.5] * 6,
            terminals=[2],
            rewards=[1.0, 2.0, 3.0],
        )
        goal = np.array([False, False, True])
        for objective in (
            gamedp.Reachability(goal, optimum=optimum),
            gamedp.TotalReward(optimum, until=goal),
        ):
            table = compare(model, objective, ["default"], peers=["storm"])
            assert [table.verdict(each) for each in table.rows] == ["proven", "confirmed"]

    def test_a_peer_says_what_it_is_asked(self):
        table = compare(GAME, solvers="default", peers=True)
        statuses = {each.method: each.status for each in table.rows if each.kind == "peer"}
        assert statuses.pop("openspiel") in {"SOLVED", "NOT_INSTALLED"}
        assert set(statuses.values()) <= {"UNSUPPORTED", "NOT_INSTALLED"}
        asked = [each for each in table.rows if each.kind == "peer" and not each.is_solved]
        assert all(each.reason for each in asked)
