"""The embedded control plane as a program runs it, with a kubeconfig written for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from setpoint.api import Identity
from setpoint.cli.failure import USAGE, Failure
from setpoint.cluster.faults import Rule, Setting
from setpoint.cluster.hosted import hosted
from setpoint.cluster.server.http.asgi import Log
from setpoint.cluster.server.http.kubeconfig import is_ours, write_kubeconfig
from setpoint.cluster.server.http.serving import Address, is_loopback
from setpoint.cluster.server.storage import DataFault
from setpoint.world import PortInUse

DEFAULT_KUBECONFIG = ".setpoint/kubeconfig"


@contextmanager
def embedded(
    port: int,
    kubeconfig: str | None,
    *,
    host: str = "127.0.0.1",
    controllers: bool = True,
    data: str | None = None,
    tokens: Mapping[str, Identity] | None = None,
    anonymous: bool = False,
    faults: Iterable[Rule | Setting] = (),
    log: Log | None = None,
) -> Iterator[tuple[Address, Path]]:
    """Serves while the context is open; gives the address and the kubeconfig that was written for it. Raises `Failure`.

    For what the options mean see `setpoint.cluster.hosted`.
    """
    if not is_loopback(host):
        raise Failure(
            f"the embedded control plane listens on the loopback interface alone, not on {host}; choose another --host", code=USAGE
        )
    path = _place(kubeconfig or DEFAULT_KUBECONFIG)
    with ExitStack() as held:
        try:
            serving = hosted(
                port, host=host, controllers=controllers, data=data, tokens=tokens, anonymous=anonymous, faults=faults, log=log
            )
            address = held.enter_context(serving)
        except DataFault as error:
            raise Failure(f"{error} (--data)") from error
        except PortInUse as error:
            raise Failure(f"the embedded control plane cannot listen: {error.strerror} (--port)") from error
        except OSError as error:
            raise Failure(
                f"the embedded control plane cannot listen on {host} port {port}: {error.strerror}; choose another --port"
            ) from error
        try:
            written = write_kubeconfig(path, address.url, address.ca_pem, address.token)
        except OSError as error:
            raise Failure(f"the kubeconfig {path} cannot be written: {error.strerror}; choose another --write-kubeconfig") from error
        yield address, written


def _place(path: str) -> Path:
    """Where the kubeconfig goes. Nothing that somebody else wrote is overwritten, and the user's own kubeconfig is never written to."""
    place = Path(path).absolute()
    if place.is_dir():
        raise Failure(f"the kubeconfig {path} cannot be written: it is a folder; choose a file with --write-kubeconfig")
    if place.resolve() == (Path.home() / ".kube" / "config").resolve():
        raise Failure(f"{path} is your own kubeconfig, which setpoint never writes to; choose another --write-kubeconfig")
    try:
        theirs = place.exists() and not is_ours(place)
    except OSError as error:
        raise Failure(f"the kubeconfig {path} cannot be written: {error.strerror}; choose another --write-kubeconfig") from error
    if theirs:
        raise Failure(f"{path} is there, and was not written by setpoint, so it is left as it is; choose another --write-kubeconfig")
    return place
