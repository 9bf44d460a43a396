// What lies on a map: walls, targets, flags, ways, robots and their ranges.

import { faded, inkOn, robotColour } from "../colours.js";
import { FONT, hiddenCanvas } from "../dom.js";
import { countUpTo } from "../timeline.js";

export const MOST_NUMBERED = 60; // robots with a number; beyond, numbers hide the map
const TAIL_MOVES = 60;
const ASIDE = [33, 24]; // pixels from the middle of a robot to that of a label beside it, or above

/** A pattern of lines or dots, as wide as on any screen. */
function tilePattern(context, size, draw) {
  const ratio = window.devicePixelRatio || 1;
  const tile = hiddenCanvas(Math.round(size * ratio), Math.round(size * ratio));
  const brush = tile.getContext("2d");
  brush.scale(tile.width / size, tile.height / size);
  draw(brush);
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(size / tile.width, size / tile.height));
  return pattern;
}

/** Walls: the brown of pictures and films (colours.py), on no scale of worth, whatever the cells are worth. */
export function drawWallsOn(context, path) {
  context.fillStyle = "#96602f";
  context.fill(path);
}

/** Dots, for cells that were never seen. */
export function dotPattern(context, colour) {
  return tilePattern(context, 7, (brush) => {
    brush.fillStyle = colour;
    for (const [x, y] of [[1.75, 1.75], [5.25, 5.25]]) {
      brush.beginPath();
      brush.arc(x, y, 0.95, 0, 7);
      brush.fill();
    }
  });
}

/** A star on each target. */
export function drawTargets(context, layout, targets, radius = 8) {
  for (const [column, row] of targets) {
    const x = layout.x(column + 0.5);
    const y = layout.y(row + 0.5);
    context.beginPath();
    for (let k = 0; k < 10; k += 1) {
      const turn = (Math.PI * k) / 5 - Math.PI / 2;
      const far = k % 2 ? 0.42 * radius : radius;
      context.lineTo(x + far * Math.cos(turn), y + far * Math.sin(turn));
    }
    context.closePath();
    context.fillStyle = "#ffffff";
    context.strokeStyle = "#000000";
    context.lineWidth = 1.2;
    context.fill();
    context.stroke();
  }
}

/** Flags on a canvas of their own: going forward only new ones are drawn. */
export class FlagLayer {
  constructor(state) {
    this.state = state;
    this.canvas = hiddenCanvas(1, 1);
    this.layout = null;
    this.drawn = 0;
    this.ratio = 0;
  }

  draw(context, layout, step) {
    const history = this.state.flagHistory();
    const goal = countUpTo(history.eventSteps, step);
    const ratio = window.devicePixelRatio || 1;
    const brush = this.canvas.getContext("2d");
    if (layout !== this.layout || ratio !== this.ratio || goal < this.drawn) {
      this.layout = layout;
      this.ratio = ratio;
      this.canvas.width = Math.max(1, Math.round(layout.width * ratio));
      this.canvas.height = Math.max(1, Math.round(layout.height * ratio));
      this.drawn = 0;
    }
    brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    const side = Math.max(1, Math.min(5, 0.36 * Math.min(layout.wide, layout.high)));
    for (; this.drawn < goal; this.drawn += 1) {
      const cell = history.events[this.drawn];
      const owner = history.at(cell, history.eventSteps[this.drawn]);
      const x = layout.x((cell % layout.columns) + 0.5);
      const y = layout.y(Math.floor(cell / layout.columns) + 0.5);
      brush.fillStyle = "rgba(255,255,255,0.75)";
      if (side > 2) brush.fillRect(x - side / 2 - 0.75, y - side / 2 - 0.75, side + 1.5, side + 1.5);
      brush.fillStyle = owner < 0 ? "#000000" : robotColour(owner - 1);
      brush.fillRect(x - side / 2, y - side / 2, side, side);
    }
    context.drawImage(this.canvas, 0, 0, this.canvas.width / ratio, this.canvas.height / ratio);
  }
}

/** The way of a robot: all of it from its start, or the last moves, which fade. */
export function drawWay(context, layout, state, robot, whole, span) {
  const { timeline, grid } = state;
  const order = timeline.changesOfPlayer(robot);
  const end = timeline.changesOf(robot);
  let first = whole ? 0 : Math.max(0, end - TAIL_MOVES);
  if (!whole) while (first < end && timeline.changeSteps[order[first]] < timeline.step - span) first += 1;
  const middle = (action) => {
    const cell = grid.cellOf[action];
    return [layout.x((cell % grid.columns) + 0.5), layout.y(Math.floor(cell / grid.columns) + 0.5)];
  };
  const colour = robotColour(robot);
  const begin = whole ? timeline.recording.arrays.start[robot] : timeline.changeBefore[order[first]];
  context.lineJoin = "round";
  context.lineCap = "round";
  if (whole) {
    const path = new Path2D();
    path.moveTo(...middle(begin));
    for (let k = first; k < end; k += 1) path.lineTo(...middle(timeline.changeAfter[order[k]]));
    strokeTwice(context, path, colour, 1.4, 0.35);
    context.beginPath();
    context.arc(...middle(begin), 3.5, 0, 7);
    context.fillStyle = "#ffffff";
    context.fill();
    context.strokeStyle = colour;
    context.lineWidth = 1.8;
    context.stroke();
    return;
  }
  for (let k = first; k < end; k += 1) {
    const age = Math.max((end - 1 - k) / TAIL_MOVES, (timeline.step - timeline.changeSteps[order[k]]) / (span + 1));
    context.beginPath();
    context.moveTo(...middle(timeline.changeBefore[order[k]]));
    context.lineTo(...middle(timeline.changeAfter[order[k]]));
    context.strokeStyle = `rgba(255,255,255,${0.6 * (1 - age)})`;
    context.lineWidth = 3.6;
    context.stroke();
    context.strokeStyle = faded(colour, 1 - 0.9 * age);
    context.lineWidth = 2;
    context.stroke();
  }
}

function strokeTwice(context, path, colour, width, halo) {
  context.strokeStyle = `rgba(255,255,255,${halo})`;
  context.lineWidth = width + 2;
  context.stroke(path);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke(path);
}

/** White with a dark edge, to be seen on any colour of the field. */
export function strokeOutline(context, path) {
  context.lineCap = "square";
  context.strokeStyle = "rgba(0,0,0,0.6)";
  context.lineWidth = 3;
  context.stroke(path);
  context.strokeStyle = "#ffffff";
  context.lineWidth = 1.3;
  context.stroke(path);
}

/** Ranges as circles of radius δ around these robots. */
export function drawRanges(context, layout, state, robots, chosen) {
  const { delta } = state.arrays;
  const { left, top, width, height } = layout.area;
  context.save();
  context.beginPath();
  context.rect(left, top, width, height); // or they lie under the numbers of the axes
  context.clip();
  for (const robot of robots) {
    const cell = state.cellOf(robot);
    const range = delta.length === 1 ? delta[0] : delta[robot];
    const path = new Path2D();
    const x = layout.x((cell % state.columns) + 0.5);
    const y = layout.y(Math.floor(cell / state.columns) + 0.5);
    path.ellipse(x, y, range * layout.wide, range * layout.high, 0, 0, 2 * Math.PI);
    strokeTwice(context, path, robotColour(robot), robot === chosen ? 3 : 1.8, 0.75);
  }
  context.restore();
}

/** Robots as circles with numbers; those on one cell share a marker. Returns where they are, for clicks. */
export function drawRobots(context, layout, state, robots, chosen) {
  const groups = new Map();
  for (const robot of robots) {
    const cell = state.cellOf(robot);
    if (!groups.has(cell)) groups.set(cell, []);
    groups.get(cell).push(robot);
  }
  const { radius, numbered } = markerSize(layout, state.robots);
  const last = [...groups].sort((a, b) => Number(a[1].includes(chosen)) - Number(b[1].includes(chosen)));
  context.font = `600 ${Math.max(9, radius + 2)}px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const [cell, members] of last) {
    const x = layout.x((cell % state.columns) + 0.5);
    const y = layout.y(Math.floor(cell / state.columns) + 0.5);
    const shown = members.includes(chosen) ? chosen : members[members.length - 1];
    const text = members.length > 3 ? `${members.length}×` : members.join(",");
    const told = numbered || members.includes(chosen);
    const half = told ? Math.max(0, context.measureText(text).width / 2 - radius + 4) : 0;
    drawMarker(context, x, y, half, told ? Math.max(7, radius) : radius, robotColour(shown), members.includes(chosen));
    if (told) {
      context.fillStyle = inkOn(robotColour(shown));
      context.fillText(text, x, y + 0.5);
    }
  }
}

/** A grey cross for each robot that has failed, and its number. */
export function drawLost(context, layout, state, robots, chosen) {
  for (const robot of robots) {
    const cell = state.cellOf(robot);
    const x = layout.x((cell % state.columns) + 0.5);
    const y = layout.y(Math.floor(cell / state.columns) + 0.5);
    const far = 0.8 * markerSize(layout, state.robots).radius;
    const path = new Path2D();
    for (const side of [-1, 1]) {
      path.moveTo(x - far, y - side * far);
      path.lineTo(x + far, y + side * far);
    }
    context.lineCap = "round";
    for (const [colour, width] of [["#ffffff", 5], [robot === chosen ? "#000000" : "#6e6e6e", 2.6]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke(path);
    }
    if (markerSize(layout, state.robots).numbered || robot === chosen) drawBeside(context, x + far + 3, y, String(robot));
  }
}

/** A number right of a place, with a white edge to be read on any colour. */
function drawBeside(context, x, y, text) {
  context.font = `600 11px ${FONT}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.strokeStyle = "#ffffff";
  context.lineWidth = 3.5;
  context.strokeText(text, x, y + 0.5);
  context.fillStyle = "#3c3c3c";
  context.fillText(text, x, y + 0.5);
}

/** A ring around a robot's cell, through which the cell is seen. */
export function drawPlace(context, layout, state, robot) {
  const cell = state.cellOf(robot);
  const path = new Path2D();
  const far = Math.max(8, 1.1 * layout.wide);
  path.arc(layout.x((cell % state.columns) + 0.5), layout.y(Math.floor(cell / state.columns) + 0.5), far, 0, 7);
  strokeTwice(context, path, robotColour(robot), 2.5, 1);
}

/** How large robots are, and whether all have room for their numbers. */
function markerSize(layout, robots) {
  const { width, height } = layout.area;
  const radius = Math.min(robots <= 10 ? 9 : 8, 0.16 * Math.sqrt((width * height) / robots));
  const numbered = robots <= MOST_NUMBERED && radius >= 6.5;
  return { radius: numbered ? radius : Math.max(2.5, Math.min(4.5, radius)), numbered };
}

function drawMarker(context, x, y, half, radius, colour, chosen) {
  const around = (far) => {
    context.beginPath();
    context.arc(x - half, y, far, Math.PI / 2, -Math.PI / 2);
    context.arc(x + half, y, far, -Math.PI / 2, Math.PI / 2);
    context.closePath();
  };
  if (chosen) {
    around(radius + 5);
    context.fillStyle = "#000000";
    context.fill();
    around(radius + 3.5);
    context.fillStyle = "#ffffff";
    context.fill();
  }
  around(radius + 1.5);
  context.fillStyle = "#ffffff";
  context.fill();
  around(radius);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = "#000000";
  context.lineWidth = radius > 4 ? 1 : 0.6;
  context.stroke();
}

/** Ellipses at one and two standard deviations around the means of components. */
export function drawComponents(context, layout, components) {
  const up = layout.upper ? 1 : -1;
  for (const { x, y, xx, xy, yy } of components) {
    const mean = (xx + yy) / 2;
    const away = Math.hypot((xx - yy) / 2, xy);
    const turn = up * 0.5 * Math.atan2(2 * xy, xx - yy);
    for (const deviations of [1, 2]) {
      const path = new Path2D();
      const long = deviations * Math.sqrt(Math.max(0, mean + away)) * layout.wide;
      const short = deviations * Math.sqrt(Math.max(0, mean - away)) * layout.wide;
      path.ellipse(layout.x(x), layout.y(y), long, short, turn, 0, 2 * Math.PI);
      context.setLineDash(deviations === 2 ? [5, 4] : []);
      context.strokeStyle = "rgba(0,0,0,0.45)";
      context.lineWidth = 2.6;
      context.stroke(path);
      context.strokeStyle = "#ffffff";
      context.lineWidth = 1.2;
      context.stroke(path);
    }
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(layout.x(x) - 4, layout.y(y));
    context.lineTo(layout.x(x) + 4, layout.y(y));
    context.moveTo(layout.x(x), layout.y(y) - 4);
    context.lineTo(layout.x(x), layout.y(y) + 4);
    context.strokeStyle = "#000000";
    context.lineWidth = 1.4;
    context.stroke();
  }
}

/** Each component's weight on its outer ellipse, where that is farthest from everything else that is marked. */
export function drawWeights(context, layout, components, cells) {
  const { left, top, width, height } = layout.area;
  const middle = (cell) => [layout.x((cell % layout.columns) + 0.5), layout.y(Math.floor(cell / layout.columns) + 0.5)];
  const marked = [...cells.map(middle), ...components.map(({ x, y }) => [layout.x(x), layout.y(y)])];
  const rings = components.map(({ x, y, xx, xy, yy }) => {
    const a = Math.sqrt(Math.max(xx, 0)); // the root of the covariance, as a triangle
    const b = a > 0 ? xy / a : 0;
    const c = Math.sqrt(Math.max(yy - b * b, 0));
    return Array.from({ length: 24 }, (_, k) => {
      const [u, v] = [2 * Math.sin((Math.PI * k) / 12), 2 * Math.cos((Math.PI * k) / 12)];
      return asideOf(layout.x(x), layout.y(y), layout.x(x + a * u), layout.y(y + b * u + c * v), u, v);
    });
  });
  components.forEach(({ weight }, k) => {
    const others = [...marked, ...rings.filter((_, j) => j !== k).flat()];
    const room = ([x, y]) => {
      const inside = Math.min(x - left - 20, left + width - 20 - x, y - top - 12, top + height - 12 - y);
      return inside < 0 ? inside - 1e6 : Math.min(...others.map(([u, v]) => Math.hypot(u - x, v - y)));
    };
    const best = rings[k].reduce((found, place) => (room(place) > room(found) ? place : found));
    const x = Math.min(left + width - 20, Math.max(left + 20, best[0]));
    const y = Math.min(top + height - 10, Math.max(top + 10, best[1]));
    marked.push([x, y]);
    drawWeight(context, x, y, weight.toFixed(2));
  });
}

/** A place on an ellipse, or farther in its direction where that is so small that a label would hide what is in it. */
function asideOf(x, y, onX, onY, u, v) {
  const [dx, dy] = onX === x && onY === y ? [u, -v] : [onX - x, onY - y];
  const far = Math.max(1, Math.min(ASIDE[0] / Math.abs(dx), ASIDE[1] / Math.abs(dy)));
  return [x + far * dx, y + far * dy];
}

function drawWeight(context, x, y, text) {
  context.font = `11px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const half = context.measureText(text).width / 2 + 4;
  context.fillStyle = "rgba(255,255,255,0.88)";
  context.beginPath();
  context.roundRect(x - half, y - 8, 2 * half, 16, 4);
  context.fill();
  context.fillStyle = "#000000";
  context.fillText(text, x, y + 0.5);
}
