"""Q-learning, second-order Q-learning and score dynamics by their definitions: the reference of the tests.

Written from the paper (Eq. 6-9, 27-29, 43, Assumptions 6 and 7) and from nothing else. Everything is dense and eager:
all scores, strategies and stages are full vectors, updated at every step. Shared with the library are the stream
of draws, so that a whole trajectory can be predicted, and the choice maps, which have tests of their own. Slow and
obvious on purpose.
"""

from __future__ import annotations

import numpy as np

from potentia.kernel.draws import CHOICE, PRIORITY, REWARD, normal_nth, uniform
from potentia.kernel.protocol import Complete
from potentia.rules.penalties import penalty_from
from tests.coverage_oracle import Oracle, Play


class Field:
    """A game without a past: what players may choose and what they get."""

    def __init__(self, game):
        self.game, self.sizes = game, game.num_actions
        self.free = isinstance(game.moves, Complete)

    def options(self, player, current):
        """In the order in which draws run through them."""
        return list(range(self.sizes[player])) if self.free else [current, *self.game.reachable(player, current)]

    def utility(self, player, profile, before):
        return self.game.utility(player, profile)

    def stand(self, profile):
        """The profile was played."""


class CoverageField:
    """A coverage game by its own reference: moving costs from where a robot was, flags lie where it has been."""

    def __init__(self, case, start, kind=Oracle):
        self.play = Play(case.oracle(kind), case.places(start))
        self.cells = self.play.oracle.free
        self.place = {cell: action for action, cell in enumerate(self.cells)}
        self.sizes = [len(self.cells)] * len(start)

    def options(self, player, current):
        return [current, *(self.place[cell] for cell in self.play.oracle.moves(self.cells[current]))]

    def utility(self, player, profile, before):
        places = [self.cells[action] for action in profile]
        return self.play.oracle.utility(player, places, self.cells[before[player]], self.play.laid)

    def stand(self, profile):
        self.play.stand([self.cells[action] for action in profile])


def per_action(value, sizes):
    """A number, one per player, or one per player and action, as a vector for each player."""
    rows = value if isinstance(value, list) else [value] * len(sizes)
    return [np.array(row) if isinstance(row, list) else np.full(n, row) for row, n in zip(rows, sizes, strict=True)]


def step_size(mu, n):
    """μ(n), n from 1: a number, "1/n", "n^-0.6", or a dict of power, scale and offset."""
    if mu == "1/n":
        return 1 / n
    if isinstance(mu, str):
        return float(n) ** -float(mu.removeprefix("n^-"))
    if isinstance(mu, dict):
        return mu.get("scale", 1.0) * (n + mu.get("offset", 0.0)) ** -mu.get("power", 1.0)
    return mu


def first_above(weights, unit):
    """The index at which the running sum of probabilities first exceeds a uniform draw."""
    for index, reached in enumerate(np.cumsum(weights)):
        if unit < reached:
            return index
    return len(weights) - 1


class Learner:
    """What the three rules share: everybody draws at once, and receives the utility of the joint profile."""

    def __init__(self, field, key, start, lag=True, noise=0.0, initial=0.0):
        self.field, self.key, self.lag, self.noise = field, key, lag, noise
        self.profile, self.players, self.n = list(start), range(len(start)), 0
        self.scores = per_action(initial, field.sizes)
        self.earlier = [q.copy() for q in self.scores]  # Q(n-1)

    def options(self, player):
        return self.field.options(player, self.profile[player])

    def unit(self, player, purpose):
        return uniform(self.key, len(self.players), self.n, player, purpose)

    def gain(self, player, profile, k=0):
        """The utility of a profile, this player having been where it now is, with the k-th of its noises."""
        noise = normal_nth(self.key, len(self.players), self.n, player, REWARD, k) if self.noise else 0.0
        return self.field.utility(player, profile, self.profile) + self.noise * noise

    def draw(self):
        """Everybody's next action."""
        out = []
        for i in self.players:
            acts, law = self.options(i), self.strategy(i)
            out.append(acts[first_above([law[a] for a in acts], self.unit(i, CHOICE))])
        return out

    def smoothed(self, player, choice, tau):
        """The choice map over the options, by Q(n-1) or with ``lag=False`` by Q(n)."""
        acts = self.options(player)
        values = (self.earlier if self.lag else self.scores)[player][acts]
        out = np.zeros(self.field.sizes[player])
        out[acts] = choice.choose(values, tau(self.n) if callable(tau) else tau)
        return out

    @property
    def strategies(self):
        return [self.strategy(i) for i in self.players]

    def step(self):
        drawn = self.draw()
        scores = self.learn(drawn)
        self.earlier, self.scores = self.scores, scores
        self.profile, self.n = drawn, self.n + 1
        self.field.stand(drawn)


class QL(Learner):
    """Eq. 27 and the line before it."""

    def __init__(self, field, key, start, tau, mu="1/n", count="visits", unplayed="keep", **options):
        super().__init__(field, key, start, **options)
        self.tau, self.mu, self.count, self.unplayed = tau, mu, count, unplayed
        self.visits = [np.zeros(size, int) for size in field.sizes]

    def strategy(self, player):
        return self.smoothed(player, penalty_from("gibbs"), self.tau)

    def learn(self, drawn):
        scores = [q.copy() for q in self.scores]
        for i, played in enumerate(drawn):
            self.visits[i][played] += 1
            u = self.gain(i, drawn)
            for action in range(self.field.sizes[i]):
                if action == played or self.unplayed == "decay":
                    mu = step_size(self.mu, self.visits[i][action] if self.count == "visits" else self.n + 1)
                    scores[i][action] += mu * ((u if action == played else 0.0) - scores[i][action])
        return scores


class Score(Learner):
    """Eq. 6, 7 and 9, with as many stages as asked for; the first is fed by utilities, the last is the score."""

    def __init__(self, field, key, start, tau, mu="1/n", discount=1.0, order=1, choice="gibbs", **options):
        super().__init__(field, key, start, **options)
        self.tau, self.mu, self.discount, self.choice = tau, mu, discount, penalty_from(choice)
        self.stages = [[np.zeros(size) for size in field.sizes] for _ in range(order - 1)]

    def strategy(self, player):
        return self.smoothed(player, self.choice, self.tau)

    def learn(self, drawn):
        scores = [q.copy() for q in self.scores]
        mu = step_size(self.mu, self.n + 1)
        for i in self.players:
            for k, action in enumerate(self.options(i)):
                feed = self.gain(i, [*drawn[:i], action, *drawn[i + 1 :]], k)
                for stage in [*self.stages, scores]:
                    old = stage[i][action]
                    stage[i][action] = old + mu * (feed - self.discount * old)
                    feed = old
        return scores


class SOQL(Learner):
    """Eq. 28, 29 and 43, Fig. 7, Assumptions 6 and 7."""

    def __init__(
        self, field, key, start, mu=0.97, vartheta=0.5, zeta=0.9999, xi=0.01, alone=True, form="two-step",
        unplayed="keep", best_response="reachable", initial_strategies=None, **options,
    ):  # fmt: skip
        super().__init__(field, key, start, **options)
        self.mu, self.vartheta, self.zeta, self.xi, self.alone = mu, vartheta, zeta, xi, alone
        self.form, self.unplayed, self.best_response = form, unplayed, best_response
        uniformly = [[1 / size] * size for size in field.sizes]
        self.x = per_action(uniformly if initial_strategies is None else initial_strategies, field.sizes)
        self.stage = [q.copy() for q in self.scores]  # P of Eq. 28

    def strategy(self, player):
        return self.x[player]

    def restricted(self, player):
        """X over the options, renormalised."""
        part = self.x[player][self.options(player)]
        return part / part.sum() if part.sum() > 0 else np.full(len(part), 1 / len(part))

    def perturbed(self, player):
        """X̃ (Eq. 43), with ρ rising from 0 at ζ to ξ at 1 by the cubic smoothstep."""
        x = self.restricted(player)
        s = max(0.0, (x.max() - self.zeta) / (1 - self.zeta))
        rho = self.xi * (3 * s**2 - 2 * s**3)
        return (1 - rho) * x + rho / len(x)

    def draw(self):
        laws = [self.perturbed(i) for i in self.players]
        favourite = [int(self.restricted(i).argmax()) for i in self.players]
        index = [first_above(law, self.unit(i, CHOICE)) for i, law in enumerate(laws)]
        strays = [i for i in self.players if index[i] != favourite[i]]
        if self.alone and len(strays) > 1 and all(self.restricted(i).max() > self.zeta for i in self.players):
            left = strays[int(self.unit(0, PRIORITY) * len(strays))]
            index = [index[i] if i == left else favourite[i] for i in self.players]
        self.likelihood = [law[k] for law, k in zip(laws, index, strict=True)]
        return [self.options(i)[k] for i, k in enumerate(index)]

    def rate(self, player):
        """Assumption 6, or the step as given."""
        return 1 - self.likelihood[player] if self.mu == "adaptive" else step_size(self.mu, self.n + 1)

    def aggregated(self, player, action, u):
        """Q(n+1) of one action, and its P(n+1)."""
        mu, q = self.rate(player), self.scores[player][action]
        if self.form == "pair":
            p = self.stage[player][action]
            return q + mu * (p - q), p + mu * (u - p)
        return 2 * (1 - mu) * q - (1 - mu) ** 2 * self.earlier[player][action] + mu**2 * u, np.nan

    def learn(self, drawn):
        scores = [q.copy() for q in self.scores]
        stage = [p.copy() for p in self.stage]
        for i, played in enumerate(drawn):
            u = self.gain(i, drawn)
            for action in range(self.field.sizes[i]):
                if action == played or self.unplayed == "decay":
                    scores[i][action], stage[i][action] = self.aggregated(i, action, u if action == played else 0.0)
        self.stage = stage
        for i in self.players:
            acts = self.responses(i, drawn[i])
            values = (self.scores if self.lag else scores)[i][acts]
            response = np.zeros(self.field.sizes[i])
            response[self.best(acts, values)] = 1.0
            self.x[i] = (1 - self.vartheta) * self.x[i] + self.vartheta * response / response.sum()
        return scores

    def responses(self, player, reached):
        """The actions among which the best response is sought."""
        if self.best_response == "global":
            return list(range(self.field.sizes[player]))
        return self.field.options(player, reached)

    def best(self, acts, values):
        return [action for action, value in zip(acts, values, strict=True) if value == values.max()]


LEARNERS = {"ql": QL, "soql": SOQL, "score": Score}


# References with one thing wrong: what a comparison must notice ---------------------------------------


def altered(base, **methods):
    return type("Wrong" + base.__name__, (base,), methods)


def _fed_at_once(self, drawn):
    """Each stage by the one before as it already is."""
    scores, mu = [q.copy() for q in self.scores], step_size(self.mu, self.n + 1)
    for i in self.players:
        for k, action in enumerate(self.options(i)):
            feed = self.gain(i, [*drawn[:i], action, *drawn[i + 1 :]], k)
            for stage in [*self.stages, scores]:
                stage[i][action] += mu * (feed - self.discount * stage[i][action])
                feed = stage[i][action]
    return scores


def _unperturbed(self):
    """Assumption 6 with X in place of X̃."""
    drawn = SOQL.draw(self)
    self.likelihood = [self.restricted(i)[self.options(i).index(action)] for i, action in enumerate(drawn)]
    return drawn


def _others_stayed(self, player, profile, k=0):
    """The utility against what the others played before."""
    return Learner.gain(self, player, [*self.profile[:player], profile[player], *self.profile[player + 1 :]], k)


WRONG = {
    "ties to the first": altered(SOQL, best=lambda self, acts, values: acts[int(values.argmax())]),
    "response from the old position": altered(SOQL, responses=lambda self, i, reached: self.options(i)),
    "the unperturbed strategy's step": altered(SOQL, draw=_unperturbed),
    "strategy not restricted": altered(
        SOQL, restricted=lambda self, i: np.full(len(self.options(i)), 1 / len(self.options(i)))
    ),
    "utility of the profile before": altered(QL, gain=_others_stayed),
    "stages fed at once": altered(Score, learn=_fed_at_once),
    "the same noise for all": altered(Score, gain=lambda self, i, profile, k=0: Learner.gain(self, i, profile, 0)),
}
