"""Which proxy leads to a server: the one that the configuration names, else the one of the environment.

As in other Kubernetes clients, one that the configuration names is used for every address, and NO_PROXY may hold networks.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from setpoint.client.config import Config, ConfigError


def proxy_of(config: Config) -> str | None:
    """The address of the proxy, None where the server is reached without. Raises `ConfigError` for one that is not spoken here."""
    if config.proxy_url:
        return _spoken(config.proxy_url, "proxy-url of the configuration")
    parts = urlsplit(config.server)
    host = parts.hostname or ""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme)
    if proxy is None or _is_loopback(host) or proxy_bypass(host) or _in_a_network(host, proxies.get("no", "")):
        return None
    return _spoken(proxy, f"{parts.scheme.upper()}_PROXY of the environment")


def _spoken(proxy: str, where: str) -> str:
    address = proxy if "://" in proxy else f"http://{proxy}"
    scheme = urlsplit(address).scheme
    if scheme not in ("http", "https"):
        raise ConfigError(f"the proxy that {where} names is a {scheme} proxy, and only http and https ones are supported: {address}")
    return address


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "127.0.0.1", "::1")


def _in_a_network(host: str, no_proxy: str) -> bool:
    """Whether an address is in one of the networks of NO_PROXY, which the standard library takes for names."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    networks = []
    for entry in no_proxy.split(","):
        try:
            networks.append(ipaddress.ip_network(entry.strip(), strict=False))
        except ValueError:
            continue  # a name, which has been compared already
    return any(address in network for network in networks if network.version == address.version)
