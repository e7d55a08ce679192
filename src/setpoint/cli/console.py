"""What the program says to people: on standard error, in colour on a terminal. Standard output is for programs."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from setpoint.manager.logs import configure

if TYPE_CHECKING:  # a fifth of a server's start; where standard error is a file, nothing is shown in colour
    from rich.console import Console

Part: TypeAlias = str | tuple[str, str]
"""Text, or text and rich's style for it."""
log = logging.getLogger("setpoint.run")


def console() -> Console:
    """Standard error; made when it is asked for, since tests and shells redirect it."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto")


def introduce(url: str, kubeconfig: Path, data: str | None = None) -> None:
    """Says that there is an embedded control plane, how to reach it, and where it keeps what it has."""
    keeps = f"everything is kept in {data}" if data else "it keeps nothing when it ends"
    shown = Path(os.path.relpath(kubeconfig)) if kubeconfig.is_relative_to(Path.cwd()) else kubeconfig
    greet(("Embedded control plane", "bold"), f" at {url}, for development and tests; {keeps}")
    greet("Point kubectl at it:  ", (f"export KUBECONFIG={shlex.quote(str(shown))}", "bold cyan"))


def greet(*parts: Part) -> None:
    """A line that a program says first: shown on a terminal, logged elsewhere."""
    if _may_be_terminal() and (out := console()).is_terminal:
        from rich.text import Text

        out.print(Text.assemble(*parts))
    else:
        log.info("%s", "".join(part if isinstance(part, str) else part[0] for part in parts))


def _may_be_terminal() -> bool:
    """False for what rich would not take for one either."""
    return sys.stderr.isatty() or "FORCE_COLOR" in os.environ or "TTY_COMPATIBLE" in os.environ


def ready(kubeconfig: Path) -> None:
    """The one line on standard output that says that requests are served."""
    print(f"ready {kubeconfig}", flush=True)


@contextmanager
def logs(level: int = logging.INFO) -> Iterator[Callable[[str], None]]:
    """Setpoint's logs go to standard error while the context is open.

    Gives a way to say something from a signal's handler, which must wait for nobody's lock.
    """
    logger = logging.getLogger("setpoint")
    handler = configure(sys.stderr, level)

    def at_once(text: str) -> None:
        record = log.makeRecord(log.name, logging.INFO, "", 0, text, (), None)
        os.write(2, f"{handler.format(record)}\n".encode())

    try:
        yield at_once
    finally:
        logger.removeHandler(handler)
        handler.close()
