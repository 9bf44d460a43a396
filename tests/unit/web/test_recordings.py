"""Recordings: what is written is read, and any moment of a run is rebuilt from it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import struct
import zlib

import numpy as np
import pytest

import potentia as pt
from potentia.errors import InvalidRun
from potentia.games import Coverage, World
from potentia.studies.coverage import paper_game, paper_rules
from potentia.web.coding import decode_changes, encode_changes, numbers_in, packed, short, unpacked
from potentia.web.recordings import Recording
from tests.recordings import case


def written_and_read(made):
    return Recording(*unpacked(made.to_bytes(), "it"))


def state_of(run):
    """Flags and cover counts as the game keeps them, without the frame around the area."""
    game, state = getattr(run.game, "game", run.game), getattr(run.state, "game", run.state)
    (rows, columns), frame = game.world.worth.shape, game._frame

    def inside(flat):
        return flat.reshape(rows + 2 * frame, columns + 2 * frame)[frame : frame + rows, frame : frame + columns]

    flags = inside(state.flags) if game.flags else np.zeros((rows, columns), int)
    return game.worth_at(run.step), flags, inside(state.counts)


def test_any_moment_is_that_of_a_second_run():
    kinds, flagged, drifting = set(), set(), 0
    for number in range(0, 50, 2):
        played = case(number + number // 2 % 2)  # maps and others by turns
        made = written_and_read(played.trace().recording())
        kinds.add(made.kind)
        run = played.begin()
        for step in np.sort(np.random.default_rng(number).integers(0, played.steps + 1, 12)).tolist():
            run.advance(step - run.step)
            assert np.array_equal(made.profile(step), run.profile)
            if made.kind == "map":
                worth, flags, counts = state_of(run)
                np.testing.assert_allclose(made.worth(step), worth, rtol=1e-12)
                assert np.array_equal(made.flags(step), flags)
                assert np.array_equal(made.counts(run.profile, step), counts)
                flagged.add(made.header["map"]["flags"])
                drifting += made.header["map"]["drift"] is not None
    assert kinds == {"map", "network", "loads", "table"}
    assert flagged == {None, "cell", "range"}
    assert drifting


def test_beliefs_and_scores_are_those_at_the_keyframes():
    asked = 0
    for number in (2, 6, 12, 16, 21, 25):
        played = case(number)
        made = written_and_read(played.trace().recording(beliefs_every=7))
        run = played.begin()
        for k, step in enumerate(made.keyframes.tolist()):
            run.advance(step - run.step)
            views = made.belief(k)
            assert len(views) == len(run.beliefs)
            for mine, theirs in zip(views, run.beliefs, strict=True):
                assert mine.robots == theirs.robots
                assert np.array_equal(mine.worth, theirs.worth.astype(np.float32))
                assert np.array_equal(mine.seen, theirs.seen)
                assert np.array_equal(mine.components[:, 0], theirs.weights)
                assert np.array_equal(mine.components[:, 1:3], theirs.means.reshape(-1, 2))
                assert np.array_equal(mine.components[:, 3:], theirs.covariances.reshape(-1, 4)[:, [0, 1, 3]])
                assert mine.error == theirs.error(getattr(run.game, "game", run.game).worth_at(step))
                asked += 1
            if run.rule.keeps_scores:
                for mine, theirs in zip(made.thoughts(k), (run.scores, run.strategies), strict=True):
                    assert all(np.array_equal(a, b.astype(np.float32)) for a, b in zip(mine, theirs, strict=True))
                    asked += 1
    assert asked > 50


def test_a_keyframe_is_asked_for_where_there_is_something_to_say():
    assert case(0).trace().recording().keyframes.size == 0  # robots that know the map, and no scores
    trace = case(4).trace()
    assert trace.recording(beliefs_every=0).keyframes.size == 0
    few = pt.run(pt.game("stag-hunt"), pt.rule("soql"), 300, compiled=False).recording()
    assert few.keyframes.tolist() == list(range(301))  # what happens in one step is seen
    assert trace.recording(beliefs_every=40).keyframes.tolist() == list(range(0, trace.steps + 1, 40))
    made = trace.recording(beliefs_every=10)
    assert (made.keyframe(0), made.keyframe(9), made.keyframe(10), made.keyframe(29)) == (0, 0, 1, 2)
    with pytest.raises(InvalidRun, match=r"keyframe must be an integer from 0 to .*, got 500; .* recording.keyframe"):
        made.thoughts(500)
    with pytest.raises(InvalidRun, match="beliefs_every must be an integer"):
        trace.recording(beliefs_every=-1)


def test_series_are_what_was_recorded_or_else_worked_out():
    played = case(0)
    run = pt.begin(played.game, played.rule, 0, record=("profile", "worth_union", "moves"), horizon=50, compiled=False)
    trace = run.advance(50).trace()
    made = trace.recording(optimum=1.5)
    assert [row["name"] for row in made.header["series"]] == ["worth_union", "moves"]
    assert made.header["optimum"] == {"series": "worth_union", "value": 1.5, "bound": None}
    for step in (0, 17, 50):
        assert made.value("moves", step) == trace.moves[step]
    plain = pt.begin(played.game, played.rule, 0, horizon=50, compiled=False).advance(50).trace().recording()
    times, values = plain.series("worth_union")
    np.testing.assert_allclose(values, trace.worth_union[times.astype(int)], rtol=1e-12)
    with pytest.raises(InvalidRun, match="must be one of worth_union, worth_sum, got 'joy'"):
        plain.value("joy", 3)


def test_events_are_targets_found_and_components_that_split_and_merge():
    worth = np.zeros((3, 9))
    game = Coverage(World(worth, targets=[(8, 1), (0, 1)]), 1, 1.0, flags=False, start=[(4, 1)])
    run = pt.begin(game, pt.rule("lll", tau=1.0), 0, compiled=False)
    for x in (5, 6, 7, 8):
        run.apply({0: int(game.profile([(x, 1)])[0])})
    events = run.trace().recording().header["events"]
    assert events == [{"step": 3, "kind": "target", "player": 0, "text": "robot 0 finds target 0 at (8, 1)"}]


def test_of_many_events_splits_and_merges_are_left_out_first(monkeypatch):
    trace = case(0).trace()
    found = [{"step": 1, "kind": "split"}, {"step": 2, "kind": "merge"}, {"step": 3, "kind": "lost"}]
    monkeypatch.setattr("potentia.web.making._events", lambda *_: iter(found))
    assert "events_left_out" not in trace.recording(beliefs_every=0).header
    monkeypatch.setattr("potentia.web.making._MOST_EVENTS", 2)
    header = written_and_read(trace.recording(beliefs_every=0)).header
    assert (header["events"], header["events_left_out"]) == ([found[0], found[2]], 1)


def test_a_small_game_has_its_chain_and_a_larger_one_its_graph():
    game, rule = pt.game("stag-hunt"), pt.rule("blll", tau=0.7)
    made = pt.run(game, rule, 50).recording()
    chain = pt.analysis.chain(game, rule)
    dense = np.zeros((4, 4))
    dense[made.arrays["chain_from"], made.arrays["chain_to"]] = made.arrays["chain_probability"]
    np.testing.assert_array_equal(dense, chain.matrix.toarray())
    np.testing.assert_array_equal(made.arrays["stationary"], chain.stationary())
    assert made.header["optimum"]["value"] == max(game.potential(profile) for profile in chain.states)
    falling = pt.run(game, pt.rule("lll", tau=pt.rules.Geometric(1.0, 0.1)), 50).recording()
    assert falling.header["table"] == {"law": False}
    pairs = pt.games.custom(lambda player, profile, data: 0.0, [2] * 7, interactions={0: [1, 2], 5: [6]})
    made = pt.run(pairs, pt.rule("lll", tau=1.0), 5, compiled=False).recording()
    assert (made.kind, made.arrays["edges"].tolist()) == ("network", [[0, 1], [0, 2], [5, 6]])
    assert ((made.arrays["layout"] >= 0) & (made.arrays["layout"] <= 1)).all()


def test_players_who_believe_have_another_chain():
    options = {"belief": pt.belief("running-mean"), "compiled": False}
    made = pt.run(pt.game("stag-hunt"), pt.rule("lll", tau=0.5), 30, **options).recording()
    assert made.header["table"] == {"law": False}


def test_an_optimum_is_of_what_it_is_of():
    played = case(0)
    best = pt.analysis.optimum(played.game.at(0))
    for record, series in (("worth_union", "worth_union"), ("worth_sum", None), ("moves", None)):
        trace = pt.begin(played.game, played.rule, record=("profile", record), compiled=False).advance(9).trace()
        found = trace.recording(optimum=best).header["optimum"]
        assert found == (series and {"series": series, "value": best.value, "bound": best.bound})
    with pytest.raises(InvalidRun, match="optimum must be a finite number"):
        trace.recording(optimum="large")
    stag = pt.game("stag-hunt")
    trace = pt.run(stag, pt.rule("lll", tau=0.5), 9, record=("profile", "welfare"), compiled=False)
    for objective, series in (("potential", None), ("welfare", "welfare")):
        best = pt.analysis.optimum(stag, objective=objective)
        found = trace.recording(optimum=best).header["optimum"]
        assert found == (series and {"series": series, "value": best.value, "bound": best.bound})


def test_a_run_that_was_thinned_ends_where_it_ended():
    played, late = case(10), 0
    for seed in range(6):
        run = pt.begin(played.game, played.rule, seed, every=7, horizon=103, compiled=False)
        trace = run.advance(103).trace()
        made = written_and_read(trace.recording())
        assert np.array_equal(made.profile(103), trace.final)
        assert np.array_equal(made.profile(102), trace.profiles[-1])
        late += not np.array_equal(trace.final, trace.profiles[-1])
    assert late
    with pytest.raises(InvalidRun, match="steps must not fall"):
        made.profiles([20, 0])


def test_names_that_are_no_characters_are_spelt_out():
    world = World(np.ones((3, 3)), name="ma\udcff")
    trace = pt.run(Coverage(world, 1, flags=False), pt.rule("blll", tau=1.0), 5, compiled=False)
    made = written_and_read(trace.recording(label="\udcff"))
    assert r"ma\udcff" in made.header["game"]["text"]
    assert "iframe" in trace._repr_html_()


def test_copies_can_be_recorded():
    trace = case(4).trace()
    for twin in (copy.copy(trace), copy.deepcopy(trace), dataclasses.replace(trace)):
        assert twin.recording(beliefs_every=50).to_bytes() == trace.recording(beliefs_every=50).to_bytes()


def test_a_change_takes_few_bytes():
    trace = pt.run(paper_game(), paper_rules()["blll"], 2000)
    made = trace.recording()
    assert made.header["changes"] == trace.changes > 300
    assert made.arrays["changes"].size <= 3.2 * trace.changes  # one change a step: its distance, who, where to
    many = Coverage(World(np.ones((60, 60))), 400, 1.0, flags=False)
    trace = pt.run(many, pt.rule("p-sblll", tau=1.0, revision=0.5), 100)
    assert trace.recording().arrays["changes"].size <= 2.2 * trace.changes
    trace = pt.run(pt.game("ring", players=300), pt.rule("slll", tau=5.0, revision=0.5), 100)
    assert trace.recording().arrays["changes"].size <= 2.4 * trace.changes


def test_numbers_of_any_length():
    random = np.random.default_rng(0)
    values = random.integers(0, 2 ** random.integers(1, 62, 3000))
    assert np.array_equal(numbers_in(short(values)), values)
    assert short([]).size == 0
    for broken in ([128], [1, 255], [255] * 10 + [0]):
        with pytest.raises(ValueError, match=r"cut short|too long"):
            numbers_in(np.array(broken, np.uint8))


def test_changes_with_and_without_jumps():
    steps, players = np.array([1, 1, 4, 900]), np.array([0, 3, 2, 0])
    codes, actions = np.array([0, 8, 3, 8]), np.array([5, 70_000, 6, 1])
    found = decode_changes(encode_changes((steps, players, actions), codes, 8), 4, 8)
    assert [part.tolist() for part in found[:3]] == [steps.tolist(), players.tolist(), codes.tolist()]
    assert found[3].tolist() == [-1, 70_000, -1, 1]


# Bad input --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return case(4).trace().recording().save(tmp_path_factory.mktemp("recording") / "run.recording")


def test_a_file_is_read_back(saved):
    made = pt.read_recording(saved)
    assert made.profile(made.steps).tolist() == case(4).trace().final.tolist()
    assert "soql on Coverage" in repr(made)


def test_every_cut_and_damage_is_one_sentence(saved, tmp_path):
    content, path = saved.read_bytes(), tmp_path / "bad.recording"
    random, harmless = np.random.default_rng(0), 0
    for end in (0, 1, 12, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        with pytest.raises(InvalidRun, match=r"bad\.recording is (cut short|no recording)") as caught:
            pt.read_recording(path)
        assert "\n" not in str(caught.value)
    for _ in range(40):
        damaged = bytearray(content)
        damaged[random.integers(12, len(content))] ^= 1 << int(random.integers(8))
        path.write_bytes(bytes(damaged))
        try:
            assert pt.read_recording(path).to_bytes() == content  # a bit between two blocks says nothing
            harmless += 1
        except InvalidRun as error:
            assert re.search(r"bad\.recording is (damaged|cut short)", str(error))  # noqa: PT017
    assert harmless < 4
    path.write_bytes(content + b"more")
    with pytest.raises(InvalidRun, match="something follows"):
        pt.read_recording(path)
    with pytest.raises(InvalidRun, match=r"cannot read .*nowhere\.recording: No such file"):
        pt.read_recording(tmp_path / "nowhere.recording")


def forged(saved, path, change):
    """The recording with a header or arrays that somebody changed, and its checksum put right."""
    header, arrays = unpacked(saved.read_bytes(), "it")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    try:
        path.write_bytes(packed(header, arrays))
    except ValueError:  # a number that we never write
        raw = zlib.decompress(packed({**header, "seed": 12345678}, arrays), 31)
        squeeze = zlib.compressobj(wbits=31)
        path.write_bytes(squeeze.compress(raw.replace(b"12345678", b"Infinity")) + squeeze.flush())
    return path


PLACES = {"transform": [1, 0, 0, 0, 1, 0], "names": ["x", "y"], "unit": "m", "system": ""}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda header, arrays: header.pop("steps"), "header has no steps"),
        (lambda header, arrays: header.update(steps="many"), "steps of header is 'many'"),
        (lambda header, arrays: header["game"].update(kind="film"), "its kind is 'film' cannot be"),
        (lambda header, arrays: header.update(changes=10**12), "numbers for 1000000000000 changes"),
        (lambda header, arrays: header.update(steps=80), "cannot be"),
        (lambda header, arrays: arrays.pop("start"), "it has no start"),
        (lambda header, arrays: arrays["start"].fill(99_999), "an action that no player has"),
        (lambda header, arrays: arrays.update(worth=arrays["worth"][:-1]), "worth has shape"),
        (lambda header, arrays: arrays.update(score=arrays["score"][:, :-1]), "score has shape"),
        (lambda header, arrays: header["map"].update(columns=10**9), "its map has .* cells cannot be"),
        (lambda header, arrays: header["map"].update(offsets=[[0, 9]] * 8), "is damaged"),
        (lambda header, arrays: header["keyframes"].update(steps=[5, 1]), "the steps of its keyframes"),
        (lambda header, arrays: arrays["times"].fill(np.nan), "the times of its series"),
        (lambda header, arrays: header.update(seed=float("inf")), "Infinity"),
        (lambda header, arrays: arrays["delta"].fill(-1), "its ranges"),
        (lambda header, arrays: header["map"].update(drift={}), "drift has no weights"),
        (lambda header, arrays: header["map"].update(cell_size="1m"), "the size of its cells"),
        (lambda header, arrays: header["map"].update(places={"transform": [1, 0]}), "names of its places"),
        (
            lambda header, arrays: header["map"].update(places=PLACES | {"transform": [0] * 6}),
            "transform of its places",
        ),
        (lambda header, arrays: header["map"].update(places=PLACES | {"names": ["x"]}), "names of its places"),
        (lambda header, arrays: header.update(optimum={"series": "x", "value": 10**400, "bound": None}), "its optimum"),
        (
            lambda header, arrays: header.update(optimum={"series": "x", "value": 1, "bound": 1, "times": [10**400]}),
            "int too large",
        ),
    ],
)
def test_a_forged_header_is_one_sentence(saved, tmp_path, change, told):
    with pytest.raises(InvalidRun, match=rf"forged\.recording is damaged: .*{told}|{told}") as caught:
        pt.read_recording(forged(saved, tmp_path / "forged.recording", change))
    assert "\n" not in str(caught.value)


def test_a_newer_version_is_told(saved, tmp_path):
    raw = bytearray(zlib.decompress(saved.read_bytes(), 31))
    raw[8:12] = struct.pack("<I", 4)
    path = tmp_path / "newer.recording"
    squeeze = zlib.compressobj(wbits=31)
    path.write_bytes(squeeze.compress(bytes(raw)) + squeeze.flush())
    with pytest.raises(InvalidRun, match="recording of version 4, and this potentia reads up to 3"):
        pt.read_recording(path)


def test_traces_that_cannot_be_recorded_say_why():
    game = pt.game("ring", players=5)
    with pytest.raises(InvalidRun, match=r'profiles were not recorded; pass record=\("profile", ...\)'):
        pt.run(game, pt.rule("lll", tau=1.0), 5, record="welfare").recording()
    trace = pt.run(game, pt.rule("lll", tau=1.0), 5)
    travelled = pickle.loads(pickle.dumps(trace))
    with pytest.raises(InvalidRun, match="pass game="):
        travelled.recording()
    assert np.array_equal(travelled.recording(game=game).profile(5), trace.final)
    with pytest.raises(InvalidRun, match="beliefs_every must be left out: this trace has been pickled"):
        travelled.recording(game=game, beliefs_every=2)
    with pytest.raises(InvalidRun, match="game must be a game"):
        travelled.recording(game=3)
    with pytest.raises(InvalidRun, match="label must be a text"):
        trace.recording(label=3)
    with pytest.raises(InvalidRun, match="game must be what was played"):
        travelled.recording(game=pt.game("stag-hunt"))
    with pytest.raises(InvalidRun, match="optimum must be a finite number"):
        trace.recording(optimum=float("nan"))
    with pytest.raises(InvalidRun, match="step must be an integer from 0 to 5"):
        trace.recording().profile(6)


def test_a_map_that_is_too_large_is_told(monkeypatch):
    monkeypatch.setattr("potentia.web.scenes.MOST_CELLS", 50)
    trace = pt.run(Coverage(World(np.ones((6, 9))), 1, flags=False), pt.rule("blll", tau=1.0), 5, compiled=False)
    with pytest.raises(InvalidRun, match=r"maps of up to 50 cells, and this one has 9×6"):
        trace.recording()


def test_a_run_that_was_driven_has_no_keyframes():
    run = pt.begin(pt.game("stag-hunt"), pt.rule("ql", tau=1.0), 0, compiled=False)
    run.advance(20)
    for _ in range(6):  # as no draw would have it
        run.apply({0: 1 - int(run.profile[0])})
    assert run.trace().recording().keyframes.size == 0
    with pytest.raises(InvalidRun, match="beliefs_every must be left out: this run was driven"):
        run.trace().recording(beliefs_every=5)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b'"potentia":', b'"potentia"}', "its header is not JSON"),
        (b'"potentia":', b'"potent\xff":', "its header is not JSON"),
        (b'"arrays":', b'"arroys":', "its arrays are not described"),
    ],
)
def test_a_header_that_is_none_is_told_in_our_words(saved, tmp_path, old, new, told):
    raw = zlib.decompress(saved.read_bytes(), 31)
    assert raw.count(old) == 1
    squeeze = zlib.compressobj(wbits=31)
    path = tmp_path / "other.recording"
    path.write_bytes(squeeze.compress(raw.replace(old, new)) + squeeze.flush())
    with pytest.raises(InvalidRun, match=rf"other\.recording is damaged: {told}$"):
        pt.read_recording(path)
