"""Definitions made up at random: several versions, columns, subresources, names, all with faults here and there."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from .schemas import SchemaMaker

Crd = dict[str, Any]


class DefinitionMaker(SchemaMaker):
    """Makes definitions of a group of their own."""

    def __init__(self, random: Random, faults: float, group: str, stem: str) -> None:
        super().__init__(random, faults)
        self.group = group
        self.stem = stem

    def definition(self) -> Crd:
        """A definition."""
        random = self.random
        plural, kind = f"{self.stem}s", self.stem.capitalize()
        names: dict[str, Any] = {"plural": plural, "kind": kind}
        if self.maybe(0.3):
            names["singular"] = self.stem if not self.wrong(2) else random.choice(["A", "", "a.b"])
        if self.maybe(0.2):
            names["listKind"] = f"{kind}Items" if not self.wrong(2) else random.choice([kind, "a b", ""])
        if self.maybe(0.3):
            names["shortNames"] = [self.stem[:3]] if not self.wrong(2) else random.choice([["A"], [""], [], ["a", "a"]])
        if self.maybe(0.3):
            names["categories"] = ["all"] if not self.wrong(2) else random.choice([["A"], [""], ["all", "all"]])
        if self.wrong():
            names[random.choice(["plural", "kind"])] = random.choice(["", "A", "a-", "x" * 64, "a.b"])
        count = random.choice([1, 1, 1, 2, 2, 3])
        versions = [self.version(name) for name in random.sample(["v1", "v2", "v1beta1", "v1alpha1", "foo"], count)]
        if count > 1 and self.maybe(0.5):
            for key in random.sample(["schema", "subresources", "additionalPrinterColumns", "selectableFields"], 2):
                for version in versions[1:]:
                    if key in versions[0]:
                        version[key] = copy.deepcopy(versions[0][key])
                    else:
                        version.pop(key, None)
        versions[random.randrange(count)]["storage"] = True
        if self.wrong():
            random.choice(versions)["storage"] = self.maybe(0.5)
        if self.wrong():
            random.choice(versions)["name"] = random.choice(["", "V1", "1", "v1", "a.b"])
        spec: dict[str, Any] = {
            "group": self.group,
            "names": names,
            "scope": random.choice(["Namespaced", "Cluster"]),
            "versions": versions,
        }
        if self.maybe(0.2):
            spec["conversion"] = (
                {"strategy": "None"}
                if not self.wrong(5)
                else random.choice([{}, {"strategy": "x"}, {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}])
            )
        if self.wrong():
            spec["scope"] = random.choice(["", "x", None])
        if self.wrong():
            spec["preserveUnknownFields"] = self.maybe(0.7)
        if self.wrong(0.5):
            spec["versions"] = random.choice([[], None])
        if self.wrong(0.5):
            spec["group"] = random.choice(["", "a", "A.b", "x.k8s.io", "a..b"])
        crd: Crd = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{self.group}" if not self.wrong() else random.choice(["a", "A.b", f"x.{self.group}"])},
            "spec": spec,
        }
        if self.group.endswith((".k8s.io", ".kubernetes.io")):
            value = random.choice(["https://a.b/c", "unapproved, x", "x", "", None, "http:/a", "unapproved", "ftp://a.b", "https://"])
            if value is not None:
                crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": value}
        return crd

    def version(self, name: str) -> dict[str, Any]:
        """One version."""
        random = self.random
        version: dict[str, Any] = {
            "name": name,
            "served": not self.maybe(0.15),
            "storage": False,
            "schema": {"openAPIV3Schema": self.root()},
        }
        if self.wrong():
            version["schema"] = random.choice([{}, None, {"openAPIV3Schema": {}}, {"openAPIV3Schema": None}])
        if self.maybe(0.5):
            version["subresources"] = {"status": {}} if self.maybe(0.7) else {}
            if self.maybe(0.5):
                scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
                if self.maybe(0.5):
                    scale["labelSelectorPath"] = ".status.selector"
                if self.wrong(3):
                    scale[random.choice(list(scale))] = random.choice(
                        [
                            "",
                            "spec",
                            ".spec",
                            ".status.x",
                            ".spec.a[0]",
                            ".metadata.x",
                            ".spec.",
                            ".spec..a",
                            ".spec.a b",
                            ".specx.a",
                            ".status.a-b",
                            "$.spec.a",
                        ]
                    )
                version["subresources"]["scale"] = scale
            if self.wrong():
                version["subresources"] = random.choice([None, {"status": None}])
        if self.maybe(0.4):
            version["additionalPrinterColumns"] = [self.column() for _ in range(random.choice([0, 1, 2, 3]))]
        if self.maybe(0.2):
            version["deprecated"] = True
            if self.maybe(0.5):
                version["deprecationWarning"] = (
                    "old" if not self.wrong(4) else random.choice(["", "x" * 257, "a\nb", "é", "a\u200bb", "é" * 200])
                )
        if self.wrong():
            version["deprecationWarning"] = "w"
        if self.maybe(0.3):
            paths = self.scalars(version.get("schema"))
            if paths or self.wrong(5):
                version["selectableFields"] = [{"jsonPath": path} for path in random.sample(paths, min(len(paths), random.choice([1, 2])))]
                if self.wrong(5):
                    version["selectableFields"].append(
                        {
                            "jsonPath": random.choice(
                                [
                                    "",
                                    ".metadata.name",
                                    ".spec",
                                    "spec.a",
                                    ".spec.a[0]",
                                    ".gone",
                                    ".spec.",
                                    "..spec",
                                    ".a.b",
                                    ".spec['a']",
                                    "[a]",
                                    ".",
                                    ".kind",
                                ]
                            )
                        }
                    )
        return version

    def scalars(self, schema: Any) -> list[str]:
        """Paths that a field selector may use."""
        found: list[str] = []

        def visit(node: Any, path: str) -> None:
            if not isinstance(node, dict):
                return
            if node.get("type") in ("string", "integer", "boolean") and path:
                found.append(path)
            for name, child in (node.get("properties") or {}).items():
                if "." not in name and "-" not in name and (path or name != "metadata"):
                    visit(child, f"{path}.{name}")

        visit((schema or {}).get("openAPIV3Schema"), "")
        return found

    def column(self) -> dict[str, Any]:
        """A printer column."""
        random = self.random
        column: dict[str, Any] = {
            "name": random.choice(["A", "B", "Age"]),
            "type": random.choice(["string", "integer", "number", "boolean", "date"]),
            "jsonPath": random.choice(COLUMN_PATHS),
        }
        if self.maybe(0.2):
            column["format"] = random.choice(["int32", "date-time", "byte", "password", "float", "", *(["x"] if self.wrong(5) else [])])
        if self.maybe(0.2):
            column["priority"] = random.choice([0, 1, -1])
        if self.maybe(0.2):
            column["description"] = "d"
        if self.wrong(2):
            key = random.choice(["name", "type", "jsonPath"])
            column[key] = random.choice(["", "x", None, ".spec[", ".spec.a[?(@.x", "{.spec}", ".spec['a", ".spec.a[0:", ".[", "."])
        return column


COLUMN_PATHS = (
    ".spec.a",
    ".spec.b",
    ".spec",
    ".status",
    ".metadata.name",
    ".metadata.creationTimestamp",
    ".a",
    ".spec.a[0]",
    ".spec.a[*].name",
    ".items[-1]",
    ".spec.*",
    "..name",
    ".metadata.labels.a",
    ".metadata.labels['a.b/c']",
    ".spec.x-y",
    r".spec.d\.e",
    ".spec.items[?(@.k=='a')].v",
    ".a.b.c",
    ".spec.c[0:2]",
    ".name",
    ".spec.name",
    ".spec.items[0,1]",
)
