from .slices import (
    plot_policy as plot_policy,
    plot_values as plot_values,
)
from .surface import plot_surface as plot_surface
