// Lengths and places in the unit of a map, where it has one, and in cells where it has none.

import { formatNumber, niceTicks } from "./format.js";

/** What the header of a map says of them; older recordings say nothing. */
export class Lengths {
  constructor({ cell_size, unit, places }) {
    this.side = cell_size ?? 1;
    this.unit = cell_size ? unit : "cells";
    this.places = places ?? null;
  }

  /** A length in cells as text. */
  text(cells) {
    return this.unit === "cells" ? cells.toFixed(1) : formatNumber(cells * this.side);
  }

  /** The coordinates of a cell's centre, rounded as in tables of the library; none where the map has none. */
  at(x, y) {
    return this.places ? [x, y].map((cell, axis) => rounded(this.outside(cell + 0.5, axis), 12)) : [];
  }

  outside(place, axis) {
    const { transform } = this.places;
    return axis ? transform[4] * place + transform[5] : transform[0] * place + transform[2];
  }

  /** A cell and its place in words: "(3, 4), x 3.5 m, y 4.5 m". */
  cellWords(x, y) {
    const told = this.at(x, y).map((value, axis) => `${this.places.names[axis]} ${formatPlace(value)}${this.unitAfter()}`);
    return [`(${x}, ${y})`, ...told].join(", ");
  }

  unitAfter() {
    const { unit } = this.places;
    return unit === "degrees" ? "°" : unit && ` ${unit}`;
  }

  /** What stands at an axis; nothing where it counts cells. */
  label(axis) {
    return this.places ? inBrackets(this.places.names[axis], this.places.unit, this.places.system) : "";
  }

  /** What both coordinates are called; nothing where there are none. */
  names() {
    return this.places ? inBrackets(this.places.names.join(", "), this.places.unit) : "";
  }

  /** Marks along so many cells, about as many as wanted: where they are, in cells, and what stands there. */
  ticks(axis, cells, wanted) {
    if (!this.places) return niceTicks(0, cells, wanted, true);
    const ends = [this.outside(0, axis), this.outside(cells, axis)];
    const slope = this.places.transform[axis ? 4 : 0];
    const marks = niceTicks(Math.min(...ends), Math.max(...ends), wanted);
    return marks.map(({ value }) => ({ value: (value - ends[0]) / slope, text: grouped(rounded(value, 10)) }));
  }

  /** Names of columns for what `at` gives, as in files of the library: x and y alone are those of cells. */
  columns() {
    return (this.places?.names ?? []).map((name) => (name.length > 1 ? name : inColumn(name, this.places.unit)));
  }

  /** How large so many cells are: "120 × 80 m". */
  sizeText(columns, rows) {
    if (this.unit === "cells") return "";
    const [wide, high] = [columns, rows].map((cells) => grouped(rounded(cells * this.side, 6)));
    return `${wide} × ${high} ${this.unit}, cells of ${formatPlace(rounded(this.side, 6))} ${this.unit}`;
  }
}

/** The name of a column of lengths, without blanks. */
export function inColumn(name, unit) {
  return [name, ...unit.split(/\s+/).filter(Boolean)].join("_");
}

function inBrackets(name, ...units) {
  const told = units.filter(Boolean).join(", ");
  return told ? `${name} (${told})` : name;
}

export function rounded(value, digits) {
  return Number(value.toPrecision(digits));
}

/** A coordinate as text, without commas: to be copied. */
export function formatPlace(value) {
  return String(value).replace(/-/g, "−");
}

function grouped(value) {
  const [whole, ...rest] = formatPlace(value).split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}
