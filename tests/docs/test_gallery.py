"""The gallery of bugs is what the level checker prints: each token of the page is replayed, and tells what the page shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_gallery_is_what_the_checker_prints() -> None:
    words = [sys.executable, str(ROOT / "tools" / "gallery.py"), "--check"]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)
    assert ended.returncode == 0, ended.stdout + ended.stderr
