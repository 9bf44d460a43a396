// Where the cells of a map lie on a canvas, its field as pixels, its axes and its scale.

import { FONT, hiddenCanvas, rulerOf } from "../dom.js";
import { cssOf } from "../colours.js";
import { formatNumber, niceTicks } from "../format.js";

const LEFT = 34;
const RIGHT = 18;
const TOP = 10;
const AXIS = 22; // under the map
const AXIS_NAME = 15; // of the name of an axis, beside its numbers
const SCALE = 46; // of the scale and its numbers
const MOST_ROW_TICKS = 5;
const NARROWEST = 28; // pixels that the shorter side of a map has at least

/** The room that axes need: left of a map, and under it. */
export function axesRoom(lengths, rows) {
  if (!lengths.places) return { before: LEFT, under: AXIS };
  const ruler = rulerOf(`11px ${FONT}`);
  const wide = Math.max(0, ...lengths.ticks(1, rows, MOST_ROW_TICKS).map(({ text }) => ruler.measureText(text).width));
  return { before: Math.max(LEFT, Math.ceil(wide) + 10) + AXIS_NAME, under: AXIS + AXIS_NAME };
}

/** The place of a map on a canvas so wide, no higher than `highest`. Cells are square unless an area is too narrow. */
export function mapLayout(width, highest, { columns, rows, lengths }, upper) {
  const { before, under } = axesRoom(lengths, rows);
  const room = Math.max(60, width - before - RIGHT);
  const cell = Math.min(room / columns, highest / rows);
  const wide = Math.max(cell, NARROWEST / columns);
  const high = Math.max(cell, NARROWEST / rows);
  const left = before + Math.max(0, (room - wide * columns) / 2);
  const height = TOP + high * rows + under + SCALE;
  const x = (at) => left + at * wide;
  const y = upper ? (at) => TOP + at * high : (at) => TOP + (rows - at) * high;
  const cellAt = (px, py) => {
    const column = Math.floor((px - left) / wide);
    const row = Math.floor(upper ? (py - TOP) / high : rows - (py - TOP) / high);
    return column >= 0 && column < columns && row >= 0 && row < rows ? row * columns + column : -1;
  };
  const area = { left, top: TOP, width: wide * columns, height: high * rows };
  return { width, height, columns, rows, upper, lengths, before, under, wide, high, x, y, cellAt, area };
}

/** A field as an image of one pixel per cell. */
export class FieldRaster {
  constructor(columns, rows, upper) {
    this.columns = columns;
    this.rows = rows;
    this.upper = upper;
    this.canvas = hiddenCanvas(columns, rows);
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.levels = new Uint8Array(columns * rows);
  }

  /** Where a cell is in the image, whose first row is on top. */
  place(cell) {
    if (this.upper) return cell;
    const column = cell % this.columns;
    return (this.rows - 1 - (cell - column) / this.columns) * this.columns + column;
  }

  /** Values as numbers of colours: 0 at `low`, 255 at `high` and beyond. */
  grade(field, low, high) {
    const scale = 255.999 / (high - low || 1);
    const { levels } = this;
    for (let cell = 0; cell < levels.length; cell += 1) {
      const level = (field[cell] - low) * scale;
      levels[cell] = level > 255 ? 255 : level > 0 ? level : 0;
    }
  }

  /** All pixels, by level; those that `counts` calls 0 by another ramp, those of a mask by one colour. */
  paint(ramp, { counts = null, dim = ramp, mask = null, masked = 0 } = {}) {
    const { columns, rows, levels, pixels } = this;
    const both = Uint32Array.from([...dim, ...ramp]); // one table, so that nothing is decided cell by cell
    for (let y = 0; y < rows; y += 1) {
      const to = (this.upper ? y : rows - 1 - y) * columns;
      for (let x = 0, cell = y * columns; x < columns; x += 1, cell += 1) {
        const lit = counts === null ? 1 : -counts[cell] >>> 31; // 1 if anybody covers it, without a branch
        pixels[to + x] = both[levels[cell] + (lit << 8)];
      }
    }
    for (let cell = 0; mask !== null && cell < mask.length; cell += 1) if (mask[cell]) pixels[this.place(cell)] = masked;
    this.context.putImageData(this.image, 0, 0);
  }

  /** Only these cells, and only the rows between them are handed over. */
  repaint(cells, ramp, { counts, dim, mask = null, masked = 0 }) {
    if (!cells.length) return;
    let first = this.rows;
    let last = 0;
    for (const cell of cells) {
      const place = this.place(cell);
      const row = Math.floor(place / this.columns);
      if (row < first) first = row;
      if (row > last) last = row;
      this.pixels[place] = mask !== null && mask[cell] ? masked : (counts[cell] === 0 ? dim : ramp)[this.levels[cell]];
    }
    this.context.putImageData(this.image, 0, 0, 0, first, this.columns, last - first + 1);
  }

  draw(context, layout) {
    const { left, top, width, height } = layout.area;
    const shrunk = width * (window.devicePixelRatio || 1) < this.columns;
    context.imageSmoothingEnabled = shrunk; // cells stay sharp, and many in one pixel are averaged
    context.drawImage(this.canvas, left, top, width, height);
  }
}

/** One path around the cells for which `inside` holds, a rectangle for each run of cells in a row. */
export function cellPath(layout, inside) {
  const path = new Path2D();
  for (let y = 0; y < layout.rows; y += 1) {
    for (let x = 0; x < layout.columns; x += 1) {
      if (!inside(y * layout.columns + x)) continue;
      const first = x;
      while (x + 1 < layout.columns && inside(y * layout.columns + x + 1)) x += 1;
      const top = Math.min(layout.y(y), layout.y(y + 1));
      path.rect(layout.x(first), top, (x + 1 - first) * layout.wide, layout.high);
    }
  }
  return path;
}

/** The sides between cells that are covered and those that are not. */
export function outlinePath(layout, counts) {
  const { columns, rows } = layout;
  const path = new Path2D();
  const on = (x, y) => x >= 0 && x < columns && y >= 0 && y < rows && counts[y * columns + x] > 0;
  for (let y = 0; y <= rows; y += 1) {
    for (let x = 0; x < columns; x += 1) {
      if (on(x, y) === on(x, y - 1)) continue;
      const first = x;
      while (x + 1 < columns && on(x + 1, y) !== on(x + 1, y - 1)) x += 1;
      path.moveTo(layout.x(first), layout.y(y));
      path.lineTo(layout.x(x + 1), layout.y(y));
    }
  }
  for (let x = 0; x <= columns; x += 1) {
    for (let y = 0; y < rows; y += 1) {
      if (on(x, y) === on(x - 1, y)) continue;
      const first = y;
      while (y + 1 < rows && on(x, y + 1) !== on(x - 1, y + 1)) y += 1;
      path.moveTo(layout.x(x), layout.y(first));
      path.lineTo(layout.x(x), layout.y(y + 1));
    }
  }
  return path;
}

/** A frame, and a few numbers along two sides: of cells, or places with their unit. */
export function drawMapAxes(context, layout, theme) {
  const { left, top, width, height } = layout.area;
  context.strokeStyle = theme.grey;
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  context.fillStyle = theme.grey;
  context.font = `11px ${FONT}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const { lengths } = layout;
  for (const { value, text } of lengths.ticks(1, layout.rows, Math.min(MOST_ROW_TICKS, height / 40))) {
    context.fillText(text, left - 6, layout.y(value));
  }
  context.textAlign = "center";
  context.textBaseline = "top";
  const long = Math.max(0, ...lengths.ticks(0, layout.columns, 6).map(({ text }) => context.measureText(text).width));
  for (const { value, text } of lengths.ticks(0, layout.columns, Math.min(6, width / Math.max(50, long + 22)))) {
    context.fillText(text, layout.x(value), top + height + 6);
  }
  if (!lengths.places) return;
  context.fillText(lengths.label(0), left + width / 2, top + height + 6 + AXIS_NAME, layout.width);
  context.save();
  context.translate(left - (layout.before - 2), top + height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(lengths.label(1), 0, 0, top + height + layout.under);
  context.restore();
}

/** A bar of colours under a map, with numbers and what they are. */
export function drawMapScale(context, layout, theme, { ramp, low, high, unit, more = "", whole = false }) {
  const { left, top, width, height } = layout.area;
  const wide = Math.max(60, Math.min(width, 260));
  const x = left + (width - wide) / 2;
  const y = top + height + layout.under + 6;
  for (let k = 0; k < wide; k += 1) {
    context.fillStyle = cssOf(ramp[Math.min(255, Math.floor((256 * k) / wide))]);
    context.fillRect(x + k, y, 1.5, 8);
  }
  context.strokeStyle = theme.grey;
  context.lineWidth = 0.5;
  context.strokeRect(x, y, wide, 8);
  context.fillStyle = theme.ink;
  context.font = `11px ${FONT}`;
  context.textBaseline = "top";
  drawScaleNumbers(context, x, y + 12, wide, low, high, whole);
  const words = more ? `${unit} ${more}` : unit;
  const room = layout.width - (x + wide) - 8;
  context.fillStyle = theme.grey;
  const fits = context.measureText(words).width <= room;
  context.textAlign = fits ? "left" : "center";
  if (fits) context.fillText(words, x + wide + 8, y - 2);
  else context.fillText(words, x + wide / 2, y + 25, layout.width);
}

/** Both ends as they are, and round numbers between them where there is room. */
function drawScaleNumbers(context, x, y, wide, low, high, whole) {
  const place = (value) => x + ((value - low) / (high - low || 1)) * wide;
  const ends = [low, high].map((value) => ({ at: place(value), text: scaleNumber(value) }));
  const taken = ends.map(({ at, text }) => [at, context.measureText(text).width / 2]);
  context.textAlign = "center";
  ends.forEach(({ at, text }, k) => context.fillText(text, Math.min(at, x + wide + 14 - taken[k][1]), y));
  for (const { value, text } of niceTicks(low, high, 3, whole)) {
    const half = context.measureText(text).width / 2;
    if (taken.some(([at, other]) => Math.abs(at - place(value)) < half + other + 8)) continue;
    taken.push([place(value), half]);
    context.fillText(text, place(value), y);
  }
}

function scaleNumber(value) {
  if (value === 0 || Number.isInteger(value)) return formatNumber(value);
  const long = Math.abs(value) < 1e-4 || Math.abs(value) >= 1e5;
  const text = long ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  return text.replace("e+", "e").replace(/-/g, "−");
}
