"""The behaviours of the built-in kinds, a file for each API group (or idea), each with its `BEHAVIOURS` by the kind's name."""
