"""Replays and the laboratory that pages of the site show."""

from __future__ import annotations

from pathlib import Path

import potentia as pt
from potentia.studies.coverage import paper_game, paper_rules


def write(folder: Path) -> None:
    """Pages that stand in frames of the site."""
    folder.mkdir(parents=True, exist_ok=True)
