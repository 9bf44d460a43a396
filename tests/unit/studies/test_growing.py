"""A study that grows is the large study, played afresh, to the bit; what is there is not played again."""

from __future__ import annotations

import copy
import json
import shutil

import pytest
import xarray

import potentia as pt
from potentia.errors import InvalidSpecification, StudyError, SweepFailed
from potentia.games import library
from potentia.kernel import files
from potentia.studies import growing
from potentia.studies.lines import curves_of
from potentia.studies.manifest import digest
from potentia.studies.seeds import intervals, new_parts, without
from potentia.studies.store import open_study
from potentia.studies.sweeping import sweep as _sweep
from potentia.studies.tables import frames
from tests.studies import Counting, as_before, chunk_files

SMALL = {
    "steps": 12,
    "every": 4,
    "seeds": 3,
    "chunk": 2,
    "record": ["potential", "profile"],
    "game": {"name": "ring", "players": 4},
    "rule": {"name": "lll", "tau": [0.2, 0.6]},
}
TAU = {"name": "lll", "tau": [0.2, 0.4, 0.6]}
BEST = {"name": "best-response"}
LARGER = {
    "seeds": {"seeds": 6},
    "seeds before": {"seeds": {"first": 0, "count": 5}},
    "seeds between": {"seeds": [7, 2, 0, 9, 1]},
    "tau in the middle": {"rule": TAU},
    "rules": {"rule": [BEST, SMALL["rule"], {"name": "blll", "tau": [0.1, 0.6]}]},
    "sizes": {"game": {"name": "ring", "players": [3, 4]}},
    "games": {"game": [{"name": "stag-hunt"}, SMALL["game"]]},
    "beliefs": {"belief": [{"name": "known"}, {"name": "none"}], "game": {"name": "ring", "players": 4}},
    "all together": {"seeds": [7, 2, 0, 9, 1], "rule": [BEST, TAU], "game": {"name": "ring", "players": [4, 3]}},
}


def sweep(*args, **options):
    return _sweep(*args, compiled=False, **options)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return sweep(SMALL, tmp_path_factory.mktemp("small") / "study")


@pytest.fixture
def study(small, tmp_path):
    return open_study(shutil.copytree(small.folder, tmp_path / "study"))


@pytest.fixture
def fresh(tmp_path):
    """The large study, played at once."""
    return lambda change: sweep(SMALL | change, tmp_path / "fresh")


def same(grown, whole):
    """In every bit that anybody reads, also by another process."""
    for one in (grown, open_study(grown.folder)):
        xarray.testing.assert_identical(one.dataset(), whole.dataset())
        assert one.damaged() == {}
        assert one.missing() == []
    names = {line.split("  chunks/")[1] for line in (grown.folder / "checksums.txt").read_text().splitlines()}
    assert names == {path.name for path in (grown.folder / "chunks").iterdir()}


@pytest.mark.parametrize("before", [False, True], ids=["today", "format before"])
@pytest.mark.parametrize("how", LARGER)
def test_growing_gives_the_large_study(study, fresh, how, before):
    if how == "seeds before":
        study = sweep(SMALL | {"seeds": {"first": 2, "count": 3}}, study.folder.parent / "late")
    old = as_before(study) if before else study
    had = old.num_runs
    if how == "beliefs":
        with pytest.raises(StudyError, match=r"it has runs of tau=0\.2; tau=0\.6, which"):  # known is not none
            sweep(SMALL | {"belief": {"name": "known"}}, old.folder)
    grown = sweep(SMALL | LARGER[how], old.folder)
    whole = fresh(LARGER[how])
    assert grown.computed == grown.num_runs - had > 0
    assert whole.computed == whole.num_runs
    assert grown.manifest["identity"] == whole.identity
    same(grown, whole)
    again = sweep(SMALL | LARGER[how], old.folder)
    assert again.computed == 0


def test_what_is_there_stays_as_it_is(study, fresh):
    kept = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in chunk_files(study)}
    counting = Counting()
    grown = _sweep(SMALL | LARGER["all together"], study.folder, compiled=False, executor=counting)
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in kept} == kept
    assert sum(chunk.runs for chunk in counting.played) == grown.computed == 5 * 8 - 3 * 2


def test_growing_twice_and_an_interruption(study, fresh):
    sweep(SMALL | {"seeds": 4}, study.folder)
    chunk_files(open_study(study.folder))[0].unlink()  # killed before it was saved
    assert open_study(study.folder).dataset(partial=True).attrs["complete"] == 0
    sweep(SMALL | {"seeds": [3, 8, 2, 1, 0], "rule": TAU}, study.folder)
    grown = sweep(SMALL | LARGER["all together"] | {"seeds": range(9)}, study.folder)
    assert open_study(study.folder).parts == [range(3), range(3, 4), [8], range(4, 8)]
    same(grown, fresh(LARGER["all together"] | {"seeds": range(9)}))


def test_words_order_and_labels_are_the_new_ones(study, fresh):
    """The same runs under other names, and in another order: nothing is played."""
    change = {"about": "words", "rule": {"name": "lll", "label": "logit", "tau": [0.6, 0.2]}, "seeds": [2, 0, 1]}
    grown = sweep(SMALL | change, study.folder)
    assert grown.computed == 0
    whole = fresh(change)
    same(grown, whole)
    assert grown.dataset().seed.values.tolist() == [2, 0, 1]
    for one, other in zip(curves_of(grown, "potential"), curves_of(whole, "potential"), strict=True):  # of show
        assert (one.name, one.seeds.tolist()) == (other.name, [2, 0, 1])
        assert (one.curves == other.curves).all()


def test_a_grown_study_is_exported_in_whole(study, fresh):
    import pandas

    change = LARGER["seeds between"] | {"rule": TAU}
    both = sweep(SMALL | change, study.folder), fresh(change)
    tables = [pandas.concat(list(frames(one, "runs"))) for one in both]
    one, two = (table.sort_values(["tau", "seed"], ignore_index=True) for table in tables)
    pandas.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 13}, "steps is 12 there and 13 here"),
        ({"every": 2}, "every is 4 there and 2 here"),
        ({"record": ["profile", "potential"]}, r'record is \["potential", "profile"\] there and \["profile", "pot'),
        ({"start": [0, 0, 0, 0]}, r"start is left out there and \[0, 0, 0, 0\] here"),
        ({"seeds": 2}, r"it has seeds 2, which this specification does not ask for \(seeds.count is 3 there and 2"),
        ({"rule": {"name": "lll", "tau": [0.2, 0.7]}}, r"it has runs of tau=0.6, which .*rule.tau is \[0.2, 0.6\] th"),
        ({"game": {"name": "ring", "players": 5}}, "it has runs of tau=0.2; tau=0.6, which .*players is 4 there and 5"),
    ],
)
@pytest.mark.parametrize("before", [False, True])
def test_what_may_not_change(study, change, message, before):
    found = as_before(study) if before else study
    content = {path: path.read_bytes() for path in found.folder.rglob("*") if path.is_file()}
    more = {"seeds": 9} if "seeds" not in change else {"rule": TAU}  # larger otherwise
    for one in (change, more | change):
        with pytest.raises(StudyError, match=f"holds (another study|more): {message}"):
            sweep(SMALL | one, found.folder)
    assert {path: path.read_bytes() for path in found.folder.rglob("*") if path.is_file()} == content


def test_what_is_wrong_with_the_larger_one_changes_nothing(study):
    content = (study.folder / "manifest.json").read_bytes()
    for rule in ({"name": "lll", "tau": [0.2, 0.6, -1.0]}, [SMALL["rule"], {"name": "none-such"}]):
        with pytest.raises(InvalidSpecification, match=r"rule"):
            sweep(SMALL | {"rule": rule}, study.folder)
    assert (study.folder / "manifest.json").read_bytes() == content


def test_damage_is_told_before_a_study_grows(study, fresh):
    path = chunk_files(study)[1]
    path.write_bytes(b"")
    with pytest.raises(StudyError, match=r"damaged.*repair=True"):
        sweep(SMALL | LARGER["seeds"], study.folder)
    assert open_study(study.folder).num_runs == 6
    grown = sweep(SMALL | LARGER["seeds"], study.folder, repair=True)
    assert grown.computed == 6 + 1
    same(grown, fresh(LARGER["seeds"]))


def test_damage_in_the_format_before(study, fresh):
    chunk_files(as_before(study))[1].write_bytes(b"")
    with pytest.raises(StudyError, match=r"damaged.*repair=True"):
        sweep(SMALL | LARGER["seeds"], study.folder)
    same(sweep(SMALL | LARGER["seeds"], study.folder, repair=True), fresh(LARGER["seeds"]))


# The format before ----------------------------------------------------------------------------------------


def test_the_format_before_is_read_and_gone_on_with(study, small):
    old = as_before(study)
    whole = small.dataset()
    xarray.testing.assert_identical(old.dataset().drop_attrs(), whole.drop_attrs())
    assert sweep(old.folder).manifest["format"] == 1  # nothing is missing: it stays as it is
    chunk_files(old)[2].unlink()
    done = sweep(old.folder)
    assert (done.computed, done.manifest["format"]) == (2, 3)
    same(done, small)


def test_only_chunks_of_ours_go(study):
    folder = as_before(study).folder
    mine = [folder / "chunks" / name for name in (f"000000-000000000-{'0' * 32}.npz", "notes.npz")]
    mine[1].write_text("mine")
    assert sweep(SMALL | LARGER["seeds"], folder).computed == 6
    mine[0].write_text("mine")  # as an old chunk is called, and not one
    sweep(folder)
    assert [path.read_text() for path in mine] == ["mine", "mine"]


# Killed ---------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Nobody catches it."""


class Mortal:
    """Lets so many renames and removals begin and end, and nothing after that."""

    def __init__(self, moments):
        self.left = moments

    def moment(self):
        if self.left == 0:
            raise Killed
        self.left -= 1

    def during(self, act):
        def done(path, *args, **options):
            self.moment()
            out = act(path, *args, **options)
            self.moment()
            return out

        return done


@pytest.mark.parametrize("before", [False, True], ids=["today", "format before"])
def test_killed_at_every_write(fresh, tmp_path, monkeypatch, before):
    """Before and after each: the old study or the new one, and the same command plays only what is missing."""
    base = SMALL | {"seeds": 2, "rule": {"name": "lll", "tau": [0.6]}}
    small, change = sweep(base, tmp_path / "one"), {"seeds": 3, "rule": {"name": "lll", "tau": [0.2, 0.6]}}
    folder = (as_before(small) if before else small).folder
    old, whole = open_study(folder).dataset(), fresh(change)
    new, names, seen = whole.dataset(), sorted(path.name for path in (whole.folder / "chunks").iterdir()), []
    for number in range(100):
        copy = shutil.copytree(folder, tmp_path / "copies" / str(number))
        mortal = Mortal(number)
        with monkeypatch.context() as patch:
            for name in ("replace", "unlink"):
                patch.setattr(files.Path, name, mortal.during(getattr(files.Path, name)))
            try:
                sweep(SMALL | change, copy)
            except Killed:
                pass
            else:
                break
        found = open_study(copy)
        data = found.dataset(partial=True)
        there = data.steps_done >= 0
        seen.append(found.num_runs)
        if found.num_runs == 2:
            xarray.testing.assert_identical(data.drop_attrs(), old.drop_attrs())
        else:
            assert there.sum() >= 2
            xarray.testing.assert_identical(data.potential, new.potential.where(there))
        grown = sweep(SMALL | change, copy)
        assert grown.computed == 6 - there.sum()
        xarray.testing.assert_identical(grown.dataset(), new)
        assert sorted(path.name for path in (copy / "chunks").iterdir()) == names
    assert set(seen) == ({2, 6})
    assert seen == sorted(seen)
    assert len(seen) >= (16 if before else 10)


def test_a_full_disk_while_chunks_are_written_anew(study, fresh, monkeypatch):
    old, written = as_before(study), files.Path.write_bytes

    def full(path, content):
        if len(list(path.parent.glob("*.npz"))) > 5:
            raise OSError(28, "No space left on device")
        return written(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(files.Path, "write_bytes", full)
        with pytest.raises(SweepFailed, match=r"cannot write to .*chunks: No space left on device"):
            sweep(SMALL | LARGER["seeds"], old.folder)
    assert open_study(old.folder).manifest == old.manifest
    assert open_study(old.folder).damaged() == {}
    same(sweep(SMALL | LARGER["seeds"], old.folder), fresh(LARGER["seeds"]))


# Two at once ----------------------------------------------------------------------------------------------


def test_another_process_lets_it_grow_meanwhile(study, fresh, monkeypatch):
    """Between the look at a study and its lock: what the other has played is kept; what it has more is not lost."""
    real, folder = growing.growth_of, study.folder

    def raced(other):
        def slow(*args):
            patch.undo()
            found = real(*args)
            sweep(SMALL | other, folder)
            return found

        patch.setattr("potentia.studies.sweeping.growth_of", slow)

    with monkeypatch.context() as patch:
        raced({"seeds": 5})
        grown = sweep(SMALL | {"seeds": 6, "rule": TAU}, folder)
    assert grown.computed == 18 - 10
    same(grown, fresh({"seeds": 6, "rule": TAU}))
    with monkeypatch.context() as patch:
        raced({"seeds": 9, "rule": TAU})
        with pytest.raises(StudyError, match="it has seeds 7 to 8, which"):
            sweep(SMALL | {"seeds": 7, "rule": TAU}, folder)
    assert open_study(folder).num_runs == 27


def test_a_study_that_was_opened_before_it_grew(study):
    opened = open_study(study.folder)
    as_before(study)
    grown = sweep(SMALL | LARGER["seeds"], study.folder)
    assert sweep(opened).computed == 0
    xarray.testing.assert_identical(opened.dataset(), grown.dataset())
    with grown.locked(), pytest.raises(StudyError, match="in use"):
        sweep(SMALL | {"seeds": 9}, study.folder)


# What runs are known by -----------------------------------------------------------------------------------


def test_games_of_ones_own_that_differ_in_code_alone(tmp_path, monkeypatch):
    """Two functions of one name, one size and one weight are two games; a third comes later."""
    monkeypatch.setattr(library, "_registry", dict(library._registry))

    def register(name, sign):
        @library.register_game(name)
        def build(weight=1.0):
            def pay(player, profile, data):
                return sign * data * profile[player]

            return pt.games.custom(pay, [2, 2], data=weight)

    for name, sign in (("up", 1.0), ("down", -1.0), ("twice", 2.0)):
        register(name, sign)
    games = [{"name": name} for name in ("up", "down", "twice")]
    base = SMALL | {"record": "welfare", "rule": {"name": "lll", "tau": 0.1}}
    sweep(base | {"game": games[:2]}, tmp_path / "study")
    grown = sweep(base | {"game": games[::-1], "seeds": 4}, tmp_path / "study")
    assert len(set(grown.keys)) == 3
    same(grown, sweep(base | {"game": games[::-1], "seeds": 4}, tmp_path / "fresh"))
    register("down", -3.0)
    with pytest.raises(StudyError, match="its code has changed since the study was begun"):
        sweep(base | {"game": games, "seeds": 5}, tmp_path / "study")


def test_files_of_games(tmp_path):
    """A new file is copied; one that changed under its name is another game."""
    for name, pay in (("a.json", 3), ("b.json", 5)):
        (tmp_path / name).write_text(json.dumps({"payoffs": [[[pay, 0], [2, 1]], [[pay, 2], [0, 1]]]}))
    toml = tmp_path / "s.toml"
    text = 'steps = 6\nseeds = 2\nrecord = "welfare"\nrule = {name = "lll", tau = 0.4}\ngame.file = '
    toml.write_text(f"{text}'a.json'\n")
    sweep(toml)
    toml.write_text(f"{text}['a.json', 'b.json']\n")
    grown = sweep(toml)
    assert (grown.computed, len(list((grown.folder / "inputs").iterdir()))) == (2, 2)
    same(grown, sweep(toml, tmp_path / "fresh"))
    (tmp_path / "a.json").write_text('{"payoffs": [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]}')
    with pytest.raises(StudyError, match=r"it has runs of file=a-.*, which this"):
        sweep(toml)


@pytest.mark.parametrize("parts", [[], [[0, 1]], [[0, 1, 2, 3]], [[0, 1, 2], [2]], [{"first": 0, "count": 2**61}]])
def test_parts_that_are_not_the_seeds(study, parts):
    manifest = copy.deepcopy(study.manifest) | {"parts": parts}
    body = {name: entry for name, entry in manifest.items() if name != "manifest"}
    (study.folder / "manifest.json").write_text(json.dumps(body | {"manifest": digest(body)}))
    with pytest.raises(StudyError, match="damaged"):
        open_study(study.folder)


def test_seeds_as_intervals():
    assert intervals([range(3, 5), [5, 9, 0], range(1, 3)]) == [(0, 6), (9, 10)]
    assert without([(0, 10**15)], [(3, 5), (7, 8)]) == [range(3), range(5, 7), range(8, 10**15)]
    assert without([(2, 4)], [(0, 9)]) == []
    assert new_parts([4, 1, 7], [range(2), [4]]) == [[7]]
    assert new_parts(range(6), [range(2, 4)]) == [range(2), range(4, 6)]
    with pytest.raises(ValueError, match="seed 1 is there twice"):
        intervals([range(3), [1]])
