"""Graphs of choices: components, end components, attractors. Arrays alone, no games."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
