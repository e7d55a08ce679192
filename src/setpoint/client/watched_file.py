"""A file that is read again when it has changed: tokens and certificates are short-lived, and somebody else renews them."""

from __future__ import annotations

from pathlib import Path


class WatchedFile:
    """The contents of a file, as they are now. Looking costs one call of the system, reading is done only after a change.

    A change of the place that a link points to counts, which is how the kubelet renews what it mounts.
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        self._seen: tuple[int, int, int] | None = None
        self.last = b""
        """What was read last."""

    def read(self, *, anew: bool = False) -> bytes:
        """The contents. Raises `OSError`.

        `anew` reads them also where nothing seems to have changed: of two changes in one tick of the file system's clock the second cannot
        be seen, where it leaves size and place as they were.
        """
        stat = self.path.stat()
        seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if anew or seen != self._seen:
            self.last = self.path.read_bytes()
            self._seen = seen
        return self.last
