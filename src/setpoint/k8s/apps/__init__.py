"""The API group apps, by version."""
