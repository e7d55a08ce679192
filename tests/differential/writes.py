"""Steps that write whole objects, or change them: create, update, and each sort of patch."""

from __future__ import annotations

from .materials import BAD_METADATA, CONTENT_TYPES, GENERATED, METADATA, RARE_EDITS, RARE_OPERATIONS
from .pen import Pen
from .shapes import edits_of, laid, nested, operations_of, pointer, value_at
from .steps import NOBODY, REMOVE, Edit, Json, Step


class Writes(Pen):
    """Writes them."""

    def _create(self, version: str) -> Step:
        base = self._pick(self.kind.bases)
        metadata = laid(self._metadata(50), self._metadata(25))
        query = self._options()
        if self._sometimes(12) and "generateName" not in self.kind.without:
            self._generated += 1
            symbol = f"gen{self._generated}"
            body = self._whole("", version, base, metadata)
            del body["metadata"]["name"]
            body["metadata"]["generateName"] = f"{'' if self.kind.namespaced else 'NS-'}{GENERATED}{self._generated}-"
            return Step(
                "create",
                self.kind.sort,
                "POST",
                self.kind.collection(version),
                tuple(query),
                body,
                "application/json",
                about=self._reference(symbol),
                generates=symbol,
            )
        reference = self._absent()
        body, twice = self._spoilt(self._whole(reference.partition("/")[2], version, base, metadata))
        if self._sometimes(2):
            body = laid(
                body,
                self._pick(({"kind": "Other"}, {"apiVersion": "v9"}, {"metadata": {"resourceVersion": "5"}}, {"kind": ""})),
            )
        accept, path = self._accept(single=True, rare=2), self.kind.collection(version)
        return Step("create", self.kind.sort, "POST", path, tuple(query), body, "application/json", accept, reference, twice=twice)

    def _update(self, version: str) -> Step:
        creates = self._sometimes(5)
        reference = self._absent() if creates else self._there()
        path, query = self.path(reference, version), tuple(self._options())
        if creates or self._memory.last(reference) is None:
            body = self._whole(reference.partition("/")[2], version, self._pick(self.kind.bases), {})
            return Step("update", self.kind.sort, "PUT", path, query, body, "application/json", about=reference)
        change, twice = self._spoilt(self._change())
        edits = [*edits_of(change), Edit(("apiVersion",), self.kind.api_version(version)), Edit(("kind",), self.kind.kind)]
        if self.kind.removals and self._sometimes(15):
            edits.append(Edit(self._pick(self.kind.removals), REMOVE))
        if self._sometimes(8):
            edits.append(
                Edit(("metadata", self._pick(("finalizers", "labels", "annotations", "ownerReferences", "managedFields"))), REMOVE)
            )
        age = 1 if self._sometimes(6) else 0
        if self._sometimes(20):
            edits.append(Edit(("metadata", "resourceVersion"), REMOVE))
        elif self._sometimes(5):
            member, value = self._pick(RARE_EDITS)
            edits.append(Edit(("metadata", member), value))
        return Step(
            "update",
            self.kind.sort,
            "PUT",
            path,
            query,
            content_type="application/json",
            accept=self._accept(single=True, rare=2),
            about=reference,
            base=reference,
            age=age,
            edits=tuple(edits),
            twice=twice,
        )

    def _patch(self, what: str, sort: str, version: str) -> Step:
        if sort == "apply":
            return self._apply(version)
        reference = self._there()
        path, query = self.path(reference, version), tuple(self._options())
        body, twice = self._patch_body(sort, reference)
        return Step(
            what, self.kind.sort, "PATCH", path, query, body, CONTENT_TYPES[sort], self._accept(single=True, rare=2), reference, twice=twice
        )

    def _patch_body(self, sort: str, reference: str) -> tuple[Json, str]:
        live = self._memory.last(reference) or {}
        if self._sometimes(1):
            return self._pick(("not json", "[1]", "{", "null", '{"spec": null}', "[]", '"x"')), ""
        if sort == "json":
            return self._json_patch(live, reference), ""
        if sort == "strategic" and self.kind.strategic and self._sometimes(30):
            return self._pick(self.kind.strategic), ""
        change, twice = self._spoilt(self._change())
        if self.kind.removals and self._sometimes(12):
            change = laid(change, nested(self._pick(self.kind.removals), None))
        if self._sometimes(6):
            change = laid(change, {"metadata": {self._pick(("finalizers", "labels", "annotations", "ownerReferences")): None}})
        if self._sometimes(6):
            change = laid(change, {"metadata": {"resourceVersion": f"<rv {reference}{self._pick(('', ' -1'))}>"}})
        if self._sometimes(3):
            change = laid(change, {"metadata": {"uid": self._pick((f"<uid {reference}>", NOBODY))}})
        return change, twice

    def _json_patch(self, live: Json, reference: str) -> Json:
        operations: list[Json] = []
        if self._sometimes(15):
            operations.append(
                {"op": "test", "path": "/metadata/resourceVersion", "value": f"<rv {reference}{' -1' if self._sometimes(20) else ''}>"}
            )
        change = self._change()
        if self._sometimes(6):
            change = self._pick(self.kind.bad) if self.kind.bad and self._sometimes(60) else {"metadata": self._pick(BAD_METADATA)}
        operations += operations_of(live, change)
        present = [
            path for path in (*self.kind.removals, ("metadata", "labels"), ("metadata", "finalizers")) if value_at(live, path) is not None
        ]
        if present and self._sometimes(15):
            operations.append({"op": "remove", "path": pointer(self._pick(present))})
        if self._sometimes(8):
            operations.append(self._pick(RARE_OPERATIONS))
        return operations

    def _apply(self, version: str) -> Step:
        absent = self._sometimes(10)
        reference = self._absent() if absent else self._there()
        name = reference.partition("/")[2]
        body = self._whole(f"<name {name}>" if name.startswith("gen") else name, version, self._change(), {})
        if absent or reference not in self._alive:
            body = laid(body, self._pick(self.kind.bases))
        if self._sometimes(20):
            body = laid(body, {"metadata": self._pick(METADATA)})
        query = self._options(apply=True)
        if self._sometimes(70):
            query.append(("force", "true"))
        body, twice = self._spoilt(body)
        if self._sometimes(2):
            body = laid(
                body,
                self._pick(
                    (
                        {"metadata": {"managedFields": []}},
                        {"metadata": {"resourceVersion": "3"}},
                        {"metadata": {"resourceVersion": f"<rv {reference}>"}},
                        {"kind": "Other"},
                    )
                ),
            )
        return Step(
            "patch apply",
            self.kind.sort,
            "PATCH",
            self.path(reference, version),
            tuple(query),
            body,
            CONTENT_TYPES["apply"],
            about=reference,
            twice=twice,
        )
