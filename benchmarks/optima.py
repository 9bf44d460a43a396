"""The best profile of a channel assignment: 30 nodes at random places, 4 channels, neighbours want different ones.

Nodes are uniform in the unit square and neighbours within a radius; what an edge with one channel at both ends costs is
uniform from 0.5 to 1.5. There are 4^30 profiles. Each optimum must be proven, or the row says how many were not. The
slowest of some graphs counts, once each: nothing is compiled.
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import Effort, Report, Row
from potentia.analysis import optimum
from potentia.games import Coordination
from potentia.studies.timing import SEED

NODES, CHANNELS = 30, 4
GRAPHS = 10
RADII = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)  # from trees with a few cycles to half of all pairs
MOST_SECONDS = 1.0  # asked of every graph


def channels(radius: float, seed: int) -> Coordination:
    """Nodes that interfere with those within the radius."""
    random = np.random.default_rng(seed)
    places = random.random((NODES, 2))
    near = np.linalg.norm(places[:, None] - places, axis=2) <= radius
    edges = np.argwhere(np.triu(near, 1))
    weights = random.uniform(0.5, 1.5, len(edges))
    return Coordination(edges, -np.eye(CHANNELS), num_players=NODES, weights=weights)


def compare(effort: Effort, report: Report) -> None:
    """Add the lines of this comparison to the report."""
    graphs = min(GRAPHS, 2 * effort.repetitions)
    optimum(channels(RADII[0], SEED))  # imports
    for radius in RADII:
        games = [channels(radius, SEED + k) for k in range(graphs)]
        found = [optimum(game) for game in games]
        seconds = [each.seconds for each in found]
        kept = sum(each.proven and each.seconds <= MOST_SECONDS for each in found)
        open_ends = sum(not each.proven for each in found)
        degree = np.mean([2 * len(game.edges) / NODES for game in games])
        report.rows.append(
            Row(
                f"optimum, {NODES} nodes, {CHANNELS} channels, {degree:.1f} neighbours, slowest of {graphs} graphs",
                f"{max(seconds):.2g} s" + (f", {open_ends} not proven" if open_ends else ""),
                "–",
                target=f"{MOST_SECONDS:g} s, proven; {kept} of {graphs}",
                met=kept == graphs,
                numbers={"radius": radius, "seconds": seconds, "not_proven": open_ends},
            )
        )
