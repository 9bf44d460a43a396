"""The page on comparing rules on a game of one's own: its commands and what they print; ``make.py`` calls this."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import HERE, write

STUDY = HERE / "channels"
POTENTIA = str(Path(sys.executable).with_name("potentia"))
GROWN = ("--set", "seeds=10", "--set", "rule.tau=[0.01,0.02,0.05,0.1,0.2,0.3,0.5,1.0]")
SHOWN = {
    "best": ("--best", "--where", "nodes=30"),
    "revisions": ("--best", "--where", "nodes=30", "--per", "revisions"),
    "evaluations": ("--best", "--where", "nodes=30", "--per", "evaluations"),
    "goal": ("--where", "nodes=30", "--where", "tau=0.05", "--goal", "95%", "--plot", "reached.png"),
}


def compare() -> None:
    """Play the study, let it grow, and write what ``show`` says into the page."""
    with tempfile.TemporaryDirectory() as place:
        for name in ("channels.py", "channels.toml"):
            shutil.copy(STUDY / name, place)
        _typed(place, "sweep", "channels.toml")
        grown = _typed(place, "sweep", "channels.toml", *GROWN)
        write("comparing.md", "grown", f"```\n{grown}\n```")
        _typed(place, "show", "channels.study", "--against", "tau", "--optimum", "--plot", "levels.png")
        for mark, args in SHOWN.items():
            write("comparing.md", mark, f"```\n{_typed(place, 'show', 'channels.study', *args)}\n```")
        for name in ("levels.png", "reached.png"):
            shutil.copy(Path(place) / name, HERE / f"channels_{name}")


def _typed(place: str, *args: str) -> str:
    environment = {**os.environ, "COLUMNS": "118", "NO_COLOR": "1"}
    command = [POTENTIA, "--import", "channels.py", *args]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines() if line.strip())
