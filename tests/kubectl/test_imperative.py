"""kubectl from 1.32 on sends what it makes up itself in protobuf: its commands work, and what is not there is refused with its name."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from .found import PROTOBUF_SINCE, kubectls
from .planes import embedded

pytestmark = pytest.mark.kubectl

MADE = {
    "create ns team": "namespace/team created",
    "create configmap c --from-literal=a=1": "configmap/c created",
    "create secret generic s --from-literal=a=1": "secret/s created",
    "create sa robot": "serviceaccount/robot created",
    "create deployment web --image=nginx --replicas=2 --port=80": "deployment.apps/web created",
    "create job j --image=busybox -- date": "job.batch/j created",
    "create cronjob t --image=busybox --schedule='*/5 * * * *' -- date": "cronjob.batch/t created",
    "create role reader --verb=get,list --resource=pods,deployments.apps": "role.rbac.authorization.k8s.io/reader created",
    "create rolebinding b --role=reader --user=u": "rolebinding.rbac.authorization.k8s.io/b created",
    "create quota q --hard=pods=20": "resourcequota/q created",
    "create service clusterip w --tcp=80:8080": "service/w created",
    "create ingress i --rule=a.example/x=w:80": "ingress.networking.k8s.io/i created",
    "autoscale deployment web --max=3": "horizontalpodautoscaler.autoscaling/web autoscaled",
    "run p --image=nginx": "pod/p created",
    "wait pod p --for=condition=Ready --timeout=50s": "pod/p condition met",
}
REFUSED = {
    "create token robot": "the subresource token of service accounts is not supported by the embedded server yet",
    "auth whoami": "(SelfSubjectReview) is not supported by the embedded server yet",
    "auth can-i create pods": "whoever has the token may do everything",
    "logs p": "the log of pods, in which nothing runs, is not supported by the embedded server yet",
    "exec p -- date": "exec into pods, in which nothing runs, is not supported by the embedded server yet",
    "attach p": "attaching to pods, in which nothing runs, is not supported by the embedded server yet",
    "port-forward p 8080:80": "port-forward to pods, in which nothing runs, is not supported by the embedded server yet",
    "cp p:/etc/hosts hosts": "exec into pods, in which nothing runs, is not supported by the embedded server yet",
    "debug p --image=busybox": "the subresource ephemeralcontainers of pods is not supported by the embedded server yet",
}
ASKED = {
    "get job j -o jsonpath={.spec.template.spec.containers[0].command}": '["date"]',
    "get role reader -o jsonpath={.rules[*].resources}": '["pods"] ["deployments"]',
    "get deployment web -o jsonpath={.spec.replicas},{.spec.template.spec.containers[0].ports[0].containerPort}": "2,80",
    "get hpa web -o jsonpath={.spec.maxReplicas}": "3",
    "create configmap c --from-literal=a=1": "already exists",
}
"""What is said of what has been made, and that it is not made twice."""


def those_that_send_protobuf() -> list[tuple[int, Path]]:
    """The oldest and the newest that there are."""
    found = sorted((minor, path) for minor, path in kubectls().items() if minor >= PROTOBUF_SINCE)
    return list(dict.fromkeys([*found[:1], *found[-1:]]))


@pytest.mark.skipif(not those_that_send_protobuf(), reason="no kubectl from 1.32 on is there")
@pytest.mark.parametrize(
    "program", [pytest.param(path, id=f"1.{minor}") for minor, path in those_that_send_protobuf()] or [pytest.param(Path(), id="none")]
)
def test_commands_that_send_protobuf_work(program: Path, tmp_path: Path) -> None:
    with embedded(tmp_path) as kubeconfig:

        def say(command: str) -> str:
            call = [str(program), "--kubeconfig", str(kubeconfig), "--cache-dir", str(tmp_path / "cache"), *shlex.split(command)]
            done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
            return (done.stdout + done.stderr).strip()

        wrong = {command: said for command, expected in MADE.items() if expected not in (said := say(command))}
        wrong |= {command: said for command, expected in {**REFUSED, **ASKED}.items() if expected not in (said := say(command))}
        assert wrong == {}
