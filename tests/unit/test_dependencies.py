"""What is imported is declared, and SciPy's graph functions get what every version of them takes."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

import potentia as pt
from potentia.analysis.graphs import as_graph
from potentia.analysis.stochastic_stability import stability
from potentia.errors import TooLarge

ROOT = Path(pt.__file__).parents[2]


def imported():
    """The top-level modules from elsewhere that the sources import, also inside functions."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                yield node.module.split(".")[0]


@pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="installed, not the sources")
def test_what_is_imported_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["dask"], *extras["parquet"], *extras["geo"], *extras["envs"]]
    declared = {re.match(r"[\w-]+", text)[0].lower().replace("_", "-") for text in asked}
    homes = metadata.packages_distributions()
    foreign = set(imported()) - set(sys.stdlib_module_names) - {"potentia"}
    assert foreign
    missing = {name for name in foreign if not declared & {home.lower().replace("_", "-") for home in homes[name]}}
    assert missing == set()


def test_graphs_have_narrow_indices():
    rows, columns = np.array([0, 1, 2]), np.array([1, 2, 0])
    wide = sparse.csr_array((np.ones(3), (rows, columns)), shape=(3, 3))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    graph = as_graph(wide)
    assert (graph.indices.dtype, graph.indptr.dtype) == (np.int32, np.int32)
    assert np.shares_memory(graph.data, wide.data)
    assert csgraph.minimum_spanning_tree(graph).sum() == 2.0
    np.testing.assert_array_equal(graph.toarray(), wide.toarray())


@pytest.mark.parametrize(("shape", "edges", "said"), [((2**31,) * 2, 5, "nodes"), ((9, 9), 2**31, "edges")])
def test_a_graph_that_narrow_indices_cannot_hold(shape, edges, said):
    with pytest.raises(TooLarge, match=f"up to 2,147,483,647 {said}, this one has 2,147,483,648"):
        as_graph(SimpleNamespace(shape=shape, nnz=edges))


def test_the_closed_form_hands_over_narrow_indices(monkeypatch):
    spanning, seen = csgraph.minimum_spanning_tree, []

    def watched(graph):
        seen.extend([graph.indices.dtype, graph.indptr.dtype])
        return spanning(graph)

    monkeypatch.setattr(csgraph, "minimum_spanning_tree", watched)
    stability(pt.game("stag-hunt"), pt.rule("blll", tau=0.1))
    assert seen == [np.int32, np.int32]
