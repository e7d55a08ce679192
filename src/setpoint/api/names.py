"""What a kind is called: by its schema (group, version, kind) and by its URL (group, version, resource)."""

from __future__ import annotations

import msgspec


class GroupVersionKind(msgspec.Struct, frozen=True, order=True):
    """A kind as objects name themselves: `apiVersion` and `kind`. The core group is the empty string."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return api_version(self.group, self.version)

    @classmethod
    def parse(cls, api_version: str, kind: str) -> GroupVersionKind:
        """From an object's `apiVersion` and `kind`."""
        return cls(*split_api_version(api_version), kind)

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


class GroupVersionResource(msgspec.Struct, frozen=True, order=True):
    """A kind as URLs name it; `resource` is the lower-case plural."""

    group: str
    version: str
    resource: str

    @property
    def api_version(self) -> str:
        """`apps/v1`, or `v1` for the core group."""
        return api_version(self.group, self.version)

    @property
    def group_resource(self) -> str:
        """`deployments.apps`, or `pods` for the core group: how the API server names a resource in its messages."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    def __str__(self) -> str:
        return f"{self.group_resource}/{self.version}"


def api_version(group: str, version: str) -> str:
    """The `apiVersion` of a group and a version."""
    return f"{group}/{version}" if group else version


def split_api_version(text: str) -> tuple[str, str]:
    """Group and version of an `apiVersion`."""
    group, slash, version = text.rpartition("/")
    return (group, version) if slash else ("", text)
