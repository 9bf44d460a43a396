// What the stages share: elements, names of players, the changes of a step.

import { svgElement } from "../dom.js";
import { countUpTo } from "../timeline.js";

/** A new HTML element inside parent. Styles are set one by one: the page allows none in its text. */
export function addElement(parent, tag, { name = "", text = "", style = {}, attributes = {} } = {}) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  Object.assign(element.style, style);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.appendChild(element);
  return element;
}

/** A new SVG element inside parent. */
export function addShape(parent, tag, attributes = {}, text = "") {
  const element = svgElement(tag, attributes);
  if (text) element.textContent = text;
  parent.appendChild(element);
  return element;
}

export function setShape(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

/** The width there is inside host. */
export function roomIn(host) {
  const style = getComputedStyle(host);
  const room = host.clientWidth - parseFloat(style.paddingLeft || 0) - parseFloat(style.paddingRight || 0);
  return Math.max(200, Math.floor(room || 0));
}

/** What a player is called, "robot 3". */
export function playerName(timeline, player) {
  const { names, player: noun } = timeline.recording.header.game;
  const own = Array.isArray(names) ? names[player] : null;
  return typeof own === "string" && own ? own : `${noun || "player"} ${player}`;
}

/** Changes first <= i < end of the timeline happened at this very step; none after a recording's end. */
export function changesAt(timeline, step) {
  if (timeline.ended) return { first: 0, end: 0 };
  return { first: countUpTo(timeline.changeSteps, step - 1), end: countUpTo(timeline.changeSteps, step) };
}

/** "a", "a and b", "a, b and c"; beyond most the rest is counted. */
export function inWords(names, most = 12) {
  const shown = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}

/**
 * A line of text about what is selected. Read out when it follows a choice, silent while the run plays. A prompt, which
 * says what one could do, is left out of pictures.
 */
export function addReadout(host, name) {
  const line = addElement(host, "p", { name, style: { margin: "0.4em 0", minHeight: "2.8em" } });
  return (text, chosen = false, prompt = false) => {
    line.toggleAttribute("data-prompt", prompt);
    if (line.textContent === text) return;
    line.setAttribute("aria-live", chosen ? "polite" : "off");
    line.textContent = text;
  };
}

/**
 * A field that chooses one of count things by its number; empty means none. onPick gets the number or null, onMiss a
 * sentence where there is none of that number.
 */
export function addPicker(host, noun, count, onPick, onMiss = () => {}) {
  const label = addElement(host, "label", { name: "stage-picker", text: `${noun} ` });
  const bounds = { type: "number", min: 0, max: count - 1, step: 1, placeholder: "none" };
  const input = addElement(label, "input", { attributes: bounds, style: { width: "6em", font: "inherit" } });
  let picked = null;
  const valueOf = () => (input.validity.badInput ? NaN : input.value === "" ? null : Number(input.value));
  const known = (value) => value === null || (Number.isInteger(value) && value >= 0 && value < count);
  input.addEventListener("input", () => known(valueOf()) && onPick(valueOf()));
  input.addEventListener("change", () => {
    if (known(valueOf())) return;
    const given = input.value || "of that name";
    input.value = picked ?? "";
    onMiss(`There is no ${noun.replace(/^show /, "")} ${given}: they are 0 to ${count - 1}.`);
  });
  input.addEventListener("keydown", (event) => {
    event.stopPropagation(); // digits and arrows belong to the field here, not to the clock
    if (event.key !== "Escape" && event.key !== "Enter") return;
    if (event.key === "Escape") {
      input.value = "";
      onPick(null);
    }
    input.blur(); // keys are the page's again
  });
  return (value) => {
    picked = value;
    if (document.activeElement !== input || Number(input.value) !== value) input.value = value ?? "";
  };
}
