"""Pages that are played at the build and shown in frames of the site: replays, and the 2×2 laboratory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import potentia as pt
from potentia.studies.coverage import paper_game, paper_rules


def write(folder: Path) -> None:
    """Each page by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        make(folder / name)


def case_study(path: Path) -> None:
    """The paper's rules on one seed; robots that learn the map on their way."""
    game = paper_game()
    options: dict[str, Any] = {"seed": 0, "record": ("profile", "worth_union"), "belief": pt.belief("split-merge")}
    runs = {name: pt.run(game, rule, 400, **options) for name, rule in paper_rules().items()}
    pt.replay(runs, path, optimum=pt.analysis.optimum(game))


def ring(path: Path) -> None:
    """A network on which an agreement spreads."""
    game = pt.game("ring", players=40)
    runs = {
        name: pt.run(game, pt.rule(name, tau=0.4), 1500, record=("profile", "potential")) for name in ("lll", "blll")
    }
    pt.replay(runs, path)


def learners(path: Path) -> None:
    """Scores and strategies as bars."""
    game = pt.game("stag-hunt")
    runs = {name: pt.run(game, pt.rule(name, **given), 300) for name, given in (("ql", {"tau": 0.3}), ("soql", {}))}
    pt.replay(runs, path)


PAGES = {
    "case-study.html": case_study,
    "ring.html": ring,
    "learners.html": learners,
    "laboratory.html": pt.web.laboratory,
}
