"""Strategic merge patch: the patch that knows which lists merge, and by which key.

https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/. Built-in kinds alone take it, since only their
schemas say `x-kubernetes-patch-strategy` and `x-kubernetes-patch-merge-key` (`types` reads them, once for each struct).

Beside fields, a patch may hold directives: `$patch` (replace or delete a map, an item of a list, or all of a list), `$retainKeys` (which
keys of a map stay), `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>`. `merge` carries them out, `order` puts lists in
order, `problems` are the ways to fail, in the real server's words. What comes out may not fit the kind's Go structs: `misfit` says so.

All of this is functions of plain JSON values; what a server calls is `strategic_merge`, with a `patch_type`.
"""

from .merge import strategic_merge
from .misfit import misfit
from .problems import BadPatch, PatchCrash, PatchFailure, UnprocessablePatch
from .types import PatchType, patch_type

__all__ = ["BadPatch", "PatchCrash", "PatchFailure", "PatchType", "UnprocessablePatch", "misfit", "patch_type", "strategic_merge"]
