"""The local copy of what the server has.

An `Informer` holds one kind under one selection. Its *base* is exactly what the server had at one version, and only goes forward; its
changes are what handlers hear. Its *view*, which reads see, is the base plus this process's own writes that the base has yet to show.
A `Reflector` keeps the base in step: `states` and `machine` say how, as a table of transitions would, and `reflector` does it.
A `NamespacedInformer` is one informer for each namespace of a `Scope`, which may change; a `Form` says what is kept of an object.
The `Cache` is all informers of a manager.
"""

from setpoint.cache.cache import Cache
from setpoint.cache.entry import Change, Entry
from setpoint.cache.events import Delivered, HandlerFailed, IndexFailed, ObjectSkipped, ReflectorState, Scanned
from setpoint.cache.form import Form
from setpoint.cache.indexes import by_namespace, by_owner
from setpoint.cache.informer import Informer
from setpoint.cache.namespaced import AnyInformer, NamespacedInformer
from setpoint.cache.scope import Scope
from setpoint.cache.selection import Selection

__all__ = [
    "AnyInformer",
    "Cache",
    "Change",
    "Delivered",
    "Entry",
    "Form",
    "HandlerFailed",
    "IndexFailed",
    "Informer",
    "NamespacedInformer",
    "ObjectSkipped",
    "ReflectorState",
    "Scanned",
    "Scope",
    "Selection",
    "by_namespace",
    "by_owner",
]
