"""A study on disk: a folder that can be killed at any moment and gone on with.

::

    study/
      manifest.json      what is played: specification, version, seeds, points, how it is cut into chunks
      inputs/            copies of the files that it names
      chunks/            <what is played>-0000000000000000100-<sha256>.npz: seeds 100 and on
      checksums.txt      of all chunks once they are there; sha256sum reads it

A chunk is written to a temporary file, read back, and renamed into place under a name that carries its hash. Nothing in
the folder is ever executed: no pickles. A lock keeps a second process from writing; readers need none. Chunks are found
by what is played and its seeds, not by their place in the study, so a study can grow around them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from potentia.engine.code import changed_code, other_python
from potentia.errors import PotentiaError, Remedy, StudyError, SweepFailed
from potentia.kernel.files import is_temporary_name, leftovers, whole_file
from potentia.kernel.texts import counted
from potentia.statistics.curves import Curves
from potentia.studies import chunks
from potentia.studies.building import all_registered
from potentia.studies.chunks import Address, Arrays, Chunk
from potentia.studies.cutting import Cut
from potentia.studies.differences import changed_point
from potentia.studies.kept import is_kept_input
from potentia.studies.manifest import PLACED, make_manifest, read_manifest
from potentia.studies.planning import Plan, gather, plan
from potentia.studies.refusals import refused
from potentia.studies.specification import Specification
from potentia.version import __version__

_PATIENCE = 0.5  # seconds that one waits for a study that another sweeps
_BEGINNERS = 30.0  # seconds for whoever has just begun it: others only look whether it was begun, and let go at once
_MANIFEST, _LOCK, _SUMS = "manifest.json", ".lock", "checksums.txt"
_PARTS = ("inputs", "chunks")  # folders
_REMEDIES = {
    "go on": "go on with: sweep({!r})",
    "missing": "sweep({!r}) computes them",
    "own": "what is your own in it must be registered first, as when it was begun",
    "repair": "sweep({!r}, repair=True) computes damaged chunks again",
}
OTHER_FOLDER = Remedy("folder", "give another folder")
Files = dict[Chunk, list[Path]]
_NAME = re.compile(r"(\d{6}-\d{9}|[0-9a-f]{32}-\d{19})-[0-9a-f]{32}\.npz")
_PLACED = re.compile(r"\d{6}-\d{9}-[0-9a-f]{32}\.npz")


class Study(Cut):
    """A study's folder. :func:`sweep` makes one, :func:`open_study` reads one.

    Attributes
    ----------
    folder : Path
        Where it is kept.
    manifest : dict
        What was begun: points, seeds, recorders and what they are found by.
    specification : Specification
        What it was begun with, or has grown to.
    computed : int
        How many runs the last sweep played.

    Examples
    --------
    >>> plain = {"game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": [0.1, 0.3]}}
    >>> plain |= {"steps": 20, "seeds": 3, "record": ["potential"]}
    >>> study = pt.sweep(plain, "hunt.study")
    >>> study.num_runs, study.computed, study.missing()
    (6, 6, [])
    >>> dict(study.dataset().potential.sizes)
    {'tau': 2, 'seed': 3, 'time': 21}
    >>> [curve.name for curve in study.curves("potential")]
    ['tau=0.1', 'tau=0.3']
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], specification: Specification) -> None:
        self.folder = folder
        self.computed = 0  # runs, by the last sweep
        self.growth: Any = None  # what it becomes in the next one; see potentia.studies.growing
        self._patience = _PATIENCE
        super().__init__(manifest, specification)

    def refresh(self) -> bool:
        """Look whether another process has let it grow meanwhile; the lock is held."""
        manifest, specification = read_manifest(self.folder / _MANIFEST)
        if manifest["manifest"] == self.manifest["manifest"]:
            return False
        self.become(manifest, specification)
        return True

    def __repr__(self) -> str:
        points, seeds = counted(len(self.points), "point"), counted(self.specification.num_seeds, "seed")
        return f"<Study {self.folder}: {points} × {seeds}>"

    def _repr_html_(self) -> str:
        from potentia.studies.showing import study_card

        return study_card(self)

    def curves(self, measure: str | None = None, **options: Any) -> list[Curves]:
        """One recorder at every point.

        Parameters
        ----------
        measure : str, optional
            The recorder; left out, the first scalar.
        **options : Any
            ``partial``: take what is there of an incomplete study. ``where``: only these settings, as in ``{"tau":
            0.1}``. ``per``: what runs are followed along, "steps", "revisions" or "evaluations". ``evaluations``: ask
            how many there are in a revision.

        Returns
        -------
        list of Curves
            The seeds of each point over time.
        """
        from potentia.studies.lines import curves_of

        return curves_of(self, measure, **options)

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Path:
        """Write one page that says what was played and what came out of it.

        Parameters
        ----------
        path : str or path, optional
            The page, one file that opens offline; left out, ``my.html`` beside a study in ``my.study``.
        **options : Any
            ``measure``: the recorder that counts; left out, the covered worth where it was recorded, else the first
            one. ``lowest``: whether its lowest level is the best one, as of an error. ``partial``: take what is there
            of an incomplete study.

        Returns
        -------
        Path
            The page that was written.
        """
        pages = import_module("potentia.reports")  # by name, since studies know nothing of that room
        return Path(pages.write_report(self, path, **options)[0])

    @cached_property
    def plan(self) -> Plan:
        """The study, built, to go on with it: of this version and with the games that it was begun with."""
        return self._built(f"{self.folder} cannot be gone on with")

    def plan_for(self, what: str) -> Plan:
        """The same, for what its results do not tell, such as an optimum; an error says that it needs the games.

        Parameters
        ----------
        what : str
            What needs the games, for the error.

        Returns
        -------
        Plan
            The games, rules and beliefs of each point.
        """
        if "plan" not in self.__dict__:
            self.plan = self._built(f"{what} needs the games of {self.folder} as they were", begin_again=False)
        return self.plan

    def _built(self, refusal: str, begin_again: bool = True) -> Plan:
        code, begun = self.manifest.get("code", {}), self.manifest["potentia"]
        why, hint = other_python(code), "go on with that Python"
        if begun != __version__:
            why, hint = f"it was begun with potentia {begun}, this is {__version__}", "go on with that version"
        which = None
        try:
            if why is None:
                built = plan(self.specification, self.folder / "inputs")
                which = changed_code(code, built.code) if code else None
        except PotentiaError as error:
            raise StudyError(f"{refusal}: {error.message}").advising(*error.remedies) from None
        if which is not None:
            why, hint = f"{which}: its code has changed since the study was begun", "go on with the old code"
        if why is not None:
            advice = f"; {hint}, or begin again in another folder, because bits may differ" if begin_again else ""
            raise StudyError(f"{refusal}: {why}{advice}")
        again = json.loads(json.dumps(make_manifest(built, self.size, code)))  # lists, where there were tuples
        what = changed_point(self.points, again["points"])
        if what is not None or again["record"] != self.manifest["record"]:
            raise StudyError(f"{refusal}: {what or 'record'} is not what it was begun with")
        return built

    @property
    def can_compare_code(self) -> bool:
        """Whether it plays code of somebody's own that this version, and this Python, can tell from other code."""
        code = self.manifest.get("code", {})
        return bool(code) and self.manifest["potentia"] == __version__ and other_python(code) is None

    def remedies(self, name: str) -> list[Remedy]:
        """What to do about a study that is not complete, or damaged.

        Parameters
        ----------
        name : str
            "go on", "missing" or "repair".

        Returns
        -------
        list of Remedy
            The calls that help, for an error.
        """
        wanted = self.specification
        names = [name] if all_registered(wanted.game, wanted.belief, wanted.rule) else [name, "own"]
        return [Remedy(each, _REMEDIES[each].format(str(self.folder)), str(self.folder)) for each in names]

    # What there is --------------------------------------------------------------------------------------

    def files(self) -> Files:
        """The files of the chunks that are there, in the order of the chunks."""
        found: dict[str, list[Path]] = {}
        place = self.folder / "chunks"
        with refused(StudyError, f"read {place}"):
            names = sorted(os.listdir(place)) if place.exists() else []
        for name in names:
            if match := _NAME.fullmatch(name):
                found.setdefault(match[1], []).append(place / name)
        return {chunk: found[name] for chunk in self.chunks() if (name := self.address(chunk).name) in found}

    def damaged(self) -> dict[Chunk, str]:
        """Chunks whose file is not what was saved, and why; reads every byte."""
        wrong = {}
        for chunk, paths in self.files().items():
            try:
                self._read(chunk, paths)
            except StudyError as error:
                wrong[chunk] = str(error)
        return wrong

    def missing(self) -> list[Chunk]:
        """Chunks without a file."""
        files = self.files()
        return [chunk for chunk in self.chunks() if chunk not in files]

    # Writing ------------------------------------------------------------------------------------------

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Hold the study: nobody else may write to it meanwhile. The lock goes with the process."""
        return _locked(self.folder, self._patience)

    def tidy(self) -> None:
        """Remove what a killed process left half written; the lock is held."""
        with _writing(self.folder):
            _tidied(self.folder)
            if self.manifest["format"] > PLACED:
                rid_of_placed(self.folder)

    def save(self, chunk: Chunk, arrays: Arrays) -> Path:
        """Keep a chunk that was played, where it has no NaN.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.
        arrays : dict of array
            What was recorded, by name.

        Returns
        -------
        Path
            Its file.
        """
        chunks.check_finite(self.plan, chunk, self.seeds_of(chunk), arrays)
        return self.keep(self.address(chunk), self.seeds_of(chunk), arrays)

    def keep(self, address: Address, seeds: Sequence[int], arrays: Arrays) -> Path:
        """Write a chunk beside its place, read it back, rename it.

        Parameters
        ----------
        address : Address
            How it is found.
        seeds : sequence of int
            The seeds that are in it.
        arrays : dict of array
            What was recorded, by name.

        Returns
        -------
        Path
            Its file.
        """
        content = chunks.to_bytes(address, seeds, arrays)
        path = self.folder / "chunks" / chunks.file_name(address, content)
        if path.is_file() and chunks.reads_back(path, content):
            return path
        with refused(SweepFailed, f"write to {path.parent}"), whole_file(path, tidy=False) as temporary:
            temporary.write_bytes(content)
            if not chunks.reads_back(temporary, content):
                raise OSError(0, "what was written does not read back the same")
        return path

    def drop(self, chunk: Chunk) -> None:
        """Remove the files of a damaged chunk, so that it is missing.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.
        """
        with _writing(self.folder):
            for path in self.files().get(chunk, []):
                if path.is_dir() and not path.is_symlink():
                    raise StudyError(f"{path} is a folder and nobody's chunk: move it away")
                path.unlink(missing_ok=True)

    def finish(self) -> None:
        """Write the checksums of all chunks, for those who copy the folder about."""
        lines = []
        for chunk, paths in self.files().items():
            for path in paths:
                content = chunks.verified(path, chunks.most_bytes(self.shapes_of(chunk)))
                lines.append(f"{hashlib.sha256(content).hexdigest()}  chunks/{path.name}\n")
        with _writing(self.folder), whole_file(self.folder / _SUMS, tidy=False) as temporary:
            temporary.write_text("".join(lines), encoding="utf-8")

    # Reading ------------------------------------------------------------------------------------------

    def read(self, chunk: Chunk) -> Arrays | None:
        """The results of a chunk, or None where it is missing; StudyError where it is damaged.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.

        Returns
        -------
        dict of array or None
            What was recorded, by name.
        """
        paths = self.files().get(chunk)
        return None if paths is None else self.read_from(chunk, paths)

    def read_from(self, chunk: Chunk, paths: list[Path]) -> Arrays:
        """The results of a chunk that is there, where the folder was listed already.

        Parameters
        ----------
        chunk : Chunk
            Some seeds of one point.
        paths : list of Path
            Its files, of which there should be one.

        Returns
        -------
        dict of array
            What was recorded, by name.
        """
        try:
            return self._read(chunk, paths)
        except StudyError as error:
            raise StudyError(f"{self.folder}: {error}").advising(*self.remedies("repair")) from None

    def _read(self, chunk: Chunk, paths: list[Path]) -> Arrays:
        path, *more = paths
        if more:
            raise StudyError(f"{path.name} and {more[0].name} are both chunk {chunk}")
        shapes, later = self.shapes_of(chunk), self.points[chunk.point].get("totals", ())
        return chunks.read_chunk(path, self.address(chunk), self.seeds_of(chunk), shapes, later)

    def dataset(self, partial: bool = False) -> Any:
        """Everything as one labelled dataset; see :mod:`potentia.studies.datasets`.

        Parameters
        ----------
        partial : bool
            Take what is there of an incomplete study.

        Returns
        -------
        xarray.Dataset
            Along the parameters that vary, ``seed``, ``time`` and ``player``. Runs that are missing hold NaN, or -1 for
            actions and counts.
        """
        from potentia.studies.datasets import dataset

        return dataset(self, partial)


# Making and opening -----------------------------------------------------------------------------------


def is_study(folder: Path) -> bool:
    """Whether there is a study in this folder."""
    return (folder / _MANIFEST).is_file()


def _writing(folder: Path) -> contextlib.AbstractContextManager[None]:
    return refused(StudyError, f"write to {folder}")


@contextlib.contextmanager
def _locked(folder: Path, patience: float = _PATIENCE) -> Iterator[None]:
    import filelock

    _check_own(folder)
    lock = filelock.FileLock(folder / _LOCK)
    with _writing(folder):
        try:
            lock.acquire(timeout=patience)
        except filelock.Timeout:
            raise StudyError(f"{folder} is in use: another process is sweeping it") from None
    try:
        yield
    finally:
        lock.release()


def _check_own(folder: Path) -> None:
    """Refuse to write where a name of ours leads elsewhere or is taken by something that is not ours."""
    for name in (_MANIFEST, _SUMS, _LOCK, *_PARTS):
        if (folder / name).is_symlink():
            raise StudyError(f"{folder / name} is a link: a study is written only where all its parts are its own")
    for name in _PARTS:
        if (folder / name).exists() and not (folder / name).is_dir():
            raise StudyError(f"{folder / name} is not a folder")
    with contextlib.suppress(FileNotFoundError):
        lock = (folder / _LOCK).lstat()
        if not (stat.S_ISREG(lock.st_mode) and lock.st_size == 0 and lock.st_nlink == 1):
            raise StudyError(f"{folder / _LOCK} is not a study's: a lock is an empty file")  # taking it would empty it


def _half_written(folder: Path) -> list[Path]:
    """Temporary files of a process that was killed; remove them only while the lock is held."""
    return [path for part in ("", *_PARTS) for path in leftovers(folder / part)]


def _tidied(folder: Path) -> None:
    for path in _half_written(folder):
        path.unlink(missing_ok=True)
    for part in _PARTS:
        (folder / part).mkdir(exist_ok=True)  # some ways to copy a folder leave out empty ones


def rid_of_placed(folder: Path) -> None:
    """Remove chunks that went by their place, once all are written anew; only those whose name is their content's."""
    place = folder / "chunks"
    for name in sorted(name for name in os.listdir(place) if _PLACED.fullmatch(name)):
        path = place / name
        if path.is_symlink() or not path.is_file() or not chunks.is_kept(path):
            continue
        (folder / _SUMS).unlink(missing_ok=True)  # it names them
        path.unlink()


def _check_free(folder: Path) -> None:
    """Refuse a folder in which no study may begin, whether another one began there or it holds something else.

    Another process may be beginning one at this moment. Its manifest comes last, so whether it is there is looked at
    last; whoever asks asks again while the lock is held.
    """
    free = not folder.exists() or (folder.is_dir() and _is_free(folder))
    _check_not_begun(folder)
    if not free:
        raise StudyError(f"{folder} holds something else").advising(OTHER_FOLDER)


def _is_free(folder: Path) -> bool:
    """Whether nothing is in the folder but what a study has before its manifest, half written files included."""
    _check_own(folder)
    return (
        {path.name for path in _listed(folder)} <= {*_PARTS, _LOCK}
        and not _listed(folder / "chunks")
        and all(is_kept_input(path) for path in _listed(folder / "inputs"))
    )


def _listed(folder: Path) -> list[Path]:
    """What is in a folder, if there is one, but for files of ours that are being written or were left so."""
    return [path for path in folder.iterdir() if not is_temporary_name(path.name)] if folder.is_dir() else []


def _check_not_begun(folder: Path) -> None:
    if is_study(folder):  # another process was faster; its study may be cut into other chunks
        raise StudyError(f"{folder} is in use: another process has just begun a study there")


def create(folder: Path, built: Plan, source: Path, size: int) -> Study:
    """A new study in an empty or new folder; the manifest comes last."""
    kept, contents = gather(built.specification, source)
    code = built.code
    with _writing(folder):
        _check_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder), _writing(folder):
        _check_not_begun(folder)
        _tidied(folder)
        write_inputs(folder / "inputs", contents)
        if contents:  # from its own copies
            built = plan(kept, folder / "inputs")
        manifest = make_manifest(built, size, code)
        write_manifest(folder, manifest)
    study = Study(folder, manifest, kept)
    study.plan = built
    study._patience = _BEGINNERS
    return study


def write_inputs(folder: Path, contents: dict[str, bytes]) -> None:
    """A study's own copies of its files."""
    for name, content in contents.items():
        with whole_file(folder / name, tidy=False) as temporary:
            temporary.write_bytes(content)


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """In place of the one that is there, or none: whole, or not at all."""
    with whole_file(folder / _MANIFEST, tidy=False) as temporary:
        temporary.write_text(json.dumps(manifest, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def open_study(folder: str | os.PathLike[str]) -> Study:
    """The study in a folder, if its manifest is whole and of a format that this version knows.

    Parameters
    ----------
    folder : str or path
        What :func:`sweep` was told.

    Returns
    -------
    Study
        It; nothing is played.

    Examples
    --------
    >>> plain = {"game": {"name": "stag-hunt"}, "rule": {"name": "lll", "tau": [0.1, 0.3]}}
    >>> plain |= {"steps": 20, "seeds": 3, "record": ["potential"]}
    >>> study = pt.sweep(plain, "hunt.study")
    >>> pt.open_study("hunt.study")
    <Study hunt.study: 2 points × 3 seeds>
    """
    place = Path(folder)
    return Study(place, *read_manifest(place / _MANIFEST))
