"""A worth field that drifts, against bounces and densities worked out step by step."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import potentia as pt
from potentia.engine.batch import play_batch
from potentia.errors import InvalidGame, InvalidRule
from potentia.figures import configuration_figure
from potentia.games import Coverage, Mixture, World, gaussian_world, paper_world
from potentia.games.drift import reflected
from potentia.kernel import protocol
from potentia.rules import SignalRevision
from potentia.studies.coverage import paper_game
from potentia.studies.summary import summarise
from tests.drift_oracle import bounced
from tests.unit.bad import EYE, INF, NAN, case, refuses

SIZE = (9, 7)
WEIGHTS = (0.25, 0.75)
MEANS = ((2.0, 3.0), (7.5, 5.25))
COVARIANCES = (((2.0, 0.5), (0.5, 1.0)), ((1.5, 0.0), (0.0, 3.0)))
VELOCITY = ((0.25, -0.125), (-0.5, 0.0625))
EVERY = 4
WALLS = np.zeros((7, 9), bool)
WALLS[3, 4:6] = True
RULE = {"rule": "blll", "tau": 0.02}  # one for all, so that one kernel is compiled
RECORD = ("profile", "welfare", "worth_sum", "worth_union", "cells_seen")


def hills(**options):
    return gaussian_world(SIZE, WEIGHTS, MEANS, COVARIANCES, blocked=WALLS, **options)


def cover(on=None, robots=3, **options):
    options = {"drift": VELOCITY, "drift_every": EVERY, "flags": False, **options}
    return Coverage(on or hills(), robots, 1.5, **options)


def begin(game, seed=1, record=RECORD, compiled=False):
    return pt.begin(game, RULE, seed, record=record, compiled=compiled)


def means_after(steps):
    return [[bounced(m[k], v[k], steps, SIZE[k]) for k in (0, 1)] for m, v in zip(MEANS, VELOCITY, strict=True)]


@functools.cache
def density(means):
    """Σ_j ω_j g(l | μ_j, Σ_j) at the centre of each cell, as a dictionary."""
    field = {}
    for x, y in itertools.product(range(SIZE[0]), range(SIZE[1])):
        total = 0.0
        for weight, mean, covariance in zip(WEIGHTS, means, COVARIANCES, strict=True):
            apart = np.array([x + 0.5, y + 0.5]) - mean
            square = float(apart @ np.linalg.inv(covariance) @ apart)
            total += weight * math.exp(-square / 2) / (2 * math.pi * math.sqrt(np.linalg.det(covariance)))
        field[x, y] = total
    return field


def field_after(steps, every=EVERY):
    """What a run's field is by the definition: the density as it was when last computed."""
    return density(tuple(map(tuple, means_after(steps // every * every))))


# The motion -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("velocity", [0.25, -0.25, 1.5, -3.125, 7.0, -7.0, 6.875])
@pytest.mark.parametrize("mean", [0.0, 0.5, 3.25, 7.0])
def test_means_bounce_between_the_borders(mean, velocity):
    for steps in (0, 1, 2, 3, 10, 57, 200):
        there = reflected(mean, velocity, steps, 7)
        assert there == bounced(mean, velocity, steps, 7)
        assert 0 <= there <= 7
    assert any(not 0 <= mean + velocity * n <= 7 for n in range(200))  # there was something to reflect


def test_a_coordinate_that_does_not_move_may_lie_outside():
    assert reflected(-3.5, 0.0, 10, 7) == -3.5
    assert reflected(100.0, 0.0, 10, 7) == 100.0
    beside = gaussian_world(SIZE, [1], [[-3.5, 2.0]], [EYE])
    np.testing.assert_allclose(cover(beside, drift=(0, 1)).worth_at(0), beside.worth, rtol=1e-15)


@pytest.mark.parametrize("steps", [0, 1, 3, 4, 17, 40, 399, 10**6])
def test_field_is_that_of_a_world_with_moved_means(steps):
    game = cover()
    if steps < 1000:
        means = means_after(steps // EVERY * EVERY)
    else:  # dyadic numbers: nothing is rounded
        means = [[reflected(m[k], v[k], steps, SIZE[k]) for k in (0, 1)] for m, v in zip(MEANS, VELOCITY, strict=True)]
    there = gaussian_world(SIZE, WEIGHTS, means, COVARIANCES, blocked=WALLS)
    np.testing.assert_allclose(game.worth_at(steps), there.worth, rtol=1e-15, atol=0)
    assert (game.worth_at(steps)[WALLS] > 0).all()  # blocked cells have a worth, as in the world
    still = game.at(steps)
    assert still.world.worth.tobytes() == game.worth_at(steps).tobytes()
    assert still.world.mixture.means.tolist() == np.reshape(means, (2, 2)).tolist()
    if steps >= EVERY:
        assert np.abs(game.worth_at(steps) - game.world.worth).max() > 0.01


def test_field_holds_until_it_is_computed_again():
    game = cover(drift_every=5)
    fields = [game.worth_at(n).tobytes() for n in range(12)]
    assert fields[0] == fields[4] != fields[5] == fields[9] != fields[10] == fields[11]
    assert not game.worth_at(3).flags.writeable


def test_one_velocity_is_for_all_components():
    one, each = cover(drift=(0.5, -0.25)), cover(drift=[(0.5, -0.25)] * 2)
    assert one.fingerprint() == each.fingerprint()
    assert one.fingerprint() != cover().fingerprint()
    assert one.fingerprint() != cover(drift=(0.5, -0.25), drift_every=5).fingerprint()


def test_large_fields_are_computed_by_compiled_code_with_the_same_bits(monkeypatch):
    game = cover()
    plain = game.worth_at(40)
    monkeypatch.setattr("potentia.games.drift._BY_PYTHON", 0)
    assert game.worth_at(40).tobytes() == plain.tobytes()


# Runs -------------------------------------------------------------------------------------------------


def counted(game, profile):
    """How many robots cover each cell."""
    count = dict.fromkeys(itertools.product(range(SIZE[0]), range(SIZE[1])), 0)
    for x, y in game.positions(profile).tolist():
        for cell in count:
            count[cell] += math.dist(cell, (x, y)) <= 1.5
    return count


def recorded(game, profile, field):
    """The recorders' values by definition, for K = 0 and no flags."""
    count = counted(game, profile).items()
    single = sum(field[cell] * k for cell, k in count)
    pairs = sum(field[cell] * k * (k - 1) / 2 for cell, k in count)
    union = sum(field[cell] for cell, k in count if k)
    return {"worth_sum": single, "worth_union": union, "potential": single - pairs, "welfare": single - 2 * pairs}


@pytest.mark.parametrize("compiled", [False, True])
def test_recorders_read_the_present_field(compiled):
    game = cover()
    trace = begin(game, record=(*RECORD, "potential"), compiled=compiled).advance(90).trace()
    late = False
    for n, profile in enumerate(trace.profiles):
        for name, value in recorded(game, profile, field_after(n)).items():
            assert getattr(trace, name)[n] == pytest.approx(value, rel=1e-12), (name, n)
        first = recorded(game, profile, field_after(0))["worth_sum"]
        late = late or abs(trace.worth_sum[n] - first) > 0.01  # the control: not the field of time 0
    assert late


@pytest.mark.parametrize("payoff", ["overlap", "marginal"])
def test_utilities_of_a_running_game_are_those_of_the_present(payoff):
    game = cover(payoff=payoff, K=0.01, flags=True)
    run = begin(game).advance(30)
    bare = cover(payoff=payoff, K=0.01, flags=False)
    state = bare.new_state(run.profile)
    state.clock[0] = run.state.clock[0]
    protocol.settle(bare.data, state)
    assert state.worth.tobytes() == run.state.worth.tobytes()
    now, old = bare.at(30), bare.at(0)
    worst = 0.0
    for robot, action in itertools.product(range(3), range(0, game.world.num_free, 5)):
        value = protocol.utility(bare.data, state, robot, action)
        assert value == pytest.approx(now.move_utility(robot, run.profile, action), abs=1e-14)
        worst = max(worst, abs(value - old.move_utility(robot, run.profile, action)))
    assert worst > 0.01


@pytest.mark.parametrize("drift", [(0.01, 0.0), None])
def test_a_robot_follows_the_hill(drift):
    hill = gaussian_world((30, 9), [1], [(4.5, 4.5)], [4 * EYE])
    game = Coverage(hill, 1, 1.5, flags=False, start=[(4, 4)], drift=drift)
    rule = pt.rule("blll", tau=1e-3)
    end = pt.begin(game, rule, 3, compiled=drift is not None).advance(2000).profile
    x, y = game.positions(end)[0] + 0.5
    assert abs(y - 4.5) <= 2
    assert abs(x - (24.5 if drift else 4.5)) <= 2


# The same bits ----------------------------------------------------------------------------------------


def same(one, two):
    assert one.trace().profiles.tobytes() == two.trace().profiles.tobytes()
    for name, values in one.trace().scalars.items():
        assert values.tobytes() == two.trace().scalars[name].tobytes(), name
    for name, values in zip(one.state._fields, one.state, strict=True):
        assert values.tobytes() == getattr(two.state, name).tobytes(), name


def in_area(game, run):
    """The run's field without its frame."""
    frame, (columns, rows) = game._frame, SIZE
    return run.state.worth.reshape(rows + 2 * frame, -1)[frame:-frame, frame : frame + columns]


@pytest.mark.parametrize("options", [{}, {"flags": True, "flag": "range", "K": 0.02, "payoff": "marginal"}])
def test_compiled_and_plain_python_agree_to_the_bit(options):
    game = cover(**options)
    fast, slow = begin(game, compiled=True).advance(90), begin(game).advance(90)
    assert (fast.compiled, slow.compiled) == (True, False)
    same(fast, slow)
    assert fast.state.clock[0] == 88
    assert in_area(game, fast).tobytes() == game.worth_at(90).tobytes()
    assert (fast.state.worth > 0).sum() == 63  # the frame is worthless


def test_chunks_do_not_matter():
    game = cover()
    parts = begin(game, compiled=True)
    for steps in (1, 2, 1, 7, 30, 49):
        parts.advance(steps)
    same(parts, begin(game, compiled=True).advance(90))


@pytest.mark.parametrize("steps", [0, 22, 40])
@pytest.mark.parametrize("compiled", [False, True])
def test_saved_and_resumed(tmp_path, steps, compiled):
    game = cover(flags=True, K=0.01)
    whole = begin(game, compiled=compiled).advance(90)
    path = begin(game, compiled=compiled).advance(steps).save(tmp_path / "run.npz")
    with np.load(path) as file:
        assert file["state.clock"].tolist() == [steps // EVERY * EVERY]
        assert "state.worth" not in file.files  # derived again
    half = pt.load(path, game)
    assert in_area(game, half).tobytes() == game.worth_at(steps).tobytes()
    same(half.advance(90 - steps), whole)


def test_saved_run_is_not_resumed_on_another_drift(tmp_path):
    path = begin(cover()).advance(5).save(tmp_path / "run.npz")
    for other in (cover(drift=None), cover(drift=(0.1, 0)), cover(drift_every=5)):
        with pytest.raises(pt.errors.InvalidRun, match="saved from another game"):
            pt.load(path, other)


def test_two_runs_have_fields_of_their_own():
    game = cover()
    one, two = begin(game).advance(20), begin(game)
    assert one.state.worth.tobytes() != two.state.worth.tobytes()
    assert in_area(game, two).tobytes() == game.worth_at(0).tobytes()
    assert not game.data.worth.flags.writeable


def test_without_drift_a_run_reads_the_games_own_field():
    game = cover(drift=None)
    run = begin(game).advance(10)
    assert run.state.worth is game.data.worth
    assert not run.state.worth.flags.writeable
    assert run.state.clock[0] == 0


class Nameless(Coverage):
    """Draws are made from the identity; this one does not tell of a drift."""

    def identity(self):
        return "nameless"


@pytest.mark.parametrize("drift", [(0, 0), np.zeros((2, 2)), (-0.0, 0.0)])
def test_no_velocity_is_no_drift(drift):
    still, zero = cover(drift=None), cover(drift=drift)
    assert not zero.drifts
    assert zero.describe() == still.describe()
    assert zero.fingerprint() == still.fingerprint()
    assert zero.memoryless
    assert zero.signal is not None
    same(begin(zero).advance(60), begin(still).advance(60))


def test_a_drift_too_slow_to_show_leaves_every_step_as_it_is():
    """The same through the other kernel: fields that agree, and so the same choices."""
    still, slow = (Nameless(hills(), 3, flags=False, drift=drift) for drift in (None, (1e-300, 1e-300)))
    assert slow.drifts
    np.testing.assert_allclose(slow.worth_at(50), hills().worth, rtol=1e-15, atol=0)
    one, two = (begin(game).advance(200).trace() for game in (still, slow))
    assert one.profiles.tobytes() == two.profiles.tobytes()
    np.testing.assert_allclose(one.worth_sum, two.worth_sum, rtol=1e-14)


def test_a_drifting_game_keeps_the_protocol(monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)  # one rule is compiled above
    pt.testing.check_game(cover(), num_profiles=4)
    pt.testing.check_game(cover(flags=True, K=0.1), num_profiles=2)


# What it is told and tells ----------------------------------------------------------------------------


def test_descriptions_tell_of_the_drift():
    assert "drift=(0.5, -0.25), drift_every=4" in cover(drift=(0.5, -0.25)).identity()
    assert "drift=0.279508 to 0.503891, drift_every=4" in cover().describe()
    assert "drift" not in cover(drift=None).describe()
    assert not cover().memoryless
    assert cover(drift=None).memoryless


def test_game_at_a_time_is_the_same_but_for_the_drift():
    options = {"K": [0.1, 0.2, 0.3], "payoff": "marginal", "flags": True, "flag": "range", "reach": 2}
    game = cover(start=[(0, 0), (1, 2), (8, 6)], **options)
    still = game.at(30)
    assert not still.drifts
    assert still.identity() == cover(drift=None, **options).identity()
    assert still.start.tolist() == game.start.tolist()
    assert still.movement_cost.tolist() == [0.1, 0.2, 0.3]
    assert still.world.name == "mixture at time 28"
    assert still.world.targets.tolist() == np.minimum(np.floor(still.world.mixture.means), (8, 6)).tolist()
    assert still.world.targets.tolist() != game.world.targets.tolist()
    assert still.at(5) is still
    assert still.worth_at(5) is still.world.worth


def test_summary_speaks_of_the_end(monkeypatch):
    monkeypatch.setattr("potentia.kernel.cache.jit_disabled", lambda: True)
    game, rule = cover(), pt.rules.rule_from(RULE)
    data = play_batch(game, rule, 50, range(3), record=("potential", "welfare"))
    told = summarise(game, "drift", rule, data, 1.0)
    for name in ("potential", "welfare"):
        assert told[f"{name}_end"] == pytest.approx(float(data.scalars[name][:, -1].mean()), rel=1e-12)


def test_paper_game_drifts_on_request():
    game = paper_game(drift=(0.01, 0.0))
    assert "drift=(0.01, 0), drift_every=10" in game.describe()
    np.testing.assert_allclose(game.worth_at(0), paper_world().worth, rtol=1e-15, atol=0)


BARE = World(np.ones((7, 9)), name="flat")
MIXTURE = Mixture(WEIGHTS, MEANS, COVARIANCES)
LOPSIDED = World(np.where(WALLS, 0.0, hills().worth), blocked=WALLS, mixture=MIXTURE)
OUTSIDE = gaussian_world(SIZE, WEIGHTS, ((2.0, 3.0), (9.5, 5.0)), COVARIANCES)

BAD = [
    case(
        "no mixture",
        lambda: cover(BARE),
        r"drift must have shape \(2,\) or \(7, 9, 2\), .* World\(flat: .*no mixture, got \(2, 2\)",
    ),
    case("worth differs", lambda: cover(LOPSIDED), r"drift needs a worth that is the density .* at \(4, 3\), got 0"),
    case(
        "number",
        lambda: cover(drift=0.1),
        r"drift must have shape \(2,\) or \(2, 2\), one velocity \(vx, vy\) .*, got \(\)",
    ),
    case("three", lambda: cover(drift=[0, 0, 1]), r"drift must have .*one per component, got \(3,\)"),
    case("too many", lambda: cover(drift=np.zeros((3, 2))), r"drift must have .*got \(3, 2\)"),
    case("in space", lambda: cover(drift=np.zeros((2, 3))), r"drift must have .*got \(2, 3\)"),
    case("none", lambda: cover(drift=[]), r"drift must have .*got \(0,\)"),
    case("ragged", lambda: cover(drift=[(0, 1), (1,)]), r"drift must be a rectangular array of real numbers, got"),
    case("text", lambda: cover(drift="slow"), r"drift must be .*real numbers, got 'slow'"),
    case("truth", lambda: cover(drift=True), r"drift must be .*real numbers, got True"),
    case("complex", lambda: cover(drift=[1j, 0]), r"drift must be .*real numbers, got"),
    case("nan", lambda: cover(drift=[(0, 1), (NAN, 1)]), r"drift must be finite, got nan at index \(1, 0\)"),
    case("inf", lambda: cover(drift=(0, INF)), r"drift must be finite, got inf at index \(1,\)"),
    case("fast", lambda: cover(drift=(0, -7.5)), r"drift .*area of 9×7 cells, got \(0, -7\.5\) for component 0"),
    case("one fast", lambda: cover(drift=[(9, 7), (9.1, 0)]), r"drift .*got \(9\.1, 0\) for component 1"),
    case("outside", lambda: cover(OUTSIDE), r"drift needs means inside the area of 9×7 .*got \(9\.5, 5\) for comp.* 1"),
    case("every zero", lambda: cover(drift_every=0), r"drift_every must be an integer of at least 1, got 0"),
    case("every float", lambda: cover(drift_every=2.0), r"drift_every must be an integer of at least 1, got 2\.0"),
    case("every truth", lambda: cover(drift_every=True), r"drift_every must be an integer .*got True"),
    case("every text", lambda: cover(drift=None, drift_every="10"), r"drift_every must be an integer .*got '10'"),
    case("every huge", lambda: cover(drift_every=2**62), r"drift_every must be below 2\^62, got about 10\^18"),
    case("time negative", lambda: cover().worth_at(-1), r"time must be an integer of at least 0, got -1"),
    case("time float", lambda: cover().at(1.0), r"time must be an integer of at least 0, got 1\.0"),
    case("time of a still game", lambda: cover(drift=None).at("now"), r"time must be an integer .*got 'now'"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_drift(call, message):
    refuses(call, InvalidGame, message)


BLLL = {"rule": "blll", "tau": 1.0}
STANDS = r"the worth field of Coverage\(.*drift=.*\) drifts, and {} takes one that stands still: use game\.at\(time\)"
REFUSED = [
    case("chain", lambda: pt.analysis.chain(cover(), BLLL), "the exact analysis"),
    case("stability", lambda: pt.analysis.stability(cover(), BLLL), "the exact analysis"),
    case("audit", lambda: pt.analysis.audit(cover(), BLLL), "the exact analysis"),
    case("audit with flags", lambda: pt.analysis.audit(cover(flags=True), BLLL), "the exact analysis"),
    case("potential", lambda: pt.analysis.potential(cover()), "the exact analysis"),
    case("claim", lambda: pt.analysis.check_claim(cover(), "welfare"), "the exact analysis"),
    case("separable", lambda: pt.analysis.separable(cover()), "the exact analysis"),
    case("equilibria", lambda: pt.analysis.pure_nash(cover()), "the exact analysis"),
    case("replies", lambda: pt.analysis.best_responses(cover(), 0, [0, 1, 2]), "the exact analysis"),
    case("optimum", lambda: pt.analysis.optimum(cover()), "optimum"),
]


@pytest.mark.parametrize(("call", "what"), REFUSED)
def test_what_needs_a_field_that_stands_still_says_so(call, what):
    refuses(call, InvalidGame, STANDS.format(what))


@pytest.mark.parametrize("normalise", ["own", "world"])
def test_a_drifting_field_has_no_signal(normalise):
    game, rule = cover(), pt.rule("p-sblll", tau=0.1, revision=SignalRevision(normalise=normalise))
    assert game.signal is None
    said = r"Eq\. 53.* fixed signal, .*drifting field of Coverage\(.*: use a constant revision probability"
    refuses(lambda: pt.begin(game, rule, compiled=False), InvalidRule, said)
    refuses(lambda: rule.revision.by_action(game), InvalidRule, said)
    pt.begin(game.at(8), rule, compiled=False).advance(3)


def test_optimum_and_figure_of_a_time():
    game = cover(robots=1)
    values = [pt.analysis.optimum(game.at(n)).value for n in (0, 20)]
    assert values[0] != values[1]
    best = pt.analysis.optimum(game.at(20))
    every = [game.at(20).worth_union([action]) for action in range(game.world.num_free)]
    assert best.value == pytest.approx(max(every), rel=1e-12)
    configuration_figure(game.at(20), {"best": best.profile[None]})
