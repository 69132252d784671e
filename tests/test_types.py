"""What the types of the verbs allow: `mypy` reads the calls, and here they run."""

import math

from typed_caller import right_calls


def test_calls_that_have_types_run():
    assert all(math.isfinite(value) for value in right_calls())
