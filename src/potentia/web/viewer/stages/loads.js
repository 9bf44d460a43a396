// A congestion game: how many players use each resource, and what it costs them.

import { PALETTE } from "../colours.js";
import { setText, shortenedTo, sizedCanvas } from "../dom.js";
import { counted, formatCount, formatNumber } from "../format.js";
import { actionName } from "./actions.js";
import { LoadCounts } from "./load_counts.js";
import { addElement, addPicker, addReadout, inWords, roomIn } from "./parts.js";

const MOST_NAMED_BARS = 24; // more resources than this are thin bars without names
const ROW_HEIGHT = 26;
const THIN_HEIGHT = 260;
const LOAD_COLOUR = PALETTE[0];
const CHANGED_COLOUR = PALETTE[1];
const LINE = 2; // pixels of the outline of what came or went

export function createLoadsStage(host, timeline, context) {
  const counts = new LoadCounts(timeline);
  const named = counts.plain && timeline.recording.header.game.actions;
  const few = counts.count <= MOST_NAMED_BARS;
  let most = 0; // the largest load of all, which is the whole width
  const canvas = addElement(host, "canvas", { name: "stage-canvas", attributes: { role: "img" } });
  Object.assign(canvas.style, { display: "block", marginBottom: "0.4em" });
  const note = addElement(host, "p", { name: "stage-note", style: { margin: "0.4em 0" } });
  const showPicked = addPicker(host, "resource", counts.count, choose, (text) => say(text, true));
  const say = addReadout(host, "stage-readout");
  let pen = null;
  let width = 0;
  let height = 0;
  let selected = null;
  context.pickers = [...(context.pickers ?? []), select]; // of all runs of the page

  canvas.addEventListener("click", (event) => {
    const part = few ? event.offsetY / ROW_HEIGHT : (event.offsetX / width) * counts.count;
    const hit = Math.min(counts.count - 1, Math.max(0, Math.floor(part)));
    choose(hit === selected ? null : hit);
  });

  /** Chooses a resource in every run that has it; resources are no players, so nobody else is told. */
  function choose(resource) {
    for (const each of context.pickers) each(resource);
  }

  function select(resource) {
    if (resource !== null && resource >= counts.count) return;
    selected = resource;
    showPicked(resource);
    say(sentence(), true, selected === null);
    draw();
  }

  function nameOf(resource) {
    return named ? actionName(timeline, resource) : `resource ${resource}`;
  }

  function resize() {
    width = few ? Math.min(roomIn(host), 760) : roomIn(host);
    height = few ? Math.max(1, counts.count) * ROW_HEIGHT : THIN_HEIGHT;
    pen = sizedCanvas(canvas, width, height);
    draw();
  }

  function draw() {
    if (!pen) return;
    const loads = counts.now();
    const changed = counts.changed(timeline.step);
    most = counts.most;
    setText(note, noteText());
    pen.clearRect(0, 0, width, height);
    if (few) drawRows(loads, changed);
    else drawThin(loads, changed);
    say(sentence(), false, selected === null);
    canvas.setAttribute("aria-label", describe());
  }

  function noteText() {
    const bars = `Bars: players on each resource, up to ${formatCount(most)}. A line marks the most in the recording.`;
    return `${bars} Orange outline: what came or went in this step.`;
  }

  function drawRows(loads, changed) {
    const theme = context.theme();
    pen.font = "13px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const names = Array.from({ length: counts.count }, (_, r) => shortenedTo(pen, nameOf(r), width * 0.3));
    const left = Math.max(...names.map((name) => pen.measureText(name).width)) + 10;
    const short = width < 520;
    const right = pen.measureText(`${formatCount(most)} ${short ? "·" : "players,"} cost 0.000000`).width;
    const long = Math.max(40, width - left - right);
    for (let r = 0; r < counts.count; r++) {
      const top = r * ROW_HEIGHT;
      const middle = top + ROW_HEIGHT / 2;
      if (r === selected) fillBox(theme.faint, 0, top, width, ROW_HEIGHT);
      pen.fillStyle = theme.ink;
      pen.textAlign = "left";
      pen.fillText(names[r], 4, middle);
      fillBox(theme.faint, left, top + 4, long, ROW_HEIGHT - 8);
      const across = (load) => (long * load) / most;
      fillBox(LOAD_COLOUR, left, top + 4, across(loads[r]), ROW_HEIGHT - 8);
      fillBox(theme.ink, left + across(counts.peaks[r]) - 1, top + 2, 2, ROW_HEIGHT - 4);
      const [low, high] = between(loads[r], changed.get(r)).map(across);
      if (high > low) outline(left + low, top + 4, high - low, ROW_HEIGHT - 8);
      pen.fillStyle = theme.ink;
      pen.textAlign = "right";
      pen.fillText(loadText(r, loads[r], short), width - 2, middle);
    }
  }

  function loadText(resource, load, short) {
    const cost = load > 0 ? `cost ${formatNumber(counts.costOf(resource, load))}` : "unused";
    return short ? `${formatCount(load)} · ${cost}` : `${counted(load, "player")}, ${cost}`;
  }

  function drawThin(loads, changed) {
    const theme = context.theme();
    const wide = width / counts.count;
    const base = height - 4;
    const gap = wide > 4 ? 1 : 0;
    const up = (load) => ((base - 8) * load) / most;
    if (selected !== null) fillBox(theme.faint, selected * wide - 1, 0, Math.max(3, wide + 2), height);
    for (let r = 0; r < counts.count; r++) {
      const tall = up(loads[r]);
      const peak = up(counts.peaks[r]);
      fillBox(LOAD_COLOUR, r * wide, base - tall, Math.max(0.6, wide - gap), tall);
      const [low, high] = between(loads[r], changed.get(r)).map(up);
      if (high > low) outline(r * wide, base - high, Math.max(0.6, wide - gap), high - low);
      fillBox(theme.grey, r * wide, base - peak - 1, Math.max(0.6, wide - gap), 1.5);
    }
    if (selected !== null) fillBox(theme.ink, selected * wide, base, Math.max(3, wide), 4);
    fillBox(theme.grey, 0, base, width, 1);
  }

  /** Of a part that is too small for an outline, all. */
  function outline(left, top, wide, tall) {
    if (Math.min(wide, tall) < 3 * LINE) return void fillBox(CHANGED_COLOUR, left, top, wide, tall);
    pen.strokeStyle = CHANGED_COLOUR;
    pen.lineWidth = LINE;
    pen.strokeRect(left + LINE / 2, top + LINE / 2, wide - LINE, tall - LINE);
  }

  function fillBox(colour, left, top, wide, tall) {
    pen.fillStyle = colour;
    pen.fillRect(left, top, wide, tall);
  }

  function sentence() {
    if (selected === null) return "Click a bar, or give its number, to see its load and cost.";
    const load = counts.loads[selected];
    const now = `${nameOf(selected)}: ${loadText(selected, load, false)}`;
    const [peak, limit] = [counts.peaks[selected], counts.limitOf(selected)].map(formatCount);
    return `${now}; at most ${peak} in this recording, ${limit} possible.`;
  }

  function describe() {
    const loads = counts.now();
    const order = [...loads.keys()].sort((a, b) => loads[b] - loads[a]).slice(0, few ? MOST_NAMED_BARS : 3);
    const parts = order.map((r) => `${formatCount(loads[r])} on ${nameOf(r)}`);
    const changed = [...counts.changed(timeline.step).keys()].map(nameOf);
    const news = changed.length ? `changed in this step: ${inWords(changed, 6)}` : "no load changed in this step";
    const which = few ? "loads are" : `the largest of ${formatCount(counts.count)} loads are`;
    return `Step ${formatCount(timeline.step)}: ${which} ${inWords(parts, MOST_NAMED_BARS)}; ${news}.`;
  }

  resize();
  return { draw, resize, describe };
}

/** The lesser and the larger of a load and what it was before a change. */
function between(load, by = 0) {
  return by > 0 ? [load - by, load] : [load, load - by];
}
