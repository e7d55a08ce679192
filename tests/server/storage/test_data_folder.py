"""What is wrong with a data folder is said in one message, and left as it is."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.server.storage.steps import held, in_folder, take

from setpoint.cluster.server.storage import DataFault, MemoryStorage, NotDurable, SqliteStorage, load_snapshot, save_snapshot
from setpoint.cluster.server.storage.database import open_database

PUT = ("put", "/configmaps", "a/x", "text")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with 200 changes in it, which nobody uses."""

    async def main(storage: SqliteStorage) -> None:
        for number in range(200):
            take(storage, ("put", "/configmaps", f"a/{number % 150}", "text" * 20))
        await storage.settled(storage.revision)

    in_folder(tmp_path / "data", main)
    return tmp_path / "data"


def refused(folder: Path, text: str) -> None:
    """Opening says this, and changes nothing."""
    before = {file.name: file.read_bytes() for file in folder.iterdir()} if folder.is_dir() else {}
    with pytest.raises(DataFault, match=text) as fault:
        held(folder)
    assert str(folder) in str(fault.value)
    if folder.is_dir():
        after = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
        assert {name: data for name, data in after.items() if data or name in before} == {
            name: data for name, data in before.items() if not name.endswith("-shm")
        } | {name: data for name, data in after.items() if name == "lock" and data}


@contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database, for somebody who changes it by hand."""
    with closing(sqlite3.connect(folder / "setpoint.db")) as connection:
        yield connection
        connection.commit()


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    refused(tmp_path / "file", "is no folder; choose another one")
    with pytest.raises(DataFault, match="is no folder"):
        held(tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(folder: Path) -> None:
    folder.chmod(0o500)
    try:
        refused(folder, "cannot be written by this user; change its rights, or choose another one")
    finally:
        folder.chmod(0o700)


def test_a_second_server_is_told_who_is_there_and_the_first_goes_on(folder: Path) -> None:
    async def main(storage: SqliteStorage) -> None:
        with pytest.raises(
            DataFault, match=rf"in use by another server \(process {os.getpid()}\); stop that one, or choose another folder"
        ):
            open_database(folder)
        take(storage, PUT)
        await storage.settled(storage.revision)

    in_folder(folder, main)
    assert held(folder)[0] == 202


def test_the_lock_is_let_go_of_after_a_refusal(folder: Path) -> None:
    whole = (folder / "setpoint.db").read_bytes()
    (folder / "setpoint.db").write_bytes(whole[:-4096])
    refused(folder, "is damaged")
    (folder / "setpoint.db").write_bytes(whole)
    assert held(folder)[0] == 201


@pytest.mark.parametrize("size", [0, 10, 100, 4096, 5000, 8192, 20_000])
def test_a_database_that_has_been_cut(folder: Path, size: int) -> None:
    os.truncate(folder / "setpoint.db", size)
    refused(folder, r"setpoint\.db is damaged: .+\. It is left as it is; put back a copy")


@pytest.mark.parametrize("where", range(0, 45_000, 1777))
def test_random_bytes_are_noticed_unless_nothing_was_there(folder: Path, where: int) -> None:
    before = held(folder)
    with open(folder / "setpoint.db", "r+b") as file:
        file.seek(where)
        file.write(bytes(range(1, 200)))
    try:
        found = held(folder)
    except DataFault:
        refused(folder, r"setpoint\.db")
    else:
        assert found == before


def test_a_single_bit_is_noticed_in_any_value(folder: Path) -> None:
    data = bytearray((folder / "setpoint.db").read_bytes())
    data[data.index(b'{"revision":77}') + 12] ^= 1
    (folder / "setpoint.db").write_bytes(data)
    refused(folder, "revision 77 is not what was written")


def test_a_database_without_a_log_that_is_there(folder: Path) -> None:
    (folder / "setpoint.db").rename(folder / "setpoint.db-wal")
    refused(folder, "has setpoint.db-wal but not setpoint.db itself; put that back")


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("DROP TABLE storage", "its table storage is missing"),
        ("DROP TABLE changes", "its table changes is missing"),
        ("DROP VIEW objects", "its table objects is missing"),
        ("ALTER TABLE changes ADD COLUMN more", "its table changes is not as it should be"),
        ("DELETE FROM storage", "its table storage has 0 rows"),
        ("DELETE FROM changes WHERE revision = 42", "every change from revision 2 to 201, and some are missing"),
        ("DELETE FROM changes WHERE revision > 190", "some are missing"),
        ("UPDATE changes SET value = '{}' WHERE revision = 42", "revision 42 is not what was written"),
        ("UPDATE changes SET deleted = 1 WHERE revision = 42", "revision 42 is not what was written"),
        ("PRAGMA user_version = 2", "has format 2, and this Setpoint reads format 1: it was written by a newer one; run that"),
        ("PRAGMA user_version = 0", "has format 0, which this Setpoint no longer reads"),
        ("PRAGMA application_id = 7", "is an SQLite database, but not one of Setpoint's; choose another folder"),
    ],
)
def test_a_database_that_somebody_has_changed(folder: Path, statement: str, text: str) -> None:
    with opened(folder) as connection:
        connection.execute(statement)
    refused(folder, text)


def test_what_a_crash_left_of_making_a_folder_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "setpoint.db.new").write_bytes(b"SQLite format 3\0 and then the power went")
    (tmp_path / "setpoint.db.new-journal").write_bytes(b"as well")
    assert held(tmp_path) == (1, [])
    assert {file.name for file in tmp_path.iterdir()} == {"lock", "setpoint.db"}


def test_the_folder_and_its_files_are_its_owners_alone(folder: Path) -> None:
    assert {file.name: file.stat().st_mode & 0o777 for file in (folder, *folder.iterdir())} == {
        "data": 0o700,
        "lock": 0o600,
        "setpoint.db": 0o600,
    }


def test_people_can_read_what_is_there(folder: Path) -> None:
    with opened(folder) as connection:
        query = "SELECT revision, json_extract(value, '$.revision') FROM objects WHERE collection = '/configmaps' AND key = 'a/49'"
        assert connection.execute(query).fetchall() == [(201, 201)]
        assert connection.execute("SELECT count(*) FROM objects").fetchone() == (150,)


def test_compaction_leaves_the_state_and_the_history_after_it(folder: Path) -> None:
    async def main(storage: SqliteStorage) -> None:
        storage.compact(191)
        take(storage, ("delete", "/configmaps", "a/60"))
        take(storage, PUT)
        storage.compact(storage.revision)
        await storage.settled(storage.revision)

    in_folder(folder, main)
    with opened(folder) as connection:
        assert connection.execute("SELECT count(*) FROM changes").fetchone() == (150 - 1 + 12 - 10 + 1,)
    assert held(folder)[0] == 203


def test_another_program_that_changes_the_state_stops_the_writes_and_is_named(folder: Path) -> None:
    async def main(storage: SqliteStorage) -> None:
        with opened(folder) as connection:
            connection.execute("UPDATE storage SET revision = 500")
        take(storage, PUT)
        with pytest.raises(NotDurable, match="cannot be written: another program has changed it; stop the server"):
            await storage.settled(storage.revision)
        assert storage.revision == storage.durable == 201
        assert storage.get("/configmaps", "a/x") is None

    in_folder(folder, main)


def test_a_disk_that_takes_no_more_undoes_and_the_next_write_is_tried_afresh(folder: Path) -> None:
    async def main(storage: SqliteStorage) -> None:
        before = list(storage.history(1))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            for _ in range(3):
                take(storage, PUT)
                take(storage, ("delete", "/configmaps", "a/0"))
                with pytest.raises(NotDurable, match=f"the data folder {folder} cannot be written: .*try again"):
                    await storage.settled(storage.revision)
                assert (storage.revision, list(storage.history(1))) == (201, before)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        take(storage, PUT)
        await storage.settled(202)

    in_folder(folder, main)
    assert held(folder)[0] == 202


def test_what_compaction_drops_while_the_disk_is_full_goes_with_the_next_write(folder: Path) -> None:
    async def main(storage: SqliteStorage) -> None:
        take(storage, ("delete", "/configmaps", "a/0"))
        await storage.settled(202)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            take(storage, PUT)
            storage.compact(202)
            with pytest.raises(NotDurable):
                await storage.settled(203)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        take(storage, PUT)
        await storage.settled(203)

    in_folder(folder, main)
    with opened(folder) as connection:
        assert connection.execute("SELECT count(*), min(deleted), max(deleted) FROM changes").fetchone() == (150, 0, 0)
        assert connection.execute("SELECT revision, compacted FROM storage").fetchone() == (203, 202)
    assert held(folder)[0] == 203


# snapshots


def test_a_snapshot_that_is_damaged_or_none_is_refused(folder: Path, tmp_path: Path) -> None:
    memory = MemoryStorage()
    for number in range(5):
        take(memory, ("put", "/configmaps", f"a/{number}", ""))
    file = tmp_path / "snapshot"
    save_snapshot(memory, file)
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    for damaged in (
        whole[:-1][:-40],
        whole.replace(b"a/3", b"a/4"),
        b"".join(lines[:3] + lines[4:]),
        b"".join(lines[:-1]),
        whole + b"{}\n",
        lines[0],
    ):
        file.write_bytes(damaged)
        with pytest.raises(DataFault, match=f"{file} is damaged: .*; use another copy of it"):
            load_snapshot(file)
    file.write_bytes(whole.replace(b'"version":1', b'"version":2'))
    with pytest.raises(DataFault, match="has format 2, and this Setpoint reads format 1"):
        load_snapshot(file)
    for other in (b"", b"\x1f\x8b\x08", b"kind: Config\n", b"{}\n", (folder / "setpoint.db").read_bytes()):
        file.write_bytes(other)
        with pytest.raises(DataFault, match="is no snapshot of Setpoint's"):
            load_snapshot(file)


def test_a_snapshot_is_not_laid_over_a_cluster_that_is_there(folder: Path, tmp_path: Path) -> None:
    save_snapshot(MemoryStorage(), tmp_path / "snapshot")
    with pytest.raises(DataFault, match="holds a cluster already, which is not overwritten; choose an empty one"):
        in_folder(folder, _nothing, contents=load_snapshot(tmp_path / "snapshot"))
    assert held(folder)[0] == 201


def test_a_snapshot_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "snapshot"
    memory = MemoryStorage()
    save_snapshot(memory, file)
    before = file.read_bytes()
    for number in range(500):
        take(memory, ("put", "/configmaps", f"a/{number}", ""))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_snapshot(memory, file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert file.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["snapshot"]


def test_a_copy_of_a_folder_that_is_in_use_is_a_moment_of_it(folder: Path, tmp_path: Path) -> None:
    async def main(storage: SqliteStorage) -> None:
        take(storage, PUT)
        await storage.settled(storage.revision)
        shutil.copytree(folder, tmp_path / "copy")

    in_folder(folder, main)
    assert held(tmp_path / "copy") == held(folder)


async def _nothing(storage: SqliteStorage) -> None:
    """Nothing."""
