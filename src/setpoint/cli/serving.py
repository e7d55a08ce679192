"""`setpoint server`: the embedded control plane as a program of its own, until a signal."""

from __future__ import annotations

import signal
import sys

from setpoint.cli import console
from setpoint.cli.embedded import embedded
from setpoint.manager.logs import configure


def serve(port: int, kubeconfig: str | None, *, controllers: bool) -> None:
    """Serves until SIGINT or SIGTERM. Raises `Failure`."""
    handler = configure(sys.stderr)
    # Blocked before the server's thread is there, which inherits it: so the signals wait for `sigwait`, whoever they reach first.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        with embedded(port, kubeconfig, controllers=controllers) as (address, path):
            console.console().print(
                f"[bold]Embedded control plane[/] at {address.url}, for development and tests; it keeps nothing when it ends."
            )
            console.ready(path)
            signal.sigwait((signal.SIGINT, signal.SIGTERM))
    finally:
        handler.close()
