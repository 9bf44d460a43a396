"""Who plays the chunks: threads, processes or a cluster; all behind ``submit`` and futures."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from potentia.errors import InvalidInput, SweepFailed

KINDS = ("threads", "processes")
_ANSWER = "10s"  # for a scheduler to say something


def _deaf() -> None:
    """A worker process does not hear Ctrl-C: the process that sweeps lets it finish its chunk."""
    import signal

    with contextlib.suppress(ValueError):  # where it is not the main thread that asks
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def dask_setup(worker: Any) -> None:
    """Called by dask in each worker of a cluster that :func:`dask` starts, because it preloads this module."""
    _deaf()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep distributed from printing tracebacks about what the sweep itself tells in a line."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    handlers = {handler for name in names for handler in logging.getLogger(name).handlers}
    levels = {handler: handler.level for handler in handlers}
    for handler in handlers:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in levels.items():
            handler.setLevel(level)


@contextlib.contextmanager
def local(kind: str, workers: int) -> Iterator[tuple[Executor, bool]]:
    """Threads or processes of this machine, and whether they live apart from this process."""
    if kind not in KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind == "threads":
        # one worker is a thread of its own too: the main thread is there to hear Ctrl-C
        pool = ThreadPoolExecutor(workers)
        try:
            yield pool, False
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
    else:
        import loky

        # spawned afresh and robust: a worker that dies is noticed instead of waited for
        processes = loky.ProcessPoolExecutor(workers, initializer=_deaf, timeout=None)
        try:
            yield processes, True
        except BaseException:
            processes.shutdown(wait=True, kill_workers=True)
            raise
        processes.shutdown(wait=True)


@contextlib.contextmanager
def dask(address: str, workers: int) -> Iterator[tuple[Executor, bool]]:
    """A dask.distributed cluster: at an address, or "local" for one of so many processes here."""
    try:
        import distributed
    except ImportError:
        raise SweepFailed("dask is not installed: pip install 'potentia[dask]'") from None
    with contextlib.ExitStack() as stack:
        target: Any = address
        stack.enter_context(_quiet())
        try:
            if address == "local":
                cluster: Any = distributed.LocalCluster
                options = {"dashboard_address": None, "preload": [__name__]}
                target = stack.enter_context(cluster(n_workers=workers, threads_per_worker=1, **options))
            connect: Any = distributed.Client
            client = stack.enter_context(connect(target, timeout=_ANSWER, set_as_default=False))
        except (OSError, ValueError, TimeoutError, ImportError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SweepFailed(f"no dask scheduler answers at {address}: {why}") from None
        yield client.get_executor(retries=3, pure=False), True
