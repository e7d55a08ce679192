"""The names, labels and buckets of metrics are an interface: dashboards and alerts of others query them.

The tables are those of controller-runtime and client-go, and of our own; they are not made from the code.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.manager.metrics import Metrics
from setpoint.manager.metrics.exposition import exposition, negotiated
from setpoint.world import World, simulate

from .scrapes import Exposed, full, parsed

RECONCILE = (
    "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 "
    "30 40 50 60 +Inf"
)
QUEUE = "1e-08 1e-07 1e-06 9.999999999999999e-06 9.999999999999999e-05 0.001 0.01 0.1 1 10 100 1000 +Inf"
REQUEST = "0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf"
SIZE = "64 256 512 1024 4096 16384 65536 262144 1.048576e+06 4.194304e+06 1.6777216e+07 +Inf"

TABLE = f"""
controller_runtime_reconcile_total                  counter    controller,result
controller_runtime_reconcile_errors_total           counter    controller
controller_runtime_terminal_reconcile_errors_total  counter    controller
controller_runtime_reconcile_panics_total           counter    controller
controller_runtime_reconcile_timeouts_total         counter    controller
controller_runtime_reconcile_time_seconds           histogram  controller                {RECONCILE}
controller_runtime_max_concurrent_reconciles        gauge      controller
controller_runtime_active_workers                   gauge      controller
workqueue_depth                                     gauge      controller,name,priority
workqueue_adds_total                                counter    controller,name
workqueue_retries_total                             counter    controller,name
workqueue_queue_duration_seconds                    histogram  controller,name           {QUEUE}
workqueue_work_duration_seconds                     histogram  controller,name           {QUEUE}
workqueue_unfinished_work_seconds                   gauge      controller,name
workqueue_longest_running_processor_seconds         gauge      controller,name
rest_client_requests_total                          counter    code,host,method
rest_client_request_duration_seconds                histogram  host,verb                 {REQUEST}
rest_client_rate_limiter_duration_seconds           histogram  host,verb                 {REQUEST}
rest_client_request_size_bytes                      histogram  host,verb                 {SIZE}
rest_client_response_size_bytes                     histogram  host,verb                 {SIZE}
rest_client_request_retries_total                   counter    code,host,verb
leader_election_master_status                       gauge      name
process_cpu_seconds_total                           counter    -
process_resident_memory_bytes                       gauge      -
process_open_fds                                    gauge      -
python_info                                         gauge      implementation,major,minor,patchlevel,version
python_gc_collections_total                         counter    generation
setpoint_reconcile_conflicts_total                  counter    controller
setpoint_reconcile_loops_total                      counter    controller
setpoint_applies_skipped_total                      counter    controller
setpoint_mapper_errors_total                        counter    controller,kind
setpoint_effect_duration_seconds                    histogram  call,controller           {REQUEST}
setpoint_effect_errors_total                        counter    call,controller
setpoint_cache_age_seconds                          gauge      kind
setpoint_cache_objects                              gauge      kind
setpoint_cache_bytes                                gauge      kind
setpoint_thread_pool_size                           gauge      -
setpoint_thread_pool_in_use                         gauge      -
setpoint_thread_pool_waiting                        gauge      -
"""
OPT_IN = ("request_duration_seconds", "rate_limiter_duration_seconds", "request_size_bytes", "response_size_bytes", "request_retries_total")
ABSENT = (
    "controller_runtime_webhook",
    "controller_runtime_conversion",
    "certwatcher",
    "rest_client_dns",
    "go_",
    "leader_election_slowpath",
)


def rows() -> dict[str, Exposed]:
    found = {}
    for line in TABLE.strip().splitlines():
        name, type_, labels, *bounds = line.split()
        found[name] = Exposed(type_, () if labels == "-" else tuple(labels.split(",")), tuple(bounds))
    return found


@pytest.mark.parametrize("name", rows())
def test_a_metric_has_its_name_type_labels_and_buckets(name: str) -> None:
    assert parsed(full())[name] == rows()[name]


def test_nothing_else_is_exposed_but_the_programs_own_figures_and_what_has_not_happened_yet() -> None:
    rest = [name for name in parsed(full()) if name not in rows() and not name.startswith(("process_", "python_gc_"))]
    assert all(name.startswith("setpoint_") for name in rest), rest


def test_the_page_tells_of_every_metric() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics-and-logs.md").read_text()
    told = [name for name in parsed(full()) if name.startswith(("controller_", "workqueue_", "rest_", "leader_", "setpoint_"))]
    assert len(told) > 30
    assert [name for name in told if f"`{name}`" not in page] == []


def test_what_there_is_no_such_thing_of_has_no_metric() -> None:
    assert not [name for name in parsed(full()) if name.startswith(ABSENT)]
    assert "_created" not in full()


def test_the_details_of_requests_are_opt_in() -> None:
    async def main(world: World):
        return exposition(Metrics(world.clock, "server:6443").registry).decode()

    text = simulate(main)
    assert "rest_client_requests_total" in text
    assert not [name for name in OPT_IN if f"rest_client_{name}" in text]


def test_openmetrics_is_given_to_who_asks_for_it() -> None:
    async def main(world: World):
        metrics = Metrics(world.clock, "server:6443")
        metrics.include_controller("shop", 1)
        accepts = (
            "",
            "*/*",
            "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5",
        )
        return [negotiated(metrics.registry, accept) for accept in accepts]

    *plain, (body, media) = simulate(main)
    for text, kind in plain:
        assert kind == "text/plain; version=0.0.4; charset=utf-8"
        assert b'le="1"' in text
        assert b"# EOF" not in text
    assert media.startswith("application/openmetrics-text; version=1.0.0; charset=utf-8")
    assert body.endswith(b"# EOF\n")
    assert b'le="1.0"' in body
    assert b"_created" not in body
