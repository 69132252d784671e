"""How much is done in one go: between two looks at limits, progress and Ctrl-C, or in memory.

A kernel can't be interrupted, so that each of its calls does a bounded amount of work: some
hundredths of a second of it. Bounds hold whatever these numbers are. What one kernel alone needs to
know stands beside it, and so do the sizes of the checker of certificates.
"""

from __future__ import annotations

__all__ = [
    "BYTES",
    "CHOICES",
    "CONTEXTS",
    "END_COMPONENTS",
    "FIRST_NODES",
    "GATHERED_STATES",
    "HEAPS",
    "LINES",
    "MOST_NODES",
    "NEW_TRANSITIONS",
    "STATES",
    "TIMED_TRANSITIONS",
    "TRANSITIONS",
    "UNPACKED_STATES",
    "VISITS",
]

TRANSITIONS = 10_000_000
"""Transitions that sweeps of a component look at, about."""
TIMED_TRANSITIONS = 3_000_000
"""The same where sweeps tell what endless play earns, if there is a limit of time."""
NEW_TRANSITIONS = 1 << 21
"""Transitions that are explored: each looks a state up."""
VISITS = 1 << 22
"""States or transitions that one pass over a graph visits."""
STATES = 1 << 20
"""States that a sweep over the whole model visits."""
END_COMPONENTS = 1 << 12
"""Small end components whose average is found."""
CONTEXTS = 512
"""Contexts of a staged game, times the columns of a block where they are swept in blocks."""
HEAPS = 1 << 13
"""Heaps whose nim-values are found: some tenths of a second."""
FIRST_NODES, MOST_NODES = 1 << 8, 1 << 24
"""Nodes that a search visits: at first few, as rules may be slow, and at most."""

GATHERED_STATES = 1 << 10
"""States put together for a proof: they fit into the processor's cache."""
CHOICES = 1 << 15
"""Choices whose values are compared: their numbers fit into the processor's cache."""
UNPACKED_STATES = 1 << 16
"""States that are unpacked, which bounds the memory this takes."""
LINES = 10_000
"""Lines of text that are made before they are written."""
BYTES = 1 << 20
"""Bytes of a packed file that are read."""
