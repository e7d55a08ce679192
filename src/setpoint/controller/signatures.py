"""What sort of function a reconciler or mapper is, and whether it can be called as one. Mistakes are said at the declaration."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import msgspec

from setpoint.cache import Selection
from setpoint.objects import Index, Object, Request


class Reconciler(msgspec.Struct, frozen=True):
    """A reconciler. Unless `is_async` it runs in a thread, with a `SyncContext`. `name` is for people."""

    call: Callable[..., Any]
    is_async: bool
    name: str


class Mapper(msgspec.Struct, frozen=True):
    """A mapper. If `is_async` it also gets a `Reader`. `name` is for people."""

    call: Callable[..., Any]
    is_async: bool
    name: str


class ReadyMapper(ABC):
    """A mapper that is made for the controller that declares it: `bound` gives the function."""

    indexes: tuple[Index[Any], ...] = ()
    """What it reads by; the controller keeps them."""

    @abstractmethod
    def bound(self, primary: type[Object], watched: type[Object], selection: Selection) -> Callable[..., Any]:
        """For a controller's kind, of which it looks after those that `selection` selects, and the kind that it watches.

        Raises `TypeError` or `ValueError` if they cannot go together.
        """


async def requests_of(function: Mapper, *arguments: Any) -> list[Request]:
    """What a declared function gives, which must be requests; the last argument, a reader, is for async ones alone.

    Raises what it raises, and `TypeError` for anything else than requests.
    """
    given = function.call(*arguments) if function.is_async else function.call(*arguments[:-1])
    found: Any = await given if function.is_async else given
    if isinstance(found, Request | str) or not isinstance(found, Iterable):
        raise TypeError(f"{function.name} gave {found!r}: return a list of Request")
    requests = list(found)
    for request in requests:
        if not isinstance(request, Request):
            raise TypeError(f"{function.name} gave {request!r} among its requests: return a list of Request")
    return requests


def check_reconciler(fn: Any, controller: str) -> Reconciler:
    """Raises `TypeError` for what cannot be called with a context and a request."""
    name = name_of(fn)
    what = f"{controller}: the reconciler {name}"
    is_async = _check_callable(fn, what, 'a function of (ctx, request), "async def" or plain "def"', not_a_generator=True)
    check_arity(fn, 2, what, "it is called with (ctx, request)")
    hint = _first_hint(fn)
    if hint == "SyncContext" and is_async:
        raise TypeError(f'{what} is "async def" but takes a SyncContext: take a Context and await its verbs, or make it a plain "def"')
    if hint == "Context" and not is_async:
        raise TypeError(f'{what} is a plain "def" but takes a Context: take a SyncContext, whose verbs block, or make it "async def"')
    return Reconciler(fn, is_async, name)


def check_mapper(fn: Any, kind: type[Any], controller: str) -> Mapper:
    """Raises `TypeError` for what cannot be called with an object (and, if async, a reader)."""
    name = name_of(fn)
    what = f"{controller}: the mapper {name} of {kind.__name__}"
    is_async = _check_callable(fn, what, "a function of the object that gives requests", not_a_generator=False)
    if is_async:
        check_arity(fn, 2, what, 'being "async def" it is called with (object, reader)')
    else:
        check_arity(fn, 1, what, 'it is called with (object) alone; make it "async def" to get a reader as well')
    return Mapper(fn, is_async, name)


def checked_priority(priority: object, controller: str) -> int:
    """Raises `TypeError` for what is no whole number."""
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"{controller}: priority is a whole number, higher ones first, 0 for normal, not {priority!r}")
    return priority


def check_effect(call: Any, *, is_async: bool) -> None:
    """Raises `TypeError` for what certainly cannot be made as an effect, before it is."""
    if not callable(call):
        if inspect.iscoroutine(call):
            call.close()
        raise TypeError(f"ctx.effect cannot call {call!r}: pass the function itself, and its arguments after it")
    if not is_async and inspect.iscoroutinefunction(function_behind(call)):
        raise TypeError(f"ctx.effect: {name_of(call)} is async, and a plain def reconciler cannot await it")


def _check_callable(fn: Any, what: str, wanted: str, *, not_a_generator: bool) -> bool:
    """Whether it is async. An async generator is neither; a plain one is an iterable of requests, which a mapper may well be."""
    if isinstance(fn, type):
        raise TypeError(f"{what} is a class: pass an instance of it, {fn.__name__}(...)")
    if not callable(fn):
        raise TypeError(f"{what} is not callable: pass {wanted}")
    body = function_behind(fn)
    if inspect.isasyncgenfunction(body) or (not_a_generator and inspect.isgeneratorfunction(body)):
        raise TypeError(f'{what} is a generator (it has a "yield"), so calling it would run nothing: pass {wanted}')
    return inspect.iscoroutinefunction(body)


def function_behind(fn: Any) -> Any:
    """The function behind a partial, a bound method, or an object with `__call__`."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if inspect.isfunction(fn) or inspect.ismethod(fn) or inspect.isbuiltin(fn):
        return fn
    return type(fn).__call__


def is_awaited(fn: Any, what: str) -> bool:
    """Whether a function that gives requests is async. Raises `TypeError` for an async generator, which is neither."""
    body = function_behind(fn)
    if inspect.isasyncgenfunction(body):
        raise TypeError(f'{what} has a "yield", so awaiting it would run nothing: return a list of Request')
    return inspect.iscoroutinefunction(body)


def check_arity(fn: Any, count: int, what: str, how: str) -> None:
    """Raises `TypeError` for what cannot be called with so many arguments, if it tells."""
    if _plainly_takes(fn, count):
        return
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return  # some builtins do not tell; the call will
    try:
        signature.bind(*[None] * count)
    except TypeError as error:
        raise TypeError(f"{what} takes {signature}, but {how}") from error


def _plainly_takes(fn: Any, count: int) -> bool:
    """Whether it is a function or method that can be called so, which is seen at a glance; a signature takes ten times as long."""
    given, plain = (count + 1, fn.__func__) if inspect.ismethod(fn) else (count, fn)
    if type(plain) is not FunctionType or plain.__dict__:  # decorators may leave another signature there
        return False
    code, defaults = plain.__code__, plain.__defaults__ or ()
    most = code.co_argcount if not code.co_flags & inspect.CO_VARARGS else given
    return code.co_argcount - len(defaults) <= given <= most and code.co_kwonlyargcount == len(plain.__kwdefaults__ or ())


def _first_hint(fn: Any) -> str:
    """The name of the first parameter's annotation, if it is a plain name; enough to notice Context and SyncContext mixed up."""
    try:
        first = next(iter(inspect.signature(fn).parameters.values()), None)
    except (TypeError, ValueError):
        return ""
    hint = first.annotation if first is not None else ""
    return hint.rpartition(".")[2] if isinstance(hint, str) else getattr(hint, "__name__", "")


def arity_of(fn: Any) -> int:
    """How many arguments it can be given by position; 0 if it does not tell."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return 0
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in by_position for parameter in parameters)


def name_of(fn: Any) -> str:
    """The function's name, for people."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__qualname__", None) or type(fn).__qualname__
