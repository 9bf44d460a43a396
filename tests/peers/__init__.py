"""Other libraries beside ours. ``python -m tests.peers`` writes what pygambit reads in a set of files.

``gambit.json`` keeps it, so that the tests compare with pygambit without it: it builds from source for minutes.
"""
