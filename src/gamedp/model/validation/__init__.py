"""Arrays from outside: checked, put into the model's own form, and copied.

Each kind of error is reported once, for the first place, with the number of such places.
"""

from gamedp.model.validation.arrays import check_model, checked_arrays
from gamedp.model.validation.forms import (
    arrays_of_matrices,
    as_numbers,
    expected_rewards,
    means_of,
    names_and_variables,
    varies,
)
from gamedp.model.validation.outcomes import normalised

__all__ = [
    "arrays_of_matrices",
    "as_numbers",
    "check_model",
    "checked_arrays",
    "expected_rewards",
    "means_of",
    "names_and_variables",
    "normalised",
    "varies",
]
