"""What the benchmarks ask of Storm, through its Python package: build, read, check.

Storm is free software under the GPL, and no part of gamedp: it runs beside it, where it is
installed (``pip install --group peers``). This module imports neither gamedp nor numpy, so that a
process that only runs Storm pays for nothing else.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from programs import PROGRAMS

__all__ = ["build", "check", "is_installed", "load", "sound", "value_at_start"]


def is_installed() -> bool:
    """Say whether Storm is there."""
    try:
        import stormpy  # noqa: F401, PLC0415 - may be missing
    except ImportError:
        return False
    return True


def build(program: str, constants: Mapping[str, object]) -> Any:
    """Return the model of a program: one that Storm brings along, or one of `PROGRAMS`."""
    import stormpy  # noqa: PLC0415 - may be missing

    is_own = program in PROGRAMS
    text = PROGRAMS[program](**constants) if is_own else _text(program, constants)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.prism")
        path.write_text(text, encoding="utf-8")
        parsed = stormpy.parse_prism_program(str(path))
    return stormpy.build_model(parsed, options=stormpy.BuilderOptions(build_full=True))


def _text(program: str, constants: Mapping[str, object]) -> str:
    """Return the text of a program that Storm brings along, with other constants."""
    from stormpy import examples  # noqa: PLC0415 - may be missing

    text = Path(examples.__path__[0], "files", program).read_text(encoding="utf-8")
    for name, value in constants.items():
        pattern = rf"(const\s+\w+\s+{name})\b\s*(=[^;]*)?;"
        text, count = re.subn(pattern, rf"\1 = {value};", text)
        if count != 1:
            message = f"{program} has no constant {name}"
            raise ValueError(message)
    return text


def load(path: Path | str, *, exact: bool = False) -> Any:
    """Return the model in a file, with fractions instead of doubles if it is to be `exact`."""
    import stormpy  # noqa: PLC0415 - may be missing
    from stormpy import io  # noqa: PLC0415

    options = io.UmbImportOptions()
    options.build_state_valuations = False
    if exact:
        options.value_type = io.UmbImportValueType.RATIONAL
    return stormpy.build_model_from_umb(str(path), options=options)


def sound(error: str) -> Any:
    """Return the settings under which Storm's answers are off by at most `error`."""
    import stormpy  # noqa: PLC0415 - may be missing

    environment = stormpy.environments.sound()
    solver = environment.solver()
    for settings in (solver.min_max(), solver.native()):
        settings.precision = stormpy.Rational(error)
        settings.relative_termination_criterion = False
    return environment


def check(model: Any, formula: str, environment: Any = None) -> Any:
    """Return the answer for all states."""
    import stormpy  # noqa: PLC0415 - may be missing

    (wanted,) = stormpy.parse_properties(formula)
    return stormpy.model_checking(model, wanted, environment=environment)


def value_at_start(model: Any, answer: Any) -> float:
    """Return the value of the one initial state."""
    (state,) = model.initial_states
    return float(answer.get_value(state))


if __name__ == "__main__":
    _, file, asked, precision = sys.argv
    read = load(file)
    print(value_at_start(read, check(read, asked, sound(precision))))
