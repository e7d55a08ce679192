"""Definitions take their time: the real server accepts their names, and serves them, in writes of its own that come after the answer.

After each write of a definition, `settle` waits on every server until it has done what it does. What comes of it is, for those who compare,
the same version as the one that was answered. In the events of a watch, `collapsed` leaves out the changes that the server itself makes.
"""

from __future__ import annotations

import copy
import time
from typing import Protocol

from .servers import Server
from .steps import Json, Memory, Request, Step

DEFINITIONS = "customresourcedefinitions"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
SERVER = "kube-apiserver"
"""Who the real server is, in managed fields."""
_PAUSE, _PATIENCE = 0.03, 120.0
"""Seconds between two looks, and after which it is as settled as it ever will be.

A real server that has just begun to serve a kind may fail to look for objects to delete (`storage is (re)initializing`), and then tries
again seconds later.
"""


class _Side(Protocol):
    server: Server
    memory: Memory
    definitions: dict[str, str]

    def same_version(self, new: str, old: str) -> None: ...


def note(step: Step, body: Json, definitions: dict[str, str]) -> None:
    """Takes down the version in which a definition was answered, by its name, in whatever form."""
    if step.about.startswith(f"{DEFINITIONS}/") and step.about.partition("/")[2] and isinstance(body, dict):
        meta = _about(body).get("metadata") or {}
        if meta.get("name") and meta.get("resourceVersion"):
            definitions[meta["name"]] = meta["resourceVersion"]


def settle(side: _Side, step: Step) -> None:
    """Waits until the definitions that a step has to do with do not change any more, and has the side remember them as they are then."""
    others = _frees_names(step)
    name = side.memory.resolve(step.about.partition("/")[2])
    names = list(side.definitions) if others else [name] if name in side.definitions else []
    for name, found in zip(names, _settled(side.server, names, twice=others), strict=True):
        if found is None:
            continue
        version = found["metadata"]["resourceVersion"]
        side.same_version(version, side.definitions[name])
        side.definitions[name] = version
        kept = side.memory.objects.get(side.memory.reference(DEFINITIONS, found["metadata"]))
        if kept and kept[-1]["metadata"]["uid"] == found["metadata"]["uid"]:
            kept[-1] = found


def _frees_names(step: Step) -> bool:
    """Whether others may get names by it that they were waiting for."""
    takes_back = step.what == "patch apply" or step.age > 0
    return takes_back or "delete" in step.what or (step.method != "POST" and "names" in f"{step.body} {step.edits}")


def _settled(server: Server, names: list[str], *, twice: bool) -> list[Json | None]:
    """Definitions when their server is done with them; None for those that are no more.

    With `twice` they are all that the sequence has, and two looks must tell the same.
    """
    ends, before = time.monotonic() + _PATIENCE, None
    while True:
        found = [_definition(server, name) for name in names]
        there = [each for each in found if each is not None]
        done = all(_is_done(each, there if twice else None) for each in there) and (not twice or found == before)
        if done or server.at_once or time.monotonic() > ends:
            return found
        before = found
        time.sleep(_PAUSE)


def _definition(server: Server, name: str) -> Json | None:
    path = f"/apis/apiextensions.k8s.io/v1/{DEFINITIONS}/{name}"
    answer = server.begin(Request("GET", path, b"", "", "application/json"))()
    return answer.body if answer.ok else None


def _is_done(crd: Json, everything: list[Json] | None) -> bool:
    if "deletionTimestamp" in crd["metadata"] and CLEANUP in (crd["metadata"].get("finalizers") or ()):
        return False
    said = {condition["type"]: condition["status"] for condition in crd["status"].get("conditions") or ()}
    if "NamesAccepted" not in said or "Established" not in said:
        return False
    if said["NamesAccepted"] == "False":
        return everything is None or _waits(crd, everything)
    return bool(said["Established"] == "True" and _set(crd["status"]["acceptedNames"]) == _set(crd["spec"]["names"]))


def _waits(crd: Json, everything: list[Json]) -> bool:
    """Whether another definition has a name that this one wants."""
    mine = crd["status"]["acceptedNames"]
    wanted = {word for key, word in _words(crd["spec"]["names"]) if (key, word) not in _words(mine)}
    return any(wanted & {word for _, word in _words(each["status"]["acceptedNames"])} for each in everything if each is not crd)


def _words(names: Json) -> set[tuple[str, str]]:
    return {(key, word) for key, value in _set(names).items() for word in (value if isinstance(value, list) else [value])}


def _set(names: Json) -> Json:
    return {key: value for key, value in names.items() if value}


def collapsed(events: list[Json]) -> list[Json]:
    """The events of definitions without what the server does by itself; of one that is gone, only that."""
    last: dict[str, Json] = {}
    kept: list[Json] = []
    for event in events:
        name = _about(event["object"]).get("metadata", {}).get("name", "")
        if event["type"] == "DELETED":
            last.pop(name, None)
            kept.append({"type": "DELETED", "object": {"metadata": {"name": name}}})
            continue
        shown = _by_others(event["object"])
        plain = _unversioned(shown)
        if event["type"] != "MODIFIED" or last.get(name) != plain:
            kept.append({**event, "object": shown})
        last[name] = plain
    return kept


def _about(obj: Json) -> Json:
    rows = obj.get("rows")
    return (rows[0].get("object") or {}) if rows else obj


def _by_others(obj: Json) -> Json:
    """An object, or what is shown of it, without what the server writes into it."""
    shown = copy.deepcopy(obj)
    without_the_servers(_about(shown).get("metadata", {}))
    for name in ("conditions", "acceptedNames"):
        (shown.get("status") or {}).pop(name, None)
    for row in shown.get("rows") or ():
        row["cells"] = []
    return shown


def _unversioned(obj: Json) -> Json:
    plain = copy.deepcopy(obj)
    plain.pop("columnDefinitions", None)  # only the first table of a watch has them
    for each in (plain, _about(plain)):
        each.get("metadata", {}).pop("resourceVersion", None)
    return plain


def without_the_servers(meta: Json) -> None:
    """Takes the server's own entries out of managed fields."""
    if isinstance(meta.get("managedFields"), list):
        meta["managedFields"] = [entry for entry in meta["managedFields"] if entry.get("manager") != SERVER]
