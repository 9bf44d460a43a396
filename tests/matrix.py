"""The tests that touch dependencies, on each Python, with the lowest versions that are declared and with the newest.

    python -m tests.matrix [PYTHON ...]     # 3.12, or the path of an interpreter

``make matrix`` runs it. A Python is taken from the path, from pyenv's folder, or from uv. Each cell has a new
environment in a folder of ``out/matrix``, which keeps the versions that were installed and what the tests said.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "matrix"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("lowest-direct", "highest")
PATIENCE = 900  # seconds that one part of a cell may take

# What needs machine code: Numba, its cache on disk, and processes that share it (loky, cloudpickle, dask).
COMPILED = (
    "unit/test_draws.py::test_compiled_draws_are_the_same",
    "unit/test_dependencies.py",
    "end_to_end/test_command_line.py::test_a_second_process_compiles_nothing",
    "end_to_end/test_exact_commands.py::test_stability_of_a_larger_game_draws_what_fits",
    "end_to_end/test_sweeps.py::test_however_it_is_run",
    "end_to_end/test_dask.py::test_a_worker_killed_half_way",
)
# The others, in plain Python: the same bits, and nothing to compile.
PLAIN = (
    "conformance/test_saved.py::test_saved_files_are_checked",
    "end_to_end/test_about_commands.py::test_the_shell_completes",
    "end_to_end/test_command_line.py::test_help_teaches",
    "end_to_end/test_exact_commands.py::test_help_teaches",
    "exact/test_chains.py::test_every_combination_of_options",
    "exact/test_optimum.py::test_the_solver_alone",
    "exact/test_stationary.py::test_the_sparse_solver_on_a_chain_that_is_linked_well_enough",
    "unit/test_exports.py",
    "unit/test_films.py::test_a_film_has_its_pictures_and_they_differ",
    "unit/test_game_kernels.py::test_networkx_graph_with_labels_and_weights",
    "unit/test_maps.py",
    "unit/test_mixture_fit.py::test_a_mixture_is_fitted_no_worse_than_by_scikit_learn",
    "unit/test_report_files.py::test_the_folder",
    "unit/test_specification.py",
    "unit/test_statistics.py",
    "unit/test_store.py::test_a_point_is_what_run_batch_gives",
    "unit/test_store.py::test_what_the_lock_links_to_is_left_alone",
)
# Old versions meet newer ones of what they use themselves, and are told so.
QUIET = ("-W", "ignore::DeprecationWarning", "-W", "ignore::SyntaxWarning")


@dataclass
class Cell:
    """One Python with one choice of versions, and what became of it."""

    python: str
    resolution: str
    verdict: str = "passed"
    passed: int = 0
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return OUT / f"{self.python}-{self.resolution}"


def uv() -> str:
    """Of the environment that runs this, or of the path."""
    found = shutil.which("uv", path=Path(sys.executable).parent) or shutil.which("uv")
    if found is None:
        sys.exit("uv is needed: pip install -e '.[matrix]'")
    return found


def version_of(python: str | Path) -> str | None:
    """Asked of the interpreter itself: a shim of pyenv may stand for a version that is not there."""
    code = "import platform; print(platform.python_implementation(), platform.python_version())"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    kind, version = done.stdout.split()
    return version if kind == "CPython" else None


def find(wanted: str) -> tuple[str | None, str]:
    """An interpreter of this version and its full version; or None and why."""
    if os.sep in wanted:
        version = version_of(wanted)
        return (wanted, version) if version else (None, "does not run")
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(f"python{wanted}"), *sorted(pyenv.glob(f"{wanted}*/bin/python"), reverse=True)]
    for place in filter(None, places):
        version = version_of(place)
        if version and version.startswith(f"{wanted}."):
            return str(place), version
    environment = {**os.environ, "UV_PYTHON_INSTALL_DIR": str(OUT / "pythons")}
    done = subprocess.run(
        [uv(), "python", "install", wanted], capture_output=True, text=True, env=environment, check=False
    )
    for place in sorted((OUT / "pythons").glob(f"cpython-{wanted}.*/bin/python{wanted}")):
        if version := version_of(place):
            return str(place), version
    said = done.stderr.strip().splitlines() or ["uv has none"]
    return None, f"neither on the path nor in pyenv; uv: {said[-1].strip()}"


def bounds() -> dict[str, str]:
    """The lower bound of everything that is declared for users and for the tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(text for name in ("dask", "parquet", "dev") for text in extras[name])]
    matches = (re.match(r"([\w-]+)>=([\w.]+)", text) for text in asked)
    return {match[1]: match[2] for match in matches if match}


def play(cell: Cell, python: str) -> None:
    """Install and test; the cell says how it went."""
    shutil.rmtree(cell.folder, ignore_errors=True)
    cell.folder.mkdir(parents=True)
    here = cell.folder / "venv"
    own = here / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    foreign = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_DISABLE_JIT", "POTENTIA_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    fresh = {"XDG_CACHE_HOME": str(cell.folder / "cache")}  # through platformdirs; not for uv, which shares its own
    # wheels only: on a Python for which the lowest version has none, the lowest that has one
    wheels = ("--only-binary", ":all:", "--no-binary", "potentia")
    install = ("pip", "install", "--python", own, "--resolution", cell.resolution, *wheels, "-e", f"{ROOT}[dev]")
    quiet = QUIET if cell.resolution != "highest" else ()
    test = (own, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=-m 'not long'", *quiet)
    start = time.perf_counter()
    with (cell.folder / "log.txt").open("w+", encoding="utf-8") as log:

        def run(what: str, *command: object, **more: str) -> bool:
            done = -1
            try:
                done = subprocess.run(
                    [str(part) for part in command],
                    cwd=ROOT,
                    env=environment | more,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    timeout=PATIENCE,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                log.write(f"\n{what}: stopped after {PATIENCE} seconds\n")
            if done != 0 and cell.verdict == "passed":
                cell.verdict = f"FAILED: {what}"
            return done == 0

        if run("venv", uv(), "venv", "--python", python, here) and run("install", uv(), *install):
            cell.versions = installed(own)
            (cell.folder / "versions.json").write_text(json.dumps(cell.versions, indent=1), encoding="utf-8")
            for what, tests, more in (("compiled", COMPILED, ()), ("plain", PLAIN, ("--plain",))):
                run(what, *test, *more, *(f"tests/{name}" for name in tests), **fresh)
        log.seek(0)
        cell.passed = sum(int(count) for count in re.findall(r"(\d+) passed", log.read()))
    cell.seconds = time.perf_counter() - start


def installed(python: Path) -> dict[str, str]:
    """The versions of everything in an environment."""
    done = subprocess.run(
        [uv(), "pip", "list", "--format", "json", "--python", python], capture_output=True, text=True, check=True
    )
    return {entry["name"]: entry["version"] for entry in json.loads(done.stdout)}


def same(bound: str, version: str) -> bool:
    """2.1 is 2.1.0."""
    return re.sub(r"(\.0)+$", "", bound) == re.sub(r"(\.0)+$", "", version)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", help=f"versions or paths; {' '.join(PYTHONS)}")
    asked = parser.parse_args().pythons
    console = Console(soft_wrap=True, highlight=False)
    cells: list[Cell] = []
    missing = []
    for wanted in asked or PYTHONS:
        python, version = find(wanted)
        if python is None:
            missing.append(f"Python {wanted} was not tested: {version}")
            continue
        for resolution in RESOLUTIONS:
            cells.append(Cell(version, resolution))
            play(cells[-1], python)
            console.print(f"{version} {resolution}: {cells[-1].verdict}, {cells[-1].folder.relative_to(ROOT)}/log.txt")
    lowest = bounds()
    table = Table("", *(f"{cell.python}\n{cell.resolution.split('-')[0]}" for cell in cells), box=None)
    table.add_row("", *(cell.verdict for cell in cells))
    table.add_row("tests passed", *(str(cell.passed) for cell in cells))
    table.add_row("seconds", *(f"{cell.seconds:.0f}" for cell in cells))
    for name, bound in lowest.items():
        table.add_row(f"{name}>={bound}", *(cell.versions.get(name, "–") for cell in cells))
    if cells:
        Console(width=24 + 14 * len(cells), highlight=False).print(table)
    for cell in cells:
        if cell.resolution != "highest" and cell.versions:
            above = [
                f"{name} {cell.versions.get(name)}" for name, b in lowest.items() if not same(b, cell.versions[name])
            ]
            if above:
                console.print(f"{cell.python}: above the bound for want of an older wheel: {', '.join(above)}")
    for line in missing:
        console.print(line)
    return int(not cells or any(cell.verdict != "passed" for cell in cells) or bool(asked and missing))


if __name__ == "__main__":
    sys.exit(main())
