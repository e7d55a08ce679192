"""Steps that delete: one object, or all that are selected."""

from __future__ import annotations

from .materials import Query
from .pen import Pen
from .steps import NOBODY, Json, Step


class Deletes(Pen):
    """Writes them."""

    def _deleting(self) -> tuple[Query, Json]:
        query: Query = []
        options: Json = {}
        if self._sometimes(6):
            query.append(("dryRun", "All"))
        if self._sometimes(20):
            query.append(("propagationPolicy", self._pick(("Background", "Orphan", "Foreground", "Sideways"))))
        elif self._sometimes(20):
            options["propagationPolicy"] = self._pick(("Background", "Orphan", "Foreground"))
        if self._sometimes(15):
            query.append(("gracePeriodSeconds", self._pick(("0", "5", "1"))))
        elif self._sometimes(10):
            options["gracePeriodSeconds"] = self._pick((0, 3))
        return query, options

    def _delete(self, version: str) -> Step:
        reference = self._there()
        query, options = self._deleting()
        if self._sometimes(20):
            uid, rv = {"uid": f"<uid {reference}>"}, {"resourceVersion": f"<rv {reference}>"}
            options["preconditions"] = self._pick((uid, rv, {**uid, **rv}, {"uid": NOBODY}, {"resourceVersion": f"<rv {reference} -1>"}))
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None
        return Step(
            "delete",
            self.kind.sort,
            "DELETE",
            self.path(reference, version),
            tuple(query),
            body,
            "application/json" if body else "",
            about=reference,
        )

    def _delete_collection(self, version: str) -> Step:
        query, options = self._deleting()
        query += self._selection()
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None
        path = self.kind.collection(version)
        return Step(
            "deletecollection",
            self.kind.sort,
            "DELETE",
            path,
            tuple(query),
            body,
            "application/json" if body else "",
            about=f"{self.kind.plural}/",
        )
