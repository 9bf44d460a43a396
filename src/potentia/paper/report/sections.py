"""The sections of the reproduction: which figures and tables show what was played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from potentia.games.world import published
from potentia.paper.claims import Claim
from potentia.paper.reinforcement_study import HOT, final, ql
from potentia.paper.report.page import Section, Table
from potentia.paper.report.pictures import Picture, picture
from potentia.statistics.estimates import estimate, share_of

if TYPE_CHECKING:
    from potentia.paper.case_study import CaseStudy

SMOOTH = 100  # steps of the moving average in figures of runs
_BAND = "the line is the mean over runs, the band goes from the least to the largest of them"
_MIDDLE = "the line is the mean over runs, the band holds the middle 80 % of them"


_FROM = {"mixtures": "data/mixtures-em-n.nc and data/model-blll.nc"}


def _made(name: str, data: str = "") -> str:
    return f"Made by potentia reproduce with potentia.figures.{name}" + (f", of the runs in {data}." if data else ".")


def field(study: CaseStudy) -> Section:
    """Fig. 2."""
    from potentia.figures import field_figure

    world = study.game.world
    across, down = world.size
    drawn = picture(
        "field",
        field_figure(world, title="The world of the case study"),
        "Left, the area and its targets. Right, what each cell is worth; ellipses are the components of the mixture "
        f"at one and two standard deviations. {_made('field_figure')}",
        f"Map of {across} by {down} cells with {len(world.targets)} targets, and the same map coloured by worth, "
        "which is a hill around each target.",
    )
    text = (
        "Robots are to cover the worth of an area. The paper draws its field without numbers; ours was fitted to the "
        "same picture in the author's thesis. Worth covered is counted as the paper does, ΣC, in which a cell counts "
        "once for each robot that covers it; where an optimum is drawn, it is that of the union, each cell once."
    )
    best = study.optimum
    words = "proven to be the largest" if best.proven else f"proven to be at most {best.bound:.4g}"
    optimum = f"The largest union that {study.game.num_players} robots can cover is {best.value:.4g}, {words}."
    return Section("The worth field (Fig. 2)", "field", (text, optimum), (drawn,))


def revision(study: CaseStudy) -> Section:
    """Fig. 3."""
    from potentia.figures import revision_figure
    from potentia.rules import SignalRevision

    setup = published()["setup"]
    drawn = picture(
        "revision",
        revision_figure(SignalRevision(setup["a1"], setup["a2"], setup["a3"])),
        "Left, a hill of signal with the paper's three situations on it. Right, the revision probability for every "
        f"signal and gradient. {_made('revision_figure')}",
        "A hill of signal and, above it, the revision probability: highest on the flat, lower on the slope, lowest on "
        "the summit. Beside it a map of the probability over signal and gradient.",
    )
    text = (
        "In P-SBLLL each robot wakes by itself. How often follows from the signal it senses and the signal's gradient, "
        "each relative to the largest it has met: where nothing is sensed it explores, on a slope it climbs, on a "
        "summit it rests."
    )
    return Section("When a robot wakes: Eq. 53 (Fig. 3)", "revision", (text,), (drawn,))


def model_based(study: CaseStudy, tables: Sequence[Table], rows: Mapping[str, Any] | None = None) -> Section:
    """Fig. 5. ``rows`` are those of the tables, by part."""
    worth = {name: published()["worth"][name] for name in ("blll", "p-sblll")}
    pictures = [
        _worth(
            "model",
            study.model,
            study,
            worth,
            "BLLL and P-SBLLL, robots that learn the field",
            "Each robot knows its utility function and learns the worth of cells by a mixture that it fits.",
        ),
        _worth(
            "known",
            study.known,
            study,
            {},
            "BLLL and P-SBLLL, robots that know the field",
            "The same where the worth of every cell is known: what is left is the rule itself. P-SBLLL also with "
            "trials judged one robot at a time (unilateral), and with robots near each other taking turns (guarded).",
            band="middle",
        ),
        _worth(
            "lasting",
            study.lasting,
            study,
            {},
            "Ten times as long, robots that know the field",
            "What lasts: the same rules at the same temperature for longer.",
            band="middle",
        ),
    ]
    text = (
        "The paper's main comparison, from the same starts for both rules. BLLL lets one robot revise at a step; in "
        "P-SBLLL several wake at once and judge the joint result of their trials. Published numbers, of robots that "
        "learn the field, stand at the right edge with the bound over the paper's runs."
    )
    setup = published()["setup"]
    near, far = setup["R_com_blll"], setup["R_com_psblll"]
    heard = (
        f"The published runs differ in more than the rule: robots hear each other within R_com = {near} cells with "
        f"BLLL, and within {far} with P-SBLLL, which is everybody. Claims are therefore judged as published, with "
        f"R_com = {far} for both, and where the field is known."
    )
    return Section("BLLL against P-SBLLL (Fig. 5)", "model", (text, heard, *_read(rows or {})), pictures, tables)


def _read(rows: Mapping[str, Any]) -> tuple[str, ...]:
    """What the recipe to the letter covers beside what we made of it, if both were played."""
    if not (rows.get("literal") and rows.get("model")):
        return ()
    ours = {row["algorithm"]: row["worth"].mean for row in rows["model"]}
    said = " and ".join(
        f"{row['algorithm']} {row['worth'].mean:.3f} instead of {ours[row['algorithm']]:.3f}" for row in rows["literal"]
    )
    return (
        "How robots learn the field rests on our readings of the paper: they sense every cell in range, the model is "
        "scaled to what was observed, and what nobody has seen is taken to be good; with the recipe to the letter, "
        f"{said} is covered.",
    )


def mixtures(study: CaseStudy, tables: Sequence[Table]) -> Section:
    """EM with the number of targets known, and without."""
    from potentia.figures import learning_figure
    from potentia.figures.learning import LEARNT

    worth = {"EM_N": "em_known_components", "EM_SM": "em_split_merge"}
    printed = {name: published()["worth"][key] for name, key in worth.items()}
    pair = {name: study.mixtures[name] for name in worth}  # the others are in the table
    pictures = [
        _worth(
            "mixtures",
            pair,
            study,
            printed,
            "EM_N and EM_SM under BLLL",
            "EM_N is told how many targets there are; EM_SM finds the number by splitting and merging components.",
        )
    ]
    if any(name in data for data in pair.values() for name in LEARNT):
        drawn = learning_figure(pair, number=len(study.game.world.targets))
        caption = "What the robots believe, over time: errors of the field and of the mixture, and its number of parts."
        alt = "Errors of the believed field and of the mixture's parameters over time, for EM_N and EM_SM."
        made = _made("learning_figure", "data/mixtures-*.nc and data/model-blll.nc")
        pictures.append(picture("beliefs", drawn, f"{caption} {made}", alt))
    text = (
        "Both fit a Gaussian mixture to what the robots have sensed. That not knowing the number of targets costs "
        "nothing is the thesis's comparison; the paper describes both, and its text has no such sentence."
    )
    return Section("EM with the number of targets known and unknown", "mixtures", (text,), pictures, tables)


def learners(study: CaseStudy, tables: Sequence[Table]) -> Section:
    """Fig. 8."""
    from potentia.figures import reinforcement_figure, temperature_figure

    printed = published()["worth"]
    first = study.learners["SOQL"]
    groups = {
        "soql": (_temperatures(study), "SOQL and QL"),
        "steps": (_variants(study), "SOQL and its variants"),
    }
    pictures = []
    for key, (names, title) in groups.items():
        if names:
            shown = {"SOQL": first, **{name: study.learners[name] for name in names}}
            marks = {name: printed[name] for name in ("ql", "soql")} if key == "soql" else None
            drawn = reinforcement_figure(shown, published=marks, title=title)
            pictures.append(
                picture(
                    key,
                    drawn,
                    f"{title}: a panel for each comparison, from the same starts; {_BAND}. "
                    f"{_made('reinforcement_figure', 'data/learners-*.nc')}",
                    f"Covered worth over {int(first.time.values[-1]):,} steps: SOQL against {', '.join(names)}.",
                )
            )
    if study.tuning:
        drawn = temperature_figure(
            study.tuning,
            published=printed["ql"],
            beside={"SOQL": estimate(final(first))},
            title="QL's worth by its temperature",
        )
        best = max(study.tuning, key=lambda tau: study.tuning[tau].mean)
        pictures.append(
            picture(
                "temperature",
                drawn,
                "The paper prints no temperature for QL. What QL covers in its last 1,000 steps at each of these, on "
                f"seeds that the comparison does not use; SOQL beside it. {_made('temperature_figure')}",
                f"Covered worth of QL against its temperature; of those tried it is largest at {best:g}.",
            )
        )
    text = (
        "These robots know nothing but what they receive. QL has a diminishing step; SOQL aggregates twice, with a "
        "constant one. The published marks stand at the step at which the printed curves settle."
    )
    return Section("SOQL against QL (Fig. 8)", "learners", (text,), pictures, tables)


def _variants(study: CaseStudy) -> list[str]:
    """The variants of SOQL to draw: of the steps with an offset the last one only."""
    from potentia.paper.case_study import OFFSETS

    return [name for name in study.learners if name.startswith("SOQL, ") and name not in list(OFFSETS)[:-1]]


def _temperatures(study: CaseStudy) -> list[str]:
    """The three temperatures of QL to draw: those compared with all four, and a hot one."""
    names = [*(name for name in study.four if name.startswith("QL")), ql(HOT), *study.learners]
    return [name for name in dict.fromkeys(names) if name.startswith("QL") and name in study.learners][:3]


def all_four(study: CaseStudy, tables: Sequence[Table]) -> Section:
    """Fig. 10."""
    from potentia.figures import algorithms_figure

    keys = ("blll", "p-sblll", "ql", "soql")
    drawn = algorithms_figure(study.four, published={key: published()["worth"][key] for key in keys})
    caption = (
        "Steps are logarithmic after the first hundred. Lines are means over runs, bands the middle 80 % of them. "
        + _made("algorithms_figure", "data/four-*.nc and data/learners-*.nc")
    )
    alt = f"Covered worth over time on a logarithmic axis, for {', '.join(study.four)}."
    text = (
        "BLLL and P-SBLLL know their utility function and learn a model of the field; QL and SOQL know only what they "
        "receive. QL is drawn at the temperature whose worth is nearest to what was published, and at its best."
    )
    pictures = (picture("four", drawn, caption, alt),)
    return Section("All four together (Fig. 10)", "four", (text,), pictures, tables)


def configurations(study: CaseStudy, tables: Sequence[Table]) -> Section:
    """Fig. 6 and 9."""
    model = {name: profiles for name, profiles in study.finals.items() if "QL" not in name}
    others = {name: profiles for name, profiles in study.finals.items() if name not in model}
    pictures = [
        _configurations(study, name, runs, f"From the start of seed {study.shown}: {title}")
        for name, runs, title in (
            ("configurations-model", model, "robots that learn the field"),
            ("configurations-learners", others, "robots that know only what they receive"),
        )
        if runs
    ]
    text = "One run of each algorithm, all from one start. A single run shows what can happen, not what is usual."
    return Section("Final configurations (Fig. 6 and 9)", "configurations", (text,), pictures, tables)


def _configurations(study: CaseStudy, name: str, runs: Mapping[str, Any], title: str) -> Picture:
    from potentia.figures import configuration_figure

    told = []
    x, y = study.game.world.targets.T
    for key, profiles in runs.items():
        last = np.asarray(profiles)[-1].astype(np.int64)
        held = int((study.game.cover_counts(last)[y, x] > 0).sum())
        told.append(f"{key} covers {held} of {len(x)} targets")
    return picture(
        name,
        configuration_figure(study.game, runs, title=title),
        "Where the robots are at the end, their ways and the flags they left. Black outlines are the cells covered. "
        + _made("configuration_figure", "data/configurations.nc"),
        f"Maps of final configurations: {'; '.join(told)}.",
    )


def theory(claims: Sequence[Claim], tables: Sequence[Table]) -> Section:
    """Fig. 1, and every statement with its counterexample."""
    from potentia.analysis import laws_over_tau
    from potentia.figures import shares_figure, stability_figure
    from potentia.paper.theory import figures_data
    from potentia.rules import rule

    found = figures_data(claims)
    chosen = rule("p-sblll", tau=0.1, revision=0.3)
    taus = np.geomspace(0.03, 6.0, 40).tolist()
    title = "P-SBLLL with joint trials on the game double-step"
    laws = laws_over_tau(found.game, chosen, taus)
    command = "potentia stability double-step --rule p-sblll --tau 0.1 --revision 0.3 --plot tree.png"
    groups: dict[str, dict[str, Any]] = {}
    for row in found.shares:
        groups.setdefault(row["games"], {})[row["rule"]] = share_of(row["exactly"], row["count"])
    pictures = (
        picture(
            "tree-stable",
            stability_figure(found.stability, root=found.stable, taus=taus, laws=laws, title=title),
            "Left, a tree of least resistance to the profile that is stable; numbers on edges are resistances. Right, "
            f"the share of time of each profile as the temperature falls. The same picture: {command}.",
            "A tree of profiles whose edges carry resistances, and the stationary law of each profile against the "
            "temperature.",
        ),
        picture(
            "tree-maximiser",
            stability_figure(found.stability, root=found.maximiser, title=title),
            "The same game: a tree of least resistance to the profile that maximises the potential. Where its total is "
            f"larger, the maximiser is not stable. {_made('stability_figure')}",
            "A tree of profiles rooted at the maximiser of the potential, with the resistance of each edge.",
        ),
        picture(
            "shares",
            shares_figure(groups, xlabel="share of random games", title="Exactly the maximisers are stable"),
            "In how many random games exactly the maximisers of the potential are stochastically stable, by kind of "
            f"game and by rule, with 95 % intervals. {_made('shares_figure')}",
            "Bars from 0 to 1, a block for each kind of game and a bar for each rule: the share of games in which the "
            "stable set is the set of maximisers.",
        ),
    )
    text = (
        "The paper's lemmas, propositions and theorems, tried on games small enough to be solved exactly. Where one "
        "fails, the numbers that show it are given."
    )
    return Section("Theory on small games (Fig. 1)", "theory", (text,), pictures, tables, claims)


def _worth(
    name: str,
    data: Mapping[str, Any],
    study: CaseStudy,
    printed: Mapping[str, Mapping[str, float]],
    title: str,
    text: str,
    band: str = "range",
) -> Picture:
    """Covered worth over time with its band, the optimum and what was published."""
    from potentia.figures import worth_figure

    drawn = worth_figure(
        data, optimum=study.optimum, published=printed, measure="worth_sum", band=band, smooth=SMOOTH, title=title
    )
    ends = ", ".join(f"{key} ends at {float(batch.worth_sum[:, -1].mean()):.3g}" for key, batch in data.items())
    return picture(
        name,
        drawn,
        f"{text} Covered worth over time, averaged over {SMOOTH} steps: {_BAND if band == 'range' else _MIDDLE}. "
        + _made("worth_figure", _FROM.get(name, f"data/{name}-*.nc")),
        f"Covered worth over {int(next(iter(data.values())).time.values[-1]):,} steps; in the mean over runs {ends}.",
    )
