"""The API group batch, by version."""
