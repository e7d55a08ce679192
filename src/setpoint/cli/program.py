"""The program `setpoint`: its commands and options."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer
import yaml

from setpoint import __version__
from setpoint.cli.failure import USAGE, Failure

app = typer.Typer(
    name="setpoint",
    help="Level-based controllers on the Kubernetes API, with an embedded control plane.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Targets = Annotated[
    list[str], typer.Argument(metavar="TARGET...", help="FILE.py, FILE.py:attribute or package.module[:attribute]: a controller or an app.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the embedded control plane; 0 lets the system choose.")]
WriteKubeconfig = Annotated[
    str | None, typer.Option(metavar="FILE", help="Where the embedded control plane's kubeconfig goes.  [default: .setpoint/kubeconfig]")
]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"setpoint {__version__}")
        raise typer.Exit


@app.callback()
def setpoint(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """Level-based controllers on the Kubernetes API, with an embedded control plane."""


@app.command()
def run(
    targets: Targets,
    embedded: Annotated[
        bool, typer.Option("--embedded", help="Run against a control plane inside this program; implied where there is no kubeconfig.")
    ] = False,
    apply: Annotated[
        list[str] | None, typer.Option(metavar="MANIFEST", help="Apply a manifest once the kinds are there. May be repeated.")
    ] = None,
    kubeconfig: Annotated[str | None, typer.Option(metavar="FILE", help="The kubeconfig to use.")] = None,
    context: Annotated[str | None, typer.Option(help="The kubeconfig's context to use.")] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Watch this namespace alone.")] = None,
    all_namespaces: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="Watch all namespaces; the default, unless WATCH_NAMESPACE is set.")
    ] = False,
    port: Port = 0,
    write_kubeconfig: WriteKubeconfig = None,
    metrics_bind_address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Where /metrics is served; 0 for nowhere.  [default: :8080; embedded: 0]")
    ] = None,
    health_probe_bind_address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Where /healthz and /readyz are served; 0 for nowhere.  [default: :8081; embedded: 0]"),
    ] = None,
    leader_elect: Annotated[bool, typer.Option("--leader-elect", help="Not supported yet.", hidden=True)] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")] = False,
) -> None:
    """Run controllers against a cluster, or with --embedded against a control plane inside this program."""
    from setpoint.cli import destination, running

    if leader_elect:  # controller-runtime's flag, which deployments carry over
        raise Failure("--leader-elect: leader election is not supported yet; run one replica, with the strategy Recreate")
    own = destination.is_embedded(embedded, kubeconfig, context)
    if not own and (port or write_kubeconfig):
        raise Failure("--port and --write-kubeconfig are for the embedded control plane; add --embedded", code=USAGE)
    asked = running.Run(
        targets=targets,
        manifests=apply or (),
        namespace=destination.namespace(namespace, all_namespaces),
        metrics=destination.endpoint(metrics_bind_address or ("0" if own else ":8080"), "--metrics-bind-address"),
        health=destination.endpoint(health_probe_bind_address or ("0" if own else ":8081"), "--health-probe-bind-address"),
        verbose=verbose,
    )
    if own:
        running.run_embedded(asked, port, write_kubeconfig)
    else:
        running.run(asked, kubeconfig, context)


@app.command()
def server(
    port: Port = 0,
    write_kubeconfig: WriteKubeconfig = None,
    no_controllers: Annotated[bool, typer.Option("--no-controllers", help="The API server alone: no garbage collection, no pods.")] = False,
) -> None:
    """Run the embedded control plane alone."""
    from setpoint.cli import serving

    serving.serve(port, write_kubeconfig, controllers=not no_controllers)


@app.command()
def crd(targets: Targets) -> None:
    """Print the CustomResourceDefinitions of a module's kinds as YAML."""
    from setpoint.cli.target import load_kinds
    from setpoint.client.install import definitions

    try:
        found = definitions(load_kinds(targets))
    except (TypeError, ValueError) as error:
        raise Failure(f"{', '.join(targets)} has a kind without a schema: {error}") from error
    if not found:
        raise Failure(f"{', '.join(targets)} has no kind of its own: decorate a Resource with @kind(group=..., version=...)")
    sys.stdout.write(yaml.safe_dump_all(found, sort_keys=False, explicit_start=len(found) > 1))


def main() -> NoReturn:
    """The entry point. A `Failure` is its sentence on standard error and its exit code; anything else is our fault, and shown whole."""
    try:
        app(prog_name="setpoint")  # also as `python -m setpoint`
    except Failure as failure:
        from rich.markup import escape

        from setpoint.cli.console import console

        console().print(f"[bold red]setpoint:[/] {escape(str(failure))}")
        sys.exit(failure.code)
    sys.exit(0)
