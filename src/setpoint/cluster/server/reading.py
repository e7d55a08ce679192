"""Reads: one object, or a list of them, at the revision that was asked for.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions and #retrieving-large-results-sets-in-chunks
"""

from __future__ import annotations

from dataclasses import dataclass

from setpoint.api import ApiError
from setpoint.api.status import Status, StatusCause, StatusDetails, bad_request, error_of, expired, not_found
from setpoint.cluster.server.continuing import read_token, write_token
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.options import ListOptions
from setpoint.cluster.server.selection import Selection
from setpoint.cluster.server.storage import Compacted, Record, Storage

_CHUNK = 500
_EXPIRED_TOKEN = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list found. `remaining` is known only where no selector was used."""

    records: list[Record]
    revision: int
    token: str = ""
    remaining: int | None = None


def too_large(asked: int, current: int) -> ApiError:
    """504: the resourceVersion is yet to come."""
    details = StatusDetails(causes=[StatusCause("ResourceVersionTooLarge", "Too large resource version")], retry_after_seconds=1)
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return error_of(Status(code=504, reason="Timeout", message=message, details=details))


def get(storage: Storage, kind: ServedKind, namespace: str, name: str, version: int | None = None) -> Record:
    """The object as it is now. Raises NotFound, and Timeout for a resourceVersion that is yet to come."""
    if version and version > storage.revision:
        raise too_large(version, storage.revision)
    record = storage.get(kind.collection, kind.key(namespace, name))
    if record is None:
        raise not_found(kind.resource, name)
    return record


def select(storage: Storage, kind: ServedKind, namespace: str, options: ListOptions) -> Listing:
    """The objects that are asked for, in the order of namespace and name. Raises BadRequest, Expired and Timeout."""
    prefix = f"{namespace}/" if namespace else ""
    selection = Selection(prefix, options.labels, options.fields)
    start, revision = _from_where(storage, options, prefix)
    shown = storage.revision if revision is None else revision
    if not _is_paged(options):
        records = _page(storage, kind, prefix, start, 0, revision, options)[0]
        return Listing([record for record in records if selection.matches(record)] if options.selective else records, shown)
    found: list[Record] = []
    selective = options.selective
    while True:
        limit = options.limit if not selective else max(_CHUNK, options.limit)
        records, remaining = _page(storage, kind, prefix, start, limit, revision, options)
        for at, record in enumerate(records):
            if selective and not selection.matches(record):
                continue
            found.append(record)
            if len(found) == options.limit:
                left = remaining + len(records) - at - 1
                if not left:
                    return Listing(found, shown)
                token = write_token(shown, record.key.removeprefix(prefix) + "\0")
                return Listing(found, shown, token, None if selective else left)
        if not remaining:
            return Listing(found, shown)
        start = records[-1].key + "\0"


def _is_paged(options: ListOptions) -> bool:
    """Whether the limit counts: it does not where anything recent will do, nor where one name is asked for."""
    recent = options.resource_version == 0 and options.match in ("", "NotOlderThan")
    named = any(field.path == "metadata.name" and field.equal for field in options.fields)
    return bool(options.limit) and not recent and not named


def _page(
    storage: Storage, kind: ServedKind, prefix: str, start: str, limit: int, revision: int | None, options: ListOptions
) -> tuple[list[Record], int]:
    try:
        page = storage.list(kind.collection, prefix=prefix, start=start, limit=limit, revision=revision)
    except Compacted as error:
        if not options.token:
            raise expired("The resourceVersion for the provided list is too old.") from error
        fresh = write_token(-1, start.removeprefix(prefix))
        raise error_of(Status(code=410, reason="Expired", message=_EXPIRED_TOKEN, metadata={"continue": fresh})) from error
    return page.records, page.remaining


def _from_where(storage: Storage, options: ListOptions, prefix: str) -> tuple[str, int | None]:
    """The first key that may be listed, and the revision at which; None for now."""
    version = options.resource_version
    if options.token:
        start, revision = read_token(options.token)
        if version:
            raise bad_request("specifying resource version is not allowed when using continue")
        if revision > storage.revision:
            raise too_large(revision, storage.revision)
        return prefix + start, revision if revision > 0 else None
    if not version:
        return "", None
    if version > storage.revision:
        raise too_large(version, storage.revision)
    # Without a match rule, a limited list is an exact one: so it has been since before there were rules.
    exact = options.match == "Exact" or (not options.match and options.limit > 0)
    return "", version if exact else None
