"""Studies grow: a larger specification in the same folder adds games, rules, values and seeds, and keeps what is there.

Draws depend on the seed, the game and the rule, never on what else is in a study, so the grown study is the large one,
played afresh, to the bit. Chunks are found by what is played and its seeds: none is touched. The new manifest takes the
place of the old one at once, when all that it needs is on disk, so a process that is killed leaves the one study or
the other. A study of an earlier format has its chunks written anew first, beside the old ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from potentia.errors import Remedy, StudyError
from potentia.kernel import memory
from potentia.studies.cutting import Cut
from potentia.studies.differences import first_difference, shortened
from potentia.studies.manifest import PLACED, check_size, make_manifest, run_keys
from potentia.studies.planning import Plan, bytes_of_run, gather, plan
from potentia.studies.refusals import refused
from potentia.studies.seeds import intervals, new_parts, without
from potentia.studies.specification import SECTIONS, Specification
from potentia.studies.store import OTHER_FOLDER, Study, rid_of_placed, write_inputs, write_manifest

_WORDS = ("name", "about", "chunk")  # for people, and how it is cut: no part of what is played
_NAMED = 3  # of what is missing


@dataclass(frozen=True)
class Growth:
    """A larger specification for a study that is there, checked and built."""

    specification: Specification
    source: Path  # the folder of its files
    kept: Specification  # with files called by their content
    contents: dict[str, bytes]
    built: Plan


def growth_of(study: Study, specification: Specification, source: Path) -> Growth | None:
    """What a specification adds to a study, or None where they are the same.

    Raises
    ------
    StudyError
        It is another study's: what may not change has changed, or something that is there is not asked for.
    """
    kept, contents = gather(specification, source)
    if _told(study.specification) == _told(kept):
        return None
    _check_fixed(study, kept)
    study.plan  # noqa: B018 - with the version and the code that it was begun with, or refused
    built = _from_copies(plan(specification, source), kept, contents)
    built.code  # noqa: B018 - or refused
    if built.record != study.record:
        raise _other(study, _there_and_here("record", list(study.record), list(built.record)))
    _check_larger(study, kept, built)
    parts = _parts(study, kept)
    check_size(len(built.points), [len(part) for part in parts], study.size)
    runs = min(study.size, max(len(part) for part in parts))
    memory.require(runs * bytes_of_run(built), f"a chunk of {runs:,} runs", "begin again with a smaller chunk")
    return Growth(specification, source, kept, contents, built)


def _from_copies(built: Plan, kept: Specification, contents: dict[str, bytes]) -> Plan:
    """The same with files called as a study calls its own copies, which is what its games are known by."""
    if not contents:
        return built
    with tempfile.TemporaryDirectory(prefix="potentia-") as place:
        write_inputs(Path(place), contents)
        return plan(kept, Path(place))


def grow(study: Study) -> None:
    """Let a study become what is asked for, if anything is; the lock is held, and its chunks are whole.

    A study of an earlier format that is added to becomes one of today's: its chunks are written under their new names
    first, and the old ones go last.
    """
    growth: Growth | None = study.growth
    placed = study.manifest["format"] <= PLACED and (growth is not None or bool(study.missing()))
    if growth is None and not placed:
        return
    manifest, kept, built = _today(study), study.specification, study.plan
    if placed:
        new = Cut(manifest, kept)
        for chunk, paths in study.files().items():
            study.keep(new.address(chunk), study.seeds_of(chunk), study.read_from(chunk, paths))
    with refused(StudyError, f"write to {study.folder}"):
        if growth is not None:
            kept, built = growth.kept, growth.built
            write_inputs(study.folder / "inputs", growth.contents)
            manifest = make_manifest(built, study.size, built.code, _parts(study, kept))
        write_manifest(study.folder, manifest)
        study.become(manifest, kept, built)
        study.growth = None
        if placed:
            rid_of_placed(study.folder)


def _today(study: Study) -> dict[str, Any]:
    """The manifest of a study as it is written today; a study that was begun when nobody looked at code has none."""
    return make_manifest(study.plan, study.size, study.manifest.get("code", {}), study.parts)


def _told(specification: Specification) -> dict[str, Any]:
    """What must agree for two specifications to be one study."""
    return {name: part for name, part in specification.spec().items() if name not in _WORDS}


def _parts(study: Study, wanted: Specification) -> list[Sequence[int]]:
    return [*study.parts, *new_parts(wanted.seed_numbers, study.parts)]


# What is refused ----------------------------------------------------------------------------------------


def _other(study: Study, said: str) -> StudyError:
    return StudyError(f"{study.folder} holds another study: {said}").advising(OTHER_FOLDER)


def _there_and_here(name: str, there: Any, here: Any) -> str:
    return f"{name} is {shortened(there)} there and {shortened(here)} here"


def _check_fixed(study: Study, wanted: Specification) -> None:
    for name, field in (("steps", "steps"), ("every", "spacing"), ("start", "start"), ("events", "events")):
        there, here = getattr(study.specification, field), getattr(wanted, field)
        if there != here:
            raise _other(study, _there_and_here(name, there, here))


def _check_larger(study: Study, wanted: Specification, built: Plan) -> None:
    """Refuse what is smaller than the study, with what is missing from it."""
    there = run_keys(_today(study))
    asked = set(run_keys(make_manifest(built, study.size, built.code)))
    same = not asked.isdisjoint(there)
    left = without(intervals(study.parts), intervals([wanted.seed_numbers]))
    if left:
        texts = [str(part[0]) if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in left]
        raise _smaller(study, wanted, same, f"seeds {_some(texts, ', ')}", "seeds")
    gone = [study.plan.points[number].describe() for number, key in enumerate(there) if key not in asked]
    if gone:
        raise _smaller(study, wanted, same, f"runs of {_some(gone, '; ')}", *SECTIONS, "zip")


def _smaller(study: Study, wanted: Specification, same: bool, what: str, *keys: str) -> StudyError:
    """It lacks what is there; of the ``same`` study, which has grown, there is more to advise than another folder."""
    there, here = study.specification.spec(), wanted.spec()
    apart = first_difference({key: there.get(key) for key in keys}, {key: here.get(key) for key in keys})
    said = f"it has {what}, which this specification does not ask for ({apart})"
    if not same:
        return _other(study, said)
    larger = Remedy("larger", "to let it grow, ask for what it has too")
    return StudyError(f"{study.folder} holds more: {said}").advising(*study.remedies("go on"), larger, OTHER_FOLDER)


def _some(texts: list[str], between: str) -> str:
    more = f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return f"{between.join(texts[:_NAMED])}{more}"
