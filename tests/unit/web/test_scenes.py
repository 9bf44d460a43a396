"""What a recording tells of its game: its name, and where its players are drawn."""

from __future__ import annotations

import pickle

import networkx
import numpy as np
import pytest

import potentia as pt
from tests.unit.web.test_recordings import written_and_read


@pytest.mark.parametrize("name", ["prisoners-dilemma", "ising", "braess", "matching-pennies"])
def test_a_named_game_is_told_by_its_name(name, tmp_path):
    """In titles only: keys, fingerprints and what is compared go by what the game is."""
    game, rule = pt.game(name), pt.rule("lll", tau=0.5)
    made = written_and_read(pt.run(game, rule, 5, compiled=False).recording())
    assert made.header["title"].startswith(f"lll on {name}")
    assert made.header["game"]["text"] == game.describe()
    assert pickle.loads(pickle.dumps(game)).known_as == game.known_as
    both = pt.replay({"a": made, "b": made}, tmp_path / "both.html").read_text()
    assert f"<title>a, b on {game.known_as}</title>" in both
    bare = type(game).__new__(type(game))
    bare.__dict__.update({key: part for key, part in vars(game).items() if key not in ("known_as", "_fingerprint")})
    assert (bare.fingerprint(), bare.identity()) == (game.fingerprint(), game.identity())
    assert not bare.known_as


def grids():
    """Graphs whose nodes are numbered row by row, and some that are no grid."""
    yield pt.games.torus_edges(4, 7), (4, 7)
    for graph, size in (
        (networkx.grid_2d_graph(5, 3), (5, 3)),
        (networkx.grid_2d_graph(3, 6, periodic=(False, True)), (3, 6)),
        (networkx.cycle_graph(12), None),
        (networkx.random_regular_graph(4, 20, seed=1), None),
        (networkx.circulant_graph(12, [1, 4]), None),
        (networkx.path_graph(8), None),
    ):
        yield np.array(networkx.convert_node_labels_to_integers(graph, ordering="sorted").edges()), size


def test_nodes_without_neighbours_do_not_push_the_others_into_a_corner():
    graph = networkx.gnm_random_graph(150, 320, seed=4)
    graph.remove_edges_from([*graph.edges([3]), *graph.edges([77])])  # two alone, and the others
    made = pt.run(pt.games.consensus(graph), pt.rule("lll", tau=1.0), 3, compiled=False)
    places = made.recording().arrays["layout"]
    joined = places[sorted(max(networkx.connected_components(graph), key=len))]
    assert np.ptp(joined, axis=0).min() > 0.6


@pytest.mark.parametrize(("edges", "size"), list(grids()))
def test_a_grid_is_drawn_as_one(edges, size):
    made = pt.run(pt.games.consensus(edges), pt.rule("lll", tau=1.0), 3, compiled=False).recording()
    places = made.arrays["layout"].astype(np.float64)
    rows, columns = np.unique(-places[:, 1].round(6), return_inverse=True)[1], places[:, 0]
    if size is None:
        assert np.unique(rows).size > 4
        return
    assert rows.tolist() == np.repeat(np.arange(size[0]), size[1]).tolist()
    steps = np.diff(columns.reshape(size), axis=1)
    np.testing.assert_allclose(steps, 1 / (max(size) - 1), rtol=1e-5)
