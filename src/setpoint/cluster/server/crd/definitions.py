"""CustomResourceDefinitions: what is filled in, what is refused, and the kinds that one describes.

Follows https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/. All functions are pure; the
registry calls them on its write path: `default_crd`, `prepare_crd`, `validate_crd`, then `crd_names.accept_names`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from setpoint.cluster.server.crd.go_print import refused, versions_text
from setpoint.cluster.server.crd.schema import schema_errors, schema_warnings, walk
from setpoint.cluster.server.crd.selectable import selectable_errors, selectable_paths
from setpoint.cluster.server.names import dns_1035_label, dns_subdomain
from setpoint.cluster.server.schema import FieldError, Json, causes
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.objects import version_priority

Crd = Mapping[str, Json]

APPROVED = "api-approved.kubernetes.io"
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """A column that `kubectl get` shows. `priority` above 0 means: only in wide output."""

    name: str
    type: str
    json_path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where a kind's scale subresource finds its numbers, as simple JSONPaths (`.spec.replicas`)."""

    spec_replicas: str
    status_replicas: str
    label_selector: str | None = None


@dataclass(frozen=True, slots=True)
class CustomKind:
    """One version of a custom kind, as registry, discovery and tables see it."""

    group: str
    version: str
    kind: str
    list_kind: str
    plural: str
    singular: str
    namespaced: bool
    served: bool
    storage: bool
    schema: Mapping[str, Json]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    has_status: bool = False
    scale: ScalePaths | None = None
    columns: tuple[PrinterColumn, ...] = ()
    selectable: tuple[str, ...] = ()
    """Paths by which lists can be selected (`spec.color`), beyond metadata.name and metadata.namespace."""
    deprecation_warning: str | None = None
    """The warning that every answer of a deprecated version carries."""

    @property
    def api_version(self) -> str:
        """`group/version`."""
        return f"{self.group}/{self.version}"


def custom_kinds(crd: Crd) -> tuple[CustomKind, ...]:
    """The kinds that a valid, defaulted CRD describes: one for each version, in the order of `spec.versions`.

    Names are the accepted ones where there are any: what was asked for but clashes is not served.
    """
    spec = crd["spec"]
    names: Mapping[str, Json] = spec["names"]
    accepted = (crd.get("status") or {}).get("acceptedNames") or {}
    if accepted.get("kind"):
        names = {**accepted, "plural": names["plural"]}
    kinds = []
    for version in spec["versions"]:
        subresources = version.get("subresources") or {}
        kinds.append(
            CustomKind(
                group=spec["group"],
                version=version["name"],
                kind=names["kind"],
                list_kind=names["listKind"],
                plural=names["plural"],
                singular=names["singular"],
                namespaced=spec["scope"] == "Namespaced",
                served=version["served"],
                storage=version["storage"],
                schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
                short_names=tuple(names.get("shortNames") or ()),
                categories=tuple(names.get("categories") or ()),
                has_status=subresources.get("status") is not None,
                scale=_scale(subresources.get("scale")),
                columns=tuple(_column(column) for column in version.get("additionalPrinterColumns") or ()),
                selectable=selectable_paths(version.get("selectableFields") or ()),
                deprecation_warning=_deprecation(spec, version),
            )
        )
    return tuple(kinds)


def _scale(scale: Mapping[str, str] | None) -> ScalePaths | None:
    if scale is None:
        return None
    return ScalePaths(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or None)


def _column(column: Mapping[str, Json]) -> PrinterColumn:
    return PrinterColumn(
        name=column["name"],
        type=column["type"],
        json_path=column["jsonPath"],
        format=column.get("format") or "",
        description=column.get("description") or "",
        priority=column.get("priority") or 0,
    )


def _deprecation(spec: Mapping[str, Json], version: Mapping[str, Json]) -> str | None:
    if not version.get("deprecated"):
        return None
    written: str | None = version.get("deprecationWarning")
    if written is not None:
        return written
    group, kind = spec["group"], spec["names"]["kind"]
    own = version_priority(version["name"])
    better = [other["name"] for other in spec["versions"] if other["served"] and not other.get("deprecated")]
    better = sorted((name for name in better if version_priority(name) > own), key=version_priority)
    return f"{group}/{version['name']} {kind} is deprecated" + (f"; use {group}/{better[-1]} {kind}" if better else "")


def default_crd(crd: Crd) -> dict[str, Json]:
    """`crd` with what the server fills in: names.singular, names.listKind, conversion, and the first of status.storedVersions."""
    spec = dict(crd.get("spec") or {})
    names = dict(spec.get("names") or {})
    kind = names.get("kind") or ""
    if not names.get("singular") and kind:
        names["singular"] = kind.lower()
    if not names.get("listKind") and kind:
        names["listKind"] = f"{kind}List"
    spec["names"] = names
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    elif "webhook" in spec["conversion"] and not any((spec["conversion"]["webhook"] or {}).values()):
        spec["conversion"] = {name: value for name, value in spec["conversion"].items() if name != "webhook"}
    status = dict(crd.get("status") or {})
    if not status.get("storedVersions") and (stored := _storage_version(spec)) is not None:
        status["storedVersions"] = [stored]
    return {**crd, "spec": spec, "status": status}


def prepare_crd(crd: Crd, old: Crd | None = None) -> dict[str, Json]:
    """`crd` with the status that a write may not set: empty on create, the old one on update, with the storage version added.

    Generation is the registry's business.
    """
    status = dict((old or {}).get("status") or {"conditions": [], "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": []})
    stored = list(status.get("storedVersions") or [])
    version = _storage_version(crd.get("spec") or {})
    if version is not None and version not in stored:
        stored.append(version)
    return {**crd, "status": {**status, "storedVersions": stored}}


def _storage_version(spec: Mapping[str, Json]) -> str | None:
    return next((version.get("name") for version in spec.get("versions") or () if version.get("storage")), None)


def crd_warnings(crd: Crd) -> list[str]:
    """The warnings that creating or changing this CRD answers with."""
    versions = crd["spec"].get("versions") or ()
    schemas = [schema for version in versions if (schema := (version.get("schema") or {}).get("openAPIV3Schema"))]
    if all(schema == schemas[0] for schema in schemas):
        schemas = schemas[:1]
    return [warning for schema in schemas for warning in schema_warnings(schema)]


def validate_crd(crd: Crd, old: Crd | None = None) -> list[FieldError]:
    """Everything that is wrong with a defaulted and prepared CRD; `old` is the stored one on update.

    Of the metadata only what is peculiar to CRDs is checked here.
    """
    spec = crd.get("spec") or {}
    errors: list[FieldError] = []
    if old is None:
        errors += _name_errors(crd, spec)
    errors += _spec_errors(spec)
    if old is not None:
        errors += _immutable(spec, old)
    errors += _stored_versions(crd, spec)
    errors += _approval(crd, spec, old)
    if spec.get("preserveUnknownFields") and _has_defaults(spec):
        errors.append(causes.invalid("spec.preserveUnknownFields", True, "must be false in order to use defaults in the schema"))
    if spec.get("preserveUnknownFields") and not (old or {}).get("spec", {}).get("preserveUnknownFields"):
        detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        errors.append(causes.invalid("spec.preserveUnknownFields", True, detail))
    return errors


def _has_defaults(spec: Mapping[str, Json]) -> bool:
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") or {} for version in spec.get("versions") or ()]
    return any(node.get("default") is not None for schema in schemas for node in walk(schema))


def _name_errors(crd: Crd, spec: Mapping[str, Json]) -> Iterator[FieldError]:
    wanted = f"{spec['names'].get('plural') or ''}.{spec.get('group') or ''}"
    for key in ("generateName", "name"):
        name = crd["metadata"].get(key) or ""
        if key == "name" and name:
            yield from (causes.invalid("metadata.name", name, problem) for problem in dns_subdomain(name))
        if name and name != wanted:
            yield causes.invalid(f"metadata.{key}", name, 'must be spec.names.plural+"."+spec.group')


def _label(field: str, value: str) -> Iterator[FieldError]:
    if problems := dns_1035_label(value):
        yield causes.invalid(field, value, ",".join(problems))


def _choice(field: str, value: str | None, accepted: tuple[str, ...]) -> Iterator[FieldError]:
    if not value:
        yield causes.required(field)
    elif value not in accepted:
        yield causes.not_supported(field, value, accepted)


def _spec_errors(spec: Mapping[str, Json]) -> Iterator[FieldError]:
    group = spec.get("group") or ""
    if not group:
        yield causes.required("spec.group")
    elif problems := dns_subdomain(group):
        yield causes.invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield causes.invalid("spec.group", group, "should be a domain with at least one dot")
    yield from _choice("spec.scope", spec.get("scope"), ("Cluster", "Namespaced"))

    versions: list[Mapping[str, Json]] = spec.get("versions") or []
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            yield causes.required(f"spec.versions[{index}].schema.openAPIV3Schema")
    # The server keeps what all versions agree on at the top of the spec, and reports errors there.
    shared = {key: bool(versions) and all(v.get(key) == versions[0].get(key) for v in versions) for key in _PER_VERSION}
    for index, version in enumerate(versions):
        where = f"spec.versions[{index}]"
        yield from _label(f"{where}.name", version.get("name") or "")
        yield from _deprecation_errors(version, where)
        for key in _PER_VERSION:
            if not shared[key]:
                yield from _part(key, version, f"{where}.{key}", shared, has_status=_has_status(version))
    names = [version.get("name") for version in versions]
    if len(set(names)) < len(names):
        yield refused("spec.versions", versions_text(spec.get("versions"), shared), "must contain unique version names")
    if sum(version.get("storage") is True for version in versions) != 1:
        yield refused(
            "spec.versions", versions_text(spec.get("versions"), shared), "must have exactly one version marked as storage version"
        )
    if versions and versions[0].get("name"):
        yield from _label("spec.version", versions[0].get("name") or "")
    yield from _names(spec["names"])
    for key, place in _PER_VERSION.items():
        if shared[key]:
            yield from _part(key, versions[0], f"spec.{place}", shared, has_status=any(map(_has_status, versions)))
    yield from _conversion(spec["conversion"])


_PER_VERSION = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""The parts of a version, and where the server keeps them if all versions agree."""


def _has_status(version: Mapping[str, Json]) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _part(key: str, version: Mapping[str, Json], where: str, shared: Mapping[str, bool], *, has_status: bool) -> Iterator[FieldError]:
    part = version.get(key)
    if part is None:
        return
    match key:
        case "schema":
            schema = part.get("openAPIV3Schema")
            if schema is not None:
                yield from schema_errors(schema, f"{where}.openAPIV3Schema", has_status=has_status)
        case "subresources":
            if part.get("scale") is not None:
                yield from _scale_errors(part["scale"], f"{where}.scale")
        case "additionalPrinterColumns":
            for index, column in enumerate(part):
                yield from _column_errors(column, f"{where}[{index}]")
        case _:
            if part and shared["schema"] != shared[key]:
                # They are looked for in the schema that is kept in the same place, and there is none.
                without = "version.schema.openAPIV3Schema` is not" if shared["schema"] else "validations.schema is"
                yield causes.invalid(where, "", f"may only be set when {'`' if shared['schema'] else ''}{without} included")
            elif part:
                yield from selectable_errors(part, (version.get("schema") or {}).get("openAPIV3Schema"), where)


def _deprecation_errors(version: Mapping[str, Json], where: str) -> Iterator[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        yield causes.invalid(f"{where}.deprecationWarning", warning, "can only be set for deprecated versions")
        return
    shown = as_json(warning)  # a pointer, and quoted otherwise than a text
    if len(warning.encode()) > 256:
        yield refused(f"{where}.deprecationWarning", shown, "must be <= 256 characters long")
    if not warning:
        yield causes.invalid(f"{where}.deprecationWarning", warning, "must not be an empty string")
    for index, character in enumerate(warning):
        if not character.isprintable():
            detail = f"must only contain printable UTF-8 characters; non-printable character found at index {index}"
            yield refused(f"{where}.deprecationWarning", shown, detail)
            break


def _names(names: Mapping[str, Json]) -> Iterator[FieldError]:
    at = "spec.names"
    for key in ("plural", "singular", "kind", "listKind"):
        if not names.get(key):
            yield causes.required(f"{at}.{key}")
    for key in ("plural", "singular"):
        if names.get(key):
            yield from _label(f"{at}.{key}", names[key])
    for key in ("kind", "listKind"):
        if names.get(key) and (problems := dns_1035_label(names[key].lower())):
            detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
            yield causes.invalid(f"{at}.{key}", names[key], detail)
    for index, name in enumerate(names.get("shortNames") or ()):
        yield from _label(f"{at}.shortNames[{index}]", name)
    if names.get("kind") and names["kind"] == names.get("listKind"):
        yield causes.invalid(f"{at}.listKind", names["listKind"], "kind and listKind may not be the same")
    for index, name in enumerate(names.get("categories") or ()):
        yield from _label(f"{at}.categories[{index}]", name)


_SCALE_ROOTS = {
    "specReplicasPath": (".spec.",),
    "statusReplicasPath": (".status.",),
    "labelSelectorPath": (".spec.", ".status."),
}


def _scale_errors(scale: Mapping[str, Json], where: str) -> Iterator[FieldError]:
    for key, roots in _SCALE_ROOTS.items():
        path = scale.get(key)
        if not path:
            if key != "labelSelectorPath":
                yield causes.required(f"{where}.{key}")
        elif not path.startswith("."):
            yield causes.invalid(f"{where}.{key}", path, "must be a simple json path starting with .")
        elif not path.startswith(roots):
            allowed = " or ".join(root.rstrip(".") for root in roots)
            yield causes.invalid(f"{where}.{key}", path, f"should be a json path under {'either ' if len(roots) > 1 else ''}{allowed}")


def _column_errors(column: Mapping[str, Json], where: str) -> Iterator[FieldError]:
    if not column.get("name"):
        yield causes.required(f"{where}.name")
    kind, form, path = column.get("type"), column.get("format"), column.get("jsonPath")
    if not kind:
        yield causes.required(f"{where}.type", f"must be one of {','.join(_COLUMN_TYPES)}")
    elif kind not in _COLUMN_TYPES:
        yield causes.invalid(f"{where}.type", kind, f"must be one of {','.join(_COLUMN_TYPES)}")
    if form and form not in _COLUMN_FORMATS:
        yield causes.invalid(f"{where}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not path:
        yield causes.required(f"{where}.JSONPath")
    elif not path.startswith("."):
        yield causes.invalid(f"{where}.JSONPath", path, "must be a simple json path starting with .")


def _conversion(conversion: Mapping[str, Json]) -> Iterator[FieldError]:
    at = "spec.conversion"
    strategy = conversion.get("strategy")
    yield from _choice(f"{at}.strategy", strategy, ("None", "Webhook"))
    webhook = conversion.get("webhook")
    if strategy == "Webhook":
        if not (webhook or {}).get("clientConfig"):
            yield causes.required(f"{at}.webhookClientConfig", "required when strategy is set to Webhook")
        if not (webhook or {}).get("conversionReviewVersions"):
            yield causes.required(f"{at}.conversionReviewVersions")
        if (webhook or {}).get("clientConfig"):
            yield causes.forbidden(f"{at}.strategy", "conversion webhooks are not supported by the embedded server yet")
    else:
        for key, name in (("clientConfig", "webhookClientConfig"), ("conversionReviewVersions", "conversionReviewVersions")):
            if (webhook or {}).get(key) is not None:
                yield causes.forbidden(f"{at}.{name}", "should not be set when strategy is not set to Webhook")


def _immutable(spec: Mapping[str, Json], old: Crd) -> Iterator[FieldError]:
    before = old["spec"]
    conditions = (old.get("status") or {}).get("conditions") or ()
    established = any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)
    # The first two decide how objects are stored, the others are part of the CRD's own name.
    checks = [
        ("spec.scope", spec.get("scope"), before["scope"], established),
        ("spec.names.kind", spec["names"].get("kind"), before["names"]["kind"], established),
        ("spec.group", spec.get("group"), before["group"], True),
        ("spec.names.plural", spec["names"].get("plural"), before["names"]["plural"], True),
    ]
    for field, new, was, fixed in checks:
        if fixed and new != was:
            yield causes.invalid(field, new or "", "field is immutable")


def _stored_versions(crd: Crd, spec: Mapping[str, Json]) -> Iterator[FieldError]:
    stored = (crd.get("status") or {}).get("storedVersions") or []
    if not stored:
        yield causes.invalid("status.storedVersions", None, "must have at least one stored version")
        return
    remaining = {version: index for index, version in enumerate(stored)}
    for version in spec.get("versions") or ():
        if version.get("storage") and version.get("name") not in remaining:
            yield causes.invalid("status.storedVersions", stored, f"must have the storage version {version.get('name')}")
        remaining.pop(version.get("name"), None)
    for version, index in remaining.items():
        detail = (
            f"missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions until a storage "
            f"migration ensures no data remains persisted in {version} and removes {version} from status.storedVersions"
        )
        yield causes.invalid(f"status.storedVersions[{index}]", version, detail)


def _approval(crd: Crd, spec: Mapping[str, Json], old: Crd | None) -> Iterator[FieldError]:
    group = spec.get("group") or ""
    if not (group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))):
        return
    problem = approval_problem(crd)
    if problem is None or (old is not None and approval_problem(old) == problem):
        return
    written = (crd["metadata"].get("annotations") or {}).get(APPROVED) or ""
    where = f"metadata.annotations[{APPROVED}]"
    yield causes.invalid(where, written, problem) if written else causes.required(where, problem)


def approval_problem(crd: Crd) -> str | None:
    """Why a CRD in one of Kubernetes' own groups is not approved, or None where its annotation says it is, or says why not."""
    written: str = (crd["metadata"].get("annotations") or {}).get(APPROVED) or ""
    see = "see https://github.com/kubernetes/enhancements/pull/1111"
    if not written:
        return f'protected groups must have approval annotation "{APPROVED}", {see}'
    parts = urlsplit(written)
    if written.startswith("unapproved") or (parts.scheme and parts.netloc):
        return None
    return f'protected groups must have approval annotation "{APPROVED}" with either a URL or a reason starting with "unapproved", {see}'
