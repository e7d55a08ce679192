"""Lost races: somebody else writes between a read and a write."""

from __future__ import annotations

import pytest

from setpoint import Context, Controller, Request
from setpoint.controller import RunEnded

from .planes import Embedded, Real
from .scenes import Gate, Thing, errors


def test_a_foreign_write_between_read_and_update_makes_no_error(cluster: Embedded | Real, caplog: pytest.LogCaptureFixture) -> None:
    """kubernetes-sigs/controller-runtime#2075, apache/solr-operator#544, ngrok/ngrok-operator#773, coralogix/coralogix-operator#307,
    operator-framework/java-operator-sdk#2981, keycloak/keycloak#38529, k0sproject/k0smotron#937, devfile/devworkspace-operator#900:
    logs are full of "object has been modified" with stack traces, and error counters rise, though the retry does all that is needed.
    """
    gate = Gate()
    copier = Controller(Thing, name="copier")

    @copier.reconciler
    async def copy(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            await gate.passed()
            thing.status.seen = thing.spec.value
            await ctx.update_status(thing)

    thing = cluster.thing(value="old")
    cluster.launch(copier)
    cluster.until(lambda: gate.reached)
    cluster.edit(thing, value="new")
    gate.open()
    cluster.settle()
    assert cluster.refresh(thing).status.seen == "new"
    results = [ended.result for ended in cluster.heard(RunEnded, controller="copier")]
    assert results.count("requeue") == 1, results
    assert cluster.metric("controller_runtime_reconcile_total", controller="copier", result="requeue") == 1
    assert cluster.metric("setpoint_reconcile_conflicts_total", controller="copier") == 1
    assert cluster.metric("controller_runtime_reconcile_errors_total", controller="copier") == 0
    assert errors(caplog) == []
    assert not any(record.exc_info for record in caplog.records)
