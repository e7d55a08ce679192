"""Who asks: the headers and the TLS context that a configuration stands for."""

from __future__ import annotations

import base64
import ssl
import tempfile
from datetime import datetime
from pathlib import Path

from setpoint.client.config import Config, ConfigError


class Credentials:
    """The headers that say who asks. A token file is read again whenever it has changed: tokens of service accounts are short-lived."""

    def __init__(self, config: Config) -> None:
        self._file = Path(config.token_file) if config.token_file else None
        self._seen: tuple[int, int, int] | None = None
        self._fixed: dict[str, str] = {}
        self._groups = config.impersonate_groups
        if config.token:
            self._fixed["Authorization"] = f"Bearer {config.token}"
        elif config.username:
            pair = f"{config.username}:{config.password or ''}".encode()
            self._fixed["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        if config.impersonate_user:
            self._fixed["Impersonate-User"] = config.impersonate_user

    def headers(self) -> list[tuple[str, str]]:
        """The headers for a request that is sent now. Raises `ConfigError` if the token file cannot be read."""
        if self._file is not None:
            self._refresh(self._file)
        return [*self._fixed.items(), *(("Impersonate-Group", group) for group in self._groups)]

    def _refresh(self, file: Path) -> None:
        try:
            stat = file.stat()
            seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if seen != self._seen:
                token = file.read_text(encoding="utf-8").strip()
                self._seen = seen
                self._fixed["Authorization"] = f"Bearer {token}"
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise ConfigError(f"the token file {file} cannot be read: {reason}") from error
        if not token_is_sane(self._fixed["Authorization"]):
            raise ConfigError(f"the token file {file} holds no token")


def token_is_sane(header: str) -> bool:
    """Whether the header holds a token, and nothing that would end the header."""
    return len(header) > len("Bearer ") and header.isprintable()


def ssl_context(config: Config, now: datetime) -> ssl.SSLContext:
    """The TLS context of a configuration. Raises `ConfigError` for certificates that cannot be used or have expired at `now`."""
    if config.ca_data is None:
        context = ssl.create_default_context()
    else:
        # Not made first with the system's authorities: reading them takes a tenth of a second.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=config.ca_data.decode("ascii"))
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(f"{config.source}: the certificate-authority of cluster {config.cluster!r} is no PEM certificate") from error
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.client_certificate is not None and config.client_key is not None:
        _refuse_an_expired(config.client_certificate, config, now)
        _load_pair(context, config.client_certificate, config.client_key, config)
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes, config: Config) -> None:
    # OpenSSL's binding reads certificates from files only; this folder is the user's alone, and gone in a moment.
    with tempfile.TemporaryDirectory(prefix="setpoint-") as folder:
        certificate_file, key_file = Path(folder, "certificate"), Path(folder, "key")
        certificate_file.write_bytes(certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        try:
            context.load_cert_chain(certificate_file, key_file, password="")
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"{config.source}: client-certificate and client-key of user {config.user!r} do not make a pair: {error}"
            ) from error


def _refuse_an_expired(certificate: bytes, config: Config, now: datetime) -> None:
    # Imported here: it takes a while to load, and most configurations hold a token.
    from cryptography import x509

    try:
        ends = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError as error:
        raise ConfigError(f"{config.source}: the client-certificate of user {config.user!r} is no PEM certificate") from error
    if ends <= now:
        raise ConfigError(
            f"{config.source}: the client certificate of user {config.user!r} expired on {ends:%Y-%m-%d %H:%M} UTC: "
            "get fresh credentials from your cluster"
        )
