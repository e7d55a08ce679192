"""The user's modules, loaded anew for each simulated process: what one process keeps in them is not there in the next.

*The user's own* are the target's module and all that it imports, at once or later, which is neither part of Python, nor of Setpoint, nor in
a folder of installed packages (`site-packages`). A global, a class attribute, an `lru_cache`, a cache that some library made for the user:
all of them belong to such a module, and are lost with it. Installed packages are shared by all processes, as loading them again would be
slow, and wrong for those that hold on to the machine; `also=("package",)` has one loaded anew nevertheless, and `residue` tells when
something stays behind in one. Modules that are not Python are shared, too.

While the context of a `FreshModules` is open, `sys.modules` has a *stand-in* for each such module: it is what the module is for the
simulated process that asks (`PROCESS`), and what was imported before for everybody else. So whatever asks `sys.modules` finds the right
one: imports inside functions, `importlib`, `pickle`, `typing.get_type_hints`, decoders that look up an annotation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from setpoint.controller import Controller
from setpoint.levelcheck.processes.annotations import settle_annotations
from setpoint.levelcheck.processes.target import Target
from setpoint.manager import App
from setpoint.manager.importing import is_library
from setpoint.world import PROCESS

_NEVER = frozenset({"setpoint", "__main__", "__mp_main__", *sys.stdlib_module_names})


@dataclass(eq=False)
class Loaded:
    """What one simulated process has loaded: its controllers and apps, and its own copies of the user's modules, by name."""

    values: list[Controller[Any] | App] = field(default_factory=list)
    modules: dict[str, ModuleType] = field(default_factory=dict)

    @property
    def value(self) -> Controller[Any] | App:
        """The only one, or the first."""
        return self.values[0]


class FreshModules:
    """Loads targets for one simulated process after another; to be opened as a context, in which `load` may be called.

    Sources are read and compiled once: a change of a file while a check runs is not seen.
    """

    def __init__(self, *targets: Target, also: Sequence[str] = ()) -> None:
        self._targets = targets
        self._also = frozenset(also) | {target.module.partition(".")[0] for target in targets}
        self._own: dict[str, bool] = {}
        self._places: dict[str, _Place | None] = {target.module: _Place(target.file, _package_folders(target.file)) for target in targets}
        self._code: dict[str, CodeType] = {}
        self._before: dict[str, ModuleType] = {}
        self._stand_ins: dict[str, ModuleType] = {}
        self._by_process: dict[str, Loaded] = {}
        self._loading: Loaded | None = None
        self._finder = _Finder(self)

    def __enter__(self) -> FreshModules:
        sys.meta_path.insert(0, self._finder)
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self._finder)
        for name, stand_in in self._stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
        sys.modules.update(self._before)
        self._stand_ins.clear()
        self._before.clear()
        self._by_process.clear()

    def load(self, *targets: Target) -> Loaded:
        """Loads targets anew, all unless some are named, for the simulated process that calls this, and in whose context the modules run.

        Raises what a module raises, and `BadTarget` if it lacks the attribute this time.
        """
        if self._finder not in sys.meta_path:
            raise RuntimeError("FreshModules loads inside its context: with FreshModules(target) as fresh: fresh.load()")
        loaded = self._by_process[_process()] = Loaded()
        with self._as_seen_by(loaded):
            modules = [import_module(target.module) for target in targets or self._targets]
        settle_annotations(loaded.modules)
        for target, module in zip(targets or self._targets, modules, strict=True):
            value = target.of(module)
            loaded.values += value if isinstance(value, list) else [value]
        return loaded

    @property
    def current(self) -> Loaded | None:
        """What the simulated process that asks has loaded."""
        return self._loading or self._by_process.get(_process())

    def module(self, name: str) -> ModuleType | None:
        """The module for whoever asks: the simulated process's own, imported now if need be, or what was there before the check, if any."""
        loaded = self.current
        if loaded is None:
            return self._before.get(name)
        found = loaded.modules.get(name)
        if found is None:
            with self._as_seen_by(loaded):
                found = import_module(name)
        return found

    def is_own(self, name: str, module: ModuleType | None = None) -> bool:
        """Whether a module is the user's own, so that each process has its own copy."""
        known = self._own.get(name)
        if known is None:
            known = self._own[name] = self._find_out(name, module)
        return known

    def _find_out(self, name: str, module: ModuleType | None) -> bool:
        top = name.partition(".")[0]
        if top in _NEVER:
            return False
        if top not in self._also and top != name and (package := self.place(top, sys.modules.get(top))) is not None and package.file:
            return self.is_own(top) and self.place(name, module) is not None
        place = self.place(name, module)
        return place is not None and (top in self._also or not place.is_library)

    def place(self, name: str, module: ModuleType | None = None) -> _Place | None:
        """Where a module's source is; None if it has none that could be run again."""
        if name not in self._places:
            spec = getattr(module, "__spec__", None) or self._spec(name)
            self._places[name] = _place_of(spec)
        return self._places[name]

    def _spec(self, name: str) -> ModuleSpec | None:
        parent, _, _ = name.rpartition(".")
        package = self.place(parent, sys.modules.get(parent)) if parent else None
        folders = package.folders if package else None
        if parent and folders is None:
            return None
        for finder in sys.meta_path:
            if finder is not self._finder and (spec := finder.find_spec(name, folders, None)) is not None:
                return spec
        return None

    def code(self, loader: SourceFileLoader, name: str) -> CodeType:
        """The compiled source of a module."""
        code = self._code.get(name)
        if code is None:
            code = self._code[name] = loader.source_to_code(loader.get_data(loader.path), loader.path)
        return code

    def shared_parts(self, package: str) -> Iterator[tuple[str, ModuleType]]:
        """The modules of an own package that cannot be run again, as they are not Python, and have been imported."""
        place = self.place(package)
        if place is not None and place.has_extensions:
            for name, module in list(sys.modules.items()):
                parent, _, child = name.rpartition(".")
                if parent == package and not self.is_own(name, module):
                    yield child, module

    @contextmanager
    def _as_seen_by(self, loaded: Loaded) -> Iterator[None]:
        """Has the process's own modules in `sys.modules`, for its imports; afterwards stand-ins."""
        if self._loading is loaded:
            yield
            return
        outer, self._loading = self._loading, loaded
        candidates = [(name, module) for name, module in sys.modules.items() if self._own.get(name, True)]
        others = {name: module for name, module in candidates if self.is_own(name, module)}
        for name in others:
            del sys.modules[name]
        sys.modules.update(loaded.modules)
        try:
            yield
        finally:
            self._loading = outer
            for name, module in loaded.modules.items():
                if sys.modules.get(name) is module:
                    del sys.modules[name]
            sys.modules.update(others)
            self._let_stand_in(loaded.modules)

    def has_run(self, name: str, loaded: Loaded) -> None:
        """Called when a module of a process has run: one that is imported later, by a function, is not to be found by other processes."""
        if self._loading is not loaded:
            del sys.modules[name]
            settle_annotations({name: loaded.modules[name]})
            self._let_stand_in([name])

    def _let_stand_in(self, names: Iterable[str]) -> None:
        for name in names:
            stand_in = self._stand_ins.get(name)
            if stand_in is None:
                if (before := sys.modules.get(name)) is not None:
                    self._before[name] = before
                stand_in = self._stand_ins[name] = _stand_in(name, self)
            sys.modules[name] = stand_in


class _Finder(MetaPathFinder):
    """Finds the user's own modules for a simulated process that imports them."""

    def __init__(self, fresh: FreshModules) -> None:
        self._fresh = fresh

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        loaded = self._fresh.current
        if loaded is None or not self._fresh.is_own(name):
            return None
        place = self._fresh.place(name)
        if place is None:
            return None
        if not place.file:
            spec = ModuleSpec(name, _NamespaceLoader(self._fresh, loaded), is_package=True)
            spec.submodule_search_locations = list(place.folders or ())
            return spec
        folders = None if place.folders is None else list(place.folders)
        return spec_from_file_location(
            name, place.file, loader=_Loader(name, place.file, self._fresh, loaded), submodule_search_locations=folders
        )


class _Loader(SourceFileLoader):
    """Runs a module for one simulated process."""

    def __init__(self, name: str, path: str, fresh: FreshModules, loaded: Loaded) -> None:
        super().__init__(name, path)
        self._fresh = fresh
        self._loaded = loaded

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        self._loaded.modules[name] = module
        try:
            exec(self._fresh.code(self, name), module.__dict__)
        except BaseException:
            del self._loaded.modules[name]
            raise
        for child, shared in self._fresh.shared_parts(name):
            setattr(module, child, shared)
        self._fresh.has_run(name, self._loaded)


class _NamespaceLoader(Loader):
    """Makes the user's own namespace packages, which are folders without a file."""

    def __init__(self, fresh: FreshModules, loaded: Loaded) -> None:
        self._fresh = fresh
        self._loaded = loaded

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual sort of module."""

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""
        self._loaded.modules[module.__name__] = module
        self._fresh.has_run(module.__name__, self._loaded)


@dataclass(frozen=True)
class _Place:
    """A module's source file, or "" for a namespace package; and, of packages, the folders in which its modules are looked for."""

    file: str
    folders: tuple[str, ...] | None

    @property
    def is_library(self) -> bool:
        """Whether it is in a folder of installed packages."""
        return any(map(_is_installed, [self.file] if self.file else self.folders or ()))

    @cached_property
    def has_extensions(self) -> bool:
        """Whether a package has modules that are not Python."""
        return any(path.name.endswith(tuple(EXTENSION_SUFFIXES)) for folder in self.folders or () for path in Path(folder).iterdir())


def _place_of(spec: ModuleSpec | None) -> _Place | None:
    if spec is None:
        return None
    locations = spec.submodule_search_locations
    # The locations of a namespace package look at `sys.modules` when they are iterated, which may be in the middle of a change.
    folders = None if locations is None else tuple(getattr(locations, "_path", locations))
    if spec.origin and spec.has_location:
        return _Place(spec.origin, folders) if spec.origin.endswith(".py") and Path(spec.origin).is_file() else None
    return _Place("", folders) if folders else None


def _package_folders(file: str) -> tuple[str, ...] | None:
    path = Path(file)
    return (str(path.parent),) if path.name == "__init__.py" else None


def _is_installed(path: str) -> bool:
    return any(part in ("site-packages", "dist-packages") for part in Path(path).parts) or is_library(path)


def _process() -> str:
    return PROCESS.get().partition("/")[0]


def _stand_in(name: str, fresh: FreshModules) -> ModuleType:
    """A module that is another one for each simulated process. What it stands for is asked at each access, and kept nowhere."""

    def actual() -> ModuleType:
        module = fresh.module(name)
        if module is None:
            raise AttributeError(f"the module {name} has been imported inside simulated processes only")
        return module

    class StandIn(ModuleType):
        def __getattribute__(self, attribute: str) -> Any:
            return getattr(actual(), attribute)

        def __setattr__(self, attribute: str, value: Any) -> None:
            setattr(actual(), attribute, value)

        def __delattr__(self, attribute: str) -> None:
            delattr(actual(), attribute)

        def __dir__(self) -> list[str]:
            return dir(actual())

        def __repr__(self) -> str:
            return f"<stand-in for {name!r}>"

    return StandIn(name)
