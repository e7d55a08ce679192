"""A dict that a module beside the controller holds, as a cache of a third party does. Mutants of the controller keep things in it."""

held: dict[str, str] = {}
