"""Many copies at once play what single environments play, to the bit."""

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from tests.unit.envs.games_here import ALL

COPIES, STEPS = 3, 5


def compare(game, compiled=False, **options):
    """Random actions, some of them illegal, over more than two episodes."""
    many = pt.envs.vector_env(game, COPIES, STEPS, compiled=compiled, **options)
    single = [pt.envs.parallel_env(game, STEPS, compiled=compiled, **options) for _ in range(COPIES)]
    shown, _ = many.reset(seed=7)
    told = [env.reset(seed=7 + k)[0] for k, env in enumerate(single)]
    random, illegal = np.random.default_rng(0), 0
    for step in range(1, 2 * STEPS + 3):
        for k, env in enumerate(single):
            for player, agent in enumerate(env.possible_agents):
                for name, part in told[k][agent].items():
                    row = shown[name][k, player].reshape(-1)
                    np.testing.assert_array_equal(row[: part.size], part.reshape(-1))
                    assert row.dtype == part.dtype
                    assert not row[part.size :].any()
        near = random.random((COPIES, game.num_players, 1)) < 0.8
        weights = np.where(near, shown["action_mask"], np.arange(shown["action_mask"].shape[2]) < game.sizes[:, None])
        actions = (random.random(weights.shape) * weights).argmax(axis=2)
        shown, rewards, terminated, truncated, infos = many.step(actions)
        assert not terminated.any()
        assert (truncated == (step % STEPS == 0)).all()
        assert ("final_obs" in infos) == (step % STEPS == 0)
        for k, env in enumerate(single):
            told[k], gains, *_, known = env.step(dict(zip(env.agents, actions[k].tolist(), strict=True)))
            assert rewards[k].tolist() == list(gains.values())
            assert infos["illegal"][k].tolist() == [info["illegal"] for info in known.values()]
            illegal += infos["illegal"][k].sum()
            if not env.agents:
                last = infos["final_obs"]["observation"][k, 0].reshape(-1)
                part = told[k][env.possible_agents[0]]["observation"].reshape(-1)
                np.testing.assert_array_equal(last[: part.size], part)
                told[k], _ = env.reset()
    return illegal


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("normal_form", {"observation": "full"}),
        ("constrained", {"reward": "marginal"}),
        ("congestion", {"observation": "local", "reward": "potential"}),
        ("uncompiled", {"observation": "local"}),
        ("walled", {"observation": "local"}),
        ("eventful", {}),
    ],
)
def test_copies_play_what_single_ones_play(name, options):
    game = ALL[name]() if name != "eventful" else ALL[name]().with_events(["fail 1@2", "arrive 3", "hazard 0.1"])
    illegal = compare(game, **options)
    assert (illegal > 0) == (name in ("constrained", "walled", "eventful"))


def test_arrays_may_be_used_again():
    env = pt.envs.vector_env(ALL["constrained"](), 2, 8, compiled=False, copy=False)
    first, _ = env.reset(seed=0)
    assert np.shares_memory(first["action_mask"], env.step(np.zeros((2, 2), int))[0]["action_mask"])
    with pytest.raises(ValueError, match="read-only"):  # what is legal is read there
        first["action_mask"][:] = 1


def test_compiled_copies_play_what_single_ones_play_in_python():
    """Two kernels that compile fast; what they are made of is compared in plain Python above."""
    game = ALL["constrained"]()
    many = pt.envs.vector_env(game, COPIES, STEPS, compiled=True)
    plain = pt.envs.vector_env(game, COPIES, STEPS, compiled=False)
    shown, again = many.reset(seed=1)[0], plain.reset(seed=1)[0]
    random = np.random.default_rng(0)
    for _ in range(STEPS + 2):
        np.testing.assert_array_equal(shown["observation"], again["observation"])
        np.testing.assert_array_equal(shown["action_mask"], again["action_mask"])
        actions = random.integers(game.sizes, size=(COPIES, 2))
        (shown, rewards, *_, infos), (again, others, *_, told) = many.step(actions), plain.step(actions)
        np.testing.assert_array_equal(rewards, others)
        np.testing.assert_array_equal(infos["illegal"], told["illegal"])
    with pytest.raises(InvalidRun, match="player_1, got 4 in copy 2"):
        many.step([[0, 0], [0, 0], [0, 4]])


@pytest.mark.long
@pytest.mark.parametrize("observation", ["own", "local", "full"])
@pytest.mark.parametrize("reward", ["utility", "potential", "marginal"])
@pytest.mark.parametrize("name", ALL)
def test_everything_compiled(name, reward, observation):
    game = ALL[name]()
    if reward == "potential" and not game.has_potential:
        pytest.skip("no potential is known")
    compiled = game.uncompilable is None
    steps = 7  # within which what happens to robots happens
    one, other = (
        pt.envs.parallel_env(game, steps, reward=reward, observation=observation, compiled=way)
        for way in (compiled, False)
    )
    (first, _), (second, _) = one.reset(seed=4), other.reset(seed=4)
    random = np.random.default_rng(0)
    for _ in range(steps):
        for agent in one.agents:
            for part in ("observation", "action_mask"):
                np.testing.assert_array_equal(first[agent][part], second[agent][part])
        actions = {agent: int(random.integers(one.action_space(agent).n)) for agent in one.agents}
        (first, gains, *_, infos), (second, others, *_, told) = one.step(actions), other.step(actions)
        assert (gains, infos) == (others, told)
    if name != "eventful":  # which has events after the end of a shorter episode
        compare(game, compiled, reward=reward, observation=observation)


def test_arrays_are_the_callers_own():
    env = pt.envs.vector_env(ALL["constrained"](), 2, 5, compiled=False)
    first, _ = env.reset(seed=0)
    kept = {name: part.copy() for name, part in first.items()}
    _, rewards, *_ = env.step(np.ones((2, 2), int))
    again = rewards.copy()
    env.step(np.zeros((2, 2), int))
    for name, part in first.items():
        np.testing.assert_array_equal(part, kept[name])
    np.testing.assert_array_equal(rewards, again)


def test_starts_may_be_given():
    env = pt.envs.vector_env(ALL["constrained"](), 2, 5, compiled=False)
    env.reset(options={"start": [1, 2]})
    assert env.profiles.tolist() == [[1, 2], [1, 2]]
    env.reset(options={"start": [[1, 2], [0, 3]]})
    assert env.profiles.tolist() == [[1, 2], [0, 3]]
    with pytest.raises(InvalidRun, match="start must hold one profile for each of 2 copies, got 1"):
        env.reset(options={"start": [[1, 2]]})


def test_a_start_that_is_refused_changes_nothing():
    """Nor does a seed: the episode goes on, and the next one is that of the seed before."""
    game = ALL["flagged"]()
    env, other = (pt.envs.vector_env(game, 2, 5, compiled=False) for _ in range(2))
    for one in (env, other):
        one.reset(seed=1)
    for start in ([0, 0], [[0, 0, 0], [0, 0, -1]], [[0, 0, 0]]):
        with pytest.raises(InvalidRun, match="start must"):
            env.reset(seed=7, options={"start": start})
    for step in range(6):
        (shown, rewards, *_), (again, others, *_) = (one.step(np.full((2, 3), step)) for one in (env, other))
        np.testing.assert_array_equal(shown["action_mask"], again["action_mask"])
        np.testing.assert_array_equal(rewards, others)


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ([0, 0], r"must be integers of shape \(2, 2\), .* got shape \(2,\)"),
        (np.zeros((2, 2)), "got shape .* of float64"),
        ([[0, 0], [3, 0]], "actions must be from 0 to 2 for player_0, got 3 in copy 1"),
        ([[0, -1], [0, 0]], "actions must be from 0 to 3 for player_1, got -1 in copy 0"),
        ([[0, 0], [0, 2]], "player_1 of copy 1 may not play 2 now"),
    ],
)
def test_bad_actions(actions, said):
    env = pt.envs.vector_env(ALL["constrained"](), 2, 5, strict=True, compiled=False)
    with pytest.raises(InvalidRun, match=r"call reset\(\) first"):
        env.step(actions)
    env.reset(options={"start": [0, 0]})
    with pytest.raises(InvalidRun, match=said):
        env.step(actions)
    assert not env.profiles.any()


def test_bad_options():
    game = ALL["constrained"]()
    for options, said in (({"copies": 0}, "copies must be"), ({"copies": 2, "copy": 1}, "copy must be")):
        with pytest.raises(InvalidRun, match=said):
            pt.envs.vector_env(game, **options)
    with pytest.raises(pt.errors.TooLarge, match="use fewer copies"):
        pt.envs.vector_env(game, 10**12)
