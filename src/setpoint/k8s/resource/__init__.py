"""The API group resource.k8s.io, by version."""
