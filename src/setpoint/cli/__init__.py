"""The program `setpoint`.

`program` holds its commands and options, `target` finds controllers and apps, `manifests` reads YAML, `running` and `serving` are the
commands that stay, `embedded` the control plane that both may start. What the user got wrong is a `Failure`: one sentence, no traceback.
"""


def main() -> None:
    """The entry point of the console script; imported late, so that other rooms never pay for the command line."""
    from setpoint.cli.program import main as program

    program()
