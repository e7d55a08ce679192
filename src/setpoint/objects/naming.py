"""How a Python name is spelled on the wire.

Kubernetes writes field names in camelCase and, by its API conventions, keeps an initialism in one case: ``clusterIP``, not
``clusterIp``; ``podIPs``; ``uid``, where it comes first. `api_name` knows those initialisms. What no rule can know (``Port``,
``$ref``) is given per field, with ``field(name="...")`` or ``Annotated[T, Field(name="...")]``.
"""

import keyword
import re
from functools import lru_cache

_INITIALISMS = [
    *("API", "CIDR", "CPU", "CSI", "DNS", "FQDN", "GID", "HTTP", "HTTPS", "ID", "IO", "IP", "IPC", "JSON", "OS", "PID", "QPS"),
    *("SAN", "SQL", "SSH", "SSL", "TCP", "TLS", "TTL", "UDP", "UID", "URI", "URL", "UUID", "VM", "WWN", "XML", "YAML"),
]

_SINGULAR = {word.lower(): word for word in _INITIALISMS}
_PLURAL = {f"{word.lower()}s": f"{word}s" for word in _INITIALISMS if not word.endswith("S")}
_SPELLED = _SINGULAR | _PLURAL
_LONGEST_FIRST = sorted(_SPELLED.values(), key=lambda word: (-len(word), word))
_WORD = re.compile(rf"(?:{'|'.join(_LONGEST_FIRST)})(?![a-z])|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[A-Z]")


@lru_cache(maxsize=8192)
def api_name(python_name: str) -> str:
    """The wire's spelling of a snake_case name: ``clusterIP`` for ``cluster_ip``, ``apiVersion``, and ``from`` for ``from_``."""
    first, *rest = python_name.strip("_").split("_")
    return first + "".join(_SPELLED.get(word) or word[:1].upper() + word[1:] for word in rest)


@lru_cache(maxsize=8192)
def python_name(wire_name: str) -> str:
    """A snake_case name for the wire's spelling: ``pod_ips`` for ``podIPs``, and ``from_`` where Python has the word for itself.

    `api_name` does not lead back from every result: whoever generates classes compares, and states the name where it differs.
    """
    words = _WORD.findall(wire_name)
    name = "_".join(word.lower() for word in words)
    return name + "_" if keyword.iskeyword(name) else name
