"""What the specification of a Job must obey, on its own or in the template of a CronJob.

https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, not_supported, required, too_long, too_many
from setpoint.cluster.server.schema.gotext import as_json

from .counts import all_not_negative, not_negative
from .go_print import refused
from .index_lists import count_indexes
from .templates import template_of, validate_template

Json = Mapping[str, Any]

_COUNTS = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex")
_PER_INDEX = ("backoffLimitPerIndex", "maxFailedIndexes")
_MANY, _MANY_PARALLEL, _MOST = 100_000, 10_000, 100_000
_RULES = 20
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_INDEX_TEXT = 64 * 1024


def is_indexed(spec: Json) -> bool:
    """Whether each of the job's pods has a number."""
    return spec.get("completionMode") == "Indexed"


def validate_job_spec(spec: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with a job's ``spec`` at the path ``at``. Its selector is not looked at."""
    yield from all_not_negative(spec, (*_COUNTS, "maxFailedIndexes"), at)
    yield from _managed_by(spec.get("managedBy"), f"{at}.managedBy")
    mode = spec.get("completionMode")
    if mode not in (None, "NonIndexed", "Indexed"):
        yield not_supported(f"{at}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        yield from _indexed(spec, at)
    elif mode in (None, "NonIndexed"):
        for name in _PER_INDEX:
            if name in spec:
                yield invalid(f"{at}.{name}", spec[name], "requires indexed completion mode")
    if "podFailurePolicy" in spec:
        yield from _failure_policy(spec, f"{at}.podFailurePolicy")
    if "successPolicy" in spec:
        if is_indexed(spec):
            yield from _success_policy(spec, f"{at}.successPolicy")
        else:
            yield refused(f"{at}.successPolicy", shown_success_policy(spec["successPolicy"]), "requires indexed completion mode")
    replacement, allowed = (
        spec.get("podReplacementPolicy"),
        ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed"),
    )
    if replacement is not None and replacement not in allowed:
        yield not_supported(f"{at}.podReplacementPolicy", replacement, allowed)
    template = template_of(spec)
    yield from validate_template(template, f"{at}.template")
    yield from _restart_policy(spec, template, f"{at}.template.spec.restartPolicy")
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield required(f"{at}.backoffLimitPerIndex", "when maxFailedIndexes is specified")


def _managed_by(name: str | None, at: str) -> Iterator[FieldError]:
    if name is None:
        return
    if not name:
        yield required(at)
    else:
        host, _, path = name.partition("/")
        if not host or not path:
            yield invalid(at, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
        else:
            yield from (invalid(at, host, problem) for problem in names.dns_subdomain(host))
    if len(name.encode()) > 63:
        yield too_long(at, 63)


def _indexed(spec: Json, at: str) -> Iterator[FieldError]:
    completions, parallelism, failed = spec.get("completions"), spec.get("parallelism"), spec.get("maxFailedIndexes")
    if completions is None:
        yield required(f"{at}.completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MOST:
        detail = f"must be less than or equal to {_MOST} when completion mode is Indexed"
        yield invalid(f"{at}.parallelism", parallelism, detail)
    if failed is not None and completions is not None and failed > completions:
        yield invalid(f"{at}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MOST:
        yield invalid(f"{at}.maxFailedIndexes", failed, f"must be less than or equal to {_MOST}")
    if completions is not None and completions > _MANY and "backoffLimitPerIndex" in spec:
        if failed is None:
            yield required(f"{at}.maxFailedIndexes", f"must be specified when completions is above {_MANY}")
        detail = f"must be less than or equal to {_MANY_PARALLEL} when completions are above {_MANY} and used with backoff limit per index"
        for name in ("parallelism", "maxFailedIndexes"):
            if spec.get(name, 0) > _MANY_PARALLEL:
                yield invalid(f"{at}.{name}", spec[name], detail)


def _restart_policy(spec: Json, template: Json, at: str) -> Iterator[FieldError]:
    policy = (template.get("spec") or {}).get("restartPolicy", "Always")
    if policy == "Always":
        yield required(at, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(at, policy, ("OnFailure", "Never"))
    elif "podFailurePolicy" in spec and policy != "Never":
        yield invalid(at, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _failure_policy(spec: Json, at: str) -> Iterator[FieldError]:
    rules = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > _RULES:
        yield too_many(f"{at}.rules", len(rules), _RULES)
    pod = template_of(spec).get("spec") or {}
    containers = [container.get("name", "") for name in ("containers", "initContainers") for container in pod.get(name) or []]
    for index, rule in enumerate(rules):
        yield from _failure_rule(rule, spec, containers, f"{at}.rules[{index}]")


def _failure_rule(rule: Json, spec: Json, containers: list[str], at: str) -> Iterator[FieldError]:
    yield from _one_of(rule.get("action", ""), _ACTIONS, f"{at}.action")
    if rule.get("action") == "FailIndex" and "backoffLimitPerIndex" not in spec:
        yield invalid(f"{at}.action", "FailIndex", "requires the backoffLimitPerIndex to be set")
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if codes is not None:
        yield from _exit_codes(codes, containers, f"{at}.onExitCodes")
    if len(conditions) > _RULES:
        yield too_many(f"{at}.onPodConditions", len(conditions), _RULES)
    for index, pattern in enumerate(conditions):
        here, kind = f"{at}.onPodConditions[{index}]", pattern.get("type", "")
        yield from (invalid(f"{here}.type", kind, problem) for problem in names.label_key(kind))
        yield from _one_of(pattern.get("status", ""), _STATUSES, f"{here}.status")
    if codes is not None and conditions:
        yield _without_value(at, "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        yield _without_value(at, "specifying one of OnExitCodes and OnPodConditions is required")


def _without_value(at: str, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", f"Invalid value: {detail}", at)


def _one_of(value: str, values: tuple[str, ...], at: str) -> Iterator[FieldError]:
    if not value:
        yield required(at, "valid values: [" + " ".join(f'"{each}"' for each in values) + "]")
    elif value not in values:
        yield not_supported(at, value, values)


def _exit_codes(codes: Json, containers: list[str], at: str) -> Iterator[FieldError]:
    yield from _one_of(codes.get("operator", ""), _OPERATORS, f"{at}.operator")
    container, values = codes.get("containerName"), codes.get("values") or []
    if container is not None and container not in containers:
        yield invalid(f"{at}.containerName", container, "must be one of the container or initContainer names in the pod template")
    if not values:
        yield invalid(f"{at}.values", codes.get("values"), "at least one value is required")
    elif len(values) > 255:
        yield too_many(f"{at}.values", len(values), 255)
    for index, value in enumerate(values):
        if codes.get("operator") == "In" and value == 0:
            yield invalid(f"{at}.values[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            yield duplicate(f"{at}.values[{index}]", value)
    if values != sorted(values):
        yield invalid(f"{at}.values", values, "must be ordered")


def _success_policy(spec: Json, at: str) -> Iterator[FieldError]:
    rules = spec["successPolicy"].get("rules") or []
    if not rules:
        yield required(f"{at}.rules", "at least one rules must be specified when the successPolicy is specified")
    if len(rules) > _RULES:
        yield too_many(f"{at}.rules", len(rules), _RULES)
    for index, rule in enumerate(rules):
        yield from _success_rule(rule, spec.get("completions", 0), f"{at}.rules[{index}]")


def _success_rule(rule: Json, completions: int, at: str) -> Iterator[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        yield required(at, "at least one of succeededCount or succeededIndexes must be specified")
    found = 0
    if indexes is not None:
        if len(indexes) > _INDEX_TEXT:
            yield too_long(f"{at}.succeededIndexes", _INDEX_TEXT)
        found, problem = count_indexes(indexes, completions)
        if problem:
            yield invalid(f"{at}.succeededIndexes", indexes, f"error parsing succeededIndexes: {problem}")
    if count is not None:
        yield from not_negative(rule, "succeededCount", at)
        limit = "must be less than or equal to"
        if count > completions:
            yield invalid(f"{at}.succeededCount", count, f"{limit} {completions} (the number of specified completions)")
        if indexes is not None and count > found:
            detail = f"{limit} {found} (the number of indexes in the specified succeededIndexes field)"
            yield invalid(f"{at}.succeededCount", count, detail)


def shown_success_policy(policy: Json | None) -> str:
    """A success policy as Go prints it."""
    if policy is None:
        return "null"
    rules = [
        f'{{"SucceededIndexes":{as_json(rule.get("succeededIndexes"))},"SucceededCount":{as_json(rule.get("succeededCount"))}}}'
        for rule in policy.get("rules") or []
    ]
    return f'{{"Rules":[{",".join(rules)}]}}'


def shown_failure_policy(policy: Json | None) -> str:
    """A failure policy as Go prints it."""
    return "null" if policy is None else f'{{"Rules":[{",".join(map(_shown_failure_rule, policy.get("rules") or []))}]}}'


def _shown_failure_rule(rule: Json) -> str:
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    exit_codes = "null"
    if codes is not None:
        container, operator, values = (as_json(codes.get(name)) for name in ("containerName", "operator", "values"))
        exit_codes = f'{{"ContainerName":{container},"Operator":{operator},"Values":{values}}}'
    patterns = "null"
    if conditions:
        each = (f'{{"Type":{as_json(one.get("type", ""))},"Status":{as_json(one.get("status", ""))}}}' for one in conditions)
        patterns = f"[{','.join(each)}]"
    return f'{{"Action":{as_json(rule.get("action", ""))},"OnExitCodes":{exit_codes},"OnPodConditions":{patterns}}}'
