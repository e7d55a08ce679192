"""The core API group, by version."""
