/* Search as people ask: pages are ranked by how many words of a question they have and how rare those are, the answers of
   "How do I" first. One word too many, a synonym or a slip of the keyboard does not hide the right page. */
"use strict";

const IDLE = new Set(
  `a about after all am an and any anything are as at be been before but by can could did do does doing don exist explain
  find for from get gets getting give given go had has have help her how i if in into is it its just know let like list
  look make makes mean meaning means me my need no not of on one or other our out own please possible potentia s set
  several should show so some something than that the their them then there these they this those through to try two up
  us use used using want was way we were what when where which while who why will with without work would you your`
    .trim().split(/\s+/),
);

/* What people say, and what pages say. */
const ALSO = {
  abort: "interrupted", aborted: "interrupted", killed: "interrupted", crash: "interrupted", crashed: "interrupted",
  restart: "continue interrupted", restarted: "continue interrupted", resume: "continue interrupted",
  resumed: "continue interrupted", continue: "resume", stopped: "interrupted",
  checkpoint: "save resume", checkpoints: "save resume", checkpointing: "save resume", store: "save", persist: "save",
  citation: "cite", citations: "cite", cited: "cite", bibtex: "cite",
  occlusion: "sight walls", obstacle: "walls sight", obstacles: "walls sight", visibility: "sight walls",
  visible: "sight walls", view: "sight", blocked: "walls", block: "walls hide", obstruct: "walls hide", barrier: "walls",
  buildings: "walls",
  vectorised: "copies", vectorized: "copies", batched: "copies", gym: "environment", gymnasium: "environment",
  pettingzoo: "environment",
  budget: "number", policy: "learner agent", agent: "player", agents: "players",
  annealing: "temperature fall", schedule: "annealing", cooling: "annealing", noise: "temperature", beta: "temperature",
  rationality: "temperature", define: "write", create: "write", implement: "write", custom: "own", add: "more",
  more: "add", payoff: "utility", reward: "utility", cost: "utility", equilibrium: "nash", equilibria: "nash",
  video: "film", movie: "film", animation: "animate", plot: "figure", graph: "network", chart: "figure", draw: "plot",
  export: "csv", dataframe: "pandas", spreadsheet: "csv", parallel: "cores", multiprocessing: "cores", gpu: "speed",
  slow: "faster", performance: "speed", convergence: "hitting mixing", significance: "significant", pvalue: "significant",
  dropout: "fail", failure: "fail", broken: "fail", bug: "debug problem", terrain: "map",
  sensor: "robots", drone: "robots", bandit: "q", rl: "reinforcement", definition: "glossary",
  hyperparameter: "sweep", tuning: "sweep", replicate: "reproduce", replication: "reproduce",
  deterministic: "reproducible", determinism: "reproducible", efficient: "optimum", efficiency: "anarchy",
};

/* British and American spellings, for words of any ending. */
const spelt = (word) => [
  word.replace(/iz(e|es|ed|ing|er|ers|ation|ations)$/, "is$1"),
  word.replace(/is(e|es|ed|ing|er|ers|ation|ations)$/, "iz$1"),
  word.replace(/or(s|ed|ing|ful|hood|hoods)?$/, "our$1"),
];

const wordsOf = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);

/* Whether one slip apart, or two where words are long: a letter more, less, another, or two of them swapped. */
const slips = (one, two) => {
  const most = one.length > 7 ? 2 : 1;
  if (Math.abs(one.length - two.length) > most || one[0] !== two[0]) return false;
  let [older, old] = [[], [...Array(two.length + 1).keys()]];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= two.length; j++) {
      row[j] = Math.min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (one[i - 1] !== two[j - 1]));
      if (i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1]) {
        row[j] = Math.min(row[j], older[j - 2] + 1);
      }
    }
    [older, old] = [old, row];
  }
  return old[two.length] <= most;
};

/* Each stem that a word of a question may stand for, with what it counts. */
const stemsOf = (word, stem, known) => {
  const found = new Map();
  const put = (one, value) => found.set(one, Math.max(value, found.get(one) ?? 0));
  for (const also of (Object.hasOwn(ALSO, word) ? ALSO[word] : "").split(" ").filter(Boolean)) put(stem(also), 0.7);
  for (const one of [word, ...spelt(word)]) put(stem(one), 1);
  if ([...found.keys()].some((one) => known.has(one))) return found;
  const part = stem(word);
  if (part.length > 2) for (const one of known) if (one.startsWith(part)) put(one, 0.6);
  if (part.length > 3 && ![...found.keys()].some((one) => known.has(one))) {
    for (const one of known) if (slips(part, one)) put(one, 0.5);
  }
  return found;
};

/* Numbers of pages, best first, each with its score and the heading that has most of the words. */
const rank = (query, index, stem) => {
  const known = new Set([...Object.keys(index.terms), ...Object.keys(index.titleterms)]);
  const said = [...new Set(wordsOf(query))];
  const asked = said.filter((word) => !IDLE.has(word) && !/^\d+$/.test(word));
  const words = (asked.length ? asked : said).map((word) => stemsOf(word, stem, known));
  const files = (table, one) => (Object.hasOwn(table, one) ? [table[one]].flat() : []);
  const scores = new Map();
  const worths = words.map((stems) => {
    const best = new Map();
    for (const [one, value] of stems) {
      for (const file of files(index.terms, one)) best.set(file, Math.max(value, best.get(file) ?? 0));
      for (const file of files(index.titleterms, one)) best.set(file, Math.max(3 * value, best.get(file) ?? 0));
    }
    const rare = best.size ? Math.log(1 + index.docnames.length / best.size) : 0;
    for (const [file, value] of best) {
      const score = scores.get(file) ?? { file, words: 0, score: 0, anchor: "", heading: null, best: 0 };
      score.words += 1;
      score.score += value * rare;
      scores.set(file, score);
    }
    return rare;
  });
  const sought = wordsOf(query).join(" ");
  for (const [title, places] of Object.entries(index.alltitles)) {
    const plain = wordsOf(title);
    const stems = new Set(plain.map(stem));
    let sum = plain.join(" ") === sought ? 20 : 0.3 * said.filter((word) => plain.includes(word)).length;
    words.forEach((ones, k) => {
      sum += worths[k] * Math.max(0, ...[...ones].map(([one, value]) => (stems.has(one) ? value : 0)));
    });
    sum *= 1 + 1 / (2 + plain.length);
    for (const [file, anchor] of places) {
      const score = scores.get(file);
      if (score && sum > score.best) Object.assign(score, { best: sum, anchor: anchor ? `#${anchor}` : "", heading: title });
    }
  }
  const meant = /\b(mean|means|meaning|definition|defined|what (is|are))\b/i.test(query);
  const weight = (name) => {
    if (name.startsWith("how/")) return 1.5;
    if (name === "glossary") return meant ? 2 : 0.5;
    return /^(reference|changelog|gallery)/.test(name) ? 0.6 : 1;
  };
  for (const score of scores.values()) {
    const share = score.words / words.length;
    score.score = (score.score + 2 * score.best) * share * weight(index.docnames[score.file]);
  }
  return [...scores.values()].sort((a, b) => b.score - a.score || a.file - b.file).slice(0, 30);
};

if (typeof Search !== "undefined") {
  const together = Search._performSearch;
  const stemmer = new Stemmer();
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false; // pages cannot read others there

  /* The last one is shown first. Names of the reference come first where the question looks like one. */
  Search._performSearch = (query, ...rest) => {
    const index = Search._index;
    const named = together(query, ...rest).filter((one) => one[6] === "object" && one[4] > 10).slice(-8).reverse();
    const before = /[._(]|[a-z][A-Z]/.test(query) ? 0 : 5;
    const pages = rank(query, index, (word) => stemmer.stemWord(word)).map(({ file, score, anchor, heading }) => {
      const page = index.titles[file];
      const title = anchor && heading !== page ? `${page} > ${heading}` : page;
      return [index.docnames[file], title, anchor, null, Math.round(10 * score), index.filenames[file], "title"];
    });
    return [...pages.slice(0, before), ...named, ...pages.slice(before)].reverse();
  };

  const asked = Search.query;
  Search.query = (query) => {
    asked(query);
    if (Search.output.childElementCount) return;
    Search.status.innerText = "No page has any of these words. Try other ones, or look under “How do I …?”.";
  };
}
