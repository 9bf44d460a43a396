"""What the studio answers to messages: a session and the thread that it lives in, without the network."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from potentia.analysis import optimum
from potentia.errors import InvalidRun, PotentiaError
from potentia.games import Coverage
from potentia.version import __version__
from potentia.web import solving
from potentia.web.coding import laid_out, packed
from potentia.web.pages import page
from potentia.web.recordings import Recording
from potentia.web.studio import exports, links, messages
from potentia.web.studio.choices import choices_of, told_of_lane
from potentia.web.studio.interventions import coverage_of, in_words, joined
from potentia.web.studio.living import LiveRun
from potentia.web.studio.recorded import growth_of, recording_of
from potentia.web.studio.session import Session
from potentia.web.studio.solving import solved
from potentia.web.studio.starts import names_file, read_start

Answer = str | bytes
_FILM = 100  # pictures
_PATIENCE = 30.0  # seconds for an optimum


class Studio:
    """A session, and what it says of itself. Its methods are called by one thread at a time."""

    def __init__(self, session: Session, shown: list[Recording] | None = None, address: str = "") -> None:
        self.session, self.shown, self.address = session, shown, address
        self._made: tuple[int, list[Recording]] | None = None
        self._best: list[Best] = []  # the last that were computed

    def answer(self, message: Any) -> list[Answer]:
        """What is said in return; the run is kept whatever is asked."""
        handlers: dict[type, Callable[[Any], list[Answer]]] = {
            messages.Hello: lambda _: [self.scene()],
            messages.More: self._more,
            messages.Intervene: self._intervene,
            messages.Simple: self._simple,
            messages.Optimum: lambda asked: self.with_optimum(self.find_optimum(asked.step)),
            messages.Rules: self._rules,
            messages.Begin: self._begin,
            messages.Take: self._take,
            messages.Open: self._open,
            messages.Solve: self._solve,
        }
        try:
            return handlers[type(message)](message)
        except PotentiaError as error:
            return [problem(str(error))]
        except MemoryError:
            return [problem("this needs more memory than there is; the run is kept as it was")]

    # The whole ----------------------------------------------------------------------------------------

    def recordings(self) -> list[Recording]:
        """The runs as recordings, made once for each version."""
        if self._made is None or self._made[0] != self.session.version:
            session = self.session
            made = [
                recording_of(lane, label, session.now.length)
                for lane, label in zip(session.lanes, session.labels, strict=True)
            ]
            for one in made:
                one.header["complete"] = True  # as far as it was played
            for one, lane in zip(made, session.lanes, strict=True):
                one.header["optimum"] = self._line(lane)
            self._made = (session.version, made)
        return self._made[1]

    def scene(self) -> Answer:
        """All that a page needs to draw."""
        if self.shown is not None:
            return _scene({"type": "shown", "version": 0, "session": self.session.name}, self.shown)
        session = self.session
        self._made = None  # what was played since belongs to it
        recordings = self.recordings()
        header = {
            "type": "scene",
            "potentia": __version__,
            "session": session.name,
            "version": session.version,
            "length": session.now.length,
            "known": [lane.step for lane in session.lanes],
            "seed": session.start.seed,
            "map": session.on_map,
            "robots": None if (game := coverage_of(session.now.game)) is None else game.base_robots,
            "game": {key: value for key, value in session.start.game.items() if not isinstance(value, dict)},
            "belief": session.start.belief,
            "lanes": [told_of_lane(lane) for lane in session.lanes],
            "rules": session.start.rules,
            "log": [{"step": one.step, "lanes": one.lanes, "text": in_words(one.did)} for one in session.log],
            "can": session.can,
            "link": self._link(),  # what was done outlives the studio
            "choices": choices_of(session.now.game),
        }
        return _scene(header, recordings)

    def _link(self) -> str | None:
        """A link to all that was done, where there can be one."""
        start, log = self.session.start, (*self.session.log, *self.session.now.ahead)
        if not self.session.whole or names_file(start.game):
            return None
        try:
            return links.written(start, log, log[-1].step if log else 0)
        except InvalidRun:
            return None

    def _more(self, message: messages.More) -> list[Answer]:
        session = self.session
        if message.version != session.version or len(message.known) != len(session.lanes):
            return [self.scene()]
        recordings = self.recordings()
        session.play(message.until)
        if session.version != message.version:  # something was done on the way
            return [self.scene()]
        heads: list[dict[str, Any]] = []
        arrays: dict[str, Any] = {}
        for number, (lane, made, known) in enumerate(zip(session.lanes, recordings, message.known, strict=True)):
            since = max(known, lane.stretches[-1].since)
            if known > lane.step or known < lane.stretches[-1].since:
                return [self.scene()]
            head, parts = growth_of(lane, made.header, made.arrays["sizes"], since)
            heads.append(head)
            arrays |= {f"{number} {name}": array for name, array in parts.items()}
        header = {"type": "growth", "version": session.version, "lanes": heads}
        return [b"".join(laid_out(header, arrays))]

    # What is done -------------------------------------------------------------------------------------

    def _changed(self, text: str = "") -> list[Answer]:
        told = {"type": "changed", "version": self.session.version}
        return [json.dumps(told | ({"text": text} if text else {}))]

    def _intervene(self, message: messages.Intervene) -> list[Answer]:
        self._playable()
        return self._changed(self.session.intervene(message.did, message.step, message.lanes))

    def _simple(self, message: messages.Simple) -> list[Answer]:
        self._playable()
        {"undo": self.session.undo, "redo": self.session.redo, "extend": self.session.extend}[message.type]()
        return self._changed()

    def _rules(self, message: messages.Rules) -> list[Answer]:
        self._playable()
        self.session.set_rules(message.rules)
        return self._changed()

    def _begin(self, message: messages.Begin) -> list[Answer]:
        given = {name: part for name in ("seed", "steps", "belief") if (part := getattr(message, name)) is not None}
        table, old = self.session.start.model_dump(), self.session.start.game
        if given.get("belief") == {"belief": "none"}:
            given["belief"] = None
        wanted = message.game
        if message.stage is not None:
            solving.game_of(message.stage)  # is small enough
            given["rules"] = [solving.rule_of(message.stage).spec()]
            if "payoffs" in message.stage:
                wanted = {"payoffs": message.stage["payoffs"]}
        same = wanted is None or wanted == old
        start = read_start(table | given | ({} if same else {"game": _merged(old, wanted or {})}))
        self.session.begin(start, self.session.now.game if same else None)
        self.shown = None
        return self._changed()

    def _open(self, message: messages.Open) -> list[Answer]:
        state = links.read(message.link)
        self.session.open(state.start, state.log, state.step)
        self.shown = None
        return [json.dumps({"type": "changed", "version": self.session.version, "step": state.step})]

    def find_optimum(self, step: int = 0) -> list[Best]:
        """The most that can be covered on the map and by the robots of a step, with a proven bound, for each run.

        It may take long, and changes nothing.
        """
        self._playable()
        lanes, known = self.session.lanes, {id(one.game): one for one in self._best}
        found: dict[str, tuple[float, float]] = {}
        best: list[Best] = []
        for lane in lanes:
            stretch = next((one for one in reversed(lane.stretches) if one.since <= step), lane.stretches[0])
            game = coverage_of(stretch.run.game)
            if game is None:
                raise InvalidRun("the optimum is computed of robots on a map")
            if game.drifts or game.happenings.hazard or any(time > step for time in game.happenings.times):
                told = "the optimum is not one line where the map changes or robots arrive or fail by themselves"
                raise InvalidRun(f"{told}; pt.analysis.optimum_over_time has it step by step")
            if id(game) not in known:
                now = game.at(step)
                if (name := now.fingerprint()) not in found:
                    most = optimum(now, time_limit=_PATIENCE / len(lanes))
                    found[name] = float(most.value), float(most.bound)
                known[id(game)] = Best(game, max((0, *game.happenings.times)), *found[name])
            best.append(known[id(game)])
        return best

    def with_optimum(self, found: list[Best]) -> list[Answer]:
        """Show it as lines beside the curves."""
        self._best = found
        self.session.version += 1
        values = {f"{one.value:.6g}" if one.proven else f"at most {one.bound:.6g}" for one in found}
        since = max(line["since"] for lane in self.session.lanes if (line := self._line(lane)))
        told = "The most that can be covered by those robots on that map is " + joined(sorted(values), len(values))
        return self._changed(told + (f" from step {since:,} on." if since else "."))

    def _line(self, lane: LiveRun) -> dict[str, Any] | None:
        """The optimum of a run, for as long as map and robots are those that it was computed of."""
        for best in self._best:
            held = [span for span in lane.spans() if coverage_of(span[0].run.game) is best.game]
            if held:
                since, until = max(best.since, held[0][0].since), held[-1][1]
                line = {"series": "worth_union", "value": best.value, "bound": best.bound}
                return line | {"since": since, "until": None if until == math.inf else until}
        return None

    def _playable(self) -> None:
        if self.shown is not None:
            raise InvalidRun("this is a recording: it can be watched, and not changed")

    def _solve(self, message: messages.Solve) -> list[Answer]:
        """What was asked for, or why not; it may take long, and changes nothing."""
        told: dict[str, Any] = {"type": "solved", "id": message.id}
        try:
            return [json.dumps(told | {"answer": solved(self.session.now, message.question)}, allow_nan=False)]
        except PotentiaError as error:
            told["problem"] = str(error)
        except Exception as error:  # a fault of ours, told to whoever asked
            told["problem"] = f"the studio failed: {type(error).__name__}: {error}"
        return [json.dumps(told)]

    # To take away -------------------------------------------------------------------------------------

    def _take(self, message: messages.Take) -> list[Answer]:
        self._playable()
        session, step = self.session, min(message.step, self.session.edge)
        makers: dict[str, Callable[[], str]] = {
            "link": lambda: links.written(session.start, session.log, step),
            "python": lambda: exports.as_python(session, step),
            "command": lambda: exports.as_command(session, step),
            "specification": lambda: exports.as_specification(session, step),
        }
        if message.what in makers:
            if not session.whole:
                raise InvalidRun("this run came from a file, and is not known from its start on: take a recording away")
            if names_file(session.start.game):
                raise InvalidRun("this map drifts as a file says, which cannot be written down: take a recording away")
            return [json.dumps({"type": "taken", "what": message.what, "text": makers[message.what]()})]
        made = [
            recording_of(lane.back_to(step), label) for lane, label in zip(session.lanes, session.labels, strict=True)
        ]
        if message.what == "page":
            files = [("replay.html", page({one.header["label"]: one for one in made}, "").encode())]
        elif message.what == "recording":
            files = [(f"{one.header['label']}.recording", one.to_bytes()) for one in made]
        else:
            files = [(f"{one.header['label'] if len(made) > 1 else 'film'}.gif", _film(one)) for one in made]
        told = {"type": "file", "what": message.what}
        return [_bytes(told | {"name": name}, content=content) for name, content in files]


class Best(NamedTuple):
    """The optimum of a map and its robots, and since when all of these are there."""

    game: Coverage
    since: int
    value: float
    bound: float

    @property
    def proven(self) -> bool:
        """Whether nothing is better; to the accuracy of the curves."""
        return self.bound <= self.value + 1e-6 * abs(self.value)


def _film(made: Recording) -> bytes:
    import tempfile
    from pathlib import Path

    if made.kind != "map":
        raise InvalidRun("films are drawn of robots on a map")
    with tempfile.TemporaryDirectory() as folder:
        return made.film(Path(folder) / "film.gif", frames=_FILM).read_bytes()


def _scene(header: dict[str, Any], recordings: list[Recording]) -> bytes:
    return _bytes(header, **{f"recording {k}": packed(one.header, one.arrays, 1) for k, one in enumerate(recordings)})


def _bytes(header: dict[str, Any], **blobs: bytes) -> bytes:
    import numpy as np

    return b"".join(laid_out(header, {name: np.frombuffer(blob, np.uint8) for name, blob in blobs.items()}))


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The game with some of it changed; another map, name or payoffs leave nothing of the old one."""
    source = {"map", "name", "payoffs"}
    return {**({} if source & set(new) and any(new.get(key) != old.get(key) for key in source) else old), **new}


def problem(text: str) -> str:
    """An error as one sentence."""
    line = " ".join(text.split())
    return json.dumps({"type": "problem", "text": line[:600]})
