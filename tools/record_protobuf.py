"""Records what the tests in ``tests/server/protobuf`` compare with: objects in both encodings, and what is refused.

    python tools/record_protobuf.py --kubeconfig FILE --vectors FOLDER

`FOLDER` is ``testdata`` of the Go module ``k8s.io/api``, which has an object of every kind with every field, as protobuf and as JSON, for
this release and for some before. Those of the kinds that ``builtin/published`` knows go into ``vectors.json.gz``, of this release and of
the oldest. The bodies in ``refused.json`` are sent to the server, and its answers written beside them. A new case there is a new entry with
``name``, ``method``, ``path`` and ``body`` (hex).
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from generate_k8s import Server

from setpoint.cluster.server.builtin.go_types import registered

TARGET = Path(__file__).resolve().parent.parent / "tests" / "server" / "protobuf"

Json = dict[str, Any]


class Recorder(Server):
    def ask(self, case: Json) -> tuple[int, str]:
        """Code and message of an answer."""
        request = urllib.request.Request(self._url + case["path"], bytes.fromhex(case["body"]), method=case["method"])
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/vnd.kubernetes.protobuf")
        try:
            with urllib.request.urlopen(request, context=self._tls) as response:
                return response.status, ""
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)["message"]
        except ConnectionError:
            return 0, "panic: the connection is closed without an answer"


def vectors(folder: Path) -> list[Json]:
    """All objects of known kinds; one that is the same in both releases once."""
    found: dict[tuple[str, str], Json] = {}
    releases = sorted(each.name for each in folder.iterdir() if each.is_dir())
    for release in (folder / releases[0], folder / releases[1]):
        for file in sorted(release.glob("*.pb")):
            *group, version, kind = file.stem.split(".")
            named = "" if group == ["core"] else ".".join(group)
            if (named, version, kind) not in registered() or "after_roundtrip" in file.name:
                continue
            trip = file.with_name(f"{file.stem}.after_roundtrip.json")
            written = json.loads((trip if trip.exists() else file.with_suffix(".json")).read_bytes())
            data = base64.b64encode(file.read_bytes()).decode()
            found.setdefault((file.stem, data), {"name": f"{release.name}/{file.stem}", "protobuf": data, "json": written})
    return list(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="of a running API server, with a bearer token")
    parser.add_argument("--vectors", type=Path, required=True, help="testdata of the Go module k8s.io/api")
    arguments = parser.parse_args()
    content = json.dumps(vectors(arguments.vectors), separators=(",", ":"), sort_keys=True).encode()
    (TARGET / "vectors.json.gz").write_bytes(gzip.compress(content, 9, mtime=0))
    recorder = Recorder(arguments.kubeconfig)
    cases = []
    for case in json.loads((TARGET / "refused.json").read_text()):
        code, message = recorder.ask(case)
        cases.append({**{key: case[key] for key in ("name", "method", "path", "body")}, "code": code, "message": message})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (TARGET / "refused.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
