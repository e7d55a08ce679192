"""A process of its own for a whole check: what a check imports, loads and leaves behind never reaches the program that asked for it.

The worker imports once what every run needs; the runs are forked from it. Nothing is collected in it: a look at every object costs more,
in each of them, than what lies about, since it copies the memory that they share.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class WorkerFailed(RuntimeError):
    """The process of a check has failed. The text is what it left."""


def in_worker(work: Callable[[Callable[..., None]], T], hear: Callable[..., None]) -> T:
    """Does the work in a forked process, and gives what it gives; raises what it raises. `work` gets a function that calls `hear` here.

    What goes either way must be picklable.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking where there are threads: none of their locks is taken in the child
        pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)  # with all that it will fork, so that all of it can be ended at once
        os.close(reading)
        _do(work, writing)
    os.close(writing)
    outcome: Any = WorkerFailed("it ended without a word")
    try:
        with os.fdopen(reading, "rb") as file:
            while True:
                try:
                    sort, value = pickle.load(file)
                except EOFError:
                    break
                if sort == "heard":
                    hear(*value)
                else:
                    outcome = value
    except BaseException:
        with suppress(ProcessLookupError, PermissionError):  # it has not got as far as its own group yet, or has ended
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        _, status = os.waitpid(pid, 0)
    if isinstance(outcome, BaseException):
        raise outcome
    if status:
        raise WorkerFailed(f"the process of the check ended with status {status}")
    given: T = outcome
    return given


def _do(work: Callable[[Callable[..., None]], Any], pipe: int) -> None:
    """In the child: never returns."""
    code = 1
    try:
        logging.disable(logging.CRITICAL)
        with os.fdopen(pipe, "wb") as file:

            def heard(*value: Any) -> None:
                pickle.dump(("heard", value), file)
                file.flush()

            try:
                gc.collect()
                gc.freeze()
                gc.disable()
                outcome: Any = work(heard)
            except Exception as error:
                error.add_note("".join(traceback.format_exception(error)))
                outcome = error
            pickle.dump(("given", outcome), file)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
