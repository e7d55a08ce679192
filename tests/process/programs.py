"""Real programs, and a plain client for what they serve: `http.client`, so that nothing of Setpoint judges itself.

Nothing here sleeps. A test waits for a line that a program prints (`Program.line`) or for a state of the server (`Api.until`, which lists
and then blocks on a watch), and gives up at a deadline.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import yaml

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds after which a test gives up: far more than anything takes, so that a slow machine fails no test."""

Json = dict[str, Any]


class GaveUp(AssertionError):
    """What was waited for did not come."""


class Program:
    """A process in a group of its own. As a context it is killed at the end, with all that it may have started."""

    def __init__(
        self,
        *arguments: str | Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        executable: str | Path = sys.executable,
    ) -> None:
        self.process = subprocess.Popen(
            [str(executable), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
            start_new_session=True,
        )
        self._changed = threading.Condition()
        self._open = 2
        self._lines: dict[str, list[str]] = {"out": [], "err": []}
        self._readers = [
            threading.Thread(target=self._read, args=(name, stream), daemon=True)
            for name, stream in (("out", self.process.stdout), ("err", self.process.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    @property
    def out(self) -> list[str]:
        """The lines on standard output so far."""
        return list(self._lines["out"])

    @property
    def err(self) -> list[str]:
        """The lines on standard error so far."""
        return list(self._lines["err"])

    def line(self, wanted: str, *, of: str = "out", count: int = 1, seconds: float = PATIENCE) -> str:
        """The first line (or the `count`-th) that holds a text, as soon as it is there.

        Raises `GaveUp`, at once if the program ends without it.
        """

        def found() -> list[str]:
            return [line for line in self._lines[of] if wanted in line]

        with self._changed:
            self._changed.wait_for(lambda: len(found()) >= count or self._open == 0, seconds)
            if len(lines := found()) < count:
                raise GaveUp(f"no line with {wanted!r}; standard output and error:\n" + "\n".join((*self.out, "--", *self.err)))
            return lines[count - 1]

    def tell(self, line: str) -> None:
        """Writes a line to its standard input; one that has just ended is told nothing."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n")
            self.process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the program alone."""
        self.process.send_signal(number)

    def end(self, seconds: float = PATIENCE) -> int:
        """Waits until it has ended and all that it said has been read; gives the exit code."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._open == 0, seconds):
                raise GaveUp(f"still running after {seconds:g} s:\n" + "\n".join((*self.out, "--", *self.err)))
        return self.process.wait()

    def kill(self) -> None:
        """SIGKILL for the whole group, if anything of it is left."""
        if self.group_lives():
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for reader in self._readers:
            reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def group_lives(self) -> bool:
        """Whether the program, or anything that it started, still runs."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def _read(self, name: str, stream: Iterable[str] | None) -> None:
        for line in stream or ():
            with self._changed:
                self._lines[name].append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._open -= 1
            self._changed.notify_all()


def setpoint(*arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Program:
    """Starts `setpoint ARGUMENTS`."""
    return Program("-m", "setpoint", *arguments, cwd=cwd, env=env)


class Watch:
    """An open watch."""

    def __init__(self, socket: Any, response: http.client.HTTPResponse) -> None:
        self._socket = socket
        self._response = response

    def next(self, deadline: float) -> Json | None:
        """The next event, or None if there is none until that moment of the monotonic clock."""
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            line = self._response.readline()
        except TimeoutError:
            return None
        assert line, "the server has ended the watch"
        event: Json = json.loads(line)
        assert event["type"] != "ERROR", event
        return event


class Api:
    """A Kubernetes API, over a kubeconfig's authority and token. Paths are those of the API."""

    def __init__(self, kubeconfig: str | Path) -> None:
        config = yaml.safe_load(Path(kubeconfig).read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        if "certificate-authority-data" in cluster:
            self._tls = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        else:
            self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self._address = urlsplit(cluster["server"])
        self._headers = {"Authorization": f"Bearer {user['token']}", "Accept": "application/json"}
        self.warnings: list[str] = []

    def request(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> tuple[int, Json]:
        """One request on a connection of its own: status and document. Its warnings are kept in `warnings`."""
        connection = self._connect()
        try:
            headers = self._headers if body is None else {**self._headers, "Content-Type": content_type}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            self.warnings += response.headers.get_all("Warning", [])
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Json:
        """As `request`, for what must succeed."""
        status, document = self.request(method, path, body, content_type)
        assert status < 300, f"{method} {path}: {status} {document.get('message', document)}"
        return document

    def get(self, path: str) -> Json:
        """The document."""
        return self.ask("GET", path)

    def text(self, path: str) -> str:
        """What is no JSON."""
        connection = self._connect()
        try:
            connection.request("GET", path, headers={"Authorization": self._headers["Authorization"]})
            response = connection.getresponse()
            assert response.status == 200, response.read()
            return response.read().decode()
        finally:
            connection.close()

    def items(self, path: str) -> list[Json]:
        """The objects of a list."""
        return list(self.get(path)["items"])

    def merge(self, path: str, patch: Json) -> Json:
        """Sends a JSON merge patch."""
        return self.ask("PATCH", path, patch, "application/merge-patch+json")

    def until(self, path: str, wanted: Callable[[Sequence[Json]], bool], *, seconds: float = PATIENCE) -> list[Json]:
        """The objects of a collection once they are as wanted: lists them, then follows a watch. Raises `GaveUp`."""
        deadline = time.monotonic() + seconds
        listed = self.get(path)
        state = {item["metadata"]["uid"]: item for item in listed["items"]}
        with self.watching(path, listed["metadata"]["resourceVersion"]) as watch:
            while not wanted(list(state.values())):
                event = watch.next(deadline)
                if event is None:
                    raise GaveUp(f"{path} was not as wanted after {seconds:g} s, but:\n{json.dumps(list(state.values()), indent=1)}")
                uid = event["object"]["metadata"]["uid"]
                if event["type"] == "DELETED":
                    state.pop(uid, None)
                else:
                    state[uid] = event["object"]
        return list(state.values())

    @contextmanager
    def watching(self, path: str, version: str = "") -> Iterator[Watch]:
        """A watch, accepted by the server, while the context is open."""
        connection = self._connect()
        try:
            connection.request("GET", f"{path}?watch=1&resourceVersion={version}", headers=self._headers)
            socket, response = connection.sock, connection.getresponse()
            assert response.status == 200, response.read()
            yield Watch(socket, response)
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._address.hostname or "", self._address.port, context=self._tls, timeout=PATIENCE)
