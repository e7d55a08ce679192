"""What is said to kubectl: one step, or one during which others are made."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call of kubectl and what must come of it on any server; what it prints must be the same on all of them."""

    name: str
    call: str
    """The arguments, as in a shell."""
    code: int = 0
    """The exit code. A program that is stopped once it has said enough has none, and this is not looked at."""
    stdin: str = ""
    piped: bool = False
    """Standard input is what the step before has printed."""
    editor: str = "false"
    """What kubectl calls to have a file edited."""
    until: str = ""
    """The call is repeated until its output matches this: for what a server publishes a moment later."""
    served: Sequence[str] = ()
    """Its rows are kinds or versions: compared for those that the embedded server has, since the real one has many more. It has these."""


@dataclass(frozen=True, kw_only=True)
class During(Step):
    """A call that goes on while others are made.

    The others start when it has printed `after_lines` lines and logged `after_log`. It is stopped when it has printed `lines` lines, or
    ends by itself where that is 0.
    """

    after_lines: int = 0
    after_log: str = ""
    then: Sequence[Step] = field(default_factory=tuple)
    lines: int = 0
