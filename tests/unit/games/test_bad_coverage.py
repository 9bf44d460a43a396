"""Bad worlds, coverage games and rules for them: the exception, the field it names and what arrived."""

from __future__ import annotations

import json

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidGame, InvalidRule, InvalidRun, TooLarge
from potentia.games import Coverage, Mixture, World, gaussian_world, random_world
from potentia.rules import Constant, Geometric, Logarithmic, Piecewise, Relative, SignalRevision, schedule_from
from tests.unit.bad import EYE, INF, NAN, case, nothing_plays, refuses  # noqa: F401

ROUND = [EYE]
CENTRE = [[1.5, 1.5]]


def world(**options):
    return World(np.ones((3, 4)), **options)


def cover(on=None, robots=2, delta=1.5, **options):
    return Coverage(on or world(), robots, delta, **options)


def mixture(weights=(0.5, 0.5), means=((0, 0), (1, 1)), covariances=(EYE, EYE), **options):
    return Mixture(weights, means, covariances, **options)


# Worlds -----------------------------------------------------------------------------------------------

WORTH = [
    case("negative", lambda: World([[1.0, 2], [3, -0.5]]), r"worth must not be negative, got -0\.5 at \(1, 1\)"),
    case("nan", lambda: World([[1.0, 2], [NAN, 1]]), r"worth .*got NaN at \(0, 1\); block a cell with blocked="),
    case("nan in one axis", lambda: World([1.0, NAN]), r"worth .*got"),
    case("inf", lambda: World([[1.0, INF]]), r"worth must be finite, got inf at index \(0, 1\)"),
    case("ragged", lambda: World([[1, 2], [3]]), r"worth must be a table .*rows of different lengths"),
    case("empty", lambda: World([]), r"worth must be a table of rows and columns, got shape \(0,\)"),
    case("no rows", lambda: World(np.zeros((0, 3))), r"worth must be a table .*got shape \(0, 3\)"),
    case("one axis", lambda: World([1.0, 2.0]), r"worth must be a table .*got shape \(2,\)"),
    case("three axes", lambda: World(np.ones((2, 2, 3))), r"worth must be a table .*got shape \(2, 2, 3\)"),
    case("text", lambda: World("flat"), r"worth must be .*real numbers, got .*'flat'"),
    case("texts", lambda: World([["a", "b"]]), r"worth must be .*real numbers, got .*'a'"),
    case("none", lambda: World(None), r"worth must be .*real numbers, got .*None"),
    case("complex", lambda: World(np.ones((2, 2), complex)), r"worth must be .*real numbers, got array"),
    case("too much", lambda: World([[1e301]]), r"worth must be small enough to sum"),
    case("overflow", lambda: World([[1e308, 1e308]]), r"worth must be small enough to sum"),
    case("mask's shape", lambda: world(blocked=np.zeros((4, 3), bool)), r"blocked .*\(3, 4\), got \(4, 3\)"),
    case("mask of floats", lambda: world(blocked=np.zeros((3, 4))), r"blocked must be true and false.*got float64"),
    case("mask of twos", lambda: world(blocked=np.full((3, 4), 2)), r"blocked must be true and false, or 1 and 0, got"),
    case("mask of text", lambda: world(blocked="wall"), r"blocked .*got"),
    case("ragged mask", lambda: world(blocked=[[1], [0, 1]]), r"blocked .*got"),
    case("all blocked", lambda: world(blocked=np.ones((3, 4), bool)), r"blocked leaves no free cell"),
    case("target outside", lambda: world(targets=[(0, 0), (4, 0)]), r"targets .*x 0\.\.3 and y 0\.\.2, got \(4, 0\)"),
    case("target below", lambda: world(targets=[(0, -1)]), r"targets must lie inside .*got \(0, -1\) as number 0"),
    case("target of floats", lambda: world(targets=[(0.5, 0)]), r"targets must be cells .*got \[\(0\.5, 0\)\]"),
    case("target unpacked", lambda: world(targets=(1, 2)), r"targets must be cells .*got"),
    case("targets a number", lambda: world(targets=5), r"targets must be cells .*got 5"),
    case("origin", lambda: world(origin="top"), r'origin must be "upper" or "lower", got \'top\''),
    case("size", lambda: gaussian_world((4,), [1], CENTRE, ROUND), r"size must be \(columns, rows\), got \(4,\)"),
    case("size zero", lambda: gaussian_world((4, 0), [1], CENTRE, ROUND), r"size .*at least 1, got \(4, 0\)"),
    case(
        "size float", lambda: gaussian_world((4, 2.0), [1], CENTRE, ROUND), r"size must be two integers.*got \(4, 2\.0"
    ),
    case("size number", lambda: gaussian_world(4, [1], CENTRE, ROUND), r"size must be \(columns, rows\), got 4"),
    case("seed", lambda: random_world(-1), r"seed must be an integer of at least 0, got -1"),
    case("targets", lambda: random_world(0, targets=6), r"targets must be an integer from 1 to 5, got 6"),
]


@pytest.mark.parametrize(("call", "message"), WORTH)
def test_bad_world(call, message):
    refuses(call, InvalidGame, message)


MIXTURES = [
    case("sum", lambda: mixture((0.5, 0.4)), r"weights must sum to 1, got 0\.9; normalise=True scales them"),
    case("negative", lambda: mixture((1.5, -0.5)), r"weights must be positive, got -0\.5 for component 1"),
    case("negative, scaled", lambda: mixture((3, -1), normalise=True), r"weights must be positive, got -1"),
    case("zero", lambda: mixture((1.0, 0.0)), r"weights must be positive, got 0\.0 for component 1"),
    case("nan", lambda: mixture((NAN, 1.0)), r"weights must be finite, got nan at index \(0,\)"),
    case("none", lambda: mixture((), (), ()), r"weights .*at least one number, got shape \(0,\)"),
    case("text", lambda: mixture("half"), r"weights must be .*real numbers, got 'half'"),
    case("huge", lambda: mixture((1.7e308, 1.7e308)), r"weights must have a finite sum, got up to 1.7e\+308"),
    case("table", lambda: mixture(EYE), r"weights must be a list .*got shape \(2, 2\)"),
    case("means' shape", lambda: mixture(means=[0, 1]), r"means must have shape \(2, 2\), .*got \(2,\)"),
    case("too few means", lambda: mixture(means=[[0, 1]]), r"means must have shape \(2, 2\), .*got \(1, 2\)"),
    case("means in space", lambda: mixture(means=np.ones((2, 3))), r"means must have shape \(2, 2\), .*got \(2, 3\)"),
    case("mean inf", lambda: mixture(means=[[0, 1], [INF, 0]]), r"means must be finite, got inf at index \(1, 0\)"),
    case("asymmetric", lambda: mixture(covariances=[EYE, [[1, 0.5], [0.2, 1]]]), r"component 1 must be symmetric, got"),
    case(
        "indefinite", lambda: mixture(covariances=[[[1, 2], [2, 1]], EYE]), r"covar.*0 .*definite, got .*eigenvalue -1"
    ),
    case(
        "singular", lambda: mixture(covariances=[EYE, np.ones((2, 2))]), r"covar.*component 1 must be positive definite"
    ),
    case("nothing", lambda: mixture(covariances=[EYE, 0 * EYE]), r"component 1 must be positive definite, got \[\[0"),
    case("one for two", lambda: mixture(covariances=EYE), r"covariances must have shape \(2, 2, 2\), .*got \(2, 2\)"),
    case("widths", lambda: mixture(covariances=[1.0, 2.0]), r"covariances must have shape .*got \(2,\)"),
    case("covariance nan", lambda: mixture(covariances=[EYE, NAN * EYE]), r"covariances must be finite, got nan"),
]


@pytest.mark.parametrize(("call", "message"), MIXTURES)
def test_bad_mixture(call, message):
    refuses(call, InvalidGame, message)


def test_weights_are_scaled_on_request_only():
    assert mixture((2.0, 6.0), normalise=True).weights.tolist() == [0.25, 0.75]
    assert mixture((0.3, 0.7)).weights.tolist() == [0.3, 0.7]


def test_world_too_large_to_hold():
    refuses(lambda: gaussian_world((10**9, 10**9), [1], CENTRE, ROUND), TooLarge, "a world of 1000000000×1000000000")


@pytest.mark.parametrize("far", [-1e9, 3.5, 1e3, 1e9])
def test_means_far_outside_are_worth_little_and_no_target(far):
    built = gaussian_world((4, 3), [1], [[far, 1.0]], ROUND)
    assert np.isfinite(built.worth).all()
    assert len(built.targets) == (0 <= far < 4)


@pytest.mark.parametrize("square", [1e-9, 1e-3, 1e3, 1e18])
def test_widths_of_any_size_are_built(square):
    assert np.isfinite(gaussian_world((4, 3), [1], CENTRE, [square * EYE]).worth).all()


@pytest.mark.parametrize("scale", [1e30, 1e200])
def test_what_would_overflow_is_refused_in_words(scale):
    refuses(lambda: gaussian_world((4, 3), [1], [[scale, 1.0]], ROUND), InvalidGame, r"means must lie within 1e\+09")
    refuses(lambda: gaussian_world((4, 3), [1], CENTRE, [scale * EYE]), InvalidGame, r"covariances .*at most 1e\+18")
    refuses(lambda: gaussian_world((4, 3), [1], CENTRE, [EYE / scale]), InvalidGame, r"eigenvalues of at least 1e-09")


# Games ------------------------------------------------------------------------------------------------

GAMES = [
    case("no world", lambda: Coverage(np.ones((2, 2)), 1), r"world must be a World, .*got array"),
    case("no robots", lambda: cover(robots=0), r"robots must be an integer of at least 1, got 0"),
    case("robots float", lambda: cover(robots=2.0), r"robots must be an integer of at least 1, got 2\.0"),
    case("robots true", lambda: cover(robots=True), r"robots must be an integer .*got True"),
    case("robots text", lambda: cover(robots="two"), r"robots must be an integer .*got 'two'"),
    case("too many robots", lambda: cover(robots=13), r"robots must be at most the 12 free cells .*got 13"),
    case("delta negative", lambda: cover(delta=-1), r"delta must be a finite number of at least 0, got -1"),
    case("delta nan", lambda: cover(delta=NAN), r"delta must be a finite number of at least 0, got nan"),
    case("delta inf", lambda: cover(delta=INF), r"delta must be a finite number of at least 0, got inf"),
    case(
        "delta of one", lambda: cover(delta=[1, -2]), r"delta of robot 1 must be a finite number of at least 0, got -2"
    ),
    case("deltas", lambda: cover(delta=[1, 2, 3]), r"delta must be .*each of 2 robots, got 3"),
    case("delta text", lambda: cover(delta="wide"), r"delta must be a number.*got 'wide'"),
    case("delta none", lambda: cover(delta=None), r"delta must be a number, or a list .*, got None"),
    case("delta true", lambda: cover(delta=True), r"delta must be a number, .*got True"),
    case("delta table", lambda: cover(delta=EYE), r"delta .*got"),
    case("delta set", lambda: cover(delta={-1.0, 2.0}), r"delta .*got"),
    case("delta mapping", lambda: cover(delta={0: 1.0, 1: 2.0}), r"delta .*got \{0: 1\.0, 1: 2\.0\}"),
    case("K negative", lambda: cover(K=-0.1), r"K must be a finite number of at least 0, got -0\.1"),
    case("K of one", lambda: cover(K=[0, NAN]), r"K of robot 1 must be a finite number of at least 0, got nan"),
    case("K too short", lambda: cover(K=[0.1]), r"K must be .*each of 2 robots, got 1"),
    case("K text", lambda: cover(K="x"), r"K must be a number.*got 'x'"),
    case("reach name", lambda: cover(reach="far"), r'reach must be "adjacent" or a radius .*got \'far\''),
    case("reach too short", lambda: cover(reach=0.5), r"reach must be .*at least 1 cell, got 0\.5"),
    case("reach nan", lambda: cover(reach=NAN), r"reach must be .*got nan"),
    case("reach inf", lambda: cover(reach=INF), r"reach must be .*got inf"),
    case("reach list", lambda: cover(reach=np.array([1, 2])), r"reach must be .*got"),
    case("flags name", lambda: cover(flags="cell"), r"flags must be True or False, got 'cell'"),
    case("flag name", lambda: cover(flag="cells"), r'flag must be "cell" or "range", got \'cells\''),
    case("payoff name", lambda: cover(payoff="shared"), r'payoff must be "overlap" or "marginal", got \'shared\''),
    case(
        "start outside",
        lambda: cover(start=[(0, 0), (4, 0)]),
        r"start .*x 0\.\.3 and y 0\.\.2, got \(4, 0\) for robot 1",
    ),
    case("start of one", lambda: cover(start=[(0, 0)]), r"start must hold one place for each of 2 robots, got 1"),
    case("start empty", lambda: cover(start=[]), r"start must hold one place for each of 2 robots, got 0"),
    case("start floats", lambda: cover(start=[(0.0, 1), (1, 1)]), r"start must be cells .*whole numbers, got \[\(0\.0"),
    case("start actions", lambda: cover(start=[0, 1]), r"start must be cells \(x, y\) .*got \[0, 1\]"),
    case("start text", lambda: cover(start="ab"), r"start must be cells .*got 'ab'"),
    case("start ragged", lambda: cover(start=[(0, 1), (1,)]), r"start must be cells .*got"),
    case(
        "start on a wall",
        lambda: cover(World(EYE, blocked=[[0, 1], [0, 0]]), start=[(0, 0), (1, 0)]),
        r"start places robot 1 on \(1, 0\), which is blocked",
    ),
    case("profile", lambda: cover().profile([(0, 0), (9, 9)]), r"cells must lie inside .*got \(9, 9\) as number 1"),
    case("potential with flags", lambda: cover().potential([0, 1]), r"flags=False and K=0"),
    case("potential with K", lambda: cover(flags=False, K=0.1).potential([0, 1]), r"flags=False and K=0"),
    case(
        "chain", lambda: pt.analysis.chain(cover(), pt.rule("blll", tau=1)), r"flags.* without memory \(flags=False\)"
    ),
    case("stable", lambda: pt.analysis.stability(cover(), pt.rule("blll", tau=1)), r"without memory \(flags=False\)"),
    case("audit", lambda: pt.analysis.audit(cover(), pt.rule("blll", tau=1)), r"without memory \(flags=False\)"),
    case("exact potential", lambda: pt.analysis.potential(cover()), r"without memory \(flags=False\)"),
    case("equilibria", lambda: pt.analysis.pure_nash(cover()), r"without memory \(flags=False\)"),
]


@pytest.mark.parametrize(("call", "message"), GAMES)
def test_bad_coverage_game(call, message):
    refuses(call, InvalidGame, message)


@pytest.mark.parametrize("much", [1e5, 1e160, 1e200])
def test_ranges_and_moves_beyond_the_map_reach_all_of_it(much):
    """However far: nothing overflows, and nothing is built that the map cannot hold."""
    game = cover(delta=much, reach=much)
    assert game.scale == 12.0
    assert len(game.covered(0, 5)) == 12
    assert game.reachable(0, 5) == [a for a in range(12) if a != 5]
    assert game.interacting(0, 1).all()
    assert game.interactions.num_groups < 100


ROOMS = World(np.ones((3, 5)), blocked=[[0, 0, 1, 0, 1], [0, 0, 1, 0, 1], [0, 0, 1, 1, 0]])


def test_cut_off_cells_are_named_and_blocked_on_request():
    refuses(
        lambda: cover(ROOMS),
        InvalidGame,
        r"into 2 parts, of 6, 3 cells, and .*: 3 cells .*: \(3, 0\), \(3, 1\), \(4, 2\); "
        r"open a way, or keep one part: world\.largest_part\(\), or another with world\.part\(K\)",
    )
    whole = ROOMS.largest_part()
    assert cover(whole).num_actions == (6, 6)
    assert whole.cells.tolist() == [[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]
    assert ROOMS.num_free == 9  # the world itself is as it was


def test_many_cut_off_cells_are_counted():
    stripes = World(np.ones((9, 9)), blocked=[[k % 2 for k in range(9)]] * 9)
    refuses(
        lambda: cover(stripes), InvalidGame, r"into 5 parts, .* 36 cells .*\(8, 0\), \(2, 1\), \(4, 1\) and 30 more"
    )


@pytest.mark.parametrize("reach", [1, 1.4])
def test_corners_do_not_connect_where_moves_are_straight(reach):
    checkers = World(EYE, blocked=[[0, 1], [1, 0]])
    assert cover(checkers).reachable(0, 0) == [1]
    refuses(
        lambda: cover(checkers, reach=reach),
        InvalidGame,
        r"into 2 parts, .*: \(1, 1\); .*world\.largest_part\(diagonal=False\)",
    )
    assert cover(checkers.largest_part(diagonal=False), robots=1, reach=reach).num_actions == (1,)
    assert cover(checkers.largest_part(diagonal=False), robots=1, reach=reach).num_actions == (1,)


# Rules and runs on them -------------------------------------------------------------------------------


def begin(on=None, record=(), **options):
    return pt.begin(on or cover(), pt.rule("p-sblll", **{"tau": 0.1, "revision": 0.3, **options}), record=record)


RULES = [
    case("a3 = a2", lambda: SignalRevision(a3=0.5), r"needs a3 < a2 < a1, got a1 = 1\.0, a2 = 0\.5, a3 = 0\.5"),
    case("a2 = a1", lambda: SignalRevision(a1=0.5), r"needs a3 < a2 < a1, got a1 = 0\.5"),
    case("a1 above 1", lambda: SignalRevision(a1=1.5), r"a1 must be a number in \(0, 1\], got 1\.5"),
    case("a3 zero", lambda: SignalRevision(a3=0), r"a3 must be a number in \(0, 1\], got 0"),
    case("a2 nan", lambda: SignalRevision(a2=NAN), r"a2 must be a number in \(0, 1\], got nan"),
    case("a1 text", lambda: SignalRevision(a1="1"), r"a1 must be a number in \(0, 1\], got '1'"),
    case("normalise", lambda: SignalRevision(normalise="mine"), r'normalise must be "own" or "world", got \'mine\''),
    case(
        "unknown level",
        lambda: begin(revision={"signal": {"a4": 1}}),
        r"revision by a signal has no parameter .a4. .*a1, a2",
    ),
    case("no levels", lambda: begin(revision={"signal": 3}), r"a signal revision is \{'signal': .*got \{'signal': 3\}"),
    case("no signal", lambda: begin(pt.game("ring"), revision=SignalRevision()), r"Eq\. 53.* needs .*Coordination"),
    case(
        "no signal, world", lambda: begin(pt.game("ring"), revision=SignalRevision(normalise="world")), r"needs a game"
    ),
    case(
        "exact with a history",
        lambda: pt.analysis.chain(cover(flags=False), pt.rule("p-sblll", tau=1, revision=SignalRevision())),
        r'normalise="world"',
    ),
    case("no scale", lambda: begin(pt.game("ring"), tau="auto"), r'tau="auto" .*Coordination\(.*has none'),
    case("no worth", lambda: begin(cover(World(0 * EYE)), tau="auto"), r'tau="auto" .*with some worth; Coverage\('),
    case("auto without end", lambda: begin(tau="auto"), r"a geometric schedule needs steps=, or a run of planned"),
    case("auto misspelt", lambda: begin(tau="Auto"), r'tau must be a number, a schedule or "auto", got \'Auto\''),
    case("relative twice", lambda: Relative(Relative(0.1)), r"relative schedule cannot hold another"),
    case("relative of nothing", lambda: Relative(-0.1), r"tau must be finite and > 0, got -0\.1"),
    case("relative alone", lambda: Relative(0.1).at(0), r"no temperature without a game: use schedule\.on\(game\)"),
    case("relative spec", lambda: schedule_from({"kind": "relative"}), r"tau of kind relative needs schedule="),
]


@pytest.mark.parametrize(("call", "message"), RULES)
def test_bad_rule_for_coverage(call, message):
    refuses(call, InvalidRule, message)


RUNS = [
    case(
        "misspelt", lambda: begin(record="worth_uniom"), r"record .*worth_union.*'worth_uniom'; did you mean 'worth_u"
    ),
    case("two", lambda: begin(record=("moves", "cell_seen")), r"got 'cell_seen'; did you mean 'cells_seen'\?"),
    case("another game's", lambda: begin(pt.game("ring"), "energy"), r"record must name some of .*got 'energy'"),
    case("potential", lambda: begin(record="potential"), r"no potential is known for this Coverage"),
    case("not recorded", lambda: begin(record="moves").trace().energy, r"energy was not recorded; pass record="),
]


@pytest.mark.parametrize(("call", "message"), RUNS)
def test_bad_recorder(call, message):
    refuses(call, InvalidRun, message)


@pytest.mark.parametrize("change", [{"flags": False}, {"flag": "range"}, {"K": 0.1}, {"delta": 2.0}, {"reach": 2}])
def test_saved_run_is_not_resumed_on_another_coverage_game(tmp_path, change):
    path = begin().save(tmp_path / "run.npz")
    pt.load(path, cover())
    refuses(lambda: pt.load(path, cover(**change)), InvalidRun, r"run\.npz was saved from another game, Coverage\(")


SCHEDULES = [
    (Geometric(0.5, 0.01, 100), Geometric(6.0, 0.12, 100)),
    (Constant(0.25), Constant(3.0)),
    (Logarithmic(0.5, 0.25, 2.0), Logarithmic(6.0, 3.0, 2.0)),
    (Piecewise(((0, 0.5), (50, 0.25))), Piecewise(((0, 6.0), (50, 3.0)))),
]


@pytest.mark.parametrize(("inner", "scaled"), SCHEDULES, ids=lambda s: s.kind)
def test_relative_schedule_is_the_schedule_in_units_of_the_scale(inner, scaled):
    game = cover(delta=9.0)  # each robot covers all of the 12 cells
    assert game.scale == 12.0
    relative = Relative(inner)
    assert [relative.on(game).at(n) for n in range(120)] == pytest.approx([scaled.at(n) for n in range(120)], rel=1e-14)
    assert [relative.on(game).at(n) for n in (0, 99)] != pytest.approx([inner.at(n) for n in (0, 99)])
    assert schedule_from(json.loads(json.dumps(relative.spec()))) == relative


@pytest.mark.parametrize("options", [{"tau": "auto"}, {"revision": SignalRevision(0.9, 0.4, 0.2, "world")}])
def test_specs_survive_json(options):
    rule = pt.rule("p-sblll", **{"tau": 0.1, "revision": 0.3, **options})
    again = pt.rules.rule_from(json.loads(json.dumps(rule.spec())))
    assert again == rule
    assert again.describe() == rule.describe()
    assert again != pt.rule("p-sblll", tau=0.1, revision=0.3)
