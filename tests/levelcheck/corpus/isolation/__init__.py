"""What a crash must really lose: controllers that keep something in the memory of their process, each in another place.

Each works as long as its process lives, and goes wrong when it is killed between two writes or between two runs. A simulated crash that
leaves the memory as it was, or runs the `finally` blocks, sees none of them.
"""
