"""Files of other tools, and games of other libraries."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

from gamedp.adapters.gymnasium import Gymnasium
from gamedp.adapters.loaded import LoadedModel
from gamedp.adapters.openspiel import OpenSpiel
from gamedp.adapters.parts import Parts, assemble
from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime.files import as_path, write_whole

if TYPE_CHECKING:
    from gamedp.adapters.writing import Ends
    from gamedp.model.model import Model

__all__ = ["FORMATS", "Gymnasium", "LoadedModel", "OpenSpiel", "read_model", "write_model"]

Format: TypeAlias = Literal["umb", "drn", "prism"]

FORMATS: dict[str, Format] = {".umb": "umb", ".drn": "drn", ".tra": "prism"}
"""The format for each suffix of a file's name."""

# What a format needs is imported when it is asked for: one file takes no part of the others.


UNPACKED = 1 << 30
"""Number of bytes that reading any file may take; a large one `RATIO` times its own size."""

RATIO = 20


def _read(path: Path, kind: Format, max_bytes: float | None) -> Parts:
    """Read a file of a format."""
    most = max(UNPACKED, RATIO * path.stat().st_size) if max_bytes is None else int(max_bytes)
    if kind == "umb":
        from gamedp.adapters.umb import read_umb  # noqa: PLC0415

        return read_umb(path, most)
    if kind == "drn":
        from gamedp.adapters.drn import read_drn  # noqa: PLC0415

        return read_drn(path, most)
    from gamedp.adapters.prism import read_prism  # noqa: PLC0415

    return read_prism(path, most)


def _writers(path: Path, kind: Format, parts: Parts) -> dict[Path, Callable[[BinaryIO], object]]:
    """Return the files of a format, each with its writer."""
    if kind == "umb":
        from gamedp.adapters.umb import write_umb  # noqa: PLC0415

        return {path: functools.partial(write_umb, parts=parts)}
    if kind == "drn":
        from gamedp.adapters.drn import write_drn  # noqa: PLC0415

        return {path: functools.partial(write_drn, parts=parts)}
    from gamedp.adapters.prism import prism_files  # noqa: PLC0415

    return prism_files(parts)


def _format(path: Path, given: Any) -> Format:
    """Return the format of a file."""
    if given is not None:
        for known in FORMATS.values():
            if isinstance(given, str) and given == known:
                return known
        message = f"there is no format {shown(given)}; there are {', '.join(FORMATS.values())}."
        raise InvalidParameterError(message)
    if path.suffix.lower() in FORMATS:
        return FORMATS[path.suffix.lower()]
    message = (
        f"the name {path.name!r} does not show the format: it ends in none of "
        f"{', '.join(FORMATS)}. Pass `format`, one of: {', '.join(FORMATS.values())}."
    )
    raise InvalidParameterError(message)


def read_model(
    path: str | Path,
    *,
    format: Format | None = None,  # noqa: A002 - the word that everyone expects
    coalition: Iterable[str | int] | None = None,
    normalise: bool = False,
    max_bytes: float | None = None,
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
          understood.
    format : {"umb", "drn", "prism"}, optional
        The format of the file, if its name does not show it.
    coalition : iterable of str or int, optional
        For a game: the players who together become player 0, by name or number; all others become
        player 1. Required with more than two players; with two, the first is player 0 if not given.
    normalise : bool
        Whether probabilities that miss one by more than 1e-5, but lie between 0.9 and 1.1 in total,
        are divided by their sum, too; see :meth:`gamedp.Model.from_arrays`.
    max_bytes : float, optional
        The largest unpacked size of a file, and the most memory that its states may take, as a few
        bytes could fill it. If not given, 1 GiB, or 20 times the size of the file if that is more.

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
        If the file unpacks to more than `max_bytes`, or its states take more.
    OSError
        If the file cannot be read.

    References
    ----------
    .. [1] https://github.com/pmc-tools/umb
    .. [2] https://www.prismmodelchecker.org/manual/Appendices/ExplicitModelFiles

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
    >>> folder.cleanup()
    """
    path = as_path(path)
    parts = _read(path, _format(path, format), max_bytes)
    return assemble(parts, coalition, normalise=normalise)


def write_model(
    path: str | Path,
    model: Model | LoadedModel,
    *,
    labels: Mapping[str, Any] | None = None,
    rewards: Mapping[str, Any] | None = None,
    ends: Ends = "loop",
    format: Format | None = None,  # noqa: A002 - as for load_model
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
    format : {"umb", "drn", "prism"}, optional
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
    kind = _format(path, format)
    if ends not in ("loop", "none"):
        message = f'ends is {ends!r}; it must be "loop" or "none".'
        raise InvalidParameterError(message)
    from gamedp.adapters.writing import parts_of  # noqa: PLC0415 - not for reading

    parts = parts_of(path, model, labels, rewards, ends)
    for file, writer in _writers(path, kind, parts).items():
        write_whole(file, writer)
