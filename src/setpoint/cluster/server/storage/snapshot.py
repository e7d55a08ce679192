"""Snapshots: all that a storage holds, its history included, in one file.

The file is lines of JSON. The first one says what it is and how things stand:

    {"format":"setpoint-snapshot","version":1,"revision":812,"compacted":300,"rows":640}

Then comes one line for each object as it was at `compacted`, and for each change after it, in the order of revisions. `value` is the
object; `head` has what selectors look at, and is left out where that is nothing; `deleted` stands where a change removed the object:

    {"revision":301,"collection":"apps/deployments","key":"default/web","head":{"labels":{"app":"web"}},"value":{...}}

The last line has the SHA-256 of all lines before it, with their line ends: {"sha256":"..."}.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import msgspec

from setpoint.cluster.server.storage.database import replayed
from setpoint.cluster.server.storage.interface import Storage
from setpoint.cluster.server.storage.records import Change, Contents, DataFault, Head, Record
from setpoint.world.files import replace_file

FORMAT = "setpoint-snapshot"
VERSION = 1


class _First(msgspec.Struct, kw_only=True):
    format: str = ""
    version: int = 0
    revision: int = 0
    compacted: int = 0
    rows: int = 0


class _Row(msgspec.Struct, omit_defaults=True, gc=False):
    revision: int
    collection: str
    key: str
    value: msgspec.Raw
    deleted: bool = False
    head: Head = Head()


class _Last(msgspec.Struct):
    sha256: str


_encode = msgspec.json.Encoder().encode
_decode_row = msgspec.json.Decoder(_Row).decode
_HEAD = Head()


def save_snapshot(storage: Storage, path: str | PathLike[str]) -> int:
    """Writes all that is durable to a file that its owner alone can read, and gives the revision. What was there is replaced as a whole.

    It blocks for as long as that takes. Raises `OSError`, and then the file is as it was.
    """
    contents = storage.contents()
    replace_file(Path(path), _lines(contents))
    return contents.revision


def load_snapshot(path: str | PathLike[str]) -> Contents:
    """What such a file holds: for a new `MemoryStorage(contents=...)`, or a new folder by `data_folder(..., contents=...)`.

    Raises `DataFault` for a file that is damaged or no snapshot, and `OSError`.
    """
    lines = Path(path).read_bytes().splitlines(keepends=True)
    try:
        first = msgspec.json.decode(lines[0], type=_First)
    except (IndexError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DataFault(f"{path} is no snapshot of Setpoint's: it does not begin as one does; choose another file") from error
    if first.format != FORMAT:
        raise DataFault(f"{path} is no snapshot of Setpoint's; choose another file")
    if first.version != VERSION:
        raise DataFault(f"{path} has format {first.version}, and this Setpoint reads format {VERSION}; use the Setpoint that wrote it")
    digest = hashlib.sha256()
    for line in lines[:-1]:
        digest.update(line)
    try:
        if len(lines) != first.rows + 2 or msgspec.json.decode(lines[-1], type=_Last).sha256 != digest.hexdigest():
            raise ValueError("it is not what was written")
        base, changes = replayed(first.compacted, map(_read, lines[1:-1]))
        if len(changes) != first.revision - first.compacted:
            raise ValueError("it has not every change that it should have")
    except (ValueError, msgspec.MsgspecError) as error:
        raise DataFault(f"{path} is damaged: {error}; use another copy of it") from error
    return Contents(first.revision, first.compacted, base, changes)


def _lines(contents: Contents) -> Iterator[bytes]:
    digest = hashlib.sha256()
    rows = len(contents.base) + len(contents.changes)
    first = _First(format=FORMAT, version=VERSION, revision=contents.revision, compacted=contents.compacted, rows=rows)
    for line in (first, *map(_base_row, contents.base), *map(_row, contents.changes)):
        encoded = _encode(line) + b"\n"
        digest.update(encoded)
        yield encoded
    yield _encode(_Last(digest.hexdigest())) + b"\n"


def _base_row(record: Record) -> _Row:
    return _row(Change(record))


def _row(change: Change) -> _Row:
    record = change.record
    head = record.head if record.head != _HEAD else _HEAD
    return _Row(record.revision, record.collection, record.key, msgspec.Raw(record.value), change.deleted, head)


def _read(line: bytes) -> tuple[Record, bool]:
    row = _decode_row(line)
    return Record(row.collection, row.key, bytes(row.value), row.revision, row.head), row.deleted
