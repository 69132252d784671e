"""Bellman's equation: sweeps, eliminations, and proofs of error bounds for values. Arrays alone.

:mod:`gamedp.runtime.jit` describes kernels and how they are compiled.
"""
