"""Specifications, and what is in the folder of a study."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.fuzz.places import clear
from tests.fuzz.reader import Reader, Seeds, each

# Specifications ---------------------------------------------------------------------------------------


def _planned(specification: Any, folder: Path) -> None:
    from potentia.studies.planning import plan
    from potentia.studies.sweeping import check_number

    check_number(specification, many=True)
    plan(specification, folder)


class Specifications(Reader):
    form = "toml"

    @cached_property
    def seeds(self) -> Seeds:
        from potentia.studies.templates import TEMPLATES, template
        from tests.fuzz.specifications import VALID
        from tests.fuzz.trees import as_toml, tree_from

        for name, content in (
            ("payoffs.json", b'{"payoffs": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]}'),
            ("map.csv", b"1,2\n3,x\n"),
        ):
            (self.folder / name).write_bytes(content)
        files = [
            {"steps": 9, "game": {"file": "payoffs.json"}, "rule": {"name": "lll", "tau": 0.1}},
            {"steps": 9, "game": {"map": "map.csv", "robots": 1, "delta": 1.0}, "rule": {"name": "blll", "tau": 0.1}},
        ]
        plain = [as_toml(tree_from(one)) for one in [*VALID, *files]]
        return [(".toml", text.encode()) for text in [*plain, *map(template, TEMPLATES)]]

    def read(self, path: Path) -> None:
        from potentia.studies.specification import read_specification

        _planned(*read_specification(path))


class Changes(Reader):
    """Each line is a change as given to ``--set``."""

    form, special = "lines", False

    @cached_property
    def seeds(self) -> Seeds:
        lines = [
            "steps=100",
            "seeds.count=3",
            "rule.tau=[0.1, 0.2, 0.3]",
            "rule.P.tau=0.1",
            "rule.0.tau=1e-3",
            'game.name="ring"',
        ]
        lines += ["game.players={from=3, to=5, step=1}", "record=['welfare']", "belief.name=none", "zip=[]", "every=5"]
        return [(".txt", line.encode()) for line in lines] + [(".txt", "\n".join(lines[:3]).encode())]

    def read(self, path: Path) -> None:
        from potentia.studies.specification import read_specification
        from tests.fuzz.specifications import VALID
        from tests.fuzz.trees import as_toml, tree_from

        known = self.folder / "study.toml"
        if not known.exists():
            known.write_text(as_toml(tree_from(VALID[0])), encoding="utf-8")
        # as a shell passes them on: no zero bytes, others as they are
        lines = path.read_bytes()[:200_000].replace(b"\0", b"").decode("utf-8", "surrogateescape").split("\n")
        _planned(*read_specification(known, lines[:20]))


class NamedFiles(Reader):
    """The payoff file that a specification names, which a study keeps a copy of."""

    form = "json"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".json", b'{"payoffs": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]], "potential": [[1, 0], [0, 1]]}')]

    def read(self, path: Path) -> None:
        from potentia.studies.planning import gather, plan
        from potentia.studies.specification import specification_from

        rule = {"name": "lll", "tau": 0.1}
        wanted = specification_from({"steps": 9, "seeds": 2, "game": {"file": path.name}, "rule": rule})
        each(iter((lambda: plan(wanted, path.parent), lambda: gather(wanted, path.parent))))


# Studies ----------------------------------------------------------------------------------------------


class _Studies(Reader):
    """A whole study, and one of its files."""

    def made(self) -> Path:
        from potentia.studies.sweeping import sweep
        from tests.studies import STUDY

        folder = self.folder / "study"
        if not folder.exists():
            payoffs = self.folder / "payoffs.json"
            payoffs.write_text('{"payoffs": [[[1, 0], [0, 2]], [[1, 0], [0, 2]]]}')
            games = [{"name": "ring", "players": 3}, {"file": str(payoffs), "label": "table"}]
            wanted = STUDY | {"seeds": 3, "game": games, "record": ["welfare", "profile", "visits"]}
            sweep(wanted, folder, workers=1)
            shutil.copytree(folder, self.folder / "whole")
        return folder

    def used(self, building: bool) -> Iterator[Callable[[], Any]]:
        """What the commands do with a study; each on its own, whatever comes of the others."""
        from potentia.cli import showing, studies
        from potentia.studies.store import open_study

        folder = self.folder / "study"
        yield lambda: showing.show(folder, partial=True)
        yield lambda: showing.show(folder, partial=True, json=True)
        yield lambda: showing.show(folder, verify=True)
        yield lambda: studies.sweep(folder, dry=True)
        yield lambda: studies.export(folder, self.folder / "out.csv", partial=True)
        yield lambda: studies.export(folder, self.folder / "out.nc", partial=True)
        yield lambda: studies.export(folder, self.folder / "runs.parquet", table="runs", partial=True)
        if building:
            yield lambda: open_study(folder).plan

    def read(self, path: Path) -> None:
        each(self.used(building=False))


class Manifests(_Studies):
    form = "json"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".json", (self.made() / "manifest.json").read_bytes())]

    def place(self, suffix: str, content: bytes | None) -> Path:
        return self.made() / "manifest.json"

    def sealed(self, tree: Any, again: bool) -> Any:
        from potentia.studies.manifest import digest
        from tests.fuzz.trees import Table, as_json

        try:
            plain = json.loads(as_json(tree))
            body = {name: entry for name, entry in plain.items() if name != "manifest"}
            if again and "identity" in body:
                del body["identity"]
                body["identity"] = digest(
                    {name: entry for name, entry in body.items() if name not in ("chunk", "parts")}
                )
            digests = {"identity": body.get("identity"), "manifest": digest(body)}
        except (ValueError, AttributeError, RecursionError):
            return tree
        return Table([name, digests.get(name, entry) if name == "manifest" or again else entry] for name, entry in tree)

    def read(self, path: Path) -> None:
        each(self.used(building=True))


def _hashed(content: bytes | None) -> str:
    """As names of chunks carry it."""
    return hashlib.sha256(content or b"").hexdigest()[:32]


class Chunks(_Studies):
    """A chunk under a name that carries the hash of what it holds."""

    form = "npz"

    @cached_property
    def seeds(self) -> Seeds:
        self.made()
        return [(".npz", path.read_bytes()) for path in sorted((self.folder / "whole/chunks").glob("*.npz"))]

    def place(self, suffix: str, content: bytes | None) -> Path:
        known = self.known(content).name.rpartition("-")[0]
        return self.alone() / f"{known}-{_hashed(content)}.npz"

    def alone(self) -> Path:
        """The folder of chunks without any: so not all is read for every damaged one."""
        folder = self.made() / "chunks"
        for path in folder.iterdir():
            clear(path)
        return folder

    def known(self, content: bytes | None) -> Path:
        """The chunk that it was."""
        found = re.search(rb'"runs": "([0-9a-f]{32})"', content or b"")
        names = [f"*-{_hashed(content)}.npz", f"{found[1].decode()}-*.npz" if found else "*", "*"]
        whole = self.folder / "whole/chunks"
        return next(path for name in names for path in sorted(whole.glob(name)))


class ChunksAsTheyWere(Chunks):
    """A chunk that was damaged under its own name."""

    def place(self, suffix: str, content: bytes | None) -> Path:
        return self.alone() / self.known(content).name


class Inputs(_Studies):
    """The copy of a payoff file that a study keeps."""

    form = "json"

    @cached_property
    def seeds(self) -> Seeds:
        return [(".json", self.place("", None).read_bytes())]

    def place(self, suffix: str, content: bytes | None) -> Path:
        self.made()
        (name,) = (path.name for path in (self.folder / "whole/inputs").iterdir())
        return self.folder / "study/inputs" / name

    def read(self, path: Path) -> None:
        from potentia.studies.store import open_study

        open_study(self.folder / "study").plan  # noqa: B018
