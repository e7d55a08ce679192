"""Objects of built-in kinds in protobuf, as kubectl from 1.32 on and Go's clients send them: read into what they would be in JSON.

`bodies` reads whole requests, `envelope` what such a body says that it is. `wire` knows how messages are written, `messages` which message
has which fields (from the Go structs, `builtin.go_types`), and `special` those with a form of their own in JSON. Only requests are read;
answers stay JSON, which all of these clients take as well. What cannot be read is refused in the words of Go's decoders.

https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
"""

from .bodies import UnreadableObject, object_in
from .envelope import Envelope, open_envelope
from .messages import decode_message
from .wire import MalformedProtobuf

__all__ = ["Envelope", "MalformedProtobuf", "UnreadableObject", "decode_message", "object_in", "open_envelope"]
