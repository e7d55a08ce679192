"""What an import loads: what is asked for, and nothing that takes long."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("aiohttp", "prometheus_client", "yaml", "cryptography", "uvicorn", "typer", "rich", "hypothesis", "uvloop")


def loaded_by(code: str) -> list[str]:
    """The modules that a new interpreter has loaded after this code, but not before."""
    code = f"import sys; before = dict(sys.modules); {code}; print(*[name for name in sys.modules if name not in before])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_to_import_setpoint_loads_no_room_and_no_library() -> None:
    loaded = loaded_by("import setpoint")
    assert [name for name in loaded if name.startswith("setpoint.")] == []
    assert [name for name in ("msgspec", "asyncio", "ssl", *HEAVY) if name in loaded] == []


@pytest.mark.parametrize("names", ["Condition, Field, Resource, Struct, kind", "Context, Controller, Request, Result"])
def test_what_a_controller_imports_loads_no_kind_and_nothing_that_only_a_running_program_needs(names: str) -> None:
    loaded = loaded_by(f"from setpoint import {names}")
    assert [name for name in loaded if name.startswith("setpoint.k8s.")] == []
    assert [name for name in HEAVY if name in loaded] == []
