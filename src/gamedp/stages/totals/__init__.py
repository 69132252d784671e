"""Results of a staged game under a policy: distributions of totals, and expected numbers."""
