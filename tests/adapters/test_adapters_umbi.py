"""Archives of models, against `umbi`: the format's own library reads ours, and we read its."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import gamedp
from gamedp.testing.strategies import models

umbi = pytest.importorskip("umbi", reason="umbi, with which we compare, is not installed")

from umbi.binary import SizedType  # noqa: E402 - after what may skip all of this
from umbi.datatypes import NumericPrimitiveType, PrimitiveType  # noqa: E402
from umbi.umb.index import AnnotationDescription  # noqa: E402

CAREFUL = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

BOOL, DOUBLE, RATIONAL = (
    SizedType.for_type(kind)
    for kind in (PrimitiveType.BOOL, NumericPrimitiveType.DOUBLE, NumericPrimitiveType.RATIONAL)
)


@CAREFUL
@given(model=models(swaps=False), ends=st.sampled_from(["loop", "none"]))
def test_umbi_reads_what_is_written(tmp_path, model, ends):
    path = tmp_path / "model.umb"
    even = [state for state in range(model.num_states) if state % 2 == 0]
    gamedp.write_model(path, model, labels={"even": even}, ends=ends)
    written = gamedp.read_model(path)
    found = umbi.umb.read(path, strict=True)
    system, ours = found.index.transition_system, written.model
    offsets = found.state_to_choices or list(range(ours.num_states + 1))
    assert offsets == ours.choice_offsets.tolist()
    assert (found.choice_to_branches or list(range(ours.num_choices + 1))) == (
        ours.transition_offsets.tolist()
    )
    assert found.branch_to_target == ours.successors.tolist()
    assert found.branch_to_probability == ours.probabilities.tolist()
    assert np.flatnonzero(found.state_is_initial).tolist() == ours.initial_states.tolist()
    if model.num_players == 2:
        assert found.state_to_player == ours.players.tolist()
    assert system.num_players in ({2} if model.num_players == 2 else {0, 1})
    if found.choice_to_choice_action is not None:
        assert found.choice_to_choice_action == ours.action_labels.tolist()
    assert found.annotations["aps"]["even"]["states"] == written.labels["even"].tolist()
    if written.rewards:
        assert found.annotations["rewards"]["reward"]["choices"] == (
            written.rewards["reward"].tolist()
        )
    assert umbi.ats.read(path).num_states == ours.num_states


def as_umb(model, *, exact):
    """Return a model as the library's own object, probabilities as fractions if asked to."""
    umb = umbi.umb.ExplicitUmb()
    system = umb.index.transition_system
    system.num_states, system.num_choices = model.num_states, model.num_choices
    system.num_branches, system.num_initial_states = model.num_transitions, 1
    system.num_players = model.num_players
    if model.num_players == 2:
        system.player_to_name = ["one", "other"]
        umb.state_to_player = model.players.tolist()
    umb.state_is_initial = [state == 0 for state in range(model.num_states)]
    umb.state_to_choices = model.choice_offsets.tolist()
    umb.choice_to_branches = model.transition_offsets.tolist()
    umb.branch_to_target = model.successors.tolist()
    probabilities = model.probabilities.tolist()
    umb.branch_to_probability = (
        [Fraction(chance) for chance in probabilities] if exact else probabilities
    )
    system.branch_probability_type = RATIONAL if exact else DOUBLE
    states = [float(state) for state in range(model.num_states)]
    umb.annotations = {
        "aps": {"odd": {"states": [state % 2 == 1 for state in range(model.num_states)]}},
        "rewards": {"r": {"states": states, "choices": model.rewards.tolist()}},
    }
    umb.index.annotations = {
        "aps": {"odd": AnnotationDescription(applies_to=["states"], type=BOOL)},
        "rewards": {"r": AnnotationDescription(applies_to=["states", "choices"], type=DOUBLE)},
    }
    return umb


@CAREFUL
@given(model=models(swaps=False), exact=st.booleans())
def test_what_umbi_writes_is_read(tmp_path, model, exact):
    path = tmp_path / "model.umb"
    if exact:  # quarters, for a double as a fraction may have more than 64 bits
        model = attrs_with_quarters(model)
    umbi.umb.write(as_umb(model, exact=exact), path)
    loaded = gamedp.read_model(path)
    for name in ("choice_offsets", "transition_offsets", "successors", "probabilities"):
        assert getattr(loaded.model, name).tolist() == getattr(model, name).tolist()
    assert loaded.model.players.tolist() == model.players.tolist()
    assert loaded.states("odd").tolist() == [state % 2 == 1 for state in range(model.num_states)]
    of_state = np.repeat(np.arange(model.num_states), np.diff(model.choice_offsets))
    sums = of_state + model.rewards  # gamedp adds the decimals that are shown: 1.0 - 0.9 = 0.1
    room = np.spacing(np.abs(of_state) + np.abs(model.rewards))
    assert (np.abs(loaded.rewards["r"] - sums) <= room).all()
    assert not loaded.notes or len(model.terminals) > 0


def attrs_with_quarters(model):
    """Return a model of the same size, each choice with one sure transition."""
    return gamedp.Model.from_arrays(
        model.choice_offsets,
        np.arange(model.num_choices + 1) * 2,
        np.tile([0, model.num_states - 1], model.num_choices),
        np.tile([0.25, 0.75], model.num_choices),
        rewards=model.rewards,
        players=model.players,
        terminals=model.terminals,
        num_players=model.num_players,
    )
