"""Custom kinds: from a definition that somebody writes to a kind that is served.

`definitions` read a CustomResourceDefinition and judge it, with `schema` (are its schemas structural, and what do they say), `defaults`,
`selectable` and `go_print` (how refusals quote it). `names` accepts its names, or not. `custom` follows the definitions in the store and
serves, changes and withdraws their kinds; `openapi` describes those.
"""
