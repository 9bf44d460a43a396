"""The process that compiles kernels for others to load: what to compile comes through its standard input.

It ends by itself. Of all processes that share a cache no more compile at a time than there are cores but one. Kernels
that come one after the other share what they have in common, which is most of them.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import sys
from functools import partial

from potentia.kernel.timers import after

_LONGEST, _IDLE = 100.0, 2.0  # seconds for a kernel, and without one


def main() -> int:
    """The exit code; a kernel that was compiled is on disk then."""
    with after(_LONGEST, partial(os._exit, 1)):
        from potentia.kernel.background import BUSY_CODE, slots
        from potentia.kernel.cache import entries, kernel_file
        from potentia.kernel.cache_folder import cache_directory
        from potentia.kernel.locks import try_slot
        from potentia.kernel.shapes import filled

        if not try_slot(cache_directory(), slots()):
            return BUSY_CODE
    gc.disable()  # a tenth of the time, imports included
    while True:
        with after(_IDLE, partial(os._exit, BUSY_CODE)):
            try:
                job = pickle.load(sys.stdin.buffer)  # from the process that started this one
            except EOFError:
                return 0
        with after(_LONGEST, partial(os._exit, 1)):
            module, name, shape, wanted = pickle.loads(job)
            importlib.import_module(module)
            entry = next(e for e in entries if (e.function.__module__, e.function.__qualname__) == (module, name))
            path = kernel_file(entry.function, shape)
            if path is None or str(path) != wanted:  # the sources are no longer those of the process that asked
                return 1
            entry.compile(filled(shape))
            if not path.exists():
                return 1
        gc.collect()


if __name__ == "__main__":
    sys.exit(main())
