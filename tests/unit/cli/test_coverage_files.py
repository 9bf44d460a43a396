"""What potentia cover removes of its earlier runs in a folder: nothing that it did not write."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from potentia.cli.coverage_files import LIST, add, settle


@pytest.fixture
def folder(tmp_path):
    """A folder after a run that wrote four files, beside one of the user's."""
    out = tmp_path / "out"
    out.mkdir()
    for name in ("worth.png", "blll.gif", "records-blll-without-events.nc", "cells.csv", "mine.gif"):
        (out / name).write_text(f"first {name}")
    assert settle(out, [path for path in out.iterdir() if path.name != "mine.gif"]) == []
    return out


def names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != LIST)


def test_what_an_earlier_run_wrote_goes_and_nothing_else(folder):
    (folder / "worth.png").write_text("second")
    (folder / "cells.csv").write_text("the user has written this")
    removed = settle(folder, [folder / "worth.png"])
    assert sorted(removed) == ["blll.gif", "records-blll-without-events.nc"]
    assert names(folder) == ["cells.csv", "mine.gif", "worth.png"]
    assert settle(folder, []) == ["worth.png"]  # what is not listed any more stays
    assert names(folder) == ["cells.csv", "mine.gif"]


def test_a_comparison_removes_nothing_and_goes_with_the_next_run(folder):
    (folder / "compare.png").write_text("of a comparison")
    add(folder, [folder / "compare.png"])
    assert len(names(folder)) == 6
    assert "compare.png" in settle(folder, [folder / "worth.png"])
    assert names(folder) == ["mine.gif", "worth.png"]


def test_files_elsewhere_and_links_are_left_alone(folder, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("x")
    (folder / "blll.gif").unlink()
    (folder / "blll.gif").symlink_to(page)
    listed = json.loads((folder / LIST).read_text())
    content = hashlib.sha256(page.read_bytes()).hexdigest()
    forged = {"../page.html": content, str(page): content}
    (folder / LIST).write_text(json.dumps(listed | forged))
    settle(folder, [page])
    assert page.exists()
    assert names(folder) == ["blll.gif", "mine.gif"]


NONE = ("", "[]", "null", '{"mine.gif": null}', '{"mine.gif": "1"}', '{"\\u0000": [1, 2]}', "[" * 100_000)


@pytest.mark.parametrize("text", NONE, ids=range(len(NONE)))
def test_a_list_that_is_none(folder, text):
    (folder / LIST).write_text(text)
    assert settle(folder, []) == []
    assert len(names(folder)) == 5


def test_what_cannot_be_removed_stays(folder, monkeypatch):
    def refuses(*given, **more):
        raise PermissionError(13, "denied")

    monkeypatch.setattr("pathlib.Path.unlink", refuses)
    assert settle(folder, []) == []
    assert os.path.exists(folder / "blll.gif")
