"""The sections of the reproduction: which figures and tables show what was played. Their words are in texts.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from potentia.games.world import published
from potentia.paper.claims import Claim
from potentia.paper.reinforcement_study import HOT, SOQL, best_tau, final, held, nearest_tau, ql
from potentia.paper.report.page import Section, Table
from potentia.paper.report.pictures import Picture, Replay, picture
from potentia.statistics.estimates import estimate, share_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from potentia.paper.case_study import CaseStudy

SMOOTH = 100  # steps of the moving average in figures of runs
_MADE = "{} Made by potentia reproduce with potentia.figures.{}{}."


@cache
def texts() -> dict[str, Any]:
    """What the page says; lines that are indented for the eye are joined."""

    def joined(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: joined(part) for name, part in entry.items()}
        return [part.strip() for part in entry] if isinstance(entry, list) else entry.strip()

    whole: dict[str, Any] = joined(tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8")))
    return whole


def parts(
    study: CaseStudy,
    claims: Sequence[Claim],
    tables: Mapping[str, Table],
    rows: Rows,
    names: Collection[str] | None = None,
) -> list[Section]:
    """All sections, or those of these names, in the order of the paper; ``rows`` are those of the tables as made."""
    facts, out = _facts(study, rows), []
    for draw in _DRAWN:
        name, exact = draw.__name__, claims if draw is theory else ()
        if names is not None and name not in names:
            continue
        words = texts()["sections"][name]
        paragraphs = tuple(filter(None, (text.format(**facts) for text in words["text"])))
        shown = [tables[part] for part in words.get("tables", ()) if part in tables]
        out.append(
            Section(words["title"], name, paragraphs, tuple(draw(claims if draw is theory else study)), shown, exact)
        )
    return out


def _facts(study: CaseStudy, rows: Rows) -> dict[str, Any]:
    """What the paragraphs tell."""
    best, setup = study.optimum, published()["setup"]
    ours = {row["algorithm"]: row["worth"].mean for row in rows.get("model", ())}
    said = " and ".join(
        f"{row['algorithm']} {row['worth'].mean:.3f} instead of {ours[row['algorithm']]:.3f}"
        for row in (rows.get("literal", ()) if ours else ())
    )
    return {
        "robots": study.game.num_players,
        "best": best,
        "proven": "the largest" if best.proven else f"at most {best.bound:.4g}",
        "near": setup["R_com_blll"],
        "far": setup["R_com_psblll"],
        "letter": texts()["letter"].format(said=said) if said else "",
    }


def _picture(name: str, figure: Figure, **data: Any) -> Picture:
    """A figure with its words."""
    words = texts()["pictures"][name]
    caption, runs = words["caption"].format(**data), f", of the runs in {words['runs']}" if "runs" in words else ""
    made = _MADE.format(caption, words["made"], runs) if "made" in words else caption
    return picture(name, figure, made, words["alt"].format(**data))


def _title(name: str, **data: Any) -> str:
    title: str = texts()["pictures"][name]["title"]
    return title.format(**data)


def field(study: CaseStudy) -> Iterator[Picture]:
    """Fig. 2."""
    from potentia.figures import field_figure

    world = study.game.world
    across, down = world.size
    drawn = field_figure(world, title="The world of the case study")
    yield _picture("field", drawn, across=across, down=down, targets=len(world.targets))


def revision(_: CaseStudy) -> Iterator[Picture]:
    """Fig. 3."""
    from potentia.figures import revision_figure
    from potentia.rules import SignalRevision

    setup = published()["setup"]
    yield _picture("revision", revision_figure(SignalRevision(setup["a1"], setup["a2"], setup["a3"])))


def model(study: CaseStudy) -> Iterator[Picture]:
    """Fig. 5."""
    yield _worth("model", study.model, study, _printed("blll", "p-sblll"))
    yield _worth("known", study.known, study, {}, band="middle")
    yield _worth("lasting", study.lasting, study, {}, band="middle")


def mixtures(study: CaseStudy) -> Iterator[Picture]:
    """EM with the number of targets known, and without."""
    from potentia.figures import learning_figure
    from potentia.figures.learning import LEARNT

    printed = _printed(EM_N="em_known_components", EM_SM="em_split_merge")
    pair = {name: study.mixtures[name] for name in printed}  # the others are in the table
    yield _worth("mixtures", pair, study, printed)
    if any(name in data for data in pair.values() for name in LEARNT):
        yield _picture("beliefs", learning_figure(pair, number=len(study.game.world.targets)))


def learners(study: CaseStudy) -> Iterator[Picture]:
    """Fig. 8."""
    from potentia.figures import reinforcement_figure, temperature_figure

    first = study.learners[SOQL]
    steps, band = int(first.time.values[-1]), texts()["band"]["range"]
    for key, names in (("soql", _temperatures(study)), ("steps", _variants(study))):
        if names:
            shown = {SOQL: first, **{name: study.learners[name] for name in names}}
            marks = _printed("ql", "soql") if key == "soql" else None
            drawn = reinforcement_figure(shown, published=marks, title=_title(key))
            yield _picture(key, drawn, band=band, steps=steps, names=", ".join(names))
    if study.tuning:
        printed, beside = published()["worth"]["ql"], {SOQL: estimate(final(first))}
        drawn = temperature_figure(study.tuning, published=printed, beside=beside, title=_title("temperature"))
        yield _picture("temperature", drawn, best=max(study.tuning, key=lambda tau: study.tuning[tau].mean))


def _variants(study: CaseStudy) -> list[str]:
    """The variants of SOQL to draw: of the steps with an offset the last one only."""
    from potentia.paper.case_study import OFFSETS

    return [name for name in study.learners if name.startswith("SOQL, ") and name not in list(OFFSETS)[:-1]]


def _temperatures(study: CaseStudy) -> list[str]:
    """The three temperatures of QL to draw: those compared with all four, and a hot one."""
    compared = [ql(choose(study.tuning)) for choose in (nearest_tau, best_tau) if study.tuning]
    names = [*compared, ql(HOT), *study.learners]
    return [name for name in dict.fromkeys(names) if name.startswith("QL") and name in study.learners][:3]


def four(study: CaseStudy) -> Iterator[Picture]:
    """Fig. 10."""
    from potentia.figures import algorithms_figure

    drawn = algorithms_figure(study.four, published=_printed("blll", "p-sblll", "ql", "soql"))
    yield _picture("four", drawn, names=", ".join(study.four))


def configurations(study: CaseStudy) -> Iterator[Picture]:
    """Fig. 6 and 9."""
    from potentia.figures import configuration_figure
    from potentia.web.pages import page

    model = {name: profiles for name, profiles in study.finals.items() if "QL" not in name}
    others = {name: profiles for name, profiles in study.finals.items() if name not in model}
    targets = len(study.game.world.targets)
    for name, runs in (("configurations-model", model), ("configurations-learners", others)):
        if runs:
            covered = {key: held(study.game, np.asarray(profiles)[-1]) for key, profiles in runs.items()}
            told = "; ".join(f"{key} covers {number} of {targets} targets" for key, number in covered.items())
            title = _title(name, shown=study.shown)
            drawn = configuration_figure(study.game, runs, title=title)
            replay = page({key: study.recordings[key] for key in runs}, title)
            yield evolve(_picture(name, drawn, told=told), replay=Replay(title, replay))


def theory(claims: Sequence[Claim]) -> Iterator[Picture]:
    """Fig. 1, and the shares of games; every statement comes with its counterexample."""
    from potentia.analysis import laws_over_tau
    from potentia.figures import shares_figure, stability_figure
    from potentia.paper.theory import figures_data
    from potentia.rules import rule
    from potentia.web import laboratories

    found, taus, title = figures_data(claims), np.geomspace(0.03, 6.0, 40).tolist(), _title("tree-stable")
    laws = laws_over_tau(found.game, rule("p-sblll", tau=0.1, revision=0.3), taus)
    drawn = stability_figure(found.stability, root=found.stable, taus=taus, laws=laws, title=title)
    page = laboratories.page(found.game, rule("p-sblll", tau=0.3, revision=0.3))
    lab = Replay(laboratories.TITLE, page, "Laboratory", "Change it, and see why")
    yield evolve(_picture("tree-stable", drawn), replay=lab)
    yield _picture("tree-maximiser", stability_figure(found.stability, root=found.maximiser, title=title))
    groups: dict[str, dict[str, Any]] = {}
    for row in found.shares:
        groups.setdefault(row["games"], {})[row["rule"]] = share_of(row["exactly"], row["count"])
    yield _picture("shares", shares_figure(groups, xlabel="share of random games", title=_title("shares")))


Rows = Mapping[str, Sequence[Mapping[str, Any]]]
_DRAWN: Sequence[Callable[[Any], Iterator[Picture]]] = (
    *(field, revision, model, mixtures, learners, four, configurations),  # of the study
    theory,  # of its claims
)


def _printed(*names: str, **keys: str) -> dict[str, Any]:
    """What was published of the worth of these, which may be shown under other names."""
    return {name: published()["worth"][key] for name, key in (dict(zip(names, names, strict=True)) | keys).items()}


def _worth(
    name: str, data: Mapping[str, Any], study: CaseStudy, printed: Mapping[str, Any], band: str = "range"
) -> Picture:
    """Covered worth over time with its band, the optimum and what was published."""
    from potentia.figures import worth_figure

    options: dict[str, Any] = {"measure": "worth_sum", "band": band, "smooth": SMOOTH, "title": _title(name)}
    drawn = worth_figure(data, optimum=study.optimum, published=printed, **options)
    ends = ", ".join(f"{key} ends at {float(batch.worth_sum[:, -1].mean()):.3g}" for key, batch in data.items())
    steps = int(next(iter(data.values())).time.values[-1])
    worth = f"Covered worth over time, averaged over {SMOOTH} steps: {texts()['band'][band]}."
    return _picture(
        name, drawn, worth=worth, worth_alt=f"Covered worth over {steps:,} steps; in the mean over runs {ends}."
    )
