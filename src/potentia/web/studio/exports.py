"""A session to take away: as Python, as a command, as a specification. Each gives the very same runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from potentia.errors import InvalidRun
from potentia.web.studio.interventions import Logged, plain
from potentia.web.studio.links import written
from potentia.web.studio.session import Session
from potentia.web.studio.starts import NAMES, PLAIN

_WIDE = 110
_LONGEST = 120_000  # letters of one argument; Linux takes some more
_COVER = {"robots": "--robots", "delta": "--delta", "reach": "--reach", "K": "--cost", "payoff": "--payoff"}
_FLAGS = {"flags": ("--flags", "--no-flags"), "sight": ("--sight", None)}


def as_python(session: Session, step: int) -> str:
    """A program that plays the same runs, with what was done to them, up to a step."""
    start, labels = session.start, session.labels
    log = [entry for entry in session.log if entry.step <= step]
    game = _game_python(start.game)
    lines = ["import potentia as pt"]
    lines += ["from potentia.web.studio import game_of"] if game.startswith("game_of(") else []
    lines += ["", f"game = {game}"]
    lines += [f"log = {_listed([plain(entry) for entry in log])}"] if log else []
    options = f"seed={start.seed}, steps={step}, horizon={start.steps}"
    options += f", belief={start.belief!r}" if start.belief else ""
    lines.append("runs = {")
    for lane, (label, table) in enumerate(zip(labels, start.rules, strict=True)):
        mine = (
            ""
            if not log
            else ", interventions=log"
            if all(entry.concerns(lane) for entry in log)
            else (f', interventions=[entry for entry in log if {lane} in entry.get("lanes", [{lane}])]')
        )
        lines.append(f"    {label!r}: pt.live(game, {table!r}, {options}{mine}),")
    lines.append("}")
    shown = "run.positions.tolist()" if session.on_map else "run.profile.tolist()"
    lines += ["for name, run in runs.items():", f"    print(name, run.step, {shown})"]
    return "\n".join(lines) + "\n"


def _game_python(table: dict[str, Any]) -> str:
    if "payoffs" in table:
        said = "".join(f", {name}={table[name]!r}" for name in NAMES if name in table)
        return f"pt.games.NormalForm({table['payoffs']!r}{said})"
    options = {name: value for name, value in table.items() if name not in ("name", "map")}
    said = "".join(f", {name}={value!r}" for name, value in options.items())
    if "name" in table:
        return f"pt.game({table['name']!r}{said})"
    known = {*PLAIN, "drift", "drift_every"}
    if table.get("map") == "paper" and "robots" in options and not set(options) - known:  # else how many are usual
        return f"pt.games.Coverage(pt.games.paper_world(){said})"
    return f"game_of({table!r})"


def _listed(value: Any) -> str:
    """Plain data over some lines."""
    text = json.dumps(value)
    if len(text) <= _WIDE or not isinstance(value, list):
        return repr(value)
    return "[\n" + "".join(f"    {row!r},\n" for row in value) + "]"


def as_command(session: Session, step: int) -> str:
    """A command that plays the same runs; where something was done to them, one that opens the studio there."""
    start = session.start
    log = [entry for entry in session.log if entry.step <= step]
    command = None if log else _plain_command(session, step)
    if command is None:
        command = f"potentia studio {shlex.quote('#' + written(start, log, step))}"
    if len(command) > _LONGEST:
        told = f"a command has up to {_LONGEST:,} letters, and this one needs {len(command):,}"
        raise InvalidRun(f"{told}; save it as a specification, and open that")
    return command


def _plain_command(session: Session, step: int) -> str | None:
    """potentia cover or potentia run, where these can say it: the length is the one that temperatures fall over."""
    start = session.start
    if step != start.steps or start.belief or len(start.rules) != 1:
        return None
    game, rule = dict(start.game), dict(start.rules[0])
    name, tau, revision = rule.pop("rule"), rule.pop("tau", None), rule.pop("revision", None)
    inside = [f"{key}={_word(value)}" for key, value in rule.items() if isinstance(value, bool | int | float | str)]
    if len(inside) != len(rule) or not all(isinstance(part, int | float | None) for part in (tau, revision)):
        return None
    parts = ["potentia", "cover" if session.on_map else "run"]
    if session.on_map:
        if not isinstance(game.get("map"), str):
            return None
        game = game | {"flags": game.get("flags", True)}  # as Coverage has it; potentia cover has none
        parts.append(game.pop("map"))
    else:
        if "name" not in game:
            return None
        parts.append(game.pop("name"))
    parts += ["--rule", ":".join([name, ",".join(inside)]) if inside else name]
    parts += ["--tau", repr(tau)] if tau is not None else []
    parts += ["--revision", repr(revision)] if revision is not None else []
    for key, value in game.items():
        if not session.on_map:
            parts += ["--set", f"{key}={value}"]
        elif key in _FLAGS and _FLAGS[key][not value]:
            parts.append(str(_FLAGS[key][not value]))
        elif key in _COVER and isinstance(value, int | float | str):
            parts += [_COVER[key], str(value)]
        elif value not in (None, [], False):
            return None
    parts += ["--steps", str(start.steps), "--seed", str(start.seed), "--runs", "1"]
    return shlex.join(parts)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def as_specification(session: Session, step: int) -> str:
    """A file that ``potentia studio`` opens: start, what was done and the step."""
    log: Sequence[Logged] = [entry for entry in session.log if entry.step <= step]
    table = {"studio": 1, "start": session.start.model_dump(exclude_none=True)}
    return json.dumps({**table, "log": [plain(entry) for entry in log], "step": step}, indent=1, allow_nan=False) + "\n"
