"""Valid specifications, to be damaged."""

from __future__ import annotations

VALID = [
    {
        "name": "temperature on a ring",
        "about": "one\ntwo",
        "steps": 1000,
        "seeds": {"first": 3, "count": 4},
        "record": ["potential", "welfare"],
        "every": 10,
        "chunk": 2,
        "game": {"name": "ring", "players": [5, 6], "actions": 2},
        "rule": [
            {"name": "lll", "tau": {"from": 0.1, "to": 0.5, "count": 3}},
            {"name": "p-sblll", "label": "P", "tau": [0.1, 0.2, 0.3], "revision": [0.1, 0.2, 0.3], "guard": True},
        ],
        "zip": [["rule.tau", "rule.revision"]],
    },
    {
        "steps": 50,
        "seeds": [0, 5, 7],
        "start": [0, 1],
        "game": [{"name": "stag-hunt", "stag": {"from": 3, "to": 5, "step": 1}}, {"name": "prisoners-dilemma"}],
        "rule": [
            {"name": "slll", "tau": "geometric:1:0.1", "revision": [[0.1, 0.2]]},
            {"name": "score", "tau": 0.3, "choice": "tsallis:0.5", "mu": "n^-0.6"},
            {"name": "soql", "zeta": 0.6, "xi": {"from": 0.1, "to": 0.9, "count": 2, "log": True}},
        ],
    },
    {
        "steps": 20,
        "seeds": 2,
        "game": {"map": "random:3", "robots": 2, "delta": 1.5, "K": 3e-5, "largest_part": True, "flags": True},
        "rule": {"name": "blll", "tau": {"kind": "piecewise", "points": [[0, 0.1], [10, 0.01]]}},
        "belief": [{"name": "none"}, {"name": "running-mean"}, {"name": "constant", "label": "flat"}],
    },
]
