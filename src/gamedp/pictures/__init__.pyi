from .convergence import plot_trace as plot_trace
from .slices import (
    plot_policy as plot_policy,
    plot_values as plot_values,
)
from .surface import plot_surface as plot_surface
from .table import plot_cross_table as plot_cross_table
from .tree import plot_tree as plot_tree
