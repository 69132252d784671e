"""Programs and formulas as text, read into syntax trees in which each part knows its place."""
