"""Ingresses and their classes. They are kept and judged; nothing listens.

https://kubernetes.io/docs/concepts/services-networking/ingress/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.addresses import address_problems, parse_address
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required, too_long

_CLASS = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_THEIR_END = ("/..", "/.")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_CONTROLLER_LIMIT = 250
_HTTP_PATH_FORM = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_HTTP_PATH = re.compile(_HTTP_PATH_FORM)


# ------------------------------------------------------------------------------------------------------------ Ingress


def _validate(ingress: Object, old: Object | None) -> Iterator[FieldError]:
    spec, before = ingress["spec"], (old or {}).get("spec") or {}
    rules, backend = spec.get("rules") or [], spec.get("defaultBackend")
    if not rules and backend is None:
        yield invalid("spec", None, "either `defaultBackend` or `rules` must be specified")
    if backend is not None:
        yield from _backend_problems(backend, "spec.defaultBackend")
    any_wildcard = _has_bad_wildcard_rule(before)
    for index, rule in enumerate(rules):
        yield from _rule_problems(rule, f"spec.rules[{index}]", any_wildcard=any_wildcard)
    any_secret = any(names.dns_subdomain(tls["secretName"]) for tls in before.get("tls") or () if tls.get("secretName"))
    for index, tls in enumerate(spec.get("tls") or ()):
        yield from _tls_problems(tls, f"spec.tls[{index}]", any_secret=any_secret)
    name = spec.get("ingressClassName")
    if name is not None:
        yield from (invalid("spec.ingressClassName", name, problem) for problem in names.dns_subdomain(name))
    annotation = (ingress["metadata"].get("annotations") or {}).get(_CLASS)
    if old is None and name is not None and annotation is not None and annotation != name:
        yield invalid(f"annotations.{_CLASS}", annotation, "must match `ingressClassName` when both are specified")


def _has_bad_wildcard_rule(spec: Object) -> bool:
    wild = [rule for rule in spec.get("rules") or () if "*" in rule.get("host", "")]
    return any(next(_http_problems(rule, ""), None) is not None for rule in wild)


def _rule_problems(rule: Object, at: str, *, any_wildcard: bool) -> Iterator[FieldError]:
    host = rule.get("host", "")
    if host:
        if parse_address(host) is not None:
            yield invalid(f"{at}.host", host, "must be a DNS name, not an IP address")
        yield from (invalid(f"{at}.host", host, problem) for problem in _host_problems(host))
    if not any_wildcard or "*" not in host:
        yield from _http_problems(rule, at)


def _host_problems(host: str) -> list[str]:
    return names.wildcard_subdomain(host) if "*" in host else names.dns_subdomain(host)


def _http_problems(rule: Object, at: str) -> Iterator[FieldError]:
    http = rule.get("http")
    if http is None:
        return
    paths = http.get("paths") or ()
    if not paths:
        yield required(f"{at}.http.paths")
    for index, path in enumerate(paths):
        yield from _path_problems(path, f"{at}.http.paths[{index}]")


def _path_problems(path: Object, at: str) -> Iterator[FieldError]:
    kind, text = path.get("pathType"), path.get("path", "")
    if kind is None:
        yield required(f"{at}.pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        yield not_supported(f"{at}.pathType", kind, _PATH_TYPES)
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            yield invalid(f"{at}.path", text, "must be an absolute path")
    else:
        if not text.startswith("/"):
            yield invalid(f"{at}.path", text, "must be an absolute path")
        yield from (invalid(f"{at}.path", text, f"must not contain '{part}'") for part in _NOT_IN_PATHS if part in text)
        yield from (invalid(f"{at}.path", text, f"cannot end with '{end}'") for end in _NOT_AT_THEIR_END if text.endswith(end))
    yield from _backend_problems(path.get("backend") or {}, f"{at}.backend")


def _backend_problems(backend: Object, at: str) -> Iterator[FieldError]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        yield invalid(at, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference_problems(resource, f"{at}.resource")
        yield from (required(f"{at}.resource.{name}") for name in ("kind", "name") if not resource.get(name))
    elif service is not None:
        yield from _service_problems(service, at)
    else:
        yield invalid(at, "", "resource or service backend is required")


def _service_problems(service: Object, at: str) -> Iterator[FieldError]:
    name, port = service.get("name", ""), service.get("port") or {}
    if not name:
        yield required(f"{at}.service.name")
    else:
        yield from (invalid(f"{at}.service.name", name, problem) for problem in names.dns_label(name))
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        yield invalid(at, "", "cannot set both port name & port number")
    elif port_name:
        yield from (invalid(f"{at}.service.port.name", port_name, problem) for problem in names.port_name(port_name))
    elif number:
        if not 1 <= number <= 65535:
            yield invalid(f"{at}.service.port.number", number, _PORT_RANGE)
    else:
        yield required(at, "port name or number is required")


def _reference_problems(reference: Object, at: str) -> Iterator[FieldError]:
    """What is wrong with what a reference to an object of some kind states; it is not asked here what it leaves out."""
    group = reference.get("apiGroup")
    if group is not None:
        yield from (invalid(f"{at}.apiGroup", group, problem) for problem in names.dns_subdomain(group))
    for name in ("kind", "name"):
        value = reference.get(name, "")
        yield from (invalid(f"{at}.{name}", value, problem) for problem in names.path_segment(value))


def _tls_problems(tls: Object, at: str, *, any_secret: bool) -> Iterator[FieldError]:
    for index, host in enumerate(tls.get("hosts") or ()):
        yield from (invalid(f"{at}.hosts[{index}]", host, problem) for problem in _host_problems(host))
    secret = tls.get("secretName")
    if secret and not any_secret:
        yield from (invalid(f"{at}.secretName", secret, problem) for problem in names.dns_subdomain(secret))


def _validate_status(ingress: Object, old: Object) -> Iterator[FieldError]:
    before = [entry.get("ip") for entry in _entries(old)]
    for index, entry in enumerate(_entries(ingress)):
        at, address, host = f"status.loadBalancer.ingress[{index}]", entry.get("ip"), entry.get("hostname")
        if address and address not in before:
            yield from address_problems(f"{at}.ip", address)
        if host:
            yield from (invalid(f"{at}.hostname", host, problem) for problem in names.dns_subdomain(host))
            if parse_address(host) is not None:
                yield invalid(f"{at}.hostname", host, "must be a DNS name, not an IP address")


def _entries(ingress: Object) -> list[Json]:
    return ((ingress.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


def _warnings(ingress: Object, old: Object | None) -> Iterator[str]:
    if old is None and _CLASS in (ingress["metadata"].get("annotations") or {}) and "ingressClassName" not in ingress["spec"]:
        yield f"annotation \"{_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"


# ------------------------------------------------------------------------------------------------------- IngressClass


def _class_defaults(class_: Json) -> None:
    parameters = (class_.get("spec") or {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def _validate_class(class_: Object, old: Object | None) -> Iterator[FieldError]:
    spec = class_.get("spec") or {}
    controller, parameters = spec.get("controller", ""), spec.get("parameters")
    if old is not None and controller != old["spec"].get("controller", ""):
        yield invalid("spec.controller", controller, "field is immutable")
    if len(controller.encode()) > _CONTROLLER_LIMIT:
        yield too_long("spec.controller", _CONTROLLER_LIMIT)
    yield from _controller_problems(controller)
    if parameters is not None:
        yield from _parameters_problems(parameters)


def _controller_problems(controller: str) -> Iterator[FieldError]:
    domain, _, path = controller.partition("/")
    if not controller:
        yield required("spec.controller")
    elif not domain or not path:
        yield invalid("spec.controller", controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from (invalid("spec.controller", domain, problem) for problem in names.dns_subdomain(domain))
        if not _HTTP_PATH.fullmatch(path):
            yield invalid("spec.controller", path, f"Invalid path (regex used for validation is '{_HTTP_PATH_FORM}')")


def _parameters_problems(parameters: Object) -> Iterator[FieldError]:
    at, scope, namespace = "spec.parameters", parameters["scope"], parameters.get("namespace")
    yield from _reference_problems(parameters, at)
    if scope not in ("Cluster", "Namespace"):
        yield not_supported(f"{at}.scope", scope, ("Cluster", "Namespace"))
    elif scope == "Cluster":
        if namespace is not None:
            yield forbidden(f"{at}.namespace", "`parameters.scope` is set to 'Cluster'")
    elif namespace is None:
        yield required(f"{at}.namespace", "`parameters.scope` is set to 'Namespace'")
    else:
        yield from (invalid(f"{at}.namespace", namespace, problem) for problem in names.dns_label(namespace))
    # The server judges these by another mechanism, after all the others.
    yield from (required(f"{at}.{name}") for name in ("kind", "name") if not parameters.get(name))


BEHAVIOURS = {
    "Ingress": Behaviour(support="full", validate=_validate, validate_status=_validate_status, warns=_warnings, generation=True),
    "IngressClass": Behaviour(support="full", defaults=_class_defaults, validate=_validate_class, generation=True),
}
