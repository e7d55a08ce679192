"""Takes out of a server's answers what no two servers have in common, and keeps what of it is equal, and in which order.

| in the answer | becomes |
| --- | --- |
| a uid, anywhere | `uid1`, `uid2`, ... in the order of appearance |
| an object's resourceVersion | `v1@0`: the first to appear, and its place among those that had appeared; from then on `v1` |
| a list's resourceVersion | `now`: not before anything that has appeared; or `as asked`, `of the first page`, or the version that it is |
| a bookmark's resourceVersion | `bookmark`; bookmarks that come by themselves are left out |
| a time of today | `time`, or `time with micros`; times before 2020 are somebody's data and stay |
| a generated name | its prefix and the symbol that the step gave it |
| the namespace of the sequence | `NS` |
| a continue token | what it says, decoded, without a slash in front |
| allocated addresses and ports | `address`, `port` |
| an age in a table | `age` |
| an object that a message quotes as JSON | the same, normalised, its members sorted: Go's structs have an order of their own |
| causes, and reasons in one message | sorted: Go's maps bring them in any order |
| what a server writes into a definition by itself | left out of managed fields; see `settling` |
| finalizers of namespaces | sorted: a real server puts them in any order when it adds one |
| managed fields | sorted by who: their own order follows times, which may differ by a second |
"""

from __future__ import annotations

import base64
import copy
import json
import re
from bisect import bisect_left, insort
from typing import Any

from .settling import DEFINITIONS, without_the_servers
from .steps import Answer, Json, Memory, Step

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"20[2-9]\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000 UTC)")
_IN_TEXT = re.compile(r"([Rr]esource ?[Vv]ersion: ?|current: |meta: |in precondition: |precondition \(|in record \()(\d+)(?![\w-])")
_QUOTED = re.compile(r'(Invalid value: )("\{.*\}")(?=: )', re.DOTALL)
_AGE = re.compile(r"(\d+[dhms])+|<(unknown|invalid)>")
_ADDRESS = re.compile(r"10\.0\.\d+\.\d+")
_NODE_PORT = re.compile(r":3[0-2]\d{3}/")
_AGE_COLUMNS = ("Age", "Last Seen", "First Seen", "Last Schedule", "Duration")
_REASONS = re.compile(r"(.* is invalid: )\[(.*)\]", re.DOTALL)
_ALLOCATED = {"clusterIP": "address", "clusterIPs": "address", "nodePort": "port", "healthCheckNodePort": "port"}


class Normaliser:
    """For one server and one sequence."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._uids: dict[str, str] = {}
        self._versions: dict[int, str] = {}
        self._order: list[int] = []
        self._finalizers = "as they are"

    def same_version(self, new: str, old: str) -> None:
        """From now on `new` is what `old` is."""
        if new.isdigit() and old.isdigit() and int(old) in self._versions:
            self._versions[int(new)] = self._versions[int(old)]

    def answer(self, step: Step, answer: Answer) -> Json:
        """What is compared of an answer."""
        told: dict[str, Json] = {"status": answer.status, "type": answer.content_type}
        if answer.warnings:
            told["warnings"] = [self._text(text) for text in answer.warnings]
        body = answer.body
        if step.about.startswith(f"{DEFINITIONS}/") and isinstance(body, dict):
            body = _without_the_servers(body)
        self._finalizers = "sorted" if step.about.startswith("namespaces/") else "as they are"
        told["body"] = self._top(step, body)
        return told

    def event(self, event: Json) -> Json:
        """What is compared of an event; None if it is not."""
        if event["type"] == "BOOKMARK":
            about = event["object"]["rows"][0]["object"] if event["object"].get("kind") == "Table" else event["object"]
            if "k8s.io/initial-events-end" not in (about["metadata"].get("annotations") or {}):
                return None
            about["metadata"]["resourceVersion"] = "bookmark"
        if event["object"].get("kind") == "Table":
            table = event["object"]
            return {"type": event["type"], "object": self._table(table, {"resourceVersion": "of a row"})}
        return self._any(event)

    def _top(self, step: Step, body: Json) -> Json:
        if not isinstance(body, dict):
            return self._text(body) if isinstance(body, str) else body
        if "items" not in body and body.get("kind") != "Table":
            return self._any(body)
        meta = dict(body.get("metadata") or {})
        if "rows" in body and len(body["rows"] or ()) == 1 and step.about.partition("/")[2]:
            return self._table(body, {**meta, "resourceVersion": self._version(meta.get("resourceVersion", ""))})
        items = {**body, "metadata": {}}
        told = self._table(items, {}) if body.get("kind") == "Table" else self._any(items)
        meta["resourceVersion"] = self._of_list(step, str(meta.get("resourceVersion", "")))
        if token := meta.get("continue"):
            meta["continue"] = self._any(_decoded(token))
        return {**told, "metadata": self._any(meta, "list")}

    def _of_list(self, step: Step, version: str) -> str:
        asked = {name: self._memory.resolve(value) for name, value in step.query}
        if asked.get("continue"):
            first = self._memory.lists.get(step.about.partition("/")[0], {}).get("resourceVersion")
            return "of the first page" if version == first else "of another page"
        if asked.get("resourceVersionMatch") == "Exact":
            return "as asked" if version == asked.get("resourceVersion") else "not as asked"
        if not version.isdigit():
            return version
        return "now" if not self._order or int(version) >= self._order[-1] else "before now"

    def _table(self, table: Json, meta: Json) -> Json:
        columns = [column["name"] for column in table.get("columnDefinitions") or ()]
        rows = []
        for row in table.get("rows") or ():
            # Of a watch, only the first table says what its columns are.
            cells = [
                "age" if (not columns or columns[at] in _AGE_COLUMNS) and _AGE.fullmatch(str(cell)) else self._cell(cell)
                for at, cell in enumerate(row["cells"])
            ]
            rows.append({**self._any({name: value for name, value in row.items() if name != "cells"}), "cells": cells})
        return {
            **self._any({name: value for name, value in table.items() if name not in ("rows", "metadata")}),
            "rows": rows,
            "metadata": meta,
        }

    def _cell(self, cell: Any) -> Json:
        if isinstance(cell, str):
            cell = _NODE_PORT.sub(":port/", cell)
        return "address" if isinstance(cell, str) and _ADDRESS.fullmatch(cell) else self._any(cell)

    def _any(self, value: Any, key: str = "") -> Json:
        if isinstance(value, dict):
            return {self._text(name): self._any(inner, name) for name, inner in _in_order(value).items()}
        if isinstance(value, list):
            items = [self._any(item, key) for item in value]
            return sorted(items) if key == "finalizers" and self._finalizers == "sorted" else items
        if key in _ALLOCATED and value not in ("None", "", 0, None):
            return _ALLOCATED[key]
        if not isinstance(value, str):
            return value
        if key == "resourceVersion":
            return self._version(value)
        return self._message(value) if key == "message" else self._text(value)

    def _message(self, text: str) -> str:
        """A message; the objects that it quotes are put in one form, whatever the order of their members."""
        text = _QUOTED.sub(lambda found: f"{found[1]}{self._quoted(found[2])}", text)
        return _sorted_reasons(self._text(text))

    def _quoted(self, text: str) -> str:
        try:
            value = json.loads(json.loads(text))
        except ValueError:
            return text
        return json.dumps(self._any(value), sort_keys=True) if isinstance(value, dict) else text

    def _version(self, text: str) -> str:
        if not text.isdigit():
            return text
        version = int(text)
        if known := self._versions.get(version):
            return known
        symbol = self._versions[version] = f"v{len(self._order) + 1}"
        place = bisect_left(self._order, version)
        insort(self._order, version)
        return f"{symbol}@{place}"

    def _text(self, text: str) -> str:
        if len(text) < 4:
            return text
        for symbol, name in self._memory.names.items():
            text = text.replace(name, f"{name[:-5]}<{symbol}>")
        text = text.replace(self._memory.namespace, "NS")
        if "-" in text:
            text = _UID.sub(self._uid, text)
            text = _TIME.sub(lambda found: "time with micros" if found[1] else "time", text)
        return _IN_TEXT.sub(lambda found: found[1] + self._versions.get(int(found[2]), "a version"), text)

    def _uid(self, found: re.Match[str]) -> str:
        uid = found[0]
        return uid if uid.startswith("00000000-") else self._uids.setdefault(uid, f"uid{len(self._uids) + 1}")


def _without_the_servers(body: Json) -> Json:
    """What is said of definitions, without the server's own entries in managed fields: what it writes comes later than the answer."""
    body = copy.deepcopy(body)
    for obj in (body, *(row.get("object") or {} for row in body.get("rows") or ()), *(body.get("items") or ())):
        without_the_servers(obj.get("metadata") or {})
    return body


def _in_order(value: dict[str, Json]) -> dict[str, Json]:
    """A map whose members are put in order where the servers' own order is chance."""
    if isinstance(value.get("managedFields"), list):
        value = {**value, "managedFields": sorted(value["managedFields"], key=_who)}
    if isinstance(value.get("causes"), list):
        value = {**value, "causes": sorted(value["causes"], key=lambda cause: json.dumps(cause, sort_keys=True))}
    return value


def _who(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(name, "")) for name in ("manager", "operation", "subresource", "apiVersion"))


def _sorted_reasons(message: str) -> str:
    first, errors, lines = message.partition("errors:\n  ")
    if errors:
        return first + errors + "\n  ".join(sorted(lines.split("\n  ")))
    found = _REASONS.fullmatch(message)
    return f"{found[1]}[{', '.join(sorted(found[2].split(', ')))}]" if found else message


def _decoded(token: str) -> Json:
    try:
        said = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError:
        return f"unreadable {token}"
    said["start"] = str(said.get("start", "")).lstrip("/")
    return {name: "version" if name == "rv" else value for name, value in said.items()}
