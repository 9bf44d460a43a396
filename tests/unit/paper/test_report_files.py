"""The files of a report: pictures in three forms, records, tables and claims, with the same bytes each time."""

from __future__ import annotations

import base64
import csv
import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import xarray

from potentia.errors import InvalidInput
from potentia.figures import shares_figure, temperature_figure
from potentia.paper.claims import SUPPORTED, Claim, Measurement
from potentia.paper.report import Report, picture, reproduction, writing
from potentia.statistics.estimates import Estimate
from tests import reproduction_fakes as fakes

pytestmark = pytest.mark.xdist_group("report")  # one worker makes what they share


@pytest.fixture(scope="module")
def made():
    return fakes.built()


# Pictures ---------------------------------------------------------------------------------------------


def drawn():
    return shares_figure({"a": {"x": Estimate(0.5, 0.25, 0.75, 9), "y": 0.25}, "none": {}}, title="t")


def test_a_picture_has_the_same_bytes_each_time_in_every_form():
    first, second = (picture("p", drawn(), "caption", "alt") for _ in range(2))
    assert first.files == second.files
    assert first.files["png"].startswith(b"\x89PNG")
    assert first.files["pdf"].startswith(b"%PDF")
    assert b"CreationDate" not in first.files["pdf"]
    ET.fromstring(first.files["svg"])
    assert b"<dc:date>" not in first.files["svg"]


def test_the_page_carries_lines_where_they_are_small(monkeypatch):
    one = picture("p", drawn(), "caption", "alt")
    assert one.source.startswith("data:image/svg+xml;base64,")
    assert base64.b64decode(one.source.split(",")[1]) == one.files["svg"]
    monkeypatch.setattr("potentia.paper.report.pictures.LARGEST_SVG", 10)
    assert one.source.startswith("data:image/png;base64,")


def test_shares_are_drawn_where_they_are():
    figure = drawn()
    (axes,) = figure.axes
    bars = {bar.get_gid(): bar.get_width() for bar in axes.patches}
    assert bars == {"a: x": 0.5, "a: y": 0.25}
    with pytest.raises(InvalidInput, match="at least one share"):
        shares_figure({"none": {}})


def test_temperatures_are_drawn_in_order_with_what_was_published():
    worth = {0.01: Estimate(0.2, 0.1, 0.3, 5), 0.001: Estimate(0.1, np.nan, np.nan, 1)}
    figure = temperature_figure(
        worth, published={"mean": 0.14, "low": 0.12, "high": 0.15}, beside={"SOQL": worth[0.01]}
    )
    (axes,) = figure.axes
    line = axes.lines[0]
    np.testing.assert_array_equal(line.get_xydata(), [[0.001, 0.1], [0.01, 0.2]])
    heights = {one.get_gid(): one.get_ydata()[0] for one in axes.lines if one.get_gid()}
    assert heights == {"SOQL": 0.2, "published": 0.14}
    with pytest.raises(InvalidInput, match="at least one temperature"):
        temperature_figure({})


# Files ------------------------------------------------------------------------------------------------


def test_the_folder(made, tmp_path):
    study, claims, report, text = made
    facts = reproduction.facts(study, claims)
    for out in (tmp_path / "a", tmp_path / "b"):
        assert writing.write(out, report, facts, reproduction.records(study), fakes.tables()) == out / "report.html"
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    for name in files:  # none that is left over, and all the same again
        assert not name.name.startswith(".")
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert (tmp_path / "a" / "report.html").read_text("utf-8") == text
    names = {str(name) for name in files}
    for one in ("figures/fig-02-field.png", "figures/mixtures.pdf", "data/model-blll.nc", "data/configurations.nc",
                "data/learners-ql-tau-0.002.nc", "data/model.csv", "claims.json"):  # fmt: skip
        assert one in names
    replays = {one.watch: one.replay.page for one in report.pictures if one.replay}
    assert {name for name in names if name.startswith("replays/")} == set(replays)
    for name, page in replays.items():
        assert (tmp_path / "a" / name).read_text("utf-8") == page
    with xarray.open_dataset(tmp_path / "a" / "data" / "model-blll.nc") as kept:
        np.testing.assert_array_equal(kept.worth_sum.values, study.model["BLLL"].worth_sum.values)
        assert kept.taken.dtype == np.int32  # recorded as doubles
        np.testing.assert_array_equal(kept.taken.values, study.model["BLLL"].taken.values)
    assert not {"data/mixtures-em-sm.nc", "data/four-soql.nc", "data/lasting-blll.nc"} & names  # kept once
    assert {"data/mixtures-em-n.nc", "data/four-blll.nc", "data/learners-soql.nc"} <= names
    with xarray.open_dataset(tmp_path / "a" / "data" / "configurations.nc") as kept:
        np.testing.assert_array_equal(kept["p-sblll"].values, study.finals["P-SBLLL"])


def test_records_are_thinned_evenly_and_keep_both_ends(made):
    study = made[0]
    kept = reproduction.records(study)
    assert kept["model-BLLL"].sizes["time"] == study.model["BLLL"].sizes["time"] == 201  # short enough
    for rows, wanted in ((501, 501), (502, 252), (1203, 402), (1204, 402)):
        times = np.arange(rows) * 10
        long = xarray.Dataset({"worth_sum": (("seed", "time"), np.ones((2, rows)))}, {"time": times})
        thin = reproduction._thinned(long).time.values
        assert len(thin) == wanted
        assert (thin[0], thin[-1]) == (0, times[-1])
        assert len(set(np.diff(thin[:-1]).tolist())) == 1


def test_claims_as_strict_json(made):
    study, claims = made[:2]
    text = writing.strict_json(reproduction.facts(study, claims))

    def refuse(name):
        raise AssertionError(name)

    found = json.loads(text, parse_constant=refuse)
    assert found["format"] == 1
    assert found["scale"]["runs"] == 6
    assert found["seeds"]["model"] == list(range(6))
    assert {"Python", "Numba", "NumPy"} == set(found["versions"])
    by_name = {claim["name"]: claim for claim in found["claims"]}
    first = {"label": "steps sooner", "unit": "steps", "published": 280.0, "value": 250.0, "low": 120.0, "high": 380.0}
    assert by_name["faster"]["measured"] == [first | {"count": 6}]
    assert by_name["general"]["details"] == claims[2].details | {"potential": [0.5, None], "profile": [0, 1, 1]}
    assert by_name["higher than QL"]["title"] == fakes.HOSTILE
    assert by_name["general"]["counterexample"] == claims[2].counterexample
    assert by_name["faster"]["evidence"] == list(fakes.LINES)
    assert by_name["general"]["evidence"] == []


def test_tables_as_csv():
    rows = [{"rule": 'a "b", c', "worth": Estimate(0.5, 0.25, 0.75, 9)}, {"rule": "d", "worth": 0.25, "runs": 3}]
    found = list(csv.DictReader(io.StringIO(writing.csv_text(rows))))
    assert found == [
        {"rule": 'a "b", c', "worth": "0.5", "worth low": "0.25", "worth high": "0.75", "runs": ""},
        {"rule": "d", "worth": "0.25", "worth low": "", "worth high": "", "runs": "3"},
    ]


def test_no_text_of_a_table_is_a_formula():
    rows = [{"=rule": "=1+1", "+gain": "-1.5", "worth": -0.5}, {"=rule": "@x", "+gain": "-more", "worth": None}]
    assert writing.csv_text(rows) == "'=rule,'+gain,worth\n'=1+1,-1.5,-0.5\n'@x,'-more,\n"


def test_names_of_files():
    assert writing.slug("QL, τ = 0.002") == "ql-tau-0.002"
    assert writing.slug("EM_N, everybody hears everybody") == "em-n-everybody-hears-everybody"
    assert writing.slug("../../etc") == "etc"


def test_two_names_that_make_one_file_are_refused(made, tmp_path):
    study, _, report, _ = made
    data = {"a b": study.model["BLLL"], "a-b": study.model["BLLL"]}
    with pytest.raises(InvalidInput, match=r"a-b\.nc twice"):
        writing.write(tmp_path / "out", report, {}, data, {})
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_told_is_written_nowhere(made, tmp_path):
    claim = Claim("one", "theory", "a", "b", (Measurement("m", 1),), SUPPORTED, "c")
    object.__setattr__(claim, "verdict", "perhaps")  # which nobody can declare
    with pytest.raises(InvalidInput, match="verdict"):
        writing.write(tmp_path / "out", Report("x", (), {}, [claim]), {}, {}, {})
    assert not (tmp_path / "out").exists()
