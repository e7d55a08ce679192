"""How answers show objects: whole, as their metadata, or as rows of a table, as the client's `Accept` asks.

https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Protocol, TypeAlias, cast

from setpoint.api import ApiError
from setpoint.api.operation import JSON, Operation
from setpoint.api.status import Status, bad_request, failure
from setpoint.cluster.server.accept import OFFERED, WATCHED, by_quality, media_for, not_acceptable
from setpoint.cluster.server.crd.definitions import CustomKind
from setpoint.cluster.server.encoding import decode, encode, in_version, nameless
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.reading import Listing
from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.storage import Record
from setpoint.cluster.server.tables.cells import builtin_columns
from setpoint.cluster.server.tables.tables import (
    GENERIC,
    Columns,
    IncludeObject,
    MetaVersion,
    custom_columns,
    partial_metadata,
    partial_metadata_list,
    table,
)

Now: TypeAlias = Callable[[], datetime]

_INCLUDES = ("", "None", "Metadata", "Object")


class View(Protocol):
    """One way of showing objects. A view serves one request; a watch keeps it for its whole life."""

    @property
    def shared(self) -> str:
        """The name under which what this view shows of an object may be used for other watchers too, or nothing."""
        ...

    @property
    def tells(self) -> bool:
        """Whether it can show what happens: else a watch ends where the first thing would be told."""
        ...

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """An object, in the version that was asked for."""
        ...

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """A list of objects."""
        ...

    def bookmark(self, kind: ServedKind, metadata: Mapping[str, Json]) -> bytes:
        """A bookmark: an object with nothing but its metadata. With empty metadata, an object with nothing at all."""
        ...


class WholeView:
    """Objects as they are."""

    shared = "whole"
    tells = True

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """See `View`."""
        return in_version(record, kind)

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """See `View`."""
        # Built-in kinds come as Go structs, which in a list do not repeat what they are.
        shown = in_version if kind.strategy.custom else _without_names
        items = b",".join([shown(record, kind) for record in listing.records])
        return b'{"apiVersion":%b,"items":[%b],"kind":%b,"metadata":%b}' % (
            encode(kind.api_version),
            items,
            encode(kind.list_kind),
            encode(list_metadata(kind, listing)),
        )

    def bookmark(self, kind: ServedKind, metadata: Mapping[str, Json]) -> bytes:
        """See `View`."""
        shown = {"kind": kind.kind, "apiVersion": kind.api_version, **kind.strategy.empty(kind)}
        if metadata or not kind.strategy.custom:
            shown["metadata"] = kind.strategy.metadata_of_bookmark(metadata)
        return encode(shown)


def _without_names(record: Record, kind: ServedKind) -> bytes:
    # What a built-in kind keeps is as it is shown, unless it is kept in another form.
    return nameless(record.value if kind.form is None and not record.head.bare else in_version(record, kind), kind)


class MetadataView:
    """Objects as `PartialObjectMetadata`."""

    tells = True

    def __init__(self, version: MetaVersion) -> None:
        self._version = version
        self.shared = f"metadata/{version}"

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """See `View`."""
        return encode(partial_metadata(decode(record.value), self._version, kind.strategy.metadata_alone))

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """See `View`."""
        objects = (decode(record.value) for record in listing.records)
        return encode(partial_metadata_list(objects, list_metadata(kind, listing), self._version, kind.strategy.metadata_alone))

    def bookmark(self, kind: ServedKind, metadata: Mapping[str, Json]) -> bytes:
        """See `View`."""
        return encode(partial_metadata({"metadata": metadata}, self._version))


class TableView:
    """Objects as rows of a `Table`. Only the first table of a view has the headings of its columns."""

    shared = ""
    tells = True

    def __init__(self, version: MetaVersion, include: IncludeObject, now: Now) -> None:
        self._version = version
        self._include = include
        self._now = now
        self._columns: Columns | None = None

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """See `View`."""
        obj = decode(in_version(record, kind))
        return self._table(kind, [obj], {"resourceVersion": obj["metadata"].get("resourceVersion", "")}, _told(kind, [record]))

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """See `View`."""
        objects = [decode(in_version(record, kind)) for record in listing.records]
        return self._table(kind, objects, list_metadata(kind, listing), _told(kind, listing.records))

    def bookmark(self, kind: ServedKind, metadata: Mapping[str, Json]) -> bytes:
        """See `View`."""
        obj = {"apiVersion": kind.api_version, "kind": kind.kind, **kind.strategy.empty(kind), "metadata": metadata}
        return self._table(kind, [obj], {"resourceVersion": metadata.get("resourceVersion", "")})

    def _table(
        self, kind: ServedKind, objects: list[dict[str, Json]], metadata: Mapping[str, Json], told: list[dict[str, Json]] | None = None
    ) -> bytes:
        first = self._columns is None
        if self._columns is None:
            self._columns = _columns(kind)
        shown = table(
            self._columns,
            objects,
            metadata,
            self._include,
            self._now(),
            told=told,
            alone=kind.strategy.metadata_alone,
            with_definitions=first,
            version=self._version,
        )
        return encode(shown)


class RefusedView:
    """A view that there is not. That is said when all else is done: who asks for it has then read, written and deleted all the same."""

    shared = ""
    tells = True

    def __init__(self, why: Callable[[ServedKind], ApiError], *, always: bool = False) -> None:
        self.why = why
        self.always = always
        """Also where there is nothing to show but a Status, which has no other views."""

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """Raises what is wrong with the view."""
        raise self.why(kind)

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """Raises what is wrong with the view."""
        raise self.why(kind)

    def bookmark(self, kind: ServedKind, metadata: Mapping[str, Json]) -> bytes:
        """Raises what is wrong with the view."""
        raise self.why(kind)


class MuteView:
    """Events as lists of `PartialObjectMetadata`, which they are not."""

    shared = "mute"
    tells = False

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """See `View`. Nobody gets it."""
        return b"null"

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """See `View`. Nobody gets it."""
        return b"null"

    def bookmark(self, kind: ServedKind, metadata: Mapping[str, Json]) -> bytes:
        """See `View`. Nobody gets it."""
        return b"null"


def _no_table(problem: str, kind: ServedKind) -> ApiError:
    """A table cannot be as it was asked for."""
    return bad_request(f"Unable to convert to Table as requested: {problem}")


def _no_list(kind: ServedKind) -> ApiError:
    """One object is no list of PartialObjectMetadata."""
    if kind.strategy.custom:
        return ApiError(Status(code=500, message="content is not a list"))
    why = f"you requested PartialObjectMetadataList, but the requested object is not a list ({_go_type(kind)})"
    return failure(406, "NotAcceptable", why)


def _a_list(kind: ServedKind) -> ApiError:
    """A list is not one PartialObjectMetadata."""
    why = f"you requested PartialObjectMetadata, but the requested object is a list ({_go_type(kind)}List)"
    return failure(406, "NotAcceptable", why)


def _go_type(kind: ServedKind) -> str:
    """What the real server's internal type of a kind is called."""
    if kind.strategy.custom:
        return "*unstructured.Unstructured"
    package = "core" if kind.group in ("", "events.k8s.io") else kind.group.partition(".")[0]
    return f"*{package}.{kind.kind}"


def _told(kind: ServedKind, records: Iterable[Record]) -> list[dict[str, Json]] | None:
    """What the cells tell of, where that is not what is shown: a form that does not say all leaves nothing out of its table."""
    return [decode(record.value) for record in records] if kind.form is not None and not kind.form.tells_all else None


def _columns(kind: ServedKind) -> Columns:
    if isinstance(kind.origin, CustomKind):
        return custom_columns(kind.origin)
    return builtin_columns(kind.group, kind.plural) or GENERIC


def list_metadata(kind: ServedKind, listing: Listing) -> dict[str, str | int]:
    """The metadata of a list. Lists of custom resources always say `continue`."""
    metadata: dict[str, str | int] = {"resourceVersion": str(listing.revision)}
    if listing.token or kind.strategy.custom:
        metadata["continue"] = listing.token
        if listing.remaining is not None:
            metadata["remainingItemCount"] = listing.remaining
    return metadata


def view_for(operation: Operation, now: Now) -> View:
    """The first view that the client asks for and the server has, or a `RefusedView`. Raises NotAcceptable where there is no such media."""
    accept, include = operation.accept, operation.options.get("includeObject", "")
    listing = operation.verb in ("list", "deletecollection")
    if accept in ("", JSON, "*/*"):
        return WholeView()
    offered = OFFERED if operation.verb != "watch" else WATCHED
    for media, parameters in by_quality(accept):
        if not media_for(media, offered):
            continue
        shape, version = parameters.get("as", ""), parameters.get("v", "")
        if not (shape or version or parameters.get("g")):
            return WholeView()
        if parameters.get("g") != "meta.k8s.io" or version not in ("v1", "v1beta1"):
            continue
        meta = cast(MetaVersion, version)
        match shape:
            case "Table":
                if include not in _INCLUDES:
                    problem = f"includeObject: Invalid value: \"{include}\": must be 'Metadata', 'Object', 'None', or empty"
                    return RefusedView(partial(_no_table, problem), always=True)
                return TableView(meta, cast(IncludeObject, include), now)
            case "PartialObjectMetadataList" if operation.verb == "watch":
                return MuteView()
            case "PartialObjectMetadata" | "PartialObjectMetadataList":
                if listing is not (shape == "PartialObjectMetadataList"):
                    return RefusedView(_a_list if listing else _no_list)
                return MetadataView(meta)
            case _:
                continue
    raise not_acceptable(offered if operation.verb != "watch" else tuple(f"{media};stream=watch" for media in offered))
