"""Hooks: HTTP calls from outside as triggers. What a hook declares, and who may call it; the manager serves it.

A hook gives requests and nothing else: what the caller has sent is looked at to find out *whose* state may have changed, and never reaches
a reconciler.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from setpoint.objects import Request

from .reads import Reader
from .signatures import Mapper, check_arity, is_awaited, name_of

MAX_BYTES = 1 << 20
"""The size of a body that a hook takes unless it says otherwise: 1 MiB."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class Headers(Mapping[str, str]):
    """The headers of a call, by name in any case."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in headers:
            known = self._values.get(name.lower())
            self._values[name.lower()] = value if known is None else f"{known}, {value}"

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class SecretMissing(Exception):
    """The secret that callers of a hook must know cannot be read here, and so nobody can be let in."""


class Auth(ABC):
    """Who may call a hook: who knows a secret, which is read at each call from an environment variable or a file."""

    def __init__(self, *, env: str | None = None, file: str | os.PathLike[str] | None = None) -> None:
        if (env is None) == (file is None):
            raise ValueError(f"{type(self).__name__} takes env= or file=, where the secret is read from")
        self._env = env
        self._file = None if file is None else Path(file)

    def secret(self) -> bytes:
        """The secret, without white space around it. Raises `SecretMissing` if there is none, or if it is empty."""
        where = f"the file {self._file}" if self._env is None else f"the environment variable {self._env}"
        try:
            found = os.fsencode(os.environ.get(self._env, "")) if self._env is not None else Path(self._file or "").read_bytes()
        except OSError as error:
            raise SecretMissing(f"{where} cannot be read: {error.strerror}") from error
        if secret := found.strip():
            return secret
        raise SecretMissing(f"{where} has no secret in it")

    @abstractmethod
    def admits(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the call comes from somebody who knows the secret. Raises `SecretMissing`."""


class Bearer(Auth):
    """The caller sends the secret: ``Authorization: Bearer ...``."""

    def admits(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the token is the secret; compared in a time that does not depend on it."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return hmac.compare_digest(self.secret(), token.strip().encode("utf-8", "surrogateescape")) and scheme.lower() == "bearer"


class Signature(Auth):
    """The caller signs the body with the secret, by HMAC, and sends the digest in hexadecimal digits after `prefix`: as GitHub does."""

    def __init__(
        self,
        *,
        env: str | None = None,
        file: str | os.PathLike[str] | None = None,
        header: str = "X-Hub-Signature-256",
        prefix: str = "sha256=",
        algorithm: str = "sha256",
    ) -> None:
        super().__init__(env=env, file=file)
        if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
            raise ValueError(f"Signature: {algorithm!r} is no algorithm for HMAC: use sha256 or sha512")
        self._header = header
        self._prefix = prefix
        self._algorithm = algorithm

    def admits(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the body was signed with the secret; compared in a time that does not depend on it."""
        right = self._prefix + hmac.new(self.secret(), body, self._algorithm).hexdigest()
        return hmac.compare_digest(right.encode(), headers.get(self._header, "").strip().encode("utf-8", "surrogateescape"))


HookFunction: TypeAlias = (
    Callable[[Mapping[str, str], bytes], Iterable[Request]] | Callable[[Mapping[str, str], bytes, Reader], Awaitable[Iterable[Request]]]
)
"""What says which requests a call concerns: from its headers and its body; an `async def` gets a `Reader` as well."""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """A declared hook. `name` is the last part of its path, "" for none; `auth` is None where anybody may call it."""

    name: str
    function: Mapper
    auth: Auth | None
    max_bytes: int


def check_hook(fn: Any, name: str, auth: Any, max_bytes: Any, controller: str) -> Hook:
    """Raises `TypeError` or `ValueError` for what cannot be called as a hook."""
    what = f"{controller}: the hook {name or name_of(fn)}"
    if name and not _NAME.fullmatch(name):
        raise ValueError(f"{what}: use lower-case letters, digits, '-' and '.' in its name, or none at all")
    if isinstance(fn, type) or not callable(fn):
        raise TypeError(f"{what} is not a function of (headers, body) that gives requests")
    is_async = is_awaited(fn, what)
    how = 'being "async def" it is called with (headers, body, reader)' if is_async else "it is called with (headers, body)"
    check_arity(fn, 3 if is_async else 2, what, how)
    if auth is not None and not isinstance(auth, Auth):
        raise TypeError(f"{what}: auth takes Bearer(...) or Signature(...), not {auth!r}")
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 0:
        raise ValueError(f"{what}: max_bytes is a number of bytes, not {max_bytes!r}")
    return Hook(name=name, function=Mapper(fn, is_async, name_of(fn)), auth=auth, max_bytes=max_bytes)
