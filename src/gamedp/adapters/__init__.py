"""Models in the files of other tools: read and written."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

from gamedp.adapters.loaded import LoadedModel
from gamedp.adapters.parts import Parts, assemble
from gamedp.errors import InvalidParameterError, shown
from gamedp.runtime.files import as_path, write_whole

if TYPE_CHECKING:
    from gamedp.adapters.writing import Ends
    from gamedp.model.model import Model

__all__ = ["FORMATS", "LoadedModel", "read_model", "write_model"]

Format: TypeAlias = Literal["umb", "drn", "prism"]

FORMATS: dict[str, Format] = {".umb": "umb", ".drn": "drn", ".tra": "prism"}
"""The format that the end of a file's name stands for."""

# What a format needs is imported when it is asked for: one file takes no part of the others.


UNPACKED = 1 << 30
"""Bytes that any file may unpack to; a large one may unpack to `RATIO` times its own size."""

RATIO = 20


def _read(path: Path, kind: Format, max_bytes: float | None) -> Parts:
    """Read a file of a format."""
    most = max(UNPACKED, RATIO * path.stat().st_size) if max_bytes is None else int(max_bytes)
    if kind == "umb":
        from gamedp.adapters.umb import read_umb  # noqa: PLC0415

        return read_umb(path, most)
    if kind == "drn":
        from gamedp.adapters.drn import read_drn  # noqa: PLC0415

        return read_drn(path)
    from gamedp.adapters.prism import read_prism  # noqa: PLC0415

    return read_prism(path, most)


def _writers(path: Path, kind: Format, parts: Parts) -> dict[Path, Callable[[BinaryIO], object]]:
    """Return the files of a format, and what writes each."""
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

    Markov chains, Markov decision processes and turn-based games. Fractions such as ``1/3``, and
    whole numbers, are read exactly, see :attr:`gamedp.Model.fractions`. A decimal stands for the
    nearest double, or for itself in a .drn file whose values are rational. Probabilities that were
    rounded in the file, so that those of a choice miss one by at most 1e-5, are divided by their
    sum; that and the like is in :attr:`LoadedModel.notes`. A state without choices becomes terminal
    with payoff 0; one that leads to itself stays as it is.

    Parameters
    ----------
    path
        A file whose name ends in

        * ``.umb``: the unified Markov binary format [1]_, of Storm, PRISM and others;
        * ``.drn``: Storm's format of text;
        * ``.tra``: PRISM's explicit files [2]_; those beside it with the same name and the endings
          ``.lab``, ``.sta``, ``.srew`` and ``.trew`` are read, too. Storm's older dialect is
          understood.
    format : {"umb", "drn", "prism"}, optional
        What the file is, if its name does not tell.
    coalition : iterable of str or int, optional
        For a game: the players who together are player 0, by name or number; all others are
        player 1. Needed with more than two players; with two, the first is player 0 if not given.
    normalise : bool
        Whether probabilities that miss one by more than 1e-5, but lie between 0.9 and 1.1 in total,
        are divided by their sum, too; see :meth:`gamedp.Model.from_arrays`.
    max_bytes : float, optional
        What a file may unpack to: a few kilobytes could fill the memory. 1 GiB, or 20 times the
        size of the file if that is more, if not given.

    Returns
    -------
    LoadedModel

    Raises
    ------
    DamagedFileError
        If the file is not what it should be; the message names the line or the array.
    InvalidModelError
        If it holds no model, or one of another kind: of continuous time, with parameters,
        intervals, or hidden states.
    InvalidParameterError
        If the format is not known.
    LimitExceededError
        If it unpacks to more than `max_bytes`.
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

    Doubles and Fractions are written such that the same ones are read. Where play ends, it goes on
    for other tools: a terminal state with a payoff earns it on one more step, to a new state that
    is the last, and terminal states lead to themselves. Players who change places are unfolded:
    state s + S is state s with their places changed, and has the label ``"swapped"`` besides those
    of state s. The total reward of every state stays what it was.

    Parameters
    ----------
    path
        As in :func:`read_model`; replaced if it exists.
    model : Model or LoadedModel
        Of one or two players.
    labels : mapping of str to set of states, optional
        Which states have each label: a mask, some of the states, or a function of a state, as in
        :class:`gamedp.Reachability`. The labels of a `LoadedModel` if not given.
    rewards : mapping of str to (C,) array_like, optional
        The reward of each choice, for each reward structure. If not given, those of a
        `LoadedModel`, and of a `Model` its own under the name ``"reward"``; to these alone payoffs
        belong, and they are left out otherwise.
    ends : {"loop", "none"}
        Whether terminal states lead to themselves, or have no choices in the file either.
    format : {"umb", "drn", "prism"}, optional
        What to write, if the name does not tell. Only ``"umb"`` can say who moves in a game.

    Raises
    ------
    InvalidModelError
        If the format cannot say what the model is, or a label or reward does not fit it.
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
