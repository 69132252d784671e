"""What people call: each verb takes whatever kind of thing there is, and says so in its type.

Each loads what it needs when it is called: so a certificate is checked without numba.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

from gamedp.errors import (
    DamagedFileError,
    InvalidParameterError,
    UnsupportedProblemError,
    shown,
)
from gamedp.rules.game import REQUIRED, Game
from gamedp.rules.staged import STAGED_REQUIRED, StagedGame, is_staged
from gamedp.runtime import compile_clock

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from gamedp.certificates import Certificate, Verified
    from gamedp.model.model import Model
    from gamedp.model.objectives import Objective
    from gamedp.policies.policy import Policy
    from gamedp.results.search_result import SearchResult
    from gamedp.results.solution import Solution
    from gamedp.runtime.progress import ProgressCallback
    from gamedp.searchers.max_n import MaxNResult
    from gamedp.solvers.tools.base import Solver
    from gamedp.solvers.tools.limit import Limit
    from gamedp.stages.model import StagedModel
    from gamedp.stages.solution import StagedSolution

    Savable: TypeAlias = Solution | StagedSolution | Certificate | Policy

__all__ = ["certify", "compile", "explain", "load", "save", "search", "solve", "verify"]

Tier: TypeAlias = Literal["auto", "always", "never"]
SavedT = TypeVar("SavedT")


@overload
def compile(
    game: StagedGame, *, compile: Tier = "auto", progress: ProgressCallback | None = None
) -> StagedModel: ...


@overload
def compile(
    game: Game,
    *,
    compile: Tier = "auto",
    box: Mapping[str, tuple[int, int]] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    progress: ProgressCallback | None = None,
) -> Model: ...


def compile(
    game: Game | StagedGame,
    *,
    compile: Tier = "auto",
    box: Mapping[str, tuple[int, int]] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    progress: ProgressCallback | None = None,
) -> Model | StagedModel:
    """Explore a game from its initial states and return it as sparse arrays.

    Breadth first: states are numbered in the order of their discovery, the same in both tiers.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.Game`, or :class:`gamedp.StagedGame`: of
        this the stage is explored. The limits are for ordinary games.
    compile : {"auto", "always", "never"}
        Whether numba compiles the rules. "auto" begins in plain Python, where a small game is
        explored before numba would have begun, and compiles the rules of one that turns out to be
        large; if they cannot be compiled, a warning gives numba's reason, and plain Python goes on.
        "always" raises instead. The model is the same.
    box : mapping of field name to (first, last), optional
        Enumerate all states of a box instead of only those that can be reached: the range of each
        field of the state, both ends included. The game's ``is_state`` says which are real. States
        that the box leaves out and that can be reached are added.
    max_states, max_seconds, max_bytes : float, optional
        Limits that stop the exploration with an error. `max_bytes` is nine tenths of the free
        memory if not given.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.

    Returns
    -------
    Model
        Of a staged game, a :class:`gamedp.StagedModel`.

    Raises
    ------
    InvalidModelError
        If the rules are wrong somewhere; names the state and the action.
    LimitExceededError
        At a limit; says how far the exploration got.
    CompilationError
        If the rules cannot be compiled and ``compile="always"``.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> gamedp.compile(Matches(matches=18), compile="never")
    <Model Matches(matches=18, takes=(1, 2, 3), misere=True): 19 states, 51 choices, 51 transitions>
    """
    if is_staged(game):
        from gamedp.stages.compile import compile_staged

        if box is not None:
            message = f"a box is for ordinary games; {type(game).__name__} declares its contexts."
            raise InvalidParameterError(message)
        return compile_staged(game, compile=compile, progress=progress)
    from gamedp.compiler.build import compile_game

    return compile_game(
        game,
        compile=compile,
        box=box,
        max_states=max_states,
        max_seconds=max_seconds,
        max_bytes=max_bytes,
        progress=progress,
    )


@overload
def solve(
    game_or_model: StagedGame | StagedModel,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float = 1e-6,
    relative: bool = False,
    progress: ProgressCallback | None = None,
    compile: Tier = "auto",
    box: Mapping[str, tuple[int, int]] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> StagedSolution: ...


@overload
def solve(
    game_or_model: Game | Model,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float = 1e-6,
    relative: bool = False,
    progress: ProgressCallback | None = None,
    compile: Tier = "auto",
    box: Mapping[str, tuple[int, int]] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> Solution: ...


def solve(  # noqa: PLR0913 - what is usually set in one call
    game_or_model: Game | Model | StagedGame | StagedModel,
    objective: Objective | None = None,
    solver: Solver | str | None = None,
    *,
    tolerance: float = 1e-6,
    relative: bool = False,
    progress: ProgressCallback | None = None,
    compile: Tier = "auto",
    box: Mapping[str, tuple[int, int]] | None = None,
    max_states: float = float("inf"),
    max_seconds: float = float("inf"),
    max_bytes: float | None = None,
    keep: bool = False,
) -> Solution | StagedSolution:
    """Solve a game or a model: the value of every state between proven bounds, and a policy.

    Parameters
    ----------
    game_or_model
        An instance of a class that fulfils :class:`gamedp.Game` or :class:`gamedp.StagedGame`; or
        what :func:`gamedp.compile` made of one.
    objective : TotalReward, Reachability, Discounted, FiniteHorizon or AverageReward, optional
        What to compute; the total reward, payoff at the end included, if not given.
    solver : solver or str, optional
        A solver, or the name of a registered one. If not given, it is chosen by the model's
        structure (:func:`gamedp.explain` says why), and others go on where it gets stuck.
    tolerance : float
        Allow this distance between the bounds of a value.
    relative : bool
        Whether that is `tolerance` times the absolute value, for each state: then a value of 1e-40
        is not simply close to 0.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.
    compile, box, max_states, max_bytes
        For the exploration of a game; see :func:`gamedp.compile`. With a model they are refused.
    max_seconds : float
        Time at most, for exploring and solving together; what numba compiles while solving is not
        counted. A solver that has no limit of time, as it needs one pass only, finishes that.
    keep : bool
        Whether to keep the solution in the user's cache folder, and to read the one that is kept
        there of exactly these rules, parameters, objective, solver and tolerance instead of solving
        again. One that is damaged or of other rules is replaced, with a
        :class:`gamedp.errors.KeptSolutionWarning`. The statistics of one that was read have its
        `folder`, and the seconds that it took to ``"load"`` it.

    Returns
    -------
    Solution
        Of a staged game, a :class:`gamedp.StagedSolution`. Its `guarantee` says whether the bounds
        are proven: it is ``NONE`` where endless play earns and loses in turn, so that no method
        here proves anything.

    Raises
    ------
    InvalidModelError
        If the rules or the arrays are wrong somewhere.
    UnsupportedProblemError
        If the solver cannot do the problem; says which can.
    NotSolvedError
        If the solver stopped at a limit, or the tolerance is finer than 64-bit rounding allows, or
        values depend on what endless play counts, which the objective does not say; what is
        known so far is its `solution`.
    LimitExceededError
        If the exploration stopped at a limit.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(matches=18), compile="never")
    >>> solution.value(), solution.bounds(), solution.guarantee.name
    (1.0, (1.0, 1.0), 'TWO_SIDED')
    """
    from gamedp.solvers import asked
    from gamedp.solvers.tools.limit import Limit

    tolerance = asked.checked_number("tolerance", tolerance)
    objective = asked.checked_objective(objective)
    solver = asked.checked_solver(solver)
    most = asked.checked_number("max_seconds", max_seconds)
    exploring = {
        "compile": compile,
        "box": box,
        "max_states": max_states,
        "max_bytes": max_bytes,
    }

    def solve_now() -> Solution | StagedSolution:
        limit = Limit(most)
        limit()
        with compile_clock.reporting_compilation(
            None if progress is None else asked.reporting(progress)
        ):
            model = _model_of(game_or_model, exploring, most, progress)
            return asked.answer(
                lambda: _solved(model, objective, solver, tolerance, progress, relative, limit),
                solver,
            )

    if not keep:
        return solve_now()
    from gamedp.storage.kept import read_or_solve

    _refuse_model(game_or_model)
    problem = objective, solver, (tolerance, relative), box
    return read_or_solve(game_or_model, problem, solve_now)


def _solved(
    model: Model | StagedModel,
    objective: Objective,
    solver: Any,
    tolerance: float,
    progress: ProgressCallback | None,
    relative: bool,
    limit: Limit,
) -> Solution | StagedSolution:
    """Return the solution of a model, by the solver that is given or chosen."""
    from gamedp.stages.model import StagedModel

    if isinstance(model, StagedModel):
        from gamedp.model.problem import AnyProblem
        from gamedp.solvers.tools.base import solve_as_asked
        from gamedp.solvers.tools.limit import within
        from gamedp.stages.induction import solver_of_stages

        asked = within(solver_of_stages(solver), limit)
        problem = AnyProblem(model, objective)
        staged: StagedSolution = solve_as_asked(
            asked, problem, tolerance, progress, relative=relative
        )
        return staged
    from gamedp.model.problem import Problem
    from gamedp.solvers.choose import solve_problem

    return solve_problem(
        Problem(model, objective), solver, tolerance, progress, relative=relative, limit=limit
    )


def _refuse_model(given: Any) -> None:
    """Refuse to keep the solution of a model: what is kept is found by the game's name."""
    from gamedp.model.model import Model
    from gamedp.stages.model import StagedModel

    if isinstance(given, (Model, StagedModel)):
        message = "keep=True is for games; save the solution of a model with gamedp.save."
        raise InvalidParameterError(message)


EXPLORING = {"compile": "auto", "box": None, "max_states": float("inf"), "max_bytes": None}
"""What `solve` is asked for if the exploration of a game is not limited."""


def _model_of(
    given: Any,
    exploring: Mapping[str, Any],
    max_seconds: float,
    progress: ProgressCallback | None,
) -> Model | StagedModel:
    """Return a model as it is; of a game the one that it is compiled to."""
    from gamedp.model.model import Model
    from gamedp.stages.model import StagedModel

    if not isinstance(given, (Model, StagedModel)):
        made: Model | StagedModel = _compile(
            given, max_seconds=max_seconds, progress=progress, **exploring
        )
        return made
    for name, value in exploring.items():
        if value != EXPLORING[name]:
            message = (
                f"{name} is for exploring a game, and this is a model already. Limits of solving "
                "are max_seconds, and those of a solver: "
                "solver=gamedp.solvers.ValueIteration(max_sweeps=1000)."
            )
            raise InvalidParameterError(message)
    return given


def explain(
    game_or_model: Game | Model | StagedGame | StagedModel, objective: Objective | None = None
) -> str:
    """Describe the structure of a model, and which solver gamedp picks for it and why.

    Parameters
    ----------
    game_or_model
        As for :func:`gamedp.solve`.
    objective : optional
        As for :func:`gamedp.solve`.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> print(gamedp.explain(gamedp.compile(Matches(matches=18), compile="never")))
    19 states, 51 choices, 51 transitions; no state can come again (19 levels).
    BackwardInduction: one pass from the end gives every value, up to rounding.
    """
    from gamedp.model.problem import Problem
    from gamedp.solvers.asked import checked_objective
    from gamedp.solvers.choose import explain_problem
    from gamedp.stages.model import StagedModel

    model = _model_of(game_or_model, EXPLORING, float("inf"), None)
    if isinstance(model, StagedModel):
        from gamedp.stages.induction import explain_stages

        return explain_stages(model)
    return explain_problem(Problem(model, checked_objective(objective)))


def search(
    game: Game,
    state: Any = None,
    searcher: Any = None,
    *,
    depth: int | None = None,
    max_seconds: float = float("inf"),
    compile: Tier = "auto",
    progress: ProgressCallback | None = None,
) -> SearchResult | MaxNResult:
    """Search from one position, without a model: for games that are too large to be solved.

    Parameters
    ----------
    game
        An instance of a class that fulfils :class:`gamedp.Game`.
    state : optional
        The position; the start if not given.
    searcher : searcher or str, optional
        A searcher, or the name of a registered one. If not given: :class:`gamedp.searchers.MaxN`
        for three players and more, else :class:`gamedp.searchers.AlphaBeta`, and where that meets
        chance :class:`gamedp.searchers.Expectiminimax`.
    depth : int, optional
        Actions to look ahead; to the end of the game if not given. For the searcher that is chosen.
    max_seconds : float
        Time at most, likewise. What is known then is returned.
    compile : {"auto", "always", "never"}
        As for :func:`gamedp.compile`.
    progress : callable, optional
        Is called with a :class:`gamedp.Progress` now and then.

    Returns
    -------
    SearchResult
        For three players and more a :class:`gamedp.searchers.MaxNResult`.

    Raises
    ------
    InvalidModelError
        If the rules are wrong somewhere.
    InvalidParameterError
        If the searcher has options of its own that are given here, or lacks one of them.
    UnsupportedProblemError
        If the searcher cannot do the game.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> result = gamedp.search(Matches(matches=18), compile="never")
    >>> result.value(), result.best_actions
    (1.0, (1,))
    """
    from gamedp.runtime.registry import SEARCHERS, find

    if searcher is None:
        return _searched(game, state, depth, max_seconds, compile, progress)
    chosen: Any = find(SEARCHERS, searcher)() if isinstance(searcher, str) else searcher
    if isinstance(chosen, type) or not hasattr(chosen, "search"):
        message = f"searcher is {shown(searcher)}; it must be a searcher, such as "
        raise InvalidParameterError(message + "gamedp.searchers.AlphaBeta(depth=8).")
    options = {"depth": depth, "max_seconds": max_seconds}
    given = {name: value for name, value in options.items() if value not in (None, float("inf"))}
    if isinstance(searcher, str):
        for name in given:
            if not hasattr(chosen, name):
                message = f"{searcher} has no {name}; leave it out, or choose another searcher."
                raise InvalidParameterError(message)
        chosen = type(chosen)(**given)
    elif given:
        name = next(iter(given))
        message = f"{name} is an option of the searcher: give {type(chosen).__name__}({name}=...)."
        raise InvalidParameterError(message)
    result: SearchResult | MaxNResult = chosen.search(
        game, state, compile=compile, progress=progress
    )
    return result


def _searched(
    game: Game,
    state: Any,
    depth: int | None,
    max_seconds: float,
    compile: Tier,
    progress: ProgressCallback | None,
) -> SearchResult | MaxNResult:
    """Search by the searcher that fits the game."""
    from gamedp.rules.game import Rules
    from gamedp.searchers.alpha_beta import AlphaBeta
    from gamedp.searchers.expectiminimax import Expectiminimax
    from gamedp.searchers.max_n import MaxN

    if Rules(game).num_players > 2:
        several = MaxN(depth=depth, max_seconds=max_seconds)
        return several.search(game, state, compile=compile, progress=progress)
    sure = AlphaBeta(depth=depth, max_seconds=max_seconds)
    try:
        return sure.search(game, state, compile=compile, progress=progress)
    except UnsupportedProblemError:  # chance; what else it may be, the other one refuses as well
        averaging = Expectiminimax(depth=depth, max_seconds=max_seconds)
        return averaging.search(game, state, compile=compile, progress=progress)


def certify(solution: Solution | StagedSolution) -> Certificate:
    """Return the bounds of a solution with all that :func:`gamedp.verify` needs to check them.

    The bounds are those of the solution, or a little wider where they were rounded in a way that
    hides the proof. Where rounding has stopped the solver, or contexts lead to each other, they may
    be narrower: those of a certificate can be finer than doubles. The certificate has been
    verified. With more than two players it is one of the policy: that it is an equilibrium, and
    what it is worth to each.

    Parameters
    ----------
    solution : Solution or StagedSolution

    Returns
    -------
    Certificate
        By the rules ``"bounds"``; for more than two players by ``"equilibrium"``, of a staged game
        by ``"stages"``.

    Raises
    ------
    UnsupportedProblemError
        If nothing is proven, or for objectives without certificates.
    CertificateError
        If rounding leaves no room for a proof.
    InvalidParameterError
        If this is not a solution.

    Examples
    --------
    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> solution = gamedp.solve(Matches(), compile="never")
    >>> gamedp.verify(solution.model, gamedp.certify(solution)).width
    0.0
    """
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution

    if isinstance(solution, StagedSolution):
        from gamedp.certificates.making.stages import certify_stages

        return certify_stages(solution)
    given: Any = solution
    if not isinstance(given, Solution):
        message = f"{shown(given)} is not a solution; gamedp.solve(game) makes one."
        raise InvalidParameterError(message)
    from gamedp.certificates.making.bounds import certify as certify_bounds

    return certify_bounds(solution)


def save(thing: Savable, path: str | os.PathLike[str]) -> None:
    """Save a solution or a policy with its model, or a certificate, for :func:`load`.

    It becomes a folder. What a policy was made from, such as a function, is not kept.

    Every file is written beside, synced and renamed, the manifest last: an interrupted save leaves
    either what the folder held before or the new one.

    Parameters
    ----------
    thing : Solution, StagedSolution, Policy or Certificate
    path : path-like
        The folder, made if it does not exist. One of the same kind in it is replaced. A save waits
        until others that save there are done; any number may read it meanwhile.

    Raises
    ------
    DamagedFileError
        If the folder has a manifest of something else, which is not overwritten.
    InvalidParameterError
        If this is none of these, or an option of the solver cannot be written down, or nobody
        could tell later whether the rules are still the same.
    OSError
        If the files cannot be written; the folder then holds what it held before.
    """
    from gamedp.certificates.certificate import Certificate
    from gamedp.policies.policy import Policy
    from gamedp.results.solution import Solution
    from gamedp.stages.solution import StagedSolution
    from gamedp.storage import save_certificate, save_policy, save_solution

    given: Any = thing
    if isinstance(given, Certificate):
        save_certificate(given, path)
    elif isinstance(given, (Solution, StagedSolution)):
        save_solution(given, path)
    elif isinstance(given, Policy):
        save_policy(given, path)
    else:
        message = f"{shown(given)} is neither a solution nor a policy nor a certificate."
        raise InvalidParameterError(message)


@overload
def load(path: str | os.PathLike[str], game: Any = None, *, as_: type[SavedT]) -> SavedT: ...


@overload
def load(path: str | os.PathLike[str], game: Any = None, *, as_: None = None) -> Savable: ...


def load(path: str | os.PathLike[str], game: Any = None, *, as_: type[Any] | None = None) -> Any:
    """Load what :func:`save` has saved: a solution, staged or not, a policy or a certificate.

    Every byte is verified. Large arrays are mapped into memory and not read a second time. The
    rules of the game of a solution or a policy are compared with those that were saved: of an
    ordinary game wholly if they look different and in places otherwise; a staged game whose rules
    look different is refused. Nothing that a certificate claims is checked: :func:`gamedp.verify`
    does that. A folder never makes anything be imported but games and solvers that installed
    packages register.

    Parameters
    ----------
    path : path-like
        The folder.
    game : optional
        The game of a solution or a policy, unless it is a registered one (which ``gamedp games``
        lists). It must be the same one.
    as_ : type, optional
        What it must be, such as ``gamedp.Certificate``: type checkers then know what is returned.

    Returns
    -------
    Solution, StagedSolution, Policy or Certificate
        Of a staged game, the rules are compiled when its model is solved again, not before.

    Raises
    ------
    DamagedFileError
        If the folder is missing, damaged, of another version or something else than `as_`, or if
        the rules of the game have changed since.
    UnknownNameError
        If the game is not registered, and not given.
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
    from gamedp.storage import load_certificate, load_policy, load_solution, noun_of

    noun = noun_of(Path(path))
    if noun == "certificate":
        if game is not None:
            message = f"{path} holds a certificate, which needs no game; leave it out."
            raise InvalidParameterError(message)
        loaded: Any = load_certificate(path)
    elif noun == "policy":
        loaded = load_policy(path, game)
    else:
        loaded = load_solution(path, game)
    if as_ is not None and not isinstance(loaded, as_):
        message = f"{path} holds a {type(loaded).__name__}, not a {as_.__name__}."
        raise DamagedFileError(message)
    return loaded


def verify(
    game_or_model: Game | StagedGame | Model | StagedModel,
    certificate: Certificate,
    *,
    compile: Tier = "auto",
) -> Verified:
    """Check a certificate independently of the solver that made it.

    What is accepted holds for every model whose probabilities are positive where the stored ones
    are, sum to one exactly, and agree with the stored ones to two units in the last place, or, for
    a choice whose stored ones need more than that to sum to one, to as much as scaling them takes.
    Rewards and payoffs count as they are stored.

    Takes time linear in the size of the model, times the steps of a finite horizon; memory besides
    the arrays does not depend on the number of transitions.

    Parameters
    ----------
    game_or_model
        A Model or a StagedModel; or a game, which is compiled first: so nothing of the one who made
        the certificate is used but the certificate.
    certificate : Certificate
    compile : {"auto", "always", "never"}
        For a game, as for :func:`gamedp.compile`.

    Returns
    -------
    Verified

    Raises
    ------
    CertificateError
        If something does not hold: names the first state and choice, and the numbers. Also if the
        certificate is of another model, or its arrays are not what they should be.
    UnsupportedProblemError
        If there are no certificates for such a problem.
    InvalidModelError
        If a reward or payoff is not finite, or probabilities are far from summing to one; or if a
        staged game's rank rises from a context to the next.
    InvalidParameterError
        If this is neither a game nor a model, or no certificate.

    Examples
    --------
    A proof that somebody else has made, checked by the rules alone:

    >>> import gamedp
    >>> from gamedp.games.matches import Matches
    >>> proof = gamedp.certify(gamedp.solve(Matches(matches=9), compile="never"))
    >>> gamedp.verify(Matches(matches=9), proof, compile="never").width
    0.0
    >>> gamedp.verify(Matches(matches=8), proof, compile="never")
    Traceback (most recent call last):
        ...
    gamedp.errors.CertificateError: ...

    Who may go on for ever or take 3/4, gets 3/4. The rank of state 0 says that play can end:

    >>> import numpy as np
    >>> model = gamedp.Model.from_arrays(
    ...     [0, 2, 2], [0, 1, 2], [0, 1], [1.0, 1.0], terminals=[1], payoffs=[0.75]
    ... )
    >>> def claim(value, rank):
    ...     return gamedp.Certificate(
    ...         objective=gamedp.TotalReward(),
    ...         lower=np.array([value, 0.75]),
    ...         upper=np.array([value, 0.75]),
    ...         evidence={"lower_ranks": np.array([rank, 0]), "upper_ranks": np.array([-1, 0])},
    ...         digest=model.digest(),
    ...     )
    >>> gamedp.verify(model, claim(0.75, rank=1)).width
    0.0

    To be worth 1 because one may stay where one is worth 1 is no proof:

    >>> gamedp.verify(model, claim(1.0, rank=-1))
    Traceback (most recent call last):
        ...
    gamedp.errors.CertificateError: lower[0] = 1.0 of state 0 is not certified: no action...
    """
    from gamedp.certificates import Certificate, verify as verify_model

    model: Any = game_or_model
    if _is_game(model) and isinstance(certificate, Certificate):
        model = _compile(model, compile=compile)
    return verify_model(model, certificate)


_compile = compile  # under a name that no parameter hides


def _is_game(given: Any) -> bool:
    """Say whether this has the methods of a game; a class has them, and is none."""
    if isinstance(given, type):
        return False
    return any(
        all(callable(getattr(given, name, None)) for name in names)
        for names in (REQUIRED, STAGED_REQUIRED)
    )
