"""Steps that read: get, list and watch."""

from __future__ import annotations

from .materials import LIST_VERSIONS, PARTIAL, RARE_WATCHES, SELECTORS, TABLE, WATCH_VERSIONS, Query
from .pen import Pen
from .steps import Step


class Reads(Pen):
    """Writes them."""

    def _get(self, version: str) -> Step:
        reference = self._there()
        query: Query = []
        if self._sometimes(20):
            query.append(("resourceVersion", self._pick(("0", f"<rv {reference}>", f"<rv {reference} -1>", "bad"))))
        return Step(
            "get",
            self.kind.sort,
            "GET",
            self.path(reference, version),
            tuple(query),
            accept=self._accept(single=True, rare=15),
            about=reference,
        )

    def _list(self, version: str) -> Step:
        about = f"{self.kind.plural}/"
        query = self._selection()
        last = self._memory.lists.get(self.kind.plural, {})
        if last.get("continue") and self._sometimes(50):
            query += [("limit", self._pick(("1", "2", "500"))), ("continue", f"<token {self.kind.plural}>")]
        elif "limit" not in self.kind.without and self._sometimes(25):
            query.append(("limit", self._pick(("1", "2", "500"))))
            if self._sometimes(15):
                query.append(("resourceVersion", "0"))
        elif self._sometimes(25):
            query += self._pick(LIST_VERSIONS if last else LIST_VERSIONS[4:])(self.kind.plural)
        if self._sometimes(2):
            query += self._pick(([("continue", "bad")], [("limit", "x")], [("limit", "-1")], [("timeoutSeconds", "x")]))
        accept = self._accept(single=False, rare=25)
        if accept == TABLE and self._sometimes(30):
            query.append(("includeObject", self._pick(("None", "Object", "Metadata", "Bad"))))
        return Step("list", self.kind.sort, "GET", self.kind.collection(version), tuple(query), accept=accept, about=about)

    def _watch(self, version: str) -> Step:
        mark = f"mark{len(self._marks) + 1}"
        labels = self._pick(SELECTORS) if self._sometimes(35) else ""
        query = [("watch", self._pick(("true", "1"))), *self._labelled(labels)]
        name = self._name("a") if self._sometimes(12) else ""
        if name or self._sometimes(8):
            query.append(("fieldSelector", f"metadata.name={name}" if name else "metadata.name!=x"))
        self._marks[mark] = labels, name
        query += self._pick(WATCH_VERSIONS if self.kind.plural in self._memory.lists else WATCH_VERSIONS[3:])(self.kind.plural)
        if self._sometimes(30):
            query.append(("allowWatchBookmarks", "true"))
        if self._sometimes(2):
            query += self._pick(RARE_WATCHES)
        accept = self._pick((TABLE, PARTIAL)) if self._sometimes(15) else "application/json"
        about, path = f"{self.kind.plural}/", self.kind.collection(version)
        return Step("watch", self.kind.sort, "GET", path, tuple(query), accept=accept, about=about, mark=mark)
