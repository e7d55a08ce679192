"""Patches make of objects what a real kube-apiserver 1.37 made of them, which is recorded beside; `record.py` asked it.

One case for each directive and combination (`cases`), and some that nobody thought of (`drawn`). Both servers begin with the same objects.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.server.patches.cases import BASES, MEDIA, explicit
from tests.server.talk import CRDS, NAMESPACES, Refused, Talk, talk

from setpoint.api import GroupVersionResource

RECORDED = json.loads(gzip.decompress(Path(__file__).with_name("recorded.json.gz").read_bytes()))
CASES: dict[str, Any] = {case["name"]: case for case in RECORDED["cases"]}
DRAWN = [name for name in CASES if ": drawn" in name]
NAMESPACE = "patches"


def resource_of(base: str) -> GroupVersionResource:
    *_, root, plural = (path := BASES[base][0]).split("/")
    return GroupVersionResource(path.split("/")[1] if path.startswith("apis/") else "", root, plural)


def where_of(base: str) -> str:
    name = RECORDED["live"][base]["metadata"]["name"]
    return name if base == "definition" else f"{NAMESPACE}/{name}"


async def furnished(t: Talk) -> None:
    """The server with the objects that are patched."""
    await t.do("create", NAMESPACES, "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, fieldManager="maker")
    for base, (_, obj) in BASES.items():
        whole = {**obj, "metadata": {**obj.get("metadata", {}), "name": RECORDED["live"][base]["metadata"]["name"]}}
        where = "" if base == "definition" else f"{NAMESPACE}/"
        await t.do("create", CRDS if base == "definition" else resource_of(base), where, whole, fieldManager="maker")


async def answer(t: Talk, case: dict[str, Any]) -> dict[str, Any]:
    options = {key: value for key, value in case["options"].items() if key != "sub"}
    try:
        body = await t.do(
            "patch",
            resource_of(case["base"]),
            where_of(case["base"]),
            base64.b64decode(case["data"]),
            sub=case["options"].get("sub", ""),
            content_type=MEDIA[case["media"]],
            dryRun="All",
            fieldManager="patcher",
            **options,
        )
        return {"code": 200, "body": body, "warnings": list(t.warnings)}
    except Refused as refused:
        return {"code": refused.code, "body": refused.status, "warnings": []}


def comparable(answer: dict[str, Any]) -> Any:
    """An answer without what differs from server to server."""
    body = answer["body"]
    if answer["code"] >= 300:
        details = body.get("details") or {}
        causes = [
            tuple(map(_steady, (cause.get("reason"), cause.get("message"), cause.get("field")))) for cause in details.get("causes") or ()
        ]
        if body.get("reason") == "Conflict":
            causes.sort()  # the real server's are in random order
        return answer["code"], body.get("reason"), _steady(body.get("message")), details.get("kind"), details.get("name"), causes
    metadata = {key: value for key, value in body["metadata"].items() if key not in ("uid", "resourceVersion", "creationTimestamp")}
    if "managedFields" in metadata:
        # Entries are in the order of their times, which depend on how fast a server was asked.
        entries = [{key: value for key, value in entry.items() if key != "time"} for entry in metadata["managedFields"]]
        metadata["managedFields"] = sorted(
            entries, key=lambda entry: (entry["manager"], entry["apiVersion"], json.dumps(entry["fieldsV1"]))
        )
    if body["kind"] == "CustomResourceDefinition":
        body = {key: value for key, value in body.items() if key != "status"}
        metadata["managedFields"] = [entry for entry in metadata["managedFields"] if "subresource" not in entry]
    return answer["code"], {**body, "metadata": metadata}, sorted(answer["warnings"])


def _steady(text: Any) -> Any:
    """A text without identifiers, versions and times; where it shows a whole object, without that."""
    if not isinstance(text, str):
        return text
    text = re.sub(r'(patch: )?Invalid value: "(\{.*?\})": ', r"\1Invalid value: OBJECT: ", text)
    text = re.sub(r"(UID in object meta:|uid:) \S+", "UID", text)
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID", text)


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What our server answers to all cases."""
    found: dict[str, Any] = {}

    async def main(t: Talk) -> None:
        await furnished(t)
        for name, case in CASES.items():
            found[name] = comparable(await answer(t, case))

    talk(main)
    return found


def test_all_cases_are_recorded() -> None:
    assert [name for name in CASES if name not in DRAWN] == list(explicit())


@pytest.mark.parametrize("name", explicit())
def test_patch(name: str, answers: dict[str, Any]) -> None:
    assert answers[name] == comparable(CASES[name])


def test_patches_that_were_drawn(answers: dict[str, Any]) -> None:
    different = {name: (answers[name], comparable(CASES[name])) for name in DRAWN if not _agree(answers[name], comparable(CASES[name]))}
    assert not different, f"{len(different)} of {len(DRAWN)}, such as {next(iter(different.items()))}"


def _agree(ours: Any, real: Any) -> bool:
    # Which of several mistakes the real server speaks of is chance: it goes through maps in random order.
    return bool(ours == real) or ours[0] == real[0] == 500
