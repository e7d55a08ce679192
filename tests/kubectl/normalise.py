"""What two servers may print differently, put into one form.

What has an identity (UIDs, resource versions) becomes a number by first appearance, so that it still shows whether two are the same.
Times and ages become words, since a clock decides them; columns are set two spaces apart, since their width follows the ages. Everything
else must be equal to the letter, save the differences waived here.
"""

import re
from pathlib import Path

WAIVED = [
    (r"v1\.37\.\d+\+setpoint", "v1.37", "the embedded server says in its version that it is one"),
    (r"Server Version: v1\.37\.\d+", "Server Version: v1.37", "which patch release of 1.37 judges is not the question"),
]
"""Differences that are meant: pattern, replacement, reason."""

PLAIN = [
    (r"(?m)^I\d{4} .*\n?", ""),  # kubectl's own log, which --v asks for: only a signal for the runner
    (r"https://(?:127\.0\.0\.1|localhost):\d+", "SERVER"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d)", "TIME"),
    (r"\b(LIVE|MERGED)-\d+", r"\1-N"),
    (r"\bkubectl-edit-\d+", "kubectl-edit-N"),
    (r"(?m)(?:^|(?<=\s))(?:\d+[ydhms]){1,2}(?=\s|$|\))", "AGE"),
    (r"(?m)(?<!^[-+])(?<=\S) {2,}(?=\S)", "  "),  # not the indentation inside a diff
    (r"(?m) +$", ""),
]


MANAGED = re.compile(r"(?m)^(?P<indent> *)managedFields:\n(?P<entries>(?:(?P=indent)[- ] .*\n)+)")
"""What `--show-managed-fields` adds to YAML. Entries are ordered by their second, then by name: so a clock decides."""


def _sorted(match: re.Match[str]) -> str:
    indent = match["indent"]
    entries = re.split(rf"(?m)^(?={indent}- )", match["entries"])
    return f"{indent}managedFields:\n" + "".join(sorted(entries, key=lambda entry: (*re.findall(r" manager: .*", entry), entry)))


class Normaliser:
    """One form for all that a run prints; it remembers the identities that it has seen."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        text = text.replace(self._folder, "FOLDER")
        for pattern, replacement, _ in WAIVED:
            text = re.sub(pattern, replacement, text)
        for pattern, replacement in PLAIN:
            text = re.sub(pattern, replacement, text)
        text = re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", self._uid, text)
        text = MANAGED.sub(_sorted, text)
        return re.sub(r"(?i)(resource ?version\\*\"?: *\\*\"?)(\d+)", self._version, text)

    def _uid(self, match: re.Match[str]) -> str:
        return self._uids.setdefault(match[0], f"UID-{len(self._uids) + 1}")

    def _version(self, match: re.Match[str]) -> str:
        return match[1] + self._versions.setdefault(match[2], f"VERSION-{len(self._versions) + 1}")
