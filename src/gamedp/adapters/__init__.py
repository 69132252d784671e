"""Files of other tools; games of other libraries, and games for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamedp.adapters.environments import (
    as_discrete_dp,
    as_environment,
    as_openspiel,
    as_pettingzoo,
)
from gamedp.adapters.gymnasium import Gymnasium
from gamedp.adapters.loaded import LoadedModel
from gamedp.adapters.openspiel import OpenSpiel
from gamedp.adapters.parts import FileFormat, Parts, assemble
from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime.files import as_path, write_whole
from gamedp.runtime.registry import FORMATS, find, registered

if TYPE_CHECKING:
    from gamedp.adapters.writing import Ends
    from gamedp.model.model import Model
    from gamedp.runtime.limit import ProgressCallback

__all__ = [
    "FileFormat",
    "Gymnasium",
    "LoadedModel",
    "OpenSpiel",
    "Parts",
    "as_discrete_dp",
    "as_environment",
    "as_openspiel",
    "as_pettingzoo",
    "read_model",
    "write_model",
]

MAX_BYTES = 1 << 30
"""Number of bytes that reading any file may take; a large one `MAX_RATIO` times its own size."""

MAX_RATIO = 20


def _format(path: Path, given: Any) -> FileFormat:
    """Return the format of a file; no other one is imported."""
    known = registered(FORMATS)
    if given is None:
        given = path.suffix.lower().removeprefix(".")
        if given not in known:
            message = (
                f"the name {path.name!r} does not show the format: it ends in none of "
                f".{', .'.join(known)}. Pass `format`, one of: {', '.join(known)}."
            )
            raise InvalidParameterError(message)
    elif not isinstance(given, str) or given not in known:
        message = f"there is no format {shown(given)}; there are {', '.join(known)}."
        raise InvalidParameterError(message)
    found = find(FORMATS, given)
    if not isinstance(found, FileFormat):
        message = f"{registered(FORMATS)[given].value} must be a FileFormat, not {found!r}."
        raise InvalidParameterError(message)
    return found


def read_model(  # noqa: PLR0913 - a file, and how far to explore a program
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word that everyone expects
    coalition: Iterable[str | int] | None = None,
    normalise: bool = False,
    constants: Mapping[str, Any] | None = None,
    properties: str | Path | None = None,
    max_states: float | None = None,
    max_seconds: float | None = None,
    max_bytes: float | None = None,
    progress: ProgressCallback | None = None,
) -> LoadedModel:
    """Read a model from a file of another tool.

    Supports Markov chains, Markov decision processes and turn-based games. Fractions such as
    ``1/3``, and integers, are read exactly: see `fractions` of :class:`gamedp.Model`. A decimal
    stands for the nearest double, or for itself in a .drn file whose values are rational.
    Probabilities that were rounded in the file, so that the sum of a choice misses one by at most
    1e-5, are divided by their sum; such changes are listed in :attr:`LoadedModel.notes`. A state
    without choices becomes terminal with payoff 0; one that leads to itself is unchanged.

    Parameters
    ----------
    path
        A file whose name ends in

        * ``.umb``: the unified Markov binary format [1]_, of Storm, PRISM and others;
        * ``.drn``: Storm's text format;
        * ``.tra``: PRISM's explicit files [2]_; those beside it with the same name and the endings
          ``.lab``, ``.sta``, ``.srew`` and ``.trew`` are read, too. Storm's older dialect is
          understood;
        * ``.prism``, ``.pm``, ``.nm``, ``.smg``: a program in the PRISM language [3]_;
        * ``.jani``: a program in the JANI format [4]_;
        * the name of a format of an installed package: see :class:`gamedp.adapters.FileFormat`.
    format : str, optional
        The format of the file, such as ``"umb"``, if the ending of its name does not show it.
    coalition : iterable of str or int, optional
        For a game: the players who together become player 0, by name or number; all others become
        player 1. Required with more than two players; with two, the first is player 0 if not given.
    normalise : bool
        Whether probabilities that miss one by more than 1e-5, but lie between 0.9 and 1.1 in total,
        are divided by their sum, too; see :meth:`gamedp.Model.from_arrays`.
    constants : mapping of str to number or str, optional
        The values of a program's constants: truth values, integers, :class:`fractions.Fraction`,
        decimals, which stand for themselves, or texts such as ``"1/3"``.
    properties : path, optional
        A file of properties in PRISM's language (``.props``, ``.pctl``), of this model: they are
        what :func:`gamedp.ask` can then be asked by name, or by number from ``"1"`` on.
        `constants` may have values for those that it declares.
    max_states, max_seconds : float, optional
        Limits of exploring a program.
    max_bytes : float, optional
        The largest unpacked size of a file, and the most memory that its states may take, as a few
        bytes could fill it. If not given, 1 GiB, or 20 times the size of the file if that is more;
        for a program, as for :func:`gamedp.compile`.
    progress : callable, optional
        Called with a :class:`gamedp.Progress` now and then while a program is explored.

    Returns
    -------
    LoadedModel

    Raises
    ------
    DamagedFileError
        If the file is malformed; the message names the line or the array.
    InvalidModelError
        If the file has no model, or one of another kind: of continuous time, with parameters,
        intervals, or hidden states.
    InvalidParameterError
        If the format is not known.
    LimitExceededError
        If the file unpacks to more than `max_bytes`, or its states take more; or another limit is
        reached.
    UnknownNameError
        If a program has no such constant.
    OSError
        If the file cannot be read.

    References
    ----------
    .. [1] https://github.com/pmc-tools/umb
    .. [2] https://www.prismmodelchecker.org/manual/Appendices/ExplicitModelFiles
    .. [3] https://www.prismmodelchecker.org/manual/ThePRISMLanguage
    .. [4] https://jani-spec.org

    Examples
    --------
    >>> import gamedp, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "coin.drn")
    >>> _ = path.write_text('''@type: DTMC
    ... @reward_models
    ... flips
    ... @nr_states
    ... 2
    ... @model
    ... state 0 init
    ...     action 0 [1]
    ...         0 : 0.5
    ...         1 : 0.5
    ... state 1 heads
    ...     action 0 [0]
    ...         1 : 1
    ... ''')
    >>> loaded = gamedp.read_model(path)
    >>> loaded
    <LoadedModel coin.drn: <Model 2 states, 2 choices, 3 transitions>; ...; rewards 'flips'>
    >>> loaded.states("heads")
    array([False,  True])

    A walk, in the PRISM language:

    >>> path = pathlib.Path(folder.name, "walk.prism")
    >>> _ = path.write_text('''dtmc
    ... const int n;
    ... module walk
    ...     x : [0..n] init 1;
    ...     [] x > 0 & x < n -> 1/3 : (x' = x + 1) + 2/3 : (x' = x - 1);
    ... endmodule
    ... ''')
    >>> loaded = gamedp.read_model(path, constants={"n": 4})
    >>> gamedp.ask(loaded, "P>=1/15 [ F x=n ]").holds
    'yes'
    >>> folder.cleanup()
    """
    path = as_path(path)
    found = _format(path, format)
    values, of_properties, reader = dict(constants or {}), {}, None
    if properties is not None:
        from gamedp.adapters.programs import properties_in, with_properties  # noqa: PLC0415

        reader = properties_in(as_path(properties))
        of_properties = {name: values.pop(name) for name in reader.constants if name in values}
    given = {"constants": values or None, "max_states": max_states, "max_seconds": max_seconds}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if found.is_program:
        limit = math.inf if max_bytes is None else max_bytes
        parts = found.read(path, limit, progress=progress, **options)
    elif options:
        message = f"{next(iter(options))} is for programs; {path.name} lists all of its states."
        raise InvalidParameterError(message)
    else:
        size = (
            max(MAX_BYTES, MAX_RATIO * path.stat().st_size) if max_bytes is None else int(max_bytes)
        )
        parts = found.read(path, size)
    loaded = assemble(parts, coalition, normalise=normalise)
    return loaded if reader is None else with_properties(loaded, reader, of_properties)


def write_model(
    path: str | Path,
    model: Model | LoadedModel,
    *,
    labels: Mapping[str, Any] | None = None,
    rewards: Mapping[str, Any] | None = None,
    ends: Ends = "loop",
    format: str | None = None,  # noqa: A002 - as for load_model
) -> None:
    """Write a model to a file for other tools.

    Doubles and Fractions are written so that they read back unchanged. For other tools, play goes
    on after its end: a terminal state with a payoff earns it on one more step, to a new last state,
    and terminal states lead to themselves. Players who change places are unfolded: state s + S is
    state s with exchanged places, and has the label ``"swapped"`` besides those of state s. The
    total reward of every state is unchanged.

    Parameters
    ----------
    path
        The file, as in :func:`read_model`; replaced if it exists.
    model : Model or LoadedModel
        A model of one or two players.
    labels : mapping of str to set of states, optional
        The states with each label: a mask, some of the states, or a function of a state, as in
        :class:`gamedp.Reachability`. The labels of a `LoadedModel` if not given.
    rewards : mapping of str to (C,) array_like, optional
        The reward of each choice, for each reward structure. If not given, those of a
        `LoadedModel`, or a `Model`'s own under the name ``"reward"``; payoffs are only written with
        the latter.
    ends : {"loop", "none"}
        Whether terminal states lead to themselves, or have no choices in the file.
    format : str, optional
        The format to write, if the name does not show it. Only ``"umb"`` can express the players
        of a game.

    Raises
    ------
    InvalidModelError
        If the format cannot express the model, or a label or reward does not fit it.
    InvalidParameterError
        If the format or `ends` is not known.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import gamedp, tempfile, pathlib
    >>> from gamedp.games.matches import Matches
    >>> model = gamedp.compile(Matches(matches=4), compile="never")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "matches.umb")
    ...     gamedp.write_model(path, model, labels={"over": lambda state: state.left == 0})
    ...     gamedp.read_model(path)
    <LoadedModel matches.umb: <Model ...>; labels 'swapped', 'over'; rewards 'reward'>
    """
    path = as_path(path)
    files = _format(path, format).files
    if files is None:
        message = f"the format of {path.name!r} can be read, but not written."
        raise InvalidParameterError(message)
    if ends not in ("loop", "none"):
        message = f'ends is {ends!r}; it must be "loop" or "none".'
        raise InvalidParameterError(message)
    from gamedp.adapters.writing import parts_of  # noqa: PLC0415 - not for reading

    parts = parts_of(path, model, labels, rewards, ends)
    for file, write in files(parts).items():
        write_whole(file, write)
