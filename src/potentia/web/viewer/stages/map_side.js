// What stands beside a map: what a robot believes or how it values cells, or where a crowd of robots is.

import { packedColour, rampOf, VIRIDIS } from "../colours.js";
import { element, setText, sizedCanvas } from "../dom.js";
import { formatCount, formatNumber, formatPercent } from "../format.js";
import { cellByKey, cellUnder, drawCellCursor } from "./map_cursor.js";
import { cellPath, drawMapAxes, drawMapScale, FieldRaster } from "./map_layout.js";
import { crewText, fateOf } from "../robots.js";
import { dotPattern, drawComponents, drawLost, drawPlace, drawRobots } from "./map_marks.js";
import { drawTargets, drawWallsOn, drawWeights } from "./map_marks.js";

const BINS = 100; // a crowd is counted in so many squares along the longer side, at most
const LOOKED_AT = 8; // moments of a run, to find the scale of a crowd
const LIGHT_CROWD = ["#ffffff", "#9fcbe8", "#2b7bba", "#08264d"];
const DARK_CROWD = ["#15181c", "#1f5688", "#4aa3df", "#f2fbff"];
const WORDS = { belief: "believes", score: "score", strategy: "strategy" };

/** A second map with a heading and two lines of words. `crowd` shows where all robots are while none is chosen. */
export class MapSide {
  constructor(host, state, crowd) {
    this.state = state;
    this.crowd = crowd;
    this.kind = null;
    this.shown = "";
    this.raster = new FieldRaster(state.columns, state.rows, state.header.map.origin === "upper");
    this.heading = element("h3", { class: "pv-side-title" });
    this.choice = element("select", { "aria-label": "What to show of the robot", onchange: () => this.choose() });
    this.canvas = element("canvas", { role: "img" });
    this.frame = element("div", { class: "pv-canvas", role: "group" }, this.canvas);
    this.words = element("p", { class: "pv-caption pv-two" });
    this.root = element("div", { class: "pv-side" });
    this.root.append(element("div", { class: "pv-side-head" }, this.heading, this.choice), this.frame, this.words);
    this.cursor = -1;
    this.reading = null; // what is known of a cell, in words, where the map has any
    this.canvas.addEventListener("pointermove", (event) => this.point(cellUnder(event, this.canvas, this.layout)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.frame.addEventListener("keydown", (event) => this.press(event));
    this.frame.addEventListener("blur", () => this.point(-1));
    host.append(this.root);
    this.density = crowd ? new Density(state) : null;
    this.offered = "";
    this.choice.hidden = true;
    this.redraw = () => {};
  }

  choose() {
    this.kind = this.choice.value;
    this.shown = "";
    this.redraw();
  }

  point(cell) {
    const cursor = this.reading ? cell : -1;
    if (cursor === this.cursor) return;
    this.cursor = cursor;
    this.redraw();
  }

  press(event) {
    const cell = this.reading && cellByKey(event, this.cursor, this.layout);
    if (event.key === "Escape") this.frame.blur();
    else if (cell !== null) this.point(cell);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  offer(kinds) {
    const said = kinds.join();
    if (said === this.offered) return;
    this.offered = said;
    this.choice.replaceChildren(...kinds.map((kind) => element("option", { value: kind, text: kind })));
    this.choice.hidden = kinds.length < 2;
    if (!kinds.includes(this.kind)) this.kind = kinds[0] ?? null;
    this.choice.value = this.kind ?? "";
  }

  /** Show what there is of the chosen robot. */
  draw(layout, theme, chosen) {
    const kinds = chosen === null ? [] : this.state.thoughtsOf(chosen);
    this.offer(kinds);
    this.layout = layout;
    this.theme = theme;
    if (kinds.length) this.drawThought(chosen);
    else if (this.crowd) this.drawCrowd();
    else this.drawNothing(chosen);
  }

  /** Begin a picture unless it is the one that is seen; null then. */
  begin(key) {
    const { layout, theme } = this;
    const whole = `${key} ${this.cursor} ${layout.width} ${layout.height} ${theme.dark} ${window.devicePixelRatio}`;
    if (this.shown === whole) return null;
    this.shown = whole;
    const context = sizedCanvas(this.canvas, layout.width, layout.height);
    context.clearRect(0, 0, layout.width, layout.height);
    return context;
  }

  /** The words under the map; with `reading`, those of the cell that is pointed at, which is framed. */
  tell(heading, words, { prompt = false, context = null, reading = null, chosen = null } = {}) {
    this.root.toggleAttribute("data-prompt", prompt);
    this.reading = reading;
    if (reading) this.frame.setAttribute("tabindex", "0");
    else this.frame.removeAttribute("tabindex");
    this.frame.setAttribute("aria-label", reading ? `${heading}. Arrow keys move a cell cursor.` : heading);
    const shown = reading && this.cursor >= 0;
    this.words.setAttribute("aria-live", shown ? "polite" : "off");
    if (shown) drawCellCursor(context, this.layout, this.cursor);
    const short = chosen !== null && !this.choice.hidden && this.root.parentNode.classList.contains("pv-narrow");
    setText(this.heading, short ? `Robot ${chosen}` : heading); // what of it stands beside, in the choice
    setText(this.words, shown ? this.cellText(reading) : words);
    this.canvas.setAttribute("aria-label", `${heading}. ${words}`);
  }

  cellText(reading) {
    const { state, cursor } = this;
    const where = state.lengths.cellWords(cursor % state.columns, Math.floor(cursor / state.columns));
    return `Cell ${where}: ${reading(cursor)}${state.wallsNow()[cursor] ? ", blocked" : ""}.`;
  }

  drawNothing(chosen) {
    const context = this.begin(`nothing ${chosen} ${chosen !== null && fateOf(this.state, chosen)}`);
    if (!context) return;
    const { left, top, width, height } = this.layout.area;
    context.strokeStyle = this.theme.grey;
    context.setLineDash([4, 4]);
    context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    context.setLineDash([]);
    const anything = this.state.header.keyframes?.belief ? "what it believes" : "how it values cells";
    if (chosen === null) this.tell("No robot chosen", `Click a robot, or press n, to see ${anything}.`, { prompt: true });
    else this.tell(`Robot ${chosen}`, `Nothing was recorded of what it thinks.${this.fateWords(chosen)}`);
  }

  drawThought(robot) {
    const { state } = this;
    const keyframe = state.timeline.keyframeAt();
    const when = keyframe < 0 ? null : state.timeline.keyframeSteps[keyframe];
    if (when === null) {
      const context = this.begin(`early ${robot}`);
      if (context) this.tell(`Robot ${robot}`, `Known from step ${formatCount(state.timeline.keyframeSteps[0])} on.`);
      return;
    }
    state.sync();
    const context = this.begin(`${this.kind} ${robot} ${keyframe} ${state.version} ${state.ground}`);
    if (!context) return;
    if (this.kind === "belief") this.drawBelief(context, robot, keyframe, when);
    else this.drawValues(context, robot, keyframe, when);
  }

  drawWalls(context) {
    const blocked = this.state.wallsNow();
    if (!blocked.includes(1)) return;
    drawWallsOn(context, cellPath(this.layout, (cell) => blocked[cell]));
  }

  drawBelief(context, robot, keyframe, when) {
    const { state, layout, theme, raster } = this;
    const { field, seen, components, error, robots } = state.beliefAt(keyframe, state.mindOf(robot));
    raster.grade(field, 0, state.worthMax);
    raster.paint(VIRIDIS);
    raster.draw(context, layout);
    const known = seen.reduce((sum, bit) => sum + bit, 0);
    if (known < seen.length) {
      context.fillStyle = dotPattern(context, "rgba(255,255,255,0.42)");
      context.fill(cellPath(layout, (cell) => !seen[cell]));
    }
    this.drawWalls(context);
    context.save();
    context.beginPath();
    context.rect(layout.area.left, layout.area.top, layout.area.width, layout.area.height);
    context.clip();
    drawComponents(context, layout, components);
    context.restore();
    drawTargets(context, layout, state.targets, 7);
    const drawn = robots.length > 60 ? [robot] : robots;
    const there = drawn.filter((each) => state.isThere(each));
    const lost = drawn.filter((each) => state.isLost(each));
    drawLost(context, layout, state, lost, robot);
    drawRobots(context, layout, state, there, robot);
    const cells = [...[...there, ...lost].map((each) => state.cellOf(each)), ...state.targets.map(([x, y]) => y * state.columns + x)];
    drawWeights(context, layout, components, cells);
    drawMapAxes(context, layout, theme);
    const peak = field.reduce((most, value) => (value > most ? value : most), 0);
    const more = peak > state.worthMax * (1 + 1e-6) ? `(up to ${formatNumber(peak)})` : "";
    drawMapScale(context, layout, theme, { ramp: VIRIDIS, low: 0, high: state.worthMax, unit: "worth per cell", more });
    const all = robots.length === state.robots && state.robots > 1;
    const parts = [`${formatCount(known)} of ${formatCount(seen.length)} cells seen`];
    const really = state.targets.length ? ` (targets: ${state.targets.length})` : "";
    if (components.length) parts.push(`${components.length} component${components.length > 1 ? "s" : ""}${really}`);
    if (Number.isFinite(error)) parts.push(`error ${formatPercent(error)} of all worth`);
    const who = all ? "What all robots believe" : `What robot ${robot} ${state.isLost(robot) ? "believed" : WORDS.belief}`;
    const truth = state.worthAt();
    const since = `as of step ${formatCount(when)}`;
    const reading = (cell) =>
      `believed ${formatNumber(field[cell])} ${since}, truly ${formatNumber(truth[cell])}, ${seen[cell] ? "seen" : "not seen"}`;
    const words = `As of step ${formatCount(when)}: ${parts.join(", ")}.${this.fateWords(robot)}`;
    this.tell(who, words, { context, reading, chosen: robot });
  }

  /** A sentence about a robot that is not there. */
  fateWords(robot) {
    const fate = fateOf(this.state, robot);
    return fate && ` Robot ${robot} ${fate}.`;
  }

  drawValues(context, robot, keyframe, when) {
    const { state, layout, theme, raster } = this;
    const values = state.valuesAt(this.kind, keyframe, robot);
    let low = this.kind === "strategy" ? 0 : Infinity;
    let high = -Infinity;
    let best = 0;
    values.forEach((value, action) => {
      if (value < low) low = value;
      if (value > high) [high, best] = [value, action];
    });
    const flat = !(high > low);
    const field = new Float64Array(state.cells);
    values.forEach((value, action) => {
      field[state.grid.cellOf[action]] = value;
    });
    raster.grade(field, low, flat ? low + 1 : high);
    const grey = packedColour(theme.dark ? "#3a3f46" : "#d0d0d0");
    raster.paint(VIRIDIS, { mask: state.wallsNow(), masked: grey });
    raster.draw(context, layout);
    this.drawWalls(context);
    drawTargets(context, layout, state.targets, 7);
    if (state.isLost(robot)) drawLost(context, layout, state, [robot], robot);
    else if (state.isThere(robot)) drawPlace(context, layout, state, robot);
    drawMapAxes(context, layout, theme);
    const scale = { ramp: VIRIDIS, low, high: flat ? low + 1 : high };
    drawMapScale(context, layout, theme, { ...scale, unit: this.kind === "score" ? "score" : "probability" });
    const cell = state.grid.cellOf[best];
    const where = state.lengths.cellWords(cell % state.columns, Math.floor(cell / state.columns));
    const range = `${formatNumber(low)} to ${formatNumber(high)}, most at ${where}`;
    const most = flat ? `${formatNumber(low)} everywhere` : range;
    const since = `as of step ${formatCount(when)}`;
    const reading = (at) => (state.wallsNow()[at] ? "nothing" : `${WORDS[this.kind]} ${formatNumber(field[at])} ${since}`);
    const words = `As of step ${formatCount(when)}: ${most}.${this.fateWords(robot)}`;
    this.tell(`The ${WORDS[this.kind]} of robot ${robot}`, words, { context, reading, chosen: robot });
  }

  drawCrowd() {
    const { state, layout, theme } = this;
    state.sync();
    const context = this.begin(`crowd ${state.version} ${state.ground}`);
    if (!context) return;
    const { most, high } = this.density.draw(context, layout, theme);
    this.drawWalls(context);
    drawMapAxes(context, layout, theme);
    const side = this.density.side;
    const unit = side === 1 ? "robots per cell" : `robots per ${side}×${side} cells`;
    drawMapScale(context, layout, theme, { ramp: this.density.ramp, low: 0, high, unit, whole: true });
    const ever = high > most ? ` now; the scale ends at ${formatCount(high)}` : ""; // from some moments of the run
    const told = `${crewText(state)}, at most ${formatCount(most)} ${unit.slice(7)}${ever}.`;
    this.tell("Where the robots are", told);
  }
}

/** Robots counted in squares of cells. */
class Density {
  constructor(state) {
    this.state = state;
    const few = Math.sqrt(state.cells / state.robots); // so that about one robot is in a square
    this.side = Math.max(1, Math.ceil(Math.max(state.columns, state.rows) / BINS), Math.round(few));
    this.columns = Math.ceil(state.columns / this.side);
    this.rows = Math.ceil(state.rows / this.side);
    this.upper = state.header.map.origin === "upper";
    this.raster = new FieldRaster(this.columns, this.rows, this.upper);
    this.counts = new Int32Array(this.columns * this.rows);
    this.usual = this.findScale();
    this.ramp = null;
    this.dark = null;
  }

  draw(context, layout, theme) {
    const { state, side, counts } = this;
    if (this.dark !== theme.dark) {
      this.dark = theme.dark;
      this.ramp = rampOf(theme.dark ? DARK_CROWD : LIGHT_CROWD);
    }
    const most = this.count(state.places);
    const high = Math.max(this.usual, most);
    this.raster.grade(counts, 0, high);
    this.raster.paint(this.ramp);
    const { left, top, width, height } = layout.area;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    context.imageSmoothingEnabled = false;
    const across = this.columns * side * layout.wide;
    const down = this.rows * side * layout.high;
    context.drawImage(this.raster.canvas, left, this.upper ? top : top + height - down, across, down);
    context.restore();
    return { most, high };
  }

  /** Count robots on these cells; returns the most in a square. */
  count(cells) {
    const { state, side, columns, counts } = this;
    counts.fill(0);
    for (let robot = 0; robot < cells.length; robot += 1) {
      if (cells[robot] < 0) continue;
      const x = cells[robot] % state.columns;
      const y = (cells[robot] - x) / state.columns;
      counts[Math.floor(y / side) * columns + Math.floor(x / side)] += 1;
    }
    let most = 0;
    for (const count of counts) if (count > most) most = count;
    return most;
  }

  /** The most in a square at some moments of the run, so that one scale serves nearly all steps. */
  findScale() {
    const { state } = this;
    const { snapshots, spacing, changeSteps } = state.timeline;
    const every = Math.max(1, Math.floor(snapshots.length / LOOKED_AT));
    const most = snapshots.map((profile, k) => {
      if (k % every && k < snapshots.length - 1) return 0;
      const step = k ? changeSteps[k * spacing - 1] : 0;
      return this.count(profile.map((action, robot) => (state.isThere(robot, step) ? state.grid.cellOf[action] : -1)));
    });
    return Math.max(...most);
  }
}
