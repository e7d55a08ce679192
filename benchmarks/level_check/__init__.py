"""What the level checker costs: see `__main__`."""
