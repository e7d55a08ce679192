"""What Setpoint costs beside its peers: `python -m benchmarks` prints one table, and is run on demand, never as a test.

`command` reads what is asked, runs it and shows it. A `workload` is work that several programs do, each of them one of its *sides*, with
the *rows* that are read off it and their goals; `workloads/` has them all. `servers` prepares what they run on, `objects` says what is in
there, `peers/` are the programs that do the work. `figures` is the arithmetic of ratios and goals, `table` and `keeping` tell the outcome.

Beside that there are scripts, each for one question: `python -m benchmarks.watchers` and the like, as the head of each says.
"""
