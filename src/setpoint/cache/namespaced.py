"""`NamespacedInformer`: one kind under one selection, in a set of namespaces that may change.

Each namespace has an informer of its own, with a watch of its own: so nobody needs a right to more than those namespaces, each base is a
prefix of the server's history there, and a namespace can come or go without a word to the others.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, TypeAlias

from setpoint.api import LabelSelector
from setpoint.cache.form import Form
from setpoint.cache.indexes import Values
from setpoint.cache.informer import Handler, Informer, Keys, Objects
from setpoint.cache.scope import Scope
from setpoint.cache.selection import Selection
from setpoint.cache.states import Asking, State, Watching
from setpoint.objects import KindInfo, Object, Request, kind_of
from setpoint.objects.indexes import Index, IndexKey


class NamespacedInformer:
    """What an `Informer` is, over several. The cache adds and removes the parts."""

    def __init__(self, kind: type[Object], selection: Selection, scope: Scope, *, metadata_only: bool = False) -> None:
        self.kind: type[Object] = kind
        self.info: KindInfo = kind_of(kind)
        self.selection: Selection = selection
        self.metadata_only: bool = metadata_only
        self._scope = scope
        self._parts: dict[str, Informer] = {}
        self._handlers: tuple[Handler, ...] = ()
        self._indexes: dict[Values | Index[Any], None] = {}
        self._was_whole = False

    # its parts

    @property
    def parts(self) -> list[Informer]:
        """The informers of the namespaces, in the order in which these came."""
        return list(self._parts.values())

    def enter(self, namespace: str, part: Informer) -> None:
        """A namespace has come: whoever listens hears of its objects, too, as they are listed."""
        self._parts[namespace] = part
        for index in self._indexes:
            part.index(index)
        for handler in self._handlers:
            part.subscribe(handler)

    def leave(self, namespace: str) -> Informer:
        """A namespace goes. Gives its informer, which is to be ended: whoever listens hears then that its objects have left."""
        return self._parts.pop(namespace)

    def become_whole(self, form: Form) -> None:
        """Somebody needs more than metadata, and says so before it has started."""
        self.metadata_only = False
        for part in self._parts.values():
            part.become_whole(form)

    # how it is

    @property
    def is_whole(self) -> bool:
        """Whether it holds now all that it is to hold: not while a namespace that has just come is listed."""
        return self._scope.is_decided and all(part.has_synced for part in self._parts.values())

    @property
    def has_synced(self) -> bool:
        """Whether it has been whole once."""
        self._was_whole = self._was_whole or self.is_whole
        return self._was_whole

    async def synced(self) -> None:
        """Waits until it is whole."""
        await self._scope.decided()
        while waiting := [part for part in self._parts.values() if not part.has_synced]:
            for part in waiting:
                await part.synced()
        self._was_whole = True

    @property
    def state(self) -> State:
        """The state of the first namespace that is not being watched as it should be; else of any."""
        states = [part.state for part in self._parts.values()]
        return next((state for state in states if not isinstance(state, Watching)), states[0] if states else Asking())

    @property
    def reason(self) -> str:
        """Why it is in that state; empty where nothing went wrong."""
        if not self._scope.is_decided:
            return "which namespaces to look at is not known yet"
        return next((f"in namespace {name}: {part.reason}" for name, part in self._parts.items() if part.reason), "")

    @property
    def last_contact(self) -> float | None:
        """The world's monotonic time when the namespace that was silent for longest was heard last; None if one never was."""
        times = [part.last_contact for part in self._parts.values()]
        return min((time for time in times if time is not None), default=None) if None not in times else None

    @property
    def sees_own_writes(self) -> bool:
        """Whether own writes are visible at once."""
        return all(part.sees_own_writes for part in self._parts.values())

    @property
    def is_filtered(self) -> bool:
        """Whether an object of these namespaces may exist and not be selected."""
        return self.selection.is_filtered

    @property
    def objects(self) -> int:
        """How many objects the bases hold."""
        return sum(part.objects for part in self._parts.values())

    @property
    def size(self) -> int:
        """How many bytes are kept of them."""
        return sum(part.size for part in self._parts.values())

    # reading

    def get(self, key: Request) -> bytes | None:
        """The object's bytes in the view, or None if it holds no such object."""
        part = self._parts.get(key.namespace)
        return None if part is None else part.get(key)

    def base(self, key: Request) -> bytes | None:
        """The object's bytes in the base."""
        part = self._parts.get(key.namespace)
        return None if part is None else part.base(key)

    def __bool__(self) -> bool:
        """It is one, also while it holds nothing: an empty copy is as certain as any."""
        return True

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts.values())

    def keys_as_they_came(self) -> Keys:
        """The keys of all objects in the view, for whom the order does not matter."""
        return [key for part in self._parts.values() for key in part.keys_as_they_came()]

    def keys(self) -> Keys:
        """The keys of all objects in the view, ordered by namespace and name."""
        return list(chain.from_iterable(self._parts[name].keys() for name in sorted(self._parts)))

    def list(
        self,
        *,
        namespace: str | None = None,
        labels: LabelSelector | None = None,
        owner: str | None = None,
        index: IndexKey[Any] | None = None,
    ) -> Objects:
        """As `Informer.list`; `namespace` is None for all that there are."""
        names = sorted(self._parts) if namespace is None else [namespace]
        parts = [self._parts[name] for name in names if name in self._parts]
        return [data for part in parts for data in part.list(labels=labels, owner=owner, index=index)]

    def index(self, by: Index[Any] | Values) -> None:
        """As `Informer.index`, also for the namespaces that are to come."""
        self._indexes[by] = None
        for part in self._parts.values():
            part.index(by)

    # changes

    def subscribe(self, handler: Handler) -> Callable[[], None]:
        """As `Informer.subscribe`; the changes of different namespaces come in no particular order."""
        for part in self._parts.values():
            part.subscribe(handler)
        self._handlers = (*self._handlers, handler)

        def unsubscribe() -> None:
            self._handlers = tuple(kept for kept in self._handlers if kept is not handler)
            for part in self._parts.values():
                part.unsubscribe(handler)

        return unsubscribe


AnyInformer: TypeAlias = Informer | NamespacedInformer
