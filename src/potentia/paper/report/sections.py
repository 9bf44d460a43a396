"""The figures of the reproduction, each with its words, which are in texts.toml, and its replay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from potentia.games.world import published
from potentia.paper.case_study import covered
from potentia.paper.claims import Claim
from potentia.paper.reinforcement_study import HOT, SOQL, best_tau, final, held, nearest_tau, ql
from potentia.paper.report import definitions, scores
from potentia.paper.report.pictures import Picture, Replay, picture
from potentia.paper.report.wording import texts
from potentia.statistics.estimates import estimate, share_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from potentia.paper.case_study import CaseStudy

FIRST = "configurations-model"  # the picture that the page begins with
SMOOTH = 100  # steps of the moving average in figures of runs
_MADE = "{} Made by potentia reproduce with potentia.figures.{}{}."


def drawn(study: CaseStudy, claims: Sequence[Claim], names: Collection[str] | None = None) -> dict[str, Picture]:
    """All pictures by name, or those of these sections, in the order of the paper."""
    draws = [draw for draw in _DRAWN if names is None or _WITH.get(draw.__name__, draw.__name__) in names]
    return {one.name: one for draw in draws for one in draw(claims if draw is theory else study)}


def _picture(name: str, figure: Figure, **data: Any) -> Picture:
    """A figure with its words."""
    words = texts()["pictures"][name]
    caption, runs = words["caption"].format(**data), f", of the runs in {words['runs']}" if "runs" in words else ""
    made = _MADE.format(caption, words["made"], runs) if "made" in words else caption
    drawn = picture(name, figure, made, words["alt"].format(**data))
    return evolve(drawn, title=words["title"].format(**data))


def _replay(name: str, title: str, page: str, shown: int = 0, **options: Any) -> Replay:
    """A page that moves, with its words; that of the first picture stands in its place."""
    about = texts()["pictures"][name]["moving"].format(seed=shown)
    return Replay(title, page, about=about, instead=name == FIRST, **options)


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

    named = {"EM_N": "em_known_components", "EM_SM": "em_split_merge"}
    printed = _printed(**{f"BLLL, {name}": key for name, key in named.items()})  # in the rule's colour
    pair = {f"BLLL, {name}": study.mixtures[name] for name in named}  # the others are in the table
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
            left = "; ".join(one for one in study.learners if one.startswith("SOQL, ") and one not in names)
            yield _picture(key, drawn, band=band, steps=steps, names="; ".join(names), left=left or "none")
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
            ends = {key: held(study.game, np.asarray(profiles)[-1]) for key, profiles in runs.items()}
            told = "; ".join(f"{key} covers {number} of {targets} targets" for key, number in ends.items())
            title = _title(name, shown=study.shown)
            drawn = configuration_figure(study.game, runs, title=title)
            replay = _replay(name, title, page({key: study.recordings[key] for key in runs}, title), study.shown)
            yield evolve(_picture(name, drawn, told=told, shown=study.shown), replay=replay)


def theory(claims: Sequence[Claim]) -> Iterator[Picture]:
    """Fig. 1, and the shares of games; every statement comes with its counterexample."""
    from potentia.analysis import laws_over_tau
    from potentia.figures import shares_figure, stability_figure
    from potentia.paper.theory import figures_data
    from potentia.rules import rule
    from potentia.web import laboratories

    found, taus, title = figures_data(claims), np.geomspace(0.03, 6.0, 40).tolist(), _title("tree-stable")
    chosen = rule("p-sblll", tau=0.1, revision=0.3)
    laws = laws_over_tau(found.game, chosen, taus)
    drawn = stability_figure(found.stability, root=found.stable, taus=taus, laws=laws, title=title)
    page = laboratories.page(found.game, rule("p-sblll", tau=0.3, revision=0.3))
    lab = _replay("tree-stable", laboratories.TITLE, page, kind="Laboratory", asks="Change it, and see why", tall=True)
    known, unlike = definitions.payoffs(found.game), definitions.unlike_eq_12(found.stability, chosen)
    told = definitions.story(found.stability, found.stable, chosen)
    yield evolve(_picture("tree-stable", drawn), replay=lab, story=told, tables=[known, unlike])
    told = definitions.story(found.stability, found.maximiser, chosen)
    drawn = stability_figure(found.stability, root=found.maximiser, title=title)
    yield evolve(_picture("tree-maximiser", drawn), story=told, tables=[known])
    groups: dict[str, dict[str, Any]] = {}
    for row in found.shares:
        groups.setdefault(row["games"], {})[row["rule"]] = share_of(row["exactly"], row["count"])
    yield _picture("shares", shares_figure(groups, xlabel="share of random games", title=_title("shares")))


def learning(_: CaseStudy) -> Iterator[Picture]:
    """What QL and SOQL think on a small game."""
    title = _title("scores")
    made = _picture("scores", scores.figure(title), **scores.facts())
    yield evolve(made, replay=_replay("scores", title, scores.replay(title), tall=True))


_DRAWN: Sequence[Callable[[Any], Iterator[Picture]]] = (
    *(field, revision, learning, model, mixtures, learners, four, configurations),  # of the study
    theory,  # of its claims
)
_WITH = {"learning": "learners"}  # what is drawn with another section


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
    ends = ", ".join(f"{key} ends at {float(covered(batch).mean()):.3g}" for key, batch in data.items())
    steps = int(next(iter(data.values())).time.values[-1])
    worth = texts()["over_time"].format(smooth=SMOOTH, band=texts()["band"][band])
    return _picture(
        name, drawn, worth=worth, worth_alt=f"Covered worth over {steps:,} steps; in the mean over runs {ends}."
    )
