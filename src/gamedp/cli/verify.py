"""``gamedp verify``: check whether a certificate proves its claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import gamedp
from gamedp.cli import report
from gamedp.cli.games import is_model_file, is_saved, load_saved, make_game
from gamedp.cli.options import (
    OUTPUT,
    Bytes,
    ExploreOptions,
    FileOptions,
    Flag,
    GameSettings,
    OutputOptions,
    SavedGame,
)
from gamedp.cli.report import watch
from gamedp.cli.solve import model_with_digest, objective_in_words
from gamedp.cli.texts import refuse
from gamedp.errors import CertificateError, DamagedFileError
from gamedp.model.model import Model
from gamedp.model.objectives import NAMES
from gamedp.results.base import bounds_at_start

if TYPE_CHECKING:
    from gamedp.adapters import LoadedModel


def verify(
    model: str,
    certificate: Path,
    /,
    *,
    settings: GameSettings = None,
    rules: SavedGame = None,
    coalition: list[str] | None = None,
    normalise: Flag = False,
    max_bytes: Bytes = None,
    output: OutputOptions = OUTPUT,
) -> None:
    """Check a certificate independently of the solver that made it.

    The exit code is 0 if all that it claims is proven, and 1 if not; then the first state is named
    where it is not.

    Parameters
    ----------
    model
        A game or a file as for `gamedp solve`, or a folder that `gamedp solve --save` has written.
    certificate
        A folder that `gamedp solve --certificate` has written.
    coalition, normalise
        As for `gamedp solve`, for a file.
    max_bytes
        Limit what reading a file may take.
    """
    claims = gamedp.load(certificate)
    if not isinstance(claims, gamedp.Certificate):
        message = f"{certificate} holds a solution, not a certificate. Give the folder of a proof."
        raise DamagedFileError(message)
    name = NAMES[type(claims.objective)]
    facts: dict[str, Any] = {"model": model, "certificate": str(certificate), "objective": name}
    words: dict[str, str] = {}
    if is_model_file(model):
        if rules:
            refuse(f"--game is for games; {model} is a file.")
        file = FileOptions(coalition=coalition, normalise=normalise)
        loaded = file.read(model, settings, ExploreOptions(max_bytes=max_bytes))
        meant, words = _belonging(claims, loaded.model, loaded)
        words |= objective_in_words(claims.objective, loaded)
        facts |= words
    else:
        FileOptions(coalition=coalition, normalise=normalise).refuse()
        meant = _model(model, rules, settings, quiet=output.quiet)
        if isinstance(meant, Model):
            meant, _ = _belonging(claims, meant)
    try:
        with watch(quiet=output.quiet) as progress:
            verified = gamedp.verify(meant, claims, progress=progress)
    except CertificateError as error:
        if output.json:
            report.print_json({**facts, "verified": False, "reason": str(error)})
        raise
    lower, upper = (ends[meant.initial_states] for ends in (claims.lower, claims.upper))
    players = range(claims.lower.shape[1] if claims.rules == "equilibrium" else 1)
    starts = [bounds_at_start(meant, lower, upper, player) for player in players]
    facts |= dict(zip(("lower", "upper"), starts[0], strict=True))
    if output.json:
        report.print_json({**facts, "verified": True, **attrs.asdict(verified)})
    else:
        what = "contexts" if claims.rules == "stages" else "states"
        size = f"{verified.states:,} {what}, {verified.choices:,} choices"
        close = f"{verified.in_rationals:,} inequalities in rational numbers"
        pairs = [
            ("verified", verified.claim),
            ("objective", ", ".join([name, *(f"{key} {text}" for key, text in words.items())])),
            *(
                (
                    f"player {player}" if len(starts) > 1 else "start",
                    " to ".join(map(report.exactly, start)),
                )
                for player, start in enumerate(starts)
            ),
            ("width", f"{verified.width!r} at most"),
            ("size", size),
            ("work", f"{close}, all others in floating point"),
        ]
        print(report.lines(pairs))


def _belonging(
    claims: gamedp.Certificate, model: Model, loaded: LoadedModel | None = None
) -> tuple[Model, dict[str, str]]:
    """Return the model that a certificate belongs to, and its rewards in words."""
    return model_with_digest(model, claims.digest, loaded) or (model, {})


def _model(name: str, rules: SavedGame, settings: GameSettings, *, quiet: bool) -> Any:
    """Return the model of a saved solution, or of a game."""
    if is_saved(name):
        return load_saved(name, rules, settings).model
    if rules is not None:
        refuse(f"--game is for the folder of a saved solution; {name} is a game.")
    game = make_game(name, settings or ())
    with watch(quiet=quiet) as progress:
        return gamedp.compile(game, progress=progress)
