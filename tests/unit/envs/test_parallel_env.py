"""The environment is the game: what it plays, pays, shows and refuses."""

import copy
import math
import pickle
import sys

import numpy as np
import pytest

import potentia as pt
from potentia.envs.setting import setting_from
from potentia.errors import InvalidRun
from tests.unit.envs.games_here import ALL, MAPS, bare, eventful, flagged, walled

STEPS = 12


def env_of(game, steps=STEPS, **options):
    return pt.envs.parallel_env(game, steps, **{"compiled": False, **options})


def named(env, profile):
    return dict(zip(env.possible_agents, profile.tolist(), strict=True))


def played(game, seed=3, **options):
    """A run of a rule in which several players move at once."""
    rule = pt.rule("p-sblll", tau=0.3, revision=0.6)
    record = ("profile", "welfare", *(["potential"] if game.has_potential else []))
    run = pt.begin(game, rule, seed, record=record, compiled=False, **options)
    return run, run.advance(STEPS).trace()


@pytest.mark.parametrize("name", ALL)
def test_the_same_actions_make_the_same_states(name):
    game = ALL[name]()
    run, trace = played(game)
    env = env_of(game, reward="potential" if game.has_potential else "utility")
    env.reset(seed=3)
    np.testing.assert_array_equal(env.state(), trace.start)  # where runs of the seed begin
    for step in range(1, STEPS + 1):
        _, rewards, terminated, truncated, infos = env.step(named(env, trace.profiles[step]))
        np.testing.assert_array_equal(env.state(), trace.profiles[step])
        assert not any(info["illegal"] for info in infos.values())
        assert not any(terminated.values())
        assert set(truncated.values()) == {step == STEPS}
        if game.has_potential:
            assert set(rewards.values()) == {trace.potential[step]}
        elif name not in MAPS:
            assert sum(rewards.values()) == pytest.approx(trace.welfare[step], rel=1e-12)
    for kept in (*game.remembers, "profile"):  # flags, energy, distances, who is there, the field
        np.testing.assert_array_equal(getattr(env._state, kept), getattr(run.state, kept))


def oracle(game, player, before, after, flags):
    """Eq. 45 by its formula, with the flags of before the step and the energy of the move."""
    own = {tuple(cell) for cell in game.covered(player, after[player]).tolist()}
    value = sum(game.world.worth[y, x] for x, y in own)
    for other in range(game.num_players):
        if other != player:
            both = own & {tuple(cell) for cell in game.covered(other, after[other]).tolist()}
            value -= sum(game.world.worth[y, x] for x, y in both)
    way = math.dist(*game.positions([before[player], after[player]]))
    x, y = game.positions(after[player])
    if flags[y, x] - {player}:  # the cell was left by another robot, which is nearer than 2δ
        value = 0.0
    return value - game.movement_cost[player] * way


def test_robots_are_paid_by_eq_45_and_pay_for_moving():
    game = flagged()
    _, trace = played(game)
    env = env_of(game)
    env.reset(seed=3)
    flags = np.array([[set() for _ in range(7)] for _ in range(6)])
    moved = 0
    for step in range(1, STEPS + 1):
        before, after = trace.profiles[step - 1], trace.profiles[step]
        for robot, (x, y) in enumerate(game.positions(before)):
            flags[y, x].add(robot)
        _, rewards, *_ = env.step(named(env, after))
        expected = [oracle(game, robot, before, after, flags) for robot in range(3)]
        np.testing.assert_allclose(list(rewards.values()), expected, rtol=1e-12, atol=1e-12)
        moved += (before != after).sum()
    assert moved > 3


@pytest.mark.parametrize("name", ["congestion", "normal_form", "bare"])
def test_the_marginal_reward_is_what_a_move_was_worth_to_all(name):
    game = ALL[name]()
    total = game.potential if game.has_potential else game.welfare
    _, trace = played(game)
    env = env_of(game, reward="marginal")
    env.reset(seed=3)
    for before, after in zip(trace.profiles, trace.profiles[1:], strict=False):
        _, rewards, *_ = env.step(named(env, after))
        for player, reward in enumerate(rewards.values()):
            without = after.copy()
            without[player] = before[player]
            assert reward == pytest.approx(total(after) - total(without), rel=1e-9, abs=1e-12)
            if game.has_potential:  # of which it is the player's own gain
                gain = game.utility(player, after) - game.utility(player, without)
                assert reward == pytest.approx(gain, rel=1e-9, abs=1e-12)


def test_the_marginal_reward_of_robots_counts_energy_and_flags():
    game = pt.games.Coverage(pt.games.World(np.ones((1, 8))), 2, 1.0, K=0.25, reach=8.0)
    env = env_of(game, reward="marginal")
    env.reset(options={"start": [0, 7]})
    _, rewards, *_ = env.step({"robot_0": 3, "robot_1": 7})
    # it covers three cells instead of two, and pays for three; the other one stays
    assert rewards == {"robot_0": 1.0 - 0.75, "robot_1": 0.0}
    _, rewards, *_ = env.step({"robot_0": 3, "robot_1": 0})
    # onto a flag that is 7 cells away, too far to be seen: two cells as before, at the cost of seven
    assert rewards == {"robot_0": 0.0, "robot_1": -7 * 0.25}


# What is observed ---------------------------------------------------------------------------------------


def seen(env, agent, **options):
    return env.reset(**options)[0][agent]["observation"]


def test_players_see_actions():
    game = ALL["path"]()
    start = {"options": {"start": [2, 0, 1]}}
    assert seen(env_of(game), "player_2", **start).tolist() == [1]
    assert seen(env_of(game, observation="local"), "player_2", **start).tolist() == [1, 0]
    assert seen(env_of(game, observation="local"), "player_1", **start).tolist() == [0, 2, 1]
    assert seen(env_of(game, observation="full"), "player_1", **start).tolist() == [0, 2, 1]
    assert seen(env_of(game, observation="full"), "player_2", **start).tolist() == [1, 2, 0]


def test_those_who_congest_see_loads():
    game = ALL["congestion"]()
    env = env_of(game, observation="local")
    start = {"options": {"start": [0, 0, 2]}}
    assert seen(env, "player_0", **start).tolist() == [0, *game.loads([0, 0, 2])]
    assert seen(env, "player_2", **start).tolist() == [2, *game.loads([0, 0, 2])]


def test_without_interactions_players_see_everybody():
    game = pt.games.custom(lambda player, profile, data: 0.0, [2] * 3)  # of which a guard would warn
    assert seen(env_of(game, observation="local"), "player_1", options={"start": [0, 1, 1]}).tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", MAPS)
def test_robots_see_the_map(name):
    game = MAPS[name]()
    _, trace = played(game)
    local, full, own = (env_of(game, observation=kind) for kind in ("local", "full", "own"))
    for env in (local, full, own):
        env.reset(seed=3)
    side = local.setting.shape[1]
    middle, (columns, rows) = side // 2, game.world.size
    for step in range(1, STEPS + 1):
        near, far, places = (env.step(named(env, trace.profiles[step]))[0] for env in (local, full, own))
        there = own._state.here.astype(bool) if own._state.here.size else np.ones(game.num_players, bool)
        flags = full._state.flags.reshape(-1, game.data.width)[game._frame :, game._frame :] if game.flags else None
        for robot, agent in enumerate(own.possible_agents):
            x, y = game.positions(trace.profiles[step][robot])
            assert places[agent]["observation"].tolist() == [x, y, there[robot]]
            whole, patch = far[agent]["observation"], near[agent]["observation"]
            np.testing.assert_array_equal(whole[0], game.worth_at(step).astype(np.float32))
            np.testing.assert_array_equal(whole[1], ~game.world.blocked)
            counts = np.zeros((2, rows, columns))
            for other in np.flatnonzero(there):
                at = game.positions(trace.profiles[step][other])
                counts[int(other != robot), at[1], at[0]] += 1
            np.testing.assert_array_equal(whole[2:4], counts)
            if flags is not None:
                others = (flags != 0) & (flags != robot + 1)
                np.testing.assert_array_equal(whole[4], others[:rows, :columns])
            if not there[robot]:
                assert not patch.any()
                continue
            for dy in range(-middle, middle + 1):  # the patch is a window on the whole
                for dx in range(-middle, middle + 1):
                    inside = 0 <= x + dx < columns and 0 <= y + dy < rows
                    inside = inside and dx * dx + dy * dy <= 4 * game.delta[robot] ** 2 + 1e-9
                    window = patch[:, middle + dy, middle + dx]
                    expected = whole[[0, 1, 3, 4], y + dy, x + dx] if inside else np.zeros(4)
                    hidden = int(game.sight and inside and window[0] == 0.0)
                    np.testing.assert_array_equal(window[hidden:], expected[hidden:])


def test_walls_hide_worth_from_robots():
    worth = np.ones((5, 5))
    worth[2, :4] = 0.0
    world = pt.games.World(worth, blocked=worth == 0.0)
    start = {"options": {"start": [0]}}
    hidden = seen(env_of(pt.games.Coverage(world, 1, sight=True), observation="local"), "robot_0", **start)
    open_ = seen(env_of(pt.games.Coverage(world, 1), observation="local"), "robot_0", **start)
    assert open_[0, 3 + 3, 3] == 1.0  # three cells down, behind the wall
    assert hidden[0, 3 + 3, 3] == 0.0
    assert hidden[0, 3 + 1, 3] == 1.0
    assert hidden[1, 3 + 2, 3] == 0.0  # the wall itself


@pytest.mark.parametrize("name", ["constrained", "walled", "eventful", "uncompiled"])
@pytest.mark.parametrize("observation", ["own", "local", "full"])
def test_observations_and_masks_are_in_their_spaces(name, observation):
    game = ALL[name]()
    _, trace = played(game)
    env = env_of(game, observation=observation)
    observations, _ = env.reset(seed=3)
    again = pt.begin(game, pt.rule("lll", tau=1.0), 3, compiled=False)
    for step in range(1, STEPS + 1):
        for player, agent in enumerate(env.possible_agents):
            assert env.observation_space(agent).contains(observations[agent])
            mask = observations[agent]["action_mask"]
            np.testing.assert_array_equal(np.flatnonzero(mask), again.legal(player))
        after = trace.profiles[step]
        moved = np.flatnonzero(after != again.profile).tolist()
        again.apply({player: int(after[player]) for player in moved})
        observations, *_ = env.step(named(env, after))


# What is refused ----------------------------------------------------------------------------------------


def test_who_may_not_stays():
    game = ALL["constrained"]()
    env = env_of(game)
    env.reset(options={"start": [1, 0]})
    _, rewards, _, _, infos = env.step({"player_0": 2, "player_1": 1})
    assert env.state().tolist() == [1, 1]
    assert infos == {"player_0": {"illegal": True}, "player_1": {"illegal": False}}
    assert rewards["player_0"] == game.utility(0, [1, 1])
    strict = env_of(game, strict=True)
    strict.reset(options={"start": [1, 0]})
    with pytest.raises(InvalidRun, match="player_0 may not play 2 now, which its action_mask says; it is at 1"):
        strict.step({"player_0": 2, "player_1": 1})
    assert strict.state().tolist() == [1, 0]
    strict.step({"player_0": 0, "player_1": 1})
    assert strict.state().tolist() == [0, 1]


def test_those_who_are_gone_or_not_there_yet_stay():
    env = env_of(eventful())
    env.reset(options={"start": [0, 8, 20, 30]})
    masks = []
    for _ in range(8):
        observations, rewards, _, _, infos = env.step({"robot_0": 0, "robot_1": 9, "robot_2": 20, "robot_3": 31})
        masks.append([int(observations[f"robot_{k}"]["action_mask"].sum()) for k in (1, 3)])
    assert [one == 1 for one, _ in masks] == [False] * 3 + [True] * 5  # it fails when four steps are played
    assert [other == 1 for _, other in masks] == [True] * 5 + [False] * 3
    assert rewards["robot_1"] == 0.0
    assert infos["robot_1"]["illegal"] is False  # it stays where it is, which is what it was told
    assert env.state()[3] == 31


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        ({"player_0": 0}, "actions must hold one action for each of the 2 agents, got none for player_1"),
        ({"player_0": 0, "player_1": 0, "player_2": 0}, "each of the 2 agents, got one for player_2"),
        ({"player_0": 0, "other": 0}, "each of the 2 agents, got none for player_1"),
        ({"player_0": 3, "player_1": 0}, "must hold an integer from 0 to 2 for player_0, got 3"),
        ({"player_0": -1, "player_1": 0}, "must hold an integer from 0 to 2 for player_0, got -1"),
        ({"player_0": 0, "player_1": 1.0}, "must hold an integer from 0 to 3 for player_1, got 1.0"),
        ({"player_0": 0, "player_1": None}, "must hold an integer from 0 to 3 for player_1, got None"),
        ({"player_0": 10**30, "player_1": 0}, "must hold an integer from 0 to 2 for player_0, got 1000"),
        ({"player_0": [0], "player_1": [0]}, r"must hold an integer from 0 to 2 for player_0, got \[0\]"),
        ({"player_0": "a", "player_1": 0}, "must hold an integer from 0 to 2 for player_0, got 'a'"),
        ([0, 1], r"actions must be a dict from agents to actions, such as \{'player_0': 0\}, got \[0, 1\]"),
        (None, "actions must be a dict from agents to actions"),
        ({}, "each of the 2 agents, got none for player_0, player_1"),
    ],
)
def test_bad_actions(actions, said):
    env = env_of(ALL["constrained"]())
    env.reset(seed=0)
    before = env.state()
    with pytest.raises(InvalidRun, match=said) as caught:
        env.step(actions)
    assert caught.value.parameter == "actions"
    np.testing.assert_array_equal(env.state(), before)


def test_all_integers_are_actions():
    env = env_of(ALL["constrained"]())
    env.reset(options={"start": [0, 0]})
    env.step({"player_0": np.int32(1), "player_1": np.array(1, np.uint8)})
    assert env.state().tolist() == [1, 1]
    for one in (True, False):  # they are in a space of Gymnasium's
        assert env.action_space("player_0").contains(one)
        env.step({"player_0": one, "player_1": 0})
        env.step({"player_0": False, "player_1": True})
        assert env.state().tolist() == [0, 1]


def test_before_the_beginning_and_after_the_end():
    env = env_of(ALL["separable"](), 1)
    for early in (lambda: env.step({}), env.state):
        with pytest.raises(InvalidRun, match=r"call reset\(\) first"):
            early()
    env.reset(seed=0)
    actions = dict.fromkeys(env.agents, 0)
    env.step(actions)
    assert env.agents == []
    for late in (actions, {}):
        with pytest.raises(InvalidRun, match=r"the episode has ended after 1 steps: call reset\(\)"):
            env.step(late)
    env.reset()
    env.step(actions)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"steps": 0}, "steps must be"),
        ({"reward": "money"}, "reward must be one of utility, potential, marginal, got 'money'"),
        (
            {"reward": "potential"},
            r"reward cannot be the potential: none is known for NormalForm.*potential=pt.analysis.potential\(game",
        ),
        ({"observation": 1}, "observation must be one of own, local, full"),
        ({"strict": 1}, "strict must be"),
        ({"render_mode": "ansi"}, "render_mode must be one of rgb_array, html, human, got 'ansi'"),
        ({"compiled": "now"}, "compiled must be"),
        ({"events": ["fail 0@1"]}, "events are for robots"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises(InvalidRun, match=said):
        pt.envs.parallel_env(ALL["normal_form"](), **options)


def test_who_is_no_agent():
    env = pt.envs.parallel_env(ALL["normal_form"]())
    for space in (env.observation_space, env.action_space):
        with pytest.raises(InvalidRun, match="agent must be one of the agents, player_0 to player_2, got 'Zoe'"):
            space("Zoe")


def test_bad_games(monkeypatch):
    with pytest.raises(InvalidRun, match="game must be a potentia game"):
        pt.envs.parallel_env("ring")
    with pytest.raises(InvalidRun, match="game must be the game itself: what is believed of it"):
        pt.envs.parallel_env(pt.beliefs.Believing(bare(), pt.belief("split-merge")))
    with pytest.raises(InvalidRun, match="must happen within the 3 steps"):
        pt.envs.parallel_env(eventful(), 3)
    with pytest.raises(InvalidRun, match="one has it with flags=False and K=0"):
        pt.envs.parallel_env(flagged(), reward="potential")
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(InvalidRun, match=r"PettingZoo is not installed: pip install 'potentia\[envs\]'"):
        pt.envs.parallel_env(bare())


def test_a_function_that_fails_says_where():
    def fails(player, profile, data):
        if profile[0] == 1 and profile[1] == 1:
            raise ZeroDivisionError("no")
        return 0.0

    env = env_of(pt.games.custom(fails, [3, 3], interactions=[[0, 1]]))
    env.reset(options={"start": [0, 0]})
    with pytest.raises(pt.errors.InvalidGame, match=r"after step 0: .*profile \[1, 1\]"):
        env.step({"player_0": 1, "player_1": 1})
    with pytest.raises(InvalidRun, match=r"call reset\(\) first"):  # nobody knows how far it came
        env.step({"player_0": 0, "player_1": 0})
    many = pt.envs.vector_env(env.game, 2, compiled=False)
    many.reset(options={"start": [0, 0]})
    with pytest.raises(pt.errors.InvalidGame, match="after step 0"):
        many.step([[0, 0], [1, 1]])
    with pytest.raises(InvalidRun, match=r"call reset\(\) first"):
        many.step([[0, 0], [0, 0]])


# Seeds --------------------------------------------------------------------------------------------------


def test_episodes_follow_from_the_seed():
    one, other = (env_of(bare()) for _ in range(2))
    for env in (one, other):
        env.reset(seed=5)
    starts = [one.state()]
    for _ in range(3):
        one.reset()
        other.reset()
        np.testing.assert_array_equal(one.state(), other.state())
        starts.append(one.state())
    assert len({tuple(start) for start in starts}) == 4
    one.reset(seed=5)
    np.testing.assert_array_equal(one.state(), starts[0])
    fresh = [env_of(bare()) for _ in range(2)]
    for env in fresh:
        env.reset()
    assert fresh[0].np_random_seed != fresh[1].np_random_seed
    with pytest.raises(InvalidRun, match="seed must be"):
        one.reset(seed=-1)
    with pytest.raises(InvalidRun, match="start must be 3 integers"):
        one.reset(options={"start": [0]})


def test_a_start_that_is_refused_leaves_the_seed():
    env = env_of(ALL["path"]())
    env.reset(seed=1)
    with pytest.raises(InvalidRun, match="start must"):
        env.reset(seed=2, options={"start": [0]})
    assert env.np_random_seed == 1


def test_hazards_are_drawn_anew_in_each_episode():
    game = bare().with_events(["hazard 0.2"])
    env, lives = env_of(game), []
    for seed in (1, None, None, 1):
        env.reset(seed=seed)
        lives.append(tuple(env._state.until.tolist()))
    assert len(set(lives)) == 3
    assert lives[0] == lives[3]


def test_a_game_that_begins_where_it_says():
    game = bare().like(start=[(0, 0), (1, 1), (2, 2)])
    env = env_of(game)
    for seed in (0, None, 7):
        env.reset(seed=seed)
        assert env.state().tolist() == game.start.tolist()
    arriving = game.with_events(["arrive 3"])
    env = env_of(arriving)
    env.reset(seed=0)
    np.testing.assert_array_equal(env.state(), pt.begin(arriving, pt.rule("lll", tau=1.0), 0).start)
    env.reset()
    assert env.state()[:3].tolist() == game.start.tolist()


def through_pickle(env):
    return pickle.loads(pickle.dumps(env))


@pytest.mark.parametrize("way", [copy.deepcopy, copy.copy, through_pickle])
@pytest.mark.parametrize("name", ["walled", "separable"])
def test_copies_go_on_alone(way, name):
    """As wrappers make them; where they are, they play the same, and arrays stay as they were frozen."""
    env = env_of(ALL[name](), observation="local", render_mode="rgb_array")
    way(env).reset(seed=3)
    env.reset(seed=3)
    _, trace = played(env.game)
    for step in range(1, 4):
        env.step(named(env, trace.profiles[step]))
    other = way(env)
    before = other.state()
    told = env.step(named(env, trace.profiles[4]))
    np.testing.assert_array_equal(other.state(), before)
    again = other.step(named(env, trace.profiles[4]))
    assert told[1:] == again[1:]
    for one, two in zip(env._state, other._state, strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.flags.writeable == two.flags.writeable
    np.testing.assert_array_equal(env.render(), other.render())
    many = pt.envs.vector_env(env.game, 2, compiled=False)
    way(many).reset(seed=0)
    many.reset(seed=0)
    twin = way(many)
    stay = many.profiles
    (first, rewards, *_), (second, others, *_) = many.step(stay), twin.step(stay)
    np.testing.assert_array_equal(rewards, others)
    np.testing.assert_array_equal(first["action_mask"], second["action_mask"])


# Pictures -----------------------------------------------------------------------------------------------


def test_pictures_show_the_moment(monkeypatch):
    env = env_of(walled(), render_mode="rgb_array")
    with pytest.raises(InvalidRun, match=r"nothing to draw yet: call reset\(\) first"):
        env.render()
    _, trace = played(walled())
    env.reset(seed=3)
    first = env.render()
    for step in range(1, 5):
        env.step(named(env, trace.profiles[step]))
    later = env.render()
    assert (first.shape, first.dtype) == (later.shape, np.uint8)
    assert (first != later).any()
    with pytest.raises(InvalidRun, match="render_mode must be given to draw, one of 'rgb_array', 'html', 'human'"):
        env_of(bare()).render()


def test_a_page_replays_the_episode(monkeypatch):
    game, opened = flagged(), []
    _, trace = played(game)
    monkeypatch.setattr("webbrowser.open", opened.append)
    for mode in ("html", "human"):
        env = env_of(game, render_mode=mode)
        env.reset(seed=3)
        for step in range(1, 6):
            env.step(named(env, trace.profiles[step]))
        page = env.render()
        made = env._picture._recording()
        np.testing.assert_array_equal(made.profiles(range(6)), trace.profiles[:6])
        assert made.steps == 5
        assert (page is None) == (mode == "human")
    assert len(opened) == 1
    assert opened[0].endswith("replay.html")


def test_large_games_are_drawn_in_part():
    env = env_of(pt.game("ring", players=1000), render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().shape[0] < 600


def test_observations_that_would_not_fit():
    with pytest.raises(pt.errors.TooLarge, match="what 1,000,000 players see"):
        setting_from(pt.game("ring", players=10**6), 10, "utility", "full", False, False, None)
