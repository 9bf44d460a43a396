"""What the docs say of beliefs, measured again: minutes, so by hand (``make long``)."""

from __future__ import annotations

import pytest

from potentia.paper import belief_study
from potentia.paper.kept import Kept
from potentia.paper.scale import FULL

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return Kept(tmp_path_factory.mktemp("studies"), FULL, workers=2)


def test_model_based_learning_keeps_up_with_the_truth_on_the_papers_world(kept):
    names = {entry for rule in belief_study.PAIR for entry, _ in belief_study.cases(rule).values()}
    played = {name: kept.batches(name) for name in names}
    found = {(s.rule, s.belief): s for s in belief_study.on_paper_world(played)}
    default = found["P-SBLLL", "split and merge (default)"]
    assert default.worth.mean >= 0.195
    assert default.share >= 0.93
    published = found["BLLL", "split and merge, published communication"]
    assert 0.9 < published.share < 1  # who hears little loses by not knowing the map
    # the negative controls: what does not work is seen not to
    assert found["P-SBLLL", "the recipe to the letter"].share < 0.5
    assert found["P-SBLLL", "no model"].share < 0.75
    assert found["P-SBLLL", "split and merge without optimism"].share < 0.93


def test_the_default_is_not_behind_a_constant_on_random_worlds(kept):
    played = [kept.batches(f"beliefs world {world}") for world in belief_study.WORLDS]
    found = {c.belief: c for c in belief_study.on_random_worlds(played)}
    assert found["optimistic constant"].behind.mean > 0
    assert found["constant 0.002"].behind.low > 0
    assert found["no model"].behind.low > 0


def test_beliefs_improve_over_a_run(kept):
    data = kept.batches("learning")["split and merge"].mean("seed")
    for name in ("belief_error", "parameter_error"):
        assert data[name].sel(time=1200) < 0.9 * data[name].sel(time=100) < 0.9 * data[name].sel(time=0)
    assert data.right_number.sel(time=slice(1000, 1200)).mean() > data.right_number.sel(time=100) > 0
