"""Endgame tables: all positions with few stones, built, checked and looked up."""
