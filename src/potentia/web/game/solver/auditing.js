// The audit of a rule on a 2×2 game: hypotheses, results and what they promise, as analysis/auditing.py and
// analysis/hypotheses.py say it. Action sets are complete here, and moving costs nothing.

import { playersWords, profileWords, signed, significant } from "./texts.js";
import { PROFILES } from "./ways.js";

const TOLERANCE = 1e-9;
const REVERSED = { 0: 3, 1: 2, 2: 1, 3: 0 };
const ROW_NAMES = {
  potential: "potential game",
  1: "Assumption 1: every action can be reached",
  2: "Assumption 2: moves can be undone",
  complete: "complete action sets",
  3: "Assumption 3: 0 < revision probability < 1",
  separable: "separable utilities",
  4: "Assumption 4: homogeneous players (as printed)",
  5: "Assumption 5: Φ never falls on the way up",
  K: "K = 0: moving costs nothing",
  vanishing: "vanishing revision rp = ε^m, m > 2Δ",
};
const UNPERTURBED = ["potential", "1", "2"];
const THEOREMS = {
  lll: ["LLL theorem (Blume)", ["potential", "complete"]],
  slll: ["SLLL with vanishing revision", ["potential", "complete", "vanishing"]],
  blll: ["BLLL theorem (Marden & Shamma)", UNPERTURBED],
  metropolis: ["Metropolis: a reversible chain", UNPERTURBED],
};

const spreadOf = (values) => Math.max(...values) - Math.min(...values);
const farthest = (values) => values.reduce((far, value, k) => (Math.abs(value) > Math.abs(values[far]) ? k : far), 0);

/** By how much the deviators' changes round the four profiles fail to cancel. */
export function cycleOf([u, v]) {
  const corners = [0, 2, 3, 1];
  const changes = [u[2] - u[0], v[3] - v[2], u[1] - u[3], v[0] - v[1]];
  return { corners, changes, imbalance: changes.reduce((sum, change) => sum + change, 0) };
}

/** The exact potential, 0 at the first profile, or null. */
export function potentialOf(payoffs) {
  const [u, v] = payoffs;
  const own = Math.max(Math.abs(u[2] - u[0]), Math.abs(u[3] - u[1]), Math.abs(v[1] - v[0]), Math.abs(v[3] - v[2]));
  if (Math.abs(cycleOf(payoffs).imbalance) > 2 * TOLERANCE * own) return null;
  return [0, v[1] - v[0], u[2] - u[0], u[2] - u[0] + v[3] - v[2]];
}

function listed(places, shares = null) {
  const text = (k) => profileWords(k) + (shares && places.length > 1 ? ` with share ${significant(shares[k], 3)}` : "");
  return places.map(text).join(", ");
}

/** Rows by key: { holds, evidence }; holds is null where a hypothesis was not looked at. */
function hypotheses({ payoffs, rule, name, revision, phi, best }) {
  const rows = new Map();
  const add = (key, holds, evidence) => rows.set(key, { hypothesis: ROW_NAMES[key], holds, evidence });
  if (phi) add("potential", true, `an exact potential exists; it is largest at ${listed(best)}`);
  else add("potential", false, cycleWords(cycleOf(payoffs)));
  add("1", true, "action sets are complete");
  add("2", true, "whatever is reachable can be left again the same way");
  add("complete", ["lll", "slll"].includes(name) ? true : null, "every action is reachable from every other");
  if (rule.who === "one") add("3", null, "");
  else if (rule.who === "all") add("3", false, "everybody wakes with probability 1: it never stays asleep");
  else add("3", true, `revision probability ${significant(revision)}`);
  add("separable", ...separability(payoffs));
  const general = phi && name === "p-sblll" && rule.considers === "joint-trial" && !rule.guard;
  add("4", ...(general ? homogeneity(payoffs) : [null, ""]));
  add("5", ...(general ? monotone(phi) : [null, ""]));
  add("K", true, "no move of this game has a price");
  add("vanishing", null, "");
  return rows;
}

function cycleWords({ corners, changes, imbalance }) {
  const round = [...corners, corners[0]].map(profileWords).join(" → ");
  const sum = `${changes.map(signed).join(" ")}, ${significant(imbalance)} in sum`;
  return `${playersWords([0, 1])} in turn round ${round} change their utilities by ${sum}`;
}

function separability(payoffs) {
  const limit = TOLERANCE * Math.max(...payoffs.map(spreadOf));
  for (const [player, bit] of [[0, 1], [1, 2]]) { // the bit is the other's action
    const apart = PROFILES.map((k) => payoffs[player][k] - payoffs[player][k & ~bit]);
    const k = farthest(apart);
    if (Math.abs(apart[k]) <= limit) continue;
    const action = player === 0 ? k >> 1 : k & 1;
    const both = `plays ${action} in both ${profileWords(k & ~bit)} and ${profileWords(k)}`;
    return [false, `player ${player} ${both}, yet its utility differs by ${significant(apart[k])}`];
  }
  return [true, "every utility depends on the player's own action only"];
}

function homogeneity(payoffs) {
  const apart = PROFILES.map((k) => payoffs[1][k] - payoffs[0][k]);
  const k = farthest(apart);
  if (Math.abs(apart[k]) <= TOLERANCE * spreadOf(payoffs.flat())) {
    return [true, "all utilities are identical, which is what the assumption amounts to"];
  }
  const order = apart[k] > 0 ? [0, 1] : [1, 0];
  const [less, more] = order.map((player) => `u^${player} = ${significant(payoffs[player][k])}`);
  return [false, `take α_1 = α_2 = ${profileWords(k)}: Φ is equal, yet ${less} is less than ${more}`];
}

function monotone(phi) {
  const tie = TOLERANCE * spreadOf(phi);
  for (const start of PROFILES) {
    const end = REVERSED[start];
    if (phi[end] < phi[start] - tie) continue;
    const steps = [[start ^ 1, end, 0], [start ^ 2, end, 1], [start, start ^ 2, 0], [start, start ^ 1, 1]];
    const fall = steps.find(([at, then]) => phi[then] < phi[at] - tie);
    if (!fall) continue;
    const [at, then, player] = fall;
    const change = (a, b) => `from ${significant(phi[a])} to ${significant(phi[b])}`;
    const goes = `from ${profileWords(start)} to ${profileWords(end)} Φ goes ${change(start, end)}`;
    const own = `own step ${profileWords(at)} → ${profileWords(then)} lowers it ${change(at, then)}`;
    return [false, `${goes}, yet on the way player ${player}'s ${own}`];
  }
  return [true, "on every joint move to no lower Φ, every order of single moves climbs"];
}

/** Transitions that Eq. 12 gives a resistance of its own: { from, to, exact, lemma }, in whole units. */
export function lemmaTable(whole, terms, inside) {
  const found = [];
  for (const from of inside) {
    for (const to of inside) {
      if (from === to || !terms[from][to]) continue;
      const loss = (player, bit) => ((from ^ to) & bit ? Math.max(0, whole[player][from] - whole[player][to]) : 0);
      found.push({ from, to, exact: terms[from][to].r, lemma: loss(0, 2) + loss(1, 1) });
    }
  }
  return found;
}

/** The transition of which Eq. 12 is farthest off, or null. */
export function worstOfLemma(table) {
  const off = table.filter(({ exact, lemma }) => exact !== lemma);
  return off.reduce((worst, row) => (worst && worst.lemma - worst.exact >= row.lemma - row.exact ? worst : row), null);
}

/** The audit of what was solved: rows of hypotheses and findings. */
export function auditOf(solved) {
  const rows = hypotheses(solved);
  return { rows: [...rows.values()].filter(({ holds }) => holds !== null), findings: findingsOf(solved, rows) };
}

function findingsOf(solved, rows) {
  const { name, rule } = solved;
  const made = (...parts) => findingOf(rows, ...parts);
  const maximisers = (result, needs, oneWay) => made(result, needs, ...maximisersStable(solved, oneWay));
  if (THEOREMS[name]) return [maximisers(...THEOREMS[name])];
  if (name === "best-response" || name === "better-reply") {
    const { classes, nash } = solved;
    const kept = classes.flat().every((place) => nash.includes(place));
    const which = kept ? "all of them" : "not all of them";
    const found = `it ends in one of ${classes.length} classes of profiles, ${which} equilibria`;
    const promises = "play ends in pure Nash equilibria";
    return [made("finite improvement (Monderer & Shapley)", ["potential"], promises, found, kept)];
  }
  if (name !== "p-sblll") return [];
  if (rule.guard) return [maximisers("P-SBLLL with a guard", [...UNPERTURBED, "3"])];
  const proposition = maximisers("separable proposition", [...UNPERTURBED, "3", "separable"]);
  if (rule.considers !== "joint-trial") return [proposition];
  const theorem = maximisers("general theorem", [...UNPERTURBED, "3", "4", "5"], true);
  const reversal = solved.phi ? [made(...reversalLemma(solved))] : [];
  return [made(...resistanceLemma(solved)), ...reversal, proposition, theorem];
}

function findingOf(rows, result, needs, promises, found, kept) {
  const lacks = needs.map((key) => rows.get(key)).filter(({ holds }) => holds !== true).map((row) => row.hypothesis);
  const said = lacks.length && kept ? found.replace("so it is", "it happens to hold here") : found;
  const verdict = lacks.length ? "does not apply" : { true: "kept", false: "BROKEN", null: "not compared" }[kept];
  return { result, applies: !lacks.length, lacks, promises, found: said, kept, verdict };
}

function maximisersStable({ stability, best }, oneWay = false) {
  const promises = `${oneWay ? "only" : "exactly"} the potential maximisers are stochastically stable`;
  if (!best) return [promises, "there is no potential to maximise", null];
  const { stable, limit } = stability;
  const more = stable.filter((k) => !best.includes(k));
  const missed = best.filter((k) => !stable.includes(k));
  const kept = !more.length && (oneWay || !missed.length);
  if (kept) return [promises, `so it is: ${listed(stable)}`, kept];
  const byShare = [...stable].sort((a, b) => limit[b] - limit[a] || a - b);
  if (missed.length === best.length) {
    return [promises, `no maximiser is stable; stable: ${listed(byShare, limit)}`, kept];
  }
  if (more.length) return [promises, `also stable: ${listed(more)}, which do not maximise`, kept];
  return [promises, `not stable: ${listed(missed)}, which maximise`, kept];
}

function resistanceLemma({ lemma, unit }) {
  const promises = "the resistance of each transition is Σ over deviators of max{u(α_1), u(α_2)} - u(α_2)";
  const off = lemma.filter((row) => row.exact !== row.lemma);
  let found = `so it is, for all ${lemma.length} transitions`;
  if (off.length) {
    const { from, to, exact, lemma: said } = worstOfLemma(lemma);
    const where = `${profileWords(from)} → ${profileWords(to)} has ${significant(exact * unit)}`;
    found = `${off.length} of ${lemma.length} transitions differ; ${where}, Eq. 12 says ${significant(said * unit)}`;
  }
  return ["resistance lemma (Eq. 12)", ["3"], promises, found, !off.length];
}

function reversalLemma({ lemma, unit, phi }) {
  const exact = (from, to) => lemma.find((row) => row.from === from && row.to === to)?.exact;
  const tie = TOLERANCE * Math.max(spreadOf(phi), unit);
  const off = lemma.filter(({ from, to, exact: there }) => {
    const back = exact(to, from);
    return back === undefined || Math.abs((there - back) * unit - (phi[from] - phi[to])) > tie;
  });
  const promises = "R(α_1 → α_2) - R(α_2 → α_1) = Φ(α_1) - Φ(α_2)";
  let found = `so it is, for all ${lemma.length} transitions`;
  if (off.length) {
    const { from, to, exact: there } = off[0];
    const sides = [there, exact(to, from)].map((each) => significant(each * unit));
    const differ = `${sides.join(" - ")}, but Φ differs by ${significant(phi[from] - phi[to])}`;
    const many = `fails for ${off.length} of ${lemma.length} transitions`;
    found = `${many}; ${profileWords(from)} → ${profileWords(to)}: ${differ}`;
  }
  return ["reversal lemma (Eq. 17)", ["potential", "separable", "2", "3"], promises, found, !off.length];
}
