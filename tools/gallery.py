"""Writes `docs/level-check-gallery.md`: published bugs, as the level checker finds them in the controllers of the tests' corpus.

    python tools/gallery.py            # write the page; a token of it that still tells something is kept, other bugs are looked for
    python tools/gallery.py --anew     # write it, and look for all of them
    python tools/gallery.py --check    # replay the page's own tokens, and fail if they tell anything else than the page

The page is what `setpoint check` prints, so it is never edited by hand. It is written after each bug, and so is whole at any time.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from setpoint.levelcheck.check import level_check, replay
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.report.text import manner, refutation, sentence_of
from setpoint.levelcheck.search.checking import SiteGone

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "level-check-gallery.md"
CANDIDATES = (
    "b01_volumes_stay_small",
    "a09_no_shrink_guard",
    "a08_claim_outlives_its_pod",
    "b03_restart_is_forgotten",
    "b11_children_by_status",
    "b14_pending_for_ever",
    "d01_counts_what_it_saw",
    "c02_deletes_by_name",
    "e01_foreign_finalizer_is_lost",
    "g01_new_time_every_pass",
    "a18_garbage_remembered_in_memory",
    "b08_follow_up_secret",
    "a17_previous_spec_in_memory",
    "a25_claim_that_nobody_watches",
    "b10_exists_is_failure",
    "e08_deletes_what_is_deleted",
)
"""Rows of the corpus that teach something each; the first ten in which something is found are on the page."""
SHOWN = 10
WIDTH = 132
_FOLDER = "tests/levelcheck/corpus/rows"
_HEAD = """# A gallery of bugs

Published bugs of well-known controllers, each written anew in a few dozen lines, and what the [level checker](level-check.md) says of it.
How to read a trace stands [there](level-check.md#how-to-read-a-trace). This page is written by `tools/gallery.py`, and the tests replay it.
"""


class Bug(NamedTuple):
    """A row of the corpus: its folder, what its first line says, the paragraph below that, and the row."""

    folder: str
    title: str
    told: str
    row: Any

    @property
    def target(self) -> str:
        """What is checked."""
        return f"{_FOLDER.replace('/', '.')}.{self.folder}.buggy"

    @property
    def declared(self) -> dict[str, Any]:
        """What is declared about it."""
        names = ("outside", "environment", "invariants", "roles", "waivers", "periodic", "assumptions", "leaders")
        return {name: getattr(self.row, name) for name in names}


def bug(folder: str) -> Bug:
    """The row in that folder of the corpus."""
    module = importlib.import_module(f"{_FOLDER.replace('/', '.')}.{folder}")
    title, _, told = (module.__doc__ or "").strip().partition("\n\n")
    return Bug(folder, title.rstrip("."), told.strip(), module.ROW)


def token_of(found: Bug) -> str:
    """The token of what is told first; empty if nothing is."""
    report = level_check(found.target, found.row.workload, depth=found.row.depth, **found.declared)
    print(f"{found.folder}: {report.verdict} {report.inconclusive.strip()[-200:]}", file=sys.stderr, flush=True)
    expected = [broken for broken in report.broken if broken.refutation.finding.oracle in found.row.oracles]
    return next((broken.token for broken in [*expected, *report.broken]), "")


def section(found: Bug, token: str) -> str:
    """What the page says of a bug; empty if the token tells nothing any more."""
    try:
        broken = replay(found.target, found.row.workload, token=token, **found.declared)
    except SiteGone:
        broken = None
    if broken is None:
        return ""
    links = " and ".join(f"[{name}](../{_FOLDER}/{found.folder}/{name})" for name in ("buggy.py", "fixed.py"))
    return f"\n## {found.title}\n\n{found.told}\n\n{links}\n\n```text\n{_text(broken)}\n```\n\n<!-- {found.folder} {token} -->\n"


def tokens() -> dict[str, str]:
    """The tokens of the page, by folder."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return dict(re.findall(r"^<!-- (\S+) (\S+) -->$", text, re.MULTILINE))


def sections(known: Mapping[str, str]) -> Iterator[str]:
    """What the page says of each bug that is on it, looked for where no token is known or it tells nothing."""
    found = 0
    for folder in CANDIDATES:
        about = bug(folder)
        text = section(about, known[folder]) if folder in known else ""
        if not text and (token := token_of(about)):
            text = section(about, token)
        if text:
            yield text
            found += 1
        if found == SHOWN:
            return


def _text(broken: Broken) -> str:
    head = f"{broken.refutation.finding.verdict}, {manner(broken)}: {sentence_of(broken)}"
    return "\n".join([head, "", *(line.text for line in refutation(broken, WIDTH))])


def main() -> None:
    """See the module."""
    sys.path.insert(0, str(ROOT))
    if "--check" in sys.argv[1:]:
        text = _HEAD + "".join(section(bug(folder), token) for folder, token in tokens().items())
        if text != PAGE.read_text(encoding="utf-8"):
            sys.exit(f"{PAGE.name} is not what the checker prints: run {Path(__file__).name}")
        return
    text = _HEAD
    for each in sections({} if "--anew" in sys.argv[1:] else tokens()):
        text += each
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
