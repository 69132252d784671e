"""Endgame tables: all positions of few stones, built, checked and looked up."""
