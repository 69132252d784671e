"""What a game is, and one state of it in plain Python: nothing here needs numba or scipy."""
