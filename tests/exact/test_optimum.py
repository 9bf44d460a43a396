"""The best placement, against every placement there is."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from potentia.analysis import optimum
from potentia.analysis.placement import _Search
from potentia.errors import InvalidGame, InvalidInput
from potentia.games import Coverage, World, paper_world, random_world

EXACT = 1e-10  # sums in different orders


def discs(game):
    """What each robot covers from each free cell, by definition: a set of cells as the bits of an integer."""
    rows, columns = game.world.worth.shape
    every = [(x, y) for y in range(rows) for x in range(columns)]
    free = [(x, y) for x, y in every if not game.world.blocked[y, x]]
    return [
        [sum(1 << k for k, (a, b) in enumerate(every) if (a - x) ** 2 + (b - y) ** 2 <= d**2 + 1e-9) for x, y in free]
        for d in game.delta
    ]


def worth_of(game, cells):
    return sum(float(f) for k, f in enumerate(game.world.worth.reshape(-1)) if cells >> k & 1)


def by_enumeration(game):
    """The most that any placement covers: all unions of one range per robot."""
    unions = {0}
    for choices in discs(game):
        unions = {union | cells for union in unions for cells in set(choices)}
    return max(worth_of(game, cells) for cells in unions)


def coverable(game):
    """The worth of the cells that some robot can cover from somewhere."""
    seen = np.bitwise_or.reduce(np.array(discs(game), object), axis=None)
    mask = [bool(seen >> k & 1) for k in range(game.world.worth.size)]
    return np.where(np.reshape(mask, game.world.worth.shape), game.world.worth, 0.0)


def by_hand(game):
    """Greedy as it is told: the robot with the longest range first, each where it adds most."""
    covers, covered = discs(game), 0
    for robot in np.argsort(-game.delta, kind="stable"):
        covered |= max(covers[robot], key=lambda cells: worth_of(game, covered | cells))
    return worth_of(game, covered)


def check(game, found, best, gap=1e-6):
    """All that a result claims, given the true optimum."""
    slack = EXACT * best
    assert found.value == game.worth_union(found.profile)
    assert (found.positions == game.positions(found.profile)).all()
    assert not game.world.blocked[found.positions[:, 1], found.positions[:, 0]].any()
    assert found.value <= best + slack
    assert found.bound >= best - slack
    assert found.bound >= found.value >= found.greedy
    assert found.greedy >= found.guarantee * best - slack
    assert found.gap == ((found.bound - found.value) / found.value if found.bound > found.value else 0.0)
    assert found.proven == (found.gap <= gap)


def small_games():
    """Names and games with few enough placements to try them all."""
    random = np.random.default_rng(4)
    for k in range(12):
        rows, columns = random.integers(2, 5, 2)
        worth = random.random((rows, columns)) ** 3
        worth[random.random(worth.shape) < 0.3 * (k % 3)] = 0.0
        blocked = random.random(worth.shape) < 0.2 * (k % 2)
        blocked[0, 0] = False
        world = World(worth, blocked=blocked).largest_part()
        robots = int(min(random.integers(1, 4), world.num_free))
        delta = random.choice([0.0, 1.0, 1.5, 2.0], robots) if k % 4 else 1.0
        yield f"random-{k}", Coverage(world, robots, delta)
    yield "strip", Coverage(World(random.random((1, 14))), 3, 1.0)
    yield "upright strip of different ranges", Coverage(World(random.random((12, 1))), 3, [2.0, 0.0, 1.0])
    yield "one robot", Coverage(World(random.random((5, 5))), 1)
    yield "one cell", Coverage(World([[2.0]]), 1)
    yield "a robot on every cell", Coverage(World(random.random((2, 3))), 6, 0.0)
    yield "a range beyond the world", Coverage(World(random.random((3, 3))), 2, [50.0, 0.5])
    yield "worthless", Coverage(World(np.zeros((3, 4))), 2, flags=False)
    yield "flat", Coverage(World(np.ones((4, 4))), 3, 1.0)
    yield "one cell of worth", Coverage(World(np.eye(1, 12).reshape(3, 4)), 2)
    yield "huge numbers", Coverage(World(random.random((3, 4)) * 1e290), 2, 1.0)
    yield "tiny numbers", Coverage(World(random.random((3, 4)) * 1e-290), 2, 1.0)
    lake = np.zeros((7, 7), bool)
    lake[1:6, 1:6] = True
    yield (
        "a lake whose middle nobody sees",
        Coverage(World(np.where(lake, 9.0, random.random((7, 7))), blocked=lake), 2),
    )


SMALL = dict(small_games())


@pytest.fixture(scope="module")
def best():
    return {name: by_enumeration(game) for name, game in SMALL.items()}


@pytest.mark.parametrize("name", SMALL)
def test_every_placement_was_considered(name, best):
    game = SMALL[name]
    for method in ("auto", "milp"):
        found = optimum(game, method=method)
        check(game, found, best[name])
        assert found.proven
        assert found.value == pytest.approx(best[name], rel=1e-6)
    greedy = optimum(game, method="greedy", time_limit=0)
    check(game, greedy, best[name])
    assert greedy.method == "greedy"
    assert greedy.bound <= coverable(game).sum() * (1 + EXACT)
    assert greedy.greedy == pytest.approx(by_hand(game), rel=EXACT)


@pytest.mark.parametrize("name", [name for name in SMALL if name != "worthless"])
def test_the_solver_alone(name, best):
    """Without help of prices and pruning: every position takes part."""
    game = SMALL[name]
    search = _Search(game, time.perf_counter() + 60, 1e-6)
    every = [np.arange(game.world.num_free)] * len(game.ranges)
    bound, profile = search._solved(every)
    complete, _ = search._greedy(search.area.worth, profile)
    assert game.worth_union(complete) == pytest.approx(best[name], rel=1e-6)
    assert best[name] * (1 - EXACT) <= bound <= best[name] * (1 + 1e-6)


def prices_bound(game, prices):
    search = _Search(game, time.perf_counter(), 1e-6)
    return search._relaxed(np.pad(prices, search.area.frame))[0]


def test_any_prices_are_a_bound(best):
    """L(u) is a bound for any 0 ≤ u ≤ f, and none for prices above f, which the same comparison shows."""
    random = np.random.default_rng(1)
    wrong = 0
    for name, game in SMALL.items():
        worth = coverable(game)
        for share in (0.0, 1.0, random.random(worth.shape), random.random(worth.shape) < 0.5):
            assert prices_bound(game, share * worth) >= best[name] * (1 - EXACT), name
        wrong += prices_bound(game, 3.0 * worth) < best[name] * (1 - EXACT)
    assert wrong >= len(SMALL) / 4


def test_wrong_results_are_caught(best):
    """The negative control of ``check``: each claim, spoilt on its own, fails it."""
    name = "strip"
    game, found = SMALL[name], optimum(SMALL[name])
    check(game, found, best[name])
    low = 0.999 * best[name]
    for spoilt in (
        {"bound": low, "gap": 0.0},  # a bound below the optimum
        {"bound": low, "value": low, "gap": 0.0},
        {"value": 1.001 * best[name]},  # a worth that the placement does not have
        {"greedy": 0.6 * best[name]},  # less than the guarantee
        {"gap": 0.5},
        {"proven": False},
        {"positions": found.positions[::-1] * 0},
    ):
        with pytest.raises(AssertionError):
            check(game, dataclasses.replace(found, **spoilt), best[name])


@pytest.mark.parametrize(("robots", "value"), [(5, 0.2309), (20, 0.6651)])
def test_the_papers_world_is_solved(robots, value):
    game = Coverage(paper_world(), robots)
    found = optimum(game)
    assert found.proven
    assert found.gap <= 1e-6
    assert found.value == pytest.approx(value, abs=5e-5)
    assert found.seconds < 10  # it takes half a second
    check(game, found, found.value)


def test_a_stop_at_any_time_leaves_a_bound():
    """Stopped anywhere, and then inside HiGHS, the result is a placement and a bound of the true optimum."""
    game = Coverage(paper_world(), 5, 3.0)
    best = optimum(game)
    assert best.proven
    open_ends = 0
    for limit in (0, 1e-9, 0.01, 0.03, 0.1, 0.2, 0.4):
        found = optimum(game, method="milp", time_limit=limit)
        check(game, found, best.value)
        open_ends += not found.proven
    assert open_ends >= 2  # with no time at all, on any machine
    for limit in (0.01, 0.05, 0.2):
        search = _Search(game, time.perf_counter(), 1e-6)
        search.deadline = time.perf_counter() + limit
        assert search.milp(force=True)
        assert search.value <= best.value * (1 + EXACT)
        assert search.bound >= best.value * (1 - 1e-6)
        assert search.bound < np.inf


class Clock:
    """A clock that goes on by so much whenever somebody looks."""

    def __init__(self, tick):
        self.tick, self.now = tick, 0.0

    def __call__(self):
        self.now += self.tick
        return self.now


def test_what_work_allows_does_not_depend_on_the_clock(monkeypatch):
    walls = np.zeros((16, 16), bool)
    walls[4:12, 8] = True
    world = World(np.random.default_rng(0).random((16, 16)), blocked=walls)
    game = Coverage(world, 4, [2.0, 2.0, 3.0, 3.0], flags=False, sight=True)

    def found(tick, effort):
        monkeypatch.setattr("potentia.analysis.placement.time.perf_counter", Clock(tick))
        return optimum(game, method="greedy", time_limit=60.0, effort=effort)

    for effort in (1e-3, 0.01, 0.05):
        slow, quick = found(1e-3, effort), found(1e-6, effort)
        assert (slow.value, slow.bound, slow.profile.tolist()) == (quick.value, quick.bound, quick.profile.tolist())
        assert not slow.by_clock
    assert found(1e-6, 0.05).bound < found(1e-6, 1e-3).bound
    late = found(20.0, np.inf)
    assert late.by_clock
    assert "stopped by the clock: another run may find a little more or less" in str(late)
    assert "clock" not in str(quick)


def test_a_limit_of_nodes_leaves_a_bound(monkeypatch):
    from scipy import optimize

    draw, solve = np.random.default_rng(0), optimize.milp
    weights = draw.integers(1, 50, (25, 60))
    stopped = solve(
        -draw.integers(1, 50, 60),
        integrality=np.ones(60),
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(weights, -np.inf, weights.sum(axis=1) // 2),
        options={"node_limit": 3},
    )
    assert stopped.mip_node_count == 3  # what the solver says then, which SciPy has no status for
    game = Coverage(paper_world(), 5)
    best, allowed = optimum(game), []

    def watched(*given, options, **more):
        allowed.append(options["node_limit"])
        done = solve(*given, options=options, **more)
        return optimize.OptimizeResult(done, status=stopped.status, message=stopped.message)

    monkeypatch.setattr(optimize, "milp", watched)
    found = optimum(game, effort=2.0)
    assert found.method == "milp"
    assert found.proven
    check(game, found, best.value)
    assert not found.by_clock
    assert optimum(game, effort=1.0).bound == found.bound
    assert allowed[0] > allowed[1] > 1


@pytest.mark.parametrize("dual", [None, np.inf, -np.inf, np.nan])
def test_a_solver_that_fails_proves_nothing(dual, monkeypatch):
    from scipy import optimize

    failed = optimize.OptimizeResult(status=1, x=None, mip_dual_bound=dual)
    game = Coverage(paper_world(), 5)
    best = optimum(game)
    monkeypatch.setattr(optimize, "milp", lambda *given, **options: failed)
    found = optimum(game)
    assert found.method == "milp"
    assert not found.proven
    check(game, found, best.value)


def test_ranges_masks_and_random_worlds():
    """The answers with pruning agree with those of the solver on all positions."""
    random = np.random.default_rng(2)
    walls = World(paper_world().worth, blocked=random.random((40, 40)) < 0.3).largest_part()
    for game in (
        Coverage(random_world(1), 20),
        Coverage(walls, 12),
        Coverage(paper_world(), 6, [1.0, 1.0, 1.5, 2.0, 3.0, 3.0]),
        Coverage(World(random.random((15, 15))), 10),
    ):
        found = optimum(game)
        assert found.proven
        search = _Search(game, 0.0, 1e-6)  # no time: greedy and the first bounds only
        search.deadline = time.perf_counter() + 60
        bound, profile = search._solved([np.arange(game.world.num_free)] * len(game.ranges))
        value = game.worth_union(search._greedy(search.area.worth, profile)[0])
        assert value == pytest.approx(found.value, rel=1e-6)
        assert found.value * (1 - EXACT) <= bound <= found.value * (1 + 1e-6)
        check(game, found, max(found.value, value))


def test_guarantees():
    assert optimum(Coverage(random_world(0), 1), method="greedy").guarantee == 1.0
    many = optimum(Coverage(random_world(0), 200), method="greedy", time_limit=0.1)
    assert 1 - 1 / np.e < many.guarantee < 1 - 1 / np.e + 1e-3
    assert optimum(Coverage(random_world(0), 2, [1.0, 2.0]), method="greedy").guarantee == 0.5


def test_a_large_map():
    game = Coverage(random_world(0, size=(600, 600)), 300)
    found = optimum(game, method="greedy", time_limit=2.0)
    assert found.greedy <= found.value <= found.bound
    assert found.gap < 0.01


def test_people_can_read_it():
    text = str(optimum(Coverage(paper_world(), 5)))
    assert "optimum: covered worth 0.23094 (proven, gap" in text
    assert "its robots are at (" in text
    assert "greedy alone, robot after robot: 0.221191, 95.78% of it" in text
    open_end = str(optimum(Coverage(paper_world(), 20, 3.0), method="greedy", time_limit=0))
    assert "best placement known: covered worth" in open_end
    assert "no placement covers more than" in open_end
    assert "greedy never misses more than 36% of the optimum" in open_end
    assert "covered worth 0 (proven" in str(optimum(SMALL["worthless"]))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"game": None}, InvalidGame, "got None"),
        ({"method": "simplex"}, InvalidInput, "method must be one of auto, milp, greedy, got 'simplex'"),
        ({"method": ["milp"]}, InvalidInput, "method must be one of"),
        ({"time_limit": -1}, InvalidInput, "time_limit must be a number of at least 0, got -1"),
        ({"time_limit": float("nan")}, InvalidInput, "got nan"),
        ({"time_limit": "60"}, InvalidInput, "got '60'"),
        ({"gap": 0}, InvalidInput, r"gap must be a number in \[1e-09, 1\], got 0"),
        ({"gap": 2.0}, InvalidInput, r"gap must be a number in \[1e-09, 1\], got 2.0"),
    ],
)
def test_bad_arguments(options, error, words):
    game = options.pop("game", SMALL["strip"])
    with pytest.raises(error, match=words):
        optimum(game, **options)
