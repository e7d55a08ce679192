"""Metrics of the requests to the API server, under client-go's names. All but the first cost a little for each request, and are opt-in.

`rest_client_rate_limiter_duration_seconds` is how long a request waited for its turn: there is no limit of requests per second, but one of
requests in flight. There is no `rest_client_dns_resolution_duration_seconds`: connections are kept, and the resolver is the system's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from setpoint.api import Answer
from setpoint.api.paths import METHODS
from setpoint.client.events import RequestDone, RequestRepeated, RequestSent
from setpoint.manager.metrics.buckets import REQUEST_BUCKETS, SIZE_BUCKETS
from setpoint.world import Event


class RequestMetrics:
    """`host` is the API server's. `detailed` adds how long requests took and waited, how large they were, how often they were repeated."""

    def __init__(self, registry: CollectorRegistry, host: str, *, detailed: bool) -> None:
        self._host = host
        self._counters: dict[tuple[str, str], Counter] = {}
        self._requests = Counter(
            "rest_client_requests_total",
            "Number of HTTP requests, by status code, method, and host",
            ["code", "method", "host"],
            registry=registry,
        )
        self.handlers: Mapping[type[Event], Callable[[Any], None]] = {RequestDone: self._done}
        if detailed:
            details = _Details(registry, host)
            self.handlers = {RequestDone: self._done_in_detail, RequestSent: details.sent, RequestRepeated: details.repeated}
            self._details = details

    def _done(self, event: RequestDone) -> None:
        # Looking a series up by its labels costs more than counting, so each is looked up once.
        place = event.code, METHODS[event.operation.verb]
        series = self._counters.get(place)
        if series is None:
            series = self._counters[place] = self._requests.labels(*place, self._host)
        series.inc()

    def _done_in_detail(self, event: RequestDone) -> None:
        self._done(event)
        self._details.done(event)


class _Details:
    def __init__(self, registry: CollectorRegistry, host: str) -> None:
        self._host = host

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(name, text, ["verb", "host"], buckets=buckets, registry=registry)

        self._seconds = histogram("rest_client_request_duration_seconds", "Request latency in seconds, by verb and host", REQUEST_BUCKETS)
        self._waited = histogram(
            "rest_client_rate_limiter_duration_seconds", "Seconds that requests waited for their turn, by verb and host", REQUEST_BUCKETS
        )
        self._asked = histogram("rest_client_request_size_bytes", "Request size in bytes, by verb and host", SIZE_BUCKETS)
        self._answered = histogram("rest_client_response_size_bytes", "Response size in bytes, by verb and host", SIZE_BUCKETS)
        self._retries = Counter(
            "rest_client_request_retries_total",
            "Number of repeated requests, by status code, verb, and host",
            ["code", "verb", "host"],
            registry=registry,
        )

    def sent(self, event: RequestSent) -> None:
        verb = METHODS[event.operation.verb]
        self._waited.labels(verb, self._host).observe(event.waited)
        self._asked.labels(verb, self._host).observe(len(event.operation.body))

    def done(self, event: RequestDone) -> None:
        # A watch is not over when it is accepted, and how long that took is nobody's latency; client-go leaves it out, too.
        if event.operation.verb == "watch":
            return
        verb = METHODS[event.operation.verb]
        self._seconds.labels(verb, self._host).observe(event.seconds)
        if isinstance(event.outcome, Answer):
            self._answered.labels(verb, self._host).observe(len(event.outcome.body))

    def repeated(self, event: RequestRepeated) -> None:
        self._retries.labels(event.code, METHODS[event.operation.verb], self._host).inc()
