"""What the embedded server knows of the built-in kinds.

What is announced of them, their schemas and their Go structs come from data files that ``tools/generate_k8s.py`` takes from a real API
server (`loader`, `go_types`). What these do not say is written by hand: a `Behaviour` for each kind in ``groups``, and what is `absent`.
"""

from .absent import refusal
from .loader import BuiltinKind, Subresource, digest, find, kinds, schema_of, schemas

__all__ = ["BuiltinKind", "Subresource", "digest", "find", "kinds", "refusal", "schema_of", "schemas"]
