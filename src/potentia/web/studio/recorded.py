"""A live run as a recording: all stretches on one timeline, what was done as events, and what came since a step.

Where the map was edited, actions are the numbers of all its cells, walls or not, for walls come and go.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs import Believing
from potentia.beliefs.words import belief_text
from potentia.engine import Run
from potentia.games import World
from potentia.kernel.arrays import Ints
from potentia.kernel.recorders import known_recorders
from potentia.version import __version__
from potentia.web.coding import Changes
from potentia.web.making import encoded, of_rule
from potentia.web.measures import cell_words
from potentia.web.recordings import Recording
from potentia.web.scenes import scene
from potentia.web.studio.interventions import Change, Erase, Paint, Remove, Wall, coverage_of, in_words, plain
from potentia.web.studio.living import LiveRun
from potentia.web.studio.thinking import told

Arrays = dict[str, NDArray[Any]]
_FINAL = 2**53


def recording_of(live: LiveRun, label: str = "", steps: int | None = None, title: str = "") -> Recording:
    """The recording of a live run; ``steps`` is its planned length, where that is more than was played."""
    length = max(live.step, steps or 0)
    first, last = live.first.game, live.run.game
    game = first.game if isinstance(first, Believing) else first
    header, arrays = scene(game, None if isinstance(first, Believing) else live.first.rule, length)
    numbered = is_numbered(live)
    players = last.num_players
    header["game"]["players"] = players
    header |= {
        "potentia": __version__,
        "title": title or f"{_names(live, label)} on {game.called}",
        "label": label or live.first.rule.name,
        "rule": of_rule(live.first.rule.spec()),
        "belief": _belief(first),
        "seed": int(live.first.seed),
        "steps": length,
        "every": 1,
        "complete": steps is None or live.step >= length,
        "optimum": None,
        "interventions": [
            {"step": entry.step, "text": in_words(entry.did), "did": plain(entry.did)} for entry in live.log
        ],
    }
    start, changes = _changes(live, numbered)
    if coverage_of(first) is not None:
        _on_map(live, header, arrays, numbered, length)
    if numbered:
        arrays["sizes"] = np.array([header["map"]["columns"] * header["map"]["rows"]], np.int32)
    header["changes"] = len(changes[0])
    arrays["start"] = start.astype(np.int32)
    arrays["changes"] = _packed(live, header, start, changes, numbered)
    names, times, values = live.rows()
    header["series"] = _series(live, names)
    arrays |= {"times": times.astype(np.float64), "series": values}
    header["events"] = events_of(live, header, -1)
    header["keyframes"], more = _thoughts(live, -1, players, arrays["sizes"], numbered)
    if not live.log:
        del header["interventions"]
    made = Recording(header, arrays | more)
    made.__dict__["changes"] = changes
    return made


def growth_of(live: LiveRun, header: dict[str, Any], sizes: Ints, since: int) -> tuple[dict[str, Any], Arrays]:
    """What came after a step, in the numbering of a recording that was made of this run before."""
    numbered, last = is_numbered(live), live.stretches[-1]
    steps, players, actions = (np.asarray(part) for part in last.run.changes(since))
    order = np.lexsort((players, steps))
    places = _places(last.run, numbered, actions[order])
    arrays: Arrays = {
        "steps": steps[order].astype(np.float64),
        "players": players[order].astype(np.int32),
        "actions": places.astype(np.int32),
    }
    first = int(np.searchsorted(last.times, since, "right"))
    arrays["times"] = np.array(last.times[first:], np.float64)
    arrays["series"] = np.array(last.rows[first:], np.float64).reshape(-1, len(header["series"])).T.copy()
    keyframes, more = _thoughts(live, since, header["game"]["players"], sizes, numbered)
    told_of = {"since": since, "step": live.step, "events": events_of(live, header, since), "keyframes": keyframes}
    return told_of, arrays | more


def is_numbered(live: LiveRun) -> bool:
    """Whether actions are the numbers of all cells: where the map was edited."""
    return any(isinstance(entry.did, Paint | Wall | Erase) for entry in live.log)


def events_of(live: LiveRun, header: dict[str, Any], since: int) -> list[dict[str, Any]]:
    """Targets found, robots that come and go, components that split and merge, and what was done, after a step."""
    found: list[dict[str, Any]] = []

    def add(step: int, kind: str, player: int | None, text: str) -> None:
        if since < step <= max(live.step, header["steps"]):
            found.append({"step": step, "kind": kind, "player": player, "text": text})

    game = coverage_of(live.first.game)
    if game is not None:
        for target, (step, robot) in live.stretches[-1].found.items():
            x, y = game.world.targets[target].tolist()
            add(step, "target", robot, f"robot {robot} finds target {target} at {cell_words(header['map'], x, y)}")
    lives, removed = live.run.game.lives(live.run.state), _removed(live)
    by_hand = {(entry.step, entry.did.robot) for entry in live.log if hasattr(entry.did, "robot")}
    for robot, (come, gone) in enumerate([] if lives is None else lives.T.tolist()):
        if robot not in removed and (gone, robot) not in by_hand and since < live.step:
            add(gone, "lost", robot, f"robot {robot} fails")
        if come > 0 and not any(entry.step == come for entry in live.log):
            add(come, "arrived", robot, f"robot {robot} arrives")
    alone = len(live.run.beliefs) == live.run.game.num_players if live.run.thoughts else False
    for row in live.run.thoughts:
        time, mind, before, after, accepted = (getattr(row, name) for name in _PROPOSAL)
        if accepted and before != after:
            kind = "split" if after > before else "merge"
            who = f"robot {mind}" if alone else "the robots' belief"
            add(int(time), kind, int(mind) if alone else None, f"{who}: {kind}, {before} to {after} components")
    for entry in live.log:
        add(entry.step, "edit", getattr(entry.did, "robot", None), in_words(entry.did)) if entry.step else None
    return sorted(found, key=lambda event: int(event["step"]))


_PROPOSAL = ("time", "mind", "before", "after", "accepted")


def _names(live: LiveRun, label: str) -> str:
    """The rules that were played, in order."""
    changes = [entry.did for entry in live.log if isinstance(entry.did, Change)]
    later = [str(did.rule["rule"]) for did in changes if did.rule is not None]
    return " → ".join([label or live.first.rule.name, *later])


def _belief(game: Any) -> dict[str, str] | None:
    if not isinstance(game, Believing):
        return None
    return {"name": game.belief.name, "text": belief_text(game.belief)}


def _series(live: LiveRun, names: list[str]) -> list[dict[str, Any]]:
    known, game = known_recorders(live.first.game.recorders), coverage_of(live.first.game)
    rows: list[dict[str, Any]] = [
        {"name": name, "label": known[name].label, "unit": known[name].unit} for name in names
    ]
    for row in rows:
        if game is not None and row["name"] == "distance" and game.world.cell_size is not None:
            row["length"] = True
    return rows


def _places(run: Run, numbered: bool, actions: NDArray[Any]) -> Ints:
    """Actions, or the cells that they are."""
    game = coverage_of(run.game)
    if not numbered or game is None:
        return np.asarray(actions, np.int64)
    x, y = game.world.cells[actions].T.astype(np.int64)
    return y * game.world.size[0] + x


def _changes(live: LiveRun, numbered: bool) -> tuple[Ints, Changes]:
    """The start, of all robots that there ever were, and all changes, by step and player."""
    players = live.run.game.num_players
    start, now = np.full((2, players), -1, np.int64)
    parts: list[Any] = []
    for stretch, end in live.spans():
        begun = _places(stretch.run, numbered, stretch.run.start)
        here = now[: begun.size]
        if not stretch.since:
            here[:] = -1  # what was done at step 0 is the start
        put = np.flatnonzero((here >= 0) & (here != begun))
        start[: begun.size] = np.where(here < 0, begun, start[: begun.size])
        parts.append((np.full(put.size, stretch.since), put, begun[put]))
        now[: begun.size] = begun
        steps, who, actions = stretch.run.changes(stretch.since)
        count = int(np.searchsorted(steps, end, "right"))
        places = _places(stretch.run, numbered, actions[:count])
        now[who[:count]] = places  # of a player that moved twice the last holds
        parts.append((steps[:count].astype(np.int64), who[:count].astype(np.int64), places))
    when, whose, where = (np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True))
    order = np.lexsort((whose, when))
    return start, (when[order], whose[order], where[order])


def _packed(live: LiveRun, header: dict[str, Any], start: Ints, changes: Changes, numbered: bool) -> Any:
    game = coverage_of(live.first.game)
    if not numbered or game is None:
        return encoded(live.first.game if game is None else game, header, start, changes)
    columns, rows = game.world.size
    whole = game.like(world=World(np.ones((rows, columns))), start=None, drift=None)
    return encoded(whole, header, start, changes)


def _removed(live: LiveRun) -> list[int]:
    return sorted({entry.did.robot for entry in live.log if isinstance(entry.did, Remove)})


def _on_map(live: LiveRun, header: dict[str, Any], arrays: Arrays, numbered: bool, length: int) -> None:
    """Who is there when, ranges of all robots, and how the map was edited."""
    game, lives = coverage_of(live.run.game), live.run.game.lives(live.run.state)
    assert game is not None
    arrays["delta"] = game.delta[:1] if (game.delta == game.delta[0]).all() else game.delta
    if lives is not None:
        arrays |= dict(zip(("since", "until"), np.minimum(lives, length + 1).astype(np.float64), strict=True))
    if removed := _removed(live):
        header["map"]["removed"] = removed
    if not numbered:
        return
    steps, ptr = [], [0]
    cells: list[Ints] = [np.zeros(0, np.int64)]
    worths, walls = [np.zeros(0)], [np.zeros(0, bool)]
    worlds = [coverage_of(stretch.run.game).world for stretch in live.stretches]  # type: ignore[union-attr]
    for stretch, before, after in zip(live.stretches[1:], worlds, worlds[1:], strict=False):
        where = np.flatnonzero((before.worth != after.worth) | (before.blocked != after.blocked))
        if where.size:
            steps.append(stretch.since)
            cells.append(where)
            worths.append(after.worth.reshape(-1)[where])
            walls.append(after.blocked.reshape(-1)[where])
            ptr.append(ptr[-1] + where.size)
    header["map"]["edits"] = steps
    arrays |= {"edit_ptr": np.array(ptr, np.int32), "edit_cells": np.concatenate(cells).astype(np.int32)}
    arrays |= {"edit_worth": np.concatenate(worths), "edit_walls": np.concatenate(walls).astype(np.uint8)}


def _thoughts(live: LiveRun, since: int, players: int, sizes: Ints, numbered: bool) -> tuple[Any, Arrays]:
    """Keyframes; those after a step combined with the one before, as a recording has them."""
    everything = [thought for stretch, end in live.spans() for thought in stretch.thoughts if thought.step < end]
    kept = [thought for thought in everything if thought.views or thought.scores]
    new = [thought for thought in kept if thought.step > since]
    if not new:
        return None, {}
    before = kept[: len(kept) - len(new)][-1:]
    each = np.broadcast_to(np.asarray(sizes, np.int64), (players,))
    header, arrays = told([*before, *new], kept[-1], players, each, numbered)
    if before:
        header["steps"] = header["steps"][1:]
        minds = len(kept[-1].minds)
        if minds:
            ptr = arrays["belief_ptr"]
            arrays["belief_components"] = arrays["belief_components"][ptr[minds] :]
            arrays["belief_ptr"] = ptr[minds:] - ptr[minds]
        for name in set(arrays) - {"belief_ptr", "belief_components"}:
            arrays[name] = arrays[name][1:]
    return header, arrays
