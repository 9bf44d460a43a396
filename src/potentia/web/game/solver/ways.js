// Everything that may happen in a step of a rule on a 2×2 game: who wakes, what they try, who takes it.
// Profiles are numbers 2a + b. The sums of these ways are the rule's law; the cheapest is how a transition comes about.

import { addTerms, certain, pairTerms, timesTerm } from "./terms.js";

export const PROFILES = [0, 1, 2, 3];
const BITS = [2, 1]; // what a player's action counts in the number of a profile

const flip = (profile, player) => profile ^ BITS[player];

/** Whether one's payoff depends on the other's action. */
function interact([first, second]) {
  return first[0] !== first[1] || first[2] !== first[3] || second[0] !== second[2] || second[1] !== second[3];
}

/** Sets of players that revise, each with its probability. */
function wakingSets({ who, guard }, revision, payoffs) {
  if (who === "one") return [[[0], 0.5], [[1], 0.5]];
  const p = who === "all" ? 1 : revision;
  const both = p * p;
  const alone = p * (1 - p);
  const sets = guard && interact(payoffs) ? [[[0], alone + both / 2], [[1], alone + both / 2]] : null;
  const found = sets ?? [[[0], alone], [[1], alone], [[0, 1], both]];
  const none = (1 - p) * (1 - p);
  return [[[], none], ...found].filter(([, share]) => share > 0);
}

/** What those who revise may draw: for each set of them the profile that each alone, or all at once, would lead to. */
function trialsOf({ considers, include_current: current }, awake) {
  if (considers === "all" || !current) return [[awake, 1]];
  const subsets = awake.reduce((all, player) => all.flatMap((some) => [some, [...some, player]]), [[]]);
  return subsets.map((some) => [some, 0.5 ** awake.length]);
}

/**
 * All ways from a profile: { awake, tried, took, compared, to, term }. `tried` are those who drew their other action,
 * `took` those who changed, `compared` the two utilities of each that tried.
 */
export function waysFrom(game, from, tau) {
  const { rule, revision, payoffs } = game;
  const joint = rule.considers === "joint-trial" && rule.who !== "one";
  const ways = [];
  for (const [awake, share] of wakingSets(rule, revision, payoffs)) {
    for (const [tried, drawn] of trialsOf(rule, awake)) {
      const trial = tried.reduce(flip, from);
      const other = (player) => payoffs[player][joint ? trial : flip(from, player)];
      const compared = tried.map((player) => [payoffs[player][from], other(player)]);
      const terms = compared.map(([now, then]) => pairTerms(rule, now, then, tau));
      for (let choice = 0; choice < 1 << tried.length; choice += 1) {
        const takes = tried.map((_, k) => (choice >> k) & 1);
        const term = takes.reduce((all, take, k) => timesTerm(all, terms[k][take]), certain(share * drawn));
        if (term.c === 0) continue;
        const took = tried.filter((_, k) => takes[k]);
        ways.push({ awake, tried, took, compared, to: took.reduce(flip, from), term });
      }
    }
  }
  return ways;
}

/** The law of a step, 4×4 terms; null where it is impossible. */
export function stepTerms(game, tau) {
  return PROFILES.map((from) => {
    const row = [null, null, null, null];
    for (const { to, term } of waysFrom(game, from, tau)) row[to] = addTerms(row[to], term, tau);
    return row;
  });
}

/** The way of least resistance from one profile to another; of those with the same, that with fewest awake. */
export function cheapestWay(game, from, to) {
  const ways = waysFrom(game, from, 0).filter((way) => way.to === to);
  const rank = (way) => [way.term.r, way.awake.length, way.tried.length];
  const before = (a, b) => a.map((value, k) => value - b[k]).find((gap) => gap !== 0) ?? 0;
  return ways.reduce((best, way) => (best && before(rank(best), rank(way)) <= 0 ? best : way), null);
}
