"""A run's state on disk: one ``.npz`` file, no pickle inside, written whole or not at all.

A loaded run goes on exactly as the saved one would have, bit for bit, records included.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from potentia.engine.runs import Run, begin
from potentia.errors import InvalidRun
from potentia.games import Game
from potentia.rules import rule_from
from potentia.version import __version__

FORMAT = 1
_EVENTS = ("time", "player", "action")


def save(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the run's state and records to ``path``."""
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
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about)), "start": run.start, "shadow": run.shadow}
    arrays |= {f"state.{name}": getattr(run.state, name) for name in run.state._fields}
    arrays |= {f"memory.{name}": getattr(run.memory, name) for name in run.rule.remembers}
    arrays |= {f"journal.{name}": getattr(run.journal, name) for name in run.journal._fields}
    rows, events = run.records()
    arrays |= {f"rows.{name}": values for name, values in rows.items()}
    if events is not None:
        arrays |= {f"events.{name}": values for name, values in zip(_EVENTS, events, strict=True)}
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InvalidRun(f"cannot write {target}: {error.strerror or error}") from error
    return target


def load(path: str | os.PathLike[str], game: Game) -> Run:
    """Read a saved run of ``game`` back; its rule comes from the file."""
    try:
        # opened here: NumPy leaves the file open where it is no proper archive
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays["about"]))
    except OSError as error:
        raise InvalidRun(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise InvalidRun(f"{path} is not a saved run, or is damaged") from error
    if about.get("format") != FORMAT:
        raise InvalidRun(f"{path} has format {about.get('format')}, this version reads {FORMAT}")
    if about["fingerprint"] != game.fingerprint():
        raise InvalidRun(f"{path} was saved from another game, {about['game']}; pass that one, not {game.describe()}")
    run = begin(
        game,
        rule_from(about["rule"]),
        about["seed"],
        start=arrays["start"],
        record=about["record"],
        every=about["every"],
        horizon=about["horizon"],
    )
    try:
        run.step = about["step"]
        run.shadow[...] = arrays["shadow"]
        for part, fields in (
            ("state", run.state._fields),
            ("memory", run.rule.remembers),
            ("journal", run.journal._fields),
        ):
            for name in fields:
                getattr(getattr(run, part), name)[...] = arrays[f"{part}.{name}"]
        events = tuple(arrays[f"events.{name}"] for name in _EVENTS) if "events.time" in arrays else None
        run.restore_records({n.removeprefix("rows."): v for n, v in arrays.items() if n.startswith("rows.")}, events)
    except (KeyError, ValueError, TypeError) as error:
        raise InvalidRun(f"{path} is damaged: {error}") from error
    return run
