"""Steps about the status of an object, and about its scale."""

from __future__ import annotations

from .materials import CONTENT_TYPES
from .pen import Pen
from .shapes import edits_of, laid, operations_of
from .steps import REMOVE, Edit, Json, Step


class Subresources(Pen):
    """Writes them."""

    def _status(self, what: str, sort: str, version: str) -> Step:
        reference = self._there()
        path, kind = self.path(reference, version, "status"), self.kind
        if sort == "get":
            return Step(what, kind.sort, "GET", path, accept=self._accept(single=True), about=reference)
        status = self._pick(kind.status)
        if self._sometimes(10):
            status = laid(status, self._change())
        if sort == "update" and self._memory.last(reference) is not None:
            edits = [*edits_of(status), Edit(("apiVersion",), kind.api_version(version)), Edit(("kind",), kind.kind)]
            if self._sometimes(20):
                edits.append(Edit(("metadata", "resourceVersion"), REMOVE))
            return Step(
                what,
                kind.sort,
                "PUT",
                path,
                tuple(self._options()),
                None,
                "application/json",
                about=reference,
                base=reference,
                age=int(self._sometimes(4)),
                edits=tuple(edits),
            )
        name = reference.partition("/")[2]
        whole = self._whole(f"<name {name}>" if name.startswith("gen") else name, version, status, {})
        if sort == "update":
            return Step(what, kind.sort, "PUT", path, tuple(self._options()), whole, "application/json", about=reference)
        if sort == "apply":
            query = self._options(apply=True) + ([("force", "true")] if self._sometimes(70) else [])
            return Step(what, kind.sort, "PATCH", path, tuple(query), whole, CONTENT_TYPES["apply"], about=reference)
        body = operations_of(self._memory.last(reference) or {}, status) if sort == "json" else status
        return Step(what, kind.sort, "PATCH", path, tuple(self._options()), body, CONTENT_TYPES[sort], about=reference)

    def _scale(self, what: str, sort: str, version: str) -> Step:
        reference = self._there()
        path, kind = self.path(reference, version, "scale"), self.kind
        if sort == "get":
            return Step(what, kind.sort, "GET", path, about=reference)
        count = self._pick((1, 2, 5, 0, -1)) if self._sometimes(90) else self._pick(("x", 1.5, None))
        name = reference.partition("/")[2]
        meta: Json = {"name": f"<name {name}>" if name.startswith("gen") else name, **({"namespace": "NS"} if kind.namespaced else {})}
        if self._sometimes(15) and sort != "apply":
            meta["resourceVersion"] = f"<rv {reference}{self._pick(('', ' -1'))}>"
        whole = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": meta, "spec": {"replicas": count}}
        if sort == "update":
            return Step(what, kind.sort, "PUT", path, tuple(self._options()), whole, "application/json", about=reference)
        if sort == "apply":
            query = self._options(apply=True) + ([("force", "true")] if self._sometimes(70) else [])
            return Step(what, kind.sort, "PATCH", path, tuple(query), whole, CONTENT_TYPES["apply"], about=reference)
        body: Json = [{"op": "replace", "path": "/spec/replicas", "value": count}] if sort == "json" else {"spec": {"replicas": count}}
        return Step(what, kind.sort, "PATCH", path, tuple(self._options()), body, CONTENT_TYPES[sort], about=reference)
