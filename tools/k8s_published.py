"""What the embedded server knows of the built-in kinds, as compressed JSON in ``src/setpoint/cluster/server/builtin/published``.

- ``discovery``: for each kind and version what the real server announces of it, with the name of its schema;
- ``structs``: how the Go structs are written in JSON and in protobuf (``tools/go-structs``), with the defaults that OpenAPI tells of;
- ``columns``: for each kind the columns in which the real server shows it;
- ``<package>``: the schemas of one Go package each (``core.v1``; ``apimachinery`` for all of its packages), so that a server that is asked
  for Deployments reads no schema of a Role.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
TARGET = TOOLS.parent / "src" / "setpoint" / "cluster" / "server" / "builtin" / "published"

Json = dict[str, Any]


def write_published(discovery: dict[str, list[Json]], columns: list[Json], schemas: dict[str, Json], built_in: tuple[str, ...]) -> None:
    TARGET.mkdir(exist_ok=True)
    for old in TARGET.glob("*.json.gz"):
        old.unlink()
    known = {name: schema for name, schema in schemas.items() if name.startswith((*built_in, "io.k8s.apimachinery."))}
    write("discovery", announced(discovery, known, built_in))
    write("structs", structs(known))
    write("columns", columns)
    packages: dict[str, Json] = {}
    for name, schema in sorted(known.items()):
        packages.setdefault(package_of(name), {})[name] = schema
    for package, content in packages.items():
        write(package, content)


def write(name: str, content: Any) -> None:
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    (TARGET / f"{name}.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))


def package_of(schema: str) -> str:
    """The file of a schema: the end of its package's path, that of everything in API machinery being the same."""
    return "apimachinery" if schema.startswith("io.k8s.apimachinery.") else ".".join(schema.split(".")[-3:-1])


def announced(discovery: dict[str, list[Json]], schemas: dict[str, Json], built_in: tuple[str, ...]) -> list[Json]:
    """Discovery of all built-in kinds, the core group first, with what the server's answer says twice left out."""
    names = {
        (gvk["group"], gvk["version"], gvk["kind"]): name
        for name, schema in schemas.items()
        for gvk in schema.get("x-kubernetes-group-version-kind", ())
    }
    found = []
    for path, resources in discovery.items():
        *root, version = path.split("/")
        group = root[1] if len(root) > 1 else ""
        for resource in resources:
            kind = resource["responseKind"]["kind"]
            name = names.get((group, version, kind))
            if name is None or not name.startswith(built_in):
                continue
            found.append(
                {
                    "group": group,
                    "version": version,
                    "kind": kind,
                    "plural": resource["resource"],
                    "singular": resource["singularResource"],
                    "namespaced": resource["scope"] == "Namespaced",
                    "short_names": resource.get("shortNames", []),
                    "categories": resource.get("categories", []),
                    "verbs": resource["verbs"],
                    "schema": name,
                    "subresources": [
                        {
                            "name": sub["subresource"],
                            "group": sub["responseKind"]["group"] or group,
                            "version": sub["responseKind"]["version"] or version,
                            "kind": sub["responseKind"]["kind"],
                            "verbs": sub["verbs"],
                        }
                        for sub in resource.get("subresources", ())
                    ],
                }
            )
    return found


def structs(schemas: dict[str, Json]) -> Json:
    """The Go structs, each field with the default that its schema has for it, if that is more than an empty value."""
    printed = subprocess.run(["go", "run", "."], cwd=TOOLS / "go-structs", check=True, capture_output=True).stdout
    content: Json = json.loads(printed)
    for name, fields in content["structs"].items():
        properties = schemas.get(name, {}).get("properties", {})
        for field in fields:
            default = properties.get(field[0], {}).get("default")
            if default or (default is not None and default != {} and field[3].startswith("*")):
                field.append(default)
    return content
