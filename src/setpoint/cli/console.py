"""What the program says to people: on standard error, in colour on a terminal. Standard output is for programs."""

from __future__ import annotations

import sys

from rich.console import Console


def console() -> Console:
    """Standard error; made when it is asked for, since tests and shells redirect it."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


def ready(kubeconfig: object) -> None:
    """The one line on standard output that says that requests are served."""
    print(f"ready {kubeconfig}", flush=True)
