"""Whom to trust, and which certificate to show: the TLS context of a configuration, made anew when its files change."""

from __future__ import annotations

import logging
import ssl
import tempfile
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from setpoint.client.config import Config, ConfigError
from setpoint.client.watched_file import WatchedFile
from setpoint.world import Clock

_log = logging.getLogger("setpoint.client")


class Pair(NamedTuple):
    """A client certificate and its key, both PEM."""

    certificate: bytes
    key: bytes


class _Used(NamedTuple):
    """What a context is made of."""

    ca: bytes | None
    pair: Pair | None


class Tls:
    """The TLS context for a request that is sent now. Connections under an older one end as they fall idle.

    Raises `ConfigError` at once for certificates that cannot be used. Later on, what cannot be used is logged once and the last that could
    be stays: certificate and key are seldom renewed in the same moment.
    """

    def __init__(self, config: Config, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._ca = _watched(config.ca_file)
        self._certificate, self._key = _watched(config.client_certificate_file), _watched(config.client_key_file)
        self._used = _Used(config.ca_data, self._stated)
        self._refused: _Used | None = None
        self._context = ssl_context(config, *self._used, clock.now())

    @property
    def ca(self) -> bytes | None:
        """The authority that is trusted now, PEM."""
        return self._used.ca

    @property
    def _stated(self) -> Pair | None:
        config = self._config
        both = config.client_certificate is not None and config.client_key is not None
        return Pair(config.client_certificate or b"", config.client_key or b"") if both else None

    def context(self, given: Pair | None = None) -> ssl.SSLContext:
        """The context; `given` is shown where the configuration has no certificate of its own. Raises `ConfigError` for that one only."""
        wanted = self._wanted(given)
        if wanted in (self._used, self._refused):
            return self._context
        try:
            context = ssl_context(self._config, *wanted, self._clock.now())
        except ConfigError as error:
            if given is not None and wanted.pair is given:
                raise
            self._refused = wanted
            _log.warning("the certificates have changed, and those from before stay in use: %s", error)
            return self._context
        self._used, self._context, self._refused = wanted, context, None
        return context

    def _wanted(self, given: Pair | None) -> _Used:
        own = self._stated
        if own is not None:
            own = Pair(_read(self._certificate, own.certificate), _read(self._key, own.key))
        return _Used(None if self._config.ca_data is None else _read(self._ca, self._config.ca_data), own or given)


def ssl_context(config: Config, ca: bytes | None, pair: Pair | None, now: datetime) -> ssl.SSLContext:
    """A TLS context. Raises `ConfigError` for certificates that cannot be used or have expired at `now`."""
    if config.insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif ca is None:
        context = ssl.create_default_context()
    else:
        # Not made first with the system's authorities: reading them takes a tenth of a second.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            # Between the certificates of a bundle stand comments: names of authorities, in their own languages.
            context.load_verify_locations(cadata=ca.decode("ascii", errors="ignore"))
        except (ssl.SSLError, ValueError) as error:
            whose = f"of cluster {config.cluster!r}" if config.cluster else config.ca_file
            raise ConfigError(f"{config.source}: the certificate-authority {whose} is no PEM certificate") from error
    if pair is not None:
        _refuse_an_expired(pair.certificate, config, now)
        _load(context, pair, config)
    return context


def ends(certificate: bytes) -> datetime:
    """When a PEM certificate expires. Raises `ValueError` if it is none."""
    # Imported here: it takes a while to load, and most configurations hold a token.
    from cryptography import x509

    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def _load(context: ssl.SSLContext, pair: Pair, config: Config) -> None:
    # OpenSSL's binding reads certificates from files only; this folder is the user's alone, and gone in a moment.
    with tempfile.TemporaryDirectory(prefix="setpoint-") as folder:
        certificate_file, key_file = Path(folder, "certificate"), Path(folder, "key")
        certificate_file.write_bytes(pair.certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(pair.key)
        try:
            context.load_cert_chain(certificate_file, key_file, password="")
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"{config.source}: client-certificate and client-key of {config.whose} do not make a pair: {error}"
            ) from error


def _refuse_an_expired(certificate: bytes, config: Config, now: datetime) -> None:
    try:
        end = ends(certificate)
    except ValueError as error:
        raise ConfigError(f"{config.source}: the client-certificate of {config.whose} is no PEM certificate") from error
    if end <= now:
        raise ConfigError(
            f"{config.source}: the client certificate of {config.whose} expired on {end:%Y-%m-%d %H:%M} UTC: "
            "get fresh credentials from your cluster"
        )


def _watched(path: str | None) -> WatchedFile | None:
    return None if path is None else WatchedFile(path)


def _read(file: WatchedFile | None, stated: bytes) -> bytes:
    """What a file holds; while it cannot be read, what was stated at first, or last."""
    if file is None:
        return stated
    try:
        return file.read()
    except OSError:
        return file.last or stated
