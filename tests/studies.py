"""A small study to do harm to, and an executor that notes what it played."""

from __future__ import annotations

import hashlib
import io
import json
from concurrent.futures import Executor, Future

import numpy as np

from potentia.kernel import files
from potentia.studies.manifest import digest
from potentia.studies.store import open_study

STUDY = {
    "steps": 60,
    "every": 10,
    "seeds": 5,
    "chunk": 2,
    "record": ["potential", "welfare", "profile"],
    "game": [{"name": "stag-hunt"}, {"name": "ring", "players": 4}],
    "rule": {"name": "lll", "tau": [0.2, 0.6]},
}


def as_before(study):
    """The same study as it was written up to format 2: a chunk goes by its place in the grid of one study."""
    files = study.files()
    body = {name: entry for name, entry in study.manifest.items() if name not in ("parts", "identity", "manifest")}
    body["points"] = [
        {k: v for k, v in point.items() if k not in ("code", "length", "totals")} for point in body["points"]
    ]
    body["format"] = 2 if "code" in body else 1
    body["identity"] = digest({name: entry for name, entry in body.items() if name != "chunk"})
    for chunk, (path,) in files.items():
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files if name not in ("driven", "since", "until")}
        about = {"first": chunk.first, "point": chunk.point, "stop": chunk.stop, "study": body["identity"]}
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        path.unlink()
        own = hashlib.sha256(buffer.getvalue()).hexdigest()[:32]
        (path.parent / f"{chunk.point:06d}-{chunk.first:09d}-{own}.npz").write_bytes(buffer.getvalue())
    (study.folder / "manifest.json").write_text(json.dumps(body | {"manifest": digest(body)}, indent=1) + "\n")
    return open_study(study.folder)


def chunk_files(study):
    """In the order of the chunks."""
    return [path for paths in study.files().values() for path in paths]


class Counting(Executor):
    """Plays at once, and notes what."""

    def __init__(self, before=lambda number: None):
        self.played, self.before = [], before

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.before(len(self.played))
        self.played.append(args[0].chunk)
        future.set_result(fn(*args, **kwargs))
        return future


def all_names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def half_written(path):
    """What a killed process leaves of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    left = path.parent / files._temporary_name(path.name)
    left.write_bytes(b"half")
    return left
