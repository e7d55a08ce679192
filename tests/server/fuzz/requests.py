"""Requests: most of them nearly right, so that they get far into the server before it sees what is wrong."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import quote

from tests.server.fuzz.values import KEYS, STRINGS, anything, changed, deep, text

NAMES = ["a", "b", "c", "d", "widgets.example.com", "default", "kube-system"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
ODD_METHODS = ["HEAD", "OPTIONS", "TRACE", "BREW"]
PATCHES = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
]
TYPES = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "",
    "text/plain",
    "application/cbor",
    ";",
    "a/b; c=d; ,",
    "*/*",
]
ACCEPTS = [
    "application/json",
    "*/*",
    "application/yaml",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
    "text/html",
    ";;;",
    "application/json;q=x",
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    "application/yaml;as=Table;g=meta.k8s.io;v=v1",
    "application/json;as=;g=;v=",
    ",",
    "application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2",
    "a" * 3000,
    "application/json;q=" + "9" * 400,
    "application/json;q=²",
    "application/json;=;q=.",
]
OPTIONS = {
    "limit": ["0", "1", "2", "-1", "x", "", "9" * 30, "9" * 5000, "1.5", "²"],
    "continue": ["", "x", "e30", "bnVsbA", "W10", "\x00", "é"],
    "resourceVersion": ["", "0", "1", "3", "-1", "x", "9" * 19, "9" * 30, "9" * 5000, "²", "1_0"],
    "resourceVersionMatch": ["", "Exact", "NotOlderThan", "x"],
    "labelSelector": [
        "",
        "a",
        "!a",
        "a=b",
        "a==b",
        "a!=b",
        "a in (b,c)",
        "a in (",
        "a notin ()",
        "a>1",
        "a>x",
        ",",
        ",,",
        "=",
        "a=b,",
        "(",
        "a in (b" * 50,
        "é",
        "\x00",
        "a=" + "b" * 100,
    ],
    "fieldSelector": [
        "",
        "metadata.name=a",
        "metadata.name!=a",
        "spec.x=1",
        "a",
        "=",
        "a=b,c",
        "metadata.name=\\",
        "metadata.name=a\\,b",
        "\x00=",
        "status.phase=x",
    ],
    "watch": ["1", "0", "", "false"],
    "timeoutSeconds": ["1", "0", "-1", "x", "9" * 18, "9" * 30],
    "timeout": ["1s", "x", "1", "0", "-1s", "9" * 40 + "h", "1" * 5000 + "s", "1ms1", "µs", ".s", "1e9s"],
    "allowWatchBookmarks": ["true", "x"],
    "sendInitialEvents": ["true", "false", "x"],
    "dryRun": ["All", "x", "", "all"],
    "fieldManager": ["", "m", "\x00", "x" * 129, "ü", "a/b"],
    "fieldValidation": ["Strict", "Warn", "Ignore", "x", ""],
    "force": ["true", "false", "x", ""],
    "pretty": ["true", "0", "x"],
    "gracePeriodSeconds": ["0", "-1", "x", "9" * 30],
    "propagationPolicy": ["Background", "Foreground", "Orphan", "x", ""],
    "orphanDependents": ["true", "false", "x"],
    "includeObject": ["Object", "None", "Metadata", "x"],
    "export": ["true", "x"],
    "hash": ["x", ""],
    "exclude": ["ping", "x"],
    "verbose": ["", "1"],
}
SUBRESOURCES = [
    "status",
    "scale",
    "finalize",
    "log",
    "exec",
    "binding",
    "eviction",
    "approval",
    "token",
    "ephemeralcontainers",
    "x",
    "",
    "a/b",
]
PATHS = [
    "/",
    "/version",
    "/livez",
    "/readyz/ping",
    "/api",
    "/apis",
    "/apis/apps",
    "/api/v1",
    "/apis/apps/v1",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/api/v1",
]


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""

    def __str__(self) -> str:
        return f"{self.method} {self.target[:300]!r} {self.headers} {self.body[:1500]!r}"


class Generator:
    """Makes requests about kinds: `(group, version, plural, kind, namespaced)`. The seed decides all of them."""

    def __init__(self, kinds: list[tuple[str, str, str, str, bool]], samples: dict[str, list[dict[str, Any]]]) -> None:
        self.kinds = kinds
        self.samples = samples
        common = [kind for kind in kinds if kind[3] in samples]
        self._weighted = kinds + common * max(1, 2 * len(kinds) // max(1, len(common)))

    def make(self, seed: int) -> Request:
        """The request of this number."""
        random = Random(seed)
        method = random.choice(METHODS) if random.random() < 0.97 else random.choice(ODD_METHODS)
        group, version, plural, kind, namespaced = random.choice(self._weighted)
        named = method in ("PUT", "PATCH") or (method in ("GET", "DELETE") and random.random() < 0.5)
        if random.random() < 0.04:
            named = not named
        name = random.choice(NAMES) if random.random() < 0.9 else random.choice(STRINGS)
        target = self._path(random, group, version, plural, namespaced, name if named else "")
        query = self._query(random, method)
        body, content_type = self._body(random, method, group, version, kind, name)
        headers = [(b"content-type", content_type.encode("latin-1", "replace"))] if content_type else []
        if random.random() < 0.3:
            headers.append((b"accept", random.choice(ACCEPTS).encode("utf-8")))
        if random.random() < 0.03:
            headers.append(
                random.choice(
                    [
                        (b"impersonate-user", b"x"),
                        (b"audit-id", b"\xff\x01"),
                        (b"user-agent", b"\xff" * 300),
                        (b"if-none-match", b"x"),
                        (b"content-length", b"-1"),
                        (b"content-length", b"9" * 30),
                        (b"accept-encoding", b"gzip;q=,"),
                    ]
                )
            )
        return Request(method, (target + ("?" + query if query else "")).encode("ascii", "replace"), tuple(headers), body)

    def _path(self, random: Random, group: str, version: str, plural: str, namespaced: bool, name: str) -> str:
        if random.random() < 0.03:
            return random.choice(PATHS) + random.choice(["", "/", "//", "/x", "%00", "/%ff", "/.."])
        parts = ["apis", group, version] if group else ["api", version]
        if random.random() < 0.02:
            parts.append("watch")
        if namespaced and random.random() < 0.9:
            parts += ["namespaces", random.choice(["default", "default", "default", "kube-system", "nope", "", "..", "\x00", "A" * 70])]
        parts.append(plural)
        if name:
            parts.append(name)
            if random.random() < 0.2:
                parts.append(random.choice(SUBRESOURCES))
        path = "/" + "/".join(quote(part, safe="/" if random.random() < 0.05 else "", errors="replace") for part in parts)
        if random.random() < 0.01:
            at = random.randrange(len(path))
            path = path[:at] + random.choice(["%", "%zz", "//", "%2f", "%c3%28", "%00", ";"]) + path[at:]
        return path

    def _query(self, random: Random, method: str) -> str:
        pairs = []
        while random.random() < 0.45:
            key = random.choice(list(OPTIONS))
            value = random.choice(OPTIONS[key]) if random.random() < 0.93 else random.choice(STRINGS)
            pairs.append(f"{key}={quote(value, safe='', errors='replace')}")
        if any(pair.startswith("watch=") for pair in pairs) and method == "GET":
            pairs.append("timeoutSeconds=1")
        if random.random() < 0.03:
            pairs.append(random.choice(["%", "=", "&", ";a=b", "a", "%ff=%ff", "limit", "watch&watch=0", "dryRun=All&dryRun=x"]))
        if method == "GET" and random.random() < 0.05:
            token = text(
                random, changed(random, {"v": "meta.k8s.io/v1", "rv": random.choice([1, 5, -1, 10**20]), "start": "default/a\x00"})
            )
            pairs.append("continue=" + base64.urlsafe_b64encode(token).decode().rstrip("="))
        return "&".join(pairs)

    def _object(self, random: Random, group: str, version: str, kind: str, name: str) -> Any:
        samples = self.samples.get(kind)
        obj = dict(random.choice(samples)) if samples else {"spec": {}}
        obj |= {
            "apiVersion": f"{group}/{version}" if group else version,
            "kind": kind,
            "metadata": {"name": name, **obj.get("metadata", {})},
        }
        for _ in range(random.choice([0, 1, 1, 1, 2, 3, 6])):
            obj = changed(random, obj)
        return obj

    def _body(self, random: Random, method: str, group: str, version: str, kind: str, name: str) -> tuple[bytes, str]:
        if method == "GET" and random.random() < 0.95:
            return b"", ""
        if random.random() < 0.01:
            return deep(random), random.choice([*PATCHES, *TYPES[:2]])
        if method == "DELETE":
            options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "preconditions": {"uid": "x"}}
            return (text(random, changed(random, options)), "application/json") if random.random() < 0.4 else (b"", "")
        if method == "PATCH":
            return self._patch(random, group, version, kind, name)
        obj = self._object(random, group, version, kind, name)
        content_type = "application/json" if random.random() < 0.85 else random.choice(TYPES)
        body = text(random, obj)
        if content_type == "application/vnd.kubernetes.protobuf":
            body = self._protobuf(random, group, version, kind)
        elif content_type == "application/yaml" and random.random() < 0.5:
            body = random.choice(
                [
                    b"a: b: c",
                    b"- a\n- b",
                    b"? x",
                    b"%YAML 9.9\n---\n",
                    b"a: !!python/object:os.system x",
                    b"\t",
                    b"<<: *x",
                    b"a: &a *a",
                    b"2020-01-01: x",
                    b"!!binary x",
                    b"--- a\n--- b",
                    b"{a: 1, a: 2}",
                    b"? [a]\n: b",
                    b".inf: .nan",
                    b"a: 0o17\nb: 1_0\nc: 12:30:45",
                    body,
                ]
            )
        return body, content_type

    def _patch(self, random: Random, group: str, version: str, kind: str, name: str) -> tuple[bytes, str]:
        content_type = random.choice(PATCHES) if random.random() < 0.97 else random.choice(TYPES)
        if content_type == PATCHES[0]:
            operations = [self._operation(random) for _ in range(random.randrange(4))]
            return text(random, operations if random.random() < 0.9 else changed(random, operations)), content_type
        obj = self._object(random, group, version, kind, name)
        if content_type != PATCHES[3] and random.random() < 0.6 and isinstance(obj, dict):
            obj = {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
        if content_type == PATCHES[2] and random.random() < 0.4:
            directives = [
                {"$patch": "replace"},
                {"$patch": "delete"},
                {"$patch": "x"},
                {"$retainKeys": ["a"]},
                {"$retainKeys": 1},
                {"$setElementOrder/x": [1]},
                {"$deleteFromPrimitiveList/finalizers": ["x"]},
                {"$deleteFromPrimitiveList/finalizers": 1},
            ]
            if isinstance(obj, dict):
                obj |= {random.choice(["spec", "metadata", "data", "x"]): random.choice(directives)}
        return text(random, obj), content_type

    def _operation(self, random: Random) -> Any:
        pointer = "".join("/" + random.choice([*KEYS, "0", "1", "-", "-1", "01", "9" * 30, "~2"]) for _ in range(random.randrange(5)))
        if random.random() < 0.5:
            pointer = random.choice(
                [
                    "/metadata/labels/a",
                    "/metadata/resourceVersion",
                    "/data/a",
                    "/metadata/finalizers/-",
                    "/metadata",
                    "",
                    "/spec/replicas",
                    "a",
                    "/",
                ]
            )
        operation = {
            "op": random.choice(["add", "remove", "replace", "move", "copy", "test", "x", ""]),
            "path": pointer,
            "value": anything(random),
        }
        if random.random() < 0.4:
            operation["from"] = random.choice(["/metadata/labels", "/metadata", "", "/data", "x", pointer])
        return operation if random.random() < 0.8 else changed(random, operation)

    def _protobuf(self, random: Random, group: str, version: str, kind: str) -> bytes:
        def field(number: int, value: bytes) -> bytes:
            return bytes([number << 3 | 2]) + _varint(len(value)) + value

        inner = bytes(random.randrange(256) for _ in range(random.randrange(60)))
        if random.random() < 0.5:
            inner = field(1, field(1, random.choice(NAMES).encode()) + inner[:10]) + inner[10:]
        meta = field(1, (f"{group}/{version}" if group else version).encode()) + field(2, kind.encode())
        whole = b"k8s\x00" + field(1, meta) + field(2, inner)
        return whole if random.random() < 0.6 else changed_bytes(random, whole)


def changed_bytes(random: Random, data: bytes) -> bytes:
    """The bytes with a few of them changed, or broken off."""
    out = bytearray(data)
    for _ in range(random.randrange(1, 6)):
        if out:
            out[random.randrange(len(out))] = random.choice([0, 255, 127, 128, random.randrange(256)])
    return bytes(out[: random.randrange(len(out) + 1)] if random.random() < 0.3 else out)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])
