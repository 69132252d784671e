"""Conversion of solutions of staged games to JSON data and arrays, and back."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gamedp.errors import DamagedFileError, InvalidParameterError, shown
from gamedp.rules.anatomy import encode_game, rules_digest
from gamedp.rules.game import StagedRules
from gamedp.rules.layout import Codec, Layout
from gamedp.stages.compile import compile_staged
from gamedp.stages.model import StagedModel
from gamedp.stages.solution import StagedSolution
from gamedp.storage.contents import check_arrays, check_contents, length, shapes_of_model
from gamedp.storage.folder import WAY_OUT
from gamedp.storage.models import (
    arrays_of_model,
    changed,
    describe_model,
    encode_layout,
    game_of,
    restore_model,
    seconds_of,
)
from gamedp.storage.results import describe_result, restore_result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.model.model import Model
    from gamedp.stages.model import Sweeper


SPOT_CHECKS = 3
"""Number of contexts in which the stage is solved again, to compare their values."""


def describe(solution: StagedSolution) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the manifest's description of a solution, and its arrays.

    Errors are the same for many contexts: each is stored once, with its number for every context.

    Raises
    ------
    InvalidParameterError
        If nobody could tell later whether the rules are still the same.
    """
    model = solution.model
    game = encode_game(model.rules.game)
    if game["rules"] is None:
        message = (
            f"the solution of {shown(model.rules.game)} cannot be saved: its rules call "
            "something other than plain functions, or read what cannot be saved, so "
            "changes of them could not be noticed."
        )
        raise InvalidParameterError(message)
    content = {
        "kind": "staged",
        **describe_result(solution),
        "game": game,
        "seconds": dict(model.seconds),
        "contexts": _describe_contexts(model.rules, model.layout),
        "stage": describe_model(model.stage),
    }
    levels, numbers = np.unique(solution.errors, return_inverse=True)
    arrays = arrays_of_model(model.stage) | {
        "values": solution.values,
        "error_levels": levels,
        "error_numbers": numbers.astype(np.min_scalar_type(len(levels))),
    }
    return content, arrays


def restore(
    folder: Path, content: dict[str, Any], arrays: Mapping[str, NDArray[Any]], game: Any
) -> StagedSolution:
    """Return the described solution; see :func:`gamedp.load`.

    Nothing is explored or compiled: the rules of the contexts are, when someone solves again.
    """
    ranges = content["contexts"]["ranges"].values()
    codec = Codec.of_ranges([low for low, _ in ranges], [high + 1 for _, high in ranges])
    shapes = shapes_of_model(arrays, content["stage"]) | {
        "values": (codec.size,),
        "error_levels": (length(arrays, "error_levels"),),
        "error_numbers": (codec.size,),
    }
    check_arrays(folder, arrays, content["arrays"], shapes)
    levels, numbers = arrays["error_levels"], arrays["error_numbers"]
    if numbers.max(initial=0) >= len(levels):
        message = f"the errors in {folder} do not belong together. {WAY_OUT}."
        raise DamagedFileError(message)
    rules = StagedRules(game_of(folder, content["game"], game))
    layout = _checked_layout(folder, content, rules)
    stage = restore_model(folder, content["stage"], arrays, rules.game.stage())
    sweeper = cast("Sweeper", _SweeperOnDemand(rules, stage))
    model = StagedModel(
        rules, stage, layout, codec, sweeper, seconds_of(folder, content["seconds"])
    )
    solution = restore_result(
        folder,
        content,
        arrays,
        StagedSolution,
        model=model,
        values=arrays["values"],
        errors=levels[numbers],
    )
    check_contents(folder, solution)
    _spot_check(folder, solution)
    return solution


def _describe_contexts(rules: StagedRules, layout: Layout) -> dict[str, Any]:
    """Describe the parts of the contexts that the digest of the rules does not cover."""
    return {
        "layout": encode_layout(layout),
        "ranges": {name: [int(end) for end in rules.game.box()[name]] for name in layout.names()},
        "initial": [
            [float(probability), layout.flatten(context)]
            for probability, context in rules.initial()
        ],
        "num_players": rules.num_players,
        "constant_sum": rules.constant_sum,
    }


def _checked_layout(folder: Path, content: dict[str, Any], rules: StagedRules) -> Layout:
    """Return the layout of contexts; raise unless their rules are the saved ones."""
    layout = Layout.of(rules.initial()[0][1])
    now = None if layout is None else encode_layout(layout)
    if layout is None or now != content["contexts"]["layout"]:
        how = f"a context is now {now}, and was {content['contexts']['layout']}"
        raise DamagedFileError(changed(folder, rules.game, how))
    contexts = _describe_contexts(rules, layout)
    different = [name for name, value in contexts.items() if value != content["contexts"][name]]
    if different:
        how = f"{', '.join(different)} of the contexts {'is' if len(different) == 1 else 'are'} new"
        raise DamagedFileError(changed(folder, rules.game, how))
    if rules_digest(rules.game) != content["game"]["rules"]:
        how = "its methods, or what they call, were edited, or this is another Python"
        raise DamagedFileError(changed(folder, rules.game, how))
    return layout


def _spot_check(folder: Path, solution: StagedSolution) -> None:
    """Raise if the rules do not give the saved values in a few contexts."""
    known = np.flatnonzero(np.isfinite(solution.values) & np.isfinite(solution.errors))
    count = min(SPOT_CHECKS, len(known))
    for code in known[np.linspace(0, len(known) - 1, count).astype(int)].tolist():
        context = solution.model.state(code)
        low, high = solution.bounds(context)
        if solution.model.rules.is_terminal(context):
            least = most = float(solution.model.rules.call("payoff", context, 0))
        else:
            least, most = solution.inside(context).bounds()
        if not (least <= high and low <= most):
            how = f"{shown(context)} has the value {least!r} to {most!r}, not {low!r} to {high!r}"
            raise DamagedFileError(changed(folder, solution.model.rules.game, how))


class _SweeperOnDemand:
    """A sweeper that prepares the rules of the contexts at the first sweep."""

    def __init__(self, rules: StagedRules, stage: Model) -> None:
        self._rules = rules
        self._stage = stage

    @functools.cached_property
    def _sweeper(self) -> Sweeper:
        return compile_staged(self._rules.game, stage=self._stage).sweeper

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._sweeper, name)
