"""Small recordings, made by hand."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import (
    AnyMoment,
    Called,
    Changed,
    Died,
    Faulted,
    Key,
    Read,
    Recording,
    Rested,
    RunBegan,
    RunEnded,
    Started,
    Stepped,
    Wrote,
)
from setpoint.levelcheck.workload import Workload

CASE = Case(target="somewhere:controller", workload=Workload(()))
_KINDS = {
    "pods": ("v1", "Pod"),
    "secrets": ("v1", "Secret"),
    "configmaps": ("v1", "ConfigMap"),
    "services": ("v1", "Service"),
    "persistentvolumeclaims": ("v1", "PersistentVolumeClaim"),
    "deployments.apps": ("apps/v1", "Deployment"),
    "replicasets.apps": ("apps/v1", "ReplicaSet"),
    "statefulsets.apps": ("apps/v1", "StatefulSet"),
    "shops.example.com": ("example.com/v1", "Shop"),
}


def uid(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def key(text: str) -> Key:
    """`pods default/web`."""
    resource, _, name = text.partition(" ")
    namespace, _, name = name.rpartition("/")
    return Key(resource, namespace, name)


def obj(text: str, number: int = 0, *, owner: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """An object of which `text` says resource, namespace and name, as the server would give it. `number` makes its UID."""
    at = key(text)
    api_version, kind = _KINDS[at.resource]
    metadata = {"name": at.name, "namespace": at.namespace, "uid": uid(number or abs(hash(text)) % 10**6), **fields.pop("metadata", {})}
    if owner is not None:
        metadata["ownerReferences"] = [owns(owner)]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def owns(owner: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def key_of(obj: dict[str, Any]) -> Key:
    resource = next(resource for resource, (_, kind) in _KINDS.items() if kind == obj["kind"])
    return Key(resource, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


class Tape:
    """What happens, one thing after the other; a second passes with each."""

    def __init__(self, *decisions: Decision) -> None:
        self.moments: list[AnyMoment] = []
        self.now = 0.0
        self.revision = 10
        self.process = "p1"
        self.run = ""
        self.objects: dict[Key, dict[str, Any]] = {}
        self.outside: dict[str, Any] = {}
        self._plan = Plan(decisions)
        self._sites: dict[tuple[str, str], int] = {}
        self.start()

    def _add(self, moment: AnyMoment) -> None:
        self.now += 1
        self.moments.append(moment)

    def start(self, process: str = "p1") -> None:
        self.process = process
        self._add(Started(at=self.now, process=process))

    def step(self, text: str = "the user does something") -> None:
        self._add(Stepped(at=self.now, process="user", index=0, step=text))

    def fault(self, fault: str = "F1") -> None:
        self._add(Faulted(at=self.now, process="server", fault=fault, text="something goes wrong"))

    def die(self, error: str = "") -> None:
        self._add(Died(at=self.now, process=self.process, error=error))

    def begin(self, who: str = "shop", what: str = "default/web") -> None:
        self.run = f"{who} {what}"
        self._add(RunBegan(at=self.now, process=self.process, site=Site("run", who, what), run=self.run))

    def end(self, result: str = "success", error: str = "") -> None:
        self._add(RunEnded(at=self.now, process=self.process, run=self.run, result=result, error=error))

    def read(self, text: str, *, stale: int = 0, live: bool = False) -> None:
        at = key(text) if " " in text else Key(text, "default", "")
        seen = self.revision - stale
        self._add(
            Read(
                at=self.now,
                process=self.process,
                run=self.run,
                resource=at.resource,
                namespace=at.namespace,
                name=at.name,
                seen=seen,
                true=self.revision,
                live=live,
                line="shop.py:10",
            )
        )

    def put(self, obj: dict[str, Any], *, by: str = "", line: str = "shop.py:20", subresource: str = "") -> None:
        """Somebody writes an object: the controller in its run, or `by` somebody else."""
        at = key_of(obj)
        before = self.objects.get(at)
        self._change(at, before, obj, deleted=False, by=by)
        self.objects[at] = obj
        if not by:
            self._wrote("create" if before is None else "apply", at, line, subresource, effective=True)

    def drop(self, text: str, *, by: str = "", line: str = "shop.py:30") -> None:
        """Somebody deletes an object."""
        at = key(text)
        obj = self.objects.pop(at)
        self._change(at, obj, obj, deleted=True, by=by)
        if not by:
            self._wrote("delete", at, line, "", effective=True)

    def refused(self, text: str, verb: str, reason: str = "Conflict", code: int = 409, line: str = "shop.py:30") -> None:
        """The controller writes, and the server says no."""
        self._wrote(verb, key(text), line, "", effective=False, code=code, reason=reason, revision=0)

    def idle(self, text: str, line: str = "shop.py:20") -> None:
        """The controller writes what is there already."""
        self._wrote("apply", key(text), line, "", effective=False, revision=0)

    def call(self, call: str, *, changed: bool = True) -> None:
        self._add(
            Called(at=self.now, process=self.process, site=self._site("effect", call), call=call, arguments="", result="", changed=changed)
        )

    def rest(self) -> None:
        self._add(Rested(at=self.now, process="server", nth=1, revision=self.revision))

    def _change(self, at: Key, before: dict[str, Any] | None, after: dict[str, Any], *, deleted: bool, by: str) -> None:
        self.revision += 1
        self._add(
            Changed(
                at=self.now,
                process=by or self.process,
                revision=self.revision,
                key=at,
                before=msgspec.json.encode(before) if before is not None else None,
                after=msgspec.json.encode(after),
                deleted=deleted,
            )
        )

    def _wrote(
        self,
        verb: str,
        at: Key,
        line: str,
        subresource: str,
        *,
        effective: bool,
        code: int = 200,
        reason: str = "",
        revision: int | None = None,
    ) -> None:
        self._add(
            Wrote(
                at=self.now,
                process=self.process,
                site=self._site("write", f"{verb} {at}"),
                verb=verb,
                key=at,
                subresource=subresource,
                code=code,
                revision=self.revision if revision is None else revision,
                effective=effective,
                line=line,
                reason=reason,
            )
        )

    def _site(self, where: Any, what: str) -> Site:
        nth = self._sites[self.run, what] = self._sites.get((self.run, what), 0) + 1
        return Site(where, self.run, what, nth)

    def recording(self, end: Any = "rest", why: str = "", **further: Any) -> Recording:
        return Recording(
            plan=self._plan,
            moments=list(self.moments),
            objects=dict(self.objects),
            outside=self.outside,
            end=end,
            why=why,
            ended=self.now,
            **further,
        )


def ended(*objects: dict[str, Any], outside: dict[str, Any] | None = None, end: Any = "rest", why: str = "") -> Recording:
    """A run of which nothing is known but how it ended."""
    return Recording(
        plan=Plan(), moments=[], objects={key_of(obj): obj for obj in objects}, outside=outside or {}, end=end, why=why, ended=100.0
    )
