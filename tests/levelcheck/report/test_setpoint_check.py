"""The fixture `setpoint_check`, and a regression's whole life: found, written down, failing, mended, and without a place any more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONTROLLER = """
from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.k8s.core.v1 import ConfigMap, Secret

controller = Controller(ConfigMap, name="keys", owns=[Secret])


def secret(owner, role):
    return Secret(metadata=ObjectMeta(name=f"{owner.name}-{role}", namespace=owner.namespace), string_data={"key": role})


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    settings = await ctx.get(ConfigMap, request)
    if settings is None or settings.is_terminating or not settings.name.startswith("settings"):
        return
    if await ctx.get(Secret, f"{request}-private") is None:
        await ctx.apply(secret(settings, "private"), owner=settings)
        await ctx.apply(secret(settings, "public"), owner=settings)
"""
MENDED = CONTROLLER.replace(
    """    if await ctx.get(Secret, f"{request}-private") is None:
        await ctx.apply(secret(settings, "private"), owner=settings)
        await ctx.apply(secret(settings, "public"), owner=settings)
""",
    """    await ctx.apply(secret(settings, "private"), owner=settings)
    await ctx.apply(secret(settings, "public"), owner=settings)
""",
)
ANOTHER = CONTROLLER[: CONTROLLER.index("    if await")] + "    return\n"
SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
"""
TEST = """
from setpoint.levelcheck import Workload


def test_it(setpoint_check):
    setpoint_check("keys.py:controller", Workload.from_files("settings.yaml"), depth=%d)
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False, timeout=240)


def run_test(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    (tmp_path / "keys.py").write_text(CONTROLLER)
    return tmp_path


def test_a_finding_becomes_a_test_that_fails_until_it_is_mended(folder: Path) -> None:
    found = run(folder, "setpoint", "check", "keys.py:controller", "-f", "settings.yaml", "--regression", "test_keys.py")
    assert found.returncode == 1, found.stdout + found.stderr
    assert found.stdout.startswith("REFUTED, "), found.stdout
    fails = run_test(folder, "test_keys.py")
    assert fails.returncode == 1, fails.stdout
    assert "settings-public" in fails.stdout
    assert "Suggestion" in fails.stdout

    (folder / "keys.py").write_text(MENDED)
    passes = run_test(folder, "test_keys.py")
    assert passes.returncode == 0, passes.stdout

    (folder / "keys.py").write_text(ANOTHER)
    gone = run_test(folder, "test_keys.py")
    assert gone.returncode == 1, gone.stdout
    assert "site gone" in gone.stdout


def test_a_test_passes_if_the_controller_held_and_fails_with_the_report_otherwise(folder: Path) -> None:
    (folder / "test_it.py").write_text(TEST % 1)
    fails = run_test(folder, "test_it.py")
    assert fails.returncode == 1, fails.stdout
    assert "REFUTED, " in fails.stdout
    assert "Covered" in fails.stdout
    assert "Traceback" not in fails.stdout
    (folder / "test_it.py").write_text(TEST % 0)
    assert run_test(folder, "test_it.py").returncode == 0
