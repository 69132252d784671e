"""How things run: numba and its cache, memory, progress, files, floating point."""
