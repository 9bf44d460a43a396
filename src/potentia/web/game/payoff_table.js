// The payoff table of two players, to edit; of more players, a list to read.

import { element, setText } from "../viewer/dom.js";
import { numberField, numberIn } from "../viewer/numbers.js";
import { profileName } from "./profiles.js";
import { LARGEST_PAYOFF } from "./settings.js";
import { significant } from "./solver/texts.js";

const MOST_EDITED = 6; // actions of each player
const MOST_LISTED = 64;

/** Build the table in host; onEdit(payoffs) is called with new ones, onProblem(sentence) where a number is none, "" where it is one. */
export function createPayoffTable(host, { onEdit, onProblem }) {
  let shape = "";
  let inputs = [];
  let marks = [];

  function build(payoffs) {
    host.replaceChildren();
    [inputs, marks] = [[], []];
    const [rows, columns] = [payoffs[0].length, payoffs[0][0].length];
    const head = element("tr", {}, element("td"));
    for (let b = 0; b < columns; b += 1) head.append(element("th", { scope: "col", text: `action ${b}` }));
    const body = element("tbody");
    for (let a = 0; a < rows; a += 1) {
      const row = element("tr", {}, element("th", { scope: "row", text: `action ${a}` }));
      for (let b = 0; b < columns; b += 1) {
        const pair = [0, 1].map((player) => makeInput(player, a, b));
        const mark = element("span", { class: "gs-cell-mark" });
        marks.push(mark);
        row.append(element("td", {}, element("span", { class: "gs-pair" }, ...pair), mark));
      }
      body.append(row);
    }
    const caption = element("caption", {}, "rows: ", who(0), ", columns: ", who(1));
    const table = element("table", { class: columns > 2 ? "gs-payoffs gs-many" : "gs-payoffs" }, caption, element("thead", {}, head), body);
    host.append(element("div", { class: "gs-wide" }, table));
  }

  const who = (player) => element("b", { class: `gs-player-${player}`, text: `player ${player}` });

  function makeInput(player, a, b) {
    const label = `payoff of player ${player} at (${a}, ${b})`;
    const input = numberField({ step: 1, class: `gs-player-${player}`, "aria-label": label });
    const one = { input, player, a, b, before: "" };
    const wanted = `must be a number from −${LARGEST_PAYOFF.toExponential()} to ${LARGEST_PAYOFF.toExponential()}`;
    input.addEventListener("focus", () => {
      one.before = String(tables[player][a][b]);
    });
    input.addEventListener("input", () => {
      const value = numberIn(input);
      const fits = Math.abs(value) <= LARGEST_PAYOFF;
      onProblem(fits ? "" : `The ${label} ${wanted}.`);
      if (!fits) return input.setAttribute("aria-invalid", "true");
      input.removeAttribute("aria-invalid");
      return edit(one, value);
    });
    input.addEventListener("change", () => {
      if (!input.hasAttribute("aria-invalid")) return;
      input.removeAttribute("aria-invalid");
      const given = input.value.trim();
      edit(one, Number(one.before));
      onProblem(`The ${label} ${wanted}${given && `, got ${given.slice(0, 20)}`}; it is ${one.before} as before.`);
    });
    inputs.push(one);
    return input;
  }

  /** Edits build on each other, whether an answer came in between or not. */
  function edit({ player, a, b }, value) {
    tables = tables.map((table) => table.map((row) => [...row]));
    tables[player][a][b] = value;
    onEdit(tables);
  }

  let tables = null;
  return {
    /** Shows payoffs; the numbers that somebody types stay as they are typed. */
    show(payoffs) {
      tables = payoffs;
      const sizes = `${payoffs[0].length}×${payoffs[0][0].length}`;
      if (sizes !== shape || !inputs[0].input.isConnected) build(payoffs);
      shape = sizes;
      for (const { input, player, a, b } of inputs) {
        const value = payoffs[player][a][b];
        const typed = input.hasAttribute("aria-invalid") && input === document.activeElement; // and not yet a number
        if (!typed && numberIn(input) !== value) input.value = String(value);
      }
    },
    /** Marks the cells: their potential, equilibria and maximisers. */
    mark({ potential, nash, maximisers }) {
      marks.forEach((mark, place) => {
        const phi = potential ? `Φ ${significant(potential[place])}${maximisers.includes(place) ? " ★" : ""}` : "";
        setText(mark, [phi, nash.includes(place) ? "Nash" : ""].filter(Boolean).join(" · ") || "\u00a0");
      });
    },
  };
}

/** How many actions two players have; onSize(rows, columns) is called where that is chosen. */
export function createSizes(onSize) {
  const counts = [0, 1].map((player) => {
    const chosen = () => onSize(...counts.map((count) => Number(count.value)));
    const select = element("select", { "aria-label": `Number of actions of player ${player}`, onchange: chosen });
    for (let count = 2; count <= MOST_EDITED; count += 1) select.append(element("option", { text: String(count) }));
    return select;
  });
  const row = element("span", { class: "gs-row gs-sizes" }, "actions ", counts[0], " × ", counts[1]);
  const show = (payoffs) => {
    row.hidden = !payoffs;
    if (payoffs) counts.forEach((select, k) => (select.value = String(k ? payoffs[0][0].length : payoffs[0].length)));
  };
  return { row, show };
}

/** The same payoffs for other numbers of actions: of those that are new, 0. */
export function resized(payoffs, rows, columns) {
  const at = (table, a, b) => table[a]?.[b] ?? 0;
  const list = (count, make) => Array.from({ length: count }, (_, k) => make(k));
  return payoffs.map((table) => list(rows, (a) => list(columns, (b) => at(table, a, b))));
}

/** Whether a table of these can be edited. */
export function canEdit(payoffs) {
  return payoffs?.length === 2 && payoffs[0].length <= MOST_EDITED && payoffs[0][0].length <= MOST_EDITED;
}

/** The payoffs of any game as a list of profiles. */
export function listPayoffs(host, { payoffs, actions, nash, maximisers }) {
  const places = payoffs[0].map((_, place) => place);
  const rows = places.slice(0, MOST_LISTED).map((place) => {
    const text = `${maximisers?.includes(place) ? "★ " : ""}${nash.includes(place) ? "Nash" : ""}`.trim();
    const cells = payoffs.map((row) => element("td", { class: "pv-number pv-right", text: significant(row[place]) }));
    const name = element("th", { scope: "row", text: profileName(place, actions) });
    return element("tr", {}, name, ...cells, element("td", { text }));
  });
  const names = ["profile", ...payoffs.map((_, player) => `player ${player}`), ""];
  const head = element("tr", {}, ...names.map((text) => element("th", { scope: "col", text })));
  const table = element("table", { class: "pv-table" }, element("thead", {}, head), element("tbody", {}, ...rows));
  const look = { class: "pv-scroll gs-list", tabindex: "0", role: "region", "aria-label": "Payoffs" };
  const box = element("div", look, table);
  host.replaceChildren(box);
  const more = places.length - MOST_LISTED;
  if (more > 0) host.append(element("p", { class: "pv-quiet", text: `and ${more} more` }));
}
