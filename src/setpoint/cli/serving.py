"""`setpoint server`: the embedded control plane as a program of its own, until a signal."""

from __future__ import annotations

import gc
import signal
from dataclasses import dataclass

from setpoint.cli import console, server_options
from setpoint.cli.embedded import embedded


@dataclass(frozen=True, kw_only=True)
class Serving:
    """What the command line asks for, as it was written."""

    port: int = 0
    host: str = "127.0.0.1"
    kubeconfig: str | None = None
    data: str | None = None
    controllers: bool = True
    token_file: str | None = None
    anonymous: bool = False
    log: str | None = None
    faults: tuple[str, ...] = ()


def serve(asked: Serving) -> None:
    """Serves until SIGINT or SIGTERM. Raises `Failure`."""
    tokens = server_options.tokens(asked.token_file)
    faults = server_options.faults(asked.faults)
    # Blocked before the server's thread is there, which inherits it: so the signals wait for `sigwait`, whoever they reach first.
    signals = (signal.SIGINT, signal.SIGTERM)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        with (
            console.logs(),
            server_options.log(asked.log) as log,
            embedded(
                asked.port,
                asked.kubeconfig,
                host=asked.host,
                controllers=asked.controllers,
                data=asked.data,
                tokens=tokens,
                anonymous=asked.anonymous,
                faults=faults,
                log=log,
            ) as (address, path),
        ):
            console.introduce(address.url, path, asked.data)
            console.ready(path)
            # What a start leaves is there to stay. Walked through by each full collection, it would hold up all requests for 50 ms.
            gc.freeze()
            signal.sigwait(signals)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
