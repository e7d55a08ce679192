"""Objects as the rows of a table, which is what `kubectl get` prints.

`tables` makes them: from the printer columns of custom kinds, by `jsonpath`, and from the `cells` of built-in ones, whose ages are
`durations`.

https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
"""
