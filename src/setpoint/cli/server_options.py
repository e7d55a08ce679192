"""What `setpoint server` is told, read: token files, faults, where requests are logged. Each mistake is one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

from setpoint.api import Identity
from setpoint.cli.failure import USAGE, Failure
from setpoint.cluster.faults import Rule, Setting, parse_fault
from setpoint.cluster.server.http.asgi import Exchange, Log
from setpoint.cluster.server.http.auth import read_tokens
from setpoint.cluster.server.http.request_log import line
from setpoint.world.clock import RealClock


def tokens(path: str | None) -> dict[str, Identity]:
    """The identities of a token file by their tokens. Raises `Failure`, which shows no token."""
    if path is None:
        return {}
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            return read_tokens(file)
    except OSError as error:
        raise Failure(f"the token file {path} cannot be read: {error.strerror} (--token-file)") from error
    except UnicodeDecodeError as error:
        raise Failure(f"the token file {path} is no text in UTF-8 (--token-file)") from error
    except ValueError as error:
        raise Failure(f"the token file {path} is not as Kubernetes has it: {error} (--token-file)") from error


def faults(texts: Sequence[str]) -> list[Rule | Setting]:
    """The faults that are asked for. Raises `Failure`."""
    try:
        return [parse_fault(text) for text in texts]
    except ValueError as error:
        raise Failure(f"{error} (--fault)", code=USAGE) from error


@contextmanager
def log(what: str | None) -> Iterator[Log | None]:
    """What writes the log of requests, where that is wanted: `requests` to standard error, `requests=FILE` to the end of a file.

    Raises `Failure`.
    """
    if what is None:
        yield None
        return
    kind, equals, path = what.partition("=")
    if kind != "requests" or (equals and not path):
        raise Failure(f"--log takes requests, or requests=FILE, not {what!r}", code=USAGE)
    if not equals:
        yield _writer(sys.stderr)
        return
    with ExitStack() as held:
        try:
            file = held.enter_context(Path(path).open("a", encoding="utf-8", buffering=1))
        except OSError as error:
            raise Failure(f"requests cannot be logged to {path}: {error.strerror} (--log)") from error
        yield _writer(file)


def _writer(out: TextIO) -> Log:
    clock = RealClock()

    def write(exchange: Exchange, seconds: float) -> None:
        print(line(exchange, seconds, clock.now()), file=out)

    return write
