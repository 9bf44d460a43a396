// Tables under the stages: the recordings now, the robots or players now, and the events.

import { optimumAt, sharedOptimum } from "./curves.js";
import { element, setText, setTitled } from "./dom.js";
import { counted, formatCount, formatNumber, formatPercent } from "./format.js";
import { formatPlace } from "./lengths.js";
import { makeMark } from "./marks.js";
import { labelAt } from "./names.js";
import { fateOf, wayName, wayText } from "./robots.js";
import { actionName } from "./stages/actions.js";
import { makeSwatch, paintSwatch } from "./swatches.js";
import { asOf, hasGaps, valueNow } from "./values.js";

const MOST_ROWS = 300; // robots in a table
const MOST_EVENTS = 500;

function tableIn(host, title, columns) {
  const body = element("tbody");
  const cells = columns.map((text, k) => element("th", { scope: "col", text, class: k ? "pv-right" : null }));
  const head = element("thead", {}, element("tr", {}, ...cells));
  const caption = element("caption", { class: "pv-hidden", text: title });
  const table = element("table", { class: "pv-table" }, caption, head, body);
  const box = { class: "pv-scroll", tabindex: "0", role: "region", "aria-label": title };
  host.append(element("div", box, table));
  return body;
}

/** Fill a row with cells, the first of which names it; returns the cells whose text changes. */
function addRow(body, first, count) {
  const cells = Array.from({ length: count }, () => element("td", { class: "pv-right pv-number" }));
  body.append(element("tr", {}, element("th", { scope: "row" }, first), ...cells));
  return cells;
}

/** Every series of every recording at this step. */
export function createComparison(host, timelines, { stateOf }, looks) {
  const known = new Map();
  for (const { recording } of timelines) {
    for (const { name, label, unit, length } of recording.header.series) {
      known.set(name, length ? `${label} (${unit})` : label);
    }
  }
  const shared = timelines.map(({ recording }) => sharedOptimum(recording, recording.header.optimum?.series));
  const bounded = shared.some((optimum) => optimum?.text === "upper bound");
  const words = `share of the ${bounded ? "bound" : "optimum"}`;
  const columns = ["recording", ...known.values(), ...(shared.some(Boolean) ? [words] : []), "changes so far"];
  const body = tableIn(host, "The recordings at this step", columns);
  const swatches = [];
  const labels = [];
  const rows = timelines.map(({ recording }) => {
    swatches.push(makeSwatch());
    const label = element("span", { class: "pv-label", text: recording.label, title: recording.label });
    labels.push(label);
    const who = element("span", { class: "pv-who-cell" }, swatches[swatches.length - 1], label);
    return addRow(body, who, columns.length - 1);
  });
  const names = [...known.keys()];
  const note = element("p", { class: "pv-quiet pv-as-of", hidden: !hasGaps(timelines, names) });
  host.append(note);
  const draw = () => {
    const values = timelines.map((timeline) => names.map((name) => valueNow(timeline, stateOf(timeline), name)));
    const older = names.map((_, at) => asOf(timelines, values.map((row) => row[at])));
    const told = new Map(); // which series are of which steps
    older.forEach((when, at) => when && told.set(when, [...(told.get(when) ?? []), known.get(names[at])]));
    setText(note, [...told].map(([when, labels]) => `${labels.join(", ")}: ${when}`).join("; "));
    timelines.forEach((timeline, k) => {
      setTitled(labels[k], labelAt(timeline));
      const texts = values[k].map(({ value }) => formatNumber(value));
      if (shared.some(Boolean)) {
        const at = names.indexOf(timeline.recording.header.optimum?.series);
        const value = values[k][at]?.value ?? NaN;
        texts.push(shared[k] ? formatPercent(value / optimumAt(shared[k], timeline.step)) : "–");
      }
      texts.push(formatCount(timeline.changesUpTo(timeline.step)));
      texts.forEach((text, at) => setText(rows[k][at], text));
    });
  };
  const colour = () => looks().forEach((look, k) => paintSwatch(swatches[k], look));
  colour();
  return { draw, resize: colour };
}

/** The robots of a map, or the players of another game, of one recording at a time; null if they are too many. */
export function createRoster(host, timelines, context) {
  const fits = timelines.map((timeline) => timeline.players <= MOST_ROWS);
  if (!fits.some(Boolean)) return null;
  const noun = timelines[0].recording.header.game.player || "player";
  const choice = element("select", { "aria-label": `Whose ${noun}s` });
  timelines.forEach(({ recording }, k) => {
    if (fits[k]) choice.append(element("option", { value: String(k), text: recording.label }));
  });
  const title = `${noun[0].toUpperCase()}${noun.slice(1)}s`;
  const head = element("div", { class: "pv-section-head" }, element("h2", { text: title }), choice);
  choice.hidden = timelines.length < 2;
  const place = element("div");
  host.append(head, place);
  let shown = null;
  const build = () => {
    const timeline = timelines[Number(choice.value)];
    const map = timeline.recording.header.game.kind === "map";
    const columns = map ? robotColumns(context.stateOf(timeline)) : ["plays", "changes"];
    place.replaceChildren();
    const body = tableIn(place, title, [noun, ...columns]);
    const rows = Array.from({ length: timeline.players }, (_, player) => {
      const name = { type: "button", class: "pv-link", text: String(player), "aria-label": `Choose ${noun} ${player}` };
      const cells = addRow(body, element("button", { ...name, onclick: () => context.onSelect(player) }), columns.length);
      if (columns[0] === "state") cells[0].classList.remove("pv-number"); // words, which may break
      return cells;
    });
    shown = { timeline, map, rows, body };
  };
  const draw = () => {
    const { timeline, map, rows } = shown;
    for (const option of choice.options) setText(option, labelAt(timelines[Number(option.value)]));
    const state = map ? context.stateOf(timeline) : null;
    rows.forEach((cells, player) => {
      const texts = map ? robotTexts(state, player) : playerTexts(timeline, player);
      texts.forEach((text, k) => setText(cells[k], text));
      if (map) cells[0].parentNode.classList.toggle("pv-gone", !state.isThere(player));
    });
  };
  const select = (player) => {
    [...shown.body.children].forEach((row, k) => row.classList.toggle("pv-chosen", k === player));
  };
  choice.addEventListener("change", () => {
    build();
    draw();
    select(context.selected());
  });
  build();
  return { draw, select };
}

function robotColumns(state) {
  const { lengths } = state;
  const places = lengths.places ? [lengths.names()] : [];
  const way = ["distance", wayName(state), `(${lengths.unit})`].filter(Boolean).join(" ");
  return [...(state.until ? ["state"] : []), "cell (x,\u00a0y)", ...places, "worth covered", way, "moves"];
}

function robotTexts(state, robot) {
  const fate = fateOf(state, robot);
  const cell = state.cellOf(robot);
  const [x, y] = [cell % state.columns, Math.floor(cell / state.columns)];
  const places = state.lengths.places ? [state.lengths.at(x, y).map(formatPlace).join(", ")] : [];
  const done = [formatNumber(state.worthOf(robot)), wayText(state, robot), formatCount(state.timeline.changesOf(robot))];
  const texts = [`${x}, ${y}`, ...places, ...done];
  const shown = fate && !state.isLost(robot) ? texts.map(() => "–") : texts; // it is nowhere yet
  return state.until ? [fate, ...shown] : shown;
}

function playerTexts(timeline, player) {
  return [actionName(timeline, timeline.profile[player], player), formatCount(timeline.changesOf(player))];
}

/** A list of events; each is a button that jumps there. Returns null where there are none. */
export function createEvents(host, timelines, onSeek, looks) {
  const all = timelines.flatMap(({ recording }, run) =>
    recording.header.events.map((event) => ({ event, recording, run })),
  );
  if (!all.length) return null;
  all.sort((a, b) => a.event.step - b.event.step);
  const list = element("ol", { class: "pv-events" });
  const items = all.slice(0, MOST_EVENTS).map(({ event, recording, run }) => {
    const step = element("span", { class: "pv-number pv-event-step", text: formatCount(event.step) });
    const mark = makeMark(event.kind);
    const kind = element("span", { class: "pv-kind" }, mark.svg, event.kind);
    const who = timelines.length > 1 ? `${recording.label}: ` : "";
    const words = element("span", { text: who + event.text });
    const button = { type: "button", class: "pv-link", onclick: () => onSeek(event.step) };
    const item = element("li", {}, element("button", button, step, kind, words));
    list.append(item);
    return { item, step: event.step, paint: () => mark.paint(looks()[run].colour) };
  });
  const out = timelines.reduce((sum, { recording }) => sum + (recording.header.events_left_out ?? 0), 0);
  const listed = all.length > MOST_EVENTS ? `, the first ${MOST_EVENTS} listed` : "";
  const more = listed + (out ? `, ${formatCount(out)} more left out` : "");
  const head = element("h2", { text: `Events: ${counted(all.length, "mark")} on the timeline${more}` });
  const box = { class: "pv-scroll", tabindex: "0", role: "region", "aria-label": "Events" };
  host.append(element("div", { class: "pv-section-head" }, head), element("div", box, list));
  const resize = () => items.forEach(({ paint }) => paint());
  resize();
  return {
    resize,
    draw(step) {
      for (const each of items) each.item.classList.toggle("pv-past", each.step <= step);
    },
  };
}
