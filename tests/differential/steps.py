"""A step: one request, written so that it means the same on both servers.

Servers give different uids, versions and generated names. So a request refers to them by what they belong to, in angle brackets, and each
server's `Memory` fills in its own: `<uid configmaps/a>`, `<rv configmaps/a>` (with `-1` behind it: the version before), `<list configmaps>`
(the version of the last list), `<token configmaps>` (its continue token), `<name gen1>` (what was generated). `NS` is the namespace of the
sequence; names of cluster-scoped objects begin with it.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

Json = Any
REMOVE = {"$": "remove"}
"""As the value of an edit: takes the member out."""

_REFERENCE = re.compile(r"<(uid|rv|list|token|name) ([^<>]+?)(?: -(\d))?>|NS")
NOBODY = "00000000-0000-0000-0000-000000000000"
"""The uid of what has none."""


@dataclass(frozen=True)
class Edit:
    """One change of an object that was read: the member at `path` gets `value`, or is taken out (`REMOVE`)."""

    path: tuple[str | int, ...]
    value: Json


@dataclass(frozen=True)
class Step:
    """One request. `what` (verb and sort of patch) and `sort` (class of kind) are what coverage counts it under.

    With `base`, the body is the object as this server answered last under that reference (or `age` versions before), with `edits` made;
    `twice` names a member of the body that is said twice. `about` is the object it is about, `generates` the symbol of a name to be
    made. `mark` is what the last event of a watch will bear, and the write that makes it.
    """

    what: str
    sort: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Json = None
    content_type: str = ""
    accept: str = "application/json"
    about: str = ""
    base: str = ""
    age: int = 0
    edits: tuple[Edit, ...] = ()
    twice: str = ""
    generates: str = ""
    mark: str = ""

    def __str__(self) -> str:
        asked = f"{self.method} {self.path}" + (f"?{urlencode(self.query)}" if self.query else "")
        told = [self.content_type, "" if self.body is None else json.dumps(self.body), f"on {self.base}" if self.base else ""]
        told += [f"{'.'.join(map(str, edit.path))}={json.dumps(edit.value)}" for edit in self.edits]
        told += [f"as {self.accept}" if self.accept != "application/json" else "", f"{self.twice} twice" if self.twice else ""]
        return " ".join([asked, *filter(None, told)])

    def plain(self) -> dict[str, Json]:
        """As JSON, without what is not stated."""
        return {name: value for name, value in asdict(self).items() if value or (name == "body" and value is not None)}

    @classmethod
    def of(cls, plain: dict[str, Json]) -> Step:
        """The opposite of `plain`."""
        edits = tuple(Edit(tuple(edit["path"]), edit["value"]) for edit in plain.get("edits", ()))
        return cls(**{"sort": "", **plain, "edits": edits, "query": tuple((name, value) for name, value in plain.get("query", ()))})


@dataclass(frozen=True)
class Request:
    """A step as one server gets it."""

    method: str
    target: str
    body: bytes
    content_type: str
    accept: str


@dataclass(frozen=True)
class Answer:
    """What came back: `body` is decoded where it is JSON."""

    status: int
    content_type: str
    warnings: tuple[str, ...]
    body: Json

    @property
    def ok(self) -> bool:
        """Whether it did what was asked."""
        return 200 <= self.status < 300


@dataclass
class Memory:
    """What one server has answered in a sequence, so far as later steps may refer to it."""

    namespace: str
    objects: dict[str, list[Json]] = field(default_factory=dict)
    lists: dict[str, Json] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def request(self, step: Step) -> Request:
        """The step in this server's own uids, versions and names."""
        body = b""
        if step.base or step.body is not None:
            value = self._edited(step) if step.base else step.body
            text = value if isinstance(value, str) else json.dumps(value)
            if step.twice:
                text = text.replace(f'"{step.twice}":', f'"{step.twice}": null, "{step.twice}":', 1)
            body = self.resolve(text).encode()
        query = urlencode([(name, self.resolve(value)) for name, value in step.query])
        target = quote(self.resolve(step.path), safe="/:-._~") + (f"?{query}" if query else "")
        return Request(step.method, target, body, step.content_type, step.accept)

    def resolve(self, text: str) -> str:
        """A text with its references filled in."""
        return _REFERENCE.sub(self._referred, text)

    def last(self, reference: str, age: int = 0) -> Json | None:
        """An object as it was answered last, or `age` different versions before that."""
        kept = self.objects.get(reference, [])
        return kept[max(-1 - age, -len(kept))] if kept else None

    def reference(self, plural: str, meta: Json) -> str:
        """How steps refer to an object of which these are the metadata."""
        name = str(meta.get("name", ""))
        symbol = next((symbol for symbol, generated in self.names.items() if generated == name), None)
        return f"{plural}/{symbol or name.replace(self.namespace, 'NS')}"

    def learn(self, step: Step, answer: Answer) -> None:
        """Takes note of an answer."""
        body = answer.body
        if not answer.ok or not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
            return
        meta = body["metadata"]
        collection = step.about.partition("/")[0]
        if "items" in body or "rows" in body:
            self.lists[collection] = meta
        elif meta.get("resourceVersion") and body.get("kind") not in ("Scale", "PartialObjectMetadata", "Status", "Table"):
            if step.generates:
                self.names[step.generates] = meta["name"]
            kept = self.objects.setdefault(step.about, [])
            if not kept or kept[-1]["metadata"]["resourceVersion"] != meta["resourceVersion"]:
                kept.append(body)
            else:
                kept[-1] = body

    def _referred(self, found: re.Match[str]) -> str:
        if found[0] == "NS":
            return self.namespace
        sort, name, age = found[1], found[2], int(found[3] or 0)
        if sort == "name":
            return self.names.get(name, name)
        if sort in ("list", "token"):
            return str(self.lists.get(name, {}).get("resourceVersion" if sort == "list" else "continue") or ("1" if sort == "list" else ""))
        meta = (self.last(name, age) or {}).get("metadata", {})
        return str(meta.get("uid", NOBODY) if sort == "uid" else meta.get("resourceVersion", "1"))

    def _edited(self, step: Step) -> Json:
        value = copy.deepcopy(self.last(step.base, step.age) or {})
        for edit in step.edits:
            _put(value, edit.path, edit.value)
        return value


def _put(value: Json, path: tuple[str | int, ...], new: Json) -> None:
    *above, last = path
    for key in above:
        if isinstance(value, dict):
            value = value.setdefault(key, {})
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return
    if new == REMOVE:
        if isinstance(value, dict):
            value.pop(last, None)
        elif isinstance(value, list) and isinstance(last, int) and last < len(value):
            del value[last]
    elif isinstance(value, dict) or (isinstance(value, list) and isinstance(last, int) and last < len(value)):
        value[last] = new  # type: ignore[index]
