"""Schemas at work: what a custom resource (or a built-in kind) may hold, and what becomes of an object that holds something else.

A request's body is read by `decode_json` or `decode_yaml`, which also tell of keys written twice. The kind's schema is compiled once by
`compile_schema`. What cannot be read at all (`metadata_problem`, `embedded_problem`) is a bad request. An object then goes, in this order,
through `prune` (drop and name what the schema does not know), `drop_nulls` and
`apply_defaults`, and `validate` (say what is wrong, in the words of kube-apiserver). All of them are pure: they take plain JSON values and
leave them as they are; what did not change is shared between argument and answer.
"""

from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.decode import MalformedBody, decode_json, decode_yaml
from setpoint.cluster.server.schema.default import apply_defaults, drop_nulls
from setpoint.cluster.server.schema.embedded import embedded_problem, embedded_resources, tidy_embedded
from setpoint.cluster.server.schema.metadata import OBJECT_META, metadata_problem, tidy_metadata
from setpoint.cluster.server.schema.prune import prune, unknown_fields
from setpoint.cluster.server.schema.ratchet import validate_change
from setpoint.cluster.server.schema.settled import Settled, settle, unsettle
from setpoint.cluster.server.schema.structural import Json, SchemaError, Structural, compile_schema, compiler_of
from setpoint.cluster.server.schema.validate import validate, validate_value

__all__ = [
    "OBJECT_META",
    "FieldError",
    "Json",
    "MalformedBody",
    "SchemaError",
    "Settled",
    "Structural",
    "apply_defaults",
    "compile_schema",
    "compiler_of",
    "decode_json",
    "decode_yaml",
    "drop_nulls",
    "embedded_problem",
    "embedded_resources",
    "metadata_problem",
    "prune",
    "settle",
    "tidy_embedded",
    "tidy_metadata",
    "unknown_fields",
    "unsettle",
    "validate",
    "validate_change",
    "validate_value",
]
