"""Events in their two forms: objects of core/v1 and of events.k8s.io/v1 are the same ones, and the newer form is judged more strictly."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from setpoint.api import ApiError, GroupVersionResource, Operation
from setpoint.api.operation import JSON, MERGE_PATCH
from setpoint.k8s.core.v1 import Event as CoreEvent
from setpoint.k8s.events.v1 import Event

from .site import Site, contract

CORE, NEWER = GroupVersionResource("", "v1", "events"), GroupVersionResource("events.k8s.io", "v1", "events")
TIME = "2026-11-30T12:00:00.000000Z"


def body(site: Site, name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": site.namespace},
        "regarding": {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "namespace": site.namespace},
        "reason": "Scaled",
        "note": "to three",
        "type": "Normal",
        "action": "Reconcile",
        "eventTime": TIME,
        "reportingController": "webapp",
        "reportingInstance": "pod-1",
        **more,
    }


async def call(site: Site, verb: Any, resource: GroupVersionResource, name: str = "", content: Any = None, **more: Any) -> dict[str, Any]:
    operation = Operation(
        verb=verb,
        resource=resource,
        namespace=site.namespace,
        name=name,
        body=b"" if content is None else msgspec.json.encode(content),
        content_type="" if content is None else MERGE_PATCH if verb == "patch" else JSON,
        **more,
    )
    found: dict[str, Any] = msgspec.json.decode((await site.client.call(operation)).body)
    return found


def told(obj: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in obj.items() if name != "metadata"}


@contract
async def test_an_event_made_in_one_form_is_read_in_the_other(site: Site) -> None:
    made = await call(site, "create", NEWER, content=body(site, "new"))
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "namespace": site.namespace}
    assert told(made) == {
        **told(body(site, "new")),
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
        "deprecatedSource": {},
    }
    assert told(await call(site, "get", CORE, "new")) == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": about,
        "reason": "Scaled",
        "message": "to three",
        "type": "Normal",
        "action": "Reconcile",
        "eventTime": TIME,
        "reportingComponent": "webapp",
        "reportingInstance": "pod-1",
        "firstTimestamp": None,
        "lastTimestamp": None,
        "source": {},
    }
    old = {"metadata": {"name": "old"}, "involvedObject": about, "message": "m", "count": 3, "source": {"component": "c"}}
    await call(site, "create", CORE, content=old)
    assert told(await call(site, "get", NEWER, "old")) == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "regarding": about,
        "note": "m",
        "deprecatedCount": 3,
        "deprecatedSource": {"component": "c"},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
        "eventTime": None,
    }


@contract
async def test_both_forms_list_select_and_watch_the_same_events(site: Site) -> None:
    await call(site, "create", NEWER, content=body(site, "new"))
    for kind in (CoreEvent, Event):
        assert [event.name for event in await site.client.list(kind, namespace=site.namespace)] == ["new"]
    for resource, fields in (
        (CORE, "involvedObject.name=shop,reason=Scaled,reportingComponent=webapp,source=webapp,type=Normal"),
        (NEWER, "regarding.name=shop,reason=Scaled,reportingController=webapp,type=Normal"),
        (CORE, "involvedObject.name=other"),
        (NEWER, "regarding.name=other"),
    ):
        found = await call(site, "list", resource, options={"fieldSelector": fields})
        assert [item["metadata"]["name"] for item in found["items"]] == ([] if "other" in fields else ["new"]), fields
    with pytest.raises(ApiError, match=r"field label not supported: involvedObject\.name"):
        await call(site, "list", NEWER, options={"fieldSelector": "involvedObject.name=shop"})
    version = (await call(site, "list", NEWER))["metadata"]["resourceVersion"]
    streams = [
        await site.connection.watch(
            Operation(verb="watch", resource=resource, namespace=site.namespace, options={"watch": "true", "resourceVersion": version})
        )
        for resource in (CORE, NEWER)
    ]
    series = {"series": {"count": 2, "lastObservedTime": TIME}}
    await call(site, "patch", NEWER, "new", series)
    for stream, api_version, text in zip(streams, ("v1", "events.k8s.io/v1"), ("message", "note"), strict=True):
        frames = await stream.read()
        assert frames is not None
        seen = msgspec.json.decode(frames[0])
        assert (seen["type"], seen["object"]["apiVersion"], seen["object"][text]) == ("MODIFIED", api_version, "to three")
        await stream.close()
    await call(site, "delete", CORE, "new")
    assert (await call(site, "list", NEWER))["items"] == []


@contract
async def test_the_newer_form_refuses_what_the_older_one_takes(site: Site) -> None:
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "no-time": ({"eventTime": None}, "eventTime: Required value"),
        "no-action": ({"action": ""}, "action: Required value"),
        "no-reason": ({"reason": ""}, "reason: Required value"),
        "no-reporter": ({"reportingController": ""}, "reportingController: Required value"),
        "no-instance": ({"reportingInstance": ""}, "reportingInstance: Required value"),
        "reporter": ({"reportingController": "no name"}, 'reportingController: Invalid value: "no name"'),
        "note": ({"note": "ä" * 513}, "message: Invalid value"),
        "long-reason": ({"reason": "a" * 129}, "reason: Invalid value"),
        "type": ({"type": "Other"}, "type: Invalid value"),
        "count": ({"deprecatedCount": 1}, "count: Invalid value"),
        "series": ({"series": {"count": 1, "lastObservedTime": TIME}}, "series.count: Invalid value"),
        "elsewhere": ({"regarding": {"name": "n"}}, "involvedObject.namespace: Invalid value"),
    }
    for name, (change, why) in cases.items():
        with pytest.raises(ApiError, match=re.escape(why)):
            await call(site, "create", NEWER, content=body(site, name, **change))
    await call(site, "create", NEWER, content=body(site, "fits", note="ä" * 512, reason="a" * 128))
    for change, why in (({"note": "other"}, "message: Invalid value"), ({"type": "Warning"}, "type: Invalid value")):
        with pytest.raises(ApiError, match=re.escape(why)):
            await call(site, "patch", NEWER, "fits", change)
