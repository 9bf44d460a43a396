"""Recordings of runs with everything in them: any moment is that of a second run."""

from __future__ import annotations

import numpy as np
import pytest

from tests.recordings import everything
from tests.unit.web.test_recordings import state_of, written_and_read


@pytest.mark.parametrize("kind", ["flow", "means"])
def test_any_moment_is_that_of_a_second_run(kind):
    played = everything(kind)
    made, run = written_and_read(played.trace().recording(beliefs_every=9)), played.begin()
    gone = set()
    for step in range(played.steps + 1):
        if step % 5 and step not in (8, 12, 20):
            continue
        run.advance(step - run.step)
        worth, flags, counts = state_of(run)
        assert np.array_equal(made.profile(step), run.profile)
        assert np.array_equal(made.there(step), run.state.game.here != 0)
        np.testing.assert_allclose(made.worth(step), worth, rtol=1e-12)
        assert np.array_equal(made.flags(step), flags)
        assert np.array_equal(made.counts(run.profile, step), counts)
        assert worth[counts > 0].sum() == pytest.approx(made.value("worth_union", step), rel=1e-12)
        gone.add(int(made.there(step).sum()))
        if step in made.keyframes:
            for mine, theirs in zip(made.belief(made.keyframe(step)), run.beliefs, strict=True):
                assert np.array_equal(mine.worth, theirs.worth.astype(np.float32))
                assert np.array_equal(mine.seen, theirs.seen)
                assert mine.error == theirs.error(worth)
    assert len(gone) > 1
