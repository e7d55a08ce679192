"""The API group autoscaling, by version."""
