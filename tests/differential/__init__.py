"""The differential test: the same requests to a real kube-apiserver and to the embedded one, and what differs in the answers.

`kinds` says what objects there are, and how they may be changed; `materials` what is the same for all of them. `generate` makes steps of
it, one after another, seeing what the real server has answered so far; `session` takes a step to both servers, which `servers` reaches, and
`normalise` takes out of the answers what no two servers have in common. What is still different is a difference, unless `waivers` names it.
`machine` is the stateful test; `hunt` makes as many sequences as are wanted, steering by `coverage` to what has succeeded least, and has
hypothesis shrink what it finds. `golden` keeps sequences and the real server's answers, to be replayed without it.

    python -m tests.differential --kubeconfig FILE --operations 20000 --seed 1
"""
