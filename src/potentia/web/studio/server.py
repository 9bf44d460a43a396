"""The studio's server: pages and one WebSocket, on this machine only, for whoever has the token of its link.

The runs live in one thread of their own, so that nothing here ever waits for them. A page asks, and gets one answer
for each question: one that is slow simply asks less often.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib import resources
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from potentia.errors import InvalidRun, PotentiaError
from potentia.web.studio.answers import Best, Studio, problem
from potentia.web.studio.messages import LARGEST, More, Optimum, Solve, read_message
from potentia.web.studio.session import news_of

HOST = "127.0.0.1"
RATE, BURST = 120, 240  # messages a second, and at once
MOST_ASIDE = 8  # long questions of one page at a time; while there are so many, no more of it is read
_GONE = (WebSocketDisconnect, RuntimeError, KeyError)  # a page went away, or sent bytes where texts are read
_KINDS = {"js": "text/javascript", "css": "text/css"}
_ROOMS = {  # of what the page loads: package and folder
    "viewer": ("potentia.web", "viewer"),
    "game": ("potentia.web", "game"),
    "studio": ("potentia.web.studio", "page"),
}
_NAME = re.compile(r"(?:[a-z_]+/)*[a-z_]+\.(js|css)")  # nothing else is handed out
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


_NO_TOKEN = """403: open the studio by the link that the command printed, with its token.

A studio that was started again has another link, even on the same port. What was here is not lost where the address
above has #s1. in it: that address holds the run and all that was done. Copy it, and open it with

    potentia studio 'ADDRESS'

or with "Open link" in the studio that is running now.
"""


class Guarded:
    """Refuses who comes by another name than this machine's, or from a page of somebody else's."""

    def __init__(self, app: ASGIApp, hosts: Callable[[], set[str]]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or self._allowed(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse("403: this studio answers to its own address only.\n", 403)(scope, receive, send)
        else:
            await refused(receive, send)

    def _allowed(self, scope: Scope) -> bool:
        told = HTTPConnection(scope).headers
        origin = told.get("origin")
        return told.get("host") in self.hosts() and (
            origin is None or origin.removeprefix("http://") == told.get("host")
        )


async def refused(receive: Receive, send: Send) -> None:
    """Close a WebSocket before it is open, which is a 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1008, "reason": ""})


@cache
def _html() -> str:
    """The page, which asks for all its modules at once rather than for one after the other."""
    text = resources.files("potentia.web.studio").joinpath("page", "studio.html").read_text("utf-8")
    found = [f"/{room}/{name}" for room, (package, folder) in _ROOMS.items() for name in _modules(package, folder)]
    links = [f'<link rel="modulepreload" href="{path}">' for path in found if not path.endswith("/page.js")]
    return text.replace("{{ modules }}", "\n".join(links))


def _modules(package: str, folder: str) -> list[str]:
    top = resources.files(package).joinpath(folder)
    inner = [f"{one.name}/{each.name}" for one in top.iterdir() if one.is_dir() for each in one.iterdir()]
    return sorted(name for name in (*(one.name for one in top.iterdir()), *inner) if name.endswith(".js"))


class Server:
    """A studio on a port of this machine."""

    def __init__(self, studio: Studio, token: str | None = None) -> None:
        self.studio, self.token = studio, token or secrets.token_urlsafe(24)
        self.thread = ThreadPoolExecutor(1, "studio")
        self.pages: set[WebSocket] = set()
        self._telling: set[asyncio.Task[None]] = set()
        self.port = 0
        self._serving: _Uvicorn | None = None
        routes: list[Any] = [
            Route("/", self._page),
            Route("/{room}/{path:path}", self._asset),
            WebSocketRoute("/ws", self._socket),
        ]
        self.app = Guarded(Starlette(routes=routes), self._hosts)

    def _hosts(self) -> set[str]:
        return {f"{name}:{self.port}" for name in (HOST, "localhost")}

    @property
    def link(self) -> str:
        """What to open."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def _known(self, given: str | None) -> bool:
        return hmac.compare_digest((given or "").encode(), self.token.encode())

    # Pages --------------------------------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        if not self._known(request.query_params.get("token")):
            return PlainTextResponse(_NO_TOKEN, 403, _HEADERS)
        return HTMLResponse(_html(), 200, _HEADERS)

    async def _asset(self, request: Request) -> Response:
        room, path = request.path_params["room"], request.path_params["path"]
        folder = _ROOMS.get(room)
        named = _NAME.fullmatch(path)
        if folder is not None and named is not None:
            file = resources.files(folder[0]).joinpath(folder[1], *path.split("/"))
            if file.is_file():
                return Response(file.read_bytes(), 200, _HEADERS, f"{_KINDS[named[1]]}; charset=utf-8")
        return PlainTextResponse("404\n", 404, _HEADERS)

    # Messages -----------------------------------------------------------------------------------------

    async def _socket(self, page: WebSocket) -> None:
        if not self._known(page.query_params.get("token")):
            await page.close(1008)
            return
        await page.accept()
        self.pages.add(page)
        allowance = Allowance()
        aside: set[asyncio.Task[None]] = set()
        try:
            while True:
                text = await page.receive_text()
                if not allowance.take():
                    await page.send_text(problem(f"more than {RATE} messages a second are not read; the run is kept"))
                    continue
                try:
                    message = read_message(text)
                except InvalidRun as error:
                    await page.send_text(problem(str(error)))
                    continue
                if _takes_long(message):  # runs go on meanwhile; all else is answered in its order
                    while len(aside) >= MOST_ASIDE:
                        await asyncio.wait(aside, return_when=asyncio.FIRST_COMPLETED)
                    aside.add(task := asyncio.create_task(self._aside(page, message)))
                    task.add_done_callback(aside.discard)
                else:
                    await self._answer(page, message)
        except (*_GONE, asyncio.CancelledError):  # or the studio is closed while an answer is on its way
            pass
        finally:
            self.pages.discard(page)

    async def _aside(self, page: WebSocket, message: Any) -> None:
        with suppress(*_GONE):
            await self._answer(page, message)

    async def _answer(self, page: WebSocket, message: Any) -> None:
        loop, do = asyncio.get_running_loop(), partial(self._asked, message)
        if isinstance(message, Solve):  # which changes nothing
            answers, news = await loop.run_in_executor(None, do), ""
        else:
            if _takes_long(message):
                found = await loop.run_in_executor(None, self._found, message.step)
                if isinstance(found, str):
                    await page.send_text(found)
                    return
                do = partial(self.studio.with_optimum, found)
            answers, news = await loop.run_in_executor(self.thread, self._in_turn, do)
        for answer in answers:
            await (page.send_text(answer) if isinstance(answer, str) else page.send_bytes(answer))
        if news and not isinstance(message, More):
            self._tell_others(page, news)

    def _found(self, step: int) -> list[Best] | str:
        try:
            return self.studio.find_optimum(step)
        except PotentiaError as error:
            return problem(str(error))
        except Exception as error:
            return _failed(error)

    def _in_turn(self, do: Callable[[], list[str | bytes]]) -> tuple[list[str | bytes], str]:
        """What is answered, and what other pages are told of it: nothing of what is done before or after."""
        session = self.studio.session
        before, was = session.version, session.now
        answers = do()
        if session.version == before:
            return answers, ""
        return answers, json.dumps({"type": "changed", "version": session.version, "text": news_of(was, session.now)})

    def _asked(self, message: Any) -> list[str | bytes]:
        try:
            return self.studio.answer(message)
        except Exception as error:  # a fault of ours: said, and the run is still there
            return [_failed(error)]

    def _tell_others(self, page: WebSocket, news: str) -> None:
        """Other tabs look again, and say what happened to the runs that they show; nobody waits for one that sleeps."""
        for other in self.pages - {page}:
            self._telling.add(task := asyncio.create_task(_told(other, news)))
            task.add_done_callback(self._telling.discard)

    # Running ------------------------------------------------------------------------------------------

    def bind(self, port: int = 0) -> socket.socket:
        """A socket on this machine; one sentence where the port is taken."""
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((HOST, port))
        except OSError as error:
            made.close()
            told = f"{port} cannot be used: {error.strerror or error}; give another one, or none for any that is free"
            raise InvalidRun(told, "port", port) from None
        self.port = made.getsockname()[1]
        return made

    def serve(self, bound: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
        """Answer until Ctrl-C; ``ready`` is called once pages can be opened."""
        config = uvicorn.Config(
            self.app,
            log_level="error",
            access_log=False,
            ws="websockets-sansio",
            ws_max_size=LARGEST,
            ws_ping_interval=20,
            ws_ping_timeout=60,
            timeout_graceful_shutdown=1,
            lifespan="off",
        )
        self.thread.submit(self.studio.scene)  # ready when the page comes to ask
        self._serving = _Uvicorn(config, ready)
        try:
            self._serving.run(sockets=[bound])
        finally:
            self.thread.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Let :meth:`serve` end."""
        if self._serving is not None:
            self._serving.should_exit = True


async def _told(page: WebSocket, news: str) -> None:
    with suppress(*_GONE):
        await page.send_text(news)


def _failed(error: Exception) -> str:
    return problem(f"the studio failed: {type(error).__name__}: {error}; the run is kept")


def _takes_long(message: Any) -> bool:
    return isinstance(message, Solve | Optimum)


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


class Allowance:
    """So many messages a second, with some saved up."""

    def __init__(self) -> None:
        self.left, self.at = float(BURST), time.monotonic()

    def take(self) -> bool:
        """Whether one more is read."""
        now = time.monotonic()
        self.left, self.at = min(BURST, self.left + RATE * (now - self.at)), now
        if self.left < 1:
            return False
        self.left -= 1
        return True
