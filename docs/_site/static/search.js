/* Search as people ask: pages whose titles have more of the words come first, and where no page has all of the words,
   those that have most of them are shown. */
const together = Search._performSearch;

Search._performSearch = (query, terms, excluded, highlighted, objects) => {
  const all = together(query, terms, excluded, highlighted, objects);
  if (terms.size < 2) return all;
  const place = (result) => `${result[0]}${result[2]}${result[1]}`;
  const pages = new Map();
  for (const term of terms) {
    for (const result of together(term, new Set([term]), excluded, highlighted, new Set())) {
      const page = pages.get(place(result)) ?? { result, words: 0, score: 0 };
      page.words += 1;
      page.score += Math.min(result[4], 20);
      pages.set(place(result), page);
    }
  }
  const score = (result) => result[4] + 3 * (pages.get(place(result))?.score ?? 0);
  if (all.length) return all.sort((a, b) => score(a) - score(b)); // the last one is shown first
  const most = Math.max(0, ...[...pages.values()].map((page) => page.words));
  return [...pages.values()]
    .filter((page) => page.words === most && most > 1)
    .sort((a, b) => a.score - b.score)
    .map((page) => page.result);
};
