"""How clients get at a server that keeps its data in a folder: token, authority and port stay from one start to the next.

So a kubeconfig of yesterday is good today. All of it is in one file of the folder, `access.json`, which its owner alone can read. The
server's certificate, which no client keeps, is made anew when it is about to expire or is asked for another host.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import msgspec

from setpoint.cluster.server.http.tls import Authority, Certificates, expires, make_authority
from setpoint.cluster.server.storage import DataFault
from setpoint.world import World
from setpoint.world.files import replace_file

NAME = "access.json"
RENEWED = timedelta(days=30)
"""How long before its end a certificate, or an authority, gets a successor."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept. Certificates and keys are PEM; `port` is the last one, 0 before there was any."""

    token: str
    port: int = 0
    authority: str
    authority_key: str
    hosts: tuple[str, ...]
    certificate: str
    key: str

    def certificates(self) -> Certificates:
        """For the server."""
        return Certificates(self.authority.encode(), self.certificate.encode(), self.key.encode())


def access_in(world: World, folder: Path, hosts: tuple[str, ...]) -> Access:
    """What is kept in a folder, made or renewed where need be, for a server on these hosts; `keep` writes it.

    Raises `DataFault` for a file that cannot be read.
    """
    kept = _read(folder / NAME)
    soon = world.clock.now() + RENEWED
    try:
        if kept is None or expires(kept.authority.encode()) < soon:
            token = kept.token if kept is not None else world.chance.secret()
            return _made(world, make_authority(world), hosts, token, kept.port if kept is not None else 0)
        if any(host not in kept.hosts for host in hosts) or expires(kept.certificate.encode()) < soon:
            authority = Authority(kept.authority.encode(), kept.authority_key.encode())
            return _made(world, authority, hosts, kept.token, kept.port)
    except ValueError as error:
        raise _damaged(folder / NAME, str(error)) from error
    return kept


def keep(folder: Path, access: Access, port: int) -> None:
    """Writes it, and the port that the server has got, as a whole or not at all. Raises `DataFault`.

    What is there already is not written again, so that a full disk does not keep a server from starting.
    """
    now = msgspec.structs.replace(access, port=port)
    if _read(folder / NAME) == now:
        return
    try:
        replace_file(folder / NAME, [msgspec.json.format(msgspec.json.encode(now)), b"\n"])
    except OSError as error:
        raise DataFault(f"{folder / NAME} cannot be written: {error.strerror}; look at the disk and at the folder's rights") from error


def _made(world: World, authority: Authority, hosts: tuple[str, ...], token: str, port: int) -> Access:
    made = authority.certificates(world, hosts)
    return Access(
        token=token,
        port=port,
        authority=made.ca.decode(),
        authority_key=authority.key.decode(),
        hosts=hosts,
        certificate=made.certificate.decode(),
        key=made.key.decode(),
    )


def _read(path: Path) -> Access | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataFault(f"{path} cannot be read: {error.strerror}; change its rights, or choose another folder") from error
    try:
        return msgspec.json.decode(content, type=Access)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> DataFault:
    return DataFault(f"{path} is damaged: {why}. Put back a copy of it, or remove it: token and certificates are then made anew")
