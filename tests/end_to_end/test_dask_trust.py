"""Whom a cluster lets in, and what a sweep says and does when nobody answers."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import ssl
import threading

import psutil
import pytest

from potentia.errors import InvalidInput, SweepFailed
from potentia.studies import executors, patience
from potentia.studies.sweeping import Stopped, sweep
from tests.studies import STUDY

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")  # distributed leaves sockets and coroutines behind

HINT = "0 of 20 runs are saved; go on with: sweep"


@pytest.fixture(autouse=True)
def as_at_a_terminal():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def listening():
    """The ports on which this process and those below it listen."""
    here = psutil.Process()
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in (here, *here.children(recursive=True))
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }


def first_words(place, context=None):
    """What somebody without a certificate is told: dask greets whom it lets in."""
    with contextlib.suppress(OSError), socket.create_connection(place, timeout=5) as plain:
        plain.settimeout(0.5 if context is None else 5)
        with contextlib.nullcontext(plain) if context is None else context.wrap_socket(plain) as talking:
            return talking.recv(100)
    return b""


def test_a_local_cluster_is_closed_to_others():
    pytest.importorskip("cryptography")
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    before = listening()
    with executors.dask("local", 1) as (pool, apart):
        assert apart
        assert pool.submit(int, "7").result() == 7
        opened = listening() - before
        assert len(opened) == 3  # scheduler, nanny and worker; no web server
        assert {host for host, _ in opened} == {"127.0.0.1"}
        for place in opened:
            assert first_words(place) == first_words(place, anybody) == b""
    assert not listening() - before


@pytest.fixture
def scheduler():
    """A scheduler without workers."""
    with distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address=":0") as running:
        yield running.scheduler_address


def test_no_workers(tmp_path, scheduler, caplog):
    with pytest.raises(SweepFailed, match=r"^no worker was there at .* for \d+ seconds; ") as caught:
        sweep(STUDY, tmp_path / "study", executor=scheduler, wait=1)
    assert f"; {HINT}" in str(caught.value)
    said = [record.message for record in caplog.records if record.name == "potentia"]
    assert said == [f"waiting for workers at {scheduler}: none has joined yet; Ctrl-C stops"]


@pytest.fixture
def press_when_told():
    """Ctrl-C as soon as the sweep says that it waits."""

    class Press(logging.Handler):
        def emit(self, record):
            signal.raise_signal(signal.SIGINT)

    handler = Press()
    logging.getLogger("potentia").addHandler(handler)
    yield
    logging.getLogger("potentia").removeHandler(handler)


def test_ctrl_c_without_workers_has_nothing_to_wait_for(tmp_path, scheduler, press_when_told, monkeypatch):
    monkeypatch.setattr(patience, "_SOON", 0.1)
    with pytest.raises(Stopped, match=rf"^stopped by Ctrl-C; {HINT}"):
        sweep(STUDY, tmp_path / "study", executor=scheduler, wait=60)


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.0 400 Bad Request, whoever you may be\r\n\r\n"])
def test_something_else_answers(tmp_path, monkeypatch, greeting):
    monkeypatch.setattr(executors, "_ANSWER", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        if greeting:
            server.settimeout(60)
            threading.Thread(target=lambda: server.accept()[0].sendall(greeting), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SweepFailed, match=f"^no dask scheduler answers at {address}: .*; {HINT}"):
            sweep(STUDY, tmp_path / "study", executor=address)


# TLS --------------------------------------------------------------------------------------------------


def test_tls_without_certificates_fails_at_once(tmp_path, monkeypatch):
    def connect(*args):
        raise AssertionError("nobody should be asked")

    monkeypatch.setattr(executors, "_connected", connect, raising=False)
    monkeypatch.setattr(distributed, "Client", connect)
    with pytest.raises(
        SweepFailed,
        match=r"^a tls:// address needs certificates: .*; 0 of 20 .*; give their folder as dask_tls; go on with: sweep",
    ):
        sweep(STUDY, tmp_path / "study", executor="tls://127.0.0.1:1")


def certificates(folder):
    """Those that dask makes, as files."""
    pytest.importorskip("cryptography")
    security = distributed.Security.temporary()
    folder.mkdir()
    (folder / "ca.pem").write_text(security.tls_ca_file)
    (folder / "cert.pem").write_text(security.tls_client_cert)
    (folder / "key.pem").write_text(security.tls_client_key)
    return security


def test_a_cluster_with_tls(tmp_path, monkeypatch):
    security = certificates(tmp_path / "mine")
    certificates(tmp_path / "others")
    small = STUDY | {"seeds": 1, "game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": 0.2}}
    options = {"n_workers": 1, "processes": False, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(security=security, protocol="tls://", silence_logs=50, **options) as cluster:
        address = cluster.scheduler_address
        done = sweep(small, tmp_path / "study", executor=address, dask_tls=tmp_path / "mine")
        assert not done.missing()
        monkeypatch.setattr(executors, "_ANSWER", 1.0)
        with pytest.raises(SweepFailed, match=f"^no dask scheduler answers at {address}: ") as caught:
            sweep(small, tmp_path / "other", executor=address, dask_tls=tmp_path / "others")
        assert len(str(caught.value).splitlines()) == 1
        (tmp_path / "others" / "key.pem").write_text("nonsense")
        with pytest.raises(InvalidInput, match=r"dask_tls: .*others: these certificates cannot be used"):
            sweep(small, tmp_path / "other", executor=address, dask_tls=tmp_path / "others")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"executor": "tls://127.0.0.1:1", "dask_tls": "."},
            "dask_tls must be a folder of ca.pem, cert.pem and key.pem",
        ),
        (
            {"executor": "tcp://127.0.0.1:1", "dask_tls": "."},
            "dask_tls is for addresses that begin with tls://, got 'tcp",
        ),
        ({"executor": "dask", "dask_tls": "."}, "dask_tls is for addresses that begin with tls://, got 'local'"),
        ({"dask_tls": "."}, "dask_tls is for sweeps on dask, got no address of a scheduler"),
        ({"wait": 0}, "wait must be a number > 0, got 0"),
        ({"wait": float("nan")}, "wait must be a number > 0, got nan"),
        ({"wait": "long"}, "wait must be a number > 0, got 'long'"),
    ],
)
def test_options_that_make_no_sense(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=message):
        sweep(STUDY, tmp_path / "study", **options)
