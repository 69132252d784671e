"""Policies in rational numbers, solved without rounding."""
