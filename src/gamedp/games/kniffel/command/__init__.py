"""``gamedp kniffel``: found through the entry point group ``gamedp.commands``."""
