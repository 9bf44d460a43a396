"""What compiled code stands on: dispatch, draws, the disk cache and the protocol between games and rules.

Everything in a kernel is a plain Python function. It runs as it is (``NUMBA_DISABLE_JIT=1``, or a
custom utility that Numba cannot compile) and, unchanged, inside compiled code.
"""
