"""The benchmarks are a package beside `src`, which is on nobody's path: it is loaded from its folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"

if "benchmarks" not in sys.modules:
    spec = importlib.util.spec_from_file_location("benchmarks", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
    assert spec is not None
    assert spec.loader is not None
    sys.modules["benchmarks"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
