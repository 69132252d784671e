"""Questions about models: expressions over variables and labels, and formulas."""
