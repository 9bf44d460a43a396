"""The search of the site: the right page is among the first, whatever other words a question has."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
_ENDING = r"(ing|ed|es|s|e|y|ly)$"  # a stemmer of one line, here and there


def stem(word):
    return re.sub(_ENDING, "", word)


def index_of(pages):
    """What Sphinx makes of texts by their names, as far as the search reads it."""
    made = {"docnames": list(pages), "titles": [], "terms": defaultdict(set), "titleterms": defaultdict(set)}
    headings = defaultdict(list)
    for file, text in enumerate(pages.values()):
        found = re.findall(r"^#+ ([^\n]*)", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
        made["titles"].append(found[0])
        for place, title in enumerate(found):
            headings[title].append([file, re.sub(r"\W+", "-", title.lower()).strip("-") if place else None])
        for table, words in (("terms", text), ("titleterms", " ".join(found))):
            for word in re.findall(r"\w+", words.lower()):
                made[table][stem(word)].add(file)
    return made | {"alltitles": headings} | {name: _lists(made[name]) for name in ("terms", "titleterms")}


def _lists(table):
    return {word: sorted(files) for word, files in table.items()}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page with the script and an index of the docs."""
    folder = tmp_path_factory.mktemp("search")
    spec = importlib.util.spec_from_file_location("answers", DOCS / "_site" / "answers.py")
    answers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(answers)
    answers.write(DOCS / "how-do-i.md", folder / "how")
    pages = {path.stem: path for path in sorted(DOCS.glob("*.md")) if path.stem not in ("how-do-i", "user-guide")}
    pages |= {f"tutorials/{path.stem}": path for path in sorted((DOCS / "tutorials").glob("*.md"))}
    pages |= {f"how/{path.stem}": path for path in sorted((folder / "how").glob("*.md"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}
    index = index_of({name: text for name, text in texts.items() if re.search("^# ", text, re.M)})
    script = (DOCS / "_site" / "static" / "search.js").read_text(encoding="utf-8")
    ask = f"""const index = {json.dumps(index)};
      const stem = (word) => word.replace(/{_ENDING}/, "");
      const found = (query) => rank(query, index, stem).map((one) => index.docnames[one.file] + one.anchor);"""
    page = folder / "search.html"
    page.write_text(f'<meta charset="utf-8"><script>{script}\n{ask}</script>', encoding="utf-8")
    return page


QUESTIONS = {
    "checkpoint": "how/save-a-run",
    "citation": "how/cite-it",
    "occlusion": "sites",
    "obstacles block view": "sites",
    "vectorised environment": "environments#many-copies",
    "vectorized environment": "environments#many-copies",
    "sweep crashed restart": "how/continue-a-sweep",
    "how do I continue an interrupted sweep with more seeds": "how/continue-a-sweep",
    "resume interrupted sweep more seeds": "how/continue-a-sweep",
    "add more seeds": "how/add-more-seeds",
    "what does stochastically stable mean": "glossary#stochastically-stable",
    "equal budget of evaluations": "how/compare-rules-at-an-equal-budget",
    "how do I find out if my game is a potential game": "how/check-whether-my-game",
    "define my own learning rule exact stationary distribution": "tutorials/your-own-rule",
    "save a run and continue": "how/save-a-run",
    "stochasticaly stabel states": "how/find-the-stochastically-stable",
    "stationery distribution": "how/compute-the-stationary-distribution",
    "a policy that generalises over a map, masks and MaskablePPO": "environments",
    "zebra price of anarchy unicorn": "how/compute-the-price-of-anarchy",
}


def test_the_right_page_is_among_the_first_three(opened, site):
    page = opened(site)
    for question, wanted in QUESTIONS.items():
        found = page.ask("found", question)[:3]
        assert any(one.startswith(wanted) for one in found), (question, found)


def test_what_no_page_has_finds_nothing(opened, site):
    assert opened(site).ask("['xyzzyqq', '', '...'].map(found)") == [[], [], []]
