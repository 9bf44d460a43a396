"""The list of all that is played for a page: which rules, on which game, for how long, from which seeds.

The reproduction and the tables of the docs are made from these batches and from no others. Each is described by plain
data, as a study of the user's own is, and is kept as one (:mod:`potentia.paper.kept`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from potentia.beliefs import Belief, Mixture, SplitMerge
from potentia.games.world import published
from potentia.paper import belief_study, coverage_study
from potentia.paper.belief_study import PAIR, literal, pair, published_beliefs, published_link
from potentia.paper.coverage_study import REVISION, forms
from potentia.paper.reinforcement_study import GRID, STEPS, learners, ql, variants, wanderers
from potentia.paper.scale import Scale
from potentia.rules import Rule, rule
from potentia.studies.coverage import RECORD, paper_rules
from potentia.studies.specification import Seeds, Specification

SHORT = 2000  # steps of Fig. 5
LONG, LONGEST = 20_000, 100_000  # steps, to see what lasts
LEARNING = STEPS  # of Fig. 8 and 10
TUNING = 1000  # the first of the seeds on which temperatures are chosen; comparisons use 0, 1, ...
BLLL, P_SBLLL = PAIR
HEARD = "everybody hears everybody"
_LEARNT = ("worth_sum", "worth_union", "moves", "targets_found")
_CHUNK = 5  # runs that are lost where a process is killed, at most, of each worker


def _paper_world() -> dict[str, Any]:
    """The game of the case study, as :func:`~potentia.studies.coverage.paper_game` has it."""
    setup = published()["setup"]
    return {"map": "paper", **{name: setup[name] for name in ("robots", "delta", "K")}, "flags": True}


@frozen
class Batches:
    """A batch of each of these rules, all from the same starts."""

    name: str
    rules: Mapping[str, Rule]
    steps: int
    beliefs: Mapping[str, Belief | None] = field(factory=dict)  # of the rules that learn the map
    game: Mapping[str, Any] = field(factory=_paper_world)
    record: Sequence[str] = RECORD
    every: int = 1
    runs: str | int = "runs"  # how many, or which number of the scale
    first: int = 0  # of the seeds, less the scale's

    def seeds(self, scale: Scale) -> range:
        """Where runs begin, and what they draw from."""
        count = getattr(scale, self.runs) if isinstance(self.runs, str) else self.runs
        return scale.seeds(count, self.first)

    def specifications(self, scale: Scale) -> Iterator[Specification]:
        """The same as studies: one for each belief, with the rules that have it."""
        groups: dict[str, list[str]] = {}
        for name in self.rules:
            groups.setdefault(repr(_spec(self.beliefs.get(name))), []).append(name)
        seeds = self.seeds(scale)
        for names in groups.values():
            belief = self.beliefs.get(names[0])
            yield Specification(
                name=self.name,
                game=[dict(self.game)],
                belief=[] if belief is None else [_table("belief", belief)],
                rule=[{"label": name, **_table("rule", self.rules[name])} for name in names],
                steps=self.steps,
                seeds=Seeds(first=seeds.start, count=len(seeds)),
                record=list(self.record),
                every=self.every,
                chunk=min(_CHUNK, len(seeds)),
            )


def _spec(what: Rule | Belief | None) -> dict[str, Any] | None:
    return None if what is None else what.spec()


def _table(kind: str, what: Rule | Belief) -> dict[str, Any]:
    """As a specification has it; what is None is left out there."""
    spec = dict(what.spec())
    return {"name": spec.pop(kind), **{name: entry for name, entry in spec.items() if entry is not None}}


def published_forms() -> dict[str, Rule]:
    """The two rules as published, and P-SBLLL unilateral and guarded."""
    known = paper_rules()["p-sblll"]
    return forms(known.tau, known.revision)  # type: ignore[attr-defined]


def _case_study() -> Iterator[Batches]:
    """Section 5 of the paper."""
    both, wide = pair(), published_link("p-sblll")  # everybody hears everybody
    one, all_hear = {BLLL: both[BLLL]}, {BLLL: SplitMerge(communication=wide)}
    targets = len(published()["world"]["weights"])
    numbered = {name: Mixture(targets, communication=published_link(name.lower())) for name in both}
    long: dict[str, Any] = {"record": _LEARNT, "every": 10}
    yield Batches("model", both, SHORT, published_beliefs())
    yield Batches("known", published_forms(), SHORT)
    yield Batches("lasting", published_forms(), LONG, every=10)
    yield Batches("heard", one, SHORT, all_hear)
    yield Batches("literal", both, SHORT, {name: literal(name.lower()) for name in both}, runs="literal")
    yield Batches("numbered", both, SHORT, numbered)
    yield Batches("numbered heard", one, SHORT, {BLLL: Mixture(targets, communication=wide)})
    by_tau = {ql(tau): rule("ql", tau=tau) for tau in GRID}
    yield Batches("tuning", by_tau, LEARNING, runs="tuning", first=TUNING, **long)
    yield Batches("learners", learners(), LEARNING, **long)
    yield Batches("four", both, LEARNING, published_beliefs(), runs="long", **long)
    yield Batches("heard long", one, LEARNING, all_hear, runs="heard_long", **long)


def _robots(map_name: str, **more: Any) -> dict[str, Any]:
    setup = published()["setup"]
    return {"map": map_name, "robots": setup["robots"], "delta": setup["delta"], **more}


def _of_the_docs() -> Iterator[Batches]:
    """What the pages of the docs show beside that."""
    long: dict[str, Any] = {"record": _LEARNT, "every": 10}
    yield Batches("variants", variants(), LEARNING, **long)
    yield Batches("without flags", wanderers(), LEARNING, game=_paper_world() | {"flags": False}, **long)
    auto: dict[str, Any] = {"rules": forms("auto", REVISION), "record": ("worth_union",)}
    for robots in (5, 20):
        game = _robots("paper", flags=False) | {"robots": robots}
        yield Batches(f"annealed {robots}", steps=LONG, game=game, every=10, **auto)
    for world, steps in itertools.product(coverage_study.WORLDS, (LONG, LONGEST)):
        game = _robots(f"random:{world}", flags=False)
        yield Batches(
            f"annealed world {world}, {steps}", steps=steps, game=game, every=20 if steps > LONG else 10, **auto
        )
    both, parallel = pair(), pair()[P_SBLLL]
    for name, chosen in both.items():
        yield Batches(f"beliefs {name}", dict.fromkeys(belief_study.others(), chosen), SHORT, belief_study.others())
    fewer: dict[str, Any] = {"every": 10, "runs": belief_study.RUNS}
    for world in belief_study.WORLDS:
        beliefs, game = belief_study.on_worlds(), _robots(f"random:{world}", K=published()["setup"]["K"])
        rules = dict.fromkeys(beliefs, parallel)
        yield Batches(f"beliefs world {world}", rules, belief_study.STEPS, beliefs, game, ("worth_union",), **fewer)
    learnt = belief_study.learning()
    record = ("worth_sum", *next(iter(learnt.values())).recorders)
    yield Batches("learning", dict.fromkeys(learnt, parallel), belief_study.STEPS, learnt, record=record, **fewer)


def case_study() -> dict[str, Batches]:
    """What the report is made from, by name."""
    return {one.name: one for one in _case_study()}


def batches() -> dict[str, Batches]:
    """The whole list, by name."""
    return {one.name: one for one in (*_case_study(), *_of_the_docs())}
