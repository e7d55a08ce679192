"""The API group flowcontrol.apiserver.k8s.io, by version."""
