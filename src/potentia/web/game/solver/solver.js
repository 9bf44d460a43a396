// Answers about 2×2 games without a server. Messages and answers are those of potentia.web.solving, which answers them
// for any small game; tests/browser/test_laboratory.py compares the two.

import { auditOf, cycleOf, lemmaTable, potentialOf, worstOfLemma } from "./auditing.js";
import { answerPortrait, answerTrajectory } from "./flows.js";
import { chanceOf, wholePayoffs } from "./terms.js";
import { percentWords, profileWords, significant, stepWords } from "./texts.js";
import { closedClasses, leastTree, stableStates, stationaryLaw } from "./trees.js";
import { cheapestWay, PROFILES, stepTerms, waysFrom } from "./ways.js";

const COLD = ["logit", "mistakes", "metropolis"]; // choices with a temperature

/** What a rule of who × considers × chooses is called, "composed" where it has no name. */
export function ruleName({ who, considers, chooses, guard }) {
  const trial = considers !== "all";
  if (who === "one") {
    const named = trial
      ? { logit: "blll", metropolis: "metropolis" }
      : { logit: "lll", best: "best-response", better: "better-reply", mistakes: "mistakes" };
    return named[chooses] ?? "composed";
  }
  if (chooses !== "logit") return "composed";
  if (trial) return "p-sblll";
  return guard ? "composed" : "slll";
}

/** Whether a rule gets colder with τ. */
export const hasNoise = ({ chooses }) => COLD.includes(chooses);

/** A function that answers messages: ask({ ask: "solve", payoffs, rule, tau, revision }) and so on. */
export function createSolver() {
  const answers = { solve, tree: answerTree, portrait: answerPortrait, trajectory: answerTrajectory, several };
  const answer = (message) => {
    const known = answers[message.ask];
    if (!known) throw new Error(`ask must be one of ${Object.keys(answers).join(", ")}, got ${message.ask}`);
    return known(message);
  };
  function several({ questions }) {
    return { answers: questions.map(answer) };
  }
  return async (message) => answer(message);
}

function board({ payoffs, rule, revision }) {
  const flat = payoffs.map((table) => table.flat());
  const { whole, unit } = wholePayoffs(flat);
  const cold = { payoffs: whole, rule, revision };
  const name = ruleName(rule);
  return { flat, warm: { ...cold, payoffs: flat }, cold, unit: rule.chooses === "mistakes" ? 1 : unit, name };
}

/** Everything about a rule on a game at a temperature. */
export function solve(message) {
  const { rule, tau, revision } = message;
  const { flat, warm, cold, unit, name } = board(message);
  const noisy = hasNoise(rule);
  const terms = stepTerms(warm, noisy ? tau : 0);
  const classes = closedClasses(terms);
  const leading = stepTerms(cold, 0);
  const found = noisy ? stableStates(leading) : null;
  const phi = potentialOf(flat);
  const solved = {
    payoffs: flat, rule, name, revision, unit, phi, classes, stability: found,
    best: phi && maximisersOf(phi),
    nash: PROFILES.filter((k) => [2, 1].every((bit, i) => cold.payoffs[i][k] >= cold.payoffs[i][k ^ bit])),
    lemma: found ? lemmaTable(cold.payoffs, leading, found.inside) : [],
  };
  const counterexamples = counterexamplesOf(solved, cold, leading, message);
  const law = stationaryLaw(terms, tau);
  return {
    players: 2,
    actions: [2, 2],
    payoffs: flat,
    free: true,
    rule: { name, noise: noisy },
    law,
    classes,
    edges: edgesOf(terms, leading, found, tau, unit),
    stability: found && {
      stable: found.stable,
      limit: found.limit,
      potentials: found.potentials.map((cost) => (cost === null ? null : cost * unit)),
    },
    trouble: troubleOf(noisy, classes),
    potential: phi,
    maximisers: solved.best,
    nash: solved.nash,
    promise: promiseOf(solved),
    audit: { ...auditOf(solved), summary: summaryOf(solved, law, tau) },
    counterexamples,
  };
}

function maximisersOf(phi) {
  const [whole] = wholePayoffs([phi]).whole;
  return PROFILES.filter((k) => whole[k] === Math.max(...whole));
}

function promiseOf({ best, stability }) {
  if (!best || !stability) return null;
  const more = stability.stable.filter((k) => !best.includes(k));
  const missed = best.filter((k) => !stability.stable.includes(k));
  return { kept: !more.length && !missed.length, more, missed };
}

function troubleOf(noisy, classes) {
  if (!noisy) return "this rule has no noise that goes to 0 with τ, so no profile is stochastically stable";
  if (classes.length < 2) return "";
  return `the chain falls apart into ${classes.length} closed classes: where it ends depends on where it starts`;
}

function edgesOf(terms, leading, found, tau, unit) {
  const edges = { from: [], to: [], probability: [], resistance: [], left_off: 0 };
  for (const from of PROFILES) {
    for (const to of PROFILES) {
      const term = terms[from][to];
      if (from === to || !term) continue;
      edges.from.push(from);
      edges.to.push(to);
      edges.probability.push(chanceOf(term, tau));
      const inside = found?.inside.includes(from) && leading[from][to];
      edges.resistance.push(inside ? leading[from][to].r * unit : null);
    }
  }
  return edges;
}

function summaryOf({ name, stability, best, nash }, law, tau) {
  if (!stability) return [];
  const { stable, limit } = stability;
  const share = (k) => (stable.length > 1 ? ` with share ${significant(limit[k], 3)}` : "");
  const inOrder = [...stable].sort((a, b) => limit[b] - limit[a] || a - b);
  const places = inOrder.map((k) => profileWords(k) + share(k)).join(", ");
  const said = [`As τ → 0, ${name === "composed" ? "it" : name} stays in ${places}.`];
  if (best) {
    const at = (shares) => percentWords(best.reduce((sum, k) => sum + shares[k], 0));
    const where = best.map(profileWords).join(", ");
    said.push(`The potential is largest at ${where}; the limit law puts ${at(limit)} there.`);
    if (law) said.push(`At τ = ${significant(tau)} the long run puts ${at(law)} there.`);
  }
  const both = stable.filter((k) => nash.includes(k)).length;
  said.push(`Pure Nash equilibria: ${nash.length} in the game; ${both} of the ${stable.length} stable profiles.`);
  return said;
}

/** A least-resistance tree to a root: the next profile of each, −1 at the root, and what that costs. */
export function answerTree(message) {
  const { cold, unit } = board(message);
  const leading = stepTerms(cold, 0);
  const found = hasNoise(message.rule) ? stableStates(leading) : null;
  if (!found) throw new Error("there is no tree: this rule has no stable set here");
  if (!found.inside.includes(message.root)) {
    throw new Error(`${profileWords(message.root)} is transient: no tree leads to it`);
  }
  const steps = leastTree(leading, found.inside, message.root);
  const parent = PROFILES.map((k) => steps[k] ?? -1);
  const resistance = parent.map((to, from) => (to < 0 ? 0 : leading[from][to].r * unit));
  return { root: message.root, parent, resistance, total: found.potentials[message.root] * unit };
}

// Counterexamples ---------------------------------------------------------------------------------------------------

const names = (path) => path.map(profileWords).join(" → ");

/** How what fails comes about, by its kind, in the words of analysis/counterexamples.py. */
function counterexamplesOf(solved, cold, leading, message) {
  const found = {};
  const promise = promiseOf(solved);
  if (promise && !promise.kept) {
    const start = promise.missed[0] ?? solved.best[0];
    const { stable, limit } = solved.stability;
    const goals = promise.more.length ? promise.more : stable;
    const goal = goals.reduce((best, k) => (limit[k] > limit[best] + 1e-9 ? k : best));
    const path = solved.stability.inside.includes(start) ? cheapestPath(leading, start, goal) : [];
    const pairs = path.slice(1).map((to, k) => [path[k], to]);
    const together = pairs.find(([from, to]) => cheapestWay(cold, from, to).awake.length > 1) ?? pairs[0];
    const title = `From the maximiser to a stable profile: ${names(path)}`;
    if (together) found.promise = { path, title, step: stepOf(cold, ...together, solved.unit, message) };
  }
  const worst = solved.name === "p-sblll" && worstOfLemma(solved.lemma);
  if (worst) {
    const [path, said] = [[worst.from, worst.to], worst.lemma * solved.unit];
    const title = `${names(path)}: Eq. 12 says ${significant(said)}`;
    found.lemma = { path, title, step: stepOf(cold, ...path, solved.unit, message), said };
  }
  if (!solved.phi) {
    const { corners } = cycleOf(solved.payoffs);
    const path = [...corners, corners[0]];
    found.cycle = { path, title: `Round ${names(path)} the changes do not cancel`, step: null };
  }
  return found;
}

/** The path of least resistance; of several the shortest, then the first. */
function cheapestPath(leading, start, goal) {
  let best = null;
  const walk = (path, cost) => {
    const at = path[path.length - 1];
    if (at === goal) {
      if (!best || cost < best.cost || (cost === best.cost && path.length < best.path.length)) best = { path, cost };
      return;
    }
    for (const to of PROFILES) {
      if (!path.includes(to) && leading[at][to]) walk([...path, to], cost + leading[at][to].r);
    }
  };
  walk([start], 0);
  return best.path;
}

/** The cheapest way of a transition, as data and in words, with its probability at this temperature. */
function stepOf(cold, from, to, unit, { payoffs, rule, revision, tau }) {
  const { awake, tried, took, term } = cheapestWay(cold, from, to);
  const warm = waysFrom({ payoffs: payoffs.map((table) => table.flat()), rule, revision }, from, tau);
  const same = (a, b) => a.length === b.length && a.every((value, k) => value === b[k]);
  const way = warm.find((one) => same(one.awake, awake) && same(one.tried, tried) && same(one.took, took));
  const trial = tried.reduce((profile, player) => profile ^ (player === 0 ? 2 : 1), from);
  const together = rule.considers === "joint-trial" && tried.length > 1;
  const step = { from, to, awake, tried, took, compared: way.compared, trial, together, resistance: term.r * unit };
  const probability = chanceOf(way.term, tau);
  return { ...step, probability, words: stepWords(step) };
}
