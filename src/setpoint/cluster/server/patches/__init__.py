"""What patches make of an object: `patches` reads them, and each form has its place: `json_patch`, `json_merge`, `strategic`.

Server-side apply is not here: it is `structured`.
"""
