"""The parts of a long-run average: end components, and totals on the way to them."""
