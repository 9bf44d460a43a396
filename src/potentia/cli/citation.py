"""How to cite the software and the paper. The package carries it; CITATION.cff says the same, and a test compares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from potentia.version import __version__

TITLE = "potentia: learning in potential games"
AUTHORS = ("The potentia developers",)
LICENSE = "MIT"
MESSAGE = "If you use this software, please cite it as below, together with the paper it implements."
KEYWORDS = ("potential games", "log-linear learning", "multi-agent systems", "stochastic stability")
PAPER = "From Game-theoretic Multi-agent Log-Linear Learning to Reinforcement Learning"
PAPER_AUTHORS = (("Hasanbeig", "Mohammadhosein"), ("Pavel", "Lacra"))  # family and given names
PAPER_YEAR = 2018
PAPER_ARXIV = "1802.02277"


def _text() -> str:
    people = " and ".join(f"{given[0]}. {family}" for family, given in PAPER_AUTHORS)
    return (
        f"{MESSAGE}\n\n"
        f"  {' and '.join(AUTHORS)}. {TITLE}. Version {__version__}. Software, {LICENSE} licence.\n"
        f"  {people}. {PAPER}. arXiv:{PAPER_ARXIV}, {PAPER_YEAR}.\n\n"
        "As BibTeX: potentia cite --format bibtex\n"
    )


def _bibtex() -> str:
    # braces within braces keep capitals and a name that is no person's
    software = " and ".join(f"{{{name}}}" for name in AUTHORS)
    people = " and ".join(f"{family}, {given}" for family, given in PAPER_AUTHORS)
    return (
        "@misc{potentia,\n"
        f"  author = {{{software}}},\n"
        f"  title = {{{{{TITLE}}}}},\n"
        f"  note = {{Software, version {__version__}, {LICENSE} licence}},\n"
        "}\n\n"
        f"@article{{hasanbeig{PAPER_YEAR}from,\n"
        f"  author = {{{people}}},\n"
        f"  title = {{{{{PAPER}}}}},\n"
        f"  journal = {{arXiv preprint arXiv:{PAPER_ARXIV}}},\n"
        f"  year = {{{PAPER_YEAR}}},\n"
        "}\n"
    )


def _cff() -> str:
    lines = [
        "cff-version: 1.2.0",
        f"message: {MESSAGE}",
        f'title: "{TITLE}"',  # a colon within
        "type: software",
        f"version: {__version__}",
        f"license: {LICENSE}",
        "authors:",
        *(f"  - name: {name}" for name in AUTHORS),
        "keywords:",
        *(f"  - {word}" for word in KEYWORDS),
        "references:",
        "  - type: article",
        f"    title: {PAPER}",
        "    authors:",
    ]
    for family, given in PAPER_AUTHORS:
        lines += [f"      - family-names: {family}", f"        given-names: {given}"]
    return "\n".join(lines) + "\n"


def _plain() -> dict[str, Any]:
    return {
        "software": {"title": TITLE, "authors": list(AUTHORS), "version": __version__, "license": LICENSE},
        "paper": {
            "title": PAPER,
            "authors": [{"family": family, "given": given} for family, given in PAPER_AUTHORS],
            "year": PAPER_YEAR,
            "arxiv": PAPER_ARXIV,
        },
    }


FORMATS: dict[str, Callable[[], Any]] = {"text": _text, "bibtex": _bibtex, "cff": _cff, "json": _plain}


def cited(format: str) -> Any:
    """How to cite, in one of :data:`FORMATS`: a text, or plain data for json."""
    return FORMATS[format]()
