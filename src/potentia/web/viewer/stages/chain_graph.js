// The chain of a rule on a small game as a graph: a node per profile, an edge per transition.

import { PALETTE } from "../colours.js";
import { rulerOf, shortenedTo } from "../dom.js";
import { formatNumber, formatShare } from "../format.js";
import { shortAction } from "./actions.js";
import { bendBetween } from "./bends.js";
import { addElement, addShape, playerName, setShape } from "./parts.js";

const UNLIKELY = 0.01; // transitions less likely than this are hardly seen
const MARK_COLOUR = PALETTE[1];
const LARGEST_CELL = 120;
const GOOD_CELL = 80; // the smallest that is read well
const SMALLEST_CIRCLE = 420; // of profiles, where there is the width
const NOTE_HIGH = 40; // of the words under the stage
const LARGEST_NAME = 13; // pixels that letters of a profile are high

export class ChainGraph {
  constructor(host, timeline, occupation, context) {
    this.timeline = timeline;
    this.occupation = occupation;
    this.context = context;
    this.players = timeline.profile.length;
    this.law = Boolean(timeline.recording.header.table?.law);
    this.box = addElement(host, "div", { name: "stage-chain", style: { flex: "none", maxWidth: "100%" } });
    this.svg = addShape(this.box, "svg", { role: "img" });
    Object.assign(this.svg.style, { display: "block", maxWidth: "100%", font: "12px system-ui, sans-serif" });
  }

  /** The width from which the graph is read well. */
  get wanted() {
    return this.players === 2 ? Math.min(420, 40 + GOOD_CELL * this.timeline.actionsOf(1)) : 420;
  }

  /** Places everything anew: the size or the colours of the page changed. */
  build(width) {
    this.svg.replaceChildren();
    this.theme = this.context.theme();
    if (this.players === 2) this.placeGrid(width);
    else this.placeCircle(width);
    setShape(this.svg, { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}` });
    if (this.law) this.addEdges();
    this.arrow = addShape(this.svg, "g", { fill: "none", stroke: MARK_COLOUR, "stroke-width": 3.5 });
    this.arrow.classList.add("last-move");
    this.areas = []; // what is seen of the law, and told
    this.titles = [];
    this.nodes = this.places.map((_, number) => this.addNode(number));
    this.shown = null;
    this.moved = null;
    this.lawful = null;
    this.showLaw(this.law);
  }

  placeGrid(width) {
    const rows = this.timeline.actionsOf(0);
    const columns = this.timeline.actionsOf(1);
    const rowNames = Array.from({ length: rows }, (_, a) => shortAction(this.timeline, a, 0));
    const ruler = rulerOf("12px system-ui, sans-serif");
    const left = Math.min(width * 0.25, 24 + widest(ruler, rowNames));
    const cell = Math.min(LARGEST_CELL, (width - left - 4) / columns);
    const top = 40;
    this.cell = cell;
    this.radius = Math.min(28, 0.3 * cell);
    this.width = left + columns * cell + 4;
    this.height = top + rows * cell + 4;
    this.places = Array.from({ length: rows * columns }, (_, number) => ({
      x: left + ((number % columns) + 0.5) * cell,
      y: top + (Math.floor(number / columns) + 0.5) * cell,
    }));
    const ink = { fill: this.theme.ink };
    const names = [0, 1].map((player) => playerName(this.timeline, player));
    addShape(this.svg, "text", { x: left + (columns * cell) / 2, y: 14, "text-anchor": "middle", ...ink }, names[1]);
    const turn = `translate(12 ${top + (rows * cell) / 2}) rotate(-90)`;
    addShape(this.svg, "text", { transform: turn, "text-anchor": "middle", ...ink }, names[0]);
    for (let a = 0; a < columns; a++) {
      const name = shortenedTo(ruler, shortAction(this.timeline, a, 1), cell - 4);
      addShape(this.svg, "text", { x: left + (a + 0.5) * cell, y: 32, "text-anchor": "middle", ...ink }, name);
    }
    rowNames.forEach((name, a) => {
      const at = { x: left - 4, y: top + (a + 0.5) * cell + 4, "text-anchor": "end", ...ink };
      addShape(this.svg, "text", at, shortenedTo(ruler, name, left - 20));
    });
  }

  placeCircle(width) {
    const count = this.occupation.count;
    const side = Math.min(width, 560, Math.max(SMALLEST_CIRCLE, this.context.heightLeft() - NOTE_HIGH));
    const names = Array.from({ length: count }, (_, number) => this.shortName(number));
    const outside = widest(rulerOf(`${LARGEST_NAME}px system-ui, sans-serif`), names);
    const wide = (margin) => (Math.PI * (side / 2 - margin)) / count;
    this.radius = Math.min(28, 0.8 * wide(30));
    const beside = this.law || outside > 2 * this.radius - 4; // where a disc is drawn, or a name does not fit within
    this.outside = beside ? outside + 8 : 0;
    if (this.outside) this.radius = Math.min(22, 0.8 * wide(this.outside + 12));
    const far = side / 2 - this.outside - this.radius - 4;
    this.width = side;
    this.height = side;
    this.places = Array.from({ length: count }, (_, number) => {
      const angle = (2 * Math.PI * number) / count - Math.PI / 2;
      return { x: side / 2 + far * Math.cos(angle), y: side / 2 + far * Math.sin(angle), angle };
    });
  }

  /** A profile by the numbers of its actions. */
  shortName(number) {
    const actions = Array.from({ length: this.players }, (_, player) => this.occupation.actionOf(number, player));
    return actions.join(actions.some((action) => action > 9) || this.players < 4 ? "," : "");
  }

  /** A profile by the names of its actions, or by their numbers where they have none. */
  fullName(number) {
    const names = Array.from({ length: this.players }, (_, player) =>
      shortAction(this.timeline, this.occupation.actionOf(number, player), player),
    );
    return `(${names.join(", ")})`;
  }

  addNode(number) {
    const { x, y } = this.places[number];
    const group = addShape(this.svg, "g", { "data-profile": number });
    const share = this.law ? this.timeline.recording.arrays.stationary[number] : 0;
    this.titles.push(addShape(group, "title"));
    const ring = addShape(group, "circle", { cx: x, cy: y, r: this.radius, fill: this.theme.paper });
    if (this.law) {
      const r = this.radius * Math.sqrt(share / this.largest());
      this.areas.push(addShape(group, "circle", { cx: x, cy: y, r, fill: PALETTE[0], "fill-opacity": 0.5 }));
    }
    this.addName(group, number);
    this.markNode(ring, false);
    return ring;
  }

  addName(group, number) {
    const { x, y, angle } = this.places[number];
    const name = this.shortName(number);
    const size = Math.min(LARGEST_NAME, Math.max(8, 1.3 * this.radius));
    const halo = { stroke: this.theme.paper, "stroke-width": 3, "stroke-opacity": 0.75, "paint-order": "stroke" };
    const look = { fill: this.theme.ink, "font-size": size, ...halo }; // read on discs of any size
    if (this.law && !this.outside) {
      const low = y + 0.62 * this.radius + 0.33 * size; // within the disc, where no arrow comes, and its middle is seen
      addShape(group, "text", { x, y: low, "text-anchor": "middle", ...look }, name);
      return;
    }
    if (!this.outside) {
      const fits = name.length * size * 0.55 <= 2 * this.radius;
      if (fits) addShape(group, "text", { x, y: y + size * 0.36, "text-anchor": "middle", ...look }, name);
      return;
    }
    const flipped = Math.cos(angle) < -1e-9; // names on the left side are read from the left, too
    const far = this.radius + 6;
    const turn = `translate(${x + far * Math.cos(angle)} ${y + far * Math.sin(angle)}) `;
    const degrees = (angle * 180) / Math.PI + (flipped ? 180 : 0);
    const anchor = flipped ? "end" : "start";
    const place = { transform: `${turn}rotate(${degrees})`, "text-anchor": anchor, dy: "0.35em" };
    addShape(group, "text", { ...place, ...look }, name);
  }

  largest() {
    return this.timeline.recording.arrays.stationary.reduce((most, share) => Math.max(most, share), 1e-300);
  }

  addEdges() {
    const { chain_from: from, chain_to: to, chain_probability: probability } = this.timeline.recording.arrays;
    const group = addShape(this.svg, "g", { fill: "none", stroke: this.theme.grey });
    this.edges = group;
    const headed = this.occupation.count <= 16; // arrow heads of more would be a blur
    for (let k = 0; k < from.length; k++) {
      const chance = probability[k];
      if (from[k] === to[k] || !(chance > 0)) continue;
      const bend = this.bend(from[k], to[k]);
      const opacity = chance < UNLIKELY ? 0.12 : headed ? 0.75 : 0.35;
      const look = { "stroke-width": 0.6 + 7 * chance, "stroke-opacity": opacity };
      const path = addShape(group, "path", { d: bend.path, ...look });
      addShape(path, "title", {}, `${this.fullName(from[k])} to ${this.fullName(to[k])}: ${formatNumber(chance)}`);
      if (headed) addShape(group, "path", { d: bend.head, fill: this.theme.grey, opacity, stroke: "none" });
    }
  }

  /** A bent line from one node to another, and its arrow head. Ways there and back bend apart. */
  bend(from, to) {
    const a = this.places[from];
    const b = this.places[to];
    const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const around = this.players === 2 && long > 1.5 * this.cell; // past the nodes between
    const aside = around ? 0.42 * this.cell : 0.13 * long;
    return bendBetween(a, b, aside, this.radius);
  }

  /** Shows the law, or hides it where another rule is played; everything stays where it is. */
  showLaw(shown) {
    if (this.lawful === shown) return;
    this.lawful = shown;
    const { stationary } = this.timeline.recording.arrays;
    this.titles.forEach((title, number) => {
      const law = shown ? `: ${formatShare(stationary[number])} of the time in the long run` : "";
      title.textContent = this.fullName(number) + law;
    });
    const visibility = shown ? "visible" : "hidden";
    if (this.law) for (const shape of [this.edges, ...this.areas]) setShape(shape, { visibility });
  }

  /** Marks the profile that is played now, and the last move as an arrow. */
  draw(number, move) {
    if (this.shown !== number) {
      if (this.shown !== null) this.markNode(this.nodes[this.shown], false);
      this.markNode(this.nodes[number], true);
      this.shown = number;
    }
    const key = move ? `${move.from} ${move.to}` : "";
    if (this.moved === key) return;
    this.moved = key;
    this.arrow.replaceChildren();
    if (!move) return;
    const bend = this.bend(move.from, move.to);
    addShape(this.arrow, "path", { d: bend.path });
    addShape(this.arrow, "path", { d: bend.head, fill: MARK_COLOUR });
  }

  markNode(ring, current) {
    setShape(ring, { stroke: current ? MARK_COLOUR : this.theme.grey, "stroke-width": current ? 5 : 1 });
    if (current) ring.parentNode.setAttribute("aria-current", "true");
    else ring.parentNode.removeAttribute("aria-current");
  }
}

function widest(ruler, texts) {
  return Math.max(...texts.map((text) => ruler.measureText(text).width));
}
