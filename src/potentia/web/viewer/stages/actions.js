// Actions as names and colours, and the legend that says which is which.

import { actionColour, VIRIDIS } from "../colours.js";
import { formatCount } from "../format.js";
import { addElement, inWords } from "./parts.js";

export const MOST_COLOURS = 12; // the palette repeats after these; more actions are shades of one scale

/** The label of an action from the header, one list for all or one per player; its number where there is none. */
export function shortAction(timeline, action, player = 0) {
  return labelOf(timeline, action, player) ?? String(action);
}

/** The label of an action, or "action 0". */
export function actionName(timeline, action, player = 0) {
  return labelOf(timeline, action, player) ?? `action ${action}`;
}

function labelOf(timeline, action, player) {
  const labels = timeline.recording.header.game.actions;
  const own = Array.isArray(labels?.[player]) ? labels[player] : labels;
  const label = own?.[action];
  return typeof label === "string" ? label : null;
}

/** The most actions any player has. */
export function mostActions(timeline) {
  return timeline.recording.arrays.sizes.reduce((most, size) => Math.max(most, size), 1);
}

/** Colours "#rrggbb" of all actions by their number. */
export function actionColours(timeline) {
  const count = mostActions(timeline);
  const scaled = count > MOST_COLOURS;
  return Array.from({ length: count }, (_, action) =>
    scaled ? hexColour(VIRIDIS[Math.round((255 * action) / (count - 1))]) : actionColour(action),
  );
}

/** How many players play each action now. */
export function countActions(timeline, out) {
  out.fill(0);
  const profile = timeline.profile;
  for (let i = 0; i < profile.length; i++) out[profile[i]]++;
  return out;
}

/** The actions that most play, most first, ties by their number. One pass: there may be many actions. */
export function mostPlayed(counts, most) {
  const best = [];
  for (let action = 0; action < counts.length; action++) {
    if (best.length === most && counts[action] <= counts[best[most - 1]]) continue;
    let place = best.length;
    while (place > 0 && counts[best[place - 1]] < counts[action]) place--;
    best.splice(place, 0, action);
    if (best.length > most) best.pop();
  }
  return best;
}

/** "10 on left, 8 on right and 2 on other actions". */
export function playedInWords(timeline, counts) {
  const top = mostPlayed(counts, 6).filter((action) => counts[action] > 0);
  const parts = top.map((action) => `${formatCount(counts[action])} on ${actionName(timeline, action)}`);
  const others = top.reduce((left, action) => left - counts[action], timeline.profile.length);
  return inWords(others > 0 ? [...parts, `${formatCount(others)} on other actions`] : parts);
}

/** A legend that ends with what a ring means; the function it returns shows how many players play each action. */
export function addLegend(host, timeline, colours, note) {
  const list = addElement(host, "ul", {
    name: "stage-legend",
    attributes: { "aria-label": "actions" },
    style: { listStyle: "none", display: "flex", flexWrap: "wrap", gap: "0.2em 1em", padding: "0", margin: "0.4em 0" },
  });
  const shown = legendActions(colours.length);
  const numbers = shown.map((action) => {
    const item = addElement(list, "li", { style: { display: "flex", alignItems: "center", gap: "0.4em" } });
    const swatch = { width: "0.9em", height: "0.9em", borderRadius: "50%", background: colours[action], flex: "none" };
    addElement(item, "span", { style: swatch, attributes: { "aria-hidden": "true" } });
    addElement(item, "span", { text: actionName(timeline, action) });
    const minWidth = `${formatCount(timeline.profile.length).length}ch`; // room for the largest count: nothing moves
    return addElement(item, "span", { style: { minWidth, fontVariantNumeric: "tabular-nums", textAlign: "right" } });
  });
  const last = addElement(list, "li", { style: { display: "flex", alignItems: "center", gap: "0.4em" } });
  const ring = { width: "0.9em", height: "0.9em", borderRadius: "50%", border: "2px solid", flex: "none" };
  addElement(last, "span", { style: ring, attributes: { "aria-hidden": "true" } });
  addElement(last, "span", { text: note });
  return (counts) => numbers.forEach((number, k) => (number.textContent = formatCount(counts[shown[k]])));
}

/** All actions, or of many the first, the last and some between. */
function legendActions(count) {
  if (count <= MOST_COLOURS) return Array.from({ length: count }, (_, action) => action);
  return Array.from({ length: 5 }, (_, k) => Math.round((k * (count - 1)) / 4));
}

/** A packed pixel as "#rrggbb". */
function hexColour(pixel) {
  const parts = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
