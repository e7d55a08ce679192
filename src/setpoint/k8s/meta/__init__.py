"""The API group meta, by version."""
