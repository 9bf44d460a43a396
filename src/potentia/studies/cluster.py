"""A dask cluster of worker processes on this machine that nobody else can talk to.

A scheduler and its workers do whatever somebody tells them who can reach their ports, and any user of a machine can
reach those on its loopback device. Here they talk TLS with a certificate that is made for this cluster and kept in
memory; who does not have its key is turned away. The alternative without ports, threads inside this process, would be
no cluster: its workers could neither die nor run games side by side that are written in Python.

distributed also starts a web server in the scheduler (on port 8787, or any other that is free) and one in each worker,
dashboard or not. They serve anybody, so there are none here.
"""

from __future__ import annotations

from typing import Any

import distributed
from distributed.system import MEMORY_LIMIT

from potentia.errors import SweepFailed


class _Unseen:
    """A part of the cluster without a web server."""

    def start_http_server(self, *args: Any, **options: Any) -> None:
        """None is wanted."""


class Scheduler(_Unseen, distributed.Scheduler):
    """The scheduler, in this process."""


class Worker(_Unseen, distributed.Worker):
    """A worker, in a process of its own."""


def local_cluster(workers: int, preload: str) -> Any:
    """So many processes that play one chunk at a time, each of which imports a module first."""
    kind: Any = distributed.Security
    try:
        security = kind.temporary()
    except ImportError:
        raise SweepFailed("a local dask cluster needs cryptography: pip install 'potentia[dask]'") from None
    shared = {"host": "127.0.0.1", "protocol": "tls://", "security": security, "dashboard": False}
    worker = {
        "cls": distributed.Nanny,
        "options": shared
        | {
            "worker_class": Worker,
            "nthreads": 1,
            "memory_limit": MEMORY_LIMIT // workers,
            "preload": [preload],
            "silence_logs": 50,
        },
    }
    cluster: Any = distributed.SpecCluster
    return cluster(
        scheduler={"cls": Scheduler, "options": shared | {"port": 0}},
        workers=dict.fromkeys(range(workers), worker),
        worker=worker,
        security=security,
        silence_logs=50,
    )
