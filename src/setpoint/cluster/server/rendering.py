"""How an answer is written on the wire: JSON as it is, JSON for people, or YAML; and packed, where it is long and the client can unpack it.

https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
"""

from __future__ import annotations

import gzip
from functools import cache
from typing import Any

import msgspec
import yaml

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
    if operation.accept != JSON and form_of(operation.accept) == YAML:
        return msgspec.structs.replace(answer, body=_yaml(msgspec.json.decode(answer.body)), content_type=YAML)
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


def _yaml(value: Any) -> bytes:
    text: bytes = yaml.dump(value, Dumper=_dumper(), allow_unicode=True, default_flow_style=False, encoding="utf-8", width=80)
    return text


@cache
def _dumper() -> type[yaml.SafeDumper]:
    """Writes strings as Go's library does: on lines of their own, or quoted twice where they would read as something else."""

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

        def represent_text(self, text: str) -> yaml.Node:
            tag = "tag:yaml.org,2002:str"
            plain: bool = self.resolve(yaml.ScalarNode, text, (True, False)) == tag  # type: ignore[no-untyped-call]  # the stubs have no types here
            return self.represent_scalar(tag, text, style="|" if "\n" in text else None if plain else '"')

    Dumper.add_representer(str, Dumper.represent_text)
    return Dumper
