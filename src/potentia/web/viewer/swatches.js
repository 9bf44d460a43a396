// How recordings look: a colour and dashes for each, the same in curves, headings, legends and tables.

import { mixed, PALETTE, readableColour } from "./colours.js";
import { svgElement } from "./dom.js";

const DASHES = [[], [7, 3], [7, 3, 2, 3], [2, 3]]; // by place, for those who do not see colours
const SHADES = [0, 0.45, 0.75, 0.25]; // of one colour, as in figures: towards the ink
const DARK_CONTRAST = 6; // so that a line that is yet to come is still seen on dark paper
const SWATCH = { wide: 30, high: 10, line: 3 };

/** The colour and dashes of every recording: the colour of its rule, of several of one rule shades of it. */
export function looksOf(recordings, theme) {
  const wanted = recordings.map(({ header }) => knownColour(header.rule?.colour));
  return recordings.map((recording, place) => {
    const before = wanted.slice(0, place).filter((colour) => colour === wanted[place]).length;
    const readable = readableColour(wanted[place], theme.paper, theme.dark ? DARK_CONTRAST : undefined);
    return {
      colour: mixed(readable, theme.dark ? "#ffffff" : "#000000", SHADES[before % SHADES.length]), // readable all the more
      dash: DASHES[place % DASHES.length],
      label: recording.label,
    };
  });
}

function knownColour(colour) {
  return /^#[0-9a-f]{6}$/i.test(colour ?? "") ? colour.toLowerCase() : PALETTE[0].toLowerCase();
}

/** A short line in the look of a recording; `paintSwatch` gives it that. */
export function makeSwatch() {
  const { wide, high } = SWATCH;
  const size = { class: "pv-swatch", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true" };
  return svgElement("svg", size, svgElement("path", { d: `M0 ${high / 2}H${wide}`, "stroke-width": SWATCH.line }));
}

export function paintSwatch(svg, look) {
  svg.firstChild.setAttribute("stroke", look.colour);
  svg.firstChild.setAttribute("stroke-dasharray", look.dash.join(" "));
}
