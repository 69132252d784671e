"""The public functions: each accepts every suitable kind of argument, and its type says which.

Each imports what it needs when it is called, so a certificate is checked without numba.
"""
