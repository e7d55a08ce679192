"""The API group events.k8s.io, by version."""
