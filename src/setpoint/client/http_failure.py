"""What a failure under HTTP means: was the request sent, and what is to be done."""

from __future__ import annotations

import ssl

import aiohttp

from setpoint.api import NotSent, Unknown
from setpoint.client.config import Config


class Failed(Exception):
    """Carries an outcome past the HTTP client."""

    def __init__(self, outcome: NotSent | Unknown) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def failure_of(error: Exception, config: Config) -> NotSent | Unknown:
    """The outcome of a request that raised. Only what happened before the first byte was written is `NotSent`."""
    server = config.server
    match error:
        case aiohttp.ClientConnectorDNSError():
            return NotSent(
                f"the name in {server} cannot be resolved: is the address in the kubeconfig right, and is its network reachable?"
            )
        case aiohttp.ClientConnectorCertificateError():
            return NotSent(_untrusted(error.certificate_error, config))
        case aiohttp.ClientConnectorSSLError():
            return NotSent(_no_tls(error, server))
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return NotSent(f"the proxy {config.proxy_url or 'that the environment names'} does not lead to {server}: {error}")
        case aiohttp.ClientConnectorError() if isinstance(error.os_error, ConnectionRefusedError):
            return NotSent(f"{server} refuses connections: is the API server running, and is the address in the kubeconfig right?")
        case aiohttp.ClientConnectorError():
            reason = error.os_error.strerror or str(error.os_error) or "the connection was closed"
            return NotSent(f"{server} cannot be reached: {reason}; is the address in the kubeconfig right, and is its network reachable?")
        case aiohttp.ConnectionTimeoutError():
            return NotSent(f"{server} cannot be reached: no connection in time; is its network up, or does a firewall stand before it?")
        case aiohttp.InvalidURL():
            return NotSent(f"{server} is no address: correct the server in the kubeconfig")
        case aiohttp.ServerDisconnectedError():
            return Unknown(f"{server} closed the connection without an answer")
        case _:
            return Unknown(f"the connection to {server} broke before an answer came: {error}")


def _untrusted(error: Exception, config: Config) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        # The codes of OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH.
        if error.verify_code in (62, 64):
            return (
                f"the certificate of {config.server} is for another name: {error.verify_message} Use a name that it is for, "
                "or set tls-server-name in the kubeconfig"
            )
        reason = error.verify_message
    else:
        reason = str(error)
    which = "that of this cluster" if config.ca_data is not None else "missing"
    return f"the certificate of {config.server} is not trusted: {reason}; is certificate-authority-data in the kubeconfig {which}?"


def _no_tls(error: aiohttp.ClientConnectorSSLError, server: str) -> str:
    if "WRONG_VERSION_NUMBER" in str(error) or "RECORD_LAYER_FAILURE" in str(error):
        return f"{server} does not speak TLS: should the server in the kubeconfig begin with http://?"
    return f"no secure connection to {server}: {error.os_error.strerror or error.os_error}"
