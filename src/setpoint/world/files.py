"""Files: what lasts when the process ends, and who may write it.

A path is a path in simulation, too: there is nothing to replace, only the rules for writing so that no crash leaves half of anything.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class Locked(Exception):
    """Somebody else holds the lock. `holder` is what it wrote there about itself; it may be empty."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(f"{path} is locked{f' by {holder}' if holder else ''}")
        self.holder = holder


class FileLock:
    """A lock that the system takes from a process that dies, however it dies. The file stays where it is; only the lock comes and goes."""

    def __init__(self, path: Path, holder: str) -> None:
        """Takes it. Raises `Locked`, or `OSError` if the file cannot be written or its file system has no locks."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._file)
            os.ftruncate(self._file, 0)
            os.write(self._file, f"{holder}\n".encode())
        except _HELD as error:
            text = os.read(self._file, 200).decode(errors="replace").strip()
            os.close(self._file)
            raise Locked(path, text) from error
        except OSError:  # there are file systems without locks
            os.close(self._file)
            raise

    def release(self) -> None:
        """Lets go of it."""
        with suppress(OSError):  # who held it last is then told by a line that is out of date
            os.ftruncate(self._file, 0)
        os.close(self._file)


if sys.platform == "win32":
    import msvcrt

    _HELD = PermissionError

    def _lock(file: int) -> None:
        os.lseek(file, 1 << 30, os.SEEK_SET)  # beyond what is read, which Windows would refuse to others
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)

else:
    import fcntl

    _HELD = BlockingIOError

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Writes a file that its owner alone can read, as a whole or not at all: what was there is there until the new one is on the disk.

    Raises `OSError`.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        move_file(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def move_file(source: Path, target: Path) -> None:
    """Renames within a folder; it is done when this returns, also if the power fails."""
    os.replace(source, target)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder last. Windows has no such call, and needs none."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
