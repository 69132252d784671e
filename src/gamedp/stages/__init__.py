"""Games that play one sub-game in many contexts: all about them but their rules and proofs."""
