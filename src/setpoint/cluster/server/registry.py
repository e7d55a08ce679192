"""The generic verbs: read what is stored, let the write path decide, store what it says.

What is stored is the result of a pure function of the live object, so there is nothing to lock: between reading and storing nothing else
runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from setpoint.api import ApiError, GroupVersionResource, Operation
from setpoint.api.names import split_api_version
from setpoint.api.operation import APPLY_PATCH
from setpoint.api.status import (
    BadRequest,
    Status,
    StatusCause,
    StatusDetails,
    already_exists,
    bad_request,
    conflict,
    failure,
    forbidden,
    invalid,
    not_found,
)
from setpoint.cluster.server import bodies, deletion, reading, write
from setpoint.cluster.server.encoding import decode, encode, in_version, is_as_read, restamped
from setpoint.cluster.server.kinds import ServedKind, value_at
from setpoint.cluster.server.options import (
    DeleteOptions,
    WriteOptions,
    delete_options,
    list_options,
    read_body,
    resource_version,
    write_options,
)
from setpoint.cluster.server.patches.patches import Patched, change_of, unreadable
from setpoint.cluster.server.protobuf import MalformedProtobuf, UnreadableObject
from setpoint.cluster.server.scale import SCALE_KIND, owned_scale, paths_of, read_scale, rescaled, scale_applied, scale_of, scale_target
from setpoint.cluster.server.schema import Json, MalformedBody, apply_defaults, causes, decode_yaml, drop_nulls, prune
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.cluster.server.storage import Head, Record, Storage
from setpoint.cluster.server.structured.values import same
from setpoint.cluster.server.write import Draft, Means, Object, Target
from setpoint.world import World

NAMESPACES = GroupVersionResource("", "v1", "namespaces")
_NAME_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class Written:
    """What a write answers: the object as it now is (for the subresource `scale`, the Scale that it shows), or that it is no more.

    `removed` says that the object is gone; `record` is then its last state. `pending`: a client that insisted on the object's going, and
    on that of what it owns, is told that it has not gone yet. `unseen`: a dry run was to take away the last that holds the object, and
    with it the object; of that the real server shows an object with nothing in it.
    """

    kind: ServedKind
    record: Record
    created: bool = False
    removed: bool = False
    pending: bool = False
    unseen: bool = False


class Registry:
    """All kinds' objects, behind the verbs of the API."""

    def __init__(self, storage: Storage, world: World) -> None:
        self.storage = storage
        self._world = world

    def means(self) -> Means:
        """What the write path needs from outside, now."""
        return Means(f"{self._world.clock.now().isoformat()[:19]}Z", self._world.chance.uuid, self._world.chance.token)

    # reads

    def get(self, operation: Operation, kind: ServedKind) -> Record:
        """One object. Raises NotFound and Timeout."""
        version = operation.options.get("resourceVersion", "")
        return reading.get(self.storage, kind, operation.namespace, operation.name, resource_version(version) if version else None)

    def list_objects(self, operation: Operation, kind: ServedKind) -> reading.Listing:
        """Some objects. Raises BadRequest, Invalid, Expired and Timeout."""
        return reading.select(self.storage, kind, operation.namespace, list_options(operation, kind))

    def scale(self, operation: Operation, kind: ServedKind) -> Record:
        """The Scale of an object. Raises NotFound, and InternalError for a custom one that does not say how many replicas it wants."""
        record = self.get(operation, kind)
        path = paths_of(kind).spec
        if kind.strategy.custom and value_at(decode(in_version(record, kind)), path) is None:
            why = f'the spec replicas field ".{".".join(path)}" does not exist'
            raise failure(500, "InternalError", f"Internal error occurred: {why}", StatusDetails(causes=[StatusCause("", why, "")]))
        return _scale(kind, record)

    # create

    def create(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> Written:
        """Stores a new object. Raises BadRequest, NotFound, Forbidden, AlreadyExists and Invalid."""
        options = write_options(operation)
        target = Target(kind, operation.namespace, operation.name, "", options, warnings)
        body, repeated = self._body(operation, kind)
        obj = bodies.read_object(target, body, repeated)
        return self._create(target, obj)

    def _body(self, operation: Operation, kind: ServedKind) -> tuple[Json, list[str]]:
        sent = SCALE_KIND if operation.subresource == "scale" else kind
        try:
            body, repeated = read_body(operation, None if kind.strategy.custom else sent.gvk)
            if isinstance(body, dict) and body.get("kind") in (None, "") and sent.strategy.custom and operation.body[:1] == b"{":
                raise bodies.unrecognized(kind, operation.body, f"Object 'Kind' is missing in '{operation.body.decode(errors='replace')}'")
            return body, repeated
        except MalformedBody as error:
            raise bodies.unrecognized(kind, operation.body, f"couldn't get version/kind; json parse error: {error}") from error
        except MalformedProtobuf as error:
            raise bodies.unrecognized(sent, operation.body, str(error)) from error
        except UnreadableObject as error:
            raise bad_request(f'{error.kind} in version "{error.version}" cannot be handled as a {sent.kind}: {error}') from error

    def _create(self, target: Target, obj: Object, *, applied: bool = False, replaces: bool = False) -> Written:
        kind = target.kind
        if kind.closing:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(kind.resource, obj["metadata"].get("name", ""), why)
        self._admit(target, obj["metadata"].get("name") or obj["metadata"].get("generateName", ""))
        generated = not obj["metadata"].get("name") and obj["metadata"].get("generateName")
        attempts = _NAME_ATTEMPTS if generated else 1
        for attempt in range(attempts):
            draft = write.create(target, obj, self.means(), applied=applied, replaces=replaces)
            name = draft.obj["metadata"]["name"]
            found = self.storage.get(kind.collection, kind.key(target.namespace, name))
            if found is None:
                return self._store(target, draft)
            error = already_exists(kind.resource, name, terminating="deletionTimestamp" in decode(found.value)["metadata"])
            if attempt == attempts - 1:
                raise write.unable_to_name(error) if generated else error
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _admit(self, target: Target, name: str) -> None:
        """Whether the namespace takes new objects."""
        kind = target.kind
        if not kind.namespaced:
            return
        found = self.storage.get("/namespaces", target.namespace)
        if found is None:
            raise not_found(NAMESPACES, target.namespace)
        if b'"deletionTimestamp"' in found.value and "deletionTimestamp" in decode(found.value)["metadata"]:
            why = f"namespace {target.namespace} is being terminated"
            raise forbidden(
                kind.resource,
                name,
                f"unable to create new content in namespace {target.namespace} because it is being terminated",
                [StatusCause("NamespaceTerminating", why, "metadata.namespace")],
            )

    # update

    def update(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> Written:
        """Replaces an object, or the part of it that the subresource is about."""
        options = write_options(operation)
        target = Target(kind, operation.namespace, operation.name, operation.subresource, options, warnings)
        body, repeated = self._body(operation, kind)
        if operation.subresource == "scale":
            scale, live = read_scale(target, body, repeated), self._live(target)
            return self._rescale(target, live, rescaled(target, live, scale, self.means()))
        obj = bodies.read_object(target, body, repeated)
        write.check_identity(target, obj)
        try:
            live = self._live(target)
        except ApiError as error:
            if error.code != 404 or not kind.strategy.create_on_update:
                raise
            write.check_uid(target, None, obj)
            return self._create(target, obj, replaces=True)
        write.check_uid(target, live, obj)
        return self._store(target, write.update(target, live, obj, self.means()))

    def _live(self, target: Target) -> Object:
        record = reading.get(self.storage, target.kind, target.namespace, target.name)
        return decode(in_version(record, target.kind))

    def _rescale(self, target: Target, live: Object, obj: Object) -> Written:
        written = self._store(target, write.update(target, live, obj, self.means(), applied=True))
        return Written(SCALE_KIND, _scale(target.kind, written.record))

    # patch

    def patch(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> Written:
        """Changes an object by a patch of any kind."""
        media = operation.content_type.partition(";")[0].strip()
        if media == APPLY_PATCH:
            return self._apply(operation, kind, warnings)
        read = change_of(media, kind, operation.subresource)
        options = write_options(operation)
        change = read(operation.body, options.validation)
        target = Target(kind, operation.namespace, operation.name, operation.subresource, options, warnings)
        record = reading.get(self.storage, kind, target.namespace, target.name)
        live = decode(in_version(record, kind))
        if operation.subresource == "scale":
            changed = change.run(owned_scale(kind, live))
            scale = _patched(scale_target(target), changed, problems=change.problems)
            return self._rescale(target, live, rescaled(target, live, scale, self.means()))
        patched = change.run(live)
        obj = _patched(target, patched, problems=change.problems, before=live if is_as_read(record, kind) else None)
        write.check_identity(target, obj)
        return self._store(target, write.update(target, live, obj, self.means()))

    def _apply(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> Written:
        options = write_options(operation, apply=True)
        target = Target(kind, operation.namespace, operation.name, operation.subresource, options, warnings)
        try:
            body, repeated = decode_yaml(operation.body)
        except MalformedBody as error:
            raise bad_request(f"error encoding patch: {str(error).removeprefix('error converting YAML to JSON: ')}") from error
        record = self.storage.get(kind.collection, kind.key(target.namespace, target.name))
        live = None if record is None else decode(in_version(record, kind))
        if live is None and operation.subresource and (operation.subresource == "scale" or not kind.strategy.create_on_update):
            raise not_found(kind.resource, operation.name)
        if live is not None and operation.subresource == "scale":
            return self._rescale(target, live, scale_applied(target, live, body, self.means()))
        means = self.means()
        merged = write.applied_object(target, live, body, means)
        if (repeated or b"<<" in operation.body) and options.validation != "Ignore" and (said := _set_twice(operation.body)):
            if options.validation == "Strict":
                lines = "\n  ".join(["error converting YAML to JSON: yaml: unmarshal errors:", *said])
                raise bad_request(f"error strict decoding patch: {lines}")
            warnings += said
        merged = _applied(target, body, merged, live if record is not None and is_as_read(record, kind) else None)
        if live is None:
            if merged["metadata"].get("uid"):
                raise _uid_mismatch(target, merged["metadata"]["uid"])
            write.check_identity(target, merged)
            return self._create(target, merged, applied=True)
        write.check_identity(target, merged)
        return self._store(target, write.update(target, live, merged, means, applied=True))

    # delete

    def delete(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> Written:
        """Removes an object, or marks it as terminating."""
        options = delete_options(operation)
        warnings += deletion.warnings(kind, options)
        target = Target(kind, operation.namespace, operation.name, "", WriteOptions(dry_run=options.dry_run))
        return self.remove(target, self._live(target), options)

    def remove(self, target: Target, live: Object, options: DeleteOptions, *, in_collection: bool = False) -> Written:
        """The same for an object that has been read."""
        draft = deletion.delete(target.kind, target.name, live, options, self.means().now, in_collection=in_collection)
        if draft.gone and draft.changed and draft.obj is not live and not target.options.dry_run:
            # What stops gracefully is marked before it goes, also when it goes at once: watchers see both.
            marked = decode(self._store(target, write.Draft(draft.obj, live)).record.value)
            draft = write.Draft(marked, marked, gone=True)
        written = self._store(target, draft)
        if written.removed and target.options.dry_run and draft.obj is live and live["metadata"].get("finalizers"):
            return replace(written, unseen=True)
        return written if written.removed or options.orphan_dependents is not False else replace(written, pending=True)

    def delete_collection(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> tuple[reading.Listing, Iterable[Written]]:
        """Removes all that is selected, as one delete after another."""
        list_options(operation, kind)  # what is wrong with the selection is said first
        options = delete_options(operation)
        warnings += deletion.warnings(kind, options)
        listing = self.list_objects(operation, kind)
        written = []
        for record in listing.records:
            live = decode(in_version(record, kind))
            meta = live["metadata"]
            target = Target(kind, meta.get("namespace", ""), meta["name"], "", WriteOptions(dry_run=options.dry_run))
            written.append(self.remove(target, live, options, in_collection=True))
        return listing, written

    # storing

    def store(self, kind: ServedKind, obj: Object, live: Object | None = None, *, gone: bool = False) -> Record:
        """Stores an object that the server itself has made, as it is."""
        meta = obj["metadata"]
        target = Target(kind, meta.get("namespace", ""), meta["name"], "", WriteOptions())
        return self._store(target, Draft(obj, live, gone)).record

    def _store(self, target: Target, draft: Draft) -> Written:
        kind, storage = target.kind, self.storage
        # What lets go of the last finalizer is answered with what it asked for; the history keeps the last state that was stored.
        let_go = draft.gone and draft.obj is not draft.live
        kept = _as_stored(kind, draft.obj, passing=let_go)
        metadata = kept["metadata"]
        key = kind.key(metadata.get("namespace", ""), metadata["name"])
        expected = int(draft.live["metadata"]["resourceVersion"]) if draft.live is not None else 0
        changed = self._changes(kind, key, draft, kept)
        revision = storage.revision + 1 if changed and not target.options.dry_run else expected
        stamp = expected if let_go else revision
        obj = {**kept, "metadata": {**metadata, "resourceVersion": str(stamp)}}
        if not stamp and "resourceVersion" in metadata:
            obj["metadata"]["resourceVersion"] = metadata["resourceVersion"]
        elif not stamp:
            del obj["metadata"]["resourceVersion"]
        filled = _filled(target, obj, new=draft.live is None)
        head = Head(metadata.get("labels") or {}, kind.fields_of(filled), bare=filled is not obj)
        record = Record(kind.collection, key, encode(obj), revision, head)
        if changed and not target.options.dry_run:
            if draft.gone:
                storage.delete(self._last(record, revision), expected=expected)
            else:
                storage.put(record, expected=expected)
        return Written(kind, record, created=draft.live is None, removed=draft.gone)

    def _changes(self, kind: ServedKind, key: str, draft: Draft, kept: Object) -> bool:
        """Whether there is anything to store. What is stored otherwise than it is shown is compared as it is stored."""
        found = self.storage.get(kind.collection, key) if draft.live is not None else None
        if found is None or draft.gone or (kind.stored is None and not found.head.bare):
            return draft.changed
        return not same(decode(found.value), kept)

    def _last(self, record: Record, revision: int) -> Record:
        stored = self.storage.get(record.collection, record.key)
        assert stored is not None, "what is let go is stored"
        return Record(stored.collection, stored.key, restamped(stored.value, revision), revision, stored.head)


def _as_stored(kind: ServedKind, obj: Object, *, passing: bool) -> Object:
    """An object of the kind in the form and the version in which it is kept. One that is only `passing` loses nothing by that."""
    kept = {**kind.as_kept(obj), "apiVersion": kind.storage_api_version}
    return kept if kind.stored is None or passing else prune(kept, kind.stored)[0]


def _filled(target: Target, obj: Object, *, new: bool) -> Object:
    """What is to be stored, with the defaults that it lacks; itself if it lacks none.

    A Scale that makes the object's spec does not fill it, a status that a new object may not come with is not filled either, and what is
    written in one version has no defaults of the version in which it is stored.
    """
    kind = target.kind
    if (stored := kind.stored) is not None:
        filled = apply_defaults(drop_nulls(obj, stored), stored)
        return obj if same(filled, obj) else filled
    if kind.strategy.custom:
        bare = target.subresource == "scale" or (kind.fills_status and "status" not in obj)
    else:
        bare = new and kind.strategy.fills_status
    filled = kind.strategy.fill(obj, kind) if bare else obj
    return obj if same(filled, obj) else filled


def _patched(target: Target, patched: Patched, *, problems: Sequence[str] = (), before: Object | None = None) -> Object:
    """What a patch made, read as if it had been sent; what cannot be read is the patch's fault, which is shown."""
    value, shown = patched.value, patched.shown
    if not isinstance(value, dict):
        raise unreadable(shown(), bodies.not_an_object(value))
    if target.kind.strategy.custom:
        _check_type(target, value, shown)
    try:
        return bodies.read_object(target, value, (), problems=problems, before=before)
    except BadRequest as error:
        if not (why := _why_unreadable(target, error)):
            raise
        raise unreadable(shown(), _as_converted(why) if patched.converted else why) from error


def _applied(target: Target, sent: Object, merged: Object, before: Object | None) -> Object:
    """What an apply made, read; what does not fit into its Go struct is the server's fault: so a real one says."""
    try:
        return bodies.read_object(target, merged, (), applied=True, before=before)
    except BadRequest as error:
        if not (why := _why_unreadable(target, error)):
            raise
        if target.kind.strategy.custom:
            raise unreadable(as_json(merged), why) from error
        what = f"{target.kind.group}/{target.kind.version}, Kind={target.kind.kind}"
        why = _as_converted(why)
        whose = f"{(sent.get('metadata') or {}).get('namespace', '')}/{target.name}; {what}"
        message = f"failed to convert new object ({whose}) to proper version: unable to convert unstructured object to {what}: {why}"
        raise ApiError(Status(code=500, message=message)) from error


def _as_converted(why: str) -> str:
    """Why something cannot be read, in the words of who turns maps into structs instead of reading JSON."""
    return f"error decoding from json: {why}" if why.startswith("illegal base64 ") else why


def _why_unreadable(target: Target, error: BadRequest) -> str:
    return error.message.partition(f" cannot be handled as a {target.kind.kind}: ")[2]


def _check_type(target: Target, patched: Object, shown: Callable[[], str]) -> None:
    """A patch may not make a custom resource something else."""
    if not patched.get("kind"):
        raise unreadable(shown(), f"Object 'Kind' is missing in '{shown()}'")
    said, right = patched.get("apiVersion") or "", target.kind.api_version
    if isinstance(said, str) and said != right:
        problem = causes.invalid("apiVersion", said, f"must be {right}")
        raise invalid(split_api_version(said)[0], str(patched["kind"]), target.name, [problem])


def _set_twice(body: bytes) -> list[str]:
    from setpoint.cluster.server.schema.repeats import repeated_keys  # rarely needed, and PyYAML takes its time to import

    return repeated_keys(body)


def _uid_mismatch(target: Target, uid: str) -> ApiError:
    return conflict(
        target.kind.resource, target.name, f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    )


def _scale(kind: ServedKind, record: Record) -> Record:
    """The Scale that an object shows, in the object's place."""
    return Record(record.collection, record.key, encode(scale_of(kind, decode(in_version(record, kind)))), record.revision)
