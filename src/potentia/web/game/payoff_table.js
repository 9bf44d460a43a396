// The payoff table of two players, to edit; of more players, a list to read.

import { element, setText } from "../viewer/dom.js";
import { profileName } from "./profiles.js";
import { LARGEST_PAYOFF } from "./settings.js";
import { significant } from "./solver/texts.js";

const MOST_EDITED = 6; // actions of each player
const MOST_LISTED = 64;

/** Build the table in host; onEdit(payoffs) is called with new ones, onProblem(sentence) where a number is none. */
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
    const look = { type: "number", step: "any", class: `gs-player-${player}`, "aria-label": label };
    const input = element("input", { ...look, oninput: () => edit(input, label) });
    input.addEventListener("change", () => {
      if (input.getAttribute("aria-invalid")) input.value = input.dataset.known;
      input.removeAttribute("aria-invalid");
    });
    inputs.push({ input, player, a, b });
    return input;
  }

  function edit(input, label) {
    const value = input.value === "" ? NaN : Number(input.value);
    if (!(Math.abs(value) <= LARGEST_PAYOFF)) {
      input.setAttribute("aria-invalid", "true");
      onProblem(`The ${label} must be a number of at most ${LARGEST_PAYOFF.toExponential()} in size.`);
      return;
    }
    input.removeAttribute("aria-invalid");
    const next = tables.map((table) => table.map((row) => [...row]));
    inputs.forEach((one) => {
      if (one.input === input) next[one.player][one.a][one.b] = value;
    });
    onEdit(next);
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
        input.dataset.known = String(value);
        if (input.value === "" || Number(input.value) !== value) input.value = String(value);
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
