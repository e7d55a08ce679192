"""`setpoint dashboard` and `setpoint alerts` print what is shipped, for Grafana and kubectl to take."""

import json

import yaml
from click.testing import CliRunner

from setpoint.cli.program import setpoint


def test_the_dashboard_is_printed_as_json() -> None:
    done = CliRunner().invoke(setpoint, ["dashboard", "--title", "Shop"])
    assert done.exit_code == 0
    model = json.loads(done.output)
    assert model["title"] == "Shop"
    assert len(model["panels"]) > 20


def test_the_alerts_are_printed_as_a_manifest() -> None:
    done = CliRunner().invoke(setpoint, ["alerts", "--name", "shop", "-n", "monitoring"])
    assert done.exit_code == 0
    rule = yaml.safe_load(done.output)
    assert (rule["kind"], rule["metadata"]["name"], rule["metadata"]["namespace"]) == ("PrometheusRule", "shop", "monitoring")
    assert rule["spec"]["groups"][0]["rules"][0]["alert"] == "SetpointReconcileErrors"
