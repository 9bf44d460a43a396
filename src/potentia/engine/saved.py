"""A run's state on disk: one ``.npz`` file, no pickle inside, written whole or not at all.

A loaded run goes on exactly as the saved one would have, bit for bit, records included.
"""

from __future__ import annotations

import json
import os
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs import Belief, Proposal
from potentia.engine.playing import begin
from potentia.engine.requests import believed, checked_integer
from potentia.engine.runs import Run
from potentia.engine.trace import Events
from potentia.errors import InvalidRun, PotentiaError
from potentia.games import Game
from potentia.kernel.files import whole_file
from potentia.rules import rule_from
from potentia.version import __version__

FORMAT = 3
_EVENTS = ("time", "player", "action")


def save(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the run's state and records to ``path``."""
    if run.unfinished:
        raise InvalidRun(f"this run was cut off within step {run.step} and cannot be saved; advance it first")
    about = {
        "format": FORMAT,
        "potentia": __version__,
        "game": run.game.describe(),
        "fingerprint": run.game.fingerprint(),
        "rule": run.rule.spec(),
        "seed": run.seed,
        "step": run.step,
        "record": list(run.record),
        "every": run.every,
        "horizon": run.horizon,
    }
    journal = run.journal
    arrays: dict[str, Any] = {
        "about": np.array(json.dumps(about)),
        "start": run.start,
        "profile": run.profile,
        "counts": journal.counts,
        "visits": journal.visits,
        "changed": journal.changed[: journal.pending[0]],
    }
    arrays |= {f"state.{name}": attrgetter(name)(run.state) for name in run.game.remembers}
    arrays |= {f"memory.{name}": getattr(run.memory, name) for name in run.rule.remembers}
    if run.thoughts:
        arrays["thoughts"] = np.array(run.thoughts, np.float64)
    rows, events = run.records()
    arrays |= {f"rows.{name}": values for name, values in rows.items()}
    if events is not None:
        arrays |= {f"events.{name}": values for name, values in zip(_EVENTS, events, strict=True)}
    target = Path(path)
    try:
        with whole_file(target) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise InvalidRun(f"cannot write {target}: {error.strerror or error}") from error
    return target


def load(path: str | os.PathLike[str], game: Game, belief: Belief | None = None) -> Run:
    """Read a saved run of ``game`` back, played with this ``belief``; its rule comes from the file.

    Compiled code does not check indices, so everything in the file is checked here: what a run could not
    have written is not let through.
    """
    game = believed(game, belief)
    try:
        # opened here: NumPy leaves the file open where it is no proper archive
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except OSError as error:
        raise InvalidRun(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:  # whatever a broken archive makes zipfile and NumPy raise
        raise InvalidRun(f"{path} is not a saved run, or is damaged") from error
    try:
        about = json.loads(str(arrays["about"]))
        if about["format"] != FORMAT:
            raise InvalidRun(f"{path} has format {about['format']}, this version reads {FORMAT}")
        if about["fingerprint"] != game.fingerprint():
            other = "another belief, or another game" if belief is not None else "another game"
            raise InvalidRun(f"{path} was saved from {other}, {about['game']}; this one is {game.describe()}")
        return _restored(game, about, arrays)
    except InvalidRun:
        raise
    except PotentiaError as error:  # a rule that is not registered here, or no memory for it
        raise InvalidRun(f"{path} cannot be restored: {error}") from error
    except Exception as error:  # a field that is missing, or of another type, shape or range
        raise InvalidRun(f"{path} is damaged: {error}") from error


def _restored(game: Game, about: dict[str, Any], arrays: dict[str, Any]) -> Run:
    run = begin(
        game,
        rule_from(about["rule"]),
        about["seed"],
        start=arrays["start"],
        record=about["record"],
        every=about["every"],
        horizon=about["horizon"],
    )
    run.step = checked_integer(about["step"], "step", 0)
    profile = game.check_profile(arrays["profile"], "profile")
    _fill(run.state.profile, profile, "profile")
    for name in game.remembers:
        _fill(attrgetter(name)(run.state), arrays[f"state.{name}"], name)
    for name in run.rule.remembers:
        _fill(getattr(run.memory, name), arrays[f"memory.{name}"], name)
    game.check_state(run.state)
    run.rule.check_memory(run.memory, run.step)
    run.settle()
    run.thoughts = [_proposal(row) for row in arrays.get("thoughts", np.zeros((0, 7))).tolist()]
    journal = run.journal
    _fill(journal.counts, arrays["counts"], "counts")
    _require((journal.counts >= 0).all(), "counts are negative")
    if journal.visits.size:
        _fill(journal.visits, arrays["visits"], "visits")
        _require((journal.visits >= 0).all() and journal.visits.sum() == run.step, "visits are not the steps")
        journal.cursor[:] = int((journal.strides * profile).sum()), run.step + 1
    rows = {name.removeprefix("rows."): values for name, values in arrays.items() if name.startswith("rows.")}
    events = _checked_events(run, arrays) if run.shadow.size else None
    run.restore_records(rows, events)
    if events is not None:
        run.shadow[events[1]] = events[2]  # in order, so the last change of a player stands
        _restore_changed(run, profile, arrays["changed"])
    return run


def _proposal(row: list[float]) -> Proposal:
    time, mind, before, after, aic_before, aic_after, accepted = row
    return Proposal(int(time), int(mind), int(before), int(after), aic_before, aic_after, bool(accepted))


def _restore_changed(run: Run, profile: NDArray[np.int64], changed: NDArray[Any]) -> None:
    """The players that changed since the last row, in the order in which they did."""
    players = run.game.num_players
    _require(changed.dtype == np.int64 and changed.ndim == 1, "changed players are no list of integers")
    _require(((changed >= 0) & (changed < players)).all(), "a changed player does not exist")
    _require(np.unique(changed).size == changed.size, "a changed player is listed twice")
    _require(np.isin(np.flatnonzero(profile != run.shadow), changed).all(), "a changed player is not listed")
    run.journal.changed[: changed.size] = changed
    run.journal.dirty[changed] = 1
    run.journal.pending[0] = changed.size


def _checked_events(run: Run, arrays: dict[str, Any]) -> Events:
    times, players, actions = (arrays[f"events.{name}"] for name in _EVENTS)
    kinds = (times.dtype, players.dtype, actions.dtype)
    _require(kinds == (np.int64, np.int32, np.int32), "changes have the wrong type")
    _require(times.ndim == 1 and times.shape == players.shape == actions.shape, "changes have different lengths")
    _require((np.diff(times) >= 0).all() and (times % run.every == 0).all(), "changes are not in order")
    _require(((times > 0) & (times <= run.step)).all(), "a change lies outside the run")
    _require(((players >= 0) & (players < run.game.num_players)).all(), "a change names no player")
    _require(((actions >= 0) & (actions < run.game.sizes[players])).all(), "a change names no action")
    return times, players, actions


def _fill(target: NDArray[Any], values: NDArray[Any], name: str) -> None:
    if values.shape != target.shape or values.dtype != target.dtype:
        raise ValueError(f"{name} has shape {values.shape} of {values.dtype}, not {target.shape} of {target.dtype}")
    target[...] = values


def _require(holds: Any, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)
