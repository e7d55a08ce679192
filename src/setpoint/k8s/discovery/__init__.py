"""The API group discovery.k8s.io, by version."""
