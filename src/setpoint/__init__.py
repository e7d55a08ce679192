"""Setpoint: level-based controllers on the Kubernetes API."""
