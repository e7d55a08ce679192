"""The volumes of a pod: each comes from one place, and each has a name of its own.

https://kubernetes.io/docs/concepts/storage/volumes/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.objects import Quantity

from .claims import validate_claim_spec
from .label_selectors import label_problems
from .pod_fields import FILE_FIELDS, field_reference, resource_reference
from .volume_sources import (
    Rule,
    csi_driver,
    fibre_channel,
    host_path,
    iscsi,
    needed,
    needs,
    nfs,
    no_backsteps,
    partitioned,
    relative_path,
)

Json = Mapping[str, Any]

_MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_LEAST_TOKEN_SECONDS, _MOST_TOKEN_SECONDS = 600, 1 << 32
_DISK_FORM = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"


def validate_volumes(volumes: Iterable[Json], mountable: dict[str, Json], at: str) -> Iterator[FieldError]:
    """What is wrong with the volumes of a pod; the sound ones are put into ``mountable`` by name."""
    for index, volume in enumerate(volumes):
        here, name = f"{at}[{index}]", volume.get("name", "")
        problems = list(_source(volume, here))
        if name:
            problems += (invalid(f"{here}.name", name, problem) for problem in names.dns_label(name))
        else:
            problems.append(required(f"{here}.name"))
        if name in mountable:
            problems.append(duplicate(f"{here}.name", name))
        if not problems:
            mountable[name] = volume
        yield from problems


def _source(volume: Json, at: str) -> Iterator[FieldError]:
    found = False
    for name, rule in _SOURCES.items():
        if name not in volume:
            continue
        if found:
            yield forbidden(f"{at}.{_EXTRA.get(name, name)}", "may not specify more than 1 volume type")
        else:
            found = True
            yield from rule(volume[name], f"{at}.{_CALLED.get(name, name)}")


def _mode(holder: Json, field: str, at: str) -> Iterator[FieldError]:
    mode = holder.get(field)
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{at}.{field}", mode, _MODE_TEXT)


def _own_path(path: str, at: str) -> Iterator[FieldError]:
    """A path inside a volume, where what begins with two dots is the kubelet's."""
    yield from relative_path(path, at)
    if path.startswith("..") and not path.startswith("../"):
        yield invalid(at, path, "must not start with '..'")


def _empty_dir(source: Json, at: str) -> Iterator[FieldError]:
    if "sizeLimit" in source and Quantity(source["sizeLimit"]) < 0:
        yield forbidden(f"{at}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _keys(name: str) -> Rule:
    """A config map or secret, whose name is in the field ``name``."""

    def rule(source: Json, at: str) -> Iterator[FieldError]:
        yield from needed(source, (name,), at)
        yield from _mode(source, "defaultMode", at)
        yield from _items(source, at)

    return rule


def _items(source: Json, at: str) -> Iterator[FieldError]:
    for index, item in enumerate(source.get("items") or []):
        here = f"{at}.items[{index}]"
        yield from needed(item, ("key", "path"), here)
        yield from _own_path(item.get("path", ""), f"{here}.path")
        yield from _mode(item, "mode", here)


def _downward(source: Json, at: str) -> Iterator[FieldError]:
    yield from _mode(source, "defaultMode", at)
    for item in source.get("items") or []:
        yield from _downward_file(item, at)


def _downward_file(item: Json, at: str) -> Iterator[FieldError]:
    # The server leaves the item's number out of these paths.
    yield from needed(item, ("path",), at)
    yield from _own_path(item.get("path", ""), f"{at}.path")
    if "fieldRef" in item:
        yield from field_reference(item["fieldRef"], FILE_FIELDS, f"{at}.fieldRef")
        if "resourceFieldRef" in item:
            yield invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif "resourceFieldRef" in item:
        yield from resource_reference(item["resourceFieldRef"], f"{at}.resourceFieldRef", container=True)
    else:
        yield required(at, "one of fieldRef and resourceFieldRef is required")
    yield from _mode(item, "mode", at)


def _projected(source: Json, at: str) -> Iterator[FieldError]:
    yield from _mode(source, "defaultMode", at)
    paths: dict[str, None] = {}
    for index, part in enumerate(source.get("sources") or []):
        here = f"{at}.sources[{index}]"
        for name in ("secret", "configMap"):
            if name in part:
                yield from needed(part[name], ("name",), f"{here}.{name}")
                yield from _items(part[name], f"{here}.{name}")
                yield from _twice(part[name].get("items") or [], paths, part[name].get("name", ""), at)
        if "downwardAPI" in part:
            for item in part["downwardAPI"].get("items") or []:
                yield from _downward_file(item, f"{here}.downwardAPI")
                yield from _twice([item], paths, item.get("path", ""), at)
        if "serviceAccountToken" in part:
            yield from _token(part["serviceAccountToken"], f"{here}.serviceAccountToken", at)
        if len(part) > 1:
            yield forbidden(here, "may not specify more than 1 volume type per source")


def _twice(items: Iterable[Json], paths: dict[str, None], shown: str, at: str) -> Iterator[FieldError]:
    for item in items:
        if path := item.get("path"):
            if path in paths:
                yield invalid(at, shown, "conflicting duplicate paths")
            paths[path] = None


def _token(token: Json, at: str, volume: str) -> Iterator[FieldError]:
    seconds = token.get("expirationSeconds")
    if seconds is not None and seconds < _LEAST_TOKEN_SECONDS:
        yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > _MOST_TOKEN_SECONDS:
        yield invalid(f"{at}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    # The server takes this path for the volume's.
    if path := token.get("path"):
        yield from _own_path(path, f"{volume}.path")
    else:
        yield required(f"{volume}.path")


def _csi(source: Json, at: str) -> Iterator[FieldError]:
    yield from csi_driver(source.get("driver", ""), f"{at}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        if name := secret.get("name"):
            yield from (invalid(f"{at}.nodePublishSecretRef.name", name, problem) for problem in names.dns_subdomain(name))
        else:
            yield required(f"{at}.nodePublishSecretRef.name")


def _ephemeral(source: Json, at: str) -> Iterator[FieldError]:
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield required(f"{at}.volumeClaimTemplate")
        return
    here, metadata = f"{at}.volumeClaimTemplate", template.get("metadata") or {}
    for key in metadata.get("annotations") or {}:
        yield from (invalid(f"{here}.metadata.annotations", key, problem) for problem in names.label_key(key.lower()))
    yield from label_problems(metadata.get("labels") or {}, f"{here}.metadata.labels")
    yield from (forbidden(f"{here}.metadata.{field}", "cannot be set") for field in metadata if field not in ("annotations", "labels"))
    yield from validate_claim_spec(template.get("spec") or {}, f"{here}.spec")


def _image(source: Json, at: str) -> Iterator[FieldError]:
    yield from needed(source, ("reference",), at)
    if source.get("pullPolicy") not in _PULL_POLICIES:
        yield not_supported(f"{at}.pullPolicy", source.get("pullPolicy", ""), _PULL_POLICIES)


def _git_repo(source: Json, at: str) -> Iterator[FieldError]:
    yield from needed(source, ("repository",), at)
    directory = source.get("directory", "")
    if directory.startswith("/"):
        yield invalid(f"{at}.directory", directory, "must be a relative path")
    yield from no_backsteps(directory, f"{at}.directory")


def _azure_disk(source: Json, at: str) -> Iterator[FieldError]:
    yield from needed(source, ("diskName", "diskURI"), at)
    address = source.get("diskURI", "")
    if source.get("kind", "Shared") != "Managed" and not address.startswith("https://"):
        yield not_supported(f"{at}.diskURI", address, (_DISK_FORM,))


def _flocker(source: Json, at: str) -> Iterator[FieldError]:
    if not source.get("datasetName") and not source.get("datasetUUID"):
        yield required(at, "one of datasetName and datasetUUID is required")


def _quobyte(source: Json, at: str) -> Iterator[FieldError]:
    if not source.get("registry"):
        yield required(f"{at}.registry", "must be a host:port pair or multiple pairs separated by commas")
    yield from needed(source, ("volume",), at)


_SOURCES: dict[str, Rule] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": partitioned("pdName"),
    "awsElasticBlockStore": partitioned("volumeID"),
    "secret": _keys("secretName"),
    "nfs": nfs,
    "iscsi": iscsi,
    "glusterfs": needs("endpoints", "path"),
    "flocker": _flocker,
    "persistentVolumeClaim": needs("claimName"),
    "rbd": needs("monitors", "image"),
    "cinder": needs("volumeID"),
    "cephfs": needs("monitors"),
    "quobyte": _quobyte,
    "downwardAPI": _downward,
    "fc": fibre_channel,
    "flexVolume": needs("driver"),
    "configMap": _keys("name"),
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": _azure_disk,
    "storageos": needs("volumeName"),
    "projected": _projected,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
"""In the order in which the server looks at them; of two it refuses the later one."""
_CALLED = {"gcePersistentDisk": "persistentDisk"}
_EXTRA = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""How the server spells them where there is one too many."""
