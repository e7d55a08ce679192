"""The paths of an OpenAPI document: what can be asked of a kind, as clients look it up.

kubectl reads here which kind is served where (`explain`), whether writes can be validated (the parameter `fieldValidation` of a patch) and
which kinds of patch a kind takes. Patches that the server does not do are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from setpoint.api import Verb
from setpoint.api.operation import APPLY_PATCH, JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, YAML
from setpoint.cluster.server.kinds import ServedKind

Json = dict[str, Any]

REFERENCE = "#/components/schemas/"
PATCH_TYPES = (APPLY_PATCH, JSON_PATCH, MERGE_PATCH)
"""Those that every kind takes; built-in kinds take strategic merge patches, too."""
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
PATCH, DELETE_OPTIONS, STATUS = (_META + name for name in ("Patch", "DeleteOptions", "Status"))
SCALE = "io.k8s.api.autoscaling.v1.Scale"

_STRING, _INTEGER, _BOOLEAN = "string", "integer", "boolean"
_PARAMETERS = {
    "dryRun": (_STRING, "Do everything but store the result. The only value is All."),
    "fieldManager": (_STRING, "Who owns the fields that are written; required for server-side apply."),
    "fieldValidation": (_STRING, "What becomes of unknown and duplicate fields: Ignore, Warn (unless said otherwise) or Strict."),
    "force": (_BOOLEAN, "Server-side apply takes fields from the managers that own them."),
    "gracePeriodSeconds": (_INTEGER, "Seconds that the object gets to stop."),
    "propagationPolicy": (_STRING, "What becomes of the objects that this one owns."),
    "allowWatchBookmarks": (_BOOLEAN, "A watch may send bookmarks."),
    "continue": (_STRING, "The token of the list's next page."),
    "fieldSelector": (_STRING, "Only objects with these fields."),
    "labelSelector": (_STRING, "Only objects with these labels."),
    "limit": (_INTEGER, "The most objects of one page."),
    "resourceVersion": (_STRING, "Which state is read, see resourceVersionMatch; for a watch, the state after which it begins."),
    "resourceVersionMatch": (_STRING, "NotOlderThan or Exact."),
    "sendInitialEvents": (_BOOLEAN, "A watch begins with what there is."),
    "timeoutSeconds": (_INTEGER, "Seconds after which a watch ends."),
    "watch": (_BOOLEAN, "Tell of changes instead of listing."),
}
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_DELETE = ("dryRun", "gracePeriodSeconds", "propagationPolicy")
_SELECT = ("continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents")
_LIST = ("allowWatchBookmarks", *_SELECT, "timeoutSeconds", "watch")
_METHODS: tuple[tuple[str, Verb], ...] = (("get", "get"), ("put", "update"), ("delete", "delete"), ("patch", "patch"))
_COLLECTION_METHODS: tuple[tuple[str, Verb], ...] = (("get", "list"), ("post", "create"), ("delete", "deletecollection"))
_ACTIONS: dict[Verb, str] = {"create": "post", "update": "put"}
_VERBS: dict[Verb, str] = {"get": "read", "update": "replace", "list": "list", "create": "create", "patch": "patch"}


def paths_of(kind: ServedKind, schema: str, list_schema: str) -> Iterator[tuple[str, Json]]:
    """Each path of a kind with its operations. `schema` and `list_schema` are the names of the schemas of an object and of a list."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    place = f"{root}/namespaces/{{namespace}}" if kind.namespaced else root
    where = ("namespace",) if kind.namespaced else ()
    writer = _Writer(kind, schema, list_schema)
    if kind.namespaced:
        yield f"{root}/{kind.plural}", {"get": writer.operation("list", everywhere=True)}
    collection = {method: writer.operation(verb) for method, verb in _COLLECTION_METHODS if verb in kind.verbs}
    yield f"{place}/{kind.plural}", {**collection, "parameters": _in_path(kind, where)}
    one = {method: writer.operation(verb) for method, verb in _METHODS if verb in kind.verbs}
    yield f"{place}/{kind.plural}/{{name}}", {**one, "parameters": _in_path(kind, ("name", *where))}
    for name, verbs in kind.subresources.items():
        part = {method: writer.operation(verb, name) for method, verb in _METHODS if verb in verbs}
        yield f"{place}/{kind.plural}/{{name}}/{name}", {**part, "parameters": _in_path(kind, ("name", *where))}


def _in_path(kind: ServedKind, names: Sequence[str]) -> list[Json]:
    about = {"name": f"The name of the {kind.kind}.", "namespace": "The namespace of the object."}
    return [
        {"name": name, "in": "path", "description": about[name], "required": True, "schema": {"type": "string", "uniqueItems": True}}
        for name in names
    ]


class _Writer:
    """Writes the operations of one kind."""

    def __init__(self, kind: ServedKind, schema: str, list_schema: str) -> None:
        self._kind = kind
        self._schema = schema
        self._list_schema = list_schema
        group = "".join(part.capitalize() for part in (kind.group.removesuffix(".k8s.io") or "core").split("."))
        self._prefix = f"{group}{kind.version.capitalize()}"
        self._tag = f"{group[:1].lower()}{group[1:]}_{kind.version}"

    def operation(self, verb: Verb, subresource: str = "", *, everywhere: bool = False) -> Json:
        """One operation: on the kind, or on one of its subresources."""
        kind = self._kind
        scale = subresource == "scale"
        shown = SCALE if scale else self._schema
        result: Json = {
            "tags": [self._tag],
            "description": self._description(verb, subresource),
            "operationId": self._id(verb, subresource, everywhere),
            "parameters": [_parameter(name) for name in _parameters(verb)],
        }
        if verb in ("create", "update"):
            result["requestBody"] = {"content": _content(shown, (JSON, YAML)), "required": True}
        elif verb == "patch":
            result["requestBody"] = {
                "content": _content(PATCH, PATCH_TYPES if kind.strategy.custom else (*PATCH_TYPES, STRATEGIC_MERGE_PATCH)),
                "required": True,
            }
        elif verb in ("delete", "deletecollection"):
            result["requestBody"] = {"content": _content(DELETE_OPTIONS, (JSON, YAML))}
        if verb == "list":
            shown = self._list_schema
        elif verb == "deletecollection" or (verb == "delete" and not kind.strategy.returns_deleted):
            shown = STATUS
        codes = {"200": "OK", **({"201": "Created"} if verb in ("create", "update", "patch") else {})}
        result["responses"] = {code: {"description": text, "content": _content(shown, (JSON,))} for code, text in codes.items()}
        result["responses"]["401"] = {"description": "Unauthorized"}
        result["x-kubernetes-action"] = _ACTIONS.get(verb, verb)
        named = ("autoscaling", "v1", "Scale") if scale and not kind.strategy.custom else (kind.group, kind.version, kind.kind)
        result["x-kubernetes-group-version-kind"] = dict(zip(("group", "version", "kind"), named, strict=True))
        return result

    def _id(self, verb: Verb, subresource: str, everywhere: bool) -> str:
        kind, scope = self._kind, "Namespaced" if self._kind.namespaced and not everywhere else ""
        if verb in ("delete", "deletecollection"):
            return f"delete{self._prefix}{'Collection' if verb == 'deletecollection' else ''}{scope}{kind.kind}"
        return f"{_VERBS[verb]}{self._prefix}{scope}{kind.kind}{subresource.capitalize()}{'ForAllNamespaces' if everywhere else ''}"

    def _description(self, verb: Verb, subresource: str) -> str:
        kind, part = self._kind.kind, f"{subresource} of " if subresource else ""
        match verb:
            case "list":
                return f"list or watch objects of kind {kind}"
            case "create" | "delete":
                return f"{verb} {_article(kind)} {kind}"
            case "deletecollection":
                return f"delete collection of {kind}"
            case "get":
                return f"read {part}the specified {kind}"
            case "update":
                return f"replace {part}the specified {kind}"
        return f"partially update {part}the specified {kind}"


def _parameters(verb: Verb) -> Sequence[str]:
    match verb:
        case "create" | "update":
            return _WRITE
        case "patch":
            return (*_WRITE, "force")
        case "delete":
            return _DELETE
        case "deletecollection":
            return (*_DELETE, *_SELECT)
        case "list":
            return _LIST
    return ()


def _parameter(name: str) -> Json:
    type, description = _PARAMETERS[name]
    return {"name": name, "in": "query", "description": description, "schema": {"type": type, "uniqueItems": True}}


def _content(schema: str, types: Sequence[str]) -> Json:
    return {type: {"schema": {"$ref": REFERENCE + schema}} for type in types}


def _article(kind: str) -> str:
    return "an" if kind[:1] in "AEIOU" else "a"
