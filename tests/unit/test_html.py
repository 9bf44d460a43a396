"""What notebooks show of objects: well-formed, escaped, bounded, at once, and the library's own numbers."""

from __future__ import annotations

import base64
import io
import re
import time
from dataclasses import replace
from xml.etree import ElementTree

import attrs
import networkx as nx
import numpy as np
import pytest
from PIL import Image

import potentia as pt
from potentia.beliefs import registered as registered_beliefs
from potentia.beliefs import showing as shown_beliefs
from potentia.beliefs.fitted import Fitted
from potentia.beliefs.view import View
from potentia.games.library import registered_games
from potentia.kernel import html
from potentia.kernel.html import card, escaped, facts, listed, shown, table
from potentia.kernel.pictures import SIDE, palette, picture
from potentia.kernel.registry import REQUIRED, parameters_of
from potentia.kernel.texts import value as printed
from potentia.rules import showing as shown_rules
from potentia.rules.composed import kinds_of_axes
from potentia.studies.summary import summarise_stability
from tests import games

EVIL = "<script>alert('1')</script> & \"so\" on\x1b[2J"
GAME, RULE = games.normal_form(), pt.rule("blll", tau=0.1)
SMALL = pt.games.Coverage(pt.games.World(np.arange(12.0).reshape(3, 4)), 2, 1.0, flags=False)


def read(thing):
    """The HTML of an object, parsed; nothing in it may run, load or clash."""
    source = thing if isinstance(thing, str) else thing._repr_html_()
    page = ElementTree.fromstring(f"<main>{source}</main>")
    for node in page.iter():
        assert node.tag in {"main", "div", "span", "table", "caption", "thead", "tbody", "tr", "th", "td", "img"}
        assert set(node.attrib) <= {"style", "scope", "colspan", "alt", "src", "width", "height"}
        assert "color" not in node.get("style", "").replace("rgba(128,128,128,0.3)", "")  # the notebook's own
        assert node.get("src", "data:image/png;base64,").startswith("data:image/png;base64,")
    return page


def text_of(thing):
    return " ".join(" ".join(read(thing).itertext()).split())


def facts_of(thing):
    rows = (row for row in read(thing).iter("tr") if row[0].get("scope") == "row")
    return {row[0].text: row[1].text for row in rows}


def rows_of(thing):
    """The rows of all tables but those of facts."""
    rows = (row for body in read(thing).iter("tbody") for row in body if row[0].get("scope") != "row")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


# Blocks -----------------------------------------------------------------------------------------------


def test_everything_is_text():
    for block in (table([[EVIL]], [EVIL], EVIL), facts({EVIL: EVIL}), card(EVIL, EVIL, html.lines(EVIL))):
        read(block)
        assert "<script" not in block
        assert "alert" in block
        assert "\x1b" not in block
        assert "\\x1b[2J" in block
    assert escaped("\ud800\x00") == "\\ud800\\x00"


def test_tables_end():
    rows = rows_of(table([[k, "x" * 5000] for k in range(1000)]))
    assert len(rows) == html.ROWS + 1
    assert rows[-1] == ["and 970 more"]
    assert len(rows[0][1]) < 500
    assert rows_of(table([[1]], count=7))[-1] == ["and 6 more"]
    assert len(rows_of(table([[k] for k in range(html.ROWS)]))) == html.ROWS
    assert read(table([])) is not None
    assert facts({"known": 0, "unknown": None}).count("<tr>") == 1
    assert listed(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert listed(map(str, [1, 2]), 5) == "1, 2 and 3 more"


@pytest.mark.parametrize("number", [0, 7, -1234567, 0.1, 1 / 3, 123456.7, 1e20, -1e-9, float("inf"), True, "a text"])
def test_numbers_are_as_the_command_line_prints_them(number):
    assert shown(number) == printed(number)


def test_numbers_stand_right_and_texts_left():
    cells = list(read(table([["a", 1.5], ["b", 2]])).iter("td"))
    assert [re.search("text-align:(\\w+)", cell.get("style"))[1] for cell in cells] == ["left", "right"] * 2


# Games ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registered_games())
def test_every_game_by_name(name):
    game = pt.game(name)
    told = facts_of(game)
    assert told["players"] == f"{game.num_players:,}"
    assert told["potential"] == ("known" if game.has_potential else "not known")


@pytest.mark.parametrize("make", games.ALL.values(), ids=games.ALL)
def test_every_kind_of_game(make):
    game = make()
    known = set(vars(game))  # some are made once for all tests
    told = facts_of(game)
    assert told["profiles"] == f"{game.num_profiles:,}"
    assert told["moves"].startswith("constrained" if "constrained" in repr(game) else "from every")
    assert not {"compiled", "_attempt"} & (set(vars(game)) - known)  # nothing was compiled to show it


def test_payoffs_of_two_players_stand_in_one_cell():
    game = pt.games.NormalForm([[[4, 0], [3, 3.5]], [[4, 3], [0, 1 / 3]]])
    assert rows_of(game) == [["0", "4, 4", "0, 3"], ["1", "3, 0", "3.5, 0.333333"]]
    assert rows_of(pt.games.NormalForm(np.zeros((2, 9, 9)))) == []
    three = rows_of(pt.games.random_potential_game([2, 2, 2]))
    assert len(three) == 8
    assert [len(row) for row in three] == [5] * 8  # profile, payoffs, potential
    assert float(rows_of(GAME)[3][2]) == pytest.approx(GAME.utility(1, (0, 1, 1)), rel=1e-5)


def test_resources_and_graphs():
    assert rows_of(games.congestion()) == [["0", "3", "0.3", "2"], ["1", "3", "0.4", "1.2"], ["2", "3", "0.1", "1.1"]]
    unused = pt.games.Congestion([[0]], [[1.0], []], num_players=1)
    assert rows_of(unused)[1] == ["1", "0", "", ""]
    graph = nx.relabel_nodes(nx.star_graph(12), {0: EVIL})
    game = pt.games.Coordination(graph, np.eye(2), weights=np.arange(1.0, 13.0))
    told = facts_of(game)
    assert (told["edges"], told["neighbours"], told["weights"]) == ("12", "1 to 12 each", "1 to 12")
    assert told["nodes"].endswith("and 5 more")
    assert rows_of(game) == [["0", "1", "0"], ["1", "0", "1"]]
    assert facts_of(pt.games.Coordination(np.zeros((0, 2), int), np.eye(2), num_players=2))["neighbours"] == "0 each"


def test_coverage_tells_its_parameters():
    blocked = np.zeros((3, 4), bool)
    blocked[1, 1] = True
    world = pt.games.World(np.arange(12.0).reshape(3, 4), blocked=blocked, name=EVIL)
    told = facts_of(pt.games.Coverage(world, 2, [1.0, 2.0], K=0.5, reach=2, start=[(0, 0), (3, 2)]))
    assert told["cells"] == "4×3, 1 of them blocked"
    assert (told["range δ"], told["cost of moving K"], told["reach"]) == ("1 to 2", "0.5", "2 cells")
    assert (told["start"], told["flags"]) == ("given", "on the cell")
    assert facts_of(SMALL)["flags"] == "none"
    assert "<script" not in world._repr_html_()
    assert facts_of(world)["worth"] == "66 in all, 11 at most"
    drifting = pt.games.Coverage(pt.games.paper_world(), 2, drift=(0.1, 0.0))
    assert "drift=" in facts_of(drifting)["drift"]


def pixels_of(block):
    image = Image.open(io.BytesIO(base64.b64decode(read(block)[0].get("src").partition(",")[2])))
    return np.asarray(image.convert("RGB")), read(block)[0]


def test_pictures_have_the_colours_of_viridis_and_grey_walls():
    from matplotlib import colormaps

    assert np.abs(palette()[:255] - colormaps["viridis"](np.linspace(0, 1, 255))[:, :3] * 255).max() < 7
    walls = np.array([[False, False], [False, True]])
    seen, node = pixels_of(picture(np.array([[0.0, 1.0], [2.0, 3.0]]), EVIL, walls=walls))
    assert seen.shape == (SIDE, SIDE, 3)
    assert (node.get("width"), node.get("alt")) == (str(SIDE), EVIL.replace("\x1b", "\\x1b"))
    assert seen[0, 0].tolist() == palette()[0].tolist()
    assert seen[-1, -1].tolist() == [150, 150, 150]
    upwards, _ = pixels_of(picture(np.array([[0.0, 1.0], [2.0, 3.0]]), "", walls=walls, upwards=True))
    assert (upwards == seen[::-1]).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 999), (1000, 3), (201, 200), (450, 700)])
def test_pictures_are_small(shape):
    seen, node = pixels_of(picture(np.full(shape, 1e300), "flat"))
    assert max(seen.shape) <= SIDE
    assert (int(node.get("height")), int(node.get("width"))) == seen.shape[:2]


# Rules and beliefs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*games.RULES.values(), *games.ADDED.values()])
def test_every_rule(spec):
    rule = pt.rules.rule_from(spec)
    told = {row[0]: row[1:] for row in rows_of(rule)}
    point = rule.point()
    assert rule.called in text_of(rule)
    assert rule.summary in text_of(rule)
    if point is not None:
        assert [told[axis][0] for axis in point._fields] == [part.name for part in point]
    given = [name for name in rule.spec() if name not in ("rule", "who", "considers", "chooses")]
    assert all(told[name][1] for name in given)


def test_every_rule_was_shown():
    shown_ones = {pt.rules.rule_from(spec).name for spec in (*games.RULES.values(), *games.ADDED.values())}
    assert shown_ones == {
        name for name, kind in pt.rules.registered().items() if kind.__module__.startswith("potentia")
    }


@pytest.mark.parametrize("name", [name for name, kind in registered_beliefs().items() if "potentia" in kind.__module__])
def test_every_belief(name):
    kind = registered_beliefs()[name]
    assert [default for default in parameters_of(kind).values() if default is REQUIRED] == []
    belief = pt.belief(name)
    assert [row[0] for row in rows_of(belief)] == list(parameters_of(kind))
    assert all(row[2] for row in rows_of(belief))
    assert kind.summary in text_of(belief)


def test_no_meaning_is_left_over():
    axes = [kind for words in kinds_of_axes().values() for kind in words.values()]
    for kinds, meanings in (
        ([*pt.rules.registered().values(), *axes], shown_rules.MEANINGS),
        (registered_beliefs().values(), shown_beliefs.MEANINGS),
    ):
        ours = [kind for kind in kinds if kind.__module__.startswith("potentia")]
        assert set(meanings) == {name for kind in ours for name in parameters_of(kind)}


def test_a_rule_of_ones_own():
    @attrs.frozen(repr=False)
    class Own(pt.rules.LLL):
        name = EVIL
        summary = EVIL
        memory: str = EVIL

    told = {row[0]: row[1:] for row in rows_of(Own(tau=0.25))}
    assert told["tau"] == ["0.25", shown_rules.MEANINGS["tau"]]
    assert told["memory"][1] == ""  # another memory than that of adaptive-play
    assert "<script" not in Own(tau=0.25)._repr_html_()


def test_a_believed_game_and_what_is_believed():
    believing = pt.beliefs.Believing(SMALL, {"belief": "known"})
    assert facts_of(believing)["players"] == "2"
    assert "the truth" in text_of(believing)
    seen = np.array([[True, False, False]])
    mixture = np.array([0.25, 0.75]), np.zeros((2, 2)), np.array([np.eye(2) * 4.0] * 2)
    view = View((1,), np.ones((1, 3)), seen, seen.astype(int), *mixture)
    assert facts_of(view) == {"seen": "1 of 3 cells", "components": "2"}
    assert rows_of(view)[0] == ["0.25", "(0, 0)", "(2, 2)"]
    assert "robot 1 believes" in text_of(view)
    fitted = Fitted(*mixture, -12.5, 30.0, 40.0, "bic", (), (), None)
    assert facts_of(fitted)["log-likelihood"] == "-12.5"
    assert rows_of(fitted) == rows_of(view)


# Exact results ----------------------------------------------------------------------------------------


def test_a_chain_is_not_solved_to_be_shown():
    chain = pt.analysis.chain(GAME, RULE)
    told = facts_of(chain)
    assert (told["states"], told["noise"]) == ("12", "τ = 0.1")
    assert told["transitions"] == f"{chain.matrix.nnz}"
    assert "stationary law" not in told
    assert chain._solved == {}
    assert "classes" not in vars(chain)
    law = chain.stationary()
    likeliest = rows_of(chain)
    assert likeliest[0] == [chain.name(int(law.argmax())), shown(float(law.max()))]
    assert len(likeliest) == 11
    assert likeliest[-1] == ["and 2 more"]
    assert facts_of(chain)["stationary law"].startswith(f"by {chain.solve().method}")


def test_chains_of_ones_own():
    plain = pt.analysis.Chain([[0], [1]], [[0.5, 0.5], [0.25, 0.75]])
    assert facts_of(plain) == {"states": "2", "transitions": "4"}
    given = pt.analysis.Chain.from_terms([[0], [1]], {(0, 1): (0.5, 1.0), (1, 0): (0.5, 2.0)})
    assert facts_of(given)["noise"] == "no temperature given"
    found = pt.analysis.stability(given)
    assert facts_of(found)["stable"] == "1 of 2 states"
    assert rows_of(found)[0] == ["(1,)", "yes", "1", "1"]
    assert facts_of(pt.analysis.chain(GAME, pt.rule("best-response")))["noise"] == "none"


@pytest.mark.parametrize("spec", [{"rule": "p-sblll", "tau": 0.2, "revision": 0.4}, games.ADDED["payoff-based"]])
def test_stability_lists_what_the_command_line_lists(spec):
    game, rule = pt.game("stag-hunt"), pt.rules.rule_from(spec)
    found = pt.analysis.stability(game, rule)
    wanted = [
        [
            f"({', '.join(map(str, row['profile']))})",
            "yes" if row["stable"] else "",
            shown(row["limit"]) if row["stable"] else "",
            shown(row["stochastic_potential"]),
        ]
        for row in summarise_stability(game, "", rule, found)["profiles"]
    ]
    assert rows_of(found) == wanted
    assert facts_of(found)["stable"] == f"{sum(row[1] == 'yes' for row in wanted)} of 4 profiles"


@pytest.mark.parametrize("levels", [1, 2, 500, 10**6])
def test_the_leading_ones_are_those_of_a_full_sort(levels):
    from potentia.analysis.showing import _leading

    random = np.random.default_rng(levels)
    first, second = (random.integers(levels, size=3000).astype(float) for _ in range(2))
    first[first == 0] = np.inf
    assert _leading(first, second).tolist() == np.lexsort((second, first))[:10].tolist()


def test_an_audit_is_its_rows_and_findings():
    found = pt.analysis.audit(pt.game("overlap"), pt.rule("p-sblll", tau=0.1, revision=0.3), "welfare")
    rows = rows_of(found)
    assert rows[: len(found.rows)] == [[row.hypothesis, row.verdict, row.evidence] for row in found.rows]
    assert [row[:2] for row in rows[len(found.rows) :]] == [[one.result, one.verdict] for one in found.findings]
    assert str(found).startswith(found.title)
    assert all(" ".join(line.split()) in text_of(found) for line in (found.title, *found.summary))


def test_an_optimum():
    found = pt.analysis.optimum(SMALL)
    told = facts_of(found)
    assert (told["covered worth"], told["bound"]) == (shown(found.value), shown(found.bound))
    assert told["gap"].endswith("proven")
    assert "best placement known" in text_of(replace(found, proven=False))


# Studies ----------------------------------------------------------------------------------------------


def test_a_study_tells_what_it_holds_and_reads_no_results(tmp_path):
    plain = {"name": EVIL[:20], "about": "<b>", "steps": 5, "seeds": 2, "game": {"name": "stag-hunt"}}
    rules = [{"name": "blll", "tau": [0.1, 0.2]}, {"name": "lll", "tau": [0.2, 0.3]}]
    study = pt.sweep(plain | {"rule": rules}, tmp_path / "<my>.study")
    told = facts_of(study)
    assert told["folder"] == str(study.folder)
    assert told["runs"] == "8: 4 points × 2 seeds"
    assert (told["steps"], told["complete"], told["game"]) == ("5", "yes", "stag-hunt")
    assert rows_of(study) == [["rule", "2", "blll, lll"], ["rule.tau", "3", "0.1, 0.2, 0.3"]]
    first, *others = sorted((study.folder / "chunks").iterdir())
    first.unlink()
    for chunk in others:
        chunk.write_bytes(b"")
    again = pt.open_study(study.folder)
    assert facts_of(again)["complete"].startswith(f"no: {len(others)} of ")
    (study.folder / "manifest.json").unlink()
    assert facts_of(again)["runs"] == told["runs"]


def test_a_study_in_which_nothing_varies(tmp_path):
    plain = {"steps": 5, "seeds": 2, "game": {"name": "ring", "players": 4}, "rule": {"name": "lll", "tau": 0.5}}
    study = pt.sweep(plain, tmp_path / "one.study")
    assert facts_of(study)["game"] == "ring, players=4"
    assert facts_of(study)["rule"] == "lll, tau=0.5"
    assert "nothing varies but the seed" in text_of(study)


# At once ----------------------------------------------------------------------------------------------

MANY = 1_000_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: pt.game("ring", players=MANY),
        lambda: pt.game("congestion", players=MANY),
        lambda: pt.games.Coverage(pt.games.World(np.ones((1000, 1000))), 500),
        lambda: pt.games.NormalForm(np.zeros((14, *(2,) * 14))),
        lambda: pt.games.Separable(np.zeros((3000, 2))),
        lambda: pt.rule("slll", tau=1.0, revision=[0.5] * 100_000),
        lambda: pt.games.Custom(games._uncompilable, [2, 3], data={"own": [0.5, -0.4] * 10**5, "cross": 0.8}),
    ],
    ids=["ring", "congestion", "coverage", "normal form", "separable", "revision", "custom"],
)
def test_what_is_huge_is_shown_at_once(make):
    thing = make()
    pt.games.World([[1.0]])._repr_html_()  # what is loaded once
    begun = time.perf_counter()
    text = thing._repr_html_()
    assert time.perf_counter() - begun < 0.5  # some milliseconds, where nobody else is at work
    assert len(text) < 20_000
    read(text)
