"""The process that compiles one kernel for others to load: what to compile comes through its standard input.

It ends by itself. Of all processes that share a cache no more compile at a time than there are cores but one, and no
two the same kernel.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import threading

_LONGEST = 100  # seconds


def main() -> int:
    """The exit code: 0 where the kernel is on disk now."""
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # it may have been ignored or held back
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
        signal.alarm(_LONGEST)
    else:
        timer = threading.Timer(_LONGEST, os._exit, [1])
        timer.daemon = True
        timer.start()
    module, name, shape = pickle.load(sys.stdin.buffer)  # from the process that started this one
    importlib.import_module(module)
    from potentia.kernel.background import BUSY_CODE, slots
    from potentia.kernel.cache import entries, kernel_file
    from potentia.kernel.locks import try_kernel, try_slot
    from potentia.kernel.shapes import filled

    entry = next(e for e in entries if (e.function.__module__, e.function.__qualname__) == (module, name))
    path = kernel_file(entry.function, shape)
    assert path is not None
    if not try_slot(path.parent, slots()) or not try_kernel(path):
        return BUSY_CODE
    entry.compile(filled(shape))
    return 0 if os.path.exists(path) else 1


if __name__ == "__main__":
    sys.exit(main())
