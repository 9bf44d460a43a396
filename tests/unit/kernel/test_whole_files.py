"""Files written whole: modes, links, what a killed process leaves, and what is somebody else's."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from potentia.kernel.files import is_temporary_name, leftovers, whole_file


def write(path: Path, text: str = "new", **options: bool) -> None:
    with whole_file(path, **options) as temporary:
        temporary.write_text(text)


@pytest.fixture(params=[0o022, 0o077])
def umask(request: pytest.FixtureRequest):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_the_umask_gives(tmp_path: Path, umask: int) -> None:
    write(tmp_path / "a")
    assert mode(tmp_path / "a") == 0o666 & ~umask


@pytest.mark.parametrize("before", [0o600, 0o640, 0o755])
def test_a_replaced_file_keeps_its_mode_and_is_never_wider(tmp_path: Path, before: int) -> None:
    path = tmp_path / "private"
    path.touch(0o600)
    path.chmod(before)
    with whole_file(path) as temporary:
        assert mode(temporary) == 0o600
        temporary.write_text("new")
    assert (mode(path), path.read_text()) == (before, "new")


def test_behind_a_link_the_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "data", tmp_path / "link"
    target.write_text("old")
    link.symlink_to("there/data")
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["link", "there"]


def test_what_is_no_plain_file_is_refused_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        write(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    with pytest.raises(IsADirectoryError):
        write(tmp_path)


def test_a_name_that_fills_its_folder_entry(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 127)
    write(path)
    assert path.read_text() == "new"


def test_a_failing_block_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def stopped() -> None:
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_missing_folder_is_told_by_the_users_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "no" / "a.png")
    assert caught.value.filename == str(tmp_path / "no" / "a.png")


def test_what_the_system_refuses_is_told_by_the_users_name(tmp_path: Path) -> None:
    """Calls on an open file know no name, others that of the temporary file."""
    path = tmp_path / "a.png"

    def failed(*names: object) -> OSError:
        with pytest.raises(OSError, match="No space") as caught, whole_file(path) as temporary:
            raise OSError(28, "No space left on device", *(temporary if name is None else name for name in names))
        return caught.value

    for error in (failed(), failed(None), failed(None, None, path)):
        assert (error.filename, error.filename2) == (str(path), None)
    assert failed("other").filename == "other"
    assert os.listdir(tmp_path) == []


def test_a_leftover_that_cannot_be_removed_keeps_nobody_from_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = killed_in(tmp_path / "a")
    os.utime(left, (0, 0))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "unlink", refuse)
    write(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "new"


KILLED = """
import os, signal, sys
from pathlib import Path
from potentia.kernel.files import whole_file
with whole_file(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    sys.stdin.read()
"""


def killed_in(path: Path) -> Path:
    """The temporary file of a process that was killed while it wrote ``path``."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        left = path.parent / writer.stdout.readline().strip()
        assert is_temporary_name(left.name)
        assert leftovers(path.parent) == []  # it lives
        writer.send_signal(signal.SIGKILL)
    return left


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "worth.png"
    left = killed_in(path)
    assert leftovers(tmp_path) == [left]
    write(path)
    assert left.exists()  # it could be a writer's that has not yet taken its lock
    os.utime(left, (0, 0))
    write(tmp_path / "other.png")
    assert left.exists()
    write(path)
    assert sorted(os.listdir(tmp_path)) == ["other.png", "worth.png"]


def test_nothing_of_somebody_else_is_taken_for_a_leftover(tmp_path: Path) -> None:
    path = tmp_path / "a"
    left = killed_in(path)
    foreign = [".a-0123456789abcdef.part", ".bashrc", ".env", ".a-abcd1234", left.name[1:], left.name + "x"]
    for name in foreign:
        (tmp_path / name).write_text("mine")
    (tmp_path / "kept").write_text("mine")
    linked = tmp_path / left.name.replace("a", "b")
    linked.symlink_to("kept")
    left.unlink()
    left.symlink_to("kept")  # our name, but a link
    assert leftovers(tmp_path) == []
    left.unlink()
    os.link(tmp_path / "kept", left)  # our name, but somebody's file has it too
    assert leftovers(tmp_path) == []
