"""What is done while something fails: a folder with files of the user's in it, and a command."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from tests.faults.judging import MINE

STUDY = """
steps = 6
every = 3
seeds = 3
chunk = 2
record = ["welfare", "profile"]

[[game]]
file = "payoffs.json"

[[rule]]
name = "lll"
tau = 0.3
"""
PAYOFFS = '{"payoffs": [[[3, 0], [2, 1]], [[3, 2], [0, 1]]]}'
MAP = "1,2,3,2\n1,3,x,2\n0,2,4,2\n"
FOREIGN = (".bashrc", ".env", ".gitignore", ".lock.bak", ".lock-", "notes.txt")


@dataclass(frozen=True)
class Scenario:
    """``prepare`` fills an empty folder; ``play`` is called with it as working directory."""

    name: str
    prepare: Callable[[Path], None]
    play: Callable[[], None]
    may_go: tuple[str, ...] = ()  # what a command may remove for a moment, or for good
    study: str | None = None  # the folder in which nothing of ours may stay
    again: Callable[[Path], None] = lambda root: None  # before the command is given once more
    may_refuse: bool = False  # whether it may be turned down at once, with everything left as it is
    parquet: bool = False
    unsafe: bool = False  # a negative control


def potentia(*args: str) -> Callable[[], None]:
    """The command line, in this process."""

    def play() -> None:
        from potentia.cli import main

        sys.argv = ["potentia", *args]
        main()

    return play


def mine(root: Path, *names: str) -> None:
    """Files that are the user's: each by itself, with a mode of its own, and old."""
    for number, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MINE + name.encode())
        path.chmod((0o600, 0o644, 0o640)[number % 3])
        os.utime(path, ns=(10**18, 10**18 + number))


def old(root: Path, *names: str, mode: int = 0o600) -> None:
    """Files that are there already and are written over."""
    for name in names:
        (root / name).write_text(f"old {name}")
        (root / name).chmod(mode)


def linked(root: Path, name: str, to: str) -> None:
    (root / name).symlink_to(to)


def abandoned(root: Path, name: str) -> None:
    """What a process that was killed left of a file, an hour ago."""
    from potentia.kernel.files import _temporary_name

    path = (root / name).with_name(_temporary_name(Path(name).name))
    path.write_text("half of it")
    os.utime(path, ns=(10**18, 10**18))


# Studies ------------------------------------------------------------------------------------------------


def _specification(root: Path) -> None:
    (root / "s.toml").write_text(STUDY)
    (root / "payoffs.json").write_text(PAYOFFS)
    mine(root, *FOREIGN)


def _swept(root: Path) -> Path:
    from potentia.studies.sweeping import sweep

    _specification(root)
    sweep(root / "s.toml")
    return root / "s.study"


def _half_swept(root: Path) -> Path:
    folder = _swept(root)
    sorted(folder.glob("chunks/*.npz"))[0].unlink()
    return folder


def _prepare_on(root: Path) -> None:
    folder = _half_swept(root)
    (folder / "checksums.txt").chmod(0o600)
    mine(folder, *FOREIGN, ".manifest.json-notes", ".checksums.txt-0123456789abcdef.part")
    mine(folder / "chunks", *FOREIGN, ".DS_Store", ".000000-000000000.npz-abcd", "000000.npz")
    mine(folder / "inputs", *FOREIGN, ".payoffs.json-abcd1234")
    mine(root / "elsewhere", *FOREIGN)
    linked(folder, "inputs/.linked", "../../elsewhere")
    linked(folder, "chunks/.linked", "../../elsewhere/.env")
    for name in ("manifest.json", "checksums.txt", "chunks/000000-000000000-0.npz", "inputs/payoffs.json"):
        abandoned(folder, name)


def _prepare_linked(root: Path) -> None:
    """The folder of chunks is somewhere else, where the user keeps other things too."""
    folder = _half_swept(root)
    (folder / "chunks").rename(root / "large")
    linked(folder, "chunks", "../large")
    mine(root / "large", *FOREIGN, ".DS_Store")
    mine(folder, *FOREIGN)


def _prepare_larger(root: Path) -> Path:
    """A study that is complete, and a specification that asks for more: seeds, a temperature and another game."""
    folder = _swept(root)
    games = '[[game]]\nfile = "payoffs.json"\n\n[[game]]\nfile = "more.json"\n'
    text = STUDY.replace("seeds = 3", "seeds = 4").replace("tau = 0.3", "tau = [0.2, 0.3]")
    (root / "s.toml").write_text(text.replace('[[game]]\nfile = "payoffs.json"\n', games))
    (root / "more.json").write_text(PAYOFFS.replace("3", "5"))
    mine(folder, *FOREIGN)
    mine(folder / "chunks", *FOREIGN, "000000.npz")
    mine(folder / "inputs", *FOREIGN)
    return folder


def _prepare_larger_before(root: Path) -> None:
    from potentia.studies.store import open_study
    from tests.studies import as_before

    as_before(open_study(_prepare_larger(root)))


def _prepare_damaged(root: Path) -> None:
    folder = _swept(root)
    first, *_, last = sorted(folder.glob("chunks/*.npz"))
    first.write_bytes(first.read_bytes()[:100])
    last.write_bytes(b"")
    mine(folder, *FOREIGN)
    mine(folder / "chunks", "notes.txt")


def _prepare_begun(root: Path) -> None:
    """A folder that a killed process left at its beginning, into which the user has put something since."""
    _specification(root)
    for part in ("inputs", "chunks"):
        mine(root / "s.study" / part, ".gitkeep", ".env")
    abandoned(root, "s.study/manifest.json")
    abandoned(root, "s.study/inputs/payoffs.json")


def _prepare_export(root: Path) -> None:
    _swept(root)
    mine(root / "s.study", *FOREIGN)
    mine(root, ".d.csv", ".d.csv-0123456789abcdef.part")
    (root / "far").mkdir()
    old(root, "d.csv", "far/d.nc", "d.parquet")
    linked(root, "d.nc", "far/d.nc")


# Files --------------------------------------------------------------------------------------------------


def _prepare_files(root: Path) -> None:
    mine(root, *FOREIGN, ".p.png", ".p.png-0123456789abcdef.part", ".d.nc-notes")
    mine(root / "far", *FOREIGN)
    old(root, "p.png", "far/d.nc")
    linked(root, "d.nc", "far/d.nc")
    abandoned(root, "p.png")


def _prepare_save(root: Path) -> None:
    mine(root, *FOREIGN, ".r.npz")
    mine(root / "far", *FOREIGN, ".r.npz-notes")
    old(root, "far/r.npz")
    linked(root, "r.npz", "far/r.npz")
    abandoned(root, "far/r.npz")


@contextlib.contextmanager
def _telling():
    """What is raised, as the command line tells it."""
    from potentia.errors import PotentiaError

    try:
        yield
    except PotentiaError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)


def _save() -> None:
    import potentia as pt

    run = pt.begin(pt.game("stag-hunt"), pt.rule("lll", tau=0.3), 0)
    run.advance(5)
    with _telling():
        run.save("r.npz")


def _prepare_new(root: Path) -> None:
    mine(root, *FOREIGN, ".study.toml", ".study.toml-0123456789abcdef.part")
    mine(root / "study.study", *FOREIGN)


def _prepare_map(root: Path) -> None:
    (root / "m.csv").write_text(MAP)
    mine(root, *FOREIGN)
    mine(root / "out", *FOREIGN, ".field.png", ".worth.png-notes")
    mine(root / "far", *FOREIGN)
    old(root, "out/field.png", "far/cells.csv")
    old(root, "out/worth.png", mode=0o640)
    linked(root, "out/cells-blll.csv", "../far/cells.csv")
    abandoned(root, "out/worth.png")


def _blank(*args, **options):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    figure.add_subplot()
    return figure


def _undrawn() -> None:
    """Pictures are written as they are, and show nothing: drawing takes long."""
    from potentia import figures

    for name in ("field_figure", "worth_figure", "configuration_figure", "scalar_figure"):
        setattr(figures, name, _blank)


def _cover() -> None:
    _undrawn()
    options = ("--robots", "2", "--delta", "1", "--steps", "2", "--runs", "2", "--rule", "blll", "--no-optimum")
    potentia("cover", "m.csv", *options, "--out", "out", "--workers", "1")()


def _run() -> None:
    _undrawn()
    potentia("run", "stag-hunt", "--steps", "5", "--save", "d.nc", "--plot", "p.png")()


def _prepare_film(root: Path) -> None:
    mine(root, *FOREIGN, ".a.gif")
    old(root, "a.gif")
    abandoned(root, "a.gif")


def _film() -> None:
    import potentia as pt

    game = pt.games.Coverage(pt.games.World([[1.0, 2.0], [3.0, 4.0]]), 1, 1.0, flags=False)
    with _telling():
        pt.figures.animate(game, [[0], [1]], "a.gif", dpi=10)


def _prepare_report(root: Path) -> None:
    mine(root, *FOREIGN)
    mine(root / "out", *FOREIGN, ".report.html-notes", "other.html")
    mine(root / "out/data", *FOREIGN)
    mine(root / "far", *FOREIGN)
    mine(root / "out/replays", *FOREIGN)
    old(root, "out/report.html", "out/replays/field.html", "far/claims.json")
    linked(root, "out/claims.json", "../far/claims.json")
    linked(root, "out/figures", "../far")
    abandoned(root, "out/report.html")


@functools.cache
def _report():
    from attrs import evolve

    from potentia.paper.report import Replay, Report
    from potentia.paper.report.page import Section
    from tests import reproduction_fakes as fakes

    drawn = evolve(fakes.undrawn("field", _blank(), "caption", "alt"), replay=Replay("t", "<p>text</p>"))
    sections = [Section("Field", "field", ("text",), (drawn,))]
    return Report("t", ("text",), {}, fakes.claims(), sections), {"model": fakes.batch(0.14, 10, range(2), 1)}


def _reproduce() -> None:
    """The whole command but playing and drawing."""
    from potentia.paper import case_claims, case_study, theory
    from potentia.paper.report import reproduction
    from tests import reproduction_fakes as fakes

    report, records = _report()
    case_study.play = lambda kept, parts: SimpleNamespace()
    case_claims.claims = lambda study, names: fakes.claims()
    case_claims.tables = lambda study: {"temperatures": fakes.tables()["temperatures"]}
    theory.check = lambda kept, names: []
    reproduction.facts = lambda study, claims, choice: {"claims": []}
    reproduction.build = lambda study, claims, tables, choice: report
    reproduction.records = lambda study: records
    potentia("reproduce", "--quick", "--workers", "1", "--out", "out")()


# Negative controls: each must be found out --------------------------------------------------------------


def _prepare_unsafe(root: Path) -> None:
    mine(root, *FOREIGN)
    old(root, "a.txt")


def _in_place() -> None:
    with open("a.txt", "w", encoding="utf-8", buffering=8192) as file:
        file.write("new " * 5000)


def _deletes_hidden() -> None:
    for path in Path().glob(".*"):
        path.unlink()
    Path("a.txt").write_text("new")


def _removes_first() -> None:
    Path("b.txt").write_text("new")
    Path("a.txt").unlink()
    Path("b.txt").rename("a.txt")


def _half_unsaid() -> None:
    """Takes no notice of how much was written, and forgets its temporary file's mode."""
    handle = os.open("b.part", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(handle, b"new " * 100)
    os.close(handle)
    os.replace("b.part", "a.txt")


def _wide() -> None:
    """A private file is for a moment everybody's."""
    from potentia.kernel.files import _temporary_name

    name = _temporary_name("a.txt")
    with open(name, "w", encoding="utf-8") as file:
        file.write("new")
        file.flush()
        os.fsync(file.fileno())
    os.chmod(name, 0o600)
    os.replace(name, "a.txt")


def _stays() -> None:
    from potentia.kernel.files import _temporary_name

    Path(_temporary_name("a.txt")).write_text("half")


def _past_the_hooks() -> None:
    import posix

    posix.mkdir("b")


def _in_c() -> None:
    import numpy as np

    from potentia.kernel.files import whole_file

    with whole_file(Path("a.txt")) as temporary:
        np.arange(100).tofile(temporary)


_STUDY = "s.study"
ALL = [
    Scenario("sweep new", _specification, potentia("sweep", "s.toml", "--workers", "1"), study=_STUDY),
    Scenario(
        "sweep begun", _prepare_begun, potentia("sweep", "s.toml", "--workers", "1"), study=_STUDY, may_refuse=True
    ),
    Scenario("sweep on", _prepare_on, potentia("sweep", "s.study", "--workers", "1"), study=_STUDY),
    Scenario(
        "sweep linked", _prepare_linked, potentia("sweep", "s.study", "--workers", "1"), study=_STUDY, may_refuse=True
    ),
    Scenario(
        "sweep repair",
        _prepare_damaged,
        potentia("sweep", "s.study", "--repair", "--workers", "1"),
        may_go=("s.study/chunks/*-*-*.npz",),  # what is damaged goes first
        study=_STUDY,
    ),
    Scenario("sweep grows", _prepare_larger, potentia("sweep", "s.toml", "--workers", "1"), study=_STUDY),
    Scenario(
        "sweep renews",
        _prepare_larger_before,
        potentia("sweep", "s.toml", "--workers", "1"),
        may_go=("s.study/chunks/00000?-*-*.npz", "s.study/checksums.txt"),  # written anew, and what names them
        study=_STUDY,
    ),
    Scenario("Run.save", _prepare_save, _save),
    Scenario("film", _prepare_film, _film),
    Scenario("run", _prepare_files, _run),
    Scenario("cover", _prepare_map, _cover),
    Scenario("reproduce", _prepare_report, _reproduce),
    Scenario("export csv", _prepare_export, potentia("export", "s.study", "d.csv")),
    Scenario("export nc", _prepare_export, potentia("export", "s.study", "d.nc")),
    Scenario("export parquet", _prepare_export, potentia("export", "s.study", "d.parquet"), parquet=True),
    Scenario("new", _prepare_new, potentia("new"), again=lambda root: (root / "study.toml").unlink(missing_ok=True)),
]
UNSAFE = [
    Scenario("in place", _prepare_unsafe, _in_place, unsafe=True),
    Scenario("deletes hidden", _prepare_unsafe, _deletes_hidden, unsafe=True),
    Scenario("removes first", _prepare_unsafe, _removes_first, unsafe=True),
    Scenario("half unsaid", _prepare_unsafe, _half_unsaid, unsafe=True),
    Scenario("wide", _prepare_unsafe, _wide, unsafe=True),
    Scenario("stays", _prepare_unsafe, _stays, unsafe=True),
    Scenario("past the hooks", _prepare_unsafe, _past_the_hooks, unsafe=True),
    Scenario("in C", _prepare_unsafe, _in_c, unsafe=True),
]
