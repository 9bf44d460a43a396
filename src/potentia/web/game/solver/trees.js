// The Markov chain tree theorem: a state's share of the long run is the sum over trees that lead to it of the products
// of their transitions. With four states there are 16 trees to each, so that law, limit and least trees are sums
// without a subtraction, whatever the temperature.

import { timesTerm } from "./terms.js";

/** The states that can be reached from one. */
function reachedFrom(terms, start) {
  const seen = [start];
  for (const state of seen) {
    terms[state].forEach((term, to) => {
      if (term && term.c > 0 && !seen.includes(to)) seen.push(to);
    });
  }
  return seen;
}

/** The closed classes of a chain, each in order. */
export function closedClasses(terms) {
  const reached = terms.map((_, state) => reachedFrom(terms, state));
  const closed = reached.filter((some, state) => some.every((other) => reached[other].includes(state)));
  const sorted = closed.map((some) => [...some].sort((a, b) => a - b));
  return sorted.filter((some, k) => sorted.findIndex((other) => other[0] === some[0]) === k);
}

/** All trees of possible transitions among some states that lead to a root: { parent, term }. */
function treesTo(terms, inside, root) {
  const others = inside.filter((state) => state !== root);
  let found = [{ parent: {}, term: { c: 1, r: 0 } }];
  for (const state of others) {
    found = found.flatMap(({ parent, term }) =>
      inside
        .filter((to) => to !== state && terms[state][to])
        .map((to) => ({ parent: { ...parent, [state]: to }, term: timesTerm(term, terms[state][to]) })),
    );
  }
  return found.filter(({ parent }) => others.every((state) => leads(parent, state, root, others.length)));
}

function leads(parent, state, root, most) {
  let at = state;
  for (let k = 0; k < most && at !== root; k += 1) at = parent[at];
  return at === root;
}

/** The stationary law of terms at a temperature; null where there are several closed classes. */
export function stationaryLaw(terms, tau) {
  const classes = closedClasses(terms);
  if (classes.length > 1) return null;
  const trees = classes[0].map((root) => treesTo(terms, classes[0], root).map(({ term }) => term));
  const least = Math.min(...trees.flat().map((term) => term.r));
  const weight = ({ c, r }) => (r === least ? c : c * Math.exp((least - r) / tau));
  return inPlaces(terms.length, classes[0], trees.map((some) => some.reduce((sum, term) => sum + weight(term), 0)));
}

/** What becomes of leading terms as τ → 0: stochastic potentials, stable states and their shares. */
export function stableStates(terms) {
  const classes = closedClasses(terms);
  if (classes.length > 1) return null;
  const inside = classes[0];
  const trees = inside.map((root) => treesTo(terms, inside, root).map(({ term }) => term));
  const costs = trees.map((some) => Math.min(...some.map((term) => term.r)));
  const least = Math.min(...costs);
  const counted = trees.map((some) => some.reduce((sum, { c, r }) => sum + (r === least ? c : 0), 0));
  const potentials = terms.map((_, state) => (inside.includes(state) ? costs[inside.indexOf(state)] : null));
  const stable = inside.filter((_, k) => costs[k] === least);
  return { potentials, stable, limit: inPlaces(terms.length, inside, counted), inside };
}

/** A tree of least resistance; of several, the first. */
export function leastTree(terms, inside, root) {
  const trees = treesTo(terms, inside, root);
  return trees.reduce((best, tree) => (tree.term.r < best.term.r ? tree : best)).parent;
}

function inPlaces(size, places, weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const law = Array(size).fill(0);
  places.forEach((place, k) => {
    law[place] = weights[k] / total;
  });
  return law;
}
