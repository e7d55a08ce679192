"""How a controller or an app is found by its name: what `setpoint run` and the level checker call a target.

A target is `FILE.py`, `FILE.py:attribute`, or `package.module` with an optional `:attribute`. Without an attribute, a module's `app` is
taken, or else all the controllers that it holds. What goes wrong is told in one sentence, with the line of the user's code to look at.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from setpoint.controller import Controller
from setpoint.manager.manager import App
from setpoint.objects import Object

_LIBRARIES = tuple(f"{Path(sysconfig.get_path(name)).resolve()}/" for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_OURS = f"{Path(__file__).resolve().parents[1]}/"


class BadTarget(Exception):
    """What was named cannot be had: one sentence that says why, and what to do."""


class Named(NamedTuple):
    """A controller or an app, what it was called, and the attribute of its module that it is."""

    text: str
    attribute: str
    value: Controller[Any] | App


def named(text: str) -> Sequence[Named]:
    """The controller or app that a target names, or, if it names none, the module's `app`, or else all controllers that it holds.

    Raises `BadTarget`.
    """
    module, attribute = module_and_attribute(text)
    if attribute:
        return [Named(text, attribute, controller_or_app(getattr(module, attribute), text))]
    app = getattr(module, "app", None)
    if callable(app) and not isinstance(app, Controller):
        return [Named(f"{text}:app", "app", controller_or_app(app, f"{text}:app"))]
    controllers = [Named(text, name, value) for name, value in vars(module).items() if isinstance(value, Controller)]
    if not controllers:
        raise BadTarget(
            f"{text} holds no controller: assign one at its top level, as in `controller = Controller(WebApp)`, "
            f"or write an app that adds them, and name it, as in {text}:app"
        )
    return controllers


def controller_or_app(value: Any, text: str) -> Controller[Any] | App:
    """The value, which must be one of the two. Raises `BadTarget`, which calls it as the text does."""
    if isinstance(value, Controller):
        return value
    if callable(value) and not _is_kind(value):
        app: App = value
        return app
    what = f"the kind {value.__name__}" if isinstance(value, type) else f"of type {type(value).__name__}"
    raise BadTarget(f"{text} is {what}, and neither a Controller nor an app (an async context manager that takes a Manager)")


def module_and_attribute(text: str) -> tuple[ModuleType, str]:
    """The target's module, imported, and the attribute that it names, which is there; "" if it names none. Raises `BadTarget`."""
    location, colon, attribute = text.rpartition(":")
    if not (colon and len(location) > 1 and (attribute.isidentifier() or not attribute)):  # the colon of C:\\x.py names no attribute
        return _import(text), ""
    if not attribute:
        raise BadTarget(f"{text}: there is no attribute after the colon; write {location}:NAME, or {location} alone")
    module = _import(location)
    if not hasattr(module, attribute):
        raise BadTarget(f"{text}: {location} has no attribute {attribute!r}; it has {_names(module)}")
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
        raise BadTarget(f"{location} is neither a file that ends in .py nor a module's name")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return _guarded(location, lambda: importlib.import_module(location), missing=location)


def _import_file(path: Path) -> ModuleType:
    if not path.exists():
        raise BadTarget(f"there is no file {path}")
    if path.is_dir():
        raise BadTarget(f"{path} is a folder; name the file in it that holds the controller")
    if path.suffix != ".py":
        manifest = "; a manifest goes with --apply, or with --workload for a check" if path.suffix in {".yaml", ".yml", ".json"} else ""
        raise BadTarget(f"{path} is no Python file: its name does not end in .py{manifest}")
    name = path.stem
    if name in sys.stdlib_module_names:
        raise BadTarget(
            f"{path} has the name of Python's own module {name!r}, which it would hide from everything that imports it; "
            f"rename it, to my_{name}.py for example"
        )
    if not name.isidentifier():
        raise BadTarget(f"{path} cannot be imported: {name!r} is no Python identifier; rename it, to {_identifier(name)}.py for example")
    try:
        path.read_bytes()
    except OSError as error:
        raise BadTarget(f"{path} cannot be read: {error.strerror}") from error
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # so that it can import its neighbours, as `python FILE.py` could
    known = sys.modules.get(name)
    if known is not None:
        if getattr(known, "__file__", None) == str(path.resolve()):
            return known
        raise BadTarget(
            f"{path} cannot be imported: another module is called {name!r}, from {getattr(known, '__file__', 'somewhere')}; rename it"
        )
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise BadTarget(f"{path} cannot be imported")
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
        raise BadTarget(f"{what} is not valid Python: {error.msg} ({error.filename}, line {error.lineno})") from error
    except ModuleNotFoundError as error:
        if missing and error.name is not None and (missing == error.name or missing.startswith(f"{error.name}.")):
            raise BadTarget(f"there is no module {missing}: is it installed, or is this the wrong folder?") from error
        raise BadTarget(
            f"{what} cannot be imported: it needs the module {error.name}, which is not installed for {sys.executable}{place(error)}"
        ) from error
    except ImportError as error:
        raise BadTarget(f"{what} cannot be imported: {_unknown_name(error) or told(error)}") from error
    except SystemExit as error:
        raise BadTarget(f"{what} cannot be imported: it ends the program, with exit code {error.code}{place(error)}") from error
    except Exception as error:
        raise BadTarget(f"{what} cannot be imported: {told(error)}") from error


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


def _is_kind(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Object) and "__kind__" in vars(value)


def told(error: BaseException) -> str:
    """An exception that the user's code raised: its class, its text, and the line to look at."""
    return f"{type(error).__name__}: {error}{place(error)}" if str(error) else f"{type(error).__name__}{place(error)}"


def place(error: BaseException) -> str:
    """Where the user's code raised, or called what raised: the deepest line that is in no library; "" if all of it is."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<") and not is_library(frame.filename)
    ]
    return f" ({frames[-1].filename}, line {frames[-1].lineno}: {frames[-1].line})" if frames else ""


def is_library(filename: str) -> bool:
    """Whether a file is part of Python, of an installed package or of Setpoint, and so not the user's."""
    path = str(Path(filename).resolve())
    return path.startswith(_OURS) or path.startswith(_LIBRARIES)
