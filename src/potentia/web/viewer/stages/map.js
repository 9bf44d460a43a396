// The stage of a map: worth as a field, walls, targets, robots with ranges, ways and flags, and what a robot thinks.

import { dimmedRamp, packedColour, VIRIDIS } from "../colours.js";
import { element, setText, sizedCanvas } from "../dom.js";
import { counted, formatCount, formatNumber } from "../format.js";
import { crewText, fateOf, placeText, wayName, wayText } from "../robots.js";
import { cellByKey, cellUnder, drawCellCursor } from "./map_cursor.js";
import { axesRoom, cellPath, drawMapAxes, drawMapScale, FieldRaster, mapLayout, outlinePath } from "./map_layout.js";
import { drawLost, drawRanges, drawRobots, drawTargets, drawWay } from "./map_marks.js";
import { drawWallsOn, FlagLayer, strokeOutline } from "./map_marks.js";
import { MapSide } from "./map_side.js";

export const MOST_CIRCLES = 200; // robots drawn one by one; more are a crowd
const MOST_DOTS = 3000;
const LOWEST = 200; // pixels that a map may be high
const LOWEST_ON_PHONES = 320;
const NARROW = 700; // pixels of a window
const HIGHEST = 620;
const HEADING_HIGH = 30; // above a map
const BELOW_MAP = 96; // scale and two lines of words
const WIDE = 455; // pixels from which the second map stands beside the first
const WIDE_WHERE_LOW = 385; // the same where a window has not the height for two maps under each other
const WIDE_ON_PHONES = 520;
const NARROW_MAP = 260; // pixels of a map under which words have up to four lines
const NEAR = 16; // pixels around a robot that choose it
const LABEL_AFTER = 200; // milliseconds of rest before a crowd is summed up for the label
const NEAR_CROSS = 10; // pixels around a robot that has failed in which words speak of it

/** Whether a second map stands beside the first: what robots think, or where a crowd is. */
export function hasSide(state) {
  return state.robots > MOST_CIRCLES || Boolean(state.header.keyframes && state.timeline.keyframeSteps.length);
}

/** Build the stage. Beside what all stages have, `context` has options {flags, paths}, stateOf(timeline), playing(). */
export function createMapStage(host, timeline, context) {
  return new MapStage(host, context.stateOf(timeline), context);
}

class MapStage {
  constructor(host, state, context) {
    this.host = host;
    this.state = state;
    this.context = context;
    this.upper = state.header.map.origin === "upper";
    this.crowd = state.robots > MOST_CIRCLES;
    this.chosen = null;
    this.cursor = -1;
    this.raster = new FieldRaster(state.columns, state.rows, this.upper);
    this.flags = new FlagLayer(state);
    this.painted = ""; // what the raster shows
    this.outline = { key: "", path: null };
    this.walls = { key: "", path: null, bare: null };
    this.build();
    this.resize();
  }

  build() {
    const { columns, rows } = this.state;
    this.canvas = element("canvas", { role: "img" });
    this.readout = element("p", { class: "pv-caption pv-two", "aria-live": "polite" });
    const size = this.state.lengths.sizeText(columns, rows);
    const name = `Map of ${columns}×${rows} cells${size && ` (${size})`}. Arrow keys move a cell cursor, Enter chooses the robot there.`;
    this.frame = element("div", { class: "pv-canvas", tabindex: "0", role: "group", "aria-label": name }, this.canvas);
    this.heading = element("div", { class: "pv-side-head" }, element("h3", { text: "The worth" }));
    this.main = element("div", { class: "pv-map-main" }, this.heading, this.frame, this.readout);
    this.root = element("div", { class: "pv-map" }, this.main);
    this.host.append(this.root);
    this.side = hasSide(this.state) ? new MapSide(this.root, this.state, this.crowd) : null;
    if (this.side) this.side.redraw = () => this.context.redraw(this);
    this.canvas.addEventListener("pointermove", (event) => this.point(cellUnder(event, this.canvas, this.layout)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("click", (event) => this.context.onSelect(this.robotUnder(event)));
    this.frame.addEventListener("keydown", (event) => this.press(event));
    this.frame.addEventListener("blur", () => this.point(-1));
  }

  // Size -----------------------------------------------------------------------------------------------

  resize() {
    const wide = this.host.clientWidth || 320;
    const { sides } = this.context; // of any map of the page: maps beside each other have one size
    const { shared } = this.context; // who has a second map has twice the width
    const { under } = axesRoom(this.state.lengths, this.state.rows);
    const around = (sides ? HEADING_HIGH : 0) + BELOW_MAP + under;
    const left = this.context.heightLeft() - around;
    const low = (left - around) / 2 < LOWEST;
    const enough = window.innerWidth < NARROW ? WIDE_ON_PHONES : low ? WIDE_WHERE_LOW : WIDE;
    const beside = shared ? Boolean(this.side) : sides && wide >= enough;
    this.root.classList.toggle("pv-beside", beside);
    this.heading.hidden = !sides;
    const room = beside ? Math.floor((wide - 24) / 2) : shared ? wide - 12 : wide;
    this.root.classList.toggle("pv-narrow", beside && room < NARROW_MAP);
    const lowest = window.innerWidth < NARROW ? LOWEST_ON_PHONES : LOWEST; // where one scrolls anyway
    const highest = Math.max(lowest, Math.min(HIGHEST, sides && !beside ? left / 2 : left));
    this.layout = mapLayout(room, highest, this.state, this.upper);
    this.root.style.setProperty("--left", `${this.layout.area.left}px`);
    this.shownTheme = this.context.theme();
    this.painted = "";
    this.walls.key = "";
    this.outline.key = "";
    if (this.side) this.side.shown = "";
    this.draw();
  }

  // Drawing --------------------------------------------------------------------------------------------

  draw() {
    const { layout, state } = this;
    const theme = this.shownTheme;
    const brush = sizedCanvas(this.canvas, layout.width, layout.height);
    brush.clearRect(0, 0, layout.width, layout.height);
    this.paintField(theme);
    this.raster.draw(brush, layout);
    this.drawWalls(brush);
    brush.save();
    brush.beginPath();
    brush.rect(layout.area.left - 10, layout.area.top - 8, layout.area.width + 20, layout.area.height + 18);
    brush.clip();
    if (this.crowd) this.drawDots(brush);
    else this.drawPlayers(brush);
    brush.restore();
    if (this.cursor >= 0) drawCellCursor(brush, layout, this.cursor);
    drawMapAxes(brush, layout, theme);
    const scale = { ramp: VIRIDIS, low: 0, high: state.worthMax, unit: "worth per cell" };
    drawMapScale(brush, layout, theme, { ...scale, more: this.crowd ? "(dim: not covered)" : "" });
    this.side?.draw(layout, theme, this.chosen);
    this.tell();
  }

  paintField(theme) {
    const { state, raster } = this;
    const worth = state.worthAt();
    const key = `${state.ground} ${theme.dark}`;
    const grey = packedColour(theme.dark ? "#4a5058" : "#b4b8bd");
    if (this.crowd) {
      const counts = state.coverCounts();
      const changed = state.takeChanged();
      this.dim ??= {};
      this.dim[theme.dark] ??= dimmedRamp(VIRIDIS, theme.dark ? "#15181c" : "#d8dade", 0.72);
      const look = { counts, dim: this.dim[theme.dark], mask: this.bareWalls(worth), masked: grey };
      if (key !== this.painted) raster.grade(worth, 0, state.worthMax);
      if (key !== this.painted || changed === null) raster.paint(VIRIDIS, look);
      else raster.repaint(changed, VIRIDIS, look);
    } else if (key !== this.painted) {
      raster.grade(worth, 0, state.worthMax);
      raster.paint(VIRIDIS, { mask: this.bareWalls(worth), masked: grey });
    }
    this.painted = key;
  }

  /** Blocked cells without worth, which are grey; computed once unless the field drifts. */
  bareWalls(worth) {
    if (!this.walls.bare || this.state.drift || this.state.edits.steps) {
      const blocked = this.state.wallsNow();
      this.walls.bare = blocked.map((wall, cell) => (wall && worth[cell] === 0 ? 1 : 0));
    }
    return this.walls.bare;
  }

  drawWalls(brush) {
    const drawn = `drawn ${this.state.edits.upTo(this.state.timeline.step)}`;
    if (this.walls.key !== drawn) {
      const blocked = this.state.wallsNow();
      this.walls.path = blocked.includes(1) ? cellPath(this.layout, (cell) => blocked[cell]) : null;
      this.walls.key = drawn;
    }
    if (!this.walls.path) return;
    drawWallsOn(brush, this.walls.path);
  }

  drawPlayers(brush) {
    const { layout, state } = this;
    const { options } = this.context;
    const robots = Array.from({ length: state.robots }, (_, robot) => robot);
    if (options.flags && state.header.map.flags) this.flags.draw(brush, layout, state.timeline.step);
    const span = Math.max(30, Math.round(state.timeline.steps / 40));
    if (options.paths !== "none") {
      const come = robots.filter((robot) => state.isThere(robot) || state.isLost(robot)); // none that was removed
      for (const robot of come) drawWay(brush, layout, state, robot, options.paths === "whole", span);
    }
    state.sync();
    if (this.outline.key !== state.version) {
      this.outline = { key: state.version, path: outlinePath(layout, state.counts) };
    }
    strokeOutline(brush, this.outline.path);
    drawTargets(brush, layout, state.targets, 9);
    const there = robots.filter((robot) => state.isThere(robot));
    drawLost(brush, layout, state, robots.filter((robot) => state.isLost(robot)), this.chosen);
    drawRanges(brush, layout, state, there, this.chosen);
    drawRobots(brush, layout, state, there, this.chosen);
  }

  drawDots(brush) {
    const { layout, state } = this;
    drawTargets(brush, layout, state.targets, 9);
    if (state.robots <= MOST_DOTS && layout.wide >= 2) {
      const side = Math.max(1.5, Math.min(4, 0.5 * layout.wide));
      for (const [colour, size] of [["rgba(0,0,0,0.75)", side + 1.2], ["#ffffff", side]]) {
        brush.fillStyle = colour;
        for (let robot = 0; robot < state.robots; robot += 1) {
          const cell = state.places[robot];
          if (cell < 0) continue;
          const x = layout.x((cell % state.columns) + 0.5);
          const y = layout.y(Math.floor(cell / state.columns) + 0.5);
          brush.fillRect(x - size / 2, y - size / 2, size, size);
        }
      }
    }
    if (this.chosen === null) return;
    if (state.isLost(this.chosen)) drawLost(brush, layout, state, [this.chosen], this.chosen);
    if (!state.isThere(this.chosen)) return;
    drawRanges(brush, layout, state, [this.chosen], this.chosen);
    drawRobots(brush, layout, state, [this.chosen], this.chosen);
  }

  // Words ----------------------------------------------------------------------------------------------

  tell() {
    this.readout.setAttribute("aria-live", this.context.playing() ? "off" : "polite");
    setText(this.readout, this.noticeNow() || (this.cursor >= 0 ? this.cellWords(this.cursor) : this.restWords()));
    if (this.context.playing()) return;
    clearTimeout(this.labelling);
    const label = () => this.canvas.setAttribute("aria-label", this.describe());
    if (this.crowd && this.canvas.hasAttribute("aria-label")) this.labelling = setTimeout(label, LABEL_AFTER);
    else label();
  }

  /** A sentence that stands until the step or the choice changes, or another cell is pointed at. */
  say(sentence) {
    this.notice = { sentence, step: this.state.timeline.step };
    this.draw();
  }

  noticeNow() {
    return this.notice?.step === this.state.timeline.step ? this.notice.sentence : "";
  }

  restWords() {
    this.state.sync();
    const { covered } = this.state;
    const told = `${formatCount(covered)} of ${formatCount(this.state.cells)} cells covered.`;
    if (this.crowd && this.chosen !== null) return this.robotWords(this.chosen);
    const fate = this.chosen === null || this.side ? "" : fateOf(this.state, this.chosen);
    return fate ? `${told} Robot ${this.chosen} ${fate}.` : told;
  }

  /** A robot of a crowd, which no table lists. */
  robotWords(robot) {
    const { state } = this;
    const fate = fateOf(state, robot);
    if (fate && !state.isLost(robot)) return `Robot ${robot} ${fate}.`;
    const moves = counted(state.timeline.changesOf(robot), "move");
    const way = `${wayName(state)} ${wayText(state, robot)} ${state.lengths.unit} driven in ${moves}`.trim();
    const does = fate || `covers worth ${formatNumber(state.worthOf(robot))}`;
    return `Robot ${robot} at ${placeText(state, robot)}: ${does}, ${way}.`;
  }

  cellWords(cell) {
    const { state } = this;
    const x = cell % state.columns;
    const y = Math.floor(cell / state.columns);
    const who = state.coverers(cell);
    const few = `robot${who.length > 1 ? "s" : ""} ${who.join(", ")}`;
    const listed = who.length > 8 ? `${formatCount(who.length)} robots` : few;
    const parts = [`Cell ${state.lengths.cellWords(x, y)}: worth ${formatNumber(state.worthAt()[cell])}`];
    parts.push(who.length ? `covered by ${listed}` : "not covered");
    if (state.wallsNow()[cell]) parts.push("blocked");
    if (state.header.map.flags && !this.crowd) {
      const flag = state.flagHistory().at(cell, state.timeline.step);
      if (flag) parts.push(flag < 0 ? "flags of several robots" : `flag of robot ${flag - 1}`);
    }
    const target = state.targetAt(x, y);
    if (target >= 0) parts.push(`target ${target}`);
    for (const robot of this.lostNear(x, y)) parts.push(`robot ${robot}, ${fateOf(state, robot)}`);
    return `${parts.join(", ")}.`;
  }

  /** Robots that have failed and whose crosses lie on a cell; of a crowd, only those in it. */
  lostNear(x, y) {
    const { layout, state } = this;
    const near = (cell) =>
      Math.hypot(((cell % state.columns) - x) * layout.wide, (Math.floor(cell / state.columns) - y) * layout.high);
    const robots = Array.from({ length: state.until ? state.robots : 0 }, (_, robot) => robot);
    const within = this.crowd ? 0 : NEAR_CROSS;
    return robots.filter((robot) => state.isLost(robot) && near(state.cellOf(robot)) <= within).slice(0, 8);
  }

  describe() {
    const { state } = this;
    const { union } = state.totals();
    const { covered } = state;
    const told = `${formatCount(covered)} of ${formatCount(state.cells)} cells covered, worth ${formatNumber(union)}`;
    return `Map at step ${formatCount(state.timeline.step)}: ${crewText(state)}, ${told}.`;
  }

  // Hands ----------------------------------------------------------------------------------------------

  select(robot) {
    this.chosen = robot;
    this.notice = null;
    this.draw();
  }

  robotUnder(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.nearestRobot(event.clientX - box.left, event.clientY - box.top, NEAR);
  }

  nearestRobot(px, py, within) {
    const { layout, state } = this;
    let nearest = null;
    let least = within;
    for (let robot = 0; robot < state.robots; robot += 1) {
      if (!state.isThere(robot) && !state.isLost(robot)) continue;
      const cell = state.cellOf(robot);
      const x = layout.x((cell % state.columns) + 0.5);
      const y = layout.y(Math.floor(cell / state.columns) + 0.5);
      const away = Math.hypot(px - x, py - y);
      if (away < least) [least, nearest] = [away, robot];
    }
    return nearest;
  }

  point(cell) {
    if (cell === this.cursor) return;
    this.cursor = cell;
    if (cell >= 0) this.notice = null;
    this.context.redraw(this);
  }

  press(event) {
    if (event.key === "Escape") return void this.frame.blur();
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { columns } = this.state;
    if (event.key === "Enter" && this.cursor >= 0) {
      const x = this.layout.x((this.cursor % columns) + 0.5);
      const y = this.layout.y(Math.floor(this.cursor / columns) + 0.5);
      this.context.onSelect(this.nearestRobot(x, y, NEAR));
    } else if (cellByKey(event, this.cursor, this.layout) !== null) {
      this.point(cellByKey(event, this.cursor, this.layout));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
