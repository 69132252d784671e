"""Loops over arrays: besides the rules of a game, the only compiled code of gamedp.

A kernel is a plain function on arrays: inputs first, arrays that it fills last; it returns scalars.
It has two names. ``name`` is the plain Python function, which tests and debuggers run; ``name_jit``
is the same function compiled by numba at its first call, which everything else runs. Arrays that a
kernel gets from its caller and only reads may be locked against writing.

``name_jit = compiled(name)`` makes it so (:mod:`gamedp.runtime.jit`).

A kernel calls nothing but numpy, numba and other kernels, those by their ``_jit`` name. Compiled
kernels are kept on disk and found again as long as no kernel's text has changed. With
``NUMBA_DISABLE_JIT=1`` both names mean the plain function.
"""
