"""What a sweep on a cluster says while nothing comes back, and when it gives up; with a clock of its own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from potentia.studies import patience
from potentia.studies.patience import Patience


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(patience, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def cluster(workers):
    """An executor of dask's whose scheduler counts these workers; none of them: it does not answer."""

    def sync(function, callback_timeout):
        if workers[0] is None:
            raise TimeoutError
        return dict.fromkeys(range(workers[0]), 1)

    scheduler = SimpleNamespace(address="tcp://there", ncores=None)
    return SimpleNamespace(_client=SimpleNamespace(sync=sync, scheduler=scheduler))


def waited(one, clock, seconds, stopping=False):
    for _ in range(seconds):
        clock.seconds += 1
        given_up = one.used_up(stopping, 4)
        if given_up:
            return given_up
    return None


def test_from_no_workers_to_none_left(clock, caplog):
    workers = [0]
    one = Patience(cluster(workers), 60)
    assert waited(one, clock, 50) is None
    workers[0] = 2
    assert waited(one, clock, 100) is None  # they may be at work on something long
    workers[0] = 0
    assert waited(one, clock, 30) is None
    workers[0] = None
    assert waited(one, clock, 60) == "the dask scheduler at tcp://there did not answer for 60 seconds"
    assert [record.message for record in caplog.records] == [
        "waiting for workers at tcp://there: none has joined yet; Ctrl-C stops",
        "waiting for chunks from tcp://there: it has workers, but none came back for 55 seconds; Ctrl-C stops",
        "waiting for workers at tcp://there: none is left; Ctrl-C stops",
        "waiting for workers at tcp://there: the scheduler does not answer; Ctrl-C stops",
    ]


def test_a_chunk_that_comes_back_begins_it_anew(clock):
    one = Patience(cluster([0]), 60)
    assert waited(one, clock, 50) is None
    one.came()
    assert waited(one, clock, 50) is None
    assert waited(one, clock, 20) == "no worker was there at tcp://there for 60 seconds"


def test_ctrl_c_waits_for_those_who_work(clock, caplog):
    one = Patience(cluster([2]), 60)
    assert waited(one, clock, 30, stopping=True) is None
    assert [record.message for record in caplog.records] == [
        "waiting for chunks under way, 4 at most; a second Ctrl-C drops them"
    ]
    assert waited(Patience(cluster([0]), 60), clock, 3, stopping=True)


def test_executors_that_are_no_cluster_are_trusted(clock, caplog):
    assert waited(Patience(SimpleNamespace(), 60), clock, 10_000) is None
    assert not caplog.records
