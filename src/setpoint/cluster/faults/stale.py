"""Reads that show how things were."""

from __future__ import annotations

import msgspec

from setpoint.api import Answer, Identity, Operation, ServedStream
from setpoint.api.status import not_found
from setpoint.cluster.server import ApiServer


async def stale(server: ApiServer, operation: Operation, identity: Identity, behind: int) -> Answer | ServedStream:
    """The answer to a get or list as it would have been so many revisions ago, but not before what the history still has."""
    revision = max(server.storage.compacted, server.storage.revision - behind)
    options = {name: value for name, value in operation.options.items() if name not in ("limit", "continue")}
    options |= {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
    if operation.verb == "list":
        return await server.handle(msgspec.structs.replace(operation, options=options), identity)
    if operation.resource is None or operation.subresource or "as=" in operation.accept:
        return await server.handle(operation, identity)  # of these there is no list
    options = {"fieldSelector": f"metadata.name={operation.name}", "resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
    answer = await server.handle(msgspec.structs.replace(operation, verb="list", name="", options=options), identity)
    if not isinstance(answer, Answer) or not answer.ok:
        return answer
    listing = msgspec.json.decode(answer.body)
    if not listing["items"]:
        return not_found(operation.resource, operation.name).status.answer()
    obj = {"apiVersion": listing["apiVersion"], "kind": listing["kind"].removesuffix("List"), **listing["items"][0]}
    return msgspec.structs.replace(answer, body=msgspec.json.encode(obj))
