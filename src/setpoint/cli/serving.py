"""`setpoint server`: the embedded control plane as a program of its own, until a signal."""

from __future__ import annotations

import signal

from setpoint.cli import console
from setpoint.cli.embedded import embedded


def serve(port: int, kubeconfig: str | None, *, controllers: bool, data: str | None = None) -> None:
    """Serves until SIGINT or SIGTERM. Raises `Failure`."""
    # Blocked before the server's thread is there, which inherits it: so the signals wait for `sigwait`, whoever they reach first.
    signals = (signal.SIGINT, signal.SIGTERM)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        with console.logs(), embedded(port, kubeconfig, controllers=controllers, data=data) as (address, path):
            console.introduce(address.url, path, data)
            console.ready(path)
            signal.sigwait(signals)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
