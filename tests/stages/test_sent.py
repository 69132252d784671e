"""A staged model that is sent to another process is solved there, compiled or not."""

import pickle
import subprocess
import sys

import numba
import pytest
import staged_games

import gamedp
from gamedp.games.kniffel import Kniffel

SOLVE = """
import pickle, sys
sys.path[:] = {path!r}
model = pickle.load(open({file!r}, "rb"))
import gamedp
print(repr(gamedp.solve(model).bounds()))
"""


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compiled rules are what must be bound anew")
@pytest.mark.parametrize(
    ("game", "mode"),
    [
        (Kniffel(dice=1, faces=2, throws=1, threshold=3), "always"),
        (Kniffel(dice=1, faces=2, throws=1, threshold=3), "never"),
        (staged_games.Journey(), "auto"),
    ],
    ids=["compiled", "plain", "patient"],
)
def test_it_gives_the_same_bounds(game, mode, tmp_path):
    model = gamedp.compile(game, compile=mode)
    file = tmp_path / "model"
    file.write_bytes(pickle.dumps(model))
    program = SOLVE.format(path=sys.path, file=str(file))
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == repr(gamedp.solve(model).bounds())
