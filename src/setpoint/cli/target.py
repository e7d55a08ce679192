"""Targets: what the command line calls a controller or an app, and how it is found.

A target is `FILE.py`, `FILE.py:attribute`, or `package.module` with an optional `:attribute`. Without an attribute, a module's `app` is
taken, or else all the controllers that it holds.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from setpoint.cli.failure import Failure
from setpoint.controller import Controller
from setpoint.manager import App
from setpoint.objects import Object

Target = Controller[Any] | App


def load(texts: Sequence[str]) -> list[Target]:
    """The controllers and apps that the targets name, each once. Raises `Failure`."""
    found = [one for text in texts for one in _load(text)]
    return list({id(one): one for one in found}.values())


def load_kinds(texts: Sequence[str]) -> list[type[Object]]:
    """The user's own kinds that the targets' modules define or that their controllers use, each once. Raises `Failure`."""
    kinds: dict[type[Object], None] = {}
    for text in texts:
        location, _, attribute = _split(text)
        module = _import(location)
        chosen = [getattr(module, attribute)] if attribute and hasattr(module, attribute) else list(vars(module).values())
        for value in chosen:
            if isinstance(value, Controller):
                kinds.update(dict.fromkeys(value.kinds))
            elif isinstance(value, type) and issubclass(value, Object) and "__kind__" in vars(value):
                kinds[value] = None
    return list(kinds)


def _split(text: str) -> tuple[str, str, str]:
    # A drive letter (C:\\x.py) is no attribute.
    location, colon, attribute = text.rpartition(":")
    if colon and (attribute.isidentifier() or not attribute) and len(location) > 1:
        return location, colon, attribute
    return text, "", ""


def _load(text: str) -> Iterable[Target]:
    location, colon, attribute = _split(text)
    if colon and not attribute:
        raise Failure(f"{text}: there is no attribute after the colon; write {location}:NAME, or {location} alone")
    module = _import(location)
    if attribute:
        if not hasattr(module, attribute):
            raise Failure(f"{text}: {location} has no attribute {attribute!r}; it has {_names(module)}")
        value = getattr(module, attribute)
        if isinstance(value, Controller) or callable(value):
            return [value]
        raise Failure(
            f"{text} is {type(value).__name__}, and neither a Controller nor an app (an async context manager that takes a Manager)"
        )
    app = getattr(module, "app", None)
    if app is not None and callable(app) and not isinstance(app, Controller):
        return [app]
    controllers = [value for value in vars(module).values() if isinstance(value, Controller)]
    if not controllers:
        raise Failure(
            f"{location} holds no controller: assign one at its top level, as in `controller = Controller(WebApp)`, "
            f"or name an app that adds them, as in {location}:app"
        )
    return controllers


def _names(module: ModuleType) -> str:
    names = [name for name, value in vars(module).items() if isinstance(value, Controller) or name == "app"]
    return ", ".join(names) or "no controller and no app"


def _import(location: str) -> ModuleType:
    if location.endswith(".py") or "/" in location or "\\" in location:
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
        raise Failure(f"{path} is no Python file: its name does not end in .py")
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


def _guarded(what: str, action: Any, *, missing: str) -> ModuleType:
    """Runs an import; what it raises is the module's own fault, and is shown from the module's own lines on."""
    try:
        module: ModuleType = action()
    except SyntaxError as error:
        raise Failure(f"{what} is not valid Python: {error.msg} ({error.filename}, line {error.lineno})") from error
    except ModuleNotFoundError as error:
        if missing and error.name is not None and (missing == error.name or missing.startswith(f"{error.name}.")):
            raise Failure(f"there is no module {missing}: is it installed, or is this the wrong folder?") from error
        raise Failure(
            f"{what} cannot be imported: it needs the module {error.name}, which is not installed{_where(error, what)}"
        ) from error
    except Exception as error:
        raise Failure(f"{what} cannot be imported: {type(error).__name__}: {error}{_where(error, what)}") from error
    except SystemExit as error:
        raise Failure(f"{what} cannot be imported: it ended the program (exit code {error.code}) while it was imported") from error
    return module


def _where(error: BaseException, what: str) -> str:
    """The deepest line of the module itself, or of what lies beside it: that is where its author looks."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename and frame.filename != __file__
    ]
    own = [frame for frame in frames if frame.filename == str(Path(what).resolve())] or frames
    return f" ({own[-1].filename}, line {own[-1].lineno}: {own[-1].line})" if own else ""


def _identifier(name: str) -> str:
    return "".join(letter if letter.isidentifier() or letter.isdigit() else "_" for letter in name)
