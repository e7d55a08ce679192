"""The API group authentication.k8s.io, by version."""
