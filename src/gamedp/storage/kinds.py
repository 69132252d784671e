"""The kinds of objects in folders: the class of each, its writer and its reader.

A kind is what a manifest says of itself: ``"format"`` and ``"kind"``. Another one takes a row in
`KINDS`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gamedp.certificates.certificate import Certificate
from gamedp.certificates.checking.checker import RULES
from gamedp.certificates.checking.rule_set import always
from gamedp.errors import DamagedFileError, GamedpError, InvalidParameterError, shown
from gamedp.policies.policy import Policy
from gamedp.results.solution import Solution
from gamedp.rules.exactness import written
from gamedp.rules.game import Rules, StagedRules, is_staged
from gamedp.runtime.files import as_path
from gamedp.stages.solution import StagedSolution
from gamedp.storage import staged
from gamedp.storage.contents import (
    DTYPES,
    check_arrays,
    check_contents,
    length,
    numbers_of,
    shapes_of_model,
)
from gamedp.storage.folder import MANIFEST, UNFIT, WAY_OUT, noun_of, read_folder, write_folder
from gamedp.storage.models import arrays_of_model, describe_model, game_of, restore_model
from gamedp.storage.results import (
    FINAL,
    SETS,
    describe_result,
    encode_objective,
    fitting,
    restore_objective,
    restore_result,
    sets_of,
    with_draw,
)

if TYPE_CHECKING:
    import os
    from fractions import Fraction

    from numpy.typing import NDArray


Content: TypeAlias = dict[str, Any]
Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"

SOLUTION_ARRAYS = ("values", "lower", "upper", "policy", "step_policies", "distances", "tight")

BIASES = ("bias_lower", "bias_upper")

FOLLOWING = ("following_values", "following_lower", "following_upper")

PROBABILITIES = "policy_probabilities"

CERTIFICATE_RULES = {"ordinary": "bounds", "staged": "stages", "equilibrium": "equilibrium"}
"""Names of a certificate's rules, by its kind in the manifest."""


def describe_solution(solution: Solution) -> tuple[Content, Arrays]:
    """Return the manifest's description of the solution of an ordinary game, and its arrays."""
    content = {
        "kind": "ordinary",
        **describe_result(solution),
        **describe_model(solution.model),
    }
    own = {name: getattr(solution, name) for name in SOLUTION_ARRAYS}
    if solution.biases is not None:
        own |= dict(zip(BIASES, solution.biases, strict=True))
    if solution.following is not None:
        own |= dict(zip(FOLLOWING, solution.following, strict=True))
    arrays = arrays_of_model(solution.model)
    arrays |= {name: array for name, array in own.items() if array is not None}
    if solution.exact is not None:
        arrays["exact"] = np.frombuffer(written(solution.exact).encode(), np.uint8)
    return content, arrays | sets_of(solution.objective)


def restore_solution(folder: Path, content: Content, arrays: Arrays, game: Any) -> Solution:
    """Return the described solution; see :func:`gamedp.load`."""
    shapes = shapes_of_model(arrays, content)
    # A row for each state and, for more than two players, the columns of rewards.
    of_values = (*shapes["players"], *shapes["rewards"][1:])
    shapes |= dict.fromkeys(("values", "lower", "upper"), of_values)
    shapes |= {
        "policy": shapes["players"],
        "distances": shapes["players"],
        **dict.fromkeys((*SETS, *BIASES, *FOLLOWING), shapes["players"]),
        FINAL: (length(arrays, FINAL),),
        "tight": shapes["action_labels"],
        "step_policies": (length(arrays, "step_policies"), *shapes["players"]),
        "exact": (length(arrays, "exact"),),
    }
    check_arrays(folder, arrays, content["arrays"], shapes)
    model = restore_model(folder, content, arrays, game_of(folder, content["game"], game))
    biases = tuple(arrays[name] for name in BIASES if name in arrays)
    following = tuple(arrays[name] for name in FOLLOWING if name in arrays)
    solution = restore_result(
        folder,
        content,
        arrays,
        Solution,
        model=model,
        exact=_exact_values(folder, arrays, model.num_states),
        biases=biases if len(biases) == len(BIASES) else None,
        following=following if len(following) == len(FOLLOWING) else None,
        **{name: arrays.get(name) for name in SOLUTION_ARRAYS},
    )
    check_contents(folder, solution)
    return solution


def _exact_values(
    folder: Path, arrays: Arrays, num_states: int
) -> tuple[Fraction | float, ...] | None:
    """Return the exact values of a folder, some of which may be infinite; None if it has none."""
    if "exact" not in arrays:
        return None
    return numbers_of(folder, arrays["exact"], num_states, math.isinf)


def describe_policy(policy: Policy) -> tuple[Content, Arrays]:
    """Return the manifest's description of a policy without its source, and its arrays."""
    arrays = arrays_of_model(policy.model) | {PROBABILITIES: policy.probabilities}
    return {"name": policy.name, **describe_model(policy.model)}, arrays


def restore_policy(folder: Path, content: Content, arrays: Arrays, game: Any) -> Policy:
    """Return the described policy; see :func:`gamedp.load`."""
    shapes = shapes_of_model(arrays, content)
    shapes[PROBABILITIES] = shapes["action_labels"]
    types = {**DTYPES, PROBABILITIES: (np.float64,)}
    check_arrays(folder, arrays, content["arrays"], shapes, types)
    model = restore_model(folder, content, arrays, game_of(folder, content["game"], game))
    name = content["name"]
    if not isinstance(name, str):
        message = f"{folder / MANIFEST} names its policy {shown(name)}, not a text. {WAY_OUT}."
        raise DamagedFileError(message)
    try:
        return Policy(model, arrays[PROBABILITIES], name)
    except InvalidParameterError as error:
        message = f"the numbers in {folder} are not a policy: {error} {WAY_OUT}."
        raise DamagedFileError(message) from error


def describe_certificate(certificate: Certificate) -> tuple[Content, Arrays]:
    """Return the manifest's description of a certificate, and its arrays; of the model, a digest.

    Raises
    ------
    InvalidParameterError
        If the objective has a set of states that cannot be written down, or the rules that it
        names, or its evidence, are unknown to this version.
    """
    found = (kind for kind, rules in CERTIFICATE_RULES.items() if rules == certificate.rules)
    kind = next(found, None)
    known = () if kind is None else [spec.name for spec in RULES[certificate.rules].arrays]
    unknown = sorted(set(certificate.evidence) - set(known))
    if kind is None or unknown:
        what = f"evidence {unknown[0]!r}" if kind else f"rules {shown(certificate.rules)}"
        message = f"a certificate with the {what} cannot be saved: this version does not know it."
        raise InvalidParameterError(message)
    content: Content = {
        "kind": kind,
        "objective": encode_objective(certificate.objective),
        "digest": certificate.digest,
    }
    if certificate.rules == "bounds":
        content["rest_shift"] = certificate.rest_shift
    given = {name: certificate.array(name) for name in known}
    arrays = {name: array for name, array in given.items() if array is not None}
    return content, arrays | sets_of(certificate.objective)


def restore_certificate(
    rules: str, folder: Path, content: Content, arrays: Arrays, _game: None
) -> Certificate:
    """Return the described certificate; see :func:`gamedp.load`."""
    _check_arrays_of_certificate(folder, arrays, content["arrays"], rules)
    ours = {*SETS, FINAL, "lower", "upper"}
    own = {name: array for name, array in arrays.items() if name not in ours}
    with fitting(folder, content, "make the certificate again"):
        objective = restore_objective(folder, content["objective"], arrays)
        rest_shift = 0
        if rules == "bounds":
            rest_shift = content["rest_shift"]
            objective = with_draw(objective, content.get("draw"))
        certificate = Certificate(
            rules=rules,
            objective=objective,
            lower=arrays["lower"],
            upper=arrays["upper"],
            evidence=own,
            rest_shift=rest_shift,
            digest=content["digest"],
        )
    check_contents(folder, certificate)
    return certificate


def _check_arrays_of_certificate(folder: Path, arrays: Arrays, files: Any, rules: str) -> None:
    """Raise unless all arrays are there, in the shapes and types that the rules require.

    The shape of `lower` gives the numbers of states and players.
    """
    specs = {spec.name: spec for spec in RULES[rules].arrays}
    axes, shape = specs["lower"].axes.split(), np.shape(arrays.get("lower", ()))
    sizes = dict.fromkeys(axes, 0) | dict(zip(axes, shape, strict=False))
    shapes = {name: spec.shape(arrays.get(name, ()), sizes) for name, spec in specs.items()}
    shapes |= {**dict.fromkeys(SETS, (sizes[axes[0]],)), FINAL: (length(arrays, FINAL),)}
    types: dict[str, tuple[type[np.generic], ...]]
    types = {name: (spec.dtype,) for name, spec in specs.items()}
    types |= {name: DTYPES[name] for name in (*SETS, FINAL)}
    optional = {*SETS, FINAL, *(name for name, spec in specs.items() if spec.needed is not always)}
    check_arrays(folder, arrays, files, shapes, types, optional)


class Kind(NamedTuple):
    """One kind of objects in folders.

    Attributes
    ----------
    holds : type
        The class of the objects.
    describe : callable
        Returns the manifest's content for an object, as JSON data, and its arrays.
    restore : callable
        Returns the object, given the folder, content and arrays as they were read, and the game
        that the user has passed, or None.
    """

    holds: type
    describe: Callable[[Any], tuple[Content, Arrays]]
    restore: Callable[[Path, Content, Arrays, Any], Any]


KINDS: dict[tuple[str, str | None], Kind] = {
    ("solution", "ordinary"): Kind(Solution, describe_solution, restore_solution),
    ("solution", "staged"): Kind(StagedSolution, staged.describe, staged.restore),
    ("policy", None): Kind(Policy, describe_policy, restore_policy),
    **{
        ("certificate", name): Kind(
            Certificate, describe_certificate, functools.partial(restore_certificate, rules)
        )
        for name, rules in CERTIFICATE_RULES.items()
    },
}
"""All kinds, by the noun in the manifest's format, and the kind in its content."""


def save(
    thing: Any, path: str | os.PathLike[str], remarks: Mapping[str, Any] | None = None
) -> None:
    """Save an object as a folder; see :func:`gamedp.save`.

    Parameters
    ----------
    thing : Solution, StagedSolution, Policy or Certificate
    path : path-like
        The folder, made if it does not exist. An object of its kind that it holds is replaced. Who
        saves waits until others who save there are done; any number may read it meanwhile.
    remarks : mapping, optional
        Further content of the manifest, as JSON data.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    InvalidParameterError
        If it is no such object, or has a part that cannot be written down.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    for (noun, _), kind in KINDS.items():
        if isinstance(thing, kind.holds):
            content, arrays = kind.describe(thing)
            write_folder(as_path(path), {**content, **(remarks or {})}, arrays, noun)
            return
    message = f"{shown(thing)} is neither a solution nor a policy nor a certificate."
    raise InvalidParameterError(message)


def load(path: str | os.PathLike[str], game: Any = None) -> Any:
    """Load an object that :func:`save` has saved; see :func:`gamedp.load`."""
    folder = as_path(path)
    noun = noun_of(folder)
    if noun == "certificate" and game is not None:
        message = f"{path} holds a certificate, which needs no game; leave it out."
        raise InvalidParameterError(message)
    return restore(folder, *read_folder(folder, noun), game, noun)


def restore(
    folder: Path, content: Content, arrays: Arrays, game: Any, noun: str = "solution"
) -> Any:
    """Return the object from the result of `read_folder`; see :func:`gamedp.load`."""
    if game is not None:
        _ = StagedRules(game) if is_staged(game) else Rules(game)  # refuses what is not a game
    # Certificates did not say their kind once.
    name = content.get("kind", "ordinary" if noun == "certificate" else None)
    kind = next((kind for key, kind in KINDS.items() if key == (noun, name)), None)
    if kind is None:
        message = (
            f"{folder} holds a {noun} of the kind {shown(name)}, written by gamedp "
            f"{content['gamedp']}, which this version cannot read. Use that one, or make and save "
            f"the {noun} again."
        )
        raise DamagedFileError(message)
    try:
        return kind.restore(folder, content, arrays, game)
    except GamedpError:
        raise
    except UNFIT as error:
        message = f"{folder / MANIFEST} does not say what a {noun} must ({error!r}). {WAY_OUT}."
        raise DamagedFileError(message) from error
