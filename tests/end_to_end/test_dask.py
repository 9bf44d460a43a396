"""Sweeps on a dask cluster of two worker processes, one of which is killed half-way."""

from __future__ import annotations

import os
import signal

import pytest
import xarray

from potentia.errors import SweepFailed
from potentia.studies import executors
from potentia.studies.sweeping import sweep

distributed = pytest.importorskip("distributed")

# Workers that are killed leave sockets, futures and log lines of distributed's own behind.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("dask")]

STUDY = {
    "steps": 30_000,
    "seeds": 10,
    "chunk": 1,
    "record": ["potential", "profile"],
    "every": 1000,
    "game": {"name": "ring", "players": [20, 30]},
    "rule": {"name": "p-sblll", "tau": [0.2, 0.3], "revision": 0.3},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return sweep(STUDY, tmp_path_factory.mktemp("whole") / "study").dataset()


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


def pids(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2)
        return sorted(client.run(os.getpid).values())


def test_a_worker_killed_half_way(tmp_path, cluster, whole):
    before, killed = pids(cluster), []
    assert os.getpid() not in before

    def progress(done, total):
        if done >= total // 2 and not killed:
            os.kill(before[0], signal.SIGKILL)
            killed.append(done)

    done = sweep(STUDY, tmp_path / "study", executor=cluster.scheduler_address, progress=progress)
    assert killed
    assert killed[0] < 40
    xarray.testing.assert_identical(done.dataset(), whole)
    for name in ("potential", "profile", "final"):
        assert done.dataset()[name].values.tobytes() == whole[name].values.tobytes()
    assert before[0] not in pids(cluster)  # another one took its place


def test_a_run_that_fails_on_a_worker(tmp_path, cluster):
    """What a worker cannot do is told in one line; nothing is kept of it."""
    game = {"name": "stag-hunt", "stag": 1.5e308}
    failing = STUDY | {"game": game, "start": [0, 0], "record": ["welfare"], "rule": {"name": "lll", "tau": 0.1}}
    with pytest.raises(SweepFailed, match=r"welfare is inf at step 0.*0 of 10 runs are saved") as caught:
        sweep(failing, tmp_path / "study", executor=cluster.scheduler_address)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nonsense", "foo://127.0.0.1:1", "tcp://", ""])
def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch, address, whole):
    monkeypatch.setattr(executors, "_ANSWER", 0.3)
    with pytest.raises(SweepFailed, match=r"no dask scheduler answers at ") as caught:
        sweep(STUDY, tmp_path / "study", executor=executors.at(address))
    assert len(str(caught.value).splitlines()) == 1
    assert list((tmp_path / "study" / "chunks").iterdir()) == []
    if address == "tcp://127.0.0.1:1":  # nothing stands in the way of going on otherwise
        xarray.testing.assert_identical(sweep(tmp_path / "study").dataset(), whole)
