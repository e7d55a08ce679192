"""The API group policy, by version."""
