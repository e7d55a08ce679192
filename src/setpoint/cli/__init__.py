"""The program `setpoint`.

`program` holds its commands and options. `destination` decides where a program runs, `target` finds controllers and apps, `manifests` reads
and applies YAML. `running` and `serving` are the commands that stay, `embedded` the control plane that both may start, `stopping` how the
first of them ends. `why` asks a running manager, `check` runs the level checker. `console` and `activity` speak to people. What the user
got wrong is a `Failure`: one sentence, no traceback.
"""


def main() -> None:
    """The entry point of the console script; imported late, so that other rooms never pay for the command line."""
    from setpoint.cli.program import main as program

    program()
