"""Policies on disk: the probability of each choice, and the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gamedp.errors import DamagedFileError, GamedpError, InvalidParameterError, shown
from gamedp.policies.policy import Policy
from gamedp.rules.game import Rules
from gamedp.runtime.files import as_path
from gamedp.storage.arrays import DTYPES, check_arrays, shapes_of_model
from gamedp.storage.folder import MANIFEST, UNFIT, WAY_OUT, read_folder, write_folder
from gamedp.storage.models import arrays_of_model, describe_model, restore_model
from gamedp.storage.rules import game_of

if TYPE_CHECKING:
    import os

__all__ = ["load_policy", "save_policy"]

NOUN = "policy"

PROBABILITIES = "policy_probabilities"


def save_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Save a policy and its model as a folder; see :func:`gamedp.save`.

    Its source, such as a function, is not kept.

    Raises
    ------
    DamagedFileError
        If the folder holds something else, such as a solution, which is not overwritten.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    content = {"name": policy.name, **describe_model(policy.model)}
    arrays = arrays_of_model(policy.model) | {PROBABILITIES: policy.probabilities}
    write_folder(as_path(path), content, arrays, NOUN)


def load_policy(path: str | os.PathLike[str], game: Any = None) -> Policy:
    """Load a policy that `save_policy` has saved; see :func:`gamedp.load`."""
    folder = as_path(path)
    content, arrays = read_folder(folder, NOUN)
    if game is not None:
        Rules(game)  # refuses what is no game
    try:
        shapes = shapes_of_model(arrays, content)
        shapes[PROBABILITIES] = shapes["action_labels"]
        check_arrays(
            folder, arrays, content["arrays"], shapes, {**DTYPES, PROBABILITIES: (np.float64,)}
        )
        model = restore_model(folder, content, arrays, game_of(folder, content["game"], game))
        name = content["name"]
    except GamedpError:
        raise
    except UNFIT as error:
        message = f"{folder / MANIFEST} does not say what a policy must ({error!r}). {WAY_OUT}."
        raise DamagedFileError(message) from error
    if not isinstance(name, str):
        message = f"{folder / MANIFEST} calls its policy {shown(name)}, no text. {WAY_OUT}."
        raise DamagedFileError(message)
    try:
        return Policy(model, arrays[PROBABILITIES], name)
    except InvalidParameterError as error:
        message = f"the numbers in {folder} are no policy: {error} {WAY_OUT}."
        raise DamagedFileError(message) from error
