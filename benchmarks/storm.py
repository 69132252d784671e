"""Storm, which builds the models that are written as programs, and answers as a process of its own.

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

from programs import PROGRAMS

__all__ = ["answer", "build"]


def build(program: str, constants: Mapping[str, object], path: str) -> None:
    """Write the model of a program to a file: one of Storm's own, or one of `PROGRAMS`."""
    import stormpy  # noqa: PLC0415 - may be missing
    from stormpy import io  # noqa: PLC0415

    is_own = program in PROGRAMS
    text = PROGRAMS[program](**constants) if is_own else _text(program, constants)
    with tempfile.NamedTemporaryFile("w", suffix=".prism", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        parsed = stormpy.parse_prism_program(file.name)
    model = stormpy.build_model(parsed, options=stormpy.BuilderOptions(build_full=True))
    io.export_to_umb(model, path)


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


def answer(path: str, formula: str, error: str) -> float:
    """Return the value at the start of the model in a file, off by at most `error`."""
    import stormpy  # noqa: PLC0415 - may be missing
    from stormpy import io  # noqa: PLC0415

    options = io.UmbImportOptions()
    options.build_state_valuations = False
    model = stormpy.build_model_from_umb(path, options=options)
    environment = stormpy.environments.sound()
    solver = environment.solver()
    for settings in (solver.min_max(), solver.native()):
        settings.precision = stormpy.Rational(error)
        settings.relative_termination_criterion = False
    (wanted,) = stormpy.parse_properties(formula)
    (state,) = model.initial_states
    return float(stormpy.model_checking(model, wanted, environment=environment).get_value(state))


if __name__ == "__main__":
    print(answer(*sys.argv[1:]))
