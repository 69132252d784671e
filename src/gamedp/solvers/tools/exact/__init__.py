"""Policies of rational numbers, solved without rounding."""
