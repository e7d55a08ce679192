"""`setpoint why`: asks a running manager why an object's controller ran, and shows the answer.

A manager answers on its debug endpoint. Where no address is given, all those on this machine are asked that listen on a default port.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import ProxyHandler, build_opener

import msgspec
from rich.console import Console
from rich.text import Text

from setpoint.cli.failure import USAGE, Failure
from setpoint.manager.flight.debug_endpoint import DEFAULT_HOST, DEFAULT_PORTS
from setpoint.manager.flight.records import History, Run, document
from setpoint.manager.flight.why import ended, rest_in_words, run_in_words
from setpoint.objects import Request
from setpoint.world import real_world

TIMEOUT = 5.0
"""Seconds for an answer."""
_STYLES = {"because": "cyan", "wrote": "green", "failed": "bold red", "called": "magenta"}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked. `address` is "" for every manager of this machine; `last` is how many runs are shown, `controller` "" for all."""

    kind: str
    key: Request
    controller: str
    address: str
    last: int
    json: bool


def target(words: tuple[str, ...], namespace: str | None) -> tuple[str, Request]:
    """Kind and key: `webapp default/shop`, `webapp shop` or `webapp/shop`. Raises `Failure`."""
    if len(words) == 1 and words[0].count("/") == 1:
        words = tuple(words[0].split("/"))
    if len(words) != 2 or words[1].count("/") > 1 or not all(part for word in words for part in word.split("/")):
        raise Failure("name one object: KIND NAMESPACE/NAME, such as webapp default/shop, or KIND/NAME", code=USAGE)
    kind, key = words[0], Request.parse(words[1])
    if key.namespace and namespace and key.namespace != namespace:
        raise Failure(f"--namespace {namespace} and {key} name two namespaces", code=USAGE)
    return kind, Request(key.namespace or namespace or "default", key.name)


def why(asked: Asked) -> None:
    """Asks, and prints what is told. Raises `Failure` if no manager answers, or none knows anything."""
    question = f"/debug/why/{quote(asked.kind, safe='')}/{quote(asked.key.namespace, safe='')}/{quote(asked.key.name, safe='')}"
    if asked.controller:
        question += f"?{urlencode({'controller': asked.controller})}"
    known: list[tuple[str, list[History]]] = []
    unknown: list[tuple[str, str]] = []
    for address in [_address(asked.address)] if asked.address else _found():
        status, answer = _get(address + question)
        if status == 200:
            known.append((address, _histories(address, answer)))
        else:
            unknown.append((address, answer.get("error", f"it answers {status}") if isinstance(answer, dict) else f"it answers {status}"))
    if not known and not unknown:
        raise Failure(
            f"no manager answers on {DEFAULT_HOST}, ports {DEFAULT_PORTS[0]} to {DEFAULT_PORTS[-1]}: is `setpoint run` running on this "
            f"machine? For a pod, `kubectl port-forward POD {DEFAULT_PORTS[0]}` first; for another address, --address"
        )
    if not known:
        several = len(unknown) > 1
        raise Failure("; ".join(f"{address}: {error}" if several else error for address, error in unknown))
    if asked.json:
        found = [document(history) for _, histories in known for history in histories]
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
        return
    out = Console(file=sys.stdout, highlight=False, soft_wrap=True, color_system=None if os.environ.get("NO_COLOR") else "auto")
    now = real_world().clock.now().timestamp()
    for address, histories in known:
        for history in histories:
            for line in _shown(history, asked.last, now, address if len(known) > 1 else ""):
                out.print(line)


def _histories(address: str, answer: Any) -> list[History]:
    try:
        return msgspec.convert(answer, list[History])
    except msgspec.ValidationError as error:
        raise Failure(f"what answers at {address} is no manager, or one of another version of Setpoint: {error}") from error


def _address(text: str) -> str:
    url = text if "//" in text else f"http://{DEFAULT_HOST if text.startswith(':') else ''}{text}"
    parts = urlsplit(url)
    try:
        usable = parts.scheme == "http" and bool(parts.hostname) and parts.port is not None and parts.path in ("", "/", "/debug")
    except ValueError:
        usable = False
    if not usable:
        raise Failure(f"--address takes http://HOST:PORT, as a manager says where it serves /debug, not {text!r}", code=USAGE)
    return f"http://{parts.netloc}"


def _found() -> Iterator[str]:
    """The addresses of all managers on default ports. Whatever else listens there is passed over."""
    for port in DEFAULT_PORTS:
        address = f"http://{DEFAULT_HOST}:{port}"
        try:
            _, answer = _get(f"{address}/debug")
        except Failure:
            continue
        if isinstance(answer, dict) and answer.get("program") == "setpoint":
            yield address


def _get(url: str) -> tuple[int, Any]:
    """Status and JSON of an answer. No proxy is asked: what is meant is nearby."""
    try:
        with build_opener(ProxyHandler({})).open(url, timeout=TIMEOUT) as answer:
            return answer.status, msgspec.json.decode(answer.read())
    except HTTPError as error:
        with error:
            body = error.read()
        try:
            return error.code, msgspec.json.decode(body)
        except msgspec.DecodeError:
            return error.code, None
    except (URLError, OSError, ValueError) as error:  # what is no HTTP, or no JSON, among them
        reason = getattr(error, "reason", None) or error
        raise Failure(f"no manager answers at {urlsplit(url).netloc}: {reason}") from error
    except Exception as error:
        from http.client import HTTPException

        if not isinstance(error, HTTPException):
            raise
        raise Failure(f"{urlsplit(url).netloc} is no manager: it does not speak HTTP") from error


def _shown(history: History, last: int, now: float, address: str) -> Iterator[Text]:
    title = Text.assemble((f"{history.kind} {history.key}", "bold"), f"  controller {history.controller}")
    yield title.append(f" at {address}", "dim") if address else title
    runs = history.runs[-last:] if last else []
    if left_out := len(history.runs) - len(runs):
        yield Text(f"{left_out} earlier runs are remembered: --last {len(history.runs)}", "dim")
    for run in runs:
        yield from _run(run, now)
    for line in rest_in_words(history):
        yield Text(line, "bold yellow" if line.startswith("goes round") else "")
    yield Text("")


def _run(run: Run, now: float) -> Iterator[Text]:
    failed = run.result == "error"
    when = datetime.fromtimestamp(run.at).strftime("%H:%M:%S.%f")[:-3]
    yield Text.assemble((when, "bold"), (f"  {_ago(now - run.at)}  ", "dim"), (ended(run), "red" if failed else ""))
    for line in run_in_words(run)[1:]:
        word = line.split()[0]
        text = Text(line)
        text.stylize(_STYLES.get(word, "dim"), 2, 2 + len(word))
        yield text


def _ago(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"
