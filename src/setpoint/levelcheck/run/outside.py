"""Fakes of what is outside the cluster, as a process sees them: every call may fail, or be the last thing that the process does.

A fake outlives processes. What a process holds is a `Proxy`, with the fake's own methods. A call to an `async` method, or to a plain one
from a plain `def` reconciler, is a place where something can go wrong; a plain one that async code calls directly is only heard of.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from setpoint.levelcheck.plan import Decision, Site
from setpoint.levelcheck.recording import Called

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution


class Lost(ConnectionError):
    """A call to the outside got no answer. Whether it has happened is not known."""


class Proxy:
    """A fake, as one process has it."""

    def __init__(self, run: Execution, process: str, fake: Any) -> None:
        self.__dict__["_calls"] = Calls(run, process, fake)
        self.__dict__["_fake"] = fake

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_fake"], name)
        if not callable(value) or name.startswith("__"):
            return value
        calls: Calls = self.__dict__["_calls"]
        return calls.wrapped(value, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_fake"], name, value)


class Calls:
    """The calls of one process to one fake."""

    def __init__(self, run: Execution, process: str, fake: Any) -> None:
        self._run = run
        self._process = process
        self._fake = fake

    def wrapped(self, method: Callable[..., Any], name: str) -> Callable[..., Any]:
        """The method, heard of."""
        run = self._run

        if inspect.iscoroutinefunction(method):

            @functools.wraps(method)
            async def call(*args: Any, **kwargs: Any) -> Any:
                return await run.apart(self._call(method, name, args, kwargs))

            return call

        @functools.wraps(method)
        def call_plainly(*args: Any, **kwargs: Any) -> Any:
            try:
                return run.world.threads.call(lambda: run.apart(self._call(method, name, args, kwargs)))
            except RuntimeError as error:
                if "plain `def` reconciler" not in str(error):
                    raise
            return self._at_once(method, name, args, kwargs)

        return call_plainly

    def _site(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Site, str]:
        said = ", ".join([*(map(_told, args)), *(f"{key}={_told(value)}" for key, value in kwargs.items())])
        call = f"{type(self._fake).__name__}.{name}"
        return self._run.sites.site("effect", "", f"{call}({said})"), said

    def _at_once(self, method: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        site, said = self._site(name, args, kwargs)
        before = self._state()
        result = method(*args, **kwargs)
        self._tell(site, name, said, before, result=result)
        return result

    async def _call(self, method: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        run = self._run
        site, said = self._site(name, args, kwargs)
        after: list[Decision] = []
        for decision in run.decide(site, self._process):
            match decision.fault, decision.how:
                case "F1", "before":
                    run.programs.crash(self._process, decision)
                    return None
                case "F20", "failed":
                    self._tell(site, name, said, self._state(), error="no answer", fault="F20")
                    raise Lost(f"{name}: no answer came")
                case _:
                    after.append(decision)
        before = self._state()
        try:
            result = method(*args, **kwargs)
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:
            self._tell(site, name, said, before, error=f"{type(error).__name__}: {error}")
            raise
        self._tell(site, name, said, before, result=result, fault=after[0].fault if after else "")
        for decision in after:
            if decision.fault == "F20":
                raise Lost(f"{name}: no answer came")
            run.programs.crash(self._process, decision)
        return result

    def _state(self) -> Any:
        state = getattr(self._fake, "state", None)
        return deepcopy(state()) if callable(state) else None

    def _tell(self, site: Site, name: str, said: str, before: Any, *, result: Any = None, error: str = "", fault: str = "") -> None:
        has_state = callable(getattr(self._fake, "state", None))
        self._run.tell(
            Called(
                at=self._run.now,
                process=self._process,
                site=site,
                call=f"{type(self._fake).__name__}.{name}",
                arguments=said,
                result=_told(result),
                error=error,
                fault=fault,
                changed=not has_state or self._state() != before,
            )
        )


def _told(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}..."
