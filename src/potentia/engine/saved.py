"""A run's state on disk: one ``.npz`` file, no pickle inside, written whole or not at all.

A loaded run goes on exactly as the saved one would have, bit for bit, records included.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from potentia.beliefs import Belief, Believing, Proposal
from potentia.engine.code import Code, changed_code, code_of_run, other_python
from potentia.engine.columns import Events
from potentia.engine.playing import begin
from potentia.engine.requests import believed, checked_compiled, checked_integer, run_key
from potentia.engine.runs import Run
from potentia.errors import InvalidInput, InvalidRun, PotentiaError
from potentia.games import Game
from potentia.kernel import memory
from potentia.kernel.archive import Archive
from potentia.kernel.arrays import Ints
from potentia.kernel.cache import Compiled
from potentia.kernel.files import open_plain, whole_file
from potentia.kernel.numbers import in_words, is_integer
from potentia.rules import Rule, rule_from
from potentia.rules.base import check_remembers
from potentia.version import __version__

FORMAT = 3
BRANCHED = 4  # a branch, which has the draws of another run
FOLLOWED = 5  # a recorder of one's own, for which the profile is followed and not recorded
_EVENTS = ("time", "player", "action")
_LONGEST = 200  # characters of a file's own words in a message


def save(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the run's state and records to ``path``."""
    if run.unfinished:
        raise InvalidRun(
            f"this run was cut off within step {run.step} and cannot be saved; advance it first, or begin again"
        )
    about = {
        "format": FORMAT,
        "potentia": run.version,
        "game": run.game.describe(),
        "fingerprint": run.game.fingerprint(),
        "rule": run.rule.spec(),
        "seed": run.seed,
        "step": run.step,
        "record": list(run.record),
        "every": run.every,
        "horizon": run.horizon,
    }
    code = _code(run.game, run.rule, run.record)
    about |= {"code": code} if code else {}
    if run.key != run_key(run.seed, run.game, run.rule):
        about |= {"format": BRANCHED, "key": int(run.key)}
    followed = run.shadow.size > 0 and "profile" not in run.record
    if followed:
        about["format"] = FOLLOWED
    journal = run.journal
    arrays: dict[str, Any] = {
        "about": np.array(json.dumps(about)),
        "start": run.start,
        "profile": run.profile,
        "counts": journal.counts,
        "visits": journal.visits,
        "changed": journal.changed[: journal.pending[0]],
    }
    arrays |= {"shadow": run.shadow} if followed else {}
    arrays |= {f"state.{name}": attrgetter(name)(run.state) for name in run.game.remembers}
    check_remembers(run.rule, run.memory)
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


def load(
    path: str | os.PathLike[str],
    game: Game,
    belief: Belief | dict[str, Any] | None = None,
    *,
    compiled: Compiled = "auto",
) -> Run:
    """Read a saved run of ``game`` back, played with this ``belief``; its rule comes from the file.

    Compiled code does not check indices, so everything in the file is checked here: what a run could not
    have written is not let through. A run that another version of potentia saved can be looked at and not be gone on
    with: bits may differ. Nor is one of a rule, belief, recorder or game of your own whose code has changed since.

    Parameters
    ----------
    path : str or path
        The file that :meth:`Run.save` wrote.
    game : Game
        What the run was played on.
    belief : Belief or dict, optional
        What its players believed, if they did not know the game.
    compiled : bool or str
        As in :func:`begin`.

    Returns
    -------
    Run
        It goes on exactly as the saved one would have.

    Raises
    ------
    InvalidRun
        If the file is damaged, or the run of another game, belief, version or code.

    Examples
    --------
    >>> game = pt.game("stag-hunt")
    >>> path = pt.begin(game, pt.rule("lll", tau=0.5), seed=1).advance(30).save("later.npz")
    >>> pt.load(path, game).step
    30
    """
    game, compiled = believed(game, belief), checked_compiled(compiled)
    about: dict[str, Any] = {}
    try:
        with open_plain(path) as raw, Archive(raw) as archive:
            memory.require(2 * archive.size, f"reading {path}")
            about = _about(path, archive, game, belief)
            return _restored(game, about, archive, compiled)
    except PotentiaError as error:
        if isinstance(error, InvalidRun) and not about:
            raise
        # what it tells makes no run: a rule that is not registered here, or no memory for it
        raise InvalidRun(f"{path} cannot be restored: {_line(error)}") from error
    except OSError as error:
        raise InvalidRun(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:  # a broken archive, or a field that is missing, or of another type, shape or range
        kind = "damaged" if about else "not a saved run, or is damaged"
        raise InvalidRun(f"{path} is {kind}: {_line(error)}") from error


def _about(path: Any, archive: Archive, game: Game, belief: Belief | dict[str, Any] | None) -> dict[str, Any]:
    """What the file tells of its run, if this version can read it and it is a run of this game."""
    text = archive.read("about", (), "U")
    memory.require(8 * text.nbytes, f"reading {path}")  # as Python's own objects
    about: dict[str, Any] = json.loads(str(text))
    told, by = about["format"], about["potentia"]
    if not is_integer(told) or not isinstance(by, str):
        raise ValueError("it names no format")
    if told > FOLLOWED:
        raise InvalidRun(
            f"{path} was written by a newer version (potentia {_line(by)}, format {in_words(told)}): "
            f"this is {__version__}, format {FOLLOWED}"
        )
    if told < FORMAT:
        raise InvalidRun(f"{path} has format {in_words(told)}, this version reads {FORMAT}")
    if "code" in about:  # before the fingerprint, which a changed utility changes too
        _check_code(path, about, game)
    if about["fingerprint"] != game.fingerprint():
        if about["fingerprint"] == _with_lasting_readings(game).fingerprint():
            told = "was saved from a belief whose readings last, and where the worth drifts they grow old by default"
            raise InvalidRun(f"{path} {told}: pass the belief with half_life=None")
        other = "another belief, or another game" if belief is not None else "another game"
        hint = "; pass belief=" if belief is None and " with the belief " in about["game"] else ""
        raise InvalidRun(f"{path} was saved from {other}, {_line(about['game'])}; this one is {game.describe()}{hint}")
    return about


def _with_lasting_readings(game: Game) -> Game:
    """The game with a belief that forgets nothing, where it has one that does."""
    if not isinstance(game, Believing) or "half_life" not in game.belief.spec_on(game.game):
        return game
    return Believing(game.game, {**game.belief.spec(), "half_life": None})


def _check_code(path: Any, about: dict[str, Any], game: Game) -> None:
    kept: dict[str, str] = {str(name): str(entry) for name, entry in about["code"].items()}
    why = other_python(kept)
    if why is not None:
        raise InvalidRun(f"{path} cannot be gone on with: {_line(why)}; load it with that Python, or begin again")
    which = changed_code(kept, _code(game, rule_from(about["rule"]), about["record"]))
    if which is not None:
        said = f"{_line(which)}: its code has changed since the run was saved"
        raise InvalidRun(f"{path} cannot be gone on with: {said}; load it with the old code, or begin again")


def _code(game: Game, rule: Rule, record: Iterable[str]) -> Code:
    try:
        return code_of_run(game, rule, record)
    except InvalidInput as error:
        raise InvalidRun(error.message) from None


def _line(text: Any) -> str:
    """One line of bounded length, whatever a file has in it."""
    return " ".join(str(text).split())[:_LONGEST]


def _restored(game: Game, about: dict[str, Any], archive: Archive, compiled: Compiled) -> Run:
    run = begin(
        game,
        rule_from(about["rule"]),
        about["seed"],
        start=archive.read("start", (game.num_players,), "i"),
        record=about["record"],
        every=about["every"],
        horizon=about["horizon"],
        compiled=compiled,
    )
    run.step = checked_integer(about["step"], "step", 0)
    run.version = _line(about["potentia"])
    if about["format"] == BRANCHED or "key" in about:
        run.key = np.uint64(checked_integer(about["key"], "key", 0, 2**64 - 1))
    columns = run.columns()
    known = {"about", "start", "profile", "counts", "visits", "changed"}
    known |= {f"state.{name}" for name in game.remembers} | {f"memory.{name}" for name in run.rule.remembers}
    known |= {"shadow"} if about["format"] == FOLLOWED else set()
    known |= {f"rows.{name}" for name in columns} | {f"events.{name}" for name in _EVENTS if "profile" in run.record}
    _require(archive.names <= known | {"thoughts"}, "it holds what no such run records")
    profile = game.check_profile(archive.read("profile", (game.num_players,), "i"), "profile")
    run.state.profile[...] = profile
    for name in game.remembers:
        part = attrgetter(name)(run.state)
        known_to_it = name not in game.newer or f"state.{name}" in archive.names
        part[...] = archive.like(f"state.{name}", part) if known_to_it else np.nan
    for name in run.rule.remembers:
        part = getattr(run.memory, name)
        part[...] = archive.like(f"memory.{name}", part)
    game.check_state(run.state)
    run.rule.check_memory(run.memory, run.step)
    run.settle()
    if "thoughts" in archive.names:
        thoughts = archive.read("thoughts", (None, 7), np.dtype(np.float64))
        memory.require(10 * thoughts.nbytes, "what was thought in this run")  # as Python's own objects
        run.thoughts = [_proposal(row) for row in thoughts.tolist()]
    journal = run.journal
    journal.counts[...] = archive.like("counts", journal.counts)
    _require((journal.counts >= 0).all(), "counts are negative")
    journal.visits[...] = archive.like("visits", journal.visits)
    if journal.visits.size:
        _require((journal.visits >= 0).all() and journal.visits.sum() == run.step, "visits are not the steps")
        journal.cursor[:] = int((journal.strides * profile).sum()), run.step + 1
    changed = archive.read("changed", (None,), np.dtype(np.int64), journal.changed.size)
    records = run.step // run.every
    rows = {name: archive.read(f"rows.{name}", (records + 1,), dtype) for name, dtype in columns.items()}
    events = _checked_events(run, archive, records * game.num_players) if "profile" in run.record else None
    run.restore_records(rows, events)
    if events is not None:
        run.shadow[events[1]] = events[2]  # in order, so the last change of a player stands
    elif run.shadow.size:
        run.shadow[...] = game.check_profile(archive.read("shadow", (game.num_players,), "i"), "shadow")
    if run.shadow.size:
        _restore_changed(run, profile, changed)
    return run


def _proposal(row: list[float]) -> Proposal:
    time, mind, before, after, aic_before, aic_after, accepted = row
    return Proposal(int(time), int(mind), int(before), int(after), aic_before, aic_after, bool(accepted))


def _restore_changed(run: Run, profile: Ints, changed: NDArray[Any]) -> None:
    """The players that changed since the last row, in the order in which they did."""
    players = run.game.num_players
    _require(((changed >= 0) & (changed < players)).all(), "a changed player does not exist")
    _require(np.unique(changed).size == changed.size, "a changed player is listed twice")
    _require(np.isin(np.flatnonzero(profile != run.shadow), changed).all(), "a changed player is not listed")
    run.journal.changed[: changed.size] = changed
    run.journal.dirty[changed] = 1
    run.journal.pending[0] = changed.size


def _checked_events(run: Run, archive: Archive, most: int) -> Events:
    kinds = (np.int64, np.int32, np.int32)
    times, players, actions = (
        archive.read(f"events.{name}", (None,), np.dtype(kind), most) for name, kind in zip(_EVENTS, kinds, strict=True)
    )
    _require(times.shape == players.shape == actions.shape, "changes have different lengths")
    _require((np.diff(times) >= 0).all() and (times % run.every == 0).all(), "changes are not in order")
    _require(((times > 0) & (times <= run.step)).all(), "a change lies outside the run")
    _require(((players >= 0) & (players < run.game.num_players)).all(), "a change names no player")
    _require(((actions >= 0) & (actions < run.game.sizes[players])).all(), "a change names no action")
    return times, players, actions


def _require(holds: Any, complaint: str) -> None:
    if not holds:
        raise ValueError(complaint)
