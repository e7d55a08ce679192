"""What a `Controller` declares beside its watches: sources and hooks. No state; see `sources` and `hooks` for what each promises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar, overload

from setpoint.objects import Request

from .hooks import MAX_BYTES, Auth, Hook, HookFunction, check_hook
from .sources import Schedule, Source, check_source

S = TypeVar("S", bound=Callable[..., AsyncIterator[Request]] | Schedule)
F = TypeVar("F", bound=Callable[..., AsyncIterator[Request]])
H = TypeVar("H", bound=HookFunction)


class Outside:
    """The part of a `Controller` that declares triggers from outside the cluster."""

    def __init__(self) -> None:
        self._sources: dict[str, Source | Schedule] = {}
        self._hooks: dict[str, Hook] = {}

    @property
    def sources(self) -> tuple[Source | Schedule, ...]:
        """The sources declared by `source`."""
        return tuple(self._sources.values())

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """The hooks declared by `hook`."""
        return tuple(self._hooks.values())

    @overload
    def source(self, fn: S, /) -> S: ...
    @overload
    def source(self, *, name: str | None = None, finite: bool = False) -> Callable[[F], F]: ...
    def source(self, fn: Any = None, *, name: str | None = None, finite: bool = False) -> Any:
        """Takes a source of requests and gives it back: an async generator, as a decorator, or `Every(...)` or `Cron(...)`.

        The generator's function takes nothing, or a `Feed`. It is called when the controller starts. When it raises, or ends without being
        `finite`, that is logged and counted, and it is called again after a backoff of 0.1 s to 60 s. On stop it is closed. Each name is
        taken once; a function's is its own unless given.
        """
        if fn is None:

            def declare(fn: Any) -> Any:
                if isinstance(fn, Schedule):
                    raise TypeError(f"{self}: give the name to {type(fn).__name__} itself; a schedule does not end")
                self._add_source(check_source(fn, name, finite, str(self)))
                return fn

            return declare
        self._add_source(fn if isinstance(fn, Schedule) else check_source(fn, None, False, str(self)))
        return fn

    def hook(self, name: str = "", /, *, auth: Auth | None = None, max_bytes: int = MAX_BYTES) -> Callable[[H], H]:
        """Declares an HTTP hook, as a decorator: a function of the call's headers and body that gives the requests that it concerns.

        A manager with `Options(hooks=(host, port))` serves it at `POST /hooks/CONTROLLER/NAME`, or without a name at `/hooks/CONTROLLER`.
        A `ValueError` that the function raises refuses the call, with that sentence (400). Without `auth` anybody who reaches the address
        may call it. A body of more than `max_bytes` is refused (413).
        """
        if not isinstance(name, str):
            raise TypeError(f'{self}: write @controller.hook() or @controller.hook("name"), with the parentheses')

        def declare(fn: H) -> H:
            hook = check_hook(fn, name, auth, max_bytes, str(self))
            if name in self._hooks:
                raise ValueError(f"{self} has a hook {name!r} already: give one of them another name")
            self._hooks[name] = hook
            return fn

        return declare

    def _add_source(self, source: Source | Schedule) -> None:
        if source.name in self._sources:
            raise ValueError(f"{self} has a source {source.name!r} already: give one of them another name, with name=")
        self._sources[source.name] = source
