"""What two servers may print differently, put into one form.

What has an identity (UIDs, resource versions, hashes of templates) becomes a number by first appearance, so that it still shows whether two
are the same. Times and ages become words, since a clock decides them; columns are set two spaces apart, since their width follows the
ages. Everything else must be equal to the letter, save the differences waived here.
"""

import json
import re
from pathlib import Path

WAIVED = [
    (r"v1\.37\.\d+\+setpoint", "v1.37", "the embedded server says in its version that it is one"),
    (r'Context "(?:setpoint|envtest)"', 'Context "CONTEXT"', "each kubeconfig calls its context as it likes"),
    (
        r"(?m)^( *manager: )(?:deployment|job|cronjob|statefulset|daemonset)$",
        r"\1kube-controller-manager",
        "simulated workloads sign with their names",
    ),
    (
        r"(?m)^Warning: \w+ is kept but not enforced by the embedded server: .*\n?",
        "",
        "who writes roles, quotas and such is told that nothing of them happens in the embedded server",
    ),
    (r"Server Version: version\.Info\{.*\}", "Server Version: v1.37", "an old kubectl prints what each server is built of"),
    (r"Server Version: v1\.37\.\d+", "Server Version: v1.37", "which patch release of 1.37 judges is not the question"),
]
"""Differences that are meant: pattern, replacement, reason."""

PLAIN = [
    (r"(?m)^I\d{4} .*\n?", ""),  # kubectl's own log, which --v asks for: only a signal for the runner
    (r"(?m)^Waiting for .* to be observed\.\.\.\n", ""),  # whether kubectl was quicker than a controller
    (r"https://(?:127\.0\.0\.1|localhost):\d+", "SERVER"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d)", "TIME"),
    (r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [-+]\d{4}\b", "TIME"),
    (r"\b(LIVE|MERGED)-\d+", r"\1-N"),
    (r"\bkubectl-edit-\d+", "kubectl-edit-N"),
    (r"(?m)(?:^|(?<=\s))(?:\d+[ydhms]){1,2}(?=\s|$|\))", "AGE"),
    (r"(?m)(?<!^[-+])(?<=\S) {2,}(?=\S)", "  "),  # not the indentation inside a diff
    (r"(?m) +$", ""),
]


MANAGED = re.compile(r"(?m)^(?P<indent> *)managedFields:\n(?P<entries>(?:(?P=indent)[- ] .*\n)+)")
"""What `--show-managed-fields` adds to YAML. Entries are ordered by their second, then by name: so a clock decides."""

HASH = re.compile(r"(pod-template-hash[=:] ?|\b(?:web|store)-)([a-z0-9]{7,10})\b")
"""The hash of a pod template, in a label and in the names of ReplicaSets: two hash functions may differ."""


def _raw(text: str) -> str:
    """An answer that is shown as it came, in one line of JSON, with its fields in order: a server writes them in any."""
    if not text.startswith("{") or "\n" in text.rstrip("\n"):
        return text
    try:
        return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except ValueError:
        return text


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
        self._hashes: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        text = _raw(text.replace(self._folder, "FOLDER"))
        for pattern, replacement, _ in WAIVED:
            text = re.sub(pattern, replacement, text)
        for pattern, replacement in PLAIN:
            text = re.sub(pattern, replacement, text)
        text = re.sub(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", self._uid, text)
        text = HASH.sub(self._hash, text)
        text = MANAGED.sub(_sorted, text)
        return re.sub(r"(?i)(resource ?version\\*\"?: *\\*\"?)(\d+)", self._version, text)

    def _uid(self, match: re.Match[str]) -> str:
        return self._uids.setdefault(match[0], f"UID-{len(self._uids) + 1}")

    def _hash(self, match: re.Match[str]) -> str:
        return match[1] + self._hashes.setdefault(match[2], f"HASH-{len(self._hashes) + 1}")

    def _version(self, match: re.Match[str]) -> str:
        return match[1] + self._versions.setdefault(match[2], f"VERSION-{len(self._versions) + 1}")
