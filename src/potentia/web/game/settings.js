// The state of the game stage as plain data: the game, the rule and its parameters, and what is shown of them.

export const LEAST_TAU = 0.02;
export const LARGEST_TAU = 5;
export const LARGEST_PAYOFF = 1e9;

export const EXAMPLES = {
  "stag-hunt": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]],
  "double-step": [[[0, 3], [2, 2]], [[2, 3], [2, 0]]],
  coordination: [[[2, 0], [0, 1]], [[2, 0], [0, 1]]],
  "prisoners-dilemma": [[[3, 0], [5, 1]], [[3, 5], [0, 1]]],
  "matching-pennies": [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]],
  "battle of the sexes": [[[2, 0], [0, 1]], [[1, 0], [0, 2]]],
  chicken: [[[3, 1], [4, 0]], [[3, 4], [1, 0]]],
  "weakly dominated": [[[1, 1], [1, 0]], [[1, 0], [1, 0]]],
};

const PLAIN = { guard: false, include_current: false, ties: "uniform", inertia: 0 };
const axes = (who, considers, chooses, more = {}) => ({ ...PLAIN, who, considers, chooses, ...more });

export const NAMED_RULES = {
  lll: axes("one", "all", "logit"),
  blll: axes("one", "trial", "logit"),
  slll: axes("independent", "all", "logit"),
  "p-sblll, joint": axes("independent", "joint-trial", "logit"),
  "p-sblll, unilateral": axes("independent", "trial", "logit"),
  "p-sblll, guard": axes("independent", "joint-trial", "logit", { guard: true }),
  "best-response": axes("one", "all", "best"),
  "better-reply": axes("one", "all", "better"),
  metropolis: axes("one", "trial", "metropolis"),
  mistakes: axes("one", "all", "mistakes"),
};

export const AXES = {
  who: { one: "a random player", independent: "whoever wakes", all: "everybody at once" },
  considers: { all: "every action", trial: "one other, alone", "joint-trial": "one other, at once" },
  chooses: {
    logit: "e^(u/τ)",
    best: "the best",
    better: "a better one",
    mistakes: "the best, or by mistake",
    metropolis: "min(1, e^(gain/τ))",
  },
};

export const FIRST_STATE = {
  game: null,
  payoffs: EXAMPLES["double-step"],
  rule: NAMED_RULES["p-sblll, joint"],
  tau: 0.3,
  revision: 0.3,
  limit: false,
  root: null,
  shown: null,
  lesson: null,
  flow: { tau: 1, discount: 0, start: [[0.7, 0.3], [0.6, 0.4]] },
};

const within = (value, low, high) => typeof value === "number" && value >= low && value <= high;

/** What a state must be, by field: a test and the words for it. */
const FIELDS = {
  payoffs: [isTable, `numbers from −${LARGEST_PAYOFF} to ${LARGEST_PAYOFF} in tables of one shape, one per player`],
  game: [(value) => value === null || typeof value?.name === "string", "a name with parameters"],
  rule: [isRule, "who, considers and chooses by their words, and their parameters"],
  tau: [(value) => within(value, 1e-4, 1e4), "a number from 0.0001 to 10000"],
  revision: [(value) => within(value, 1e-6, 1), "a number above 0 and at most 1"],
  limit: [(value) => typeof value === "boolean", "true or false"],
  root: [(value) => value === null || Number.isInteger(value), "the number of a profile, or null"],
  shown: [(value) => [null, "promise", "lemma", "cycle"].includes(value), "promise, lemma, cycle or null"],
  lesson: [(value) => [null, 0, 1, 2, 3, 4].includes(value), "the number of a lesson from 0 to 4, or null"],
  flow: [isFlow, "tau, discount and start"],
};

/** A state from data that somebody else wrote: what is missing is as at first, what is wrong is told. */
export function readState(given, first = FIRST_STATE) {
  if (typeof given !== "object" || given === null) throw new Error("a state must be an object");
  const state = { ...first };
  for (const [field, [test, wanted]] of Object.entries(FIELDS)) {
    if (!Object.hasOwn(given, field)) continue;
    if (!test(given[field])) throw new Error(`${field} must be ${wanted}`);
    state[field] = given[field];
  }
  state.rule = { ...PLAIN, ...state.rule };
  return state;
}

function shapeOf(table) {
  if (!Array.isArray(table)) return [];
  const inner = shapeOf(table[0]);
  return [table.length, ...inner];
}

function isTable(payoffs) {
  if (!Array.isArray(payoffs) || payoffs.length < 1 || payoffs.length > 8) return false;
  const [players, ...shape] = shapeOf(payoffs);
  const fits = (table, depth) =>
    depth === shape.length
      ? within(table, -LARGEST_PAYOFF, LARGEST_PAYOFF)
      : Array.isArray(table) && table.length === shape[depth] && table.every((row) => fits(row, depth + 1));
  return shape.length === players && payoffs.every((table) => fits(table, 0));
}

function isRule(rule) {
  if (typeof rule !== "object" || rule === null) return false;
  const known = Object.entries(AXES).every(([axis, words]) => Object.hasOwn(words, rule[axis]));
  const { guard = false, include_current: current = false, ties = "uniform", inertia = 0 } = rule;
  const flags = [guard, current].every((flag) => typeof flag === "boolean");
  const pairs = rule.chooses !== "metropolis" || rule.considers !== "all";
  return known && flags && pairs && ["uniform", "stay"].includes(ties) && within(inertia, 0, 0.99);
}

function isFlow(flow) {
  const inside = (share) => within(share, 0.0001, 1);
  const isStrategy = (shares) => Array.isArray(shares) && shares.every(inside);
  const isStart = Array.isArray(flow?.start) && flow.start.every(isStrategy);
  return isStart && within(flow.tau, 0.01, 100) && within(flow.discount, 0, 10);
}

/** The name under which a rule is in the list, or "". */
export function nameOfRule(rule) {
  const same = (other) => Object.entries(other).every(([key, value]) => rule[key] === value);
  return Object.keys(NAMED_RULES).find((name) => same(NAMED_RULES[name])) ?? "";
}

export function nameOfGame(payoffs) {
  const text = JSON.stringify(payoffs);
  return Object.keys(EXAMPLES).find((name) => JSON.stringify(EXAMPLES[name]) === text) ?? "";
}

/** What is asked about a state. */
export function messageOf(state, ask, more = {}) {
  const { payoffs, game, rule, tau, revision } = state;
  return { ask, ...(game ? { game } : { payoffs }), rule, tau, revision, ...more };
}
