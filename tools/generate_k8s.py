"""Generates what Setpoint knows of the built-in kinds, from a running kube-apiserver of the newest supported version.

    python tools/generate_k8s.py --kubeconfig FILE

reads the server's aggregated discovery and its OpenAPI v3 documents (with a bearer token; the kubeconfig may be JSON or YAML), and
writes two things into the source tree, byte for byte the same for the same server:

- ``src/setpoint/k8s/<group>/<version>.py``: a class for each kind of `TYPED` and for each struct that one of them holds;
- ``src/setpoint/cluster/server/builtin/<group>_<version>.json.gz``: discovery and schemas of what the embedded server serves (`SERVED`).

Run it by hand when a new Kubernetes version comes out, read the difference, and commit the result. ``tools/envtest`` builds and starts
such a server. What OpenAPI does not say (defaults, validation, what an update may change) is written by hand, in ``builtin/``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import ssl
import textwrap
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from setpoint.objects import api_name, python_name

SOURCE = Path(__file__).resolve().parent.parent / "src" / "setpoint"
WIDTH = 140

TYPED = {
    "api/v1": ("Namespace", "ConfigMap", "Secret", "Service", "ServiceAccount", "Pod", "Event"),
    "apis/apps/v1": ("Deployment", "ReplicaSet"),
    "apis/coordination.k8s.io/v1": ("Lease",),
    "apis/apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
}
"""The kinds that have classes, by the path of their group version."""

SERVED: dict[str, dict[str, tuple[str, ...]]] = {
    "api/v1": {
        "configmaps": (),
        "events": (),
        "namespaces": ("finalize", "status"),
        "pods": ("status",),
        "secrets": (),
        "serviceaccounts": (),
        "services": ("status",),
    },
    "apis/apps/v1": {"deployments": ("scale", "status"), "replicasets": ("scale", "status")},
    "apis/coordination.k8s.io/v1": {"leases": ()},
    "apis/apiextensions.k8s.io/v1": {"customresourcedefinitions": ("status",)},
}
"""The resources of the embedded server, with their subresources."""

SCALE = {"spec": ".spec.replicas", "status": ".status.replicas"}
"""Where the scale of a workload is. Its selector as text has no path in built-in kinds: the server makes it of ``.spec.selector``."""

MODULES = {
    "io.k8s.api.core.v1": "core.v1",
    "io.k8s.api.apps.v1": "apps.v1",
    "io.k8s.api.coordination.v1": "coordination.v1",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1": "apiextensions.v1",
    "io.k8s.apimachinery.pkg.apis.meta.v1": "meta.v1",
}
"""The module of `setpoint.k8s` for the prefix of a schema's name."""

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
BY_HAND = {META + name: name for name in ("Condition", "ListMeta", "ManagedFieldsEntry", "ObjectMeta", "OwnerReference")}
"""Schemas that have a class in `setpoint.objects`."""

SPECIAL = {
    META + "Time": "datetime",
    META + "MicroTime": "MicroTime",
    META + "FieldsV1": "dict[str, Any]",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "dict[str, Any]",
    # A schema holds schemas: it stays untyped.
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": "dict[str, Any]",
}
"""Schemas that are no class."""

PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]"}

Json = dict[str, Any]


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


def references(schema: Any) -> Iterator[str]:
    """The names of the schemas that a schema refers to."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref" and isinstance(value, str):  # it is also the name of a property
                yield value.rpartition("/")[2]
            else:
                yield from references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from references(value)


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


# ---- the data of the embedded server


def served(path: str, resources: list[Json]) -> list[Json]:
    """Discovery of the served resources of a group version, and nothing else."""
    chosen = []
    for resource in resources:
        wanted = SERVED[path].get(resource["resource"])
        if wanted is None:
            continue
        subresources = [sub for sub in resource.get("subresources", []) if sub["subresource"] in wanted]
        chosen.append({**resource, "subresources": subresources} if subresources else drop(resource, "subresources"))
    return chosen


def drop(mapping: Json, key: str) -> Json:
    return {name: value for name, value in mapping.items() if name != key}


def write_data(path: str, resources: list[Json], schemas: dict[str, Json]) -> None:
    group, version = split_path(path)
    kinds = {resource["responseKind"]["kind"] for resource in resources}
    kinds |= {f"{kind}List" for kind in kinds} | {"Scale"}
    roots = [
        name
        for name, schema in schemas.items()
        if "apimachinery" in name or any(gvk["kind"] in kinds for gvk in schema.get("x-kubernetes-group-version-kind", ()))
    ]
    content = {"group": group, "version": version, "resources": resources, "schemas": closure(roots, schemas)}
    data = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    target = SOURCE / "cluster/server/builtin" / f"{group.partition('.')[0] or 'core'}_{version}.json.gz"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(data, 9, mtime=0))


# ---- the classes


class Hint(NamedTuple):
    """A field's type, its default as written in the class (None: required), and the schemas whose classes it names."""

    type: str
    default: str | None
    classes: tuple[str, ...] = ()


class Module:
    """The source of one module of `setpoint.k8s`."""

    def __init__(self, name: str, schemas: dict[str, Json], kinds: dict[str, Json]) -> None:
        self.name = name
        self._schemas = schemas
        self._kinds = kinds
        self._imports: dict[str, set[str]] = {"setpoint.objects": set()}
        self._exports: set[str] = set()
        self._classes: dict[str, str] = {}

    def source(self) -> str:
        for schema in sorted(self._schemas):
            if module_of(schema) == self.name and schema not in SPECIAL:
                self._add(schema)
        if self.name == "meta.v1":
            for name in BY_HAND.values():
                self._import("setpoint.objects", name, export=True)
        body = "\n\n\n".join(self._classes.values())
        exports = self._exports | {class_name(schema) for schema in self._classes}
        group = next((resource["group"] for resource in self._kinds.values()), "meta")
        title = f"{group or 'The core group'}, version {self.name.partition('.')[2]}"
        head = [
            f'"""{title}. Generated by tools/generate_k8s.py from a running API server: do not edit.',
            "",
            "Descriptions are those of the Kubernetes API, copyright The Kubernetes Authors, Apache License 2.0.",
            '"""',
            "",
        ]
        standard = [f"from {module} import {name}" for module, names in STANDARD for name in names if used(name, body)]
        if used("Any", body) and used("Annotated", body):
            standard = [line for line in standard if "typing" not in line] + ["from typing import Annotated, Any"]
        for name in ("Annotated", "Any", "datetime"):
            self._imports["setpoint.objects"].discard(name)
        for name in ("Field", "IntOrString", "MicroTime", "Object", "Quantity", "Scale", "Struct", "absent", "field", "kind"):
            if used(name, body):
                self._imports["setpoint.objects"].add(name)
        ours = [import_line(module, names) for module, names in sorted(self._imports.items()) if names]
        everything = ["__all__ = [", *(f'    "{name}",' for name in sorted(exports)), "]"]
        blocks = [*head, *standard, *([""] if standard else []), *ours, "", *everything]
        return "\n".join(blocks) + (f"\n\n\n{body}\n" if body else "\n")

    def _import(self, module: str, name: str, export: bool) -> None:
        self._imports.setdefault(module, set()).add(name)
        if export:
            self._exports.add(name)

    def _add(self, schema: str) -> None:
        """Adds a class, those that it refers to before it: `absent` needs them defined."""
        if schema in self._classes or schema in SPECIAL:
            return
        if schema in BY_HAND:
            self._import("setpoint.objects", BY_HAND[schema], export=True)
            return
        if module_of(schema) != self.name:
            self._import(f"setpoint.k8s.{module_of(schema)}", class_name(schema), export=True)
            return
        content = self._schemas[schema]
        kind = self._kinds.get(schema)
        required = content.get("required", [])
        lines = [decorator(kind)] if kind else []
        lines.append(f"class {class_name(schema)}({'Object' if kind else 'Struct'}):")
        lines += docstring(paragraph(content["description"]))
        fields = [(name, value) for name, value in content.get("properties", {}).items() if not (kind and name in INHERITED)]
        if kind:
            self._import("setpoint.objects", "ObjectMeta", export=True)
        for name, value in sorted(fields, key=lambda item: (item[0] not in required, item[0])):
            hint = hint_of(value, name in required)
            for reference in hint.classes:
                self._add(reference)
            lines += ["", field_line(name, hint), *docstring(in_short(value.get("description", "")))]
        self._classes[schema] = "\n".join(lines)


STANDARD = (("datetime", ("datetime",)), ("typing", ("Annotated", "Any")))
INHERITED = ("apiVersion", "kind", "metadata")
SHADOWED = ("absent", "field", "str", "int", "float", "bool", "bytes", "list", "dict", "datetime")


def used(name: str, source: str) -> bool:
    """Whether code (not a docstring) of a module body has this name."""
    code = re.sub(r'""".*?"""', "", source, flags=re.DOTALL)
    return re.search(rf"(?<![\w.\"]){name}(?![\w\"])", code) is not None


def import_line(module: str, names: set[str]) -> str:
    ordered = sorted(names, key=lambda name: (not name[0].isupper(), name))
    line = f"from {module} import {', '.join(ordered)}"
    return line if len(line) <= WIDTH else "\n".join([f"from {module} import (", *(f"    {name}," for name in ordered), ")"])


def module_of(schema: str) -> str:
    return MODULES.get(schema.rpartition(".")[0], "")


def class_name(schema: str) -> str:
    return schema.rpartition(".")[2]


def reference_of(schema: Json) -> str | None:
    wrapped = schema.get("allOf", [schema])
    reference = wrapped[0].get("$ref")
    return reference.rpartition("/")[2] if reference else None


def hint_of(schema: Json, required: bool) -> Hint:
    """The type of a field, by the table in the docstring of `setpoint.objects.struct`."""
    kind, classes = type_of(schema)
    if required:
        return Hint(kind, None, classes)
    reference = reference_of(schema)
    if reference and reference not in SPECIAL:
        return Hint(kind, f"absent({kind})", classes) if schema.get("default") == {} else Hint(f"{kind} | None", "None", classes)
    if not reference and schema.get("type") == "array":
        return Hint(kind, "[]", classes)
    if not reference and schema.get("type") == "object":
        return Hint(kind, "{}", classes)
    return Hint(f"{kind} | None", "None", classes)


def type_of(schema: Json) -> tuple[str, tuple[str, ...]]:
    reference = reference_of(schema)
    if reference in SPECIAL:
        return SPECIAL[reference], ()
    if reference:
        return class_name(reference), (reference,)
    if schema["type"] == "array":
        items, classes = type_of(schema["items"])
        kind = f"list[{items}]"
        if keys := schema.get("x-kubernetes-list-map-keys"):
            kind = f"Annotated[{kind}, Field(list_map_keys={double_quoted(keys)})]"
        elif schema.get("x-kubernetes-list-type") == "set":
            kind = f'Annotated[{kind}, Field(list_type="set")]'
        return kind, classes
    if schema["type"] == "object" and "additionalProperties" in schema:
        values, classes = type_of(schema["additionalProperties"])
        return f"dict[str, {values}]", classes
    if schema.get("format") == "byte":
        return "bytes", ()
    return PLAIN[schema["type"]], ()


def field_line(name: str, hint: Hint) -> str:
    attribute = python_name(name)
    assert attribute not in SHADOWED, f"a field called {attribute} would hide what later fields need"
    default = hint.default
    if api_name(attribute) != name:
        value = {None: "", "[]": "default_factory=list, ", "{}": "default_factory=dict, "}.get(default, f"default={default}, ")
        default = f'field({value}name="{name}")'
    end = f" = {default}" if default else ""
    line = f"    {attribute}: {hint.type}{end}"
    if len(line) > WIDTH and hint.type.startswith("Annotated["):
        return f"    {attribute}: Annotated[\n        {hint.type.removeprefix('Annotated[').removesuffix(']')}\n    ]{end}"
    return line


def decorator(resource: Json) -> str:
    parts = {
        "group": quoted(resource["group"]),
        "version": quoted(resource["version"]),
        "scope": quoted(resource["scope"]),
        "plural": quoted(resource["resource"]),
    }
    for argument, key in (("short_names", "shortNames"), ("categories", "categories")):
        if resource.get(key):
            parts[argument] = double_quoted(resource[key])
    if any(sub["subresource"] == "scale" for sub in resource.get("subresources", ())):
        parts["scale"] = f"Scale({', '.join(f'{key}={quoted(value)}' for key, value in SCALE.items())})"
    arguments = [f"{key}={value}" for key, value in parts.items()]
    line = f"@kind({', '.join(arguments)})"
    return line if len(line) <= WIDTH else "\n".join(["@kind(", *(f"    {argument}," for argument in arguments), ")"])


def quoted(text: str) -> str:
    return json.dumps(text)


def double_quoted(texts: list[str]) -> str:
    return json.dumps(texts)


def paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def in_short(text: str) -> str:
    """The first sentence, and what the default is."""
    first, *rest = re.split(r"(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<=\.) (?=[A-Z\"'`(])", paragraph(text))
    return " ".join([first, *(sentence for sentence in rest if re.match(r"Default|If (unset|unspecified|not specified)", sentence))])


def docstring(text: str) -> list[str]:
    if not text:
        return []
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if text.endswith('"'):
        text += "."
    lines = textwrap.wrap(f'"""{text}', WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    if len(lines) == 1 and len(lines[0]) <= WIDTH - 7:
        lines[0] += '"""'
    else:
        lines.append('"""')
    return [f"    {line}" for line in lines]


def write_modules(discovery: dict[str, list[Json]], documents: dict[str, dict[str, Json]]) -> None:
    kinds: dict[str, Json] = {}
    schemas: dict[str, Json] = {}
    for path, names in TYPED.items():
        group, version = split_path(path)
        for resource in discovery[path]:
            kind = resource["responseKind"]["kind"]
            if kind in names:
                name = next(name for name, content in documents[path].items() if is_kind(content, group, version, kind))
                kinds[name] = {**resource, "group": group, "version": version}
        every = {**documents[path], **{name: {} for name in SPECIAL}}  # what is no class hides what it refers to
        schemas |= closure([name for name in kinds if name in every], every)
    for module in sorted({module_of(name) for name in schemas} - {""}):
        own = {name: resource for name, resource in kinds.items() if module_of(name) == module}
        target = SOURCE / "k8s" / f"{module.replace('.', '/')}.py"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Module(module, schemas, own).source())
        group = next((resource["group"] for resource in own.values()), "meta")
        (target.parent / "__init__.py").write_text(f'"""{"The API group " + group if group else "The core API group"}, by version."""\n')


def is_kind(schema: Json, group: str, version: str, kind: str) -> bool:
    return {"group": group, "version": version, "kind": kind} in schema.get("x-kubernetes-group-version-kind", ())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a running API server, with a bearer token")
    server = Server(parser.parse_args().kubeconfig)
    discovery = server.discovery()
    documents = {path: server.get(f"/openapi/v3/{path}")["components"]["schemas"] for path in SERVED}
    for path in SERVED:
        write_data(path, served(path, discovery[path]), documents[path])
    write_modules(discovery, documents)


if __name__ == "__main__":
    main()
