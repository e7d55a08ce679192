"""The body of a request in protobuf, as the object that it holds."""

from __future__ import annotations

from typing import Any

from setpoint.api import GroupVersionKind
from setpoint.api.names import api_version, split_api_version
from setpoint.cluster.server.builtin.go_types import registered
from setpoint.cluster.server.protobuf.envelope import open_envelope
from setpoint.cluster.server.protobuf.messages import decode_message
from setpoint.cluster.server.protobuf.wire import MalformedProtobuf


class UnreadableObject(ValueError):
    """The body says what it is, and what is in it is no such object. `kind` and `version` are what it says."""

    def __init__(self, kind: str, version: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind
        self.version = version


def object_in(body: bytes, expected: GroupVersionKind) -> dict[str, Any]:
    """The object in a body, with apiVersion and kind: those that it says, else those that are expected.

    Of a kind that Go's scheme does not know only these two are given, for the caller to refuse. Raises `MalformedProtobuf` for what is no
    envelope, and `UnreadableObject`.
    """
    envelope = open_envelope(body)
    named = {
        "apiVersion": envelope.api_version or api_version(expected.group, expected.version),
        "kind": envelope.kind or expected.kind,
    }
    group, version = split_api_version(named["apiVersion"])
    name = registered().get((group, version, named["kind"]))
    if name is None:
        return named
    try:
        content = decode_message(name, envelope.raw)
    except MalformedProtobuf as error:
        raise UnreadableObject(named["kind"], version, str(error)) from error
    except RecursionError as error:
        raise UnreadableObject(named["kind"], version, "the object is nested too deeply for the embedded server") from error
    return {**content, **named}
