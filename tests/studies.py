"""A small study to do harm to, and an executor that notes what it played."""

from __future__ import annotations

from concurrent.futures import Executor, Future

from potentia.kernel import files

STUDY = {
    "steps": 60,
    "every": 10,
    "seeds": 5,
    "chunk": 2,
    "record": ["potential", "welfare", "profile"],
    "game": [{"name": "stag-hunt"}, {"name": "ring", "players": 4}],
    "rule": {"name": "lll", "tau": [0.2, 0.6]},
}


def chunk_files(study):
    return sorted(study.folder.glob("chunks/*.npz"))


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
