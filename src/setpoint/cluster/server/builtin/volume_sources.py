"""Where volumes come from: what each sort of source must obey, in pods and in PersistentVolumes.

https://kubernetes.io/docs/concepts/storage/volumes/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required, too_long

Json = Mapping[str, Any]
Rule = Callable[[Any, str], Iterator[FieldError]]

_HOST_PATH_TYPES = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_ONE = "may not specify more than 1 volume type"
_UNIT, _PARTITION = "must be between 0 and 255, inclusive", "must be between 1 and 255, inclusive"


def no_backsteps(path: str, at: str) -> Iterator[FieldError]:
    """A path does not go up."""
    if ".." in path.split("/"):
        yield invalid(at, path, "must not contain '..'")


def relative_path(path: str, at: str) -> Iterator[FieldError]:
    """A path leads down from where it starts."""
    if path.startswith("/"):
        yield invalid(at, path, "must be a relative path")
    yield from no_backsteps(path, at)


def needed(source: Json, fields: tuple[str, ...], at: str) -> Iterator[FieldError]:
    """These fields are there."""
    yield from (required(f"{at}.{field}") for field in fields if not source.get(field))


def host_path(source: Json, at: str) -> Iterator[FieldError]:
    """A folder or file of the node."""
    if not source.get("path"):
        yield required(f"{at}.path")
        return
    yield from no_backsteps(source["path"], f"{at}.path")
    kind = source.get("type", "")
    if kind not in _HOST_PATH_TYPES:
        yield not_supported(f"{at}.type", kind, _HOST_PATH_TYPES)


def nfs(source: Json, at: str) -> Iterator[FieldError]:
    """A folder of a file server."""
    yield from needed(source, ("server", "path"), at)
    path = source.get("path", "")
    if not path.startswith("/"):
        yield invalid(f"{at}.path", path, "must be an absolute path")


def _local(source: Json, at: str) -> Iterator[FieldError]:
    yield from needed(source, ("path",), at)
    yield from no_backsteps(source.get("path", ""), f"{at}.path")


def csi_driver(name: str, at: str) -> Iterator[FieldError]:
    """The name of a storage driver."""
    if not name:
        yield required(at)
        return
    if len(name) > 63:
        yield too_long(at, 63)
    yield from (invalid(at, name, problem) for problem in names.dns_subdomain(name.lower()))


def _csi(source: Json, at: str) -> Iterator[FieldError]:
    yield from csi_driver(source.get("driver", ""), f"{at}.driver")
    yield from needed(source, ("volumeHandle",), at)
    for name in ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"):
        if name in source:
            yield from _secret(source[name], f"{at}.{name}")


def _secret(reference: Json, at: str) -> Iterator[FieldError]:
    for field, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
        if value := reference.get(field):
            yield from (invalid(f"{at}.{field}", value, problem) for problem in rule(value))
        else:
            yield required(f"{at}.{field}")


def partitioned(*fields: str) -> Rule:
    """A disk that has these fields and perhaps partitions."""

    def rule(source: Json, at: str) -> Iterator[FieldError]:
        yield from needed(source, fields, at)
        if not 0 <= source.get("partition", 0) <= 255:
            yield invalid(f"{at}.partition", source["partition"], _PARTITION)

    return rule


def needs(*fields: str) -> Rule:
    """A source that has these fields."""

    def rule(source: Json, at: str) -> Iterator[FieldError]:
        yield from needed(source, fields, at)

    return rule


def fibre_channel(source: Json, at: str) -> Iterator[FieldError]:
    """A device of a storage network."""
    names_of, ids, unit = source.get("targetWWNs") or [], source.get("wwids") or [], source.get("lun")
    if not names_of and not ids:
        yield required(f"{at}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if names_of and ids:
        yield invalid(f"{at}.targetWWNs", names_of, "targetWWNs and wwids can not be specified simultaneously")
    if names_of and unit is None:
        yield required(f"{at}.lun", "lun is required if targetWWNs is specified")
    elif names_of and unit is not None and not 0 <= unit <= 255:
        yield invalid(f"{at}.lun", unit, _UNIT)


def iscsi(source: Json, at: str) -> Iterator[FieldError]:
    """A device behind iSCSI."""
    yield from needed(source, ("targetPortal",), at)
    name = source.get("iqn", "")
    if not name:
        yield required(f"{at}.iqn")
    elif not name.startswith(("iqn", "eui", "naa")):
        yield invalid(f"{at}.iqn", name, "must be valid format")
    if not 0 <= source.get("lun", 0) <= 255:
        yield invalid(f"{at}.lun", source["lun"], _UNIT)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        yield required(f"{at}.secretRef")


_PERSISTENT: dict[str, Rule] = {
    "hostPath": host_path,
    "gcePersistentDisk": partitioned("pdName"),
    "awsElasticBlockStore": partitioned("volumeID"),
    "glusterfs": needs("endpoints", "path"),
    "flocker": needs(),
    "nfs": nfs,
    "rbd": needs("monitors", "image"),
    "quobyte": needs("registry", "volume"),
    "cephfs": needs("monitors"),
    "iscsi": iscsi,
    "cinder": needs("volumeID"),
    "fc": fibre_channel,
    "flexVolume": needs("driver"),
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": needs("diskName", "diskURI"),
    "scaleIO": needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": needs(),
    "csi": _csi,
}
"""In the order in which the server looks at them; of two it refuses the later one."""
_CALLED = {"gcePersistentDisk": "persistentDisk"}


def validate_persistent_source(source: Json, at: str) -> Iterator[FieldError]:
    """What is wrong with where a PersistentVolume comes from; ``source`` holds it by its sort."""
    found = False
    for name, rule in _PERSISTENT.items():
        if name not in source:
            continue
        if found:
            yield forbidden(f"{at}.{name}", _ONE)
        else:
            found = True
            yield from rule(source[name], f"{at}.{_CALLED.get(name, name)}")
    if not found:
        yield required(at, "must specify a volume type")
