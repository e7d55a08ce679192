"""What the embedded server knows of the built-in kinds.

Discovery and schemas come from data files that ``tools/generate_k8s.py`` takes from a real API server: one for each group and version,
unpacked when first asked for. What OpenAPI does not say is written by hand: `defaults` (which values the server fills in) and
`strategy` (what create and update do to an object, and what they refuse).

A kind is known here by its name alone (``Deployment``): the built-in ones have no two of one name but ``Event``, of which there are two
forms (`event_forms`) and one sort of object.
"""

from .loader import BuiltinKind, Subresource, kind_named, kinds, schema_of, schemas

__all__ = ["BuiltinKind", "Subresource", "kind_named", "kinds", "schema_of", "schemas"]
