"""Simulated processes: many of them in one Python process, and none of them knows more than a real one would.

`target` says what is checked, by a name that leads to it in any process. `fresh` loads the user's modules anew for each simulated process,
so that a crash loses what they held (`annotations` settles what their classes say of types), and `residue` tells what stayed behind
nevertheless. `seal` gives code inside a simulated process its own time and chance, and nothing else of the machine. `forked` has processes
of the operating system's in their place.
"""
