"""Generates what Setpoint knows of the built-in kinds, from a running kube-apiserver of the newest supported version.

    python tools/generate_k8s.py --kubeconfig FILE

reads the server's aggregated discovery and its OpenAPI v3 documents (with a bearer token; the kubeconfig may be JSON or YAML), and
writes three things into the source tree, byte for byte the same for the same server:

- ``src/setpoint/k8s/<group>/<version>/``: a class for each kind that the server serves by default, and for each struct in one of them;
- ``src/setpoint/cluster/server/builtin/published/``: what the embedded server knows of the built-in kinds (`k8s_published`);
- ``tests/k8s/data/schemas.json.gz``: the schemas of all kinds, for tests that build objects of them.

What OpenAPI does not tell of the Go structs comes from ``tools/go-structs``, so Go has to be on the machine. Run it by hand when a new
Kubernetes version comes out, read the difference, and commit the result. ``tools/envtest`` builds and starts such a server. What no
document says (defaults, validation, what an update may change) is written by hand, in ``builtin/``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import ssl
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterable
from pathlib import Path

import msgspec
from k8s_layout import modules
from k8s_published import write_published
from k8s_source import BY_HAND, SPECIAL, Json, Module, Place, class_name, package_source, references

SOURCE = Path(__file__).resolve().parent.parent / "src" / "setpoint"
TESTS = Path(__file__).resolve().parent.parent / "tests"

BUILT_IN = ("io.k8s.api.", "io.k8s.apiextensions-apiserver.", "io.k8s.kube-aggregator.")
"""How the schemas of built-in kinds begin; those of custom ones, which the server may have as well, do not."""


class Server:
    """GETs JSON from an API server."""

    def __init__(self, kubeconfig: Path) -> None:
        config = msgspec.yaml.decode(kubeconfig.read_bytes())
        context = next(item["context"] for item in config["contexts"] if item["name"] == config["current-context"])
        cluster = next(item["cluster"] for item in config["clusters"] if item["name"] == context["cluster"])
        user = next(item["user"] for item in config["users"] if item["name"] == context["user"])
        self._url = cluster["server"]
        self._token = user["token"]
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])

    def get(self, path: str, accept: str = "application/json") -> Json:
        request = urllib.request.Request(self._url + path, headers={"Accept": accept, "Authorization": f"Bearer {self._token}"})
        with urllib.request.urlopen(request, context=self._tls) as response:
            return dict(json.load(response))

    def discovery(self) -> dict[str, list[Json]]:
        """The resources of every group version, by its path."""
        aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        found = {}
        for root in ("api", "apis"):
            for group in self.get(f"/{root}", aggregated)["items"]:
                for version in group["versions"]:
                    path = "/".join(filter(None, (root, group["metadata"].get("name"), version["version"])))
                    found[path] = version["resources"]
        return found

    def columns(self, discovery: dict[str, list[Json]]) -> list[Json]:
        """The columns of the tables of every resource that can be listed, those of custom resources apart; the preferred version's."""
        table = "application/json;as=Table;v=v1;g=meta.k8s.io"
        found: dict[tuple[str, str], Json] = {}
        for path, resources in discovery.items():
            group, _ = split_path(path)
            for resource in resources:
                plural = resource["resource"]
                if "list" in resource["verbs"] and (group, plural) not in found:
                    shown = self.get(f"/{path}/{plural}?limit=1", table)
                    found[group, plural] = {"group": group, "plural": plural, "columns": shown["columnDefinitions"]}
        return list(found.values())


def closure(roots: Iterable[str], schemas: dict[str, Json]) -> dict[str, Json]:
    """The schemas of these names and of all that they refer to, sorted by name."""
    found: dict[str, Json] = {}
    open_names = list(roots)
    while open_names:
        name = open_names.pop()
        if name not in found:
            found[name] = schemas[name]
            open_names.extend(references(schemas[name]))
    return dict(sorted(found.items()))


def split_path(path: str) -> tuple[str, str]:
    """Group and version of the path of a group version."""
    *root, version = path.split("/")
    return (root[1] if len(root) > 1 else "", version)


# ---- the classes


def kinds_of(discovery: dict[str, list[Json]], schemas: dict[str, Json]) -> dict[str, Json]:
    """What discovery says of each kind, by the name of its schema: of all that have a URL, and of those that only a subresource takes."""
    found: dict[str, Json] = {}
    subresources: dict[str, Json] = {}
    for path, resources in discovery.items():
        group, version = split_path(path)
        for resource in resources:
            name = schema_of(schemas, group, version, resource["responseKind"]["kind"])
            assert name is not None, f"{path} has no schema for {resource['resource']}"
            if not name.startswith(BUILT_IN):
                continue
            found[name] = {**resource, "group": group, "version": version}
            for sub in resource.get("subresources", ()):
                gvk = sub["responseKind"]
                name = schema_of(schemas, gvk["group"], gvk["version"], gvk["kind"])
                if name is not None:  # the others are only the parameters of a URL
                    taken = subresources.setdefault(name, {**gvk, "scope": "Namespaced", "taken_by": sub["subresource"], "of": []})
                    taken["of"].append(resource["resource"])
    return {**subresources, **found}


def schema_of(schemas: dict[str, Json], group: str, version: str, kind: str) -> str | None:
    """The name of the schema of a kind."""
    wanted = {"group": group, "version": version, "kind": kind}
    return next((name for name, schema in schemas.items() if wanted in schema.get("x-kubernetes-group-version-kind", ())), None)


def package_of(schema: str) -> str:
    """The package of a schema's class in `setpoint.k8s`: ``apps.v1`` for ``io.k8s.api.apps.v1.Deployment``."""
    return ".".join(schema.split(".")[-3:-1])


def write_modules(folder: Path, kinds: dict[str, Json], schemas: dict[str, Json]) -> None:
    classes = {name: schema for name, schema in schemas.items() if name not in SPECIAL and name not in BY_HAND}
    graph = {name: [other for other in dict.fromkeys(references(schema)) if other in classes] for name, schema in classes.items()}
    places = {name: Place(package_of(name), module) for name, module in modules(graph, kinds, package_of, class_name).items()}
    members: dict[Place, list[str]] = {}
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        members.setdefault(place, []).append(name)
    exports: dict[str, dict[str, str]] = {"meta.v1": dict.fromkeys(BY_HAND.values(), "setpoint.objects")}
    for place, names in members.items():
        module = Module(place, names, classes, kinds, places)
        target = folder / place.package.replace(".", "/") / f"{place.module}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(str(module))
        own = {class_name(name): place.path for name in names}
        known = exports.setdefault(place.package, {})
        known |= {name: path for name, path in module.foreign.items() if name not in known} | own
    groups = {Place(package_of(name), "").package: resource["group"] for name, resource in kinds.items()}
    for package, homes in exports.items():
        short, _, version = package.partition(".")
        group = groups.get(package, short)
        called = f"The API group {group}" if group else "The core API group"
        target = folder / package.replace(".", "/")
        (target / "__init__.py").write_text(package_source(f"{called}, version {version}", homes))
        (target.parent / "__init__.py").write_text(f'"""{called}, by version."""\n')


def replace_modules(folder: Path) -> None:
    """Puts what was written in the place of what is there, set as the rest of the source is."""
    for old in (SOURCE / "k8s").iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    for new in folder.iterdir():
        if new.is_dir():
            shutil.copytree(new, SOURCE / "k8s" / new.name)
    for command in (*(("check", "--quiet", "--fix", "--select", rule) for rule in ("F401", "I")), ("format", "--quiet")):
        subprocess.run(["ruff", *command, str(SOURCE / "k8s")], check=True)


# ---- the schemas that the tests build objects of


def write_test_schemas(kinds: dict[str, Json], schemas: dict[str, Json]) -> None:
    """All schemas, without what is said about them, and how each kind is announced."""
    content = {
        "kinds": {
            name: {key: value for key, value in resource.items() if key not in ("responseKind", "verbs", "subresources", "kind")}
            | {"kind": class_name(name), "subresources": [sub["subresource"] for sub in resource.get("subresources", ())]}
            for name, resource in sorted(kinds.items())
        },
        "schemas": {name: undescribed(schema) for name, schema in schemas.items()},
    }
    target = TESTS / "k8s" / "data" / "schemas.json.gz"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(gzip.compress(json.dumps(content, separators=(",", ":"), sort_keys=True).encode(), 9, mtime=0))


def undescribed(schema: Json) -> Json:
    kept = {key: value for key, value in schema.items() if key not in ("description", "x-kubernetes-group-version-kind")}
    for key, value in kept.items():
        if key == "properties":
            kept[key] = {name: undescribed(inner) for name, inner in value.items()}
        elif key in ("items", "additionalProperties"):
            kept[key] = undescribed(value)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a running API server, with a bearer token")
    server = Server(parser.parse_args().kubeconfig)
    discovery = server.discovery()
    documents = {path: server.get(f"/openapi/v3/{path}")["components"]["schemas"] for path in discovery}
    every = {name: schema for path in sorted(documents, reverse=True) for name, schema in documents[path].items()}
    kinds = kinds_of(discovery, every)
    schemas = closure(kinds, every)
    with tempfile.TemporaryDirectory() as folder:
        write_modules(Path(folder), kinds, schemas)
        replace_modules(Path(folder))
    write_test_schemas(kinds, schemas)
    write_published(discovery, server.columns(discovery), every, BUILT_IN)


if __name__ == "__main__":
    main()
