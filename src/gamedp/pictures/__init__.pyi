from .actions import plot_actions as plot_actions
from .bars import (
    plot_cross_table as plot_cross_table,
    plot_gains as plot_gains,
    plot_ratings as plot_ratings,
    plot_results as plot_results,
)
from .board import plot_board as plot_board
from .components import plot_components as plot_components
from .curves import (
    plot_comparison as plot_comparison,
    plot_stages as plot_stages,
    plot_survival as plot_survival,
    plot_trace as plot_trace,
)
from .default import plot as plot
from .distribution import plot_distribution as plot_distribution
from .slices import (
    plot_policy as plot_policy,
    plot_values as plot_values,
)
from .surface import plot_surface as plot_surface
from .tree import plot_tree as plot_tree
