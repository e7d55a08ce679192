"""The program `setpoint`: its commands and options."""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn

import click

from setpoint import __version__
from setpoint.cli.failure import INTERRUPTED, USAGE, Failure

_targets = click.argument("targets", metavar="TARGET...", nargs=-1, required=True)
_port = click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port of the embedded control plane; 0 lets the system choose."
)
_data = click.option(
    "--data", metavar="DIR", help="Keep the embedded control plane's objects in this folder, also when it ends.  [default: in memory]"
)
_write_kubeconfig = click.option(
    "--write-kubeconfig", metavar="FILE", help="Where the embedded control plane's kubeconfig goes.  [default: .setpoint/kubeconfig]"
)


class Program(click.Group):
    """A group of commands that may be interrupted at any time."""

    def invoke(self, ctx: click.Context) -> Any:
        """See click. Who presses Ctrl-C where no command has its own way of ending is told so; the exit code is a shell's for that."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="setpoint %(version)s")
def setpoint() -> None:
    """Level-based controllers on the Kubernetes API, with an embedded control plane.

    A TARGET is FILE.py, FILE.py:attribute or package.module[:attribute]: a controller, or an app that adds controllers.
    """


@setpoint.command()
@_targets
@click.option("--embedded", is_flag=True, help="Run against a control plane inside this program; implied where there is no kubeconfig.")
@click.option("--apply", "manifests", metavar="MANIFEST", multiple=True, help="Apply a manifest once the kinds are there. May be repeated.")
@click.option("--kubeconfig", metavar="FILE", help="The kubeconfig to use.")
@click.option("--context", metavar="NAME", help="The kubeconfig's context to use.")
@click.option("--namespace", "-n", metavar="NAME[,NAME...]", help="Watch this namespace alone, or these.")
@click.option("--all-namespaces", "-A", is_flag=True, help="Watch all namespaces; the default, unless WATCH_NAMESPACE is set.")
@_port
@_data
@_write_kubeconfig
@click.option("--metrics-bind-address", metavar="ADDRESS", help="Where /metrics is served; 0 for nowhere.  [default: :8080; embedded: 0]")
@click.option(
    "--health-probe-bind-address",
    metavar="ADDRESS",
    help="Where /healthz and /readyz are served; 0 for nowhere.  [default: :8081; embedded: 0]",
)
@click.option(
    "--hooks-bind-address", metavar="ADDRESS", help="Where the controllers' hooks are served, under /hooks/; 0 for nowhere.  [default: 0]"
)
@click.option(
    "--debug-bind-address",
    metavar="ADDRESS",
    help="Where `setpoint why` gets its answers; 0 for nowhere.  [default: the first free port of 127.0.0.1:8082 to 8091]",
)
@click.option("--request-metrics", is_flag=True, help="Measure each request to the API server: how long it takes, how large it is.")
@click.option("--leader-elect", is_flag=True, help="Of all replicas that name the same Lease, let one at a time run its controllers.")
@click.option("--leader-election-id", metavar="NAME", help="The Lease's name; needed with --leader-elect.")
@click.option("--leader-election-namespace", metavar="NAME", help="The Lease's namespace.  [default: the context's, or the pod's]")
@click.option("--verbose", "-v", is_flag=True, help="Log more.")
def run(
    targets: tuple[str, ...],
    embedded: bool,
    manifests: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    namespace: str | None,
    all_namespaces: bool,
    port: int,
    data: str | None,
    write_kubeconfig: str | None,
    metrics_bind_address: str | None,
    health_probe_bind_address: str | None,
    hooks_bind_address: str | None,
    debug_bind_address: str | None,
    request_metrics: bool,
    leader_elect: bool,
    leader_election_id: str | None,
    leader_election_namespace: str | None,
    verbose: bool,
) -> None:
    """Run controllers against a cluster, or with --embedded against a control plane inside this program."""
    from setpoint.cli import destination, running
    from setpoint.manager.flight import debug_endpoint

    own = destination.is_embedded(embedded, kubeconfig, context)
    if not own and (port or data or write_kubeconfig):
        raise Failure("--port, --data and --write-kubeconfig are for the embedded control plane; add --embedded", code=USAGE)
    asked = running.Run(
        targets=targets,
        manifests=manifests,
        namespaces=destination.namespaces(namespace, all_namespaces),
        metrics=destination.endpoint(metrics_bind_address or ("0" if own else ":8080"), "--metrics-bind-address"),
        health=destination.endpoint(health_probe_bind_address or ("0" if own else ":8081"), "--health-probe-bind-address"),
        hooks=destination.endpoint(hooks_bind_address or "0", "--hooks-bind-address"),
        request_metrics=request_metrics,
        debug=destination.endpoint(debug_bind_address, "--debug-bind-address") if debug_bind_address else debug_endpoint.DEFAULT,
        election=destination.election(leader_elect, leader_election_id, leader_election_namespace),
        verbose=verbose,
    )
    if own:
        running.run_embedded(asked, port, write_kubeconfig, data)
    else:
        running.run(asked, kubeconfig, context)


@setpoint.command()
@click.argument("words", metavar="KIND [NAMESPACE/]NAME", nargs=-1, required=True)
@click.option("--namespace", "-n", metavar="NAME", help="The object's namespace.  [default: default]")
@click.option("--controller", metavar="NAME", help="What this controller did, and no other.")
@click.option("--address", metavar="URL", help="The manager to ask, as it says where it serves /debug.  [default: all on this machine]")
@click.option("--last", metavar="N", type=click.IntRange(1), default=5, help="Show that many runs.  [default: 5]")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", help="For people, or everything as JSON.")
def why(words: tuple[str, ...], namespace: str | None, controller: str | None, address: str | None, last: int, output: str) -> None:
    """Tell why a controller ran for an object, what it changed, and who else writes there.

    KIND is spelled as in kubectl: webapp, webapps.apps.example.com, deploy. For an object that a controller owns or watches, the object
    that it triggers is shown.
    """
    from setpoint.cli import why as asking

    kind, key = asking.target(words, namespace)
    asked = asking.Asked(kind=kind, key=key, controller=controller or "", address=address or "", last=last, json=output == "json")
    asking.why(asked)


@setpoint.command()
@click.argument("target", metavar="TARGET")
@click.option(
    "--workload", "-f", "workloads", metavar="PATH", multiple=True, help="What a user does: manifests, a file or a folder. May be repeated."
)
@click.option("--with", "declared", metavar="MODULE", help="Where workload, outside, invariants and the like are declared.")
@click.option("--depth", type=click.IntRange(0, 2), default=1, show_default=True, help="How many faults happen in a run.")
@click.option("--budget", metavar="SECONDS", type=click.FloatRange(0), help="Then draw faults by chance, until so much CPU time is spent.")
@click.option("--html", metavar="FILE", help="Write the report as a page.")
@click.option("--regression", metavar="FILE", help="Write the first finding as a test for pytest.")
@click.option("--replay", "token", metavar="TOKEN", help="Run again what a report has shown, and nothing else.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="What decides where chance does.")
@click.option("--mode", type=click.Choice(["fast", "fork"]), default="fast", show_default=True, help="How processes are simulated.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def check(
    target: str,
    workloads: tuple[str, ...],
    declared: str | None,
    depth: int,
    budget: float | None,
    html: str | None,
    regression: str | None,
    token: str | None,
    seed: int,
    mode: str,
    as_json: bool,
) -> None:
    """Check whether a controller is level-based: try all that may go wrong, in simulated time, and compare how it ends.

    The workload and what else a check needs are declared in check_NAME.py beside the target's NAME.py, in the target's own module, or in
    that of --with. Exits with 0 if it held, 1 if it is refuted, 3 if its end depends on the way there, 4 if nothing can be said.
    """
    from setpoint.cli import check as checking

    checking.check(
        checking.Asked(
            target=target,
            workloads=workloads,
            declared=declared or "",
            depth=depth,
            budget=budget,
            html=html or "",
            regression=regression or "",
            token=token or "",
            seed=seed,
            mode=mode,
            json=as_json,
        )
    )


@setpoint.command()
@_port
@_data
@_write_kubeconfig
@click.option("--no-controllers", is_flag=True, help="The API server alone: no garbage collection, no pods.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Where to listen, on the loopback interface alone.")
@click.option("--token-file", metavar="FILE", help='More tokens, in Kubernetes\' form: token,user,uid,"group,group".')
@click.option("--anonymous", is_flag=True, help="Let in who sends no token, with all rights.")
@click.option("--log", metavar="requests[=FILE]", help="Log a line for each request, on standard error or at the end of a file.")
@click.option("--fault", "faults", metavar="FAULT", multiple=True, help="What is to go wrong, as 429:verb=list,times=3. May be repeated.")
def server(
    port: int,
    write_kubeconfig: str | None,
    data: str | None,
    no_controllers: bool,
    host: str,
    token_file: str | None,
    anonymous: bool,
    log: str | None,
    faults: tuple[str, ...],
) -> None:
    """Run the embedded control plane alone."""
    from setpoint.cli import serving

    asked = serving.Serving(
        port=port,
        host=host,
        kubeconfig=write_kubeconfig,
        data=data,
        controllers=not no_controllers,
        token_file=token_file,
        anonymous=anonymous,
        log=log,
        faults=faults,
    )
    serving.serve(asked)


@setpoint.command()
@click.option("--title", default="Setpoint controllers", show_default=True, help="What the dashboard is called.")
def dashboard(title: str) -> None:
    """Print a Grafana dashboard as JSON."""
    from setpoint.manager.metrics.dashboard import dashboard as model

    click.echo(json.dumps(model(title), indent=2))


@setpoint.command()
@click.option("--name", default="setpoint", show_default=True, help="What the PrometheusRule is called.")
@click.option("--namespace", "-n", default="", help="Its namespace.")
def alerts(name: str, namespace: str) -> None:
    """Print alerts, a PrometheusRule of the Prometheus operator, as YAML."""
    import yaml

    from setpoint.manager.metrics.alerts import prometheus_rule

    click.echo(yaml.safe_dump(prometheus_rule(name, namespace), sort_keys=False, width=1000), nl=False)


@setpoint.command()
@_targets
def crd(targets: tuple[str, ...]) -> None:
    """Print the CustomResourceDefinitions of a module's kinds as YAML."""
    import yaml

    from setpoint.cli.target import load_kinds
    from setpoint.client.install import definitions

    try:
        found = definitions(load_kinds(targets))
    except (TypeError, ValueError) as error:
        raise Failure(f"{', '.join(targets)} has a kind without a schema: {error}") from error
    if not found:
        raise Failure(f"{', '.join(targets)} has no kind of its own: decorate a Resource with @kind(group=..., version=...)")
    sys.stdout.write(yaml.safe_dump_all(found, sort_keys=False, explicit_start=len(found) > 1))


@setpoint.command()
@_targets
@click.option(
    "--namespace", "-n", "namespaces", metavar="NAME[,NAME...]", multiple=True, help="The namespaces that are watched; default all."
)
@click.option("--name", metavar="NAME", help="What the roles are called.  [default: the first target's name]")
@click.option(
    "--service-account",
    metavar="[NAMESPACE:]NAME",
    help="Whom they are bound to.  [default: the roles' name, in the first namespace, or default]",
)
@click.option("--leader-election-id", metavar="NAME", help="Allow this Lease as well.")
@click.option("--leader-election-namespace", metavar="NAME", help="The Lease's namespace.  [default: the service account's]")
def rbac(
    targets: tuple[str, ...],
    namespaces: tuple[str, ...],
    name: str | None,
    service_account: str | None,
    leader_election_id: str | None,
    leader_election_namespace: str | None,
) -> None:
    """Print the roles that controllers need, as far as they declare it, and their bindings, as YAML.

    Reads of all kinds that they watch, own or index, writes of those that they own, the status of their primary kind, and Events. What a
    reconciler writes beyond that, nobody can know: add it.
    """
    import yaml

    from setpoint.cli.destination import election
    from setpoint.cli.roles import roles
    from setpoint.cli.target import load_controllers

    wanted = election(bool(leader_election_id or leader_election_namespace), leader_election_id, leader_election_namespace)
    watched = [name.strip() for text in namespaces for name in text.split(",")]
    found = roles(load_controllers(targets), targets[0], watched, name=name, service_account=service_account, election=wanted)
    sys.stdout.write(yaml.safe_dump_all(found, sort_keys=False, explicit_start=True))


def main() -> NoReturn:
    """The entry point. A `Failure` is its sentence on standard error and its exit code; anything else is our fault, and shown whole."""
    try:
        setpoint(prog_name="setpoint")  # also as `python -m setpoint`
    except Failure as failure:
        from rich.markup import escape

        from setpoint.cli.console import console

        console().print(f"[bold red]setpoint:[/] {escape(str(failure))}")
        sys.exit(failure.code)
    sys.exit(0)
