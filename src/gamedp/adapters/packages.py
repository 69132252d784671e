"""Packages that only some adapters need, imported when they are used."""

from __future__ import annotations

import importlib
from typing import Any

from gamedp.errors import MissingPackageError

__all__ = ["installed"]


def installed(module: str, install: str) -> Any:
    """Return a module of an optional package.

    Raises
    ------
    MissingPackageError
        If it is not installed; names what ``pip install`` takes.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        message = f"{module.partition('.')[0]} is not installed; pip install {install}"
        raise MissingPackageError(message) from error
