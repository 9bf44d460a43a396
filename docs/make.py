"""Write what the docs show from what the package computes: ``python docs/make.py``.

The table of shares goes between its marks in docs/analysis.md, the figure to docs/stability.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import potentia as pt
from potentia.experiments.shares import random_games, shares

HERE = Path(__file__).parent
BEGIN, END = "<!-- shares:begin -->", "<!-- shares:end -->"
GAMES, SHAPE = 1000, (2, 3, 2)
KINDS = {
    "potential": "any potential game",
    "separable": "separable",
    "identical": "identical utilities",
    "constrained": "identical utilities, moves along a line",
}


def table() -> str:
    """How often each rule keeps the maximiser, in Markdown."""
    lines = [
        "| games | rule | stable set = maximisers | a maximiser is stable | most visited profile maximises |",
        "|---|---|---|---|---|",
    ]
    for kind, name in KINDS.items():
        for row in shares(random_games(kind, GAMES, SHAPE, seed=0)):
            cells = (f"{count / row.games:.1%}" for count in (row.exactly, row.kept, row.mode))
            lines.append(f"| {name} | {row.rule} | {' | '.join(cells)} |")
    shape = "×".join(str(a) for a in SHAPE)
    return "\n".join(
        [
            *lines,
            "",
            f"{GAMES:,} random games each, {shape} actions, standard normal, revision 0.3, no closed form used; "
            "`make docs` writes it.",
        ]
    )


def figure() -> None:
    """Joint P-SBLLL on the game that it leaves the maximiser of."""
    game = pt.game("double-step")
    rule = pt.rule("p-sblll", tau=0.1, revision=0.3)
    result = pt.analysis.stability(game, rule)
    taus = np.geomspace(0.03, 6.0, 40)
    laws = pt.analysis.laws_over_tau(game, rule, taus)
    drawn = pt.figures.stability_figure(
        result, taus=taus, laws=laws, title="p-sblll, revision 0.3, trial joint, on double-step"
    )
    drawn.savefig(HERE / "stability.png", dpi=110)


def main() -> None:
    page = HERE / "analysis.md"
    head, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    page.write_text(f"{head}{BEGIN}\n{table()}\n{END}{tail}", encoding="utf-8")
    figure()


if __name__ == "__main__":
    main()
