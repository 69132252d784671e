"""Tables by tiers: right, the same bytes however they come about, and what is wrong is noticed."""

import errno
import gc
import hashlib
import json
import math
import os
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import attrs
import numba
import numpy as np
import pytest
import table_games
from hypothesis import HealthCheck, given, settings, strategies as st
from table_games import Crossing, Floors, Walk, digest

import gamedp
from gamedp.errors import (
    CompilationError,
    CompilationWarning,
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    LimitExceededError,
    UnknownStateError,
    UnsupportedProblemError,
)
from gamedp.games.mancala import Mancala
from gamedp.games.matches import Matches
from gamedp.games.wubbel import State, Wubbel
from gamedp.runtime import files
from gamedp.runtime.block_file import BlockFile, write_blocks
from gamedp.searchers import AlphaBeta
from gamedp.tables import Tables, blocks, filling, tabulate

PIG = Wubbel.pig(12)
GAMES = [
    PIG, Wubbel(goal=15), Wubbel(goal=9, grace=True), Wubbel(goal=1), Floors(),
    Floors(seed=1, symmetric=True), Floors(seed=2, levels=9, places=3), Walk(),
    Crossing(2),
]  # fmt: skip


def positions(game):
    """Return all states of a game's box that are real and represent themselves."""
    rules = gamedp.rules.Rules(game)
    model = gamedp.compile(game, states="all")
    states = map(model.state, range(model.num_states))
    return model, [each for each in states if not rules.is_terminal(each)]


@pytest.fixture(scope="module")
def pig(tmp_path_factory):
    return tabulate(PIG, tmp_path_factory.mktemp("pig") / "tables")


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_bounds_contain_the_exact_values_of_all_positions(game, tmp_path):
    tables = tabulate(game, tmp_path)
    model, states = positions(game)
    exact = gamedp.solve(model, solver=gamedp.solvers.ExactPolicyIteration())
    assert states
    for state in states:
        for player in range(gamedp.rules.Rules(game).num_players):
            low, high = tables.bounds(state, player)
            least, most = exact.bounds(state, player)
            assert Fraction(low) <= Fraction(most)
            assert Fraction(least) <= Fraction(high)
            assert low <= tables.value(state, player) <= high
            assert high - low <= tables.width + 1e-14  # and the rounding of both
    assert tables.width <= tables.tolerance
    assert tables.guarantee is gamedp.Guarantee.TWO_SIDED


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10**5), symmetric=st.booleans(), data=st.data())
def test_errors_of_ends_go_into_the_bounds(seed, symmetric, data, monkeypatch, tmp_path_factory):
    """Whatever the blocks below are wrong by, as long as their error says so."""
    game = Floors(seed, levels=6, places=4, symmetric=symmetric)
    drawn = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    encoded = filling.encoded

    def wrong(values, error, coarsest):
        shift = 1e-3 * drawn.choice([-1.0, 1.0])  # one way: then nothing cancels out
        return encoded(values + shift, error + 1e-3, coarsest)

    with monkeypatch.context() as patch:
        patch.setattr(filling, "encoded", wrong)
        tables = tabulate(game, tmp_path_factory.mktemp("wrong"), tolerance=1.0)
    model, states = positions(game)
    exact = gamedp.solve(model, solver=gamedp.solvers.ExactPolicyIteration())
    for state in states:
        low, high = tables.bounds(state)
        least, most = exact.bounds(state)
        assert low <= most
        assert least <= high


def test_the_game_of_pig(tmp_path):
    """T. Neller, C. Presser, "Optimal Play of the Dice Game Pig" (2004): 0.5306 to 100."""
    tables = tabulate(Wubbel.pig(50), tmp_path)
    solution = gamedp.solve(Wubbel.pig(50), tolerance=1e-10)
    low, high = tables.bounds()
    assert low <= solution.value() <= high
    drawn = np.random.default_rng(1)
    for index in drawn.integers(solution.model.num_states, size=500).tolist():
        state = solution.model.state(index)
        low, high = tables.bounds(state)
        assert low - 1e-10 <= solution.value(state) <= high + 1e-10
        if state.own + state.turn < 50:
            assert set(solution.best_actions(state, certain=True)) <= set(
                tables.best_actions(state)
            )


def test_values_for_either_player_and_for_plain_tuples(pig):
    state = State(1, 3, 4, 2)
    assert pig.value(state, 0) == pytest.approx(1 - pig.value((0, 3, 4, 2), 0), abs=1e-12)
    assert pig.bounds((1, 3, 4, 2), 1) == pig.bounds(State(0, 3, 4, 2))
    assert pig.bounds(State(0, 8, 3, 4)) == (1.0, 1.0)  # the game is over
    assert pig.value() == pig.value(State(0, 0, 0, 0))
    assert pig.best_actions() == [0]


@pytest.mark.parametrize(
    "state", [State(0, 12, 13, -5), State(0, 5, 5, -1), State(0, 1, 12, 0), 3, (1, 2), "abcd"]
)
def test_states_that_are_not_there(pig, state):
    with pytest.raises(UnknownStateError, match=r"outside the box|does not fit|not an integer"):
        pig.value(state)


def test_players_that_are_not_there(pig, tmp_path):
    with pytest.raises(InvalidParameterError, match="player is 2"):
        pig.value(player=2)
    with pytest.raises(InvalidParameterError, match="player is 1"):
        tabulate(Walk(), tmp_path).bounds(player=1)


def test_only_what_is_asked_for_is_made(tmp_path):
    tables = tabulate(PIG, tmp_path, last_tier=5)
    assert "4 of 23 tiers" in repr(tables)
    assert tables.value(State(0, 9, 10, 0)) > 0.5
    with pytest.raises(UnknownStateError, match="tier 24 is not in the tables"):
        tables.value()
    tabulate(PIG, tmp_path, last_tier=2)
    assert "4 of 23" in repr(tables)
    assert tabulate(PIG, tmp_path).num_bytes == sum(
        path.stat().st_size for path in tmp_path.iterdir()
    )


@pytest.mark.slow
@pytest.mark.parametrize("game", [PIG, Floors(symmetric=True), Walk()], ids=repr)
def test_the_bytes_do_not_depend_on_how_they_come_about(game, tmp_path):
    tabulate(game, tmp_path / "at once")
    tiers = gamedp.tables.tables.plan_of(game).tiers
    for tier in range(tiers[0], tiers[-1] + 1):  # an explorer for each
        tabulate(game, tmp_path / "one by one", last_tier=tier)
    program = f"""
        from gamedp.games.wubbel import Wubbel
        from table_games import Floors, Walk
        from gamedp.tables import tabulate
        tabulate({game!r}, {str(tmp_path / "plain")!r})
    """
    helpers = str(Path(table_games.__file__).parent)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": helpers}
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, check=True)
    found = {name: digest(tmp_path / name) for name in ("at once", "one by one", "plain")}
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_whatever_is_kept_in_memory(kept, tmp_path, monkeypatch):
    """Tiers read several parts of lower ones, in blocks of numbers of both kinds."""
    expected = tabulate(PIG, tmp_path / "most", tolerance=2e-9, block_size=100)
    assert len({BlockFile.open(path).content["store"] for path in expected.folder.glob("t*")}) == 2
    monkeypatch.setattr(blocks, "KEPT_PARTS", kept)
    found = tabulate(PIG, tmp_path / "few", tolerance=2e-9, block_size=100)
    assert digest(found.folder) == digest(expected.folder)
    for state in (State(0, 0, 0, 0), State(0, 3, 5, 2), State(1, 10, 9, 1)):
        assert found.bounds(state) == expected.bounds(state)


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize(
    ("owner", "failing"), [(files._Hashing, "write"), (os, "fsync"), (os, "replace")]
)
def test_a_full_disk(owner, failing, place, tmp_path, monkeypatch):
    calls = []
    true = getattr(owner, failing)

    def full(*arguments, **more):
        calls.append(arguments)
        if len(calls) == place + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return true(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(owner, failing, full)
        with pytest.raises(OSError, match="No space left"):
            tabulate(Floors(), tmp_path / "full")
    assert not list((tmp_path / "full").glob("*.gamedp-tmp"))
    tabulate(Floors(), tmp_path / "full")
    tabulate(Floors(), tmp_path / "free")
    assert digest(tmp_path / "full") == digest(tmp_path / "free")


def on_the_disk(log):
    """Yield what a folder holds if power is lost after each entry of a log of what was done.

    What was written to a file is there if it was synced afterwards, and nothing else. A name that
    was changed is there for certain once the folder was synced; before that, it may be.
    """
    for end in range(len(log) + 1):
        synced, certain, perhaps = {}, {}, {}
        for kind, number, more in log[:end]:
            if kind == "file":
                synced[number] = more
            elif kind == "name":
                perhaps[more] = number
            else:
                certain.update(perhaps)
        for names in (certain, {**certain, **perhaps}):
            yield {name: synced.get(number, b"") for name, number in names.items()}


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX alone")
def test_power_that_is_lost_at_any_moment(tmp_path, monkeypatch):
    whole, log = tmp_path / "whole", []
    sync, rename = os.fsync, os.replace

    def synced(handle):
        sync(handle)
        number = os.fstat(handle).st_ino
        if number == whole.stat().st_ino:
            log.append(("folder", number, None))
        else:
            (path,) = (path for path in whole.iterdir() if path.stat().st_ino == number)
            log.append(("file", number, path.read_bytes()))

    def renamed(before, after):
        log.append(("name", Path(before).stat().st_ino, Path(after).name))
        rename(before, after)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", synced)
        patch.setattr(os, "replace", renamed)
        tabulate(Floors(), whole)
    made = {path.name: path.read_bytes() for path in whole.iterdir()}
    found = list(on_the_disk(log))
    assert found[0] == {}
    assert found[-1] == made
    assert all(held.items() <= made.items() for held in found)
    counts = [len(held) for held in found[::2]]
    assert counts == sorted(counts)  # what has been there for certain stays
    for count in range(0, len(made), 2):
        held = next(held for held in found if len(held) == count)
        folder = tmp_path / str(count)
        folder.mkdir()
        for name, content in held.items():
            (folder / name).write_bytes(content)
        tabulate(Floors(), folder)
        assert digest(folder) == digest(whole)


def flipped(path, other):
    data = bytearray(path.read_bytes())
    data[-3] ^= 4
    path.write_bytes(data)


def header_flipped(path, other):
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)


def cut(path, other):
    path.write_bytes(path.read_bytes()[:-5])


def emptied(path, other):
    path.write_bytes(b"")


def zeroed(path, other):
    path.write_bytes(bytes(path.stat().st_size))


def exchanged(path, other):
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize("damage", [flipped, header_flipped, cut, emptied, zeroed, exchanged])
def test_damage_is_named_and_made_good(damage, tmp_path):
    tables = tabulate(PIG, tmp_path)
    sound = digest(tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    path = tmp_path / "tier-000009-0000.blocks"
    damage(path, tmp_path / "tier-000010-0000.blocks")
    again = Tables.open(tmp_path, PIG)
    state = again.plan.state(7, 0)
    with pytest.raises(DamagedFileError, match=path.name):
        again.value(state)
    assert again.damaged() == [path]
    tabulate(PIG, tmp_path)
    assert digest(tmp_path) == sound
    assert again.value(state) == tables.value(state)
    kept = {one for one in tmp_path.iterdir() if one.stat().st_mtime_ns == written[one]}
    assert set(written) - kept == {path}


def test_other_rules_are_refused(tmp_path):
    tabulate(PIG, tmp_path)
    for other in (Wubbel(goal=12), Wubbel.pig(13), attrs.evolve(PIG, grace=True), Walk()):
        with pytest.raises(DamagedFileError, match=r"does not belong to .* with its present rules"):
            Tables.open(tmp_path, other)
        with pytest.raises(DamagedFileError, match="does not belong to"):
            tabulate(other, tmp_path)
    with pytest.raises(InvalidParameterError, match="made with tolerance=1e-06"):
        tabulate(PIG, tmp_path, tolerance=1e-5)
    with pytest.raises(FileNotFoundError):
        Tables.open(tmp_path / "nowhere", PIG)


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(2**70),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=2), st.none(), max_size=1)
)  # fmt: skip


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    key=st.sampled_from(["plan", "tier", "part", "store", "low", "step", "error", "more"]),
    value=ANYTHING,
)
def test_forged_blocks(key, value, pig):
    path = pig.folder / "tier-000006-0000.blocks"
    kept = path.read_bytes()
    file = BlockFile.open(path)
    data = np.concatenate([file.read(part) for part in range(len(file))])
    try:
        write_blocks(path, file.content | {key: value}, data, file.size)
        again = Tables.open(pig.folder, PIG)
        if type(value) is float and math.isfinite(value) and key in {"low", "step"}:
            again.bounds(again.plan.state(4, 0))  # a number like any other
        elif type(value) is float and 0 <= value < math.inf and key == "error":
            low, high = again.bounds(again.plan.state(4, 0))
            assert low <= high
        elif value != file.content.get(key):
            with pytest.raises(DamagedFileError, match=path.name):
                again.bounds(again.plan.state(4, 0))
    finally:
        path.write_bytes(kept)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    key=st.sampled_from(["format", "version", "content", "bytes", "size", "lengths", "crc32"]),
    value=ANYTHING | st.sampled_from([8, 4096, 2**16, 2**63, [2**70], [-1]]),
)
def test_forged_headers(key, value, pig):
    """With a right checksum: an error, or the same value as before."""
    path = pig.folder / "tier-000006-0000.blocks"
    kept = path.read_bytes()
    line, _, packed = kept.split(b"\n", 2)
    forged = json.dumps(json.loads(line) | {key: value}).encode()
    try:
        checksum = hashlib.sha256(forged).hexdigest().encode()
        path.write_bytes(b"\n".join([forged, checksum, packed]))
        again = Tables.open(pig.folder, PIG)
        state = again.plan.state(4, 0)
        try:
            assert again.bounds(state) == pig.bounds(state)
        except DamagedFileError as error:
            assert path.name in str(error)  # noqa: PT017 - or there is none
    finally:
        path.write_bytes(kept)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    key=st.sampled_from(["game", "rules", "box", "tolerance", "block_size", "more"]),
    value=ANYTHING,
    size=st.integers(0, 3000),
)
def test_forged_plans(key, value, size, pig):
    path = pig.folder / "plan.blocks"
    kept = path.read_bytes()
    try:
        write_blocks(path, BlockFile.open(path).content | {key: value}, np.ones(size, np.int8))
        with pytest.raises(DamagedFileError, match="plan"):
            Tables.open(pig.folder, PIG)
    finally:
        path.write_bytes(kept)


@pytest.mark.parametrize(
    ("fault", "error", "words"),
    [
        (
            table_games.RISING,
            InvalidModelError,
            r"action \d in Place.* which is of tier \d.*never rise",
        ),
        (table_games.LEAVING, InvalidModelError, r"action \d in Place.*outside the box"),
        (table_games.UNREAL, InvalidModelError, r"action \d in Place.*place=1.*no position"),
        (table_games.BLENDING, InvalidModelError, "canonical leads from a state of tier"),
        (table_games.STAYING, UnsupportedProblemError, "stay in tier 3 for ever, as around Place"),
    ],
)
def test_what_contradicts_the_rules_is_named(fault, error, words, tmp_path):
    with pytest.raises(error, match=words):
        tabulate(Floors(fault=fault), tmp_path)


class Fields(NamedTuple):
    left: int
    others: tuple[int, int]


@attrs.frozen
class Descent:
    """A countdown, with a part of the state in a tuple; what may be missing, or be another kind."""

    start: int = 4
    payment: float = 1.0
    tier_of: object = staticmethod(lambda state: state.left)

    def initial_state(self):
        return Fields(self.start, (0, 0))

    def is_terminal(self, state):
        return state.left == 0

    def actions(self, state):
        return (0, 1)

    def outcomes(self, state, action):
        return [(1.0, Fields(state.left - 1, (action, state.others[0])))]

    def payoff(self, state, player):
        return self.payment * state.others[0] + 0.5 * state.others[1]


class WithBox(Descent):
    def tier(self, state):
        return state.left

    def box(self):
        return {"left": (1, self.start), "others[0]": (0, 1), "others[1]": (0, 1)}


def test_parts_of_states_in_tuples(tmp_path):
    tables = tabulate(WithBox(), tmp_path)
    assert tables.value() == pytest.approx(1.5)
    assert tables.verify(50) >= 50


def test_tiers_that_read_the_state_as_a_whole(tmp_path):
    class AsAWhole(WithBox):
        def tier(self, state):
            left, _ = state
            return left

    tables = tabulate(AsAWhole(), tmp_path / "whole")
    assert tables.value() == pytest.approx(1.5)
    assert tables.plan.others == []


def test_games_that_have_no_tables(tmp_path):
    class Fractional(WithBox):
        def tier(self, state):
            return state.left / 2

    class Boxless(WithBox):
        box = None

    for game, error, words in (
        (Matches(5), UnsupportedProblemError, "no method tier and no method box"),
        (Boxless(), UnsupportedProblemError, "no method box"),
        (Fractional(), InvalidModelError, "must be an integer"),
        (WithBox(payment=1e300), UnsupportedProblemError, "below 2"),
    ):
        with pytest.raises(error, match=words):
            tabulate(game, tmp_path / words)
        assert words == "below 2" or not (tmp_path / words).exists()  # that is found while filling


@pytest.mark.slow
@pytest.mark.parametrize("block_size", [40, 1 << 16])
@pytest.mark.parametrize("game", [*GAMES, pytest.param(WithBox(), id="WithBox")], ids=repr)
def test_plain_rules_give_the_same_bytes(game, block_size, tmp_path):
    for mode in ("always", "never"):
        tabulate(game, tmp_path / mode, compile=mode, block_size=block_size)
    assert digest(tmp_path / "always") == digest(tmp_path / "never")


class Uncompilable(WithBox):
    def outcomes(self, state, action):
        return [(1.0, Fields(state.left - 1, (action, int(str(state.others[0])))))]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_rules_that_do_not_compile(tmp_path):
    with pytest.raises(CompilationError, match="of Uncompilable cannot be compiled"):
        tabulate(Uncompilable(), tmp_path, compile="always")
    with pytest.warns(CompilationWarning, match="plain Python, which is far slower"):
        tables = tabulate(Uncompilable(), tmp_path)
    assert tables.value() == pytest.approx(1.5)
    assert tables.verify(None) > 0


class Named(WithBox):
    """Its actions are words, and what it pays is no float."""

    def actions(self, state):
        return ("none", "one")

    def outcomes(self, state, action):
        return super().outcomes(state, int(action == "one"))

    def payoff(self, state, player):
        return self.payment * state.others[0]


def test_actions_that_are_no_integers(tmp_path):
    tables = tabulate(Named(), tmp_path, compile="never")
    assert tables.best_actions(Fields(1, (0, 0))) == ["one"]
    with pytest.raises(InvalidModelError, match=r"action 'one' in Fields.*outside the box"):
        tabulate(Narrow(), tmp_path / "narrow", compile="never")


class Narrow(Named):
    def box(self):
        return super().box() | {"others[0]": (0, 0)}


@pytest.mark.parametrize("payment", [Fraction(1, 3), 2**60, 2**53 + 1])
def test_payoffs_that_are_rounded_are_refused(payment):
    with pytest.raises(UnsupportedProblemError, match="64-bit floats below 2"):
        tabulate(Named(payment=payment), compile="never")


class Growing(WithBox):
    def outcomes(self, state, action):
        yield 1.0, Fields(state.left - 1, (2**70 if state.left == 1 else action, 0))


def test_fields_beyond_64_bits_in_plain_rules(tmp_path):
    with pytest.raises(InvalidModelError, match=r"Fields.*1180591620717411303424.*beyond 64 bits"):
        tabulate(Growing(), tmp_path, compile="never")


def test_limits(tmp_path):
    with pytest.raises(gamedp.NotSolvedError, match="limit of 1e-09 seconds in tier 2") as caught:
        tabulate(PIG, tmp_path / "time", max_seconds=1e-9)
    assert "0 of 23" in repr(caught.value.solution)
    with pytest.raises(gamedp.NotSolvedError, match=r"apart in tier .* rounding allows no less"):
        tabulate(Walk(), tmp_path / "fine", tolerance=1e-300)
    with pytest.raises(LimitExceededError, match="max_bytes"):
        tabulate(Wubbel.pig(40), tmp_path / "small", max_bytes=100_000)
    for name in ("tolerance", "max_seconds"):
        for value in (0.0, -1.0, math.nan, "much", None):
            with pytest.raises(InvalidParameterError, match=name):
                tabulate(PIG, tmp_path / "never", **{name: value})
    with pytest.raises(InvalidParameterError, match="last_tier"):
        tabulate(PIG, tmp_path / "never", last_tier=2.5)


@pytest.mark.parametrize("tier", [-1, 0, 1, 25, 2**70])
def test_last_tiers_that_are_not_there(tier, tmp_path):
    with pytest.raises(InvalidParameterError, match=rf"last_tier is {tier}; .* tiers 2 to 24\."):
        tabulate(PIG, tmp_path / "tables", last_tier=tier)
    assert not (tmp_path / "tables").exists()


class Third(WithBox):
    """Its ends pay a third; they are not in the tables."""

    def payoff(self, state, player):
        return Fraction(1, 3) if state.others[1] else -0.0


def test_ends_keep_what_they_pay():
    tables = tabulate(WithBox(), compile="never")
    object.__setattr__(tables.plan.rules, "game", Third())
    low, high = tables.bounds(Fields(0, (0, 1)))
    assert low < Fraction(1, 3) < high
    assert str(tables.bounds(Fields(0, (0, 0)))) == "(0.0, 0.0)"


def test_a_fine_tolerance_takes_floats(tmp_path):
    coarse, fine = (
        tabulate(PIG, tmp_path / str(width), tolerance=width) for width in (1e-6, 1e-12)
    )
    assert {BlockFile.open(path).content["store"] for path in coarse.folder.glob("tier-*")} == {
        "fixed32"
    }
    assert "float64" in {
        BlockFile.open(path).content["store"] for path in fine.folder.glob("tier-*")
    }
    assert fine.width <= 1e-12 < coarse.width
    low, high = fine.bounds()
    assert coarse.bounds()[0] <= low <= high <= coarse.bounds()[1]


def test_a_block_without_a_proof_is_not_kept(tmp_path, monkeypatch):
    def unproven(self, level):
        return np.zeros(self._plan.size(level) * 4, np.int8), {"store": "fixed32", "error": np.inf}

    monkeypatch.setattr("gamedp.tables.filling.Filler.fill", unproven)
    with pytest.raises(gamedp.NotSolvedError, match=r"no bounds could be proven in tier 2"):
        tabulate(Wubbel(5), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.blocks"]


def test_verify_finds_what_is_wrong(tmp_path, monkeypatch):
    encoded = filling.encoded

    def wrong(values, error, coarsest):
        values = values.copy()
        values[::7] += 1e-3
        return encoded(values, error, coarsest)

    with monkeypatch.context() as patch:
        patch.setattr(filling, "encoded", wrong)
        with pytest.raises(InvalidModelError, match="contradict the rules"):
            tabulate(Wubbel.pig(20), tmp_path)
    tables = Tables.open(tmp_path, Wubbel.pig(20))
    with pytest.raises(InvalidModelError, match="contradict the rules"):
        tables.verify(2000)
    with pytest.raises(DamagedFileError, match=r"tier-000002-0000.blocks differs from"):
        tables.verify(None)


@pytest.mark.parametrize(
    ("game", "options"), [(Walk(), {}), (Mancala(pits=2, stones=2), {"last_tier": 3})], ids=repr
)
@pytest.mark.parametrize("mode", ["always", "never"])
def test_a_temporary_folder_goes_with_the_last_reference(game, options, mode):
    def used():
        tables = tabulate(game, compile=mode, **options)
        if options:
            AlphaBeta(endings=tables).search(game, compile=mode)
        return tables

    used()  # what the compiler leaves behind goes late
    gc.collect()
    gc.disable()
    try:
        tables = used()
        folder = tables.folder
        assert len(list(folder.iterdir())) == 1 + tables.num_made
        if options:
            values = tables.for_search()
            del tables
            assert values.number(3, 0) is not None
            assert folder.exists()
            del values
        else:
            del tables
        assert not folder.exists()
    finally:
        gc.enable()


def test_zeros_have_no_sign():
    for coarsest in (1.0, 0.0):
        made = [blocks.encoded(np.array(values), 0.0, coarsest) for values in ([-0.0, 1], [0.0, 1])]
        assert made[0][0].tobytes() == made[1][0].tobytes()
        assert repr(made[0][1]) == repr(made[1][1])


def test_verify_makes_all_again(pig):
    assert pig.verify(None) == sum(map(pig.plan.size, range(pig.num_blocks)))
    assert pig.verify(300) >= 300
    with pytest.raises(InvalidParameterError, match="samples is 0"):
        pig.verify(0)
