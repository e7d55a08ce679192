"""The API group apiextensions.k8s.io, by version."""
