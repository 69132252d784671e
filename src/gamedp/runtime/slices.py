"""Sizes of slices of work: between two checks of limits, progress and Ctrl-C, or in memory.

A kernel can't be interrupted, so that each of its calls does a bounded amount of work: some
hundredths of a second of it. Bounds hold whatever these numbers are. Sizes for one
kernel alone stand beside it, and so do those of the checker of certificates.
"""

from __future__ import annotations

TRANSITIONS = 10_000_000
"""Approximate number of transitions in sweeps of a component."""
TIMED_TRANSITIONS = 3_000_000
"""The same where sweeps determine the value of endless play, with a time limit."""
NEW_TRANSITIONS = 1 << 21
"""Number of transitions explored: each looks a state up."""
VISITS = 1 << 22
"""Number of states or transitions that one pass over a graph visits."""
STATES = 1 << 20
"""Number of states that a sweep over the whole model visits."""
END_COMPONENTS = 1 << 12
"""Number of small end components whose average is computed."""
CONTEXTS = 512
"""Number of contexts of a staged game, times the columns of a block where there are blocks."""
HEAPS = 1 << 13
"""Number of heaps whose nim-values are computed: some tenths of a second."""
FIRST_NODES, MOST_NODES = 1 << 8, 1 << 24
"""Number of nodes that a search visits: at first, few as rules may be slow, and at most."""

GATHERED_STATES = 1 << 10
"""Number of states processed together for a proof: they fit into the processor's cache."""
CHOICES = 1 << 15
"""Number of choices whose values are compared: they fit into the processor's cache."""
UNPACKED_STATES = 1 << 16
"""Number of states that are unpacked, which bounds the memory."""
LINES = 10_000
"""Number of lines of text that are made before they are written."""
BYTES = 1 << 20
"""Number of bytes of a packed file that are read."""
