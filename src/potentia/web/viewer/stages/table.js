// A small game: the rule's chain as a graph, and what is known about the profile that is played now.

import { PALETTE } from "../colours.js";
import { setText } from "../dom.js";
import { formatCount, formatNumber, formatPercent, formatShare } from "../format.js";
import { firstChange } from "../names.js";
import { shortAction } from "./actions.js";
import { ChainGraph } from "./chain_graph.js";
import { Occupation } from "./occupation.js";
import { addElement, playerName, roomIn } from "./parts.js";

const TABLES_WIDTH = 215; // room for the tables beside the graph
const EVEN_CELLS = { fontVariantNumeric: "tabular-nums", whiteSpace: "nowrap" }; // numbers that change keep their width
const CELL_STYLE = { padding: "0.15em 0.6em", textAlign: "right", ...EVEN_CELLS };
const NAME_STYLE = { ...CELL_STYLE, whiteSpace: "normal" };
const SCORED = ["ql", "soql", "score"]; // rules that remember scores
const LONGEST_PROFILE = 24; // letters; longer ones are told by the numbers in the graph

export function createTableStage(host, timeline, context) {
  const occupation = new Occupation(timeline);
  const { payoffs, potential, stationary } = timeline.recording.arrays;
  const players = timeline.profile.length;
  const law = Boolean(timeline.recording.header.table?.law);
  const row = addElement(host, "div", { style: { display: "flex", flexWrap: "wrap", gap: "0.5em 1.5em" } });
  const graph = new ChainGraph(row, timeline, occupation, context);
  const aside = addElement(row, "div", { style: { flex: `1 1 ${TABLES_WIDTH}px`, minWidth: "0" } });
  const own = addOwnPayoffs(aside);
  const table = players === 2 ? addPayoffTable(aside) : null;
  const names = ["Potential", "Long-run share", "This profile so far", "Last change"];
  const facts = addFacts(aside, names, 2 + Boolean(potential) + law);
  const note = addElement(host, "p", { name: "stage-note", style: { margin: "0.4em 0" } });
  const whose = context.single ? "" : `, ${timeline.recording.label}`;
  let seen = null; // the profile by whose names tables have their widths
  const until = firstChange(timeline.recording); // the law is that of the first rule

  /** Whether the rule of this step is that of the chain. */
  function holds() {
    return law && timeline.step < until;
  }

  function legend() {
    const marks = "Orange: the profile now and the last change.";
    if (!law) return `${marks} ${whyNoChain(timeline.recording.header)}`;
    if (!holds()) return `${marks} Since step ${formatCount(until)} another rule is played, whose chain is not shown here.`;
    const most = formatShare(stationary.reduce((largest, share) => Math.max(largest, share), 0));
    return `${marks} Blue area: the share of time in the long run, at most ${most}. Lines: a step's probability.`;
  }

  function resize() {
    const room = roomIn(host);
    const beside = room - TABLES_WIDTH - 30;
    graph.build(beside >= graph.wanted ? beside : room);
    table?.paint(context.theme());
    seen = null;
    draw();
  }

  function draw() {
    const now = occupation.profileAt(timeline.step);
    const move = occupation.lastMove(timeline.step);
    graph.draw(now, move);
    graph.showLaw(holds());
    setText(note, legend());
    facts([
      potential ? shortNumber(potential[now]) : null,
      law ? (holds() ? formatShare(stationary[now]) : `not known since step ${formatCount(until)}`) : null,
      `${formatPercent(occupation.shares(timeline.step)[now])} of the time`,
      move ? `step\u00a0${formatCount(move.step)}, from\u00a0${onOneLine(move.from)}` : "none yet",
    ]);
    own(now);
    table?.draw(now);
    if (seen !== now) for (const box of host.querySelectorAll(".stage-scroll")) letScroll(box, whose);
    seen = now;
    graph.svg.setAttribute("aria-label", describe());
  }

  function onOneLine(number) {
    const name = graph.fullName(number);
    return name.length > LONGEST_PROFILE ? `(${graph.shortName(number)})` : name.replaceAll(" ", "\u00a0");
  }

  function payoffOf(player, number) {
    return payoffs[player * occupation.count + number];
  }

  /** One column per player: what it plays now and what it gets. */
  function addOwnPayoffs(parent) {
    const made = addTable(parent, "Actions and payoffs now");
    const heads = addElement(made, "tr");
    addElement(heads, "td");
    const rows = ["plays", "gets"].map((text) => {
      const line = addElement(made, "tr");
      const look = { ...CELL_STYLE, textAlign: "left", fontWeight: "normal" };
      addElement(line, "th", { text, attributes: { scope: "row" }, style: look });
      return line;
    });
    const cells = rows.map(() => []);
    for (let player = 0; player < players; player++) {
      addElement(heads, "th", { text: playerName(timeline, player), attributes: { scope: "col" }, style: NAME_STYLE });
      rows.forEach((line, k) => cells[k].push(addElement(line, "td", { style: CELL_STYLE })));
    }
    return (now) => {
      for (let player = 0; player < players; player++) {
        cells[0][player].textContent = shortAction(timeline, occupation.actionOf(now, player), player);
        cells[1][player].textContent = shortNumber(payoffOf(player, now));
      }
    };
  }

  function addPayoffTable(parent) {
    const made = addTable(parent, `Payoffs of ${playerName(timeline, 0)}, ${playerName(timeline, 1)}`);
    const heads = addElement(made, "tr");
    addElement(heads, "td");
    const columns = timeline.actionsOf(1);
    for (let a = 0; a < columns; a++) {
      addElement(heads, "th", { text: shortAction(timeline, a, 1), attributes: { scope: "col" }, style: NAME_STYLE });
    }
    const cells = [];
    for (let a = 0; a < timeline.actionsOf(0); a++) {
      const line = addElement(made, "tr");
      addElement(line, "th", { text: shortAction(timeline, a, 0), attributes: { scope: "row" }, style: NAME_STYLE });
      for (let b = 0; b < columns; b++) {
        const text = [0, 1].map((player) => shortNumber(payoffOf(player, cells.length))).join(", ");
        cells.push(addElement(line, "td", { text, style: CELL_STYLE }));
      }
    }
    let marked = null;
    return {
      paint(theme) {
        for (const cell of cells) cell.style.border = `1px solid ${theme.faint}`;
      },
      draw(now) {
        if (marked === now) return;
        if (marked !== null) markCell(cells[marked], false);
        markCell(cells[now], true);
        marked = now;
      },
    };
  }

  function describe() {
    const now = occupation.profileAt(timeline.step);
    const gets = Array.from({ length: players }, (_, player) => shortNumber(payoffOf(player, now))).join(", ");
    const share = formatPercent(occupation.shares(timeline.step)[now]);
    const known = [
      `Step ${formatCount(timeline.step)}: the profile is ${graph.fullName(now)}, payoffs ${gets}`,
      potential ? `potential ${shortNumber(potential[now])}` : "",
      holds() ? `${formatShare(stationary[now])} of the time in the long run` : "",
      `${share} of the time so far`,
    ];
    return `${known.filter(Boolean).join("; ")}.`;
  }

  resize();
  return { draw, resize, describe };
}

/** Why there is no chain over profiles, where it is plain. */
function whyNoChain({ belief, keyframes, rule }) {
  if (belief) return "No chain: players have beliefs.";
  if (keyframes?.scores || SCORED.includes(rule?.name)) {
    return "No chain: players remember scores.";
  }
  if (rule?.spec?.tau?.kind) return "No chain: the temperature changes.";
  return "The rule's chain is not in this recording.";
}

/** Payoffs are mostly round: 3.5 and not 3.500. */
function shortNumber(value) {
  return formatNumber(value).replace(/^([^e]*\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function markCell(cell, current) {
  cell.style.outline = current ? `3px solid ${PALETTE[1]}` : "";
  cell.style.outlineOffset = "-2px"; // within the cell: nothing moves
  if (current) cell.setAttribute("aria-current", "true");
  else cell.removeAttribute("aria-current");
}

/** A table that scrolls where it is too wide. */
function addTable(parent, title) {
  const box = addElement(parent, "div", { name: "stage-scroll" });
  Object.assign(box.style, { overflowX: "auto", margin: "0.6em 0" });
  const table = addElement(box, "table", { style: { borderCollapse: "collapse" } });
  const look = { textAlign: "left", paddingBottom: "0.2em", whiteSpace: "nowrap" };
  addElement(table, "caption", { text: title, style: look });
  return addElement(table, "tbody");
}

/** What scrolls must be reached by keyboard; what does not should not be stopped at. */
function letScroll(box, whose) {
  const wide = box.scrollWidth > box.clientWidth + 1;
  const title = box.querySelector("caption").textContent + whose;
  for (const [name, value] of Object.entries({ tabindex: "0", role: "region", "aria-label": title })) {
    if (wide) box.setAttribute(name, value);
    else box.removeAttribute(name);
  }
}

/** Names with values; rows whose value is null are left out. There is room for `most` of them, one on two lines. */
function addFacts(parent, names, most) {
  const list = addElement(parent, "dl", { name: "stage-facts" });
  Object.assign(list.style, { display: "grid", gridTemplateColumns: "auto 1fr", gap: "0.15em 0.7em", margin: "0.4em 0", alignContent: "start", minHeight: `${1.6 * (most + 1)}em` });
  const rows = names.map((text) => ({
    term: addElement(list, "dt", { text }),
    value: addElement(list, "dd", { style: { margin: "0", fontVariantNumeric: "tabular-nums" } }),
  }));
  return (values) =>
    rows.forEach(({ term, value }, k) => {
      term.hidden = value.hidden = values[k] === null;
      value.textContent = values[k] ?? "";
    });
}
