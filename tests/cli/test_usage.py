"""Options and arguments: what they do, and exit code 2 for those that make no sense together."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import setpoint
from setpoint.cli import destination
from setpoint.cli.failure import Failure

from .conftest import Cli, Write

EXAMPLE = Path(__file__).parents[2] / "examples" / "webapp" / "webapp.py"


def test_the_version(cli: Cli) -> None:
    assert cli("--version") == (0, f"setpoint {setpoint.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["run"],
        ["crd"],
        ["run", "--nonsense", "a.py"],
        ["run", "--port", "70000", "a.py"],
        ["server", "--port", "many"],
    ],
)
def test_usage_errors_exit_with_2(cli: Cli, arguments: list[str]) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert "Usage: setpoint" in ended.err
    assert not ended.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "shop", "-A"], "--namespace and --all-namespaces exclude each other"),
        (["--embedded", "--context", "prod"], "--embedded brings its own cluster; leave out --kubeconfig and --context"),
        (["--embedded", "--kubeconfig", "config"], "--embedded brings its own cluster; leave out --kubeconfig and --context"),
        (
            ["--kubeconfig", "config", "--port", "6443"],
            "--port, --data and --write-kubeconfig are for the embedded control plane; add --embedded",
        ),
        (["-n", "Shop"], "--namespace is 'Shop', and 'Shop' is no name of a namespace"),
        (["--metrics-bind-address", "8080"], "--metrics-bind-address takes HOST:PORT, :PORT, or 0 for no endpoint, not '8080'"),
        (
            ["--leader-elect"],
            "--leader-elect needs --leader-election-id, the name of the Lease that all replicas of this program share, and no other "
            "program, such as shop.example.com",
        ),
        (["--leader-election-id", "x"], "--leader-election-id and --leader-election-namespace are for --leader-elect; add it"),
        (
            ["--leader-elect", "--leader-election-id", "Shop"],
            "--leader-election-id is 'Shop', which is no name of a Lease: lower-case letters, digits, '-' and '.'",
        ),
        (
            ["--leader-elect", "--leader-election-id", "x", "--leader-election-namespace", "a.b"],
            "--leader-election-namespace is 'a.b', which is no name of a namespace",
        ),
        (["--health-probe-bind-address", ":x"], "--health-probe-bind-address takes HOST:PORT, :PORT, or 0 for no endpoint, not ':x'"),
        (["--hooks-bind-address", ":x"], "--hooks-bind-address takes HOST:PORT, :PORT, or 0 for no endpoint, not ':x'"),
    ],
)
def test_options_that_make_no_sense(cli: Cli, controller: Path, arguments: list[str], said: str) -> None:
    assert cli("run", controller, *arguments).refusal(2) == said


def test_which_namespace_is_watched() -> None:
    env = {"WATCH_NAMESPACE": "shop"}
    assert destination.namespaces(None, False, env={}) == ()
    assert destination.namespaces(None, False, env=env) == ("shop",)
    assert destination.namespaces("other", False, env=env) == ("other",)
    assert destination.namespaces(None, True, env=env) == ()
    assert destination.namespaces(None, False, env={"WATCH_NAMESPACE": "b, a,b"}) == ("b", "a")
    with pytest.raises(Failure, match=r"WATCH_NAMESPACE is 'a,B', and 'B' is no name of a namespace"):
        destination.namespaces(None, False, env={"WATCH_NAMESPACE": "a,B"})


def test_where_endpoints_listen() -> None:
    assert destination.endpoint("0", "--x") is None
    assert destination.endpoint(":8080", "--x") == ("0.0.0.0", 8080)
    assert destination.endpoint("127.0.0.1:0", "--x") == ("127.0.0.1", 0)
    assert destination.endpoint("[::1]:8081", "--x") == ("::1", 8081)


def test_crd_prints_what_kubectl_can_apply(cli: Cli) -> None:
    ended = cli("crd", EXAMPLE)
    assert (ended.code, ended.err) == (0, "")
    definition = yaml.safe_load(ended.out)
    assert (definition["kind"], definition["metadata"]["name"]) == ("CustomResourceDefinition", "webapps.apps.example.com")
    version = definition["spec"]["versions"][0]
    assert version["subresources"] == {
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.readyReplicas"},
    }
    assert version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["replicas"]["maximum"] == 100


TWO = """
from setpoint import Controller, Resource, Struct, kind

class Spec(Struct):
    size: int = 1

class Status(Struct):
    pass

@kind(group="example.com", version="v1")
class Red(Resource[Spec, Status]):
    \"\"\"Red.\"\"\"

@kind(group="example.com", version="v1")
class Blue(Resource[Spec, Status]):
    \"\"\"Blue.\"\"\"

red = Controller(Red)

@red.reconciler
async def reconcile(ctx, request):
    pass
"""


def test_crd_of_a_module_and_of_one_thing_in_it(cli: Cli, write: Write) -> None:
    write("two_kinds.py", TWO)

    def names(target: str) -> list[str]:
        return [definition["spec"]["names"]["kind"] for definition in yaml.safe_load_all(cli("crd", target).out)]

    assert names("two_kinds.py") == ["Red", "Blue"]
    assert names("two_kinds.py:red") == ["Red"]
    assert names("two_kinds.py:Blue") == ["Blue"]


def test_crd_of_a_module_without_kinds(cli: Cli, controller: Path) -> None:
    said = cli("crd", "quiet.py").refusal()
    assert said == "quiet.py has no kind of its own: decorate a Resource with @kind(group=..., version=...)"


def test_a_type_that_has_no_schema(cli: Cli, write: Write) -> None:
    write("odd.py", TWO.replace("size: int = 1", "size: complex = 1j"))
    said = cli("crd", "odd.py").refusal()
    assert said.startswith("odd.py has a kind without a schema: ")
    assert "complex" in said
    assert "complex" in cli("run", "--embedded", "odd.py:red").refusal()
