"""Compiled rules on disk, so that the second process compiles nothing.

numba's own cache is keyed by the name and date of one source file: it goes stale when a helper in
another file changes. Here the key is the digest of everything that the rules consist of.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import sys
from typing import TYPE_CHECKING, Any

import numba
from numba.core.caching import CompileResultCacheImpl
from numba.core.ccallback import CFunc

from gamedp.rules.anatomy import dissect
from gamedp.runtime.jit import CodeFile, Locator, QuickCache, cache_directory, sources

if TYPE_CHECKING:
    from gamedp.rules.anatomy import Anatomy
    from gamedp.rules.game import Rules
    from gamedp.rules.layout import Layout

__all__ = ["RulesCache", "are_kept", "hash_of", "kept_callback", "key_of", "variant"]

logger = logging.getLogger("gamedp")


BINDING = (
    "compiler/*.py",
    "simulation/rules_loop.py",
    "searchers/*.py",
    "stages/*.py",
)
"""Source files with loops over rules, and those that bind and call rules."""


@functools.cache
def _own_source() -> bytes:
    """Return the digest of the source that compiled code depends on besides the rules."""
    return (sources(BINDING) + sources()).encode()


def _stamp(digest: str, variant: str) -> str:
    """Return the stamp in the names of the files of compiled rules."""
    key = f"{digest} {variant} {numba.__version__} ".encode()
    return hashlib.sha256(key + _own_source()).hexdigest()[:24]


def variant(counting: bool) -> str:
    """Return a key that distinguishes loops compiled with different options."""
    return f"counting={counting} boundscheck={numba.config.BOUNDSCHECK}"


def hash_of(text: str) -> str:
    """Return a short stable hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key_of(rules: Rules, anatomy: Anatomy, layout: Layout) -> str:
    """Return a key that distinguishes rules, with their states, from all others."""
    return f"{type(rules.game).__name__}-{anatomy.digest[:24]}-{hash_of(repr(layout))}"


def are_kept(rules: Rules, layout: Layout) -> bool:
    """Return whether there is a file of some rules, compiled for exploring.

    To look into it would take what is imported to compile them.
    """
    if numba.config.DISABLE_JIT:
        return False
    key = key_of(rules, dissect(rules.game), layout)
    stamps = [_stamp(key, variant(counting)) for counting in (False, True)]
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    names = [f"expand_state-{stamp}.{python}*.nbi" for stamp in stamps]
    return any(any(cache_directory().glob(name)) for name in names)


class _RulesCode(CompileResultCacheImpl):  # type: ignore[misc] # numba has no types
    def __init__(self, function: Any, locator: Locator) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = locator
        self._filename_base = self.get_filename_base(function.__name__, "")


class RulesCache(QuickCache):
    """The cache of one compiled function, for one game's rules.

    Parameters
    ----------
    function
        The plain function, a loop that takes the game as an argument.
    digest : str
        The digest of the game's rules.
    variant : str
        Distinguishes code compiled with different options.
    """

    _impl_class: type = _RulesCode

    def __init__(self, function: Any, digest: str, variant: str) -> None:
        stamp = _stamp(digest, variant)
        self._name = repr(function)
        self._py_func = function
        self._impl = _RulesCode(function, Locator(cache_directory(), stamp))
        self._cache_path = self._impl.locator.get_cache_path()
        self._cache_file = CodeFile(self._cache_path, self._impl.filename_base, stamp)
        self.enable()

    @property
    def holds_something(self) -> bool:
        """Whether compiled code of exactly these rules is on disk."""
        return bool(self.kept)


def kept_callback(function: Any, signature: Any, digest: str, variant: str) -> Any:
    """Return a function that C can call, compiled or read from disk."""
    code = CFunc(function, (signature.args, signature.return_type), locals={}, options={})
    code._cache = RulesCache(function, digest, variant)  # noqa: SLF001 - where numba puts it
    code.compile()
    return code
