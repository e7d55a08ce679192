"""JSON merge patch as the real server does it: RFC 7386, but nulls in lists.

The standard replaces a list as it is. On the real server, objects inside of what a patch puts in the place of nothing or of a scalar lose
their members that are null; in the place of an object, they keep them.
"""

from __future__ import annotations

from setpoint.cluster.server.schema import Json


def json_merge(target: dict[str, Json], patch: dict[str, Json]) -> dict[str, Json]:
    """`target` with `patch` laid over it. Neither argument is changed."""
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif not isinstance(there := result.get(key), dict):
            result[key] = _without_nulls(value)
        else:
            result[key] = json_merge(there, value) if isinstance(value, dict) else value
    return result


def _without_nulls(value: Json) -> Json:
    match value:
        case dict():
            return {key: _without_nulls(item) for key, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value]
    return value
