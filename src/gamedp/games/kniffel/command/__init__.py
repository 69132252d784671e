"""``gamedp kniffel``, registered in the entry point group ``gamedp.commands``."""
