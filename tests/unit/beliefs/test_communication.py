"""Robots that tell each other what they have seen: who does, what is told, what it costs, and whose fit it is."""

from __future__ import annotations

import functools
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from potentia.beliefs import Communication, Constant
from potentia.beliefs.communication import CONTACTS, SENT, in_touch, link_data, meet, new_contacts
from potentia.beliefs.observations import KNOWN, check_store, new_store, note_reading
from potentia.games import World
from tests.belief_oracle import ALIKE, HILLS, TEAM, WRONG, Team, begin, followed, mixture, reference, split_merge, warm
from tests.coverage_cases import Case
from tests.coverage_oracle import within

STEPS = 30
ALMOST_ONE = Communication(1e6, 1 + 1e-12, 1 + 1e-12)  # everybody, but each with a mind of its own


def seen(view):
    return {(x, y) for y, x in np.argwhere(view.seen).tolist()}


# Nobody, and everybody --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "belief", [Constant(0.01, communication=Communication(0)), split_merge(10, communication=Communication(0))]
)
def test_at_radius_zero_nobody_hears_anybody(belief):
    """Not even on the same cell."""
    run = begin(ALIKE, warm("joint"), belief, 3, start=[0, 0, 63]).advance(STEPS)
    trace = run.trace()
    assert trace.contacts.tolist() == trace.data_sent.tolist() == [0] * (STEPS + 1)
    assert [view.robots for view in run.beliefs] == [(0,), (1,), (2,)]
    for robot, view in enumerate(run.beliefs):
        own = {(x, y) for p in trace.profiles for x, y in ALIKE.game.covered(robot, int(p[robot])).tolist()}
        assert seen(view) == own
    assert len({frozenset(seen(view)) for view in run.beliefs}) == 3


def test_with_an_endless_radius_there_is_one_view():
    run = begin(ALIKE, warm("joint"), Constant(0.01), 3).advance(STEPS)
    (view,) = run.beliefs
    assert view.robots == (0, 1, 2)
    profiles = run.trace().profiles
    assert seen(view) == {
        (x, y) for p in profiles for robot in range(3) for x, y in ALIKE.game.covered(robot, int(p[robot])).tolist()
    }


@pytest.mark.parametrize(
    ("link", "minds"),
    [
        (Communication(), 1),
        (Communication(math.hypot(7, 7)), 1),
        (Communication(math.hypot(7, 7), 5.0, 1.0), 1),
        (Communication(math.hypot(7, 7), 1.0, 5.0), 1),
        (Communication(math.hypot(7, 7), 1.1, 1.1), 3),
        (Communication(9.89), 3),
        (ALMOST_ONE, 3),
        (Communication(1e200), 1),
        (Communication(1e200, 2.0, 2.0), 3),
    ],
)
def test_one_mind_serves_all_where_everybody_always_knows_the_same(link, minds):
    run = begin(ALIKE, warm("joint"), Constant(communication=link)).advance(3)
    assert len(run.beliefs) == minds
    assert run.state.mind.store.slot.shape[0] == minds


@pytest.mark.parametrize("sense", ["range", "cell"])
def test_those_who_always_meet_know_the_union_after_each_step(sense):
    """Each with a mind of its own: the run is that of one mind, bit for bit."""
    apart = begin(TEAM, warm("joint"), Constant(0.01, sense=sense, communication=ALMOST_ONE), 3)
    shared = begin(TEAM, warm("joint"), Constant(0.01, sense=sense), 3)
    for _ in range(STEPS):
        known = [seen(view) for view in apart.beliefs]
        assert known == [seen(shared.beliefs[0])] * 3
        apart.advance(1)
        shared.advance(1)
    assert apart.trace().profiles.tobytes() == shared.trace().profiles.tobytes()
    assert apart.trace().welfare.tobytes() == shared.trace().welfare.tobytes()
    assert apart.trace().belief_error == pytest.approx(shared.trace().belief_error, rel=1e-12)
    assert apart.trace().cells_known.tolist() == shared.trace().cells_known.tolist()


# Who talks to whom ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("novice", "news"), [(1, 1), (1.5, 1.2), (2, 1.1), (1.2, 3), (4, 1), (1, 4), (1e9, 1e9)])
def test_in_touch_by_its_definition(novice, news):
    """Random knowledge, random places and a history of exchanges: kernel and definition decide and do the same."""
    random = np.random.default_rng(int(10 * novice + news))
    robots, cells = 4, list(itertools.product(range(8), range(8)))
    game = Case(HILLS, (1.0,) * robots, (0.0,) * robots).game
    belief = Constant(communication=Communication(3.0, novice, news))
    link, data = link_data(belief.communication), game.data
    outcomes = set()
    for _ in range(12):
        store, contacts = new_store(game, robots, None), new_contacts(robots)
        worth = dict.fromkeys(cells, 1.0)
        team = Team(SimpleNamespace(worth=worth, robots=range(robots), delta=[1.0] * robots), belief)
        for turn in range(6):
            for robot in range(robots):
                for k in random.permutation(64)[: random.integers(turn == 0, 9)]:
                    x, y = cells[k]
                    note_reading(store, robot, y * data.width + x + data.base, 1.0, False)
                    team.minds[robot].note((x, y), 1.0, False)
            state = game.new_state(random.integers(0, 64, robots))
            places = [tuple(map(int, cell)) for cell in game.positions(state.profile)]
            contacts.agenda[0] = 0
            team.meetings = []
            for i, j in itertools.combinations(range(robots), 2):
                wanted = within(places[i], places[j], 3.0) and team.willing(i, j)
                if team.minds[i].experience and team.minds[j].experience:
                    outcomes.add((wanted, within(places[i], places[j], 3.0)))
                assert bool(in_touch(link, contacts, store, data, state, i, j)) == wanted
                if wanted:
                    meet(contacts, store, i, j)
                    team.exchange(i, j)
            assert store.tally[:, KNOWN].tolist() == [mind.experience for mind in team.minds]
            assert contacts.tally[[CONTACTS, SENT]].tolist() == [team.contacts, team.sent]
            number = int(contacts.agenda[0])
            assert contacts.agenda[1 : 1 + 4 * number].reshape(-1, 4).tolist() == [list(m) for m in team.meetings]
    assert (False, False) in outcomes
    assert (False, True) in outcomes or min(novice, news) == 1
    assert ((True, True) in outcomes) == (novice < 1e9)


def test_within_the_radius_and_no_farther():
    """Distances are between the centres of cells, and the radius itself is near enough."""
    strip = Case(World(np.ones((1, 12))), (0.0, 0.0), (0.0, 0.0))
    for apart, met in ((1, True), (3, True), (4, True), (5, False), (9, False)):
        run = begin(strip, warm("joint"), Constant(communication=Communication(4)), start=[1, 1 + apart])
        assert run.trace().contacts.tolist() == [float(met)], apart
        assert [view.seen.sum() for view in run.beliefs] == [1 + met] * 2
    root = Case(World(np.ones((6, 6))), (0.0, 0.0), (0.0, 0.0))
    run = begin(root, warm("joint"), Constant(communication=Communication(math.sqrt(13))), start=[0, 2 + 3 * 6])
    assert run.trace().contacts.tolist() == [1.0]  # √13 away


# What it costs ----------------------------------------------------------------------------------------


def test_contacts_and_cells_sent_by_hand():
    """Three robots in a row, the outer ones 6 apart; ranges of 3, 5 and 3 cells."""
    strip = Case(World(np.ones((1, 14))), (1.0, 2.0, 1.0), (0.0,) * 3)
    run = begin(strip, warm("joint"), Constant(communication=Communication(3)), start=[3, 6, 9])
    # 0 knows 2-4, 1 knows 4-8, 2 knows 8-10. 0 and 1 meet: 4 and 2 cells cross; 1 and 2: 2 cells, and 6 that include
    # what 1 heard of 0
    assert run.trace().contacts.tolist() == [2.0]
    assert run.trace().data_sent.tolist() == [(4 + 2) + (6 + 2)]
    assert [len(seen(view)) for view in run.beliefs] == [7, 9, 9]
    everybody = begin(strip, warm("joint"), Constant(), start=[3, 6, 9]).trace()
    # each tells the two others what nobody knew yet: 3, 4 and 2 cells
    assert everybody.contacts.tolist() == [3 * 2.0]
    assert everybody.data_sent.tolist() == [(3 + 4 + 2) * 2.0]


def test_robots_that_see_nothing_new_tell_nothing():
    strip = Case(World(np.ones((1, 6))), (5.0,) * 3, (0.0,) * 3)
    for belief in (Constant(), Constant(communication=Communication(2)), Constant(communication=ALMOST_ONE)):
        trace = begin(strip, warm("joint", 10.0), belief, start=[0, 1, 2]).advance(STEPS).trace()
        assert trace.moves[-1] > 10
        assert len(set(trace.contacts[1:])) == 1
        assert len(set(trace.data_sent[1:])) == 1
    one = begin(Case(World(np.ones((1, 6))), (1.0,), (0.0,)), warm("blll"), Constant()).advance(STEPS).trace()
    assert one.contacts[-1] == one.data_sent[-1] == 0  # nobody to talk to


LINKS = {
    "everybody": Communication(),
    "almost": ALMOST_ONE,
    "near": Communication(3),
    "ratios": Communication(4, 1.3, 1.2),
    "novices": Communication(4, 1.5, 9.0),
    "news": Communication(4, 9.0, 1.3),
}


@functools.cache
def talk(which):
    return begin(TEAM, warm("joint"), Constant(0.01, communication=LINKS[which]), 3).advance(STEPS)


@pytest.mark.parametrize("which", LINKS)
def test_what_is_said_is_foreseen(which):
    assert followed(TEAM, warm("joint"), talk(which), Constant(0.01, communication=LINKS[which])) == set()
    assert talk(which).trace().contacts[-1] > 0
    assert (np.diff(talk(which).trace().data_sent) >= 0).all()


@pytest.mark.parametrize(
    ("what", "which"),
    [("never meets", "near"), ("always meets", "ratios"), ("always meets", "news"), ("meets again", "near")],
)
def test_wrong_team_is_caught(what, which):
    found = followed(TEAM, warm("joint"), talk(which), Constant(0.01, communication=LINKS[which]), WRONG[what])
    assert "contacts" in found


def test_the_ratios_matter():
    """Of the experts who meet novices, of both who have much to tell."""
    totals = {which: talk(which).trace().contacts[-1] for which in ("near", "ratios", "novices", "news")}
    assert len(set(totals.values())) >= 3
    for which in ("ratios", "novices", "news"):
        loose = begin(TEAM, warm("joint"), Constant(0.01, communication=Communication(4)), 3).advance(STEPS)
        assert totals[which] < loose.trace().contacts[-1]


def test_readings_that_were_heard_are_those_of_the_teller():
    """With noise, the mean of the teller's and how many that is of; the hearer's own readings then count with it."""
    strip = Case(World(np.full((1, 6), 4.0)), (0.0, 0.0), (0.0, 0.0))
    belief = Constant(noise=0.5, communication=Communication(1))
    run = begin(strip, warm("joint", 50.0), belief, 1, start=[0, 5])
    before = run.beliefs
    while run.trace().contacts[-1] == 0:
        before = run.beliefs
        run.advance(1)
    after = run.beliefs
    play = reference(strip, run, belief)
    for n in range(run.step):
        play.step(warm("joint", 50.0), run.key, n)
    for view, mind, old in zip(after, play.team.minds, before, strict=True):
        assert seen(view) == set(mind.reading)
        assert len(seen(view)) > len(seen(old)) + 1  # it heard of something
    both = [after[0].seen, after[1].seen]
    assert (both[0] == both[1]).all()
    heard = after[0].seen & ~before[0].seen
    told = heard & (after[0].worth == after[1].worth)
    assert told.any()
    assert (after[0].visits[told] == after[1].visits[told]).all()
    assert (after[0].worth != 4.0)[after[0].seen].all()


# Whose fit it is --------------------------------------------------------------------------------------


def components(view):
    return [view.weights.tolist(), view.means.tolist(), view.covariances.tolist()]


def test_the_expert_fits_for_both():
    """After a meeting two robots have one mixture and one scale; those who were not there have their own."""
    belief = mixture(2, communication=Communication(2.5))
    run = begin(ALIKE, warm("joint"), belief, 3)
    play = reference(ALIKE, run, belief)
    alike, apart = 0, 0
    for n in range(STEPS):
        run.advance(1)
        play.step(warm("joint"), run.key, n)
        views = run.beliefs
        if play.team.meetings:
            expert, other, *knew = play.team.meetings[-1]
            assert knew[0] >= knew[1]
            assert components(views[expert]) == components(views[other])
            unseen = ~(views[expert].seen | views[other].seen)
            assert views[expert].worth[unseen].tobytes() == views[other].worth[unseen].tobytes()
            alike += 1
        apart += len({str(components(view)) for view in views}) > 1
    assert alike >= 3
    assert apart >= 3


@pytest.mark.parametrize("what", ["equal shares", "own model only"])
def test_the_fit_starts_from_both_models_by_experience(what):
    belief = mixture(2, communication=Communication(2.5), settle_steps=1)
    run = begin(TEAM, warm("joint"), belief, 3).advance(STEPS)
    assert followed(TEAM, warm("joint"), run, belief) == set()
    assert {"means", "parameter_error"} & followed(TEAM, warm("joint"), run, belief, WRONG[what])


def test_minds_that_never_meet_fit_their_own():
    run = begin(TEAM, warm("joint"), mixture(1, communication=Communication(0)), 3).advance(STEPS)
    assert len({str(components(view)) for view in run.beliefs}) == 3
    for view in run.beliefs:
        assert view.num_components == 1


def test_a_cell_that_is_marked_as_known_and_is_in_no_list_is_refused():
    game = Case(HILLS, (1.0,), (0.0,)).game
    store, first = new_store(game, 1, None), game.data.base
    note_reading(store, 0, first, 1.0, False)
    check_store(game, store)
    store.slot[0, first + 1] = 1  # as if it were the first one, too
    with pytest.raises(ValueError, match="known cells are not where they should be"):
        check_store(game, store)
