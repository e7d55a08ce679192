"""The API group scheduling, by version."""
