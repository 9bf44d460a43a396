"""Who plays the chunks: threads, processes or a cluster; all behind ``submit`` and futures."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from potentia.engine.interrupt import Flag, deferred_interrupt, obey
from potentia.errors import InvalidInput, Remedy, SweepFailed, frames_to_caller

KINDS = ("threads", "processes")
_ANSWER = 10.0  # seconds for a scheduler to say something
_LOOK = 0.5  # seconds between two looks whether the parent is there

_UNHEARD = (signal.SIGINT, signal.SIGTERM)


def _deaf() -> None:
    """A worker process hears neither Ctrl-C nor SIGTERM: the process that sweeps lets it finish its chunk."""
    for number in _UNHEARD:
        with contextlib.suppress(ValueError):  # where it is not the main thread that asks
            signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Hear these signals after the block; processes that are started in it never do, not even while they load."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # where it is started inside the block, signals are heard again after that
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _UNHEARD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _belong(parent: int) -> None:
    """At the beginning of a worker process: be deaf to signals, and leave when the process that sweeps is gone."""
    _deaf()
    threading.Thread(target=_leave_with, args=(parent,), name="potentia-parent", daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process once its parent has, also in the middle of a chunk.

    A look now and then works everywhere. Linux could send a signal instead, but when the parent's *thread* ends that
    started the process, and pools start some from threads of their own.
    """
    import psutil

    try:
        began = psutil.Process(parent)
        while os.getppid() == parent and began.is_running():  # a Windows process keeps the number of a dead parent
            time.sleep(_LOOK)
    except psutil.NoSuchProcess:
        pass
    os._exit(1)


def dask_setup(worker: Any) -> None:
    """Called by dask in each worker of a cluster that :func:`dask` starts, because it preloads this module."""
    _deaf()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep distributed from printing tracebacks about what the sweep itself tells in a line."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {handler: handler.level for name in names for handler in logging.getLogger(name).handlers}
    for handler in levels:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in levels.items():
            handler.setLevel(level)


Opened = contextlib.AbstractContextManager[tuple[Executor, bool]]  # and whether it plays apart from this process


def chosen(
    executor: str | Executor, dask_tls: str | os.PathLike[str] | None = None, apart: bool | None = None
) -> Callable[[int], Opened]:
    """How to open what ``executor`` means, with so many workers; what is wrong with it is said at once."""
    if isinstance(executor, str) and (executor == "dask" or "://" in executor):
        address = "local" if executor == "dask" else executor.removeprefix("dask://")
        if dask_tls is not None and not address.startswith("tls://"):
            raise InvalidInput(f"is for addresses that begin with tls://, got {address!r}", "dask_tls", dask_tls)
        return lambda workers: dask(address, workers, dask_tls)
    if dask_tls is not None:
        raise InvalidInput("is for sweeps on dask, got no address of a scheduler", "dask_tls", dask_tls)
    if isinstance(executor, str) and executor in KINDS:
        return lambda workers: local(executor, workers)
    if isinstance(executor, str) or not hasattr(executor, "submit"):
        known = f"one of {', '.join(KINDS)} and dask, an address such as tcp://host:8786, or an executor"
        raise InvalidInput(f"must be {known}, got {executor!r:.60}", "executor", executor)
    elsewhere = not isinstance(executor, ThreadPoolExecutor) if apart is None else apart
    return lambda workers: contextlib.nullcontext((executor, elsewhere))


def renamed(executor: Any, kind: str | None, dask: str | None, apart: bool | None) -> Any:
    """The executor that version 0.1 had three more words for; they still work, with a warning."""
    told = {"kind": kind, "dask": None if dask is None else at(dask), "apart": apart}
    for name, now in told.items():
        if now is not None:
            used = "ThreadPoolExecutor(...) where memory is shared" if name == "apart" else repr(now)
            text = f"sweep({name}=...) is deprecated: use executor={used}"
            warnings.warn(text, DeprecationWarning, stacklevel=frames_to_caller())
    if executor is not None and not isinstance(executor, str):
        return executor
    return told["dask"] or kind or executor or "threads"


def at(address: str) -> str:
    """The executor that is a dask scheduler at an address, or a cluster of this machine's at "local"."""
    return "dask" if address == "local" else address if "://" in address else f"dask://{address}"


@contextlib.contextmanager
def local(kind: str, workers: int) -> Iterator[tuple[Executor, bool]]:
    """Threads or processes of this machine, and whether they live apart from this process."""
    if kind == "threads":
        # one worker is a thread of its own too: the main thread is there to hear Ctrl-C
        given_up = Flag()
        pool = ThreadPoolExecutor(workers, initializer=obey, initargs=(given_up,))
        try:
            yield pool, False
        except BaseException:
            given_up.raised = given_up.told = True  # Python does not end before its threads do
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()
    else:
        import loky

        # spawned afresh and robust: a worker that dies is noticed instead of waited for
        processes = loky.ProcessPoolExecutor(workers, initializer=_belong, initargs=(os.getpid(),), timeout=None)
        try:
            with _held_back():
                processes.submit(os.getpid)  # the first starts them all
            yield processes, True
        except BaseException:
            with deferred_interrupt():
                processes.shutdown(wait=True, kill_workers=True)
            raise
        processes.shutdown(wait=True)


@contextlib.contextmanager
def dask(
    address: str, workers: int, certificates: str | os.PathLike[str] | None = None
) -> Iterator[tuple[Executor, bool]]:
    """A dask.distributed cluster: at an address, or "local" for one of so many processes here.

    ``certificates`` is the folder of those for a ``tls://`` address; left out, dask's own configuration names them.
    """
    try:
        import distributed
    except ImportError:
        raise SweepFailed("dask is not installed: pip install 'potentia[dask]'") from None
    with contextlib.ExitStack() as stack:
        target: Any = address
        stack.enter_context(_quiet())
        try:
            security = _security(certificates) if address.startswith("tls://") else None
            if address == "local":
                target = _started(workers)
                stack.callback(_close, target)
            client = _connected(distributed.Client, target, security)
            stack.callback(_close, client)
        except InvalidInput:
            raise
        except MemoryError:  # the first bytes of any other protocol are taken for a length
            raise SweepFailed(f"no dask scheduler answers at {address}: what does is something else") from None
        except (OSError, ValueError, TimeoutError, ImportError) as error:
            why = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SweepFailed(f"no dask scheduler answers at {address}: {why}") from None
        yield client.get_executor(retries=3, pure=False), True


def _started(workers: int) -> Any:
    """A local cluster; Ctrl-C waits until it stands, since half a one cannot be ended."""
    from potentia.studies.cluster import local_cluster

    cluster = None
    with deferred_interrupt() as flag:
        try:
            cluster = local_cluster(workers, preload=__name__)
        except RuntimeError as error:  # Ctrl-C may reach processes that have only just begun
            if not flag.raised:
                raise SweepFailed(f"the local dask cluster did not start: {error}") from None
        if flag.raised and cluster is not None:
            cluster.close()
    if flag.raised:
        raise KeyboardInterrupt
    return cluster


def _connected(kind: Any, target: Any, security: Any) -> Any:
    """A client, asked for in a thread: something that takes the connection and is silent holds it for ever."""
    answer: Future[Any] = Future()

    def ask() -> None:
        client = kind.__new__(kind)
        try:
            client.__init__(target, timeout=_ANSWER, set_as_default=False, security=security)
            answer.set_result(client)
        except BaseException as error:
            client.status = "closed"  # else it is closed when it is forgotten, which takes 20 seconds and a traceback
            answer.set_exception(error)

    threading.Thread(target=ask, name="potentia-dask", daemon=True).start()
    try:
        return answer.result(_ANSWER + 1)
    except TimeoutError as error:
        raise TimeoutError(str(error) or f"no answer in {_ANSWER:g} seconds") from None


def _close(part: Any) -> None:
    with deferred_interrupt():  # it takes some seconds at most
        part.close()


def _security(folder: str | os.PathLike[str] | None) -> Any:
    """What a client needs to be let in by a scheduler with TLS, loaded once so that mistakes are told at once."""
    import distributed

    kind: Any = distributed.Security
    if folder is None:
        security, where = kind(), "dask's configuration (distributed.comm.tls)"
        if not security.tls_ca_file or not security.tls_client_cert:
            said = f"a tls:// address needs certificates: ca.pem, cert.pem and key.pem in a folder, or named in {where}"
            raise SweepFailed(said).advising(Remedy("dask_tls", "give their folder as dask_tls"))
    else:
        where = f"dask_tls: {folder}"
        paths = {name: Path(folder) / f"{name}.pem" for name in ("ca", "cert", "key")}
        missing = next((path for path in paths.values() if not path.is_file()), None)
        if missing is not None:
            raise InvalidInput(f"must be a folder of ca.pem, cert.pem and key.pem, got none at {missing}", "dask_tls")
        ca, cert, key = map(str, paths.values())
        security = kind(require_encryption=True, tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key)
    try:
        security.get_connection_args("client")
    except (OSError, ssl.SSLError) as error:
        raise InvalidInput(f"{where}: these certificates cannot be used: {error.strerror or error}") from None
    return security
