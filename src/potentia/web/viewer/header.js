// What stands above the stages: what was played, and what to show of it.

import { element, setText } from "./dom.js";
import { counted, formatCount } from "./format.js";
import { MOST_CIRCLES } from "./stages/map.js";

const LONG_TITLE = 240; // letters, beyond which a title is cut, and with it what was played

export const WAYS = ["none", "recent", "whole"];

/** Build the header of a viewer; returns its title and what keeps it up to date. */
export function createHeader(root, viewer) {
  const headers = viewer.recordings.map((recording) => recording.header);
  const game = sameOf(headers.map((header) => header.game.text));
  const asked = sameOf(headers.map((header) => header.game.name ?? "")); // the name under which it was asked for
  const title = root.dataset.title || sameOf(headers.map((header) => header.title)) || asked || game || "Recordings";
  const belief = sameOf(headers.map((header) => header.belief?.text ?? ""));
  const words = element("div", { class: "pv-words" }, element("h1", { text: title, title }));
  if (game && (!title.includes(game) || title.length > LONG_TITLE)) words.append(element("p", { class: "pv-what", text: game }));
  if (belief) words.append(element("p", { class: "pv-what", text: beliefWords(headers, belief) }));
  const moment = element("span", { class: "pv-print-only" });
  words.append(element("p", { class: "pv-meta", text: factsOf(headers, viewer, title) }, moment));
  const options = createOptions(viewer);
  root.append(element("header", { class: "pv-header" }, words, options.box));
  const showStep = (step) => setText(moment, ` · at step ${formatCount(step)}`);
  return { title, showStep, ...options };
}

/** What was believed, and why it is not shown where it is not. */
function beliefWords(headers, belief) {
  if (headers.some((header) => header.keyframes?.belief)) return `Belief: ${belief}`;
  const why = headers.every(({ game }) => game.kind === "map")
    ? "What robots believed was not recorded."
    : "Recordings hold beliefs about maps only: what players expect of their actions is not shown.";
  return `Belief: ${belief}. ${why}`;
}

function sameOf(values) {
  return new Set(values).size === 1 ? values[0] : null;
}

function factsOf(headers, { clock, mapStates }, title) {
  const seed = sameOf(headers.map((header) => header.seed));
  const every = Math.max(...headers.map((header) => header.every));
  const facts = [
    seed === null || title.split(", ").includes(`seed ${seed}`) ? null : `seed ${seed}`,
    counted(clock.steps, "step"),
    sameOf(mapStates.map((state) => state?.lengths.sizeText(state.columns, state.rows) ?? "")),
    every > 1 ? `recorded every ${formatCount(every)} steps` : null,
    headers.every((header) => header.complete) ? null : "not complete",
    `potentia ${[...new Set(headers.map((header) => header.potentia))].join(", ")}`,
  ];
  return facts.filter(Boolean).join(" · ");
}

function createOptions(viewer) {
  const box = element("div", { class: "pv-options" });
  const drawn = viewer.mapStates.filter((state) => state && state.robots <= MOST_CIRCLES);
  const flags = element("input", { type: "checkbox", onchange: () => viewer.setFlags(flags.checked) });
  const ways = element("select", { onchange: () => viewer.setWays(ways.value) });
  ways.append(...WAYS.map((way) => element("option", { value: way, text: way })));
  const most = Math.max(...viewer.timelines.map((timeline) => timeline.players)) - 1;
  const robot = element("input", { type: "number", min: "0", max: String(most), placeholder: "none", class: "pv-who" });
  robot.addEventListener("change", () => {
    const wanted = robot.validity.badInput ? NaN : robot.value === "" ? null : Number(robot.value);
    if (wanted === null || (Number.isInteger(wanted) && wanted >= 0 && wanted <= most)) return viewer.select(wanted);
    const given = robot.value;
    showChoice(viewer.chosen);
    viewer.say(`There is no robot ${given || "of that name"}: they are 0 to ${most}.`);
  });
  robot.addEventListener("keydown", (event) => event.key === "Enter" && robot.blur()); // keys are the page's again
  const parting = element("span", {}, viewer.recordings.length > 1 ? createDivergence(viewer) : null);
  if (viewer.recordings.length > 1) box.append(parting);
  const showDivergence = () => parting.replaceChildren(createDivergence(viewer));
  const labelled = (...parts) => box.append(element("label", { class: "pv-check" }, ...parts));
  if (drawn.some((state) => state.header.map.flags)) labelled(flags, "flags");
  if (drawn.length) labelled("ways", ways);
  if (viewer.mapStates.some(Boolean)) labelled("robot", robot);
  const look = { type: "button", class: "pv-text-button" };
  const button = (text, title, onclick) => element("button", { ...look, text, title, onclick });
  box.append(button("Light / dark", "Light or dark (t)", () => viewer.toggleTheme()));
  box.append(button("Keys", "All keys (?)", (event) => viewer.openHelp(event)));
  const showOptions = (options) => {
    flags.checked = options.flags;
    ways.value = options.paths;
  };
  const showChoice = (player) => {
    robot.value = player === null ? "" : String(player);
  };
  showOptions(viewer.options);
  return { box, showOptions, showChoice, showDivergence };
}

/** Where the recordings first differ, as a button that jumps there; in words where they are of different runs. */
function createDivergence(viewer) {
  const headers = viewer.recordings.map((recording) => recording.header);
  const players = new Set(headers.map((header) => header.game.players));
  const seeds = new Set(headers.map((header) => header.seed));
  const quiet = (text) => element("span", { class: "pv-quiet", text });
  if (players.size > 1) return quiet(`different numbers of players: ${[...players].join(", ")}`);
  if (seeds.size > 1) return quiet(`seeds differ: ${[...seeds].map((seed) => seed ?? "none").join(", ")}`);
  const step = viewer.divergence;
  if (Number.isNaN(step)) return quiet("recorded at other steps");
  if (step === null) return quiet(viewer.live ? "they have not parted so far" : "they do not part");
  const text = step === 0 ? "they part at the start" : `they part at step ${formatCount(step)}`;
  return element("button", { type: "button", class: "pv-text-button pv-part", text, onclick: () => viewer.jump(step) });
}
