"""From nothing to ready replicas: the README's first command, as another process sees it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .programs import ROOT, Api, setpoint

EXAMPLE = ROOT / "examples" / "webapp"
WEBAPPS = "/apis/apps.example.com/v1/namespaces/default/webapps"


def all_ready(apps: Sequence[dict[str, Any]]) -> bool:
    return bool(apps) and all(app.get("status", {}).get("readyReplicas") == app["spec"]["replicas"] for app in apps)


def test_an_applied_webapp_becomes_ready_on_the_embedded_plane(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    started = time.monotonic()
    with setpoint(
        *("run", "--embedded", EXAMPLE / "webapp.py", "--apply", EXAMPLE / "shop.yaml", "--write-kubeconfig", kubeconfig), cwd=tmp_path
    ) as program:
        assert program.line("ready ") == f"ready {kubeconfig}"
        serving = time.monotonic()
        assert kubeconfig.stat().st_mode & 0o777 == 0o600
        api = Api(kubeconfig)
        api.until("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", lambda found: any(_established(crd) for crd in found))
        api.until(WEBAPPS, all_ready)
        app = api.get(f"{WEBAPPS}/shop")
        ready = time.monotonic()
        assert app["status"]["readyReplicas"] == app["spec"]["replicas"] == 3
        assert [c["status"] for c in app["status"]["conditions"] if c["type"] == "Ready"] == ["True"]
        # For people: the time is a benchmark's business (`python -m benchmarks.start`), and no test's.
        print(f"served after {serving - started:.2f} s, ready after {ready - started:.2f} s")


def _established(crd: dict[str, Any]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []  # null, until the server has looked at it
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)
