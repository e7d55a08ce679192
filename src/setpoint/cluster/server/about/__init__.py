"""What the server says of itself, on the paths that are no resources.

`paths` has the answers: `version`, `health`, discovery (`discovery`, and `aggregated` all at once) and the OpenAPI documents (`openapi`
keeps them, with the paths of `openapi_paths`; `openapi_v2` is the old form).
"""
