"""Games as sparse arrays, and the objectives that solvers compute on them."""
