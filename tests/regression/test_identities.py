"""Golden identities: what runs, saved runs and studies are told apart by must stay what it was.

A run's key comes from its seed, its game's ``identity()`` and its rule's ``describe()``; a saved run and a study know
their game by its ``fingerprint()``. ``python -m tests.regression.test_identities`` writes the file anew; do that only
for what is added, and never to make this test pass.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import potentia as pt
from potentia.beliefs import Believing
from potentia.kernel.draws import make_key
from tests import games

GOLDEN = Path(__file__).with_name("identities.json")
SEED = 2026


def _games():
    """Of every kind; but for functions of somebody's own, whose code is another in each version of Python."""
    world = pt.games.World(np.arange(12.0).reshape(3, 4), blocked=np.arange(12).reshape(3, 4) == 5)
    named = {name: pt.game(name) for name in pt.games.registered_games()}
    made = {name: build() for name, build in games.COMPILED.items() if name != "custom"}
    robots = {
        "coverage": pt.games.Coverage(world=world, robots=2, delta=1.0),
        "coverage marginal": pt.games.Coverage(world=world, robots=2, delta=1.0, payoff="marginal", K=0.1),
        "coverage paper": pt.games.Coverage(world=pt.games.paper_world(), robots=5, delta=1.5),
    }
    return {**named, **made, **robots}


def _rules():
    made = {
        "geometric": pt.rules.Geometric(1.0, 0.1, 500),
        "logarithmic": pt.rules.Logarithmic(2.0),
        "piecewise": pt.rules.Piecewise(((0, 1.0), (10, 0.1))),
        "relative": pt.rules.Relative(pt.rules.Constant(0.1)),
    }
    schedules = {f"lll {name}": pt.rules.LLL(tau) for name, tau in made.items()}
    revisions = {
        "vector": [0.2, 0.3, 0.4],
        "vanishing": pt.rules.Vanishing(4),
        "signal": pt.rules.SignalRevision(),
    }
    woken = {f"p-sblll {name}": pt.rule("p-sblll", tau=0.3, revision=how) for name, how in revisions.items()}
    groups = pt.rules.Groups([((0,), 0.5), ((0, 1), 0.5)])
    woken["slll groups"] = pt.rule("slll", tau=0.3, revision=groups)
    penalties = {"gibbs": "gibbs", "tsallis": pt.rules.Tsallis(0.5), "burg": pt.rules.Burg()}
    scored = {f"score {name}": pt.rule("score", tau=0.4, choice=choice) for name, choice in penalties.items()}
    steps = {"ql diminishing": pt.rule("ql", tau=0.4, mu=pt.rules.Diminishing(0.6))}
    return {
        **{name: pt.rules.rule_from(spec) for name, spec in {**games.RULES, **games.ADDED}.items()},
        **schedules,
        **woken,
        **scored,
        **steps,
    }


def _beliefs():
    return {
        "known": pt.beliefs.Known(),
        "constant": pt.beliefs.Constant(0.2, share=0.5),
        "running-mean": pt.beliefs.RunningMean(),
        "mixture": pt.beliefs.Mixture(3),
        "split-merge": pt.beliefs.SplitMerge(),
        "noisy": pt.beliefs.SplitMerge(noise=0.1),
        "communication": pt.beliefs.SplitMerge(communication=pt.beliefs.Communication(radius=3.0)),
    }


@cache
def told():
    """Everything, as it is now."""
    out = {}
    for name, game in _games().items():
        out[f"game {name}"] = {"identity": game.identity(), "fingerprint": game.fingerprint()}
        if isinstance(game, pt.games.Coverage):
            for other, belief in _beliefs().items():
                both = Believing(game, belief)
                known = {"identity": both.identity(), "fingerprint": both.fingerprint()}
                out[f"game {name} believed by {other}"] = known
        for by, rule in _rules().items():
            key = make_key(SEED, "run", game.identity(), rule.describe())
            out[f"key {name} {by}"] = [int(part) for part in np.ravel(key)]
    out |= {f"rule {name}": rule.describe() for name, rule in _rules().items()}
    return out | {f"belief {name}": belief.describe() for name, belief in _beliefs().items()}


@pytest.mark.parametrize("kind", ["game", "rule", "belief", "key"])
def test_identities(kind):
    golden = {name: entry for name, entry in json.loads(GOLDEN.read_text()).items() if name.startswith(f"{kind} ")}
    assert golden
    assert {name: told().get(name) for name in golden} == golden


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in told().items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")
