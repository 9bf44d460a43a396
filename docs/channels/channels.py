"""Channel assignment: access points choose channels, and those near each other on one channel disturb each other.

A game of one's own, in a file that ``potentia --import`` reads. Access points lie at random in the unit square. Two
that are closer than a radius and use one channel lose the more, the closer they are. The potential is minus what all
pairs lose, so its maximisers are the best assignments.
"""

import networkx as nx
import numpy as np

import potentia as pt


@pt.games.register_game("channels")
def channels(nodes: int = 30, channels: int = 4, degree: float = 7.0, layout: int = 0):
    """Access points at random places choose channels; neighbours on one channel disturb each other."""
    radius = float(np.sqrt(degree / (np.pi * nodes)))  # about so many neighbours, whatever the size
    graph = nx.random_geometric_graph(nodes, radius, seed=layout)
    for one, other, edge in graph.edges(data=True):
        apart = np.hypot(*np.subtract(graph.nodes[one]["pos"], graph.nodes[other]["pos"]))
        edge["weight"] = 1.0 - apart / radius
    return pt.games.Coordination(graph, payoff=-np.eye(channels))  # on one channel: minus the weight
