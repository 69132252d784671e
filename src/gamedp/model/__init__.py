"""A game as sparse arrays, and the question that is asked of it."""
