"""The studio's server: who is let in, what is handed out, and what is refused with a sentence."""

from __future__ import annotations

import asyncio
import json
import socket
import threading

import pytest
from tests.studios import served, session_of
from tests.waiting import PATIENCE, wait_for
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from potentia.errors import InvalidRun
from potentia.web.studio import server as server_module
from potentia.web.studio.answers import Studio
from potentia.web.studio.server import Allowance, Server


@pytest.fixture(scope="module")
def server():
    with served(session_of()) as found:
        yield found


def fetched(server, path, **headers):
    """The status and the headers of an answer."""
    asked = {"Host": f"127.0.0.1:{server.port}", "Connection": "close"} | headers
    text = f"GET {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in asked.items()) + "\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.sendall(text.encode())
        content = b"".join(iter(lambda: line.recv(65536), b""))
    head, _, body = content.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode().lower(), body


def opened(server, token=None, **headers):
    address = f"ws://127.0.0.1:{server.port}/ws?token={server.token if token is None else token}"
    return connect(address, additional_headers=headers, max_size=None)


def test_the_page_is_for_those_with_the_token(server):
    status, head, body = fetched(server, f"/?token={server.token}")
    assert status == 200
    assert b"studio.js" in body
    assert "script-src 'self'" in head
    assert "unsafe" not in head
    assert "default-src 'none'" in head
    for path in ("/", "/?token=", f"/?token={server.token[:-1]}", f"/?token={server.token}x"):
        status, _, body = fetched(server, path)
        assert status == 403
        assert b"potentia studio 'ADDRESS'" in body  # the address of a studio that has ended still holds its run
        assert server.token.encode()[:-1] not in body


def test_no_inline_script_and_no_eval(server):
    body = fetched(server, f"/?token={server.token}")[2].decode()
    assert body.count("<script") == 1
    assert "onclick" not in body
    assert "<style" not in body


@pytest.mark.parametrize(
    "path", ["/viewer/viewer.js", "/studio/studio.js", "/studio/studio.css", "/viewer/stages/map.js"]
)
def test_what_is_handed_out(server, path):
    assert fetched(server, path)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/viewer/../studio/server.py",
        "/viewer/..%2fpages.py",
        "/studio/studio.html",
        "/etc/passwd",
        "/viewer//etc/passwd",
        "/viewer/.js",
    ],
)
def test_what_is_not(server, path):
    assert fetched(server, path)[0] == 404


def test_another_host_and_another_origin_are_refused(server):
    page = f"/?token={server.token}"
    for host in ("example.org", f"example.org:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}"):
        assert fetched(server, page, Host=host)[0] == 403
    assert fetched(server, page, Origin="http://example.org")[0] == 403
    assert fetched(server, page, Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize(
    ("token", "headers"),
    [("", {}), ("x", {}), (None, {"Origin": "http://example.org"}), (None, {"Origin": "null"})],
)
def test_the_line_is_refused_with_403(server, token, headers):
    with pytest.raises(InvalidStatus) as caught:
        opened(server, token, **headers)
    assert caught.value.response.status_code == 403


def test_the_line_is_open_to_the_page_itself(server):
    with opened(server, Origin=f"http://127.0.0.1:{server.port}") as line:
        line.send(json.dumps({"type": "hello"}))
        assert line.recv()[:8] == b"potentia"


def test_nonsense_is_a_sentence_and_the_line_stays(server):
    with opened(server) as line:
        for text in ("x", '{"type": "intervene", "step": 1, "did": {"kind": "change", "tau": NaN}}', "[]"):
            line.send(text)
            assert json.loads(line.recv())["type"] == "problem"
        line.send(json.dumps({"type": "hello"}))
        assert line.recv()[:8] == b"potentia"


def test_a_message_of_100_mb_closes_the_line_and_nothing_else(server):
    with opened(server) as line:
        with pytest.raises(ConnectionClosed) as caught:
            _flood(line)
        assert caught.value.rcvd is None or caught.value.rcvd.code == 1009
    with opened(server) as line:
        line.send(json.dumps({"type": "hello"}))
        assert line.recv()[:8] == b"potentia"


def _flood(line):
    line.send("x" * 100_000_000)
    line.recv()


FAIL = json.dumps({"type": "intervene", "step": 0, "did": {"kind": "fail", "robot": 1}})
HELLO, UNDO = json.dumps({"type": "hello"}), json.dumps({"type": "undo"})


class Asleep:
    """A page whose line is full: nothing more can be sent to it."""

    async def send_text(self, text):
        await asyncio.Event().wait()


def test_nobody_waits_for_a_page_that_sleeps(server):
    asleep = Asleep()
    server.pages.add(asleep)
    try:
        with opened(server) as line:
            for message, answer in ((FAIL, "changed"), (UNDO, "changed")):
                line.send(message)
                assert json.loads(line.recv(PATIENCE))["type"] == answer
            line.send(HELLO)
            assert line.recv(PATIENCE)[:8] == b"potentia"
    finally:
        server.pages.discard(asleep)


def test_a_page_is_not_told_that_another_did_what_it_did_itself(server):
    queue, go = server.thread._work_queue, threading.Event()
    with opened(server) as one, opened(server) as other:
        server.thread.submit(go.wait, PATIENCE)
        one.send(FAIL)
        wait_for(lambda: queue.qsize() == 1, "that it waits for its turn")
        other.send(HELLO)
        wait_for(lambda: queue.qsize() == 2, "that the other waits, too")
        go.set()
        assert json.loads(one.recv(PATIENCE))["type"] == "changed"
        told = [other.recv(PATIENCE) for _ in range(2)]
        assert sum(text[:8] == b"potentia" for text in told if isinstance(text, bytes)) == 1
        (news,) = (json.loads(text)["text"] for text in told if isinstance(text, str))
        assert "Done in another tab, at step 0: robot 1 fails" in news
        other.send(HELLO)  # by then it has told others what there was to tell
        assert other.recv(PATIENCE)[:8] == b"potentia"
        one.send(HELLO)
        assert one.recv(PATIENCE)[:8] == b"potentia"
        one.send(UNDO)
        one.recv(PATIENCE)


def test_long_questions_are_a_few_at_a_time(server, monkeypatch):
    go, asked, answered = threading.Event(), [], server._asked

    def answer(message):
        if message.type == "hello":
            return answered(message)
        asked.append(go.is_set())
        go.wait(PATIENCE)
        return ["{}"]

    monkeypatch.setattr(server_module, "MOST_ASIDE", 2)
    monkeypatch.setattr(server, "_asked", answer)
    with opened(server) as line, opened(server) as other:
        for _ in range(4):
            line.send(json.dumps({"type": "solve", "question": {}}))
        wait_for(lambda: len(asked) >= 2, "that two are asked")
        other.send(HELLO)  # who is answered meanwhile
        assert other.recv(PATIENCE)[:8] == b"potentia"
        go.set()
        assert [line.recv(PATIENCE) for _ in range(4)] == ["{}"] * 4
    assert asked == [False, False, True, True]


def test_who_says_too_much_is_told_so():
    allowance = Allowance()
    assert sum(allowance.take() for _ in range(2000)) < 600


def test_a_port_in_use_is_a_sentence(server):
    other = Server(Studio(session_of()))
    with pytest.raises(InvalidRun, match=rf"port {server.port} cannot be used"):
        other.bind(server.port)
    other.thread.shutdown()
