"""Solutions, policies and certificates: `save` and `load`, in folders; `write_policy`, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from gamedp.errors import DamagedFileError

if TYPE_CHECKING:
    import os

    from gamedp.certificates import Certificate
    from gamedp.policies.policy import Policy
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

    Savable: TypeAlias = Solution | StagedSolution | Certificate | Policy

__all__ = ["load", "save", "write_policy"]

SavedT = TypeVar("SavedT")


def save(thing: Savable, path: str | os.PathLike[str]) -> None:
    """Save a solution or a policy with its model, or a certificate, for :func:`load`.

    It is saved as a folder. The source of a policy, such as a function, is not kept.

    Every file is written under another name, synced and renamed, the manifest last: an interrupted
    save leaves either what the folder held before or the new one.

    Parameters
    ----------
    thing : Solution, StagedSolution, Policy or Certificate
    path : path-like
        The folder, created if it does not exist. An object of the same kind in it is replaced. A
        save waits until other saves there are done; any number of processes may read meanwhile.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    InvalidParameterError
        If `thing` is none of these, or an option of the solver cannot be written, or it could not
        be checked later whether the rules are still the same.
    OSError
        If the files cannot be written; the folder then holds what it held before.

    Examples
    --------
    >>> import gamedp, os, tempfile
    >>> from gamedp.games.matches import Matches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gamedp.save(gamedp.solve(Matches(), compile="never"), folder)
    ...     "manifest.json" in os.listdir(folder)
    True
    """
    from gamedp import storage

    storage.save(thing, path)


@overload
def load(path: str | os.PathLike[str], game: Any = None, *, as_: type[SavedT]) -> SavedT: ...


@overload
def load(path: str | os.PathLike[str], game: Any = None, *, as_: None = None) -> Savable: ...


def load(path: str | os.PathLike[str], game: Any = None, *, as_: type[Any] | None = None) -> Any:
    """Load what :func:`save` has saved: a solution, staged or not, a policy or a certificate.

    Every byte is verified, and the content must be consistent: values lie between their bounds, and
    a policy takes choices of its states. Large arrays are mapped into memory. The rules of the game
    of a solution or a policy are compared with those that were saved: for an ordinary game in all
    states if they look different, else in some; a staged game whose rules look different is
    refused. The claims of a certificate are not checked: :func:`gamedp.verify` does that. Only
    games and solvers that installed packages register are imported.

    Parameters
    ----------
    path : path-like
        The folder.
    game : optional
        The game of a solution or a policy, unless it is registered (``gamedp games`` lists those).
        It must be the same game.
    as_ : type, optional
        The expected type, such as ``gamedp.Certificate``: type checkers then know what is returned.

    Returns
    -------
    Solution, StagedSolution, Policy or Certificate
        For a staged game, the rules are compiled when its model is solved again, not before.

    Raises
    ------
    DamagedFileError
        If the folder is missing, damaged, of another version or of a type other than `as_`, or if
        the rules of the game have changed since.
    UnknownNameError
        If the game is neither registered nor given.
    InvalidParameterError
        If `game` is not the game that was solved.

    Examples
    --------
    >>> import gamedp, tempfile
    >>> from gamedp.games.matches import Matches, MatchesState
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gamedp.save(gamedp.solve(Matches(), compile="never"), folder)
    ...     solution = gamedp.load(folder, as_=gamedp.Solution)
    >>> solution.value(MatchesState(player=0, left=17))
    -1.0
    """
    from gamedp import storage

    loaded = storage.load(path, game)
    if as_ is not None and not isinstance(loaded, as_):
        message = f"{path} holds a {type(loaded).__name__}, not a {as_.__name__}."
        raise DamagedFileError(message)
    return loaded


def write_policy(path: str | os.PathLike[str], policy: Policy | Solution | StagedSolution) -> None:
    """Write a policy as text, in the names of states, variables and actions.

    A table has a row for each action that may be taken, with the columns of
    :meth:`gamedp.Policy.to_columns`. For a finite horizon, `steps_left` comes first, since each
    number of them has its own best actions; for a staged game, the fields of the context, and those
    of the stage's state with the prefix ``inside_``. Probabilities have all their digits.

    Parameters
    ----------
    path : path-like
        The file, replaced if it exists. The end of its name says what it is:

        * ``.csv``: a table, with commas between the columns;
        * ``.json``: a list of objects, one for each row of that table;
        * ``.dot``: the model as a graph for Graphviz [1]_, with what the policy takes in bold;
          states in which play begins have two rims, and boxes with a bent corner are ends.
    policy : Policy, Solution or StagedSolution

    Raises
    ------
    InvalidParameterError
        If the name ends otherwise, or `policy` is none of these.
    UnsupportedProblemError
        If a graph would have more than 1,000 states, or the policy depends on the steps that are
        left or the context, which a graph does not show; or if the table of a staged game would
        have more than ten million rows.
    OSError
        If the file cannot be written.

    References
    ----------
    .. [1] https://graphviz.org/doc/info/lang.html

    Examples
    --------
    >>> import gamedp, pathlib, tempfile
    >>> from gamedp.games.matches import Matches
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "policy.csv")
    ...     gamedp.write_policy(path, gamedp.solve(Matches(matches=2), compile="never"))
    ...     print(path.read_text())
    player,left,mover,action,action_name,probability
    0,2,0,1,take 1,1.0
    0,1,0,1,take 1,1.0
    <BLANKLINE>
    """
    from gamedp.storage.texts import write_policy as write

    write(path, policy)
