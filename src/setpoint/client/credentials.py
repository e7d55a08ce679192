"""Who asks: what a configuration stands for in the headers of a request, kept fresh.

A token file is read again when it changes, a program that prints credentials is run again before they expire. Both once more when the
server refuses what they gave.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol
from urllib.parse import quote

from setpoint.client.config import Config, ConfigError, ExecPlugin
from setpoint.client.exec_plugin import Obtained, obtain
from setpoint.client.tls import Pair
from setpoint.client.watched_file import WatchedFile
from setpoint.world import World

EARLY = timedelta(seconds=60)
"""How long before credentials expire they are renewed, or a fifth of their life, where that is less."""
YOUNG = 10.0
"""Seconds for which credentials that the server refuses are not renewed, nor a program that failed is run again: it would not help."""

_log = logging.getLogger("setpoint.client")


class Credential(NamedTuple):
    """The Authorization header, empty where there is none, and a client certificate to show."""

    authorization: str = ""
    pair: Pair | None = None


class Credentials(Protocol):
    """Where a credential comes from."""

    def at_hand(self) -> Credential | None:
        """The credential, None where it must be waited for. Raises `ConfigError`."""
        ...

    async def waited_for(self, deadline: float) -> Credential:
        """The credential. Raises `ConfigError`, also where it is not there by the deadline, in the loop's time."""
        ...

    def refused(self, used: Credential) -> bool:
        """The server has answered 401: whether another credential is at hand, or can be waited for. Raises `ConfigError`."""
        ...

    async def close(self) -> None:
        """Ends what still runs."""
        ...


def credentials_of(config: Config, ca: Callable[[], bytes | None], world: World) -> Credentials:
    """A token or a password wins over a program, as in kubectl. `ca` gives the authority that is trusted now, for programs that ask."""
    if config.token_file:
        return TokenFile(config)
    if config.token:
        return Fixed(Credential(f"Bearer {config.token}"))
    if config.username:
        pair = f"{config.username}:{config.password or ''}".encode()
        return Fixed(Credential(f"Basic {base64.b64encode(pair).decode()}"))
    if config.exec is not None:
        return Plugin(config.exec, config, ca, world)
    return Fixed(Credential())


def impersonation(config: Config) -> list[tuple[str, str]]:
    """The headers of one who acts as somebody else.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
    """
    headers = [("Impersonate-User", config.impersonate_user), ("Impersonate-Uid", config.impersonate_uid)]
    headers += [("Impersonate-Group", group) for group in config.impersonate_groups]
    for name, values in config.impersonate_extra:
        # Of a key, whatever a header's name cannot hold is percent-encoded.
        headers += [(f"Impersonate-Extra-{quote(name, safe=_TOKEN_CHARACTERS)}", value) for value in values]
    return [(name, value) for name, value in headers if value]


_TOKEN_CHARACTERS = "!#$&'*+-.^_`|~"
"""What RFC 9110 allows in a header's name beside letters and digits, without the percent sign."""


class Fixed:
    """One that never changes."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    def at_hand(self) -> Credential:
        """That one."""
        return self._credential

    async def waited_for(self, deadline: float) -> Credential:
        """That one."""
        return self._credential

    def refused(self, used: Credential) -> bool:
        """There is no other."""
        return False

    async def close(self) -> None:
        """Nothing runs."""


class TokenFile:
    """A token in a file that somebody renews. While it cannot be read, the last one stays: it is often good for a while."""

    def __init__(self, config: Config) -> None:
        assert config.token_file is not None
        self._file = WatchedFile(config.token_file)
        self._held = Credential(f"Bearer {config.token}") if config.token else None
        self._warned = False

    def at_hand(self) -> Credential:
        """The token as it is in the file now. Raises `ConfigError` while there never was one."""
        try:
            self._held = self._read()
            self._warned = False
        except ConfigError as error:
            if self._held is None:
                raise
            if not self._warned:
                self._warned = True
                _log.warning("%s; the token from before stays in use", error)
        return self._held

    async def waited_for(self, deadline: float) -> Credential:
        """The same."""
        return self.at_hand()

    def refused(self, used: Credential) -> bool:
        """Whether the file holds another by now. Raises `ConfigError` if it cannot be read."""
        return self._read(anew=True) != used

    async def close(self) -> None:
        """Nothing runs."""

    def _read(self, *, anew: bool = False) -> Credential:
        path = self._file.path
        try:
            token = self._file.read(anew=anew).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise ConfigError(f"the token file {path} cannot be read: {reason}") from error
        if not token or not token.isprintable():
            raise ConfigError(f"the token file {path} holds no token")
        return Credential(f"Bearer {token}")


class _Held(NamedTuple):
    credential: Credential
    expires: datetime | None
    renew: datetime | None
    since: float


class _Failure(NamedTuple):
    error: ConfigError
    since: float


class Plugin:
    """What a program prints, kept until shortly before it expires. However many ask, the program runs once at a time.

    It is run again while the old credential is still good, so that nobody waits; a failure then is only logged.
    """

    def __init__(self, plugin: ExecPlugin, config: Config, ca: Callable[[], bytes | None], world: World) -> None:
        self._plugin = plugin
        self._config = config
        self._ca = ca
        self._world = world
        self._held: _Held | None = None
        self._failure: _Failure | None = None
        self._running: asyncio.Task[None] | None = None

    def at_hand(self) -> Credential | None:
        """The credential while it is good; where it ends soon, the program is started for the next one."""
        held, now = self._held, self._world.clock.now()
        if held is None or (held.expires is not None and held.expires <= now):
            return None
        if held.renew is not None and held.renew <= now and self._recent_failure() is None:
            self._start()
        return held.credential

    async def waited_for(self, deadline: float) -> Credential:
        """What the program that runs now gives, or the one that is started."""
        if self._running is None and (failure := self._recent_failure()) is not None:
            raise failure.error
        try:
            async with asyncio.timeout_at(deadline):
                # Others wait for the same: who gives up ends only the waiting.
                await asyncio.shield(self._start())
        except TimeoutError:
            raise ConfigError(f"the program {self._plugin.command!r}, which should give the credentials, has not done so yet") from None
        if self._held is not None and (credential := self.at_hand()) is not None:
            return credential
        if self._failure is not None:
            raise self._failure.error
        raise ConfigError(f"the program {self._plugin.command!r} gives credentials that expire at once")

    def refused(self, used: Credential) -> bool:
        """Whether the program should be asked again: not for what it gave only just now."""
        held = self._held
        if held is None or held.credential != used:
            return True
        if asyncio.get_running_loop().time() - held.since < YOUNG:
            return False
        self._held = None
        return True

    async def close(self) -> None:
        """Kills the program where it runs."""
        if (task := self._running) is not None:
            task.cancel()
            await asyncio.wait([task])

    def _recent_failure(self) -> _Failure | None:
        failure = self._failure
        recent = failure is not None and asyncio.get_running_loop().time() - failure.since < YOUNG
        return failure if recent else None

    def _start(self) -> asyncio.Task[None]:
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run(), name="credentials")
        return self._running

    async def _run(self) -> None:
        """Ends with a credential or a failure kept; raises neither, since nobody may be waiting."""
        try:
            obtained = await obtain(self._plugin, self._config, self._ca(), self._world)
        except asyncio.CancelledError:
            # Whoever waits was not cancelled, and is told.
            self._fail(ConfigError("the connection is closed"))
        except ConfigError as error:
            self._fail(error)
            if self._held is not None:
                _log.warning("credentials could not be renewed yet: %s", error)
        else:
            self._held, self._failure = self._kept(obtained), None
        finally:
            self._running = None

    def _fail(self, error: ConfigError) -> None:
        self._failure = _Failure(error, asyncio.get_running_loop().time())

    def _kept(self, obtained: Obtained) -> _Held:
        now, expires = self._world.clock.now(), obtained.expires
        renew = None if expires is None else expires - min(EARLY, (expires - now) / 5)
        credential = Credential(f"Bearer {obtained.token}" if obtained.token else "", obtained.pair)
        return _Held(credential, expires, renew, asyncio.get_running_loop().time())
