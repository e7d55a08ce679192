"""What the generator knows of a kind: some good objects, and partial ones that change them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

Json = Any
_PLAIN = ("create", "get", "list", "watch", "update", "delete", "deletecollection")


@dataclass(frozen=True)
class Kind:
    """A kind and its material.

    `bases` are whole objects without type and metadata. `fragments` are partial ones that every object of the kind takes, however they are
    sent (laid over, as a merge, strategic or apply patch). `bad` ones are mostly refused. `strategic` are strategic merge patches with
    directives. `removals` are paths of members that may go. `status` are good contents of the status; `scale` says that it scales.
    `fields` are field selectors. `naming` is what its objects are called, if that matters, with `SHORT` for a name and `NS` for the
    namespace of the sequence; `SHORT` and `Short` in bases are filled in likewise. `without` names what is not asked of the kind: a verb,
    `generateName`, or `limit` where servers have objects of their own.
    """

    sort: str
    group: str
    versions: tuple[str, ...]
    plural: str
    kind: str
    bases: tuple[Json, ...]
    fragments: tuple[Json, ...]
    namespaced: bool = True
    bad: tuple[Json, ...] = ()
    strategic: tuple[Json, ...] = ()
    removals: tuple[tuple[str | int, ...], ...] = ()
    status: tuple[Json, ...] = ()
    scale: bool = False
    fields: tuple[str, ...] = ()
    naming: str = ""
    without: tuple[str, ...] = ()

    @property
    def custom(self) -> bool:
        """Whether a CustomResourceDefinition defines it."""
        return self.group.endswith("example.com")

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs that the kind has, each sort of patch as one of its own."""
        patches = ("json", "merge", "apply") if self.custom else ("json", "merge", "strategic", "apply")
        verbs = [verb for verb in _PLAIN if verb not in self.without]
        verbs += [f"patch {patch}" for patch in patches]
        if self.status:
            verbs += [f"status {verb}" for verb in ("get", "update", *patches)]
        if self.scale:
            # A real server takes no apply patch for the scale of a custom kind: it answers 500.
            verbs += [f"scale {verb}" for verb in ("get", "update", "json", "merge", *(() if self.custom else ("apply",)))]
        return tuple(verbs)

    def named(self, short: str) -> str:
        """What an object is called that a step calls so."""
        return (self.naming or ("SHORT" if self.namespaced else "NS-SHORT")).replace("SHORT", short)

    def made_out(self, base: Json, name: str) -> Json:
        """A base, or part of one, for an object of this name."""
        if not self.naming:
            return base
        before, _, after = self.naming.partition("SHORT")
        short = name.removeprefix(before).removesuffix(after)
        return json.loads(json.dumps(base).replace("SHORT", short).replace("Short", short.capitalize()))

    def api_version(self, version: str) -> str:
        """What its objects say."""
        return f"{self.group}/{version}" if self.group else version

    def collection(self, version: str) -> str:
        """The path of its objects in the namespace of the sequence."""
        root = f"/apis/{self.group}/{version}" if self.group else f"/api/{version}"
        return f"{root}/namespaces/NS/{self.plural}" if self.namespaced else f"{root}/{self.plural}"
