"""What `SetpointMeta` reads from a class body before msgspec makes a struct of it: annotations, type arguments, defaults and wire names."""

from __future__ import annotations

import copy
import re
import sys
import typing
from itertools import repeat
from typing import Annotated, Any, ClassVar, TypeVar, cast

import msgspec
from msgspec import NODEFAULT, UNSET, field

from .absent import is_absent
from .schema_field import Field

if sys.version_info >= (3, 14):
    import annotationlib

_FIELD: type[Any] = type(field())
_CLASS_VARIABLE = re.compile(r"\s*(\w+\.)*ClassVar\s*(\[|$)")


def annotations_in(namespace: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a class body, as a dictionary that stays in the body."""
    if sys.version_info >= (3, 14) and "__annotations__" not in namespace:
        # There, a body holds a function that computes them. Names that are not defined yet come as forward references.
        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            namespace["__annotations__"] = annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
            for attribute in ("__annotate_func__", "__annotate__"):
                namespace.pop(attribute, None)
    return cast(dict[str, Any], namespace.setdefault("__annotations__", {}))


def is_class_variable(hint: Any) -> bool:
    """Whether an annotation, which may be text, says that this is no field."""
    return bool(_CLASS_VARIABLE.match(hint)) if isinstance(hint, str) else ClassVar in (hint, typing.get_origin(hint))


def pin_type_arguments(namespace: dict[str, Any], annotations: dict[str, Any]) -> None:
    """``class WebApp(Resource[WebAppSpec, WebAppStatus])``: lets the generic base declare its fields anew, with those types."""
    for base in namespace.get("__orig_bases__", ()):
        generic, arguments = _pinnable(base)
        if generic is None or any(isinstance(argument, TypeVar) for argument in arguments):
            continue
        for attribute, (hint, default) in generic.__pin__(namespace.get("__qualname__", "this class"), arguments).items():
            if attribute not in annotations:
                annotations[attribute] = hint
                if default is not NODEFAULT:
                    namespace[attribute] = default


def _pinnable(base: Any) -> tuple[Any, tuple[Any, ...]]:
    """The generic class that pins, and its type arguments, which may have come through a generic subclass of it; or None."""
    origin, arguments = typing.get_origin(base), typing.get_args(base)
    if not hasattr(origin, "__pin__"):
        return None, ()
    if "__pin__" in vars(origin):
        return origin, arguments
    given = dict(zip(origin.__parameters__, arguments, strict=True))
    for parent in vars(origin).get("__orig_bases__", ()):
        wanted = getattr(parent, "__parameters__", ())
        found = _pinnable(parent[tuple(given[parameter] for parameter in wanted)] if wanted else parent)
        if found[0] is not None:
            return found
    return None, ()


def stated(default: Any) -> Any:
    """The default as msgspec is to have it: a value becomes a factory, since msgspec would not send what *is* the default."""
    if type(default) is _FIELD:
        if default.default is NODEFAULT:
            return default
        inner = stated(default.default)
        if type(inner) is _FIELD:
            return field(default_factory=inner.default_factory, name=default.name)
        return default
    if default is None or default is UNSET or is_absent(default):
        return default
    if isinstance(default, (list, dict, set)) and not default:
        return field(default_factory=type(default))
    if isinstance(default, (list, dict, set, msgspec.Struct)):
        return field(default_factory=lambda: copy.deepcopy(default))
    return field(default_factory=repeat(default).__next__)


def names_on_the_wire(annotations: dict[str, Any], fields: list[str], namespace: dict[str, Any]) -> dict[str, str]:
    """Names given as ``Annotated[T, Field(name="...")]``."""
    names = {}
    for attribute in fields:
        hint = annotations[attribute]
        if isinstance(hint, str):
            if "name=" not in hint:
                continue
            hint = _evaluated(hint, attribute, namespace)
        elif hasattr(hint, "__forward_arg__"):
            continue
        if typing.get_origin(hint) is Annotated:
            for extra in typing.get_args(hint)[1:]:
                if isinstance(extra, Field) and extra.name:
                    names[attribute] = extra.name
    return names


def _evaluated(hint: str, attribute: str, namespace: dict[str, Any]) -> Any:
    module = sys.modules.get(namespace.get("__module__", ""))
    try:
        return eval(hint, dict(vars(module)) if module else {}, dict(namespace))
    except NameError as error:
        raise TypeError(
            f"{namespace.get('__qualname__')}.{attribute}: its wire name cannot be read, since {error}. "
            f'Define that first, or give the name as `= field(name="...")`'
        ) from error
