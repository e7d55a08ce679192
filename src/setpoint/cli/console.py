"""What the program says to people: on standard error, in colour on a terminal. Standard output is for programs."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from setpoint.manager.logs import configure

log = logging.getLogger("setpoint.run")


def console() -> Console:
    """Standard error; made when it is asked for, since tests and shells redirect it."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto")


def introduce(url: str, kubeconfig: Path, data: str | None = None) -> None:
    """Says that there is an embedded control plane, how to reach it, and where it keeps what it has."""
    keeps = f"everything is kept in {escape(data)}" if data else "it keeps nothing when it ends"
    shown = Path(os.path.relpath(kubeconfig)) if kubeconfig.is_relative_to(Path.cwd()) else kubeconfig
    greet(
        f"[bold]Embedded control plane[/] at {escape(url)}, for development and tests; {keeps}",
        f"Point kubectl at it:  [bold cyan]export KUBECONFIG={escape(shlex.quote(str(shown)))}[/]",
    )


def greet(*lines: str) -> None:
    """What a program says first, in rich's markup: shown on a terminal, logged elsewhere."""
    out = console()
    for line in lines:
        if out.is_terminal:
            out.print(line)
        else:
            log.info("%s", Text.from_markup(line).plain)


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
