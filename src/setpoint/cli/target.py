"""Targets: what the command line calls a controller or an app, and how it is found.

A target is `FILE.py`, `FILE.py:attribute`, or `package.module` with an optional `:attribute`. Without an attribute, a module's `app` is
taken, or else all the controllers that it holds.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from setpoint.cli.failure import Failure, place, told
from setpoint.controller import Controller
from setpoint.manager import App
from setpoint.objects import Object


class Target(NamedTuple):
    """A controller or an app, and what the command line calls it."""

    text: str
    value: Controller[Any] | App


def load(texts: Sequence[str]) -> list[Target]:
    """The controllers and apps that the targets name, each once. Raises `Failure`."""
    found = [target for text in texts for target in _load(text)]
    return list({id(target.value): target for target in reversed(found)}.values())[::-1]


def load_kinds(texts: Sequence[str]) -> list[type[Object]]:
    """The kinds that the targets' modules hold or that their controllers use, each once. Raises `Failure`.

    An attribute that is a controller or a kind narrows that down; one that is an app does not, since only running it would tell.
    """
    kinds: dict[type[Object], None] = {}
    for text in texts:
        module, attribute = _module_and_attribute(text)
        chosen = [getattr(module, attribute)] if attribute else []
        for value in chosen if any(map(_kinds_of, chosen)) else vars(module).values():
            kinds.update(dict.fromkeys(_kinds_of(value)))
    return list(kinds)


def load_controllers(texts: Sequence[str]) -> list[Controller[Any]]:
    """The controllers that the targets' modules hold, each once, or the one that a target names. Raises `Failure`."""
    found: dict[int, Controller[Any]] = {}
    for text in texts:
        module, attribute = _module_and_attribute(text)
        chosen = getattr(module, attribute) if attribute else None
        controllers = [chosen] if isinstance(chosen, Controller) else [v for v in vars(module).values() if isinstance(v, Controller)]
        if not controllers:
            raise Failure(f"{text} holds no controller at its top level; what an app adds shows only as it runs: let the module hold them")
        found.update((id(controller), controller) for controller in controllers)
    return list(found.values())


def _kinds_of(value: Any) -> Sequence[type[Object]]:
    if isinstance(value, Controller):
        return value.kinds
    is_kind = isinstance(value, type) and issubclass(value, Object) and "__kind__" in vars(value)
    return [value] if is_kind else []


def _load(text: str) -> Sequence[Target]:
    module, attribute = _module_and_attribute(text)
    if attribute:
        return [Target(text, _controller_or_app(getattr(module, attribute), text))]
    app = getattr(module, "app", None)
    if callable(app) and not isinstance(app, Controller):
        return [Target(f"{text}:app", _controller_or_app(app, f"{text}:app"))]
    controllers = [Target(text, value) for value in vars(module).values() if isinstance(value, Controller)]
    if not controllers:
        raise Failure(
            f"{text} holds no controller: assign one at its top level, as in `controller = Controller(WebApp)`, "
            f"or write an app that adds them, and name it, as in {text}:app"
        )
    return controllers


def _controller_or_app(value: Any, text: str) -> Controller[Any] | App:
    if isinstance(value, Controller):
        return value
    if callable(value) and not _kinds_of(value):
        app: App = value
        return app
    what = f"the kind {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"
    raise Failure(f"{text} is {what}, and neither a Controller nor an app (an async context manager that takes a Manager)")


def _module_and_attribute(text: str) -> tuple[ModuleType, str]:
    """The target's module, and the attribute that it names, which is there; "" if it names none."""
    location, colon, attribute = text.rpartition(":")
    if not (colon and len(location) > 1 and (attribute.isidentifier() or not attribute)):  # the colon of C:\\x.py names no attribute
        return _import(text), ""
    if not attribute:
        raise Failure(f"{text}: there is no attribute after the colon; write {location}:NAME, or {location} alone")
    module = _import(location)
    if not hasattr(module, attribute):
        raise Failure(f"{text}: {location} has no attribute {attribute!r}; it has {_names(module)}")
    return module, attribute


def _names(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if isinstance(value, Controller) or name == "app"]
    return ", ".join(names) or "no controller and no app"


def _import(location: str) -> ModuleType:
    if location.endswith(".py") or "/" in location or "\\" in location:
        return _import_file(Path(location))
    if Path(location).is_file():
        return _import_file(Path(location))
    if not all(part.isidentifier() for part in location.split(".")):
        raise Failure(f"{location} is neither a file that ends in .py nor a module's name")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return _guarded(location, lambda: importlib.import_module(location), missing=location)


def _import_file(path: Path) -> ModuleType:
    if not path.exists():
        raise Failure(f"there is no file {path}")
    if path.is_dir():
        raise Failure(f"{path} is a folder; name the file in it that holds the controller")
    if path.suffix != ".py":
        manifest = "; a manifest goes with --apply" if path.suffix in {".yaml", ".yml", ".json"} else ""
        raise Failure(f"{path} is no Python file: its name does not end in .py{manifest}")
    name = path.stem
    if name in sys.stdlib_module_names:
        raise Failure(
            f"{path} has the name of Python's own module {name!r}, which it would hide from everything that imports it; "
            f"rename it, to my_{name}.py for example"
        )
    if not name.isidentifier():
        raise Failure(f"{path} cannot be imported: {name!r} is no Python identifier; rename it, to {_identifier(name)}.py for example")
    try:
        path.read_bytes()
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}") from error
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # so that it can import its neighbours, as `python FILE.py` could
    known = sys.modules.get(name)
    if known is not None:
        if getattr(known, "__file__", None) == str(path.resolve()):
            return known
        raise Failure(
            f"{path} cannot be imported: another module is called {name!r}, from {getattr(known, '__file__', 'somewhere')}; rename it"
        )
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise Failure(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader = spec.loader

    def execute() -> ModuleType:
        try:
            loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module

    return _guarded(str(path), execute, missing="")


def _guarded(what: str, action: Callable[[], ModuleType], *, missing: str) -> ModuleType:
    """Runs an import; what it raises is the module's own fault, and told with the line where it happened."""
    try:
        return action()
    except SyntaxError as error:
        raise Failure(f"{what} is not valid Python: {error.msg} ({error.filename}, line {error.lineno})") from error
    except ModuleNotFoundError as error:
        if missing and error.name is not None and (missing == error.name or missing.startswith(f"{error.name}.")):
            raise Failure(f"there is no module {missing}: is it installed, or is this the wrong folder?") from error
        raise Failure(
            f"{what} cannot be imported: it needs the module {error.name}, which is not installed for {sys.executable}{place(error)}"
        ) from error
    except ImportError as error:
        raise Failure(f"{what} cannot be imported: {_unknown_name(error) or told(error)}") from error
    except SystemExit as error:
        raise Failure(f"{what} cannot be imported: it ends the program, with exit code {error.code}{place(error)}") from error
    except Exception as error:
        raise Failure(f"{what} cannot be imported: {told(error)}") from error


def _unknown_name(error: ImportError) -> str:
    """What to write in place of a name that a module has not; "" if that is not what is wrong, or nothing resembles it."""
    found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
    if found is None or found[2] not in sys.modules:
        return ""
    name, module = found.groups()
    close = difflib.get_close_matches(name, dir(sys.modules[module]), n=1)
    return f"{module} has no {name}: did you mean {close[0]}?{place(error)}" if close else ""


def _identifier(name: str) -> str:
    return "".join(letter if letter.isidentifier() or letter.isdigit() else "_" for letter in name)
