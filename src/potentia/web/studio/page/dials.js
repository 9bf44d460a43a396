// Temperature, waking and belief: of all runs, or of one.

import { element } from "/viewer/dom.js";
import { formatNumber } from "/viewer/format.js";
import { numberField, numberIn } from "/viewer/numbers.js";
import { heldAt, temperatureAt } from "./held.js";

const POINTS = 200; // of a slider
const RANGE = [1e-3, 10]; // temperatures, or these times the most that a robot can cover
const NAMES = { tau: "τ", revision: "revision" };

/** Build them; the sliders do what they say when they are let go. */
export function createDials(host, studio, section, labelled) {
  return new Dials(host, studio, section, labelled);
}

class Dials {
  constructor(host, studio, section, labelled) {
    this.studio = studio;
    this.scene = null;
    this.held = null; // what is being changed by hand, which is not written over
    this.which = element("select", { "aria-label": "Which run these change", onchange: () => this.read() });
    this.whichRow = labelled("of", this.which);
    this.sliders = Object.fromEntries(Object.keys(NAMES).map((name) => [name, this.slider(name, labelled)]));
    const believe = () => this.send({ belief: this.scene.choices.beliefs[this.belief.value] });
    this.belief = element("select", { "aria-label": "belief", onchange: believe });
    this.beliefRow = labelled("belief", this.belief);
    const rows = Object.values(this.sliders).map(({ row }) => row);
    host.append(section("From this step on", this.whichRow, ...rows, this.beliefRow));
  }

  /** A slider for the hand, and a field for the exact number. */
  slider(name, labelled) {
    const range = element("input", { type: "range", min: "0", max: String(POINTS), step: "1", "aria-label": `${name}, slider` });
    const field = numberField({ class: "ps-exact" });
    range.addEventListener("input", () => {
      this.held = range;
      this.tell(name, this.valueOf(name, Number(range.value)));
    });
    range.addEventListener("change", () => {
      this.held = null;
      this.send({ [name]: this.valueOf(name, Number(range.value)) });
    });
    field.addEventListener("input", () => {
      this.held = field;
    });
    field.addEventListener("change", () => {
      this.held = null;
      this.give(name, numberIn(field));
    });
    field.addEventListener("blur", () => {
      if (this.held === field) this.held = null;
    });
    return { range, field, row: element("div", { class: "ps-dial" }, labelled(NAMES[name], field), range) };
  }

  ends() {
    const scale = this.scene.choices.scale?.tau ?? 1;
    return RANGE.map((end) => end * scale);
  }

  valueOf(name, point) {
    if (name === "revision") return Math.max(1, point) / POINTS;
    const [low, high] = this.ends();
    return Number((low * (high / low) ** (point / POINTS)).toPrecision(3));
  }

  pointOf(name, value) {
    if (name === "revision") return Math.round(value * POINTS);
    const [low, high] = this.ends();
    return Math.round((POINTS * Math.log(value / low)) / Math.log(high / low));
  }

  tell(name, value) {
    const { range, field } = this.sliders[name];
    if (document.activeElement !== field) field.value = String(value);
    range.setAttribute("aria-valuetext", formatNumber(value));
  }

  give(name, value) {
    const fits = name === "tau" ? value > 0 : value > 0 && value <= 1;
    if (Number.isFinite(value) && fits) return this.send({ [name]: value });
    this.read();
    const wanted = name === "tau" ? "a finite number above 0" : "a number above 0 and at most 1";
    return this.studio.bar.say(`${name} must be ${wanted}.`);
  }

  lanes() {
    return this.which.value === "all" ? null : [Number(this.which.value)];
  }

  send(change) {
    const named = Object.keys(change)[0];
    const all = this.scene.lanes.map((_, k) => k);
    const able = (this.lanes() ?? all).filter((k) => named === "belief" || this.now(k).has.includes(named));
    if (!able.length) return;
    this.studio.do({ kind: "change", ...change }, able.length === all.length ? null : able);
  }

  /** What holds of a run at the step that is seen. */
  now(lane) {
    return heldAt(this.scene.lanes[lane], this.studio.viewer.clock.step);
  }

  show(scene, viewer) {
    this.scene = scene;
    this.held = null;
    const before = this.which.value;
    const options = viewer.recordings.map(({ label }, k) => element("option", { value: String(k), text: label }));
    this.which.replaceChildren(element("option", { value: "all", text: "all runs" }), ...options);
    this.which.value = [...this.which.options].some(({ value }) => value === before) ? before : "all";
    this.whichRow.hidden = scene.lanes.length === 1;
    const names = Object.keys(scene.choices.beliefs);
    const words = (name) => (name === "none" ? (scene.map ? "they know the map" : "they know the game") : name);
    this.belief.replaceChildren(...names.map((value) => element("option", { value, text: words(value) })));
    this.read();
  }

  /** What holds at the step that is seen. */
  read() {
    const { step } = this.studio.viewer.clock;
    const lanes = (this.lanes() ?? this.scene.lanes.map((_, k) => k)).map((k) => this.now(k));
    for (const [name, { range, row, field }] of Object.entries(this.sliders)) {
      const able = lanes.filter(({ has }) => has.includes(name));
      row.hidden = !able.length;
      if (!able.length || this.held === field || this.held === range) continue;
      const values = able.map((lane) => (name === "tau" ? temperatureAt(lane, step) : lane.revision));
      const [value] = values;
      const differ = values.some((other) => other !== value);
      const known = !differ && value !== null;
      field.value = known ? String(Number(value.toPrecision(4))) : "";
      field.placeholder = differ ? "they differ" : known ? "" : "by a rule";
      row.classList.toggle("ps-differ", differ);
      if (value !== null) range.value = String(this.pointOf(name, value));
      range.setAttribute("aria-valuetext", differ ? "the runs differ" : known ? formatNumber(value) : "by a rule of its own");
    }
    const same = lanes.every(({ belief }) => belief === lanes[0].belief);
    this.belief.value = same ? lanes[0].belief : "";
  }
}
