"""What a user of the package writes; type checkers are strict about it."""

import numpy as np

import potentia as pt
from potentia.beliefs import Communication, Constant, Mixture, RunningMean, SplitMerge
from potentia.rules import (
    BLLL,
    LLL,
    PSBLLL,
    QL,
    SLLL,
    SOQL,
    BestResponse,
    Diminishing,
    Geometric,
    Groups,
    Piecewise,
    Score,
    SignalRevision,
    Tsallis,
    Vanishing,
)

rules: list[pt.rules.Rule] = [
    LLL(tau=0.1),
    LLL(tau=Geometric(1.0, 0.1, steps=100)),
    LLL(tau={"kind": "geometric", "start": 1.0, "stop": 0.1}),
    LLL(tau="auto"),
    SLLL(tau=0.1, revision=Groups([((0, 1), 1.0)])),
    BLLL(tau=Piecewise([(0, 1.0), (10, 0.1)]), include_current=True),
    PSBLLL(tau=1, revision=0.3, guard=True, trial="unilateral"),
    PSBLLL(tau=0.1, revision=[0.3, 0.4]),
    PSBLLL(tau=0.1, revision=Vanishing(2)),
    PSBLLL(tau=0.1, revision=SignalRevision(a1=1)),
    BestResponse(ties="stay"),
    QL(tau=0.1, mu="1/n", noise=1, initial=[[0.0, 1.0], [0.0, 1.0]]),
    QL(tau=0.1, mu=Diminishing(power=0.6)),
    Score(tau=0.1, choice="burg", order=2, discount=0.5),
    Score(tau=0.1, choice=Tsallis(0.3)),
    SOQL(mu="adaptive", initial_strategies=[[0.5, 0.5]]),
]
beliefs = [
    SplitMerge(noise=1, communication=Communication(4)),
    Mixture(components=2, communication={"radius": 3.0}, survey="all"),
    Constant(0.1, survey=np.ones((2, 2), bool)),
    RunningMean(per="profile"),
]

game = pt.games.NormalForm([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
trace: pt.Trace = pt.run(game, rules[0], steps=10, record=("potential", "best"), stop={"potential": 1.0})
begun: pt.Run = pt.begin(game, {"rule": "lll", "tau": 0.1}).advance(3)
told: tuple[object, ...] = (trace.final, begun.profile, pt.rule("lll", tau=0.1).spec())
