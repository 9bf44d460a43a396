"""What to do about an error: said in Python by the library, and as an option by the command line."""

from __future__ import annotations

import ast
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest
import xarray

import potentia
from potentia.cli.options import common
from potentia.errors import InvalidInput, Remedy, StudyError
from potentia.games import library
from potentia.studies import executors
from potentia.studies.store import _REMEDIES
from potentia.studies.sweeping import sweep
from tests.commands import potentia as command
from tests.studies import STUDY, Counting, chunk_files

PACKAGE = Path(potentia.__file__).parent
OPTION = re.compile(r"(^|[\s(])--[a-z]")
# Texts about commands: a file that tells how to run it, pages that tell how they were made, pip's own options.
SPOKEN = {
    "studies/templates.py",
    "paper/report/sections.py",
    "paper/report/reproduction.py",
    "web/films/files.py",
    "web/studio/exports.py",
    "reports/looking.py",
    "reports/sections.py",
    "reports/writing.py",
}


def texts(source):
    """The texts of a program that are not docstrings."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    ]


def test_no_message_of_the_library_names_an_option():
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        options = [text for text in texts(path.read_text("utf-8")) if OPTION.search(text)]
        if options and not name.startswith("cli/"):
            found[name] = options
    assert set(found) <= SPOKEN
    assert [text for text in texts('"""--a"""\nx = f"say --yes, {x}"') if OPTION.search(text)] == ["say --yes, "]


def test_the_command_line_has_words_for_every_remedy():
    read = "".join(path.read_text("utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(r'^(?!.*>>>).*Remedy\(\s*"(\w+)"', read, re.MULTILINE))
    assert named | set(_REMEDIES) == set(common._REMEDIES)


def test_an_error_keeps_its_remedies():
    error = StudyError("it is damaged").advising(Remedy("repair", "mend it", "a b"), Remedy("else", "or {leave} it"))
    assert (str(error), error.message) == ("it is damaged; mend it; or {leave} it", "it is damaged")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    typed = "potentia sweep 'a b' --repair computes damaged chunks again"
    assert common.told(error) == f"it is damaged; {typed}; or {{leave}} it"
    assert StudyError("another").remedies == ()


def test_an_incomplete_study_of_ones_own_game_asks_for_the_file_that_has_it(tmp_path):
    with patch.dict(library._registry):
        library.register_game("not here")(lambda: library.game("stag-hunt"))
        study = sweep(STUDY | {"game": {"name": "not here"}}, tmp_path / "s")
        chunk_files(study)[0].unlink()
        with pytest.raises(StudyError) as known:
            study.dataset()
    with pytest.raises(StudyError) as unknown:
        study.dataset()
    assert str(known.value).endswith(f"sweep('{study.folder}') computes them")
    assert str(unknown.value) == f"{known.value}; what is your own in it must be registered first, as when it was begun"
    typed = f"potentia --import FILE.py sweep {study.folder} computes them; FILE.py is the one that it was begun with"
    assert common.told(unknown.value).endswith(typed)


def test_the_options_that_help_are_told(tmp_path, study):
    """As they are typed; the same errors in Python name arguments."""
    toml = tmp_path / "study.toml"
    toml.write_text('steps = 5\nseeds = 100\nchunk = 50\n[game]\nname = "stag-hunt"\n[rule]\nname = "lll"\ntau = 0.1\n')

    def said(*args):
        return command(*args, cwd=tmp_path).stderr

    assert "runs: 1 point × 10,000,000 seeds; say --yes if" in said("sweep", toml, "--set", "seeds=10_000_000")
    assert " here; give another folder with --out\n" in said("sweep", toml, "--out", study.folder)
    assert "holds something else; give another folder with --out\n" in said("sweep", toml, "--out", tmp_path)
    assert "error: --for must be one of ring, coverage, payoffs, got 'rings'; did" in said(
        "new", "a.toml", "--for", "rings"
    )
    assert ", before the command: potentia --import FILE.py ...\n" in said("sweep", toml, "--set", "game.name=xyz")
    first = chunk_files(study)[0]
    first.write_bytes(b"")
    assert f"; potentia sweep {study.folder} --repair computes" in said("show", study.folder)
    first.unlink()
    computed = f"potentia sweep {study.folder} computes them\n"
    assert f"are missing; --partial takes what is there; {computed}" in said("show", study.folder)
    assert "--dask-tls" in common.told(StudyError("x").advising(Remedy("dask_tls", "give their folder as dask_tls")))


@pytest.mark.parametrize(
    ("old", "now"),
    [
        ({"kind": "processes"}, "executor='processes'"),
        ({"dask": "tcp://127.0.0.1:1"}, "executor='tcp://127.0.0.1:1'"),
        ({"dask": "127.0.0.1:1"}, "executor='dask://127.0.0.1:1'"),
        ({"dask": "local"}, "executor='dask'"),
    ],
)
def test_words_of_before_name_their_successor(old, now):
    name, said = next(iter(old)), f"use {now}"
    with pytest.warns(DeprecationWarning, match=re.escape(f"sweep({name}=...) is deprecated: {said}")) as told:
        found = executors.renamed("threads", **{"kind": None, "dask": None, "apart": None} | old)
    assert now == f"executor={found!r}"
    assert told[0].filename == __file__


def test_words_of_before_still_work(tmp_path, finished):
    with pytest.warns(DeprecationWarning, match=r"use executor='threads'"):
        old = sweep(STUDY, tmp_path / "one", kind="threads", executor=None)
    counting = Counting()
    with pytest.warns(DeprecationWarning, match=r"use executor=ThreadPoolExecutor\(...\)"):
        own = sweep(STUDY, tmp_path / "two", executor=counting, apart=False)
    assert len(counting.played) == own.num_chunks
    for study in (old, own):
        xarray.testing.assert_identical(study.dataset(), finished.dataset())


def test_who_shares_the_memory_of_this_process():
    with ThreadPoolExecutor(1) as pool, executors.chosen(pool)(1) as (same, apart):
        assert (same, apart) == (pool, False)
    with executors.chosen(Counting())(1) as (_, apart):
        assert apart
    with executors.chosen("threads")(1) as (_, apart):
        assert not apart
    with pytest.raises(InvalidInput, match="dask_tls is for sweeps on dask"):
        executors.chosen("threads", ".")
