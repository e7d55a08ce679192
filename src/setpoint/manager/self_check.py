"""What this program may not do, said at the start in one message, with the rules to add; and what it is refused later, each once.

A right that is missing shows otherwise as a cache that never becomes complete, or after days, in the one run that needs it. The server is
asked what we may do, which changes nothing: for certain namespaces in one request each, otherwise right by right. A server that cannot tell
is not asked again.

https://kubernetes.io/docs/reference/access-authn-authz/authorization/#checking-api-access
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from setpoint.api import Answer, ApiError
from setpoint.client import Connection, verbs
from setpoint.client.events import RequestDone
from setpoint.k8s.authorization.v1 import SelfSubjectAccessReview, SelfSubjectRulesReview
from setpoint.manager.listening import Faults
from setpoint.manager.permissions import Need, in_yaml, rules_for
from setpoint.objects import KindInfo, kind_of
from setpoint.world import Event

log = logging.getLogger("setpoint.manager")

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that the server may take to say what we may do; then it is not waited for."""
AT_A_TIME = 10
_SAID_AT_MOST = 1000


class PermissionsMissing(RuntimeError):
    """What a program needs it may not do, and it was told not to start without. The message names all of it, and the rules to add."""


class CannotTell(Exception):
    """The server does not say what we may do."""


async def missing(connection: Connection, needs: Sequence[Need]) -> list[Need]:
    """Those of the needs that the server would refuse. Raises `CannotTell`."""
    slots = asyncio.Semaphore(AT_A_TIME)

    async def of_namespace(namespace: str) -> list[Need]:
        wanted = [need for need in needs if need.namespace == namespace]
        if namespace and (allows := await _rules(connection, namespace)) is not None:
            wanted = [need for need in wanted if not allows(need)]
        # The rules of several roles may not be all that there is to it: what they do not allow is asked for by itself.
        allowed = await _all(_allowed(connection, need, slots) for need in wanted)
        return [need for need, yes in zip(wanted, allowed, strict=True) if not yes]

    try:
        async with asyncio.timeout(PATIENCE):
            found = await _all(map(of_namespace, dict.fromkeys(need.namespace for need in needs)))
    except TimeoutError:
        raise CannotTell(f"it has not answered for {PATIENCE:g} s") from None
    except (ApiError, msgspec.MsgspecError) as error:
        raise CannotTell(str(error)) from error
    return [need for of_one in found for need in of_one]


async def _all(questions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All answers; after a failure, nothing more is asked."""
    asking = [asyncio.create_task(question) for question in questions]
    try:
        return await asyncio.gather(*asking)
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def check(connection: Connection, needs: Sequence[Need], refusals: Refusals, *, require: bool) -> None:
    """Says what is missing, in one message. Raises `PermissionsMissing` instead, if told to, for what is required."""
    try:
        lacking = await missing(connection, needs)
    except CannotTell as why:
        log.log(logging.WARNING if require else logging.DEBUG, "the server cannot tell what this program may do: %s", why)
        return
    if require and any(need.required for need in lacking):
        raise PermissionsMissing(explained(lacking))
    if lacking:
        log.warning("%s", explained(lacking))
        refusals.said(lacking)


def explained(needs: Sequence[Need]) -> str:
    """What is missing, and the rules to add."""
    parts = []
    for title, these in (
        ("it cannot do without", [need for need in needs if need.required]),
        ("its controllers usually need", [need for need in needs if not need.required]),
    ):
        if these:
            parts.append(f"{title}:\n" + "\n".join(f"  {need}" for need in these))
    return "this program may not do what " + "\nand what ".join(parts) + f"\n{to_add(needs)}"


def to_add(needs: Iterable[Need]) -> str:
    """The rules, and where they belong."""
    return "\n".join(
        f"add to a {f'Role in namespace {namespace!r}' if namespace else 'ClusterRole'}:\nrules:\n{in_yaml(rules)}"
        for namespace, rules in rules_for(needs).items()
    )


class Refusals:
    """Says of each right that the server refuses which rule would give it: once, and not again what was said at the start."""

    def __init__(self) -> None:
        self._said: dict[Need, None] = {}
        self._faults = Faults("the check of permissions")

    def said(self, needs: Iterable[Need]) -> None:
        """These were."""
        self._said.update((_bare(need), None) for need in needs)

    def hear(self, event: Event) -> None:
        """Listens to the outcomes of requests."""
        try:
            self._hear(event)
        except Exception as error:
            self._faults.tell(event, error)

    def _hear(self, event: Event) -> None:
        if not (isinstance(event, RequestDone) and event.code == "403" and isinstance(event.outcome, Answer)):
            return
        operation = event.operation
        if operation.resource is None or b" cannot " not in event.outcome.body:  # admission refuses by 403, too, and no rule helps there
            return
        resource = f"{operation.resource.resource}/{operation.subresource}" if operation.subresource else operation.resource.resource
        need = Need(operation.verb, operation.resource.group, resource, operation.namespace)
        if need in self._said or len(self._said) >= _SAID_AT_MOST:
            return
        self._said[need] = None
        log.warning("the server refuses to %s; if that is to be allowed, %s", need, to_add([need]))


def _bare(need: Need) -> Need:
    return need._replace(name="", required=False)


# questions


class _Rule(msgspec.Struct, rename="camel"):
    verbs: list[str] | None = None
    api_groups: list[str] | None = None
    resources: list[str] | None = None
    resource_names: list[str] | None = None

    def allows(self, need: Need) -> bool:
        _, _, subresource = need.resource.partition("/")
        names = [need.resource, "*", *([f"*/{subresource}"] if subresource else [])]
        return (
            any(verb in (self.verbs or ()) for verb in (need.verb, "*"))
            and any(group in (self.api_groups or ()) for group in (need.group, "*"))
            and any(name in (self.resources or ()) for name in names)
            and (not self.resource_names or need.name in self.resource_names)
        )


class _RulesStatus(msgspec.Struct, rename="camel"):
    resource_rules: list[_Rule] | None = None


class _Rules(msgspec.Struct):
    status: _RulesStatus


class _AccessStatus(msgspec.Struct):
    allowed: bool = False


class _Access(msgspec.Struct):
    status: _AccessStatus


async def _rules(connection: Connection, namespace: str) -> Callable[[Need], bool] | None:
    """What is allowed in a namespace, for sure; None if the server has no such list, but perhaps an answer to a single question."""
    try:
        body = await _ask(connection, kind_of(SelfSubjectRulesReview), {"namespace": namespace})
    except ApiError as error:
        if error.code in (403, 404, 405, 501):
            return None
        raise
    rules = msgspec.json.decode(body, type=_Rules).status.resource_rules or []
    return lambda need: any(rule.allows(need) for rule in rules)


async def _allowed(connection: Connection, need: Need, slots: asyncio.Semaphore) -> bool:
    main, _, subresource = need.resource.partition("/")
    asked = {"verb": need.verb, "group": need.group, "resource": main, "namespace": need.namespace, "name": need.name}
    if subresource:
        asked["subresource"] = subresource
    async with slots:
        body = await _ask(connection, kind_of(SelfSubjectAccessReview), {"resourceAttributes": asked})
    return msgspec.json.decode(body, type=_Access).status.allowed


async def _ask(connection: Connection, info: KindInfo, spec: object) -> bytes:
    document = {"apiVersion": info.api_version, "kind": info.kind, "spec": spec}
    operation = verbs.create(info, "", msgspec.json.encode(document), field_manager="")
    # A question, though it is asked by a POST: a dry run is no write, so no fence holds it back, and it may be asked twice.
    return (await connection.call(verbs.on_trial(operation))).body
