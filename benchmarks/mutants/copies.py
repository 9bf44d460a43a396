"""Copies of a tree to plant faults in; the checkout itself is never touched."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.mutants.faults import SOURCES, Planted

_NOT_COPIED = shutil.ignore_patterns(".venv", ".git", "out", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info")


class Copy:
    """One copy, in which one pytest runs at a time."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.root, self.temporary = folder / "tree", folder / "temporary"
        shutil.copytree(tree, self.root, ignore=_NOT_COPIED)
        self.temporary.mkdir()

    @contextmanager
    def planted(self, fault: Planted):
        """The fault is there inside the block."""
        path = self.root / SOURCES / fault.file
        try:
            self._write(path, fault.after)
            yield
        finally:
            self._write(path, fault.before)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        # compiled files are told apart by size and second alone
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)

    def pytest(
        self, arguments: list[str], seconds: float | None = None, print_to: Path | None = None, **environment: str
    ) -> tuple[int | None, str]:
        """The exit code, None where time was up, and what was printed."""
        printed = print_to or self.temporary / "printed.txt"
        with printed.open("w") as file:
            running = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *arguments],
                cwd=self.root,
                env=self._environment() | environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                running.wait(seconds)
            except subprocess.TimeoutExpired:
                pass
            finally:
                code = running.poll()
                with suppress(ProcessLookupError, PermissionError):  # its children, too
                    os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        return code, printed.read_text(errors="replace")

    def _environment(self) -> dict[str, str]:
        """Plain Python in one thread, with the copy's sources before those that are installed."""
        path = (self.root / "src", self.root, Path(__file__).parent)
        single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        own = {"PYTHONPATH": os.pathsep.join(map(str, path)), "TMPDIR": str(self.temporary), "MPLBACKEND": "agg"}
        return {**os.environ, **own, **single, "NUMBA_DISABLE_JIT": "1"}
