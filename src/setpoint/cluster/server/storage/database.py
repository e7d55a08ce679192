"""The database in a data folder: one SQLite file that people can open, and what is checked before it is trusted.

`DIR/setpoint.db` holds one row for each change, in the order of revisions, and a view `objects` of what is there now; values are JSON text:

    sqlite3 DIR/setpoint.db "SELECT key, value ->> '$.spec.replicas' FROM objects WHERE collection = 'apps/deployments'"

Changes are only ever appended. Compaction deletes those that are older than the history and that a later one has replaced, so that at any
time the rows up to `compacted` are the state at that revision, and the rows after it the history. `DIR/setpoint.db-wal` belongs to the
database as long as it is there: it has the newest changes.

Durable means: written to the write-ahead log and flushed to the disk (`synchronous=FULL`), so that it survives the end of the process, of
the system and of the power, as far as the disk keeps what it says it has written. With `NORMAL`, SQLite would flush only now and then, and
a power cut would take back what has been answered.

All of this blocks and is called from one thread at a time. https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import msgspec

from setpoint.cluster.server.storage.records import Change, Contents, DataFault, Head, NotDurable, Record
from setpoint.world.files import FileLock, Locked, move_file

NAME = "setpoint.db"
FORMAT = 1
"""The version of the tables, in the file's `user_version`."""
APPLICATION = 0x53657450
"""The file's `application_id`: whose it is."""
PAGE = 8192
"""Bytes of a page: an object has 1 to 3 KB, and of SQLite's own 4096 much would be empty."""
PATIENCE = 10.0
"""Seconds that a write waits for another program that has the file open and locked."""

_SCHEMA = {
    "storage": "CREATE TABLE storage (revision INTEGER NOT NULL, compacted INTEGER NOT NULL)",
    "changes": (
        "CREATE TABLE changes (revision INTEGER PRIMARY KEY, collection TEXT NOT NULL, key TEXT NOT NULL, deleted INTEGER NOT NULL, "
        "head TEXT, value TEXT NOT NULL, checksum INTEGER NOT NULL)"
    ),
    "objects": (
        "CREATE VIEW objects AS SELECT collection, key, max(revision) AS revision, value FROM changes GROUP BY collection, key "
        "HAVING NOT deleted"
    ),
}
_INSERT = "INSERT INTO changes VALUES (?, ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?)"
_SELECT = "SELECT revision, collection, key, deleted, head, value, checksum FROM changes ORDER BY revision"
_NO_HEAD = Head()
_encode_head = msgspec.json.Encoder(order="deterministic").encode
_decode_head = msgspec.json.Decoder(Head).decode


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written in one transaction: the changes after a revision, and the rows that compaction no longer needs."""

    after: int
    changes: list[Change]
    compacted: int
    dropped: list[int]

    @property
    def revision(self) -> int:
        """The newest revision once it is written."""
        return self.after + len(self.changes)


class Database:
    """The open database of a data folder, locked for this process."""

    def __init__(self, folder: Path, lock: FileLock) -> None:
        self.folder = folder
        self._lock = lock
        self._connection = _connect(folder / NAME)

    def write(self, batch: Batch) -> None:
        """Writes and flushes a batch. Raises `NotDurable`, and then the database is as it was."""
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_INSERT, map(_row, batch.changes))
            connection.executemany("DELETE FROM changes WHERE revision = ?", ((revision,) for revision in batch.dropped))
            moved = connection.execute(
                "UPDATE storage SET revision = ?, compacted = ? WHERE revision = ?", (batch.revision, batch.compacted, batch.after)
            )
            if moved.rowcount != 1:
                raise sqlite3.DatabaseError("another program has changed it")
            connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            if not self._took_back(batch):
                raise NotDurable(f"the data folder {self.folder} cannot be written: {error}; {_remedy(error)}") from error

    def _took_back(self, batch: Batch) -> bool:
        """Rolls back. Whether the batch is there all the same: a commit may report an error that came after it."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            (revision,) = self._connection.execute("SELECT revision FROM storage").fetchone()
        except (sqlite3.Error, TypeError):
            return False
        return bool(batch.changes) and bool(revision == batch.revision)

    def close(self) -> None:
        """Moves what is in the write-ahead log into the file, as far as that is possible, and lets go of the folder."""
        with suppress(sqlite3.Error):  # what cannot be moved now stays in the log, and is found there at the next start
            self._connection.close()
        self._lock.release()


def open_database(folder: Path, contents: Contents | None = None) -> tuple[Database, Contents]:
    """The database of a folder with all that it holds. Makes the folder and a new database, with `contents`, where there is none.

    Raises `DataFault`, and then nothing has been changed.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise DataFault(f"the data folder {folder} is no folder; choose another one") from error
    except OSError as error:
        raise DataFault(f"the data folder {folder} cannot be made: {error.strerror}; choose another one") from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise DataFault(f"the data folder {folder} cannot be written by this user; change its rights, or choose another one")
    try:
        lock = FileLock(folder / "lock", f"process {os.getpid()}")
    except Locked as error:
        raise DataFault(
            f"the data folder {folder} is in use by another server ({error.holder or 'unknown'}); stop that one, or choose another folder"
        ) from error
    except OSError as error:
        raise DataFault(f"the data folder {folder} cannot be written: {error.strerror}; {_remedy(error)}") from error
    try:
        if not (folder / NAME).exists():
            _create(folder, contents)
        elif contents is not None:
            raise DataFault(f"the data folder {folder} holds a cluster already, which is not overwritten; choose an empty one")
        found = _read(folder / NAME)
        return Database(folder, lock), found
    except sqlite3.Error as error:
        lock.release()
        raise DataFault(f"the data folder {folder} cannot be used: {error}; {_remedy(error)}") from error
    except BaseException:
        lock.release()
        raise


def _connect(path: Path, mode: str = "rw") -> sqlite3.Connection:
    """A connection in which transactions are what is written as such, and text is bytes. The file must be there."""
    connection = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = bytes
    if mode == "rw":
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: the disk's own cache is flushed, too
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
        except sqlite3.Error:
            connection.close()
            raise
    return connection


def _create(folder: Path, contents: Contents | None) -> None:
    """A new database, which appears under its name when it is complete."""
    if (folder / f"{NAME}-wal").exists():
        raise DataFault(f"the data folder {folder} has {NAME}-wal but not {NAME} itself; put that back, or choose another folder")
    draft = folder / f"{NAME}.new"
    for leftover in (draft, folder / f"{NAME}.new-journal", folder / f"{NAME}.new-wal", folder / f"{NAME}.new-shm"):
        leftover.unlink(missing_ok=True)
    contents = contents or Contents(1, 1, [], [])
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(_connect(draft)) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("BEGIN")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            for statement in _SCHEMA.values():
                connection.execute(statement)
            connection.executemany(_INSERT, map(_row, map(Change, contents.base)))
            connection.executemany(_INSERT, map(_row, contents.changes))
            connection.execute("INSERT INTO storage VALUES (?, ?)", (contents.revision, contents.compacted))
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        move_file(draft, folder / NAME)
    except (sqlite3.Error, OSError) as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise DataFault(f"the data folder {folder} cannot be written: {error}; {_remedy(error)}") from error


def _read(path: Path) -> Contents:
    """All that the database holds, once it has been found whole. Raises `DataFault`. Nothing is written, whatever is found."""
    try:
        with open(path, "rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                raise _damaged(path, "it does not begin as an SQLite database does")
    except OSError as error:
        raise DataFault(f"{path} cannot be read: {error.strerror}; change its rights, or choose another folder") from error
    try:
        with closing(_connect(path, "ro")) as connection:
            _check_format(path, connection)
            connection.execute("BEGIN")
            problems = [bytes(row[0]).decode(errors="replace") for row in connection.execute("PRAGMA quick_check(1)")]
            if problems != ["ok"]:
                raise _damaged(path, problems[0].splitlines()[-1])
            _check_tables(path, connection)
            return _contents(path, connection)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # not the file's fault: it cannot be opened or is locked
            raise
        raise _damaged(path, str(error)) from error


def _check_format(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise DataFault(f"{path} is an SQLite database, but not one of Setpoint's; choose another folder")
    if version > FORMAT:
        raise DataFault(f"{path} has format {version}, and this Setpoint reads format {FORMAT}: it was written by a newer one; run that")
    if version < FORMAT:
        raise DataFault(f"{path} has format {version}, which this Setpoint no longer reads (its own is {FORMAT}); run an older one")


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    found = {bytes(name).decode(): bytes(sql).decode() for name, sql in connection.execute("SELECT name, sql FROM sqlite_master")}
    for name, sql in _SCHEMA.items():
        if name not in found:
            raise _damaged(path, f"its table {name} is missing")
        if found[name] != sql:
            raise _damaged(path, f"its table {name} is not as it should be")


def _contents(path: Path, connection: sqlite3.Connection) -> Contents:
    states = connection.execute("SELECT revision, compacted FROM storage").fetchall()
    if len(states) != 1:
        raise _damaged(path, f"its table storage has {len(states)} rows")
    revision, compacted = states[0]
    try:
        base, changes = replayed(compacted, _read_rows(connection.execute(_SELECT)))
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if len(changes) != revision - compacted or (changes and changes[-1].revision != revision):
        raise _damaged(path, f"it should have every change from revision {compacted + 1} to {revision}, and some are missing")
    return Contents(revision, compacted, base, changes)


def replayed(compacted: int, rows: Iterable[tuple[Record, bool]]) -> tuple[list[Record], list[Change]]:
    """The state at a revision and the changes after it, from rows in the order of revisions. Raises `ValueError` if they do not fit."""
    base: list[Record] = []
    changes: list[Change] = []
    current: dict[tuple[str, str], Record] = {}
    for record, deleted in rows:
        at = (record.collection, record.key)
        if record.revision <= compacted:
            if deleted or at in current:
                raise ValueError(f"revision {record.revision} should not be there any more")
            base.append(record)
            current[at] = record
            continue
        previous = current.pop(at, None)
        if deleted and previous is None:
            raise ValueError(f"revision {record.revision} deletes what is not there")
        if not deleted:
            current[at] = record
        changes.append(Change(record, previous, deleted))
    return base, changes


def _row(change: Change) -> tuple[int, str, str, bool, bytes | None, bytes, int]:
    record = change.record
    head = _encode_head(record.head) if record.head.labels or record.head.fields or record.head.bare else None
    sum_ = _checksum(record.revision, record.collection.encode(), record.key.encode(), change.deleted, head, record.value)
    return (record.revision, record.collection, record.key, change.deleted, head, record.value, sum_)


def _read_rows(rows: Iterable[tuple[int, bytes, bytes, int, bytes | None, bytes, int]]) -> Iterator[tuple[Record, bool]]:
    names: dict[bytes, str] = {}
    for revision, collection, key, deleted, head, value, checksum in rows:
        if _checksum(revision, collection, key, deleted, head, value) != checksum:
            raise ValueError(f"revision {revision} is not what was written")
        name = names.get(collection)
        if name is None:
            name = names[collection] = collection.decode()
        yield Record(name, key.decode(), value, revision, _NO_HEAD if head is None else _decode_head(head)), bool(deleted)


def _checksum(revision: int, collection: bytes, key: bytes, deleted: int, head: bytes | None, value: bytes) -> int:
    """Notices what SQLite's own checks do not: bytes that have changed within a value."""
    return zlib.crc32(value, zlib.crc32(b"%d %s %s %d %s" % (revision, collection, key, deleted, head or b"")))


def _damaged(path: Path, why: str) -> DataFault:
    return DataFault(f"{path} is damaged: {why}. It is left as it is; put back a copy or a snapshot of it, or start with another folder")


def _remedy(error: BaseException) -> str:
    text = str(error)
    if "full" in text or "No space" in text or "too large" in text:
        return "make room there and try again"
    if "locked" in text:
        return "close the program that has the database open, and try again"
    if "changed" in text:
        return "stop the server, and whatever else writes there"
    return "look at the disk and at the folder's rights, and try again"
