"""Loops over arrays: besides the rules of a game, the only compiled code of gamedp.

A kernel is a plain function on arrays: inputs first, arrays that it fills last; it returns scalars.
It has two names. ``name`` is the plain Python function, which tests and debuggers run; ``name_jit``
is the same function compiled by numba at its first call, which everything else runs. Arrays that a
kernel gets from its caller and only reads may be locked against writing.

``name_jit = compiled(name)`` makes it so (:mod:`gamedp.kernels.jit`).

A kernel calls nothing but numpy, numba and kernels of its own file, those by their ``_jit`` name.
numba's cache on disk notices a change in the file of a kernel, not in a file that the kernel calls
into: calls across files would one day run stale code. With ``NUMBA_DISABLE_JIT=1`` both names mean
the plain function.
"""
