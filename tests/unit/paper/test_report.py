"""A report: one page with everything inside, all text escaped, and the same bytes from the same input."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import attrs
import numpy as np
import pytest

from potentia.errors import InvalidInput
from potentia.paper.choosing import choose
from potentia.paper.claims import (
    DEPENDS,
    IS_VERDICT,
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    Claim,
    Measurement,
    declared_in,
)
from potentia.paper.report import Report, Section, Table, render, reproduction, sections
from potentia.paper.report.answering import answer, lead
from potentia.paper.report.sections import FIRST
from potentia.paper.report.wording import texts
from potentia.paper.report.words import anchor, headlines, in_one_sentence, kind_of, lines, sentence, told
from potentia.paper.theory import MODULES
from potentia.statistics.estimates import Estimate, estimate
from potentia.web.coding import unpacked
from potentia.web.recordings import Recording
from tests import reproduction_fakes as fakes

pytestmark = pytest.mark.xdist_group("report")  # one worker makes what they share

SVG = "http://www.w3.org/2000/svg"  # the name of a namespace; nobody fetches it
VOID = {"meta", "img", "br", "hr", "input", "link"}


class Page(HTMLParser):
    """Elements, ids, links and text of a page; complains about tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text, self.trouble = [], [], [], []
        self.feed(text)
        self.close()
        self.trouble += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.trouble.append(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    def of(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]

    @property
    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


@pytest.fixture(scope="module")
def made():
    return fakes.built()


# The page ---------------------------------------------------------------------------------------------


def test_the_checker_finds_what_it_looks_for():
    """The control of the tests below."""
    assert Page("<p><b>x</p></b>").trouble
    assert Page("<p>").trouble
    assert not Page('<p><img src="a">x</p>').trouble


def test_tags_match_and_ids_are_unique(made):
    page = Page(made[3])
    assert page.trouble == []
    ids = Counter(attributes["id"] for _, attributes, _ in page.elements if "id" in attributes)
    assert max(ids.values()) == 1


def test_every_link_stays_on_the_page_and_leads_somewhere(made):
    page = Page(made[3])
    ids = {attributes["id"] for _, attributes, _ in page.elements if "id" in attributes}
    links = [attributes["href"] for attributes in page.of("a")]
    replays = {one.watch for one in made[2].pictures if one.replay}
    assert len(replays) == 4
    assert replays < set(links)  # which are written beside the page
    inside = [link for link in links if link not in replays]
    assert {link[1:] for link in inside} <= ids
    assert all(link.startswith("#") for link in inside)
    assert {f"#{section.anchor}" for section in made[2].sections} <= set(links)
    for _, attributes, _ in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name, "made") in ids


def test_nothing_is_fetched(made):
    page = Page(made[3])
    for tag, attributes, _ in page.elements:
        assert tag not in ("link", "object", "embed", "base")
        for name in ("src", "srcset", "poster", "data", "action"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, name)
    assert all("src" not in attributes for attributes in page.of("script"))
    assert not re.search(r"@import|url\(|https?://", made[3].replace(SVG, ""))
    (policy,) = [m["content"] for m in page.of("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert {"base-uri 'none'", "form-action 'none'"} <= set(policy.split("; "))  # which default-src does not cover


def test_replays_are_inside_and_on_screens_only(made):
    page = Page(made[3])
    frames, replayed = page.of("iframe"), [one for one in made[2].pictures if one.replay]
    names = ["configurations-model", "tree-stable", "scores", "configurations-learners"]
    assert [one.name for one in replayed] == names
    assert made[2].first.replay.instead  # of the figure, which paper has
    for frame, one in zip(frames, replayed, strict=True):
        assert set(frame) == {"class", "srcdoc", "loading", "sandbox", "title"}
        assert frame["sandbox"] == "allow-scripts allow-downloads"  # of another origin than the page
        assert frame["srcdoc"] == one.replay.page
        assert "default-src 'none'; script-src 'sha256-" in frame["srcdoc"]
        assert frame["title"] == f"{one.replay.kind}: {one.replay.title}"
        assert one.replay.about in page.words
        assert f"{one.replay.asks} on a page of its own: {one.watch} ." in page.words
    paper = made[3].split("@media print")[1].split("</style>")[0]
    assert re.search(r"\.replay[^{]*\{ display: none; \}", paper)


def test_scripts_and_styles_run_by_their_hashes_alone(made):
    """Those of the page, and of its frames, which are held to the page's policy as well."""
    (policy,) = [m["content"] for m in Page(made[3]).of("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "*" not in policy
    frames = [one.replay.page for one in made[2].pictures if one.replay]
    for page in (made[3], *frames):
        for tag in ("script", "style"):
            allowed = dict(part.split(" ", 1) for part in policy.split("; "))[f"{tag}-src"]
            for text in re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL):
                code = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert f"'sha256-{code}'" in allowed
    assert not re.search(
        r"<[^>]+ (style|on[a-z]+)=", made[3].split("<body>")[1].split("<script>")[0].replace("srcdoc", "")
    )


def test_a_replay_ends_where_the_figure_does(made):
    study, _, report, _ = made
    names = ("configurations-model", "configurations-learners")
    shown = [one.replay.page for one in report.pictures if one.name in names]
    found = [dict(re.findall(r'data-label="([^"]*)">([^<]*)</script>', page)) for page in shown]
    assert [list(named) for named in found] == [["BLLL", "P-SBLLL"], ["QL, τ = 0.002", "QL, τ = 0.005", "SOQL"]]
    for name, text in (found[0] | found[1]).items():
        recording = Recording(*unpacked(base64.b64decode(text), name))
        np.testing.assert_array_equal(recording.profiles(range(fakes.SHOWN + 1)), study.finals[name])
        assert recording.header["seed"] == study.shown
        assert recording.header["optimum"]["value"] == study.optimum.value
    asked = {name: made.header["keyframes"] for name, made in study.recordings.items()}
    assert asked["P-SBLLL"] is None  # which knows the map here
    assert asked["BLLL"]["belief"]
    assert asked["SOQL"]["scores"]
    assert asked["SOQL"]["steps"] == [0, 10, 20, 30, 40]


def test_figures_have_alternatives_and_captions(made):
    page = Page(made[3])
    drawn = list(made[2].pictures)
    images = page.of("img")
    assert [image["alt"] for image in images] == [one.alt for one in drawn]
    assert all(len(image["alt"]) > 20 for image in images)
    assert len(page.of("figure")) == len(page.of("figcaption")) == len(drawn)
    for one in drawn:
        assert one.caption in page.words
    assert len({one.name for one in drawn}) == len(drawn)


def test_table_headers_say_what_they_head(made):
    for attributes in Page(made[3]).of("th"):
        assert attributes["scope"] in ("col", "row", "rowgroup")


def test_every_claim_has_its_row_and_its_evidence(made):
    """In the table its verdict, in words and with a sign, and why; in its section all that was measured."""
    _, claims, _, text = made
    rows = dict(re.findall(r'<tbody class="claim" id="claim-([^"]+)"(.*?)</tbody>', text, re.DOTALL))
    parts = dict(re.findall(r'<details class="told" id="told-([^"]+)"(.*?)</details>', text, re.DOTALL))
    for claim in claims:
        sign = {SUPPORTED: "✓", NOT_SUPPORTED: "✗", DEPENDS: "◐"}[kind_of(claim.verdict)]
        name = anchor(claim.name)
        for part in (rows[name], parts[name]):
            for expected in (claim.title, sentence(claim.where), sentence(claim.reason), f"{sign} {claim.verdict}"):
                assert expected in Page(part).words
        assert f'href="#told-{name}"' in rows[name]
        assert f'href="#claim-{name}"' in parts[name]
        words = Page(parts[name]).words
        for entry in claim.measured:
            assert entry.label in words
            assert " ".join(lines(told(entry.value, entry.unit))).strip() in words
        assert (claim.counterexample or "") in words
        for line in claim.evidence:
            assert line in words
    assert "280 steps" in Page(text).words  # published, with its unit
    assert "Of 3 claims, 1 is supported, 1 is not supported and 1 depends on circumstances" in Page(text).words


def test_a_claim_without_a_section_has_its_evidence_in_the_table(made):
    text = render(Report("x", (), {}, made[1]))
    assert "told-" not in text.split("<body>")[1].split("<script>")[0]
    words = Page(text).words
    assert all(line in words for line in fakes.LINES)
    assert made[1][2].counterexample in words


def test_text_is_escaped(made):
    text = made[3]
    assert fakes.HOSTILE not in text
    assert "<script>alert" not in text
    assert text.count("<script>") == text.count("</script>") == 2  # those of the template
    assert fakes.HOSTILE in Page(text).words


def test_the_story_is_whole(made):
    """Every claim, picture and table that there may be is told once, and every word explained once."""
    words, used = texts(), Counter()
    for section in words["sections"].values():
        for what in ("claims", "definitions", "pictures", "more", "tables"):
            used.update((what.replace("more", "pictures"), name) for name in section.get(what, ()))
    assert set(used.values()) == {1}
    told_of = {what: {name for kind, name in used if kind == what} for what, _ in used}
    declared = {one.name for one in declared_in("case_claims", "case_learner_claims", *MODULES)}
    assert told_of["claims"] == set(words["said"]) == declared
    assert told_of["definitions"] == set(words["definitions"])
    assert told_of["pictures"] | {FIRST} == set(words["pictures"])
    assert told_of["tables"] == {*words["captions"], "use"}
    assert set(words["headlines"]) <= declared


def test_the_page_is_told_from_the_front(made):
    """What came out and a picture, then the sections, the claims after them, and last how it was made."""
    _, _, report, text = made
    assert [section.anchor for section in report.sections] == list(texts()["sections"])
    places = [text.index(part) for part in (report.lead[0][:40], "<iframe", 'id="contents"')]
    places += [text.index(f'<h2 id="{section.anchor}"') for section in report.sections]
    places += [text.index('<h2 id="claims"'), text.index('<h2 id="made"')]
    assert places == sorted(places)
    assert report.first.name == FIRST
    shown = [one.name for one in report.pictures]
    assert {"field", "revision", "model", "mixtures", "soql", "temperature", "four", "shares", "scores"} <= set(shown)
    assert len(shown) == len(set(shown))


@pytest.mark.parametrize(("asked", "there"), [("Fig. 6", True), ("Fig. 9", True), ("Fig. 5", False)])
def test_a_figure_alone_is_shown(made, monkeypatch, asked, there):
    """Fig. 6 is the picture at the top, which is spoken of where there is one."""
    monkeypatch.setattr(sections, "picture", fakes.undrawn)
    study, claims, *_ = made
    report = reproduction.build(study, claims, fakes.tables(), choose(asked))
    names = {one.name for one in report.pictures}
    assert (FIRST in names) == ("configurations-learners" in names) == there
    assert ("model" in names) != there
    text = [text for section in report.sections for text in section.paragraphs]
    assert (texts()["facts"]["top"] in text) == there


def test_every_table_is_shown_once(made):
    shown = [table.name for section in made[2].sections for table in section.tables]
    assert sorted(shown) == sorted([*fakes.tables(), "use"])


def test_answers_follow_from_the_verdicts():
    judged = {claim.name: claim for claim in fakes.claims()}
    faster, higher, general = judged["faster"], judged["higher than QL"], judged["general"]
    assert answer([]) == []
    assert answer([faster]) == ["It holds that P-SBLLL converges faster than BLLL.", "In numbers: It is."]
    against = attrs.evolve(faster, verdict=NOT_SUPPORTED, reason="later")
    assert answer([against, general])[0].startswith("It does not hold that P-SBLLL converges faster than BLLL or that ")
    assert answer([higher])[0] == "Whether SOQL covers more than QL depends on the temperature of QL."
    slower = attrs.evolve(higher, name="slower than QL")
    both = "Whether SOQL covers more than QL and whether SOQL is slower than QL depend on the temperature of QL."
    assert answer([higher, slower])[0] == both
    open_one = attrs.evolve(faster, verdict=UNDECIDED)
    assert answer([open_one])[0] == "The runs do not tell whether P-SBLLL converges faster than BLLL."
    many = [attrs.evolve(faster, name=str(k)) for k in range(6)]
    assert answer(many)[0].endswith("; 2 other claims are among those below.")
    told_first = lead([faster, attrs.evolve(higher, verdict=NOT_SUPPORTED)])[1]
    held = "Played again: it holds that P-SBLLL converges faster than BLLL; "
    assert told_first == f"{held}it does not hold that SOQL covers more than QL."


def test_definitions_compute_their_examples(made):
    words = {one.term: one for section in made[2].sections for one in section.definitions}
    (shares,) = words["Stochastically stable"].tables
    for row in shares.rows:
        tau, first, second = row.values()
        exact = 100 / (1 + np.exp(-0.2 / tau))  # the odds are e^(0.2/τ)
        assert (first, second) == ("over 99.9 %", "under 0.1 %") or (
            float(first[:-2]) == pytest.approx(exact, abs=0.051)
            and float(first[:-2]) + float(second[:-2]) == pytest.approx(100.0, abs=0.11)
        )
    assert "changes by +2, and so does Φ, from 0 to 2" in words["Potential game"].paragraphs[1]
    (payoffs,) = words["Potential game"].tables
    assert [list(row.values())[1:] for row in payoffs.rows] == [[0, 2, 0], [3, 3, 1], [2, 2, 2], [2, 0, 0]]


def test_trees_stand_with_their_payoffs_and_their_story(made):
    drawn = {one.name: one for one in made[2].pictures}
    stable, maximiser = drawn["tree-stable"], drawn["tree-maximiser"]
    for one in (stable, maximiser):
        assert len(one.story) == 2
        assert one.tables[0].caption == "The game double-step"
    assert stable.story[0].endswith("It is stable.")
    assert "Player 0 compares 2 with 3 and takes it." in stable.story[1]
    assert "It is not stable" in maximiser.story[0]
    unlike = stable.tables[1]
    assert unlike.caption.endswith("2 of 12")
    for row in unlike.rows:
        said = row["who woke, tried and stayed"]
        assert (row["by Eq. 12"], row["in fact"]) == ("2", "1")
        assert all(word in said for word in ("wake", "try", "takes it", "stays"))


def test_what_learns_nothing_does_not_settle(made):
    """A run that ends no higher than it began is near its final worth from the start."""
    study = fakes.study()
    rows = [{"algorithm": name, "settles": estimate([14.0, 15.0])} for name in ("BLLL", "flat")]
    risen = study.model["BLLL"]
    found = reproduction._readable(rows, {"BLLL": risen, "flat": risen.assign(worth_sum=0.0 * risen.worth_sum)})
    assert [row["settles at step"] for row in found] == [rows[0]["settles"], "learns nothing"]


def test_what_to_use_is_what_covers_most(made):
    (found,) = [table for section in made[2].sections for table in section.tables if table.name == "use"]
    assert found.rows[0]["covers most"] == "guarded P-SBLLL (ours)"
    assert [row["steps"] for row in found.rows] == [2000, 2000, 2000, 15_000, 15_000]
    assert found.rows[2]["as good, as far as the runs tell"] == "none; all others cover less"


def test_the_page_says_how_it_was_made(made):
    words = Page(made[3]).words
    for expected in (
        "potentia reproduce --quick",
        "6 runs of each algorithm",
        "0 to 5 (model, known",
        "1000 to 1002 (tuning)",
        "NumPy",
    ):
        assert expected in words


def test_the_same_input_gives_the_same_page(made):
    assert render(made[2]) == made[3]
    other = Report(made[2].title, ["something else"], made[2].made, made[2].claims, made[2].sections)
    assert render(other) != made[3]


def test_dark_colours_are_the_same_for_the_system_and_the_button_and_can_be_read(made):
    """Contrast of text on its ground of at least 4.5, as WCAG AA asks, in both themes; paper is light."""
    style = made[3].split("<style>")[1].split("</style>")[0]
    blocks = re.findall(r"\{([^{}]*--ground:[^{}]*)\}", style)
    themes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", block)) for block in blocks]
    light, button, system, paper = themes
    assert button == system
    assert "color-scheme: light" in blocks[0]
    assert "color-scheme: light" in blocks[3]
    assert style.index("@media print") > style.index("prefers-color-scheme")
    assert len(re.findall(r"@media screen[^{]*\{\s*:root[^{]*\{\s*--ground", style)) == 2  # so that print is never dark
    for theme in (light, button, paper):
        for ink, ground in (("ink", "ground"), ("soft", "ground"), ("link", "ground"), ("ink", "panel"),
                            ("yes", "yes-ground"), ("no", "no-ground"), ("depends", "depends-ground")):  # fmt: skip
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
    assert contrast("#777777", "#888888") < 4.5


def test_the_style_is_well_formed_and_paper_has_no_button(made):
    style = re.sub(r"/\*.*?\*/", "", made[3].split("<style>")[1].split("</style>")[0], flags=re.S)
    depth = 0
    for sign in re.findall(r"[{}]", style):
        depth += 1 if sign == "{" else -1
        assert 0 <= depth <= 2
    assert depth == 0
    for block in re.findall(r"\{([^{}]*)\}", style):
        for declaration in filter(str.strip, block.split(";")):
            assert re.fullmatch(r"\s*[a-z-]+:\s*[^:]+", declaration), declaration
    used, known = set(re.findall(r"var\((--[a-z-]+)\)", style)), set(re.findall(r"(--[a-z-]+):", style))
    assert used <= known
    classes = {name for _, found, _ in Page(made[3]).elements for name in found.get("class", "").split()}
    elsewhere = {"claim", "moves", "many", "more", "below"}  # where there is a script, or a report has more
    assert set(re.findall(r"\.([a-z][a-z-]*)", style)) <= classes | elsewhere  # no rule for nothing
    paper = style.split("@media print")[1]
    assert re.search(r"#theme[^{]*\{ display: none; \}", paper)
    assert re.search(r"figure, tr[^{]*\{ break-inside: avoid; \}", paper)


def contrast(first, second):
    def luminance(colour):
        code = colour[1:] if len(colour) == 7 else "".join(2 * letter for letter in colour[1:])
        parts = [int(code[k : k + 2], 16) / 255 for k in (0, 2, 4)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_a_report_of_nothing_is_a_page_too():
    page = Page(render(Report("Empty", (), {})))
    assert page.trouble == []
    assert page.words.strip().endswith("How it was made")
    assert "claims" not in page.words


def test_names_must_differ():
    claim = Claim("one", "theory", "a", "b", (), SUPPORTED, "c")
    with pytest.raises(InvalidInput, match="names of claims must differ, got 'one' 2 times"):
        Report("x", (), {}, [claim, claim])
    with pytest.raises(InvalidInput, match="anchors"):
        Report("x", (), {}, (), [Section("a", "here"), Section("b", "here")])


def test_kinds_and_verdicts_are_checked_where_a_claim_is_made():
    with pytest.raises(InvalidInput, match='kind must be "experiment" or "theory", got \'rumour\''):
        Claim("one", "rumour", "a", "b", (), SUPPORTED, "c")
    for refused in IS_VERDICT.refused():
        with pytest.raises(InvalidInput, match="verdict must be one of 'supported'"):
            Claim("one", "theory", "a", "b", (), refused, "c")
    claim = Claim("one", "theory", "a", "b", {"games": 3}, SUPPORTED, "c", ["a line"])
    assert claim.measured == (Measurement("games", 3),)
    assert claim.evidence == ("a line",)


def test_a_verdict_is_one_of_four():
    assert kind_of("depends on the temperature") == DEPENDS
    with pytest.raises(InvalidInput, match="verdict must be"):
        kind_of("perhaps")
    with pytest.raises(InvalidInput, match="verdict must be"):
        kind_of("supported by some")
    assert in_one_sentence([]) == "No claim is judged here."


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (True, "yes"),
        (1234567, "1,234,567"),
        (-3, "−3"),
        (0.123456, "0.1235"),
        (np.float64(15000.0), "15,000"),
        (np.int64(7), "7"),
        (Estimate(-0.5, -0.75, -0.25, 20), "−0.5 [−0.75, −0.25]"),
        (Estimate(0.5, 0.25, 0.75, 4), "0.5"),
        (Estimate(np.nan, np.nan, np.nan, 0), "–"),
        (Estimate(1.0, 0.93, 1.0, 50), "50 of 50 [0.93, 1]"),
        (Estimate(0.0, 0.0, 0.28, 10), "0 of 10 [0, 0.28]"),
        (Estimate(1.0, 0.75, 1.25, 20), "1 [0.75, 1.25]"),
        ("p-sblll", "p-sblll"),
        ([1, 0.5], "1, 0.5"),
    ],
)
def test_cells_as_people_read_them(entry, text):
    assert told(entry) == text


def test_what_is_in_brackets_may_stand_below():
    assert lines("−0.5 [−0.75, −0.25]") == ("−0.5", "[−0.75, −0.25]")
    assert lines("1,182 [918.6, 1,446]") == ("1,182", "[918.6, 1,446]")
    assert lines("0.1378 (0.1185 to 0.1561)") == ("0.1378", "(0.1185 to 0.1561)")
    assert lines("2.22e−16") == ("2.22e−16", "")
    assert lines("EM_N (known)") == ("EM_N (known)", "")


def test_sentences_begin_with_a_capital_unless_with_a_symbol():
    assert sentence("no cycle") == "No cycle"
    assert sentence("u^i depends") == "u^i depends"
    assert sentence("ΣC is") == "ΣC is"
    assert sentence("") == ""
    assert sentence("control, random games") == "Control, random games"
    assert sentence("coverage-potential lemma") == "Coverage-potential lemma"
    assert sentence("a slip") == "a slip"  # one letter may be a symbol
    assert sentence("τ = 1") == "τ = 1"
    assert sentence(fakes.HOSTILE) == fakes.HOSTILE


def test_units_follow_words_too():
    assert told("3 of 20", "runs") == "3 of 20 runs"


def test_headlines_are_what_was_published():
    entries = tuple(
        Measurement(name, 1.0, printed) for name, printed in zip("abcd", (None, 1.0, 2.0, 3.0), strict=True)
    )
    claim = Claim("x", "theory", "t", "w", entries, SUPPORTED, "r")
    assert [entry.label for entry in headlines(claim)] == ["b", "c"]
    claim = Claim("x", "theory", "t", "w", entries[:1], SUPPORTED, "r")
    assert [entry.label for entry in headlines(claim)] == ["a"]
    values = {"cold": estimate([0.1, 0.1]), "none": np.nan, "word": "0.14", "mild": 0.15, "hot": 0.3}
    entries = tuple(Measurement(name, value, 0.14) for name, value in values.items())
    claim = Claim("x", "theory", "t", "w", entries, SUPPORTED, "r")
    assert [entry.label for entry in headlines(claim)] == ["mild"]


def test_tables_show_what_people_compare(made):
    words = Page(made[3]).words
    for expected in ("least to largest", "0.1 to 0.15", "0.1378 (0.1185 to 0.1561)", "published step", "1,234"):
        assert expected in words
    assert "Robots that learn the field, 5 runs" in words  # the same in all rows
    assert "no" not in [
        told(cell) for one in made[2].sections for t in one.tables for r in t.rows for cell in r.values()
    ]
    assert "published_mean" not in words
    temperatures = next(t for section in made[2].sections for t in section.tables if t.name == "temperatures")
    assert temperatures.columns[0] == "temperature τ"


def test_columns_of_a_table_are_those_of_all_rows():
    table = Table("t", [{"a": 1, "none": None}, {"b": estimate([1, 2]), "c": "x", "a": 2, "none": None}])
    assert table.columns == ["a", "b", "c"]  # nothing is in the other one
    assert [table.is_number(name) for name in table.columns] == [True, True, False]
    page = Page(render(Report("x", (), {}, (), [Section("s", "s", tables=[table])])))
    assert page.trouble == []
    assert "–" in page.words
