"""The server: an operation and an identity in, an answer or a stream out.

There is no HTTP here. Everything that a request changes has changed, is durable, and is in the queues of all watches, before `handle`
returns.
"""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from functools import lru_cache

from setpoint.api import ADMIN, Answer, ApiError, Identity, Operation, ServedStream, StatusDetails
from setpoint.api.status import bad_request, failure, not_found
from setpoint.cluster.server import builtin
from setpoint.cluster.server.about.aggregated import Aggregated
from setpoint.cluster.server.about.openapi import Documents
from setpoint.cluster.server.about.paths import answer_path, no_such_path, not_allowed
from setpoint.cluster.server.accept import COLLECTION, OFFERED, check_route
from setpoint.cluster.server.builtin.served import builtin_kinds
from setpoint.cluster.server.crd.custom import CustomKinds
from setpoint.cluster.server.encoding import decode, encode, objects_in
from setpoint.cluster.server.events import Served
from setpoint.cluster.server.first_objects import first_objects
from setpoint.cluster.server.kinds import Kinds, ServedKind
from setpoint.cluster.server.names import path_segment
from setpoint.cluster.server.options import WriteOptions, boolean, list_options
from setpoint.cluster.server.registry import Registry, Written
from setpoint.cluster.server.scale import SCALE_KIND
from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.schema.gotext import quote
from setpoint.cluster.server.selection import Selection
from setpoint.cluster.server.storage import Change, MemoryStorage, NotDurable, Storage
from setpoint.cluster.server.views import RefusedView, TableView, View, WholeView, view_for
from setpoint.cluster.server.watch import Hub
from setpoint.cluster.server.write import Target, create
from setpoint.world import World

SERVICES = "/services"
"""Where services are kept."""
SPECS = 1 << 16
"""As many as a cluster has addresses for services."""
_RETRY = 5.0
"""Seconds."""


def _spec_of(value: bytes) -> dict[str, Json]:
    """An object's spec and nothing else, to be read and not to be changed."""
    return {"spec": decode(value).get("spec")}


class ApiServer:
    """An API server, in memory unless another storage is given. Make it inside a running event loop, whose time its watches keep."""

    def __init__(self, world: World, *, storage: Storage | None = None) -> None:
        self.world = world
        self.storage: Storage = storage if storage is not None else MemoryStorage()
        spec_of = lru_cache(SPECS)(_spec_of)  # each new service asks for all that there are: decode each once
        self.kinds = Kinds(
            builtin_kinds(
                lambda collection: (
                    [spec_of(record.value) for record in self.storage.list(collection).records]
                    if collection == SERVICES
                    else objects_in(self.storage, collection)
                )
            )
        )
        self.documents = Documents(self.kinds)
        self.aggregated = Aggregated(self.kinds)
        self.registry = Registry(self.storage, world)
        self.hub = Hub(self.storage, world)
        self.custom = CustomKinds(self.storage, self.kinds, self.registry, self.hub)
        self.stopped = False
        self._context = copy_context()
        self._complete_at = 0
        self._create_first_objects()
        self.storage.subscribe(self._changed)

    def _changed(self, change: Change) -> None:
        """What has been there from the start and could not be made durable is made again in a while."""
        if change.undone and change.deleted and change.revision <= self._complete_at:
            self._complete_at = 0  # once for all of them
            asyncio.get_running_loop().call_later(_RETRY, self._create_first_objects, context=self._context)

    def _create_first_objects(self) -> None:
        if self.stopped:
            return
        for resource, obj in first_objects():
            kind, metadata = self.kinds.find(resource), obj["metadata"]
            assert kind is not None, "it is built in"
            namespace, name = metadata.get("namespace", ""), metadata["name"]
            if self.storage.get(kind.collection, kind.key(namespace, name)) is None:
                target = Target(kind, namespace, name, "", WriteOptions(manager="kube-apiserver"))
                draft = create(target, kind.strategy.complete(obj, kind), self.registry.means())
                self.registry.store(kind, draft.obj)
        self._complete_at = self.storage.revision

    async def handle(self, operation: Operation, identity: Identity = ADMIN) -> Answer | ServedStream:
        """Does what the operation asks. What it refuses is an answer too; nothing but a defect of the server raises."""
        warnings: list[str] = []
        try:
            outcome = self._answer(operation, warnings)
        except ApiError as error:
            outcome = error.status.answer(tuple(dict.fromkeys(warnings)))
        except RecursionError:
            # Nothing has been stored: what is nested too deeply to be walked is walked before that.
            outcome = bad_request("the object is nested too deeply for the embedded server").status.answer()
        if self.storage.durable < self.storage.revision:
            outcome = await self._once_durable(outcome)
        observer = self.world.observer
        if observer.heard:
            status = outcome.status if isinstance(outcome, Answer) else 200
            observer.emit(Served(operation=operation, identity=identity, status=status, revision=self.storage.revision))
        return outcome

    async def _once_durable(self, outcome: Answer | ServedStream) -> Answer | ServedStream:
        """The outcome, as soon as all that it may tell of is durable."""
        try:
            await self.storage.settled(self.storage.revision)
            return outcome
        except NotDurable as error:
            if not isinstance(outcome, Answer):
                await outcome.close()
            return failure(500, "InternalError", f"Internal error occurred: {error}").status.answer()
        except BaseException:
            if not isinstance(outcome, Answer):
                await outcome.close()
            raise

    def compact(self, revision: int | None = None) -> None:
        """Forgets how things were before a revision (None: before now)."""
        self.storage.compact(self.storage.revision if revision is None else revision)

    def stop(self) -> None:
        """Ends all watches cleanly; what is asked after that is answered 503."""
        self.stopped = True
        self.hub.stop()

    def _answer(self, operation: Operation, warnings: list[str]) -> Answer | ServedStream:
        if self.stopped:
            raise failure(503, "ServiceUnavailable", "the server is shutting down")
        if operation.resource is None:
            return answer_path(self, operation)
        kind = self.kinds.find(operation.resource)
        if kind is None or (operation.namespace and not kind.namespaced):
            return self._refuse_resource(operation)
        if kind.namespaced and not operation.namespace and (operation.name or (operation.verb == "create" and kind.strategy.custom)):
            return self._refuse_resource(operation)
        self._check_verb(operation, kind)
        if not kind.strategy.custom:
            check_route(operation.accept, COLLECTION if operation.verb in ("list", "watch") else OFFERED)
        if operation.name and (problems := path_segment(operation.name)):
            raise bad_request(f"Name parameter invalid: {quote(operation.name)}: {problems[0]}")
        if operation.verb in ("get", "list") and "export" in operation.options and boolean(operation.options, "export"):
            raise bad_request("the export parameter, deprecated since v1.14, is no longer supported")
        return self._do(operation, kind, warnings)

    def _refuse_resource(self, operation: Operation) -> Answer:
        """501 for what a real server has. Else 404: a Status where built-in kinds live, plain text elsewhere, as there."""
        resource = operation.resource
        assert resource is not None
        if (error := builtin.refusal(resource, operation.subresource)) is not None:
            raise error
        return self.refuse_group(resource.group)

    def refuse_group(self, group: str) -> Answer:
        """404 for what is not in a group: a Status where built-in kinds live, plain text elsewhere."""
        if not group or any(not kind.strategy.custom for kind in self.kinds.of_group(group)):
            raise failure(404, "NotFound", "the server could not find the requested resource", StatusDetails())
        return no_such_path()

    def refuse_method(self, operation: Operation) -> Answer:
        """The answer for a method that means nothing, where the operation is what GET would be: 404 where there is nothing, else 405."""
        if self.stopped:
            raise failure(503, "ServiceUnavailable", "the server is shutting down")
        kind = self.kinds.find(operation.resource) if operation.resource is not None else None
        unknown = kind is None or (operation.subresource and operation.subresource not in kind.subresources)
        return self._refuse_resource(operation) if unknown else not_allowed().status.answer()

    def _check_verb(self, operation: Operation, kind: ServedKind) -> None:
        custom, verbs = kind.strategy.custom, kind.verbs
        if operation.subresource:
            found = kind.subresources.get(operation.subresource)
            if found is None and custom:
                raise not_found(kind.resource, operation.name)
            if found is None:
                self._refuse_resource(operation)
            verbs = found or ()
        across = kind.namespaced and not operation.namespace and operation.verb in ("create", "deletecollection")
        if operation.verb not in verbs or across or (operation.verb == "create" and operation.name and not custom):
            if custom:
                message = f'{operation.verb} is not supported on resources of kind "{kind.resource.group_resource}"'
                raise failure(405, "MethodNotAllowed", message, StatusDetails(group=kind.group, kind=kind.plural))
            raise not_allowed()

    def _do(self, operation: Operation, kind: ServedKind, warnings: list[str]) -> Answer | ServedStream:
        registry = self.registry
        view = view_for(operation, self.world.clock.now)
        if operation.subresource == "status" and isinstance(view, TableView) and not kind.strategy.tables_of_status:
            view = WholeView()
        if kind.deprecation:
            warnings.append(kind.deprecation)
        match operation.verb:
            case "get" if operation.subresource == "scale":
                return Answer(status=200, body=view.show(SCALE_KIND, registry.scale(operation, kind)), warnings=tuple(warnings))
            case "get":
                return Answer(status=200, body=view.show(kind, registry.get(operation, kind)), warnings=tuple(warnings))
            case "list":
                body = view.show_list(kind, registry.list_objects(operation, kind))
                return Answer(status=200, body=body, warnings=tuple(warnings))
            case "watch":
                options = list_options(operation, kind, watch=True)
                if isinstance(view, RefusedView):
                    raise view.why(kind)
                prefix = f"{operation.namespace}/" if operation.namespace else ""
                return self.hub.open(kind, Selection(prefix, options.labels, options.fields), options, view)
            case "create":
                return self._written(registry.create(operation, kind, warnings), view, warnings)
            case "update":
                return self._written(registry.update(operation, kind, warnings), view, warnings)
            case "patch":
                return self._written(registry.patch(operation, kind, warnings), view, warnings)
            case "delete":
                return self._deleted(registry.delete(operation, kind, warnings), view, warnings)
            case "deletecollection":
                listing, _ = registry.delete_collection(operation, kind, warnings)
                return Answer(status=200, body=view.show_list(kind, listing), warnings=tuple(warnings))

    def _written(self, written: Written, view: View, warnings: list[str]) -> Answer:
        status = 201 if written.created else 202 if written.pending else 200
        return Answer(status=status, body=view.show(written.kind, written.record), warnings=tuple(dict.fromkeys(warnings)))

    def _deleted(self, written: Written, view: View, warnings: list[str]) -> Answer:
        kind = written.kind
        if written.unseen:
            return Answer(status=200, body=view.bookmark(kind, {}), warnings=tuple(warnings))
        if not written.removed or kind.strategy.returns_deleted:
            return self._written(written, view, warnings)
        if isinstance(view, RefusedView) and view.always:
            raise view.why(kind)
        meta = decode(written.record.value)["metadata"]
        details = {"name": meta["name"], **({"group": kind.group} if kind.group else {}), "kind": kind.plural, "uid": meta["uid"]}
        body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
        return Answer(status=200, body=encode(body), warnings=tuple(warnings))
