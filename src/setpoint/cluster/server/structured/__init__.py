"""Server-side apply: who owns which field of an object, and how what several owners want is merged.

Kubernetes records in `metadata.managedFields` who last set each field (https://kubernetes.io/docs/reference/using-api/server-side-apply/).
This room keeps that record, for every write, and carries out apply patches. It is made of functions over plain JSON values: nothing here
reads a clock, a store or a registry.

From the inside out: a path is a row of `elements`; a `fieldset` is a set of paths; `atoms` are the types that say where a set may branch;
the walks over a value and its type are `compare`, `merge` and `validate`; `update` has the rules of ownership; `managedfields`, with
`entries` and `clientside`, is Kubernetes' layer on top. A server calls these:

`TypedSchema` for each kind and version, `track_update` for creates, puts and patches, `apply` for apply patches (which raises
`ApplyConflict` or `ApplyInvalid`), `in_scale` and `in_parent` (of `scaled`) around a write of the scale subresource, and
`same_but_for_timestamps` to tell whether there is anything to write.

Not here: converting between versions of a kind whose fields differ.
"""

from .atoms import TypedSchema
from .entries import Manager
from .managedfields import ApplyConflict, ApplyInvalid, apply, same_but_for_timestamps, track_update
from .scaled import SCALE_VERSION, in_parent, in_scale

__all__ = [
    "SCALE_VERSION",
    "ApplyConflict",
    "ApplyInvalid",
    "Manager",
    "TypedSchema",
    "apply",
    "in_parent",
    "in_scale",
    "same_but_for_timestamps",
    "track_update",
]
