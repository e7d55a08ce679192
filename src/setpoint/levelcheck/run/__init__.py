"""One run: a cluster, a user, the processes of a controller, and a plan of what goes wrong, from beginning to end in simulated time."""
