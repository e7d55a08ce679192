"""Keys that a YAML (or JSON) body sets twice, as Go's strict reader of YAML tells of them: by line."""

from __future__ import annotations

from collections.abc import Iterator

import yaml


def repeated_keys(body: bytes) -> list[str]:
    """What the strict reader says of the first document of a body that `decode_yaml` can read."""
    node = yaml.compose(body.partition(b"\n---")[0], Loader=yaml.SafeLoader)
    return list(_repeated(node, {})) if node is not None else []


def _repeated(node: yaml.Node, seen: dict[int, None]) -> Iterator[str]:
    if id(node) in seen:
        return  # an alias of what was looked at already
    seen[id(node)] = None
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item, seen)
    elif isinstance(node, yaml.MappingNode):
        keys: dict[str, None] = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value == "<<":
                    # What is merged in is set as if it were written here: to set it again is to set it twice.
                    keys |= dict.fromkeys(_merged(value))
                elif key.value in keys:
                    yield f'line {key.start_mark.line + 1}: key "{key.value}" already set in map'
                keys[key.value] = None
            yield from _repeated(value, seen)


def _merged(value: yaml.Node) -> Iterator[str]:
    for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
        if isinstance(source, yaml.MappingNode):
            yield from (key.value for key, _ in source.value if isinstance(key, yaml.ScalarNode))
