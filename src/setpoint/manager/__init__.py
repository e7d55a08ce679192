"""The process around controllers: their life cycle, its health, metrics and logs.

A `Manager` runs controllers against one server: caches first, then controllers, until it is stopped. An `App` is an async context manager
that receives the manager, opens what the controllers need, and adds them. `endpoints` serves health and metrics, `logs` writes the log.
"""

from setpoint.manager.manager import App, Manager, Options, Phase

__all__ = ["App", "Manager", "Options", "Phase"]
