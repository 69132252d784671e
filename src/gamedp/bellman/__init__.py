"""Bellman's equation: sweeps, eliminations, and proofs of how far off values are. Arrays alone.

What a kernel is, and how it is compiled, is said in :mod:`gamedp.runtime.jit`.
"""
