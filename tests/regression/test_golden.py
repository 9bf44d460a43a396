"""Golden runs: a seed that gave these numbers once must give them for ever.

``python -m tests.regression.test_golden`` writes the file anew; do that only when a change of the draws is
meant, and say so in the changelog.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import potentia as pt
from tests import games

GOLDEN = Path(__file__).with_name("golden.json")


def outcome(game, rule):
    steps = 2000 if rule in games.RULES else 500
    trace = pt.run(games.COMPILED[game](), {**games.RULES, **games.ADDED}[rule], steps, seed=2026, record=())
    return {"start": trace.start.tolist(), "final": trace.final.tolist(), "changes": trace.changes}


def cases():
    added = [(game, rule) for game in ("normal_form", "path") for rule in games.ADDED]
    return [(game, rule) for game in games.COMPILED for rule in games.RULES] + added


@pytest.mark.parametrize(("kind", "by"), cases())
def test_golden(kind, by):
    assert outcome(kind, by) == json.loads(GOLDEN.read_text())[f"{kind} {by}"]


if __name__ == "__main__":
    lines = [f'"{game} {rule}": {json.dumps(outcome(game, rule))}' for game, rule in cases()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
