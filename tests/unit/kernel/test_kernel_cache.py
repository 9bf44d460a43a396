"""The kernel cache: what it removes, whom it trusts, and what it refuses to unpickle."""

from __future__ import annotations

import grp
import importlib.metadata
import os
import pickle
import pwd
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from potentia import errors
from potentia.kernel import cache, cache_folder, files

HASH = "0123456789abcdef0123"
KERNEL = f"play-{'a' * 32}.nbc"
compiling = pytest.mark.skipif(cache.jit_disabled(), reason="nothing is compiled")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """A cache of this test's own, and a place for temporary folders."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("POTENTIA_CACHE_DIR", str(tmp_path / "root"))
    before = os.umask(0o022)
    monkeypatch.setattr(cache_folder, "_said", set())
    yield
    os.umask(before)


def directory() -> Path:
    return cache_folder.cache_directory.__wrapped__()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def untrusted(match: str) -> Path:
    """A directory that is given instead of one that cannot be trusted, with the reason."""
    with pytest.warns(errors.CacheNotTrusted, match=match) as said:
        path = directory()
    assert len(said) == 1
    assert path.parent == Path(tempfile.gettempdir())
    assert mode(path) == 0o700
    return path


# What is removed ---------------------------------------------------------------------------------------


def old_folder(base: Path, name: str, *contents: str, tag: bool = True) -> Path:
    folder = base / name
    folder.mkdir(parents=True)
    for content in contents:
        (folder / content).write_text("something")
    if tag:
        (folder / "CACHEDIR.TAG").write_bytes(cache_folder._TAG_TEXT)
    os.utime(folder, (1, 1))
    return folder


def test_only_folders_of_its_own_are_cleaned_away(tmp_path):
    base = tmp_path / "root" / "kernels"
    base.mkdir(parents=True, mode=0o700)
    ours = old_folder(base, HASH, KERNEL, files._temporary_name(KERNEL))
    aside = old_folder(base, f"{HASH}-0123abcd", KERNEL)
    foreign = [
        old_folder(base, "photos", "cat.png"),
        old_folder(base, "1" * 20, KERNEL, tag=False),
        old_folder(base, "2" * 20 + "x", KERNEL),
    ]
    other_tag = old_folder(base, "3" * 20, KERNEL, tag=False)
    (other_tag / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n# somebody else's\n")
    os.utime(other_tag, (1, 1))
    elsewhere = old_folder(tmp_path, "4" * 20, KERNEL)
    (base / elsewhere.name).symlink_to(elsewhere)
    young = old_folder(base, "5" * 20, KERNEL)
    os.utime(young)
    contents = {path: sorted(os.listdir(path)) for path in (*foreign, other_tag, elsewhere, young)}
    directory()
    assert not ours.exists()
    assert not aside.exists()
    assert {path: sorted(os.listdir(path)) for path in contents} == contents


def test_a_foreign_file_keeps_its_folder(tmp_path):
    base = tmp_path / "root" / "kernels"
    base.mkdir(parents=True, mode=0o700)
    folder = old_folder(base, HASH, KERNEL, "notes.txt", "notes.nbc", ".hidden.part")
    (folder / f"link-{'b' * 32}.nbc").symlink_to("notes.txt")
    os.utime(folder, (1, 1))
    directory()
    expected = [".hidden.part", "CACHEDIR.TAG", f"link-{'b' * 32}.nbc", "notes.nbc", "notes.txt"]
    assert sorted(os.listdir(folder)) == expected


def test_another_users_folder_is_not_cleaned_away(tmp_path, monkeypatch):
    folder = old_folder(tmp_path, HASH, KERNEL)
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        cache_folder._clean(tmp_path, tmp_path / "kept")
    assert sorted(os.listdir(folder)) == ["CACHEDIR.TAG", KERNEL]


# Where it is -------------------------------------------------------------------------------------------


def test_an_empty_variable_counts_as_unset(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "usual" / name))
    monkeypatch.setenv("POTENTIA_CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)
    assert directory().parent == tmp_path / "usual" / "potentia" / "kernels"


def test_the_home_folder_may_be_a_tilde(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("POTENTIA_CACHE_DIR", "~/mine")
    assert directory().parent == tmp_path / "mine" / "kernels"
    monkeypatch.setenv("POTENTIA_CACHE_DIR", "~nobody-of-this-name/mine")
    untrusted("no home folder for ~nobody-of-this-name/mine")
    assert sorted(os.listdir(tmp_path)) == ["mine", "temporary"]


def test_a_relative_path_stays_where_it_was_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POTENTIA_CACHE_DIR", "here")
    assert directory().parent == tmp_path / "here" / "kernels"


def test_a_file_in_the_way_only_means_no_cache(tmp_path):
    root = tmp_path / "root"
    root.write_text("no folder")
    with pytest.warns(errors.CacheNotKept, match=f"compiled kernels are not kept, .*: {root}.*: Not a directory; mend"):
        assert not directory().exists()
    assert not directory().exists()  # warnings are errors here: it is said once
    root.unlink()
    root.mkdir()
    (root / "kernels").write_text("no folder")
    cache_folder._said.clear()
    with pytest.warns(errors.CacheNotKept):
        assert not directory().exists()
    assert os.listdir(tempfile.gettempdir()) == []


# Whom it trusts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022])
def test_new_folders_are_for_their_user_alone(tmp_path, monkeypatch, umask):
    monkeypatch.setenv("POTENTIA_CACHE_DIR", str(tmp_path / "new" / "root"))
    os.umask(umask)
    path = directory()
    assert [mode(folder) for folder in (path, *path.parents[:3])] == [0o700] * 4
    assert path.parents[2] == tmp_path / "new"


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path):
    shared = tmp_path / "root"
    shared.mkdir()
    shared.chmod(0o777)
    untrusted(f"others can write to {shared} .*POTENTIA_CACHE_DIR")
    assert os.listdir(shared) == []
    shared.chmod(0o1777)  # like /tmp: others cannot replace what is not theirs
    assert directory().parent == shared / "kernels"


def test_a_link_is_not_used_but_the_way_there_may_have_one(tmp_path, monkeypatch):
    (tmp_path / "root").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "root" / "kernels").symlink_to(tmp_path / "other")
    untrusted("root/kernels is a link")
    (tmp_path / "way").symlink_to(tmp_path / "other")
    monkeypatch.setenv("POTENTIA_CACHE_DIR", str(tmp_path / "way"))
    assert directory().parent == tmp_path / "other" / "kernels"


def test_another_users_folder_is_not_used(tmp_path, monkeypatch):
    path = directory()
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 12345)
        untrusted("belongs to")
    assert directory() == path


@pytest.mark.parametrize("part", ["kernels", "hash"])
def test_what_others_can_read_is_closed_to_them_and_kept(part):
    path = directory()
    (path / KERNEL).write_text("ours")
    wide = path if part == "hash" else path.parent
    wide.chmod(0o755)
    assert directory() == path
    assert mode(wide) == 0o700
    assert (path / KERNEL).read_text() == "ours"


@pytest.mark.parametrize("part", ["kernels", "hash"])
def test_what_others_could_write_to_is_put_aside(part):
    path = directory()
    (path / KERNEL).write_text("whose?")
    wide = path if part == "hash" else path.parent
    wide.chmod(0o777)
    with pytest.warns(errors.CacheNotTrusted, match=f"others could write to the kernel cache {wide}"):
        assert directory() == path
    assert mode(wide) == 0o700
    assert os.listdir(path) == ["CACHEDIR.TAG"]
    assert len(list(wide.parent.glob(f"{wide.name}-????????"))) == 1
    assert directory() == path  # and is said once


def test_a_folder_with_other_things_in_it_is_left_as_it_is(tmp_path):
    """Somebody else's may be called kernels too."""
    base = tmp_path / "root" / "kernels"
    base.mkdir(parents=True)
    (base / "fast.cu").write_text("theirs")
    path = directory()
    assert (path.parent, mode(base), mode(path)) == (base, 0o755, 0o700)
    base.chmod(0o777)
    untrusted(f"others can write to {base} ")
    assert (mode(base), sorted(os.listdir(base))) == (0o777, sorted(["fast.cu", path.name]))
    assert os.listdir(base.parent) == ["kernels"]


@pytest.mark.parametrize(
    ("name", "members", "trusted"),
    [("me", [], True), ("me", ["me"], True), ("me", ["me", "you"], False), ("staff", [], False)],
)
def test_a_group_of_ones_own_is_nobody_else(tmp_path, monkeypatch, name, members, trusted):
    """Where every user has such a group, folders are often writable for it."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root").chmod(0o775)
    gid = (tmp_path / "root").stat().st_gid
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_name=name, gr_mem=members))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="me", pw_gid=gid))
    if trusted:
        assert directory().parent == tmp_path / "root" / "kernels"
    else:
        untrusted("others can write")


def test_the_temporary_folder_goes_at_exit(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root").chmod(0o777)
    code = """
import os, pathlib, sys
from potentia.kernel.cache_folder import cache_directory
path = cache_directory()
assert cache_directory() == path
(path / "play.nbc").write_text("something")
if os.fork() == 0:
    sys.exit()  # a fork leaves it
os.wait()
assert path.exists()
print(path)
"""
    environment = {**os.environ, "TMPDIR": tempfile.gettempdir()}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert Path(done.stdout.strip()).parent == tmp_path / "temporary"
    assert os.listdir(tmp_path / "temporary") == []
    assert done.stderr.count("CacheNotTrusted") == 1


# What it unpickles -------------------------------------------------------------------------------------


def twice(number):
    return 2 * number


@pytest.fixture
def kernel(monkeypatch):
    """A function as if it were the package's, its own cache, and what was unpickled."""
    path = directory()
    monkeypatch.setattr(cache_folder, "cache_directory", lambda: path)
    monkeypatch.setattr(cache, "entries", [])
    monkeypatch.setattr(twice, "__module__", "potentia.kernel.cache")
    loaded = []

    def loads(payload):
        loaded.append(payload)
        return pickle.loads(payload)

    monkeypatch.setattr(cache, "pickle", SimpleNamespace(loads=loads, dumps=pickle.dumps))

    def call(argument=21):
        """Whether the kernel was found, in a process that has not compiled it yet."""
        loaded.clear()
        entry = cache.Entry(twice)
        assert entry(argument) == 2 * argument
        assert entry.cache_hits + entry.cache_misses == 1
        assert len(loaded) == entry.cache_hits
        return entry.cache_hits == 1

    return call


def only_file() -> Path:
    (file,) = cache_folder.cache_directory().glob("*.nbc")
    return file


@compiling
def test_a_kernel_is_found_again(kernel):
    assert [kernel(), kernel()] == [False, True]
    assert sorted(os.listdir(cache_folder.cache_directory())) == ["CACHEDIR.TAG", "locks", only_file().name]


@compiling
def test_a_damaged_file_is_replaced_and_never_unpickled(kernel):
    kernel()
    good = only_file().read_bytes()
    damaged = [good[:-1], b"", pickle.dumps("a pickle"), good + b"x"]
    for place in (0, 20, len(good) // 2):
        flipped = bytearray(good)
        flipped[place] ^= 4
        damaged.append(bytes(flipped))
    for content in damaged:
        only_file().write_bytes(content)
        assert not kernel()
        assert only_file().read_bytes() not in damaged
    assert kernel()


@compiling
def test_no_flipped_bit_reaches_the_unpickler(kernel, monkeypatch):
    kernel()
    good = only_file().read_bytes()
    dispatcher = cache.Entry(twice).dispatcher
    signature, context = (dispatcher.typeof_pyval(21),), dispatcher.targetctx

    def found():
        try:
            return dispatcher._cache.load_overload(signature, context) is not None
        finally:
            cache._waits.end()  # as after compiling

    assert found()
    monkeypatch.setattr(cache.pickle, "loads", lambda payload: pytest.fail("a damaged file was unpickled"))
    for bit in (*range(0, 8 * 60, 5), *range(0, 8 * len(good), 997)):
        content = bytearray(good)
        content[bit // 8] ^= 1 << bit % 8
        only_file().write_bytes(content)
        assert not found()
    for length in range(0, len(good), 301):
        only_file().write_bytes(good[:length])
        assert not found()


@compiling
def test_a_file_under_another_name_is_not_unpickled(kernel):
    kernel()
    first = only_file()
    content = first.read_bytes()
    first.unlink()
    kernel(21.0)
    only_file().write_bytes(content)
    assert not kernel(21.0)


@compiling
@pytest.mark.parametrize("kind", ["link", "pipe", "another's"])
def test_only_a_plain_file_of_ones_own_is_read(kernel, tmp_path, monkeypatch, kind):
    kernel()
    file, target = only_file(), tmp_path / "target"
    good = file.read_bytes()
    if kind == "link":
        file.rename(target)
        file.symlink_to(target)
    elif kind == "pipe":
        file.unlink()
        os.mkfifo(file)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    target.write_bytes(good)
    assert not kernel()
    assert file.is_file()
    assert not file.is_symlink()
    assert target.read_bytes() == good


@compiling
def test_a_cache_that_goes_away_only_means_compiling_again(kernel):
    path = cache_folder.cache_directory()
    kernel()
    for file in path.iterdir():
        file.unlink()
    path.rmdir()
    with pytest.warns(errors.CacheNotKept, match="No such file or directory"):
        assert not kernel()
    assert not kernel()


def test_a_folder_that_cannot_be_written_to_is_told_of_once(monkeypatch):
    assert cache_folder.is_kept()
    monkeypatch.setattr(cache_folder.os, "access", lambda path, mode: False)
    with pytest.warns(errors.CacheNotKept, match="cannot be written to; mend that, or set POTENTIA_CACHE_DIR"):
        assert not cache_folder.is_kept()
    assert not cache_folder.is_kept()


# Its key -----------------------------------------------------------------------------------------------


def test_the_python_is_part_of_the_key(monkeypatch):
    """Another version, another kind of build or another width of pointers has a cache of its own."""

    def named(**changes):
        plain = {name: getattr(sys, name) for name in ("implementation", "version_info", "maxsize", "byteorder")}
        monkeypatch.setattr(cache_folder, "sys", SimpleNamespace(**{**plain, "abiflags": sys.abiflags, **changes}))
        return cache_folder.source_hash.__wrapped__()

    other = SimpleNamespace(name="cpython", cache_tag="cpython-399")
    names = [
        named(),
        named(version_info=(3, 99, 0, "final", 0)),
        named(implementation=other),
        named(abiflags="t"),
        named(maxsize=2**31 - 1),
    ]
    monkeypatch.setattr("importlib.machinery.EXTENSION_SUFFIXES", [".cpython-399-of-another-kind.so"])
    names.append(named())
    version = importlib.metadata.version
    for package in ("numba", "llvmlite", "numpy"):
        with monkeypatch.context() as patch:
            other = {package: "99.0"}
            patch.setattr(importlib.metadata, "version", lambda name, other=other: other.get(name) or version(name))
            names.append(named())
    assert len(set(names)) == len(names) == 9
