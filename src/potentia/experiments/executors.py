"""Who plays the chunks: threads, processes or a cluster; all behind ``submit`` and futures."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from potentia.errors import InvalidInput, SweepFailed

KINDS = ("threads", "processes")
_ANSWER = "10s"  # for a scheduler to say something


def _deaf() -> None:
    """A worker process does not hear Ctrl-C: the process that sweeps lets it finish its chunk."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextlib.contextmanager
def local(kind: str, workers: int) -> Iterator[tuple[Executor, bool]]:
    """Threads or processes of this machine, and whether they live apart from this process."""
    if kind not in KINDS:
        raise InvalidInput(f"workers must be one of {', '.join(KINDS)}, got {kind!r}")
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
        try:
            if address == "local":
                cluster: Any = distributed.LocalCluster
                target = stack.enter_context(cluster(n_workers=workers, threads_per_worker=1, dashboard_address=None))
            connect: Any = distributed.Client
            client = stack.enter_context(connect(target, timeout=_ANSWER, set_as_default=False))
        except (OSError, ValueError, TimeoutError, ImportError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SweepFailed(f"no dask scheduler answers at {address}: {why}") from None
        yield client.get_executor(retries=3, pure=False), True
