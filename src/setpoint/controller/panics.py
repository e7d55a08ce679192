"""What counts as a panic: `controller_runtime_reconcile_panics_total`.

Go panics where the program is wrong, whatever the world is like: a nil pointer, an index out of range, a failed type assertion, a division
by zero. Python raises an ordinary exception there, which is handled like any other: it is an error, and the run is tried again. But whoever
watches that metric wants to know of such faults apart, so the exceptions that say the same in Python are counted there as well.
"""

from __future__ import annotations

PANICS: tuple[type[BaseException], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
)
"""`LookupError` is a missing key or index, `NameError` an unbound variable too, `TypeError` also a reconciler's wrong result."""


def is_panic(error: BaseException) -> bool:
    """Whether an exception that a reconciler raised tells of a fault in the program."""
    return isinstance(error, PANICS)
