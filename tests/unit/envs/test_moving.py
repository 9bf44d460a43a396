"""Actions as moves play what the cells that they lead to play, to the bit."""

import pickle

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from tests.unit.envs.games_here import ALL, MAPS, WORTH, flagged, walled

STEPS = 6


def events(name):
    return ["fail 1@2", "arrive 3"] if name == "bare" else None


@pytest.mark.parametrize("name", sorted(MAPS))
def test_moves_are_cells(name):
    """Moves at random, some of them illegal, against the cells that they lead to."""
    game, options = MAPS[name](), {"compiled": False, "observation": "local", "events": events(name)}
    moves = pt.envs.parallel_env(game, STEPS, actions="moves", **options)
    cells = pt.envs.parallel_env(game, STEPS, **options)
    world, random, illegal = game.world, np.random.default_rng(0), 0
    number = {tuple(cell): action for action, cell in enumerate(world.cells.tolist())}
    told, seen = moves.reset(seed=3)[0], cells.reset(seed=3)[0]
    assert moves.moves[0].tolist() == [0, 0]
    for _ in range(STEPS):
        near = {}
        for player, agent in enumerate(moves.agents):
            here = world.cells[cells.state()[player]]
            leads = [number.get(tuple(there)) for there in (here + moves.moves).tolist()]
            mask = seen[agent]["action_mask"]
            wanted = [0 if lead is None else mask[lead] for lead in leads]
            assert told[agent]["action_mask"].tolist() == wanted
            assert told[agent]["action_mask"].dtype == np.int8
            assert mask.sum() == sum(wanted)  # nothing is out of their reach
            assert moves.observation_space(agent).contains(told[agent])
            np.testing.assert_array_equal(told[agent]["observation"], seen[agent]["observation"])
            near[agent] = leads
        chosen = {agent: int(random.integers(len(moves.moves))) for agent in moves.agents}
        stay = {agent: int(cells.state()[player]) for player, agent in enumerate(cells.agents)}
        legal = {agent: bool(told[agent]["action_mask"][chosen[agent]]) for agent in chosen}
        after = cells.step(
            {agent: near[agent][move] if legal[agent] else stay[agent] for agent, move in chosen.items()}
        )
        told, *rest, infos = moves.step(chosen)
        assert rest == list(after[1:4])
        assert {agent: not info["illegal"] for agent, info in infos.items()} == legal
        illegal += sum(not one for one in legal.values())
        seen = after[0]
        assert (moves.state() == cells.state()).all()
    assert illegal


def test_copies_play_what_single_ones_play():
    game, options = walled(), {"actions": "moves", "compiled": False}
    many = pt.envs.vector_env(game, 3, STEPS, **options)
    single = [pt.envs.parallel_env(game, STEPS, **options) for _ in range(3)]
    shown, told = many.reset(seed=5)[0], [env.reset(seed=5 + k)[0] for k, env in enumerate(single)]
    random = np.random.default_rng(1)
    for _ in range(STEPS - 1):
        for k, seen in enumerate(told):
            assert shown["action_mask"][k].tolist() == [one["action_mask"].tolist() for one in seen.values()]
        actions = random.integers(0, len(many.moves), (3, 3))
        shown, rewards, *_, infos = many.step(actions)
        for k, env in enumerate(single):
            told[k], gains, *_, known = env.step(dict(zip(env.agents, actions[k].tolist(), strict=True)))
            assert rewards[k].tolist() == list(gains.values())
            assert infos["illegal"][k].tolist() == [info["illegal"] for info in known.values()]
            assert (many.profiles[k] == env.state()).all()
    shown, *_, infos = pickle.loads(pickle.dumps(many)).step(np.zeros((3, 3), int))
    assert shown["action_mask"].shape == infos["final_obs"]["action_mask"].shape == (3, 3, len(many.moves))


def test_a_seat_moves():
    game = pt.games.Coverage(pt.games.World(WORTH), 2, 1.5, start=[(0, 0), (4, 4)])
    seat = pt.learners.Seat(game, pt.rule("blll", tau=0.1), 0, actions="moves", compiled=False)
    assert seat.mask.sum() == 4  # in the corner
    east, west = (seat.setting.moves.tolist().index([step, 0]) for step in (1, -1))
    seat.step(east)
    assert (game.world.cells[seat.run.profile[0]].tolist(), seat.illegal) == ([1, 0], False)
    seat.step(west)
    seat.step(west)
    assert (game.world.cells[seat.run.profile[0]].tolist(), seat.illegal) == ([0, 0], True)


def test_nine_moves_of_adjacent_cells():
    env = pt.envs.parallel_env(flagged(), actions="moves")
    assert env.action_space("robot_0").n == 9
    rows = [[0, 0], [-1, -1], [0, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [0, 1], [1, 1]]
    assert env.moves.tolist() == rows
    assert pt.envs.parallel_env(flagged()).moves is None


def test_what_is_no_move_is_refused():
    corner = pt.games.Coverage(pt.games.World(WORTH), 1, 1.5, start=[(0, 0)])
    for make in (pt.envs.parallel_env, lambda game, steps, **given: pt.envs.vector_env(game, 1, steps, **given)):
        env = make(corner, 5, actions="moves", strict=True, compiled=False)
        env.reset(seed=0)
        told = (lambda move: {"robot_0": move}) if make is pt.envs.parallel_env else lambda move: [[move]]
        with pytest.raises(InvalidRun, match=r"from 0 to 8 for robot_0, got 9"):
            env.step(told(9))
        with pytest.raises(InvalidRun, match=r"robot_0.* may not play 4 now"):
            env.step(told(4))
    for name in ("constrained", "congestion"):
        with pytest.raises(InvalidRun, match=r"for robots on a map.* use \"own\""):
            pt.envs.vector_env(ALL[name](), 2, actions="moves")
    with pytest.raises(InvalidRun, match="own"):
        pt.envs.vector_env(corner, 2, actions="steps")
