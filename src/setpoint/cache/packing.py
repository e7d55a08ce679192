"""`Packing`: objects of one kind kept compressed, by zstd with a dictionary that is learnt from the first of them.

Objects of a kind resemble one another, so a dictionary makes small ones several times smaller, at some microseconds a read. The first
`SAMPLES` objects are kept as they are, and learnt from; those after them are compressed. zstd is part of Python from 3.14 on, and the extra
`setpoint[zstd]` before.

https://docs.python.org/3.14/library/compression.zstd.html
"""

from __future__ import annotations

import importlib
from typing import Any

SAMPLES = 200
SAMPLE_BYTES = 512 << 10
"""About so many bytes are learnt from: a few large objects say enough, and to learn from 4 MiB blocks the event loop for a second."""
DICTIONARY = 16 << 10
LEVEL = 1
"""Above it an object takes a tenth less, and twice the time."""


class Packing:
    """Raises `ImportError`, naming the extra, where there is no zstd."""

    def __init__(self) -> None:
        self._zstd = _zstd()
        self._samples: list[bytes] | None = []
        self._sampled = 0
        self._dictionary: Any = None
        self._compressor: Any = None
        self._decompress: Any = self._zstd.decompress

    def pack(self, data: bytes) -> bytes:
        """Smaller, or the same bytes where it is still learning or where it does not pay."""
        if self._samples is not None:
            self._samples.append(data)
            self._sampled += len(data)
            if len(self._samples) >= SAMPLES or self._sampled >= SAMPLE_BYTES:
                self._learn(self._samples)
                self._samples = None
            return data
        packed: bytes = self._compressor.compress(data, self._compressor.FLUSH_FRAME)
        return packed if len(packed) < len(data) else data

    def unpack(self, packed: bytes) -> bytes:
        """What was packed. Bytes that never were are given as they are: JSON begins with a brace, and a zstd frame does not."""
        if packed[:1] == b"{":
            return packed
        data: bytes = self._decompress(packed, zstd_dict=self._dictionary)
        return data

    def _learn(self, samples: list[bytes]) -> None:
        try:
            self._dictionary = self._zstd.train_dict(samples, DICTIONARY).as_digested_dict
        except self._zstd.ZstdError:
            self._dictionary = None  # too few samples for a dictionary: large objects, which do without
        self._compressor = self._zstd.ZstdCompressor(level=LEVEL, zstd_dict=self._dictionary)


def _zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    raise ImportError("compress=True needs zstd, which Python has from 3.14 on: install setpoint[zstd]")
