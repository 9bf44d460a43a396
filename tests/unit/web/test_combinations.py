"""Recordings and pictures of runs with everything in them: any moment is that of a second run."""

from __future__ import annotations

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from potentia.figures import animate, belief_figure
from tests.coverage_cases import crowded
from tests.recordings import RULES_ON_MAPS, everything
from tests.unit.bad import refuses
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


# Pictures ---------------------------------------------------------------------------------------------


def test_figures_of_beliefs_show_who_is_there():
    played = everything("frames")
    run = played.begin().advance(13)
    game, here = played.game, run.state.game.here != 0
    since, until = run.trace().lives

    def drawn(**options):
        figure = belief_figure(game, run.beliefs, profile=run.profile, step=13, **options)
        named = [one.get_gid() for one in figure.axes[0].get_lines()]
        (lost,) = [one for one in figure.axes[0].get_lines() if one.get_gid() == "lost"]
        return {name for name in named if name and name.startswith("robot ")}, len(lost.get_xdata())

    assert drawn(there=here) == ({f"robot {i}" for i in np.flatnonzero(here)}, ((since <= 13) & (until <= 13)).sum())
    assert drawn() == ({"robot 0", "robot 2", "robot 3"}, 1)  # by what is known before a run
    refuses(lambda: drawn(there=[True]), InvalidRun, r"there must be a mask of 4 robots, got shape \(1,\)")
    early = belief_figure(game, run.beliefs, profile=run.profile, step=3)
    assert not [one for one in early.axes[0].get_lines() if one.get_gid() in ("lost", "robot 3")]  # it comes at 12


@pytest.mark.parametrize("given", ["trace", "profiles"])
def test_films_count_who_is_there(given, tmp_path, monkeypatch):
    game = everything("frames").game if given == "trace" else crowded("frames").game
    trace = pt.run(game, RULES_ON_MAPS[0], 24, 7, record=("profile", "worth_union"), compiled=False)
    filmed = []
    monkeypatch.setattr("potentia.figures.animation.film", lambda made, *args, **options: filmed.append(made))
    animate(game, trace if given == "trace" else trace.profiles, tmp_path / "run.gif", frames=25)
    (made,) = filmed
    assert made.lives.tolist() == np.minimum(trace.lives, 25).tolist()
    np.testing.assert_allclose(made.series("worth")[1], trace.worth_union, rtol=1e-12)
