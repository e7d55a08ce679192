"""Sockets: where servers listen. Simulation has none, and says so."""

from __future__ import annotations

import errno
import socket
from typing import Protocol


class PortInUse(OSError):
    """Somebody listens there already."""


class Sockets(Protocol):
    """Where listening sockets come from."""

    def listen(self, host: str, port: int) -> socket.socket:
        """A bound, listening TCP socket; port 0 lets the system choose. Raises `PortInUse`, or `OSError` for any other refusal."""
        ...

    def hostname(self) -> str:
        """The machine's name."""
        ...


class RealSockets:
    """The machine's sockets."""

    def listen(self, host: str, port: int) -> socket.socket:
        """A bound, listening TCP socket."""
        try:
            return socket.create_server((host, port), backlog=1024)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortInUse(
                    error.errno, f"port {port} on {host} is in use; choose another one, or 0 to let the system choose"
                ) from error
            raise

    def hostname(self) -> str:
        """The machine's name."""
        return socket.gethostname()


class NoSockets:
    """Simulation has no network."""

    def listen(self, host: str, port: int) -> socket.socket:
        """Always refuses."""
        raise RuntimeError(f"there are no sockets in simulated time, so nothing can listen on {host}:{port}")

    def hostname(self) -> str:
        """A fixed name."""
        return "simulated"
