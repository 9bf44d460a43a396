"""Hooks around everything that changes the file system, and the one call among them that is to fail.

They are put in place before potentia is imported and do nothing until :func:`start` names a folder to watch. Each call
that would change something below it is then an event. Files are watched below their buffers, where a call of ``write``
is a system call. Writers in C that go round Python's files have hooks of their own (Pillow, pyarrow); an audit hook
notes whatever else passes unseen.
"""

from __future__ import annotations

import _io
import builtins
import contextlib
import errno
import fcntl
import functools
import io
import os
import signal
import sys
import threading

HOWS = {
    "kill": "SIGKILL just before",
    "kill-after": "SIGKILL just after",
    "short-kill": "SIGKILL when half of the bytes are written",
    "enospc": "no space left, this once",
    "full": "no space left from here on",
    "short": "half of the bytes are written, then no space is left",
    "eio": "an input/output error",
}
_OF_WRITES = ("short", "short-kill")
_TAKES_ROOM = {"open", "write", "mkdir", "link", "symlink", "ftruncate", "truncate", "arrow write"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_AUDITED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.utime", "os.truncate", "os.link",
            "os.symlink", "shutil.rmtree", "mmap.__new__"}  # fmt: skip


def fits(how: str, kind: str) -> bool:
    """Whether an event of this kind can fail in this way."""
    return how not in _OF_WRITES or kind == "write"


class Watch:
    """What happens below a folder, and the event that fails."""

    def __init__(self, root: str, fail_at: int = 0, how: str = "kill") -> None:
        self.root = os.path.realpath(root)
        self.fail_at, self.how, self.full = fail_at, how, False
        self.events: list[tuple[str, str, int]] = []  # what, where, how many bytes
        self.unseen: list[str] = []
        self.lock = threading.Lock()

    def sees(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root + os.sep)

    def happen(self, kind, path, act, data=None):
        with self.lock:
            self.events.append((kind, os.path.relpath(path, self.root), 0 if data is None else len(data)))
            now = len(self.events) == self.fail_at
        if not now:
            if self.full and kind in _TAKES_ROOM:
                raise _error(errno.ENOSPC, kind, path)
            return act() if data is None else act(data)
        if self.how == "kill":
            _die()
        if self.how in _OF_WRITES:
            self.full = True
            if len(data) > 1:
                written = act(data[: len(data) // 2])
                if self.how == "short":
                    return written  # as the system does: the next call is told that there is no space
            if self.how == "short-kill":
                _die()
        if self.how == "kill-after":
            with contextlib.suppress(OSError):  # as of a folder that is there already
                act() if data is None else act(data)
            _die()
        if self.how == "full":
            self.full = True
            if kind not in _TAKES_ROOM:
                return act()
        raise _error(errno.EIO if self.how == "eio" else errno.ENOSPC, kind, path)


def _die():
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def _error(number, kind, path):
    named = () if kind in ("write", "fsync", "ftruncate") else (path,)  # calls on open files know no name
    return OSError(number, os.strerror(number), *named)


_watch: Watch | None = None
_within = threading.local()


def start(root, fail_at=0, how="kill") -> Watch:
    """Watch this folder from now on."""
    global _watch
    _watch = Watch(str(root), fail_at, how)
    return _watch


def _path_of(file, dir_fd=None) -> str:
    """Where a file is: its folder without links, and its own name; by descriptor too."""
    if isinstance(file, int):
        with contextlib.suppress(OSError):
            return _readlink(f"/proc/self/fd/{file}")
        return ""
    path = os.fsdecode(file)
    if dir_fd is not None and not os.path.isabs(path):
        path = os.path.join(_path_of(dir_fd), path)
    parent, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(parent), name)


_readlink = os.readlink


def _happen(kind, files, act, data=None, dir_fds=(None, None)):
    if _watch is None or getattr(_within, "active", False):
        return act() if data is None else act(data)
    _within.active = True
    try:
        for file, dir_fd in zip(files, dir_fds, strict=False):
            path = _path_of(file, dir_fd)
            if _watch.sees(path):
                return _watch.happen(kind, path, act, data)
        return act() if data is None else act(data)
    finally:
        _within.active = False


# Python's files -----------------------------------------------------------------------------------------

_FileIO, _open = io.FileIO, io.open


class _Watched(_FileIO):
    """A file below its buffer: what is written here is written."""

    def write(self, data, /):
        return _happen("write", (self.fileno(),), super().write, memoryview(data).cast("B"))

    def truncate(self, size=None, /):
        at = self.tell() if size is None else size
        return _happen("ftruncate", (self.fileno(),), lambda: super(_Watched, self).truncate(at))


@functools.wraps(_open)
def _watched_open(
    file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None
):  # as io.open says
    plain = not set(mode) & set("wax+") or _watch is None
    if plain or not _watch.sees(_path_of(file)):
        return _open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    how = mode.replace("t", "").replace("b", "") + "b"
    if isinstance(file, int):
        raw = _Watched(file, how, closefd)
    else:
        raw = _happen("open", (file,), lambda: _Watched(file, how, closefd, opener))
    if buffering == 0:
        return raw
    kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
    buffered = kind(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
    if "b" in mode:
        return buffered
    text = io.TextIOWrapper(buffered, io.text_encoding(encoding), errors, newline, buffering == 1)
    text.mode = mode
    return text


# Calls of the system ------------------------------------------------------------------------------------


def _wrap_os(name, kind=None, files=1):
    if not hasattr(os, name):
        return
    real = getattr(os, name)

    @functools.wraps(real)
    def called(*args, **options):
        places = list(args[:files]) + [options[key] for key in ("path", "src", "dst") if key in options]
        if name == "symlink":
            places = places[1:]  # where it points is only a text
        fds = options.get("src_dir_fd", options.get("dir_fd")), options.get("dst_dir_fd")
        return _happen(kind or name, places, lambda: real(*args, **options), None, fds)

    _replace(name, real, called)


def _replace(name, real, called):
    setattr(os, name, called)
    for known in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        if real in known:
            known.add(called)


def _wrap_open():
    real = os.open

    @functools.wraps(real)
    def opened(path, flags, mode=0o777, *, dir_fd=None):
        def act():
            return real(path, flags, mode, dir_fd=dir_fd)

        return _happen("open", (path,), act, None, (dir_fd,)) if flags & _WRITING else act()

    _replace("open", real, opened)


def _wrap_write():
    real = os.write

    @functools.wraps(real)
    def written(fd, data, /):
        return _happen("write", (fd,), lambda part: real(fd, part), memoryview(data).cast("B"))

    _replace("write", real, written)


def _wrap_fsync(name):
    """Counted, not done: nobody cuts the power here, and disks are slow."""
    real = getattr(os, name, None)
    if real is None:
        return

    @functools.wraps(real)
    def synced(fd, /):
        number = fd if isinstance(fd, int) else fd.fileno()
        seen = _watch is not None and _watch.sees(_path_of(number))
        return _happen("fsync", (number,), (lambda: None) if seen else (lambda: real(fd)))

    _replace(name, real, synced)


# Writers in C -------------------------------------------------------------------------------------------


class _NoNumber:
    """A file that hides its descriptor."""

    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        if name == "fileno":
            raise AttributeError(name)
        return getattr(self._file, name)


def wrap_pillow() -> None:
    """Pillow encodes into a descriptor where a file has one; without, it calls ``write``."""
    from PIL import ImageFile

    real = ImageFile._save

    def save(im, fp, *args, **options):
        seen = _watch is not None and isinstance(getattr(fp, "raw", None), _Watched)
        return real(im, _NoNumber(fp) if seen else fp, *args, **options)

    ImageFile._save = save


def wrap_pyarrow() -> None:
    """pyarrow opens and writes in C++: each of its calls is one event."""
    from pyarrow import parquet

    class Writer(parquet.ParquetWriter):
        def __init__(self, where, *args, **options):
            self._place = str(where)
            self.is_open = False
            _happen("open", (where,), lambda: super(Writer, self).__init__(where, *args, **options))

        def write_table(self, *args, **options):
            write = super().write_table
            return _happen("arrow write", (self._place,), lambda: write(*args, **options))

        def close(self):
            close = super().close
            try:
                if self.is_open:
                    _happen("arrow write", (self._place,), close)
            except OSError:
                self.is_open = False  # its own does nothing the second time either
                raise

    parquet.ParquetWriter = Writer


# All of them --------------------------------------------------------------------------------------------


def _audit(event, args):
    watch = _watch
    if watch is None or event not in _AUDITED or getattr(_within, "active", False):
        return
    if event == "open" and not (isinstance(args[2], int) and args[2] & _WRITING):
        return
    if event == "mmap.__new__":
        if args[0] == -1 or not fcntl.fcntl(args[0], fcntl.F_GETFL) & (os.O_WRONLY | os.O_RDWR):
            return
    elif event == "shutil.rmtree":
        return  # its pieces are events
    _within.active = True
    try:
        for file in args[: 1 if event in ("open", "mmap.__new__") else 2]:
            if isinstance(file, str | bytes | os.PathLike | int) and watch.sees(_path_of(file)):
                watch.unseen.append(f"{event} {os.path.relpath(_path_of(file), watch.root)}")
                return
    finally:
        _within.active = False


def install() -> None:
    """Put the hooks in place, once and before potentia is imported."""
    for module in (builtins, io, _io):
        module.open = _watched_open
    _wrap_open()
    _wrap_write()
    for name in ("fsync", "fdatasync"):
        _wrap_fsync(name)
    for name in ("replace", "rename", "link", "symlink"):
        _wrap_os(name, files=2)
    for name in ("unlink", "remove", "mkdir", "rmdir", "chmod", "chown", "lchown", "utime", "truncate", "mkfifo"):
        _wrap_os(name, "unlink" if name == "remove" else name)
    for name in ("ftruncate", "fchmod", "fchown", "posix_fallocate", "pwrite", "writev", "sendfile", "copy_file_range"):
        _wrap_os(name, files=2 if name == "copy_file_range" else 1)
    with contextlib.suppress(ImportError):
        wrap_pillow()
    sys.addaudithook(_audit)
