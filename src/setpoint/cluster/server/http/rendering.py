"""How an answer is written on the wire: JSON as it is, JSON for people, or YAML; and packed, where it is long and the client can unpack it.

https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
"""

from __future__ import annotations

import gzip

import msgspec

from setpoint.api import Answer, Operation
from setpoint.api.operation import JSON, YAML
from setpoint.cluster.server.accept import form_of, wants_indents

PACKED_FROM = 128 * 1024
"""Bytes of a body from which on it is packed."""
_LEVEL = 4
_AGENTS = ("curl", "Wget", "Mozilla/5.0")
"""Who shows an answer to people."""


def written(answer: Answer, operation: Operation) -> Answer:
    """The answer in the form that was asked for. What is no JSON stays as it is."""
    if answer.content_type != JSON or not answer.body:
        return answer
    if operation.accept != JSON and form_of(operation.accept, failed=answer.status >= 400) == YAML:
        from setpoint.cluster.server.http.as_yaml import as_yaml  # few ask for it, and PyYAML takes its time to import

        return msgspec.structs.replace(answer, body=as_yaml(msgspec.json.decode(answer.body)), content_type=YAML)
    if _indented(operation):
        return msgspec.structs.replace(answer, body=msgspec.json.format(answer.body, indent=2))
    return answer


def _indented(operation: Operation) -> bool:
    if asked := operation.options.get("pretty"):
        return asked in ("1", "t", "T", "true", "TRUE", "True")
    return operation.user_agent.startswith(_AGENTS) or (operation.accept != JSON and wants_indents(operation.accept))


def packed(answer: Answer, accepted: str) -> Answer:
    """The answer, packed where that is worth it and `accepted` (the header `Accept-Encoding`) has `gzip`."""
    if len(answer.body) <= PACKED_FROM or answer.content_type != JSON:
        return answer
    if "gzip" not in (word.strip() for word in accepted.split(",")):
        return answer
    vary = answer.headers.get("vary")
    headers = {**answer.headers, "content-encoding": "gzip", "vary": f"{vary}, Accept-Encoding" if vary else "Accept-Encoding"}
    return msgspec.structs.replace(answer, body=gzip.compress(answer.body, _LEVEL, mtime=0), headers=headers)
