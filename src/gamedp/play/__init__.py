"""Games played, kept, and set against each other."""
