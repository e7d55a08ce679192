"""The embedded control plane as a program runs it, with a kubeconfig written for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from setpoint.cli.failure import Failure
from setpoint.cluster.hosted import hosted
from setpoint.cluster.server.kubeconfig import is_ours, write_kubeconfig
from setpoint.cluster.server.serving import Address
from setpoint.cluster.server.storage import DataFault
from setpoint.world import PortInUse

DEFAULT_KUBECONFIG = ".setpoint/kubeconfig"


@contextmanager
def embedded(port: int, kubeconfig: str | None, *, controllers: bool = True, data: str | None = None) -> Iterator[tuple[Address, Path]]:
    """Serves while the context is open; gives the address and the kubeconfig that was written for it. Raises `Failure`."""
    path = _place(kubeconfig or DEFAULT_KUBECONFIG)
    with ExitStack() as held:
        try:
            address = held.enter_context(hosted(port, controllers=controllers, data=data))
        except DataFault as error:
            raise Failure(f"{error} (--data)") from error
        except PortInUse as error:
            raise Failure(f"the embedded control plane cannot listen: {error.strerror} (--port)") from error
        except OSError as error:
            raise Failure(f"the embedded control plane cannot listen on port {port}: {error.strerror}; choose another --port") from error
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
