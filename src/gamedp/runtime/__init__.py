"""Runtime services: numba and its cache, memory, progress, files, floating point."""
