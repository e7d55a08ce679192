"""What a program says of itself: processor time, memory, and the line of JSON at its end."""

from __future__ import annotations

import gc
import json
import resource
from pathlib import Path
from typing import Any


def cpu() -> float:
    """Seconds of processor time so far, of all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def megabytes(field: str) -> float:
    """A line of the process's status, such as VmRSS or VmHWM."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:"))


def emit(out: dict[str, Any]) -> None:
    """Prints the line, with what memory there is now, after a collection, and was at most."""
    peak, used = megabytes("VmHWM"), cpu()
    gc.collect()
    print(json.dumps(out | {"rss_mb": megabytes("VmRSS"), "rss_peak_mb": peak, "cpu_s": used}), flush=True)
