"""Recordings of runs: what changed, curves, events and keyframes, from a trace and what it was played with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.analysis import Best, Optimum, OptimumOverTime
from potentia.beliefs import Believing
from potentia.beliefs.words import belief_text
from potentia.colours import color_of
from potentia.engine import Trace, evaluate
from potentia.errors import InvalidRun
from potentia.games import Coverage, Game
from potentia.kernel.arrays import Floats, Ints
from potentia.kernel.numbers import as_float, is_real
from potentia.kernel.recorders import known_recorders
from potentia.rules import Rule
from potentia.rules.words import rule_text
from potentia.version import __version__
from potentia.web.coding import Changes, encode_changes
from potentia.web.finding import targets_found
from potentia.web.keyframes import Keyframes, played_again
from potentia.web.measures import cell_words
from potentia.web.recordings import Recording
from potentia.web.scenes import scene

_MOST_ROWS = 100_000  # of a series
_SAMPLES = 400  # rows of a series that was not recorded
_AT_MOST = 50_000_000  # players and cells that are looked at for them
_BY_HAND = 20_000  # utilities of a user's function for them
_FIRST = ("worth_union", "potential", "welfare")  # what is shown first
_MOST_EVENTS = 2_000


def record(
    trace: Trace,
    *,
    beliefs_every: int | None = None,
    optimum: Any = None,
    title: str = "",
    label: str = "",
    game: Game | None = None,
    keyframes: Keyframes | None = None,
) -> Recording:
    """The recording of a trace; see :meth:`potentia.Trace.recording`."""
    if trace.events is None:
        raise InvalidRun('profiles were not recorded; pass record=("profile", ...)')
    for name, text in (("title", title), ("label", label)):
        if not isinstance(text, str):
            raise InvalidRun(f"must be a text, got {text!r}", name, text)
    played, rule, belief = _unwrapped(trace, game)
    header, arrays = scene(played, rule if belief is None else None, int(trace.steps))  # who believes has another chain
    header |= {
        "potentia": __version__,
        "title": title or f"{label or trace.rule['rule']} on {played.called}",
        "label": label or str(trace.rule["rule"]),
        "rule": of_rule(trace.rule),
        "belief": None if belief is None else {"name": belief.name, "text": belief_text(belief)},
        "seed": int(trace.seed),
        "steps": int(trace.steps),
        "every": int(trace.every),
        "complete": bool(trace.complete),
        "events": [],
        "keyframes": None,
    }
    if trace.lives is not None:  # times after the end are all the same
        since, until = np.minimum(trace.lives, trace.steps + 1).astype(np.float64)
        arrays |= {"since": since, "until": until}
    changes = _in_order(trace)
    header["changes"] = int(changes[0].size)
    arrays |= {"start": trace.start.astype(np.int32), "changes": encoded(played, header, trace.start, changes)}
    made = Recording(header, arrays)
    made.__dict__["changes"] = changes  # no need to decode what was just encoded
    header["series"], made.arrays["times"], made.arrays["series"] = _series(trace, played, made)
    header["optimum"] = optimum_in(optimum, made)
    events = list(_events(trace, made))
    header["events"] = _fewer(events)
    if len(events) > _MOST_EVENTS:
        header["events_left_out"] = len(events) - _MOST_EVENTS
    if keyframes is None:
        keyframes = played_again(trace, beliefs_every)
    if keyframes is not None:
        keyframes.into(made)
    return made


def _unwrapped(trace: Trace, game: Game | None) -> tuple[Game, Rule | None, Any]:
    """The game itself, the rule where it is known, and what players believed."""
    if trace.played is None and game is None:
        raise InvalidRun(
            "this trace has been pickled, which leaves its game behind: pass game=, what was played", "game"
        )
    if game is not None and not isinstance(game, Game):
        raise InvalidRun(f"must be a game, what was played, got {game!r:.60}", "game", game)
    if game is not None and (game.describe() != trace.game or game.num_players != trace.start.size):
        raise InvalidRun(f"must be what was played, {trace.game}, got {game.describe()}", "game", game.describe())
    found = trace.played.game if game is None and trace.played is not None else game
    rule = None if trace.played is None else trace.played.rule
    if isinstance(found, Believing):
        return found.game, rule, found.belief
    assert found is not None
    return found, rule, None


def of_rule(spec: dict[str, Any]) -> dict[str, Any]:
    """What a header says of a rule."""
    name = str(spec["rule"])
    return {"name": name, "text": rule_text(spec), "spec": spec, "colour": color_of(name)}


# Changes ----------------------------------------------------------------------------------------------


def _in_order(trace: Trace) -> Changes:
    """By step and player; what changed after the last row comes at the end."""
    assert trace.events is not None
    steps, players, actions = (np.asarray(part, np.int64) for part in trace.events)
    last = trace.start.astype(np.int64)
    last[players] = actions
    late = np.flatnonzero(last != trace.final)
    steps, players = np.append(steps, np.full(late.size, trace.steps)), np.append(players, late)
    actions = np.append(actions, trace.final[late])
    order = np.lexsort((players, steps))
    return steps[order], players[order], actions[order]


def encoded(game: Game, header: dict[str, Any], start: Ints, changes: Changes) -> NDArray[np.uint8]:
    """By the numbers of moves on a map, else by actions."""
    if not isinstance(game, Coverage):
        return encode_changes(changes, changes[2], None)
    offsets = np.array(header["map"]["offsets"], np.int64).reshape(-1, 2)
    escape = len(offsets)
    _, players, actions = changes
    moved = game.world.cells[actions].astype(np.int64) - game.world.cells[_before(start, players, actions)]
    reach = int(np.abs(offsets).max(initial=0))
    index = np.full((2 * reach + 1, 2 * reach + 1), escape, np.int64)
    if escape:
        index[offsets[:, 1] + reach, offsets[:, 0] + reach] = np.arange(escape)
    near = (np.abs(moved) <= reach).all(axis=1)
    codes = np.full(actions.size, escape, np.int64)
    codes[near] = index[moved[near, 1] + reach, moved[near, 0] + reach]
    return encode_changes(changes, codes, escape)


def _before(start: Ints, players: Ints, actions: Ints) -> Ints:
    """What each of the players that change plays until then."""
    order = np.argsort(players, kind="stable")
    first = np.append(True, np.diff(players[order]) != 0)[: players.size]
    out = np.empty(players.size, np.int64)
    out[order] = np.where(first, start[players[order]], np.append(0, actions[order][:-1])[: players.size])
    return out


# Curves and events ------------------------------------------------------------------------------------


def _series(trace: Trace, game: Game, made: Recording) -> tuple[list[dict[str, Any]], Floats, Floats]:
    """What was recorded; and if nothing was, what the game is about, at some hundred times."""
    values, times = dict(trace.scalars), trace.times
    if not values:
        times, values = _sampled(game, made)
    if times.size > _MOST_ROWS:
        rows = np.unique(np.linspace(0, times.size - 1, _MOST_ROWS).round().astype(np.int64))
        times, values = times[rows], {name: column[rows] for name, column in values.items()}
    known = known_recorders((*game.recorders, *trace.recordable))
    names = sorted(values, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    told: list[dict[str, Any]] = [
        {"name": name, "label": known[name].label, "unit": known[name].unit} for name in names
    ]
    for row in told:
        if isinstance(game, Coverage) and row["name"] == "distance" and game.world.cell_size is not None:
            row["length"] = True  # pages and films tell it in the unit of the map
    columns = np.array([values[name] for name in names], np.float64).reshape(len(names), times.size)
    return told, times.astype(np.float64), columns


def _sampled(game: Game, made: Recording) -> tuple[Ints, dict[str, Floats]]:
    cells = game.world.worth.size if isinstance(game, Coverage) else 0
    samples = min(_SAMPLES, _AT_MOST // (game.num_players + cells))
    if game.runs_user_code:
        samples = min(samples, _BY_HAND // game.num_players)
    samples = max(2, samples)
    times = np.unique(np.linspace(0, made.steps, min(samples, made.steps + 1)).round().astype(np.int64))
    if isinstance(game, Coverage):
        union, total = np.empty((2, times.size))
        come_and_go = "until" in made.arrays
        counts, before = made.counts(made.profile(0)), made.profile(0)
        for row, step in enumerate(times.tolist()):
            profile, worth = made.profile(step), game.worth_at(step)
            if come_and_go:
                counts = made.counts(profile, step)
                union[row], total[row] = worth[counts > 0].sum(), (worth * counts).sum()
                continue
            moved = np.flatnonzero(profile != before)
            counts = counts + made.covering(moved, profile[moved]) - made.covering(moved, before[moved])
            union[row], total[row] = worth[counts > 0].sum(), (worth * counts).sum()
            before = profile
        return times, {"worth_union": union, "worth_sum": total}
    rows = [evaluate(game, profile) for profile in made.profiles(times)]
    return times, {name: np.array([row[name] for row in rows]) for name in rows[0]}


def optimum_in(given: Any, made: Recording) -> dict[str, Any] | None:
    """A line beside the curve of what is shown first."""
    name, value, bound = made.objective, given, None
    if given is None and "potential" in made.arrays and name == "potential":
        value = float(made.arrays["potential"].max())
    if isinstance(given, Optimum):  # of what is covered at least once
        value, bound = given.value, given.bound
        name = next((row["name"] for row in made.header["series"] if row["name"] == "worth_union"), None)
    elif isinstance(given, Best):
        value, bound = given.value, given.bound
        name = next((row["name"] for row in made.header["series"] if row["name"] == given.objective), None)
    if isinstance(given, OptimumOverTime):
        if not any(row["name"] == "worth_union" for row in made.header["series"]):
            return None
        lists = {part: getattr(given, part).tolist() for part in ("times", "values", "bounds")}
        return {"series": "worth_union", "value": lists["values"][-1], "bound": lists["bounds"][-1], **lists}
    if value is None or name is None:
        return None
    if not all(part is None or (is_real(part) and math.isfinite(as_float(part))) for part in (value, bound)):
        raise InvalidRun(f"must be a finite number, or what analysis.optimum returns, got {given!r}", "optimum", given)
    return {"series": name, "value": float(value), "bound": None if bound is None else float(bound)}


def _events(trace: Trace, made: Recording) -> Iterator[dict[str, Any]]:
    """Targets found, robots that come and go, and numbers of components changed, by step."""
    found: list[dict[str, Any]] = []
    if made.kind == "map":
        for step, robot, number, x, y in targets_found(made):
            text = f"robot {robot} finds target {number} at {cell_words(made.header['map'], x, y)}"
            found.append({"step": step, "kind": "target", "player": robot, "text": text})
        for robot, (since, until) in enumerate(made.lives.T.tolist()):
            for step, kind, text in ((since, "arrived", "arrives"), (until, "lost", "fails")):
                if 0 < step <= made.steps:
                    told = {"step": int(step), "kind": kind, "player": robot, "text": f"robot {robot} {text}"}
                    found.append(told)
    alone = len(trace.beliefs) == trace.start.size
    for row in trace.proposals:
        if row.accepted and row.before != row.after:
            kind = "split" if row.after > row.before else "merge"
            who = f"robot {row.mind}" if alone else "the robots' belief"
            text = f"{who}: {kind}, {row.before} to {row.after} components"
            step, player = min(int(row.time), made.steps), int(row.mind) if alone else None
            found.append({"step": step, "kind": kind, "player": player, "text": text})
    yield from sorted(found, key=lambda event: int(event["step"]))


def _fewer(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many as a page has room for: splits and merges, which may be very many, give way to all others."""
    rare = [k for k, event in enumerate(events) if event["kind"] not in ("split", "merge")]
    often = sorted(set(range(len(events))).difference(rare))
    return [events[k] for k in sorted((rare + often)[:_MOST_EVENTS])]
