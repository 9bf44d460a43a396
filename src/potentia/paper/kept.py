"""Where what is played for a page is kept, so that nothing is played twice, whatever ended the work before.

A folder with a study for each of the batches of :mod:`potentia.paper.played`, as ``potentia sweep`` writes them; and
beside them what else takes seconds: single runs that are shown, and claims that are checked exactly. Each is found by
all that fixes it, the sources of potentia included: an edit that may change a result makes it another one. The folder
may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from potentia.engine.labels import about_game
from potentia.engine.requests import believed
from potentia.kernel.cache_folder import source_hash
from potentia.kernel.files import whole_file
from potentia.paper.played import Batches, batches
from potentia.paper.scale import Scale
from potentia.studies import chunks
from potentia.studies.manifest import digest
from potentia.studies.specification import Specification
from potentia.studies.store import Study, is_study, open_study
from potentia.studies.sweeping import sweep
from potentia.version import __version__

if TYPE_CHECKING:
    import xarray

_ROOMS = ("games", "paper", "statistics", "studies", "web")  # what else a claim or a recording depends on
_KINDS = (".py", ".toml")
Tell = Callable[[str], None]


@cache
def code_hash() -> str:
    """Of the sources that a claim, or a run that is shown, comes from."""
    package, versions = Path(__file__).parents[1], f"{__version__} {source_hash()} {version('scipy')}"
    found = hashlib.sha256(versions.encode())
    for path in sorted(path for room in _ROOMS for path in (package / room).rglob("*") if path.suffix in _KINDS):
        found.update(str(path.relative_to(package)).encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:20]


class Kept:
    """A folder of results at one scale."""

    def __init__(self, folder: Path, scale: Scale, workers: int = 1, tell: Tell | None = None) -> None:
        self.folder, self.scale, self.workers = folder, scale, workers
        self.tell = tell or _silent

    # Batches ------------------------------------------------------------------------------------------

    def batches(self, wanted: str | Batches) -> dict[str, xarray.Dataset]:
        """What an entry of the list, or its name, comes to, by rule; what is missing of it is played.

        Ctrl-C raises :class:`~potentia.studies.sweeping.Stopped`; what was played is kept.
        """
        wanted, found = batches()[wanted] if isinstance(wanted, str) else wanted, dict[str, Any]()
        self.tell(f"{', '.join(wanted.rules)} ({wanted.name})")
        for specification in wanted.specifications(self.scale):
            place = self._place(specification)
            found |= by_rule(sweep(specification, place, workers=self.workers, repair=True, many=True))
        return {rule: found[rule] for rule in wanted.rules}

    def missing(self, wanted: Batches) -> bool:
        """Whether something of this entry is still to be played."""
        places = map(self._place, wanted.specifications(self.scale))
        return any(not is_study(place) or open_study(place).missing() for place in places)

    def _place(self, specification: Specification) -> Path:
        mark = digest({"study": specification.spec(), "code": source_hash(), "potentia": __version__})
        return self.folder / f"{specification.name.replace(' ', '-')}-{mark[:12]}"

    # What else is kept --------------------------------------------------------------------------------

    def result(self, kind: str, name: str, of: Any, make: Callable[[], bytes]) -> Path:
        """The file of something else, made if it is not there; ``of`` is all that fixes it, as plain data.

        While it is being made nobody else makes one of its kind: a process that goes on after the one that began it was
        killed is waited for.
        """
        folder, known = self.folder / kind, f"{name}-{digest({'of': of, 'code': code_hash()})[:12]}"
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            for path in folder.glob(f"{known}-*"):
                if chunks.is_kept(path):  # else it is damaged
                    return path
            content = make()
            path = folder / f"{known}-{hashlib.sha256(content).hexdigest()[:32]}.kept"
            with whole_file(path) as temporary:
                temporary.write_bytes(content)
        return path


def _silent(_: str) -> None:
    """Nobody listens."""


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    import filelock

    with filelock.FileLock(folder / ".lock"):
        yield


def by_rule(study: Study) -> dict[str, xarray.Dataset]:
    """A study's runs, as :func:`~potentia.run_batch` returns those of each rule."""
    data, labels = study.dataset(), [table["label"] for table in study.specification.rule]
    out = {}
    for label, point in zip(labels, study.plan.points, strict=True):
        one = data.sel(rule=label, drop=True) if "rule" in data.dims else data
        game = believed(point.game, point.belief)
        told = {
            "rule": json.dumps(point.rule.spec()),
            "potentia": __version__,
            "interrupted": 0,
            "evaluations_per_revision": point.rule.evaluations(game),
        }
        out[label] = one.assign_attrs({}).drop_attrs(deep=False).assign_attrs(about_game(game) | told)
    return out
