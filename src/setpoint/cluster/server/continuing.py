"""Continue tokens: where the next page of a list begins, and at which revision.

They are read as the real server reads them, so that what is wrong with one is said in its words. Revision -1 stands for now.
"""

from __future__ import annotations

import json
import posixpath
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from setpoint.api import ApiError
from setpoint.api.status import bad_request
from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.schema import Json, MalformedBody, decode_json

_VERSION = "meta.k8s.io/v1"
_FIELDS = {"v": (str, "string"), "rv": (int, "int64"), "start": (str, "string")}
_NO_LETTER = re.compile("[^A-Za-z0-9_-]")


def write_token(revision: int, start: str) -> str:
    """The token for what comes from a key on, which is told within what is listed."""
    text = json.dumps({"v": _VERSION, "rv": revision, "start": f"/{start}"}, separators=(",", ":"), ensure_ascii=False)
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_token(token: str) -> tuple[str, int]:
    """The key and the revision of a token. Raises BadRequest."""
    read = _fields(_decoded(token))
    if read["v"] != _VERSION:
        raise _invalid(f"server does not recognize this encoded version {read['v']}")
    if not read["rv"]:
        raise _invalid(f"incorrect encoded start resourceVersion (version {_VERSION})")
    start: str = read["start"]
    if not start:
        raise _invalid(f"encoded start key empty (version {_VERSION})")
    key = start if start.startswith("/") else f"/{start}"
    if posixpath.normpath(key) != key or key.startswith("//"):
        raise _invalid(start)
    return key[1:], read["rv"]


def _decoded(token: str) -> Json:
    letters = token.replace("\n", "").replace("\r", "")
    wrong = _NO_LETTER.search(letters)
    at = wrong.start() if wrong is not None else len(letters) - 1 if len(letters) % 4 == 1 else None
    if at is not None:
        raise _invalid(f"illegal base64 data at input byte {at}")
    try:
        return decode_json(urlsafe_b64decode(letters + "=" * (-len(letters) % 4)))[0]
    except MalformedBody as error:
        raise _invalid(str(error)) from error


def _fields(body: Json) -> dict[str, Json]:
    """The fields of a token, whatever the case of their names, each of its type."""
    if body is not None and not isinstance(body, dict):
        raise _invalid(f"json: cannot unmarshal {go_type(body)} into Go value of type storage.continueToken")
    read: dict[str, Json] = {"v": "", "rv": 0, "start": ""}
    for given, value in (body or {}).items():
        name = given.lower()
        if name not in _FIELDS or value is None:
            continue
        wanted, called = _FIELDS[name]
        if type(value) is not wanted:
            shown = f"number {value}" if wanted is int and type(value) is float else go_type(value)
            raise _invalid(f"json: cannot unmarshal {shown} into Go struct field continueToken.{name} of type {called}")
        read[name] = value
    return read


def _invalid(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid: {why}")
