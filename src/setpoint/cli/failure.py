"""What ends the program: one clear sentence that names the thing and the remedy, and an exit code other than zero."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

USAGE = 2
"""The exit code for options and arguments that do not go together."""

_LIBRARIES = tuple(f"{Path(sysconfig.get_path(name)).resolve()}/" for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_OURS = f"{Path(__file__).resolve().parents[1]}/"


class Failure(Exception):
    """The user's mistake, or the world's: shown as its text alone, without a traceback. `code` is the exit code."""

    def __init__(self, text: str, *, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


def told(error: BaseException) -> str:
    """An exception that the user's code raised: its class, its text, and the line to look at."""
    return f"{type(error).__name__}: {error}{place(error)}" if str(error) else f"{type(error).__name__}{place(error)}"


def place(error: BaseException) -> str:
    """Where the user's code raised, or called what raised: the deepest line that is in no library; "" if all of it is."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<") and not _is_library(frame.filename)
    ]
    return f" ({frames[-1].filename}, line {frames[-1].lineno}: {frames[-1].line})" if frames else ""


def _is_library(filename: str) -> bool:
    path = str(Path(filename).resolve())
    return path.startswith(_OURS) or path.startswith(_LIBRARIES)
