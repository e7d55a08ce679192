"""Custom resources in depth: definitions and objects made up at random, and what the two servers make of them.

`schemas` makes schemas with all keywords, most of them right, some of them wrong; `definitions` puts them into definitions; `objects` makes
objects that fit a schema, nearly fit it, or do not. `hunt` sends them to a real kube-apiserver and to the embedded one, and shrinks what
differs. What was found is kept in `tests/server/observed/`, to be replayed without the real server.

    python -m tests.differential.customs --kubeconfig FILE --seed 1 --count 1000
"""
