"""Searchers: from compiled rules straight to the value of one position, with no model between."""

from __future__ import annotations
