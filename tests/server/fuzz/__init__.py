"""Requests that make no sense, or only almost: none may bring the server to an error of its own, or to a halt."""
