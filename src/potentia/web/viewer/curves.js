// The curves under the stages: one series of all recordings over time, the optimum, and a cursor to drag.

import { barsInCard } from "./cards.js";
import { faded } from "./colours.js";
import { element, FONT, hiddenCanvas, setText, setTitled, sizedCanvas } from "./dom.js";
import { formatCount, formatNumber, formatPercent, niceTicks } from "./format.js";
import { labelAt } from "./names.js";
import { looksOf, makeSwatch, paintSwatch } from "./swatches.js";
import { asOf, hasGaps, valueNow } from "./values.js";

const GROWN_EVERY = 120; // milliseconds between two pictures of curves that grow
const PLOT = { left: 62, right: 14, top: 14, bottom: 24 };

/** What a recording's optimum says about a series: {value, text}, or null. */
export function optimumOf(recording, name) {
  const { optimum } = recording.header;
  if (!optimum || optimum.series !== name) return null;
  const { value, bound } = optimum;
  if (optimum.times) return optimaOf(optimum);
  const held = { since: optimum.since ?? 0, until: optimum.until ?? Infinity }; // of a run to which something was done
  const proven = !Number.isFinite(bound) || bound <= value + 1e-6 * Math.abs(value); // as in films
  if (Number.isFinite(value) && proven) return { value, text: "optimum", ...held };
  return Number.isFinite(bound) ? { value: bound, text: "upper bound", ...held } : null;
}

/** Of a world that changes: known at some times, and linear in between, as it is drawn. */
function optimaOf({ times, values, bounds }) {
  const proven = values.every((value, k) => bounds[k] <= value + 1e-6 * Math.abs(value));
  const heights = proven ? values : bounds;
  return { times, heights, value: Math.max(...heights), text: proven ? "optimum" : "upper bound" };
}

/** What an optimum is at a step. */
export function optimumAt({ times, heights, value, since, until }, step) {
  if (!times) return step >= since && step < until ? value : NaN;
  const k = times.findIndex((time) => time >= step);
  if (k <= 0) return heights[k < 0 ? heights.length - 1 : 0];
  const share = (step - times[k - 1]) / (times[k] - times[k - 1]);
  return (1 - share) * heights[k - 1] + share * heights[k];
}

/** The same where a share of it says something: a potential is known up to a constant only. */
export function sharedOptimum(recording, name) {
  const optimum = name === "potential" ? null : optimumOf(recording, name);
  return optimum && optimum.value > 0 ? optimum : null;
}

/** Build the curves. `context` has theme(), span(), onSeek(step) and onSeries(name). */
export function createCurves(host, timelines, context) {
  return new Curves(host, timelines, context);
}

class Curves {
  constructor(host, timelines, context) {
    this.timelines = timelines;
    this.context = context;
    this.steps = 1; // of the picture
    this.known = new Map();
    for (const { recording } of timelines) {
      for (const series of recording.header.series) {
        if (!this.known.has(series.name)) this.known.set(series.name, series);
      }
    }
    this.name = [...this.known.keys()][0] ?? null;
    this.layer = hiddenCanvas(1, 1);
    this.host = host;
    this.build();
    this.resize();
  }

  build() {
    const options = [...this.known.values()].map(({ name, label }) => element("option", { value: name, text: label }));
    this.select = element("select", { "aria-label": "Which series the curves show" }, ...options);
    this.select.addEventListener("change", () => this.show(this.select.value));
    this.canvas = element("canvas", { role: "img" });
    this.legend = element("ul", { class: "pv-legend" });
    this.entries = this.timelines.map(({ recording }) => {
      const swatch = makeSwatch();
      const value = element("span", { class: "pv-number" });
      const label = element("span", { class: "pv-label", text: recording.label, title: recording.label });
      this.legend.append(element("li", {}, swatch, label, value));
      return { swatch, label, value };
    });
    this.older = element("span", { class: "pv-quiet pv-number pv-as-of", hidden: !hasGaps(this.timelines, [...this.known.keys()]) });
    const head = element("div", { class: "pv-curves-head" }, this.select, this.legend, this.older);
    this.host.append(head, this.canvas);
    this.host.hidden = this.name === null;
    const seek = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - PLOT.left) / (this.width - PLOT.left - PLOT.right);
      this.context.onSeek(Math.round(Math.min(1, Math.max(0, share)) * this.steps));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && seek(event));
  }

  /** Show another series. */
  show(name) {
    if (!this.known.has(name)) return;
    this.name = name;
    this.select.value = name;
    this.render();
    this.draw();
    this.context.onSeries?.(name);
  }

  resize() {
    const low = window.innerHeight < 1000 ? 150 : 190;
    this.height = this.context.alone ? Math.min(320, Math.max(190, window.innerHeight - 420)) : low;
    const tight = window.innerHeight < 820 || (this.timelines.length > 1 && barsInCard(this.timelines[0].recording.header));
    if (!this.context.alone && tight) this.height = 130;
    this.width = Math.max(220, this.host.clientWidth || 320);
    this.looks = looksOf(this.timelines.map((timeline) => timeline.recording), this.context.theme());
    this.looks.forEach((look, k) => paintSwatch(this.entries[k].swatch, look));
    this.render();
    this.draw();
  }

  /** More has come: drawn at once, but not more often than can be seen. */
  grow() {
    const now = performance.now();
    clearTimeout(this.growing);
    if (now - (this.grown ?? -GROWN_EVERY) >= GROWN_EVERY) {
      this.grown = now;
      this.render();
    } else {
      this.growing = setTimeout(() => {
        this.grow();
        this.draw();
      }, GROWN_EVERY);
    }
  }

  // The still picture ----------------------------------------------------------------------------------

  findRange() {
    let low = Infinity;
    let high = -Infinity;
    const take = (value) => {
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const timeline of this.timelines) {
      timeline.valuesOf(this.name)?.forEach((value) => Number.isFinite(value) && take(value));
      const optimum = optimumOf(timeline.recording, this.name);
      if (optimum) take(optimum.value);
    }
    if (!(low <= high)) [low, high] = [0, 1];
    const room = 0.07 * (high - low) || 0.1 * Math.abs(high) || 1;
    this.low = low >= 0 && low - room < 0 ? 0 : low - room;
    this.high = high + room;
  }

  x(step) {
    return PLOT.left + (step / this.steps) * (this.width - PLOT.left - PLOT.right);
  }

  y(value) {
    const share = (value - this.low) / (this.high - this.low);
    return this.height - PLOT.bottom - share * (this.height - PLOT.top - PLOT.bottom);
  }

  render() {
    if (this.name === null) return;
    this.steps = Math.max(1, this.context.span());
    this.findRange();
    const context = sizedCanvas(this.layer, this.width, this.height);
    const theme = this.context.theme();
    context.clearRect(0, 0, this.width, this.height);
    this.drawAxes(context, theme);
    this.timelines.forEach((timeline, k) => this.drawLine(context, timeline, this.looks[k]));
  }

  drawAxes(context, theme) {
    context.font = `11px ${FONT}`;
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const { value, text } of niceTicks(this.low, this.high, 4)) {
      context.strokeStyle = theme.faint;
      context.beginPath();
      context.moveTo(PLOT.left, Math.round(this.y(value)) + 0.5);
      context.lineTo(this.width - PLOT.right, Math.round(this.y(value)) + 0.5);
      context.stroke();
      context.fillStyle = theme.grey;
      context.fillText(text, PLOT.left - 8, this.y(value));
    }
    context.textBaseline = "top";
    for (const { value, text } of niceTicks(0, this.steps, Math.max(2, this.width / 110), true)) {
      const half = context.measureText(text).width / 2;
      context.textAlign = this.x(value) + half > this.width ? "right" : "center";
      const at = context.textAlign === "right" ? this.width : this.x(value);
      context.fillText(text, at, this.height - PLOT.bottom + 6);
    }
    context.textAlign = "right";
    context.fillText("step", PLOT.left - 16, this.height - PLOT.bottom + 6);
    const unit = this.known.get(this.name).unit;
    context.textAlign = "left";
    if (unit) context.fillText(unit, 2, 0);
    context.strokeStyle = theme.grey;
    context.strokeRect(PLOT.left - 0.5, this.height - PLOT.bottom + 0.5, this.width - PLOT.left - PLOT.right + 1, 0);
  }

  /** At most a few points per pixel: of all rows in a column, the first, the least, the most and the last. */
  drawLine(context, timeline, look) {
    const values = timeline.valuesOf(this.name);
    if (!values) return;
    const { times } = timeline.recording.arrays;
    const path = new Path2D();
    let pen = false;
    const add = (row) => {
      if (pen) path.lineTo(this.x(times[row]), this.y(values[row]));
      else path.moveTo(this.x(times[row]), this.y(values[row]));
      pen = true;
    };
    for (let row = 0; row < values.length; ) {
      if (!Number.isFinite(values[row])) {
        pen = false;
        row += 1;
        continue;
      }
      const column = Math.floor(2 * this.x(times[row]));
      const inside = (at) => Math.floor(2 * this.x(times[at])) === column && Number.isFinite(values[at]);
      let [first, least, most, last] = [row, row, row, row];
      for (; row < values.length && (row === first || inside(row)); row += 1) {
        if (values[row] < values[least]) least = row;
        if (values[row] > values[most]) most = row;
        last = row;
      }
      for (const each of [...new Set([first, Math.min(least, most), Math.max(least, most), last])]) add(each);
    }
    context.save();
    context.beginPath();
    context.rect(0, 0, this.width - PLOT.right + 1, this.height); // a run may be ahead of the others, beyond the axis
    context.clip();
    context.strokeStyle = look.colour;
    context.lineWidth = 1.7;
    context.lineJoin = "round";
    context.setLineDash(look.dash);
    context.stroke(path);
    context.restore();
  }

  drawOptima(context, theme) {
    const told = new Set();
    this.timelines.forEach(({ recording }) => {
      const optimum = optimumOf(recording, this.name);
      if (!optimum) return;
      const end = Math.min(this.steps, optimum.until ?? Infinity);
      if (optimum.since >= end) return;
      const last = optimum.times ? optimumAt(optimum, this.steps) : optimum.value;
      const text = `${optimum.text} ${formatNumber(last)}`;
      if (told.has(text)) return;
      told.add(text);
      const y = Math.round(this.y(last)) + 0.5;
      context.strokeStyle = theme.ink;
      context.lineWidth = 1.2;
      context.setLineDash([6, 3]);
      context.beginPath();
      for (const step of optimum.times ?? [optimum.since]) context.lineTo(this.x(step), this.y(optimumAt(optimum, step)));
      context.lineTo(this.x(end), y);
      context.stroke();
      context.setLineDash([]);
      context.fillStyle = theme.ink;
      context.font = `11px ${FONT}`;
      context.textAlign = "right";
      context.textBaseline = y > 16 ? "bottom" : "top";
      context.fillText(text, Math.max(this.x(end), PLOT.left + context.measureText(text).width), y > 16 ? y - 2 : y + 3);
    });
  }

  // What moves -----------------------------------------------------------------------------------------

  draw() {
    if (this.name === null) return;
    if (this.steps !== Math.max(1, this.context.span())) this.render();
    const context = sizedCanvas(this.canvas, this.width, this.height);
    const theme = this.context.theme();
    const step = this.context.step();
    const x = this.x(step);
    context.clearRect(0, 0, this.width, this.height);
    context.drawImage(this.layer, 0, 0, this.width, this.height);
    context.fillStyle = faded(theme.paper, theme.dark ? 0.35 : 0.45); // what is yet to come is pale
    context.fillRect(x, PLOT.top - 2, this.width - PLOT.right - x + 2, this.height - PLOT.bottom - PLOT.top + 2);
    this.drawOptima(context, theme);
    context.strokeStyle = theme.ink;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, PLOT.top - 8);
    context.lineTo(Math.round(x) + 0.5, this.height - PLOT.bottom);
    context.stroke();
    const values = this.timelines.map((timeline) => valueNow(timeline, this.context.stateOf(timeline), this.name));
    const said = this.timelines.map((timeline, k) => this.drawTip(context, timeline, k, theme, values[k].value));
    const older = asOf(this.timelines, values);
    setText(this.older, older);
    const label = this.known.get(this.name).label;
    if (!this.context.playing()) {
      this.canvas.setAttribute("aria-label", `${label} at step ${formatCount(step)}: ${said.join("; ")}${older && `, ${older}`}.`);
    }
  }

  drawTip(context, timeline, k, theme, value) {
    const { step } = timeline;
    const optimum = sharedOptimum(timeline.recording, this.name);
    const best = optimum ? optimumAt(optimum, step) : NaN;
    const share = Number.isFinite(best) ? ` (${formatPercent(value / best)})` : "";
    const text = formatNumber(value);
    setTitled(this.entries[k].label, labelAt(timeline));
    setText(this.entries[k].value, Number.isFinite(value) ? text + share : text);
    if (Number.isFinite(value)) {
      context.beginPath();
      const inside = Math.min(this.high, Math.max(this.low, value)); // of all rows; this one lies between them
      context.arc(this.x(step), this.y(inside), 4, 0, 7);
      context.fillStyle = this.looks[k].colour;
      context.fill();
      context.strokeStyle = theme.paper;
      context.lineWidth = 1.5;
      context.stroke();
    }
    return `${labelAt(timeline)} ${text}`;
  }
}
