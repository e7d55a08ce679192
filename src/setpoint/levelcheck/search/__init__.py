"""Which plans are tried.

Every single fault at every place where it matters, chosen pairs, variants of the workload, and chance beyond that.
"""
