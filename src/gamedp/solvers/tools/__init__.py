"""Tools shared by the methods."""
