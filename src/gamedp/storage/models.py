"""Conversion of models and their games to JSON data and arrays, and back; their rules compared."""

from __future__ import annotations

import json
import logging
import math
import typing
from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.compiler import compile_game
from gamedp.compiler.spot_check import SPOT_CHECKS, differences
from gamedp.errors import (
    DamagedFileError,
    InvalidModelError,
    InvalidParameterError,
    UnknownNameError,
    shown,
)
from gamedp.model.model import Model
from gamedp.model.validation.forms import ARRAYS
from gamedp.rules.anatomy import encode_game, rules_digest
from gamedp.rules.exactness import written
from gamedp.rules.expand import expand, start
from gamedp.rules.game import Rules
from gamedp.rules.layout import Codec, Layout, PackedTable
from gamedp.runtime.encoding import decode, decode_object, encode, encode_object
from gamedp.runtime.registry import GAMES, class_named
from gamedp.storage.contents import EXACT, numbers_of
from gamedp.storage.folder import WAY_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from gamedp.rules.layout import StateTable


logger = logging.getLogger("gamedp")


def describe_model(model: Model) -> dict[str, Any]:
    """Return everything of a model but its arrays, as JSON data."""
    own = model.num_players == 2 and model.is_general_sum
    return {
        "game": None if model.rules is None else encode_game(model.rules.game),
        "model": {
            "num_players": int(model.num_players),
            "constant_sum": None if own else float(model.constant_sum),
            "rounding": list(model.rounding),
            "mean_rewards": bool(model.mean_rewards),
            "seconds": encode(dict(model.seconds)),
            "digest": model.digest(),
        },
        "states": _encode_states(model.states),
        "names": {
            "actions": list(model.action_names),
            "own_actions": len(model.actions),
            "variables": [[name, column.dtype.name] for name, column in model.variables.items()],
        },
        "notes": list(model.notes),
    }


def arrays_of_model(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model, with the codes of its states and variables if it has any."""
    arrays = {name: getattr(model, name) for name in ARRAYS}
    for name, given in model.fractions.items():
        arrays[EXACT[name]] = np.frombuffer(written(given.tolist()).encode(), np.uint8)
    if model.variables:
        columns = [column.astype(np.int64, copy=False) for column in model.variables.values()]
        arrays["variables"] = np.stack(columns)
    if isinstance(model.states, PackedTable):
        arrays["codes"] = model.states.codes
    return arrays


def restore_model(
    folder: Path, content: dict[str, Any], arrays: Mapping[str, NDArray[Any]], game: Any
) -> Model:
    """Return the described model, after checking that its rules are unchanged.

    Parameters
    ----------
    folder : Path
    content : dict
        What `describe_model` has returned.
    arrays : mapping of name to array
        In the right shapes.
    game
        The model's game; None for a model of arrays.

    Raises
    ------
    DamagedFileError
        If the arrays do not belong together, or the rules have changed since.
    """
    rules = None if game is None else Rules(game)
    saved = content["model"]
    states: StateTable | None = None
    if rules is not None and content["states"]["kind"] == "packed":
        states = _packed_table(folder, rules, content["states"], arrays["codes"])
    elif rules is not None:
        states = _recompiled_states(folder, rules, saved["digest"])
    fields: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
    try:
        model = Model(
            **fields,
            num_players=saved["num_players"],
            constant_sum=saved["constant_sum"] or 0.0,
            mean_rewards=saved.get("mean_rewards") is True,
            states=states,
            rules=rules,
            actions=_own_actions(folder, rules, content, arrays, states),
            seconds=seconds_of(folder, decode(saved["seconds"])),
            rounding=_rounding(folder, saved.get("rounding", [0.0, 0.0, 0.0])),
            fractions=_fractions(folder, arrays),
            **_names(content, arrays),
        )
    except InvalidModelError as error:
        message = f"the arrays of the model in {folder} do not belong together: {error} {WAY_OUT}."
        raise DamagedFileError(message) from error
    if model.digest() != saved["digest"]:
        message = f"the arrays of the model in {folder} do not belong together. {WAY_OUT}."
        raise DamagedFileError(message)
    if rules is not None:
        _check_rules(folder, model, content["game"]["rules"])
    return model


def _fractions(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays that were saved, with their Fractions."""
    found = {}
    for name, file in EXACT.items():
        if file in arrays:
            found[name] = np.array(
                numbers_of(folder, arrays[file], len(arrays[name]), math.isfinite), object
            )
    return found


def _names(content: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the names of actions, the variables of states and notes; older folders have none."""
    saved = content.get("names", {"actions": [], "variables": []})
    variables = {
        name: np.ascontiguousarray(column).astype(dtype, copy=False)
        for (name, dtype), column in zip(
            saved["variables"], arrays.get("variables", ()), strict=True
        )
    }
    return {
        "action_names": tuple(saved["actions"]),
        "variables": variables,
        "notes": tuple(map(str, content.get("notes", []))),
    }


def _own_actions(
    folder: Path,
    rules: Rules | None,
    content: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    states: StateTable | None,
) -> tuple[Any, ...]:
    """Return the actions that are not integers, from the rules: they may be anything."""
    count = content.get("names", {}).get("own_actions", 0)
    if not count or rules is None or states is None:
        return ()
    labels, offsets = arrays["action_labels"], arrays["choice_offsets"]
    known, first = np.unique(labels, return_index=True)
    found = []
    for choice in first.tolist():
        index = int(offsets.searchsorted(choice, "right")) - 1
        choices = expand(rules, states.state(index)).choices
        place = choice - int(offsets[index])
        if place >= len(choices):
            how = f"{shown(states.state(index))} has fewer actions"
            raise DamagedFileError(changed(folder, rules.game, how))
        found.append(choices[place].action)
    if len(known) != count or (known != np.arange(len(known))).any():
        message = f"the actions of the model in {folder} are not numbered 0 to {count - 1}."
        raise DamagedFileError(message)
    return tuple(found)


def seconds_of(folder: Path, saved: Any) -> dict[str, float]:
    """Return what a model's phases have taken."""
    try:
        return {str(phase): float(seconds) for phase, seconds in saved.items()}
    except (AttributeError, TypeError, ValueError, OverflowError):
        message = f"the model in {folder} has {shown(saved)} for its seconds. {WAY_OUT}."
        raise DamagedFileError(message) from None


def _rounding(folder: Path, saved: Any) -> tuple[float, float, float]:
    """Return the distance of the rules' numbers from the stored ones."""
    try:
        payoffs, rewards, part = map(float, saved)
    except (TypeError, ValueError):
        payoffs = rewards = part = np.nan
    if not min(payoffs, rewards, part) >= 0:
        message = f"the model in {folder} has {saved!r} for its rounding. {WAY_OUT}."
        raise DamagedFileError(message)
    return payoffs, rewards, part


def _encode_states(states: StateTable | None) -> dict[str, Any]:
    """Describe the packing of states; unpacked ones cannot be kept, as they may be anything."""
    if states is None:
        return {"kind": "numbers"}
    if not isinstance(states, PackedTable):
        return {"kind": "objects"}
    codec = states.codec
    return {
        "kind": "packed",
        "layout": encode_layout(states.layout),
        "low": codec.low.tolist(),
        "high": codec.high.tolist(),
        "stride": codec.stride.tolist(),
        "word": codec.word.tolist(),
        "num_words": codec.num_words,
        "size": codec.size,
    }


def encode_layout(layout: Layout) -> Any:
    """Describe the layout of a state: the names and kinds of its fields."""
    if layout.is_leaf:
        return layout.kind.__name__
    parts = [encode_layout(part) for part in layout.parts]
    if layout.kind is tuple:
        return parts
    return {"name": layout.kind.__name__, "fields": dict(zip(layout.fields, parts, strict=True))}


def _packed_table(
    folder: Path, rules: Rules, saved: dict[str, Any], codes: NDArray[np.int64]
) -> PackedTable:
    """Return the table of states, built from the present classes of the rules."""
    layout = Layout.of(start(rules)[0][1])
    if layout is None or encode_layout(layout) != saved["layout"]:
        now = None if layout is None else encode_layout(layout)
        how = f"a state is now {now}, and was {saved['layout']}"
        raise DamagedFileError(changed(folder, rules.game, how))
    low, high, stride, word = (
        np.array(saved[name], np.int64) for name in ("low", "high", "stride", "word")
    )
    if ((stride != 0) & (high <= low)).any():
        message = f"{folder}: a field of the states has no values, from {low} to below {high}."
        raise DamagedFileError(message)
    codec = Codec(low, high, stride, word, saved["num_words"], saved["size"])
    num_fields = sum(1 for _ in layout.names())
    has_all = {each.shape for each in (low, high, stride, word)} == {(num_fields,)}
    ends = np.stack([low, high - 1]) if has_all else None
    if (
        ends is None
        or codes.shape != (len(codes), codec.num_words)
        or not ((word >= 0) & (word < codec.num_words)).all()
        or not np.array_equal(codec.unpack(codec.pack(ends)), ends)
    ):
        message = f"{folder}: its manifest does not say how the fields of a state are kept."
        raise DamagedFileError(message)
    return PackedTable(layout, codec, codes)


def _recompiled_states(folder: Path, rules: Rules, digest: str) -> StateTable | None:
    """Return states that could not be saved, by exploring the rules again."""
    try:
        model: Model = compile_game(rules.game, compile="never")
    except InvalidModelError as error:
        raise DamagedFileError(changed(folder, rules.game, str(error))) from error
    if model.digest() != digest:
        how = "exploring them, for these states are not saved, gives another model"
        raise DamagedFileError(changed(folder, rules.game, how))
    return model.states


def _check_rules(folder: Path, model: Model, saved_digest: str | None) -> None:
    """Raise unless the rules still agree with the model."""
    rules = typing.cast("Rules", model.rules)
    mine, saved_sums = (
        (each.num_players, each.is_general_sum, each.constant_sum) for each in (rules, model)
    )
    if mine != saved_sums:
        how = "num_players or constant_sum has another value"
        raise DamagedFileError(changed(folder, rules.game, how))
    begin = {(state, swapped): float(share) for share, state, swapped in start(rules)}
    saved = zip(model.initial_states.tolist(), model.initial_probabilities.tolist(), strict=True)
    if begin != {
        (model.state(state), probability < 0): abs(probability) for state, probability in saved
    }:
        raise DamagedFileError(changed(folder, rules.game, "the game starts elsewhere"))
    count = min(SPOT_CHECKS, model.num_states)
    places: Iterable[int] = np.linspace(0, model.num_states - 1, count).astype(int).tolist()
    if saved_digest is None or rules_digest(rules.game) != saved_digest:
        logger.info("the rules of %r may have changed: every state is compared", rules.game)
        places = range(model.num_states)
    for index in places:
        difference = differences(rules, model, index)
        if difference:
            raise DamagedFileError(changed(folder, rules.game, difference))


def game_of(folder: Path, saved: dict[str, Any] | None, game: Any) -> Any:
    """Return the solved game, or None for a model of arrays; raise if it has changed.

    Parameters
    ----------
    folder : Path
    saved : dict or None
        What `encode_game` has written.
    game
        The game that the user has passed, or None.
    """
    if saved is None:
        if game is not None:
            message = f"the model in {folder} was made of arrays; leave game={shown(game)} out."
            raise InvalidParameterError(message)
        return None
    if game is not None:
        _check_game(folder, saved, game)
        return game
    try:
        return decode_object(saved, lambda path: class_named(GAMES, path))
    except UnknownNameError as error:
        message = (
            f"the game that is solved in {folder} cannot be loaded: {error} Pass it: "
            f"gamedp.load({str(folder)!r}, game=...), or --game file.py:ClassName on the command "
            "line."
        )
        raise UnknownNameError(message) from error


def _check_game(folder: Path, saved: dict[str, Any], game: Any) -> None:
    """Raise unless `game` has the name and the parameters of the game that was solved."""
    given = encode_object(game)
    name = saved["class"].rpartition(":")[2].rpartition(".")[2]
    different = sorted(
        key
        for key in saved["fields"].keys() | given["fields"].keys()
        if json.dumps(saved["fields"].get(key)) != json.dumps(given["fields"].get(key))
    )
    if name != type(game).__name__:
        different = ["its class"]
    if different:
        message = (
            f"the solution in {folder} is of {saved['name']}, not of {shown(game)}: "
            f"{', '.join(different)} differ{'s' if len(different) == 1 else ''}. Load it without "
            "game=, or solve this game."
        )
        raise InvalidParameterError(message)


def changed(folder: Path, game: Any, how: str) -> str:
    """Return the message that the rules of a game differ from the saved ones."""
    return (
        f"the rules of {shown(game)} have changed since {folder} was saved: {how}. Solve and save "
        "again, or go back to the rules as they were."
    )
