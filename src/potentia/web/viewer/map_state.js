// A map at the timeline's step: who covers what, flags, the worth now, and what robots thought.

import { BitChain } from "./chains.js";
import { costOf, fillDrift, heldSince, moveTargets } from "./drift.js";
import { MapEdits } from "./edits.js";
import { FlagHistory } from "./flags.js";
import { DiscTable, gridOf } from "./grid.js";
import { Lengths } from "./lengths.js";
import { sightOf } from "./sight.js";
import { Ways } from "./ways.js";

const MANY_CELLS = 50; // for each robot: more are not looked through to find them
const FOLLOWING = 4; // what a cell of one robot costs, here and there in memory, against one of all in their order
const SAMPLES = 24; // times at which a drifting field is looked at to find its scale

/** Follows a timeline: methods answer for the step it is at, whoever moved it. */
export class MapState {
  constructor(timeline) {
    this.timeline = timeline;
    const { header, arrays } = timeline.recording;
    this.header = header;
    this.arrays = arrays;
    this.grid = gridOf(timeline.recording);
    this.columns = this.grid.columns;
    this.rows = this.grid.rows;
    this.cells = this.columns * this.rows;
    this.robots = timeline.players;
    this.edits = new MapEdits(timeline.recording);
    this.removed = new Set(header.map.removed ?? []);
    this.placed = { since: 0, all: header.map.targets ?? [], targets: header.map.targets ?? [] };
    this.lengths = new Lengths(header.map);
    this.discs = new DiscTable(arrays.delta, this.columns, this.rows);
    this.sight = sightOf(arrays, this.columns, this.rows);
    this.drift = header.map.drift ?? null;
    this.drifted = null; // a field of a drift, and the time it is of
    this.history = null;
    this.ways = new Ways(timeline, this.grid);
    this.chains = new Map();
    this.counts = new Int32Array(this.cells);
    this.places = new Int32Array(this.robots).fill(-1); // the cells that counts are of; -1 for who is not there
    this.since = arrays.since ?? null; // when each robot is there; null: always
    this.until = arrays.until ?? null;
    this.turns = this.until ? Float64Array.from([...this.since, ...this.until]).sort() : null;
    this.turned = -1; // how many of these times are over in counts
    this.changed = new Int32Array(Math.max(64, this.cells >> 2)); // cells whose count became or ceased to be 0
    this.numChanged = -1; // -1: too many to list
    this.version = 0; // grows with every change of the profile
    this.covered = 0; // cells that somebody covers
    this.synced = -1; // the number of changes that counts hold
    this.ends = null;
    this.sums = null;
    this.worthMax = this.findScale();
  }

  // Who covers what ------------------------------------------------------------------------------------

  cellOf(robot) {
    return this.grid.cellOf[this.timeline.profile[robot]];
  }

  /** Whether a robot is there at a step: has come, and has not failed. */
  isThere(robot, step = this.timeline.step) {
    return !this.until || (this.since[robot] <= step && step < this.until[robot]);
  }

  /** Whether a robot has failed by now. */
  isLost(robot) {
    return this.until !== null && this.until[robot] <= this.timeline.step && !this.removed.has(robot);
  }

  turnsOver() {
    let count = 0;
    while (this.turns && count < this.turns.length && this.turns[count] <= this.timeline.step) count += 1;
    return count;
  }

  /** Bring counts to the timeline's profile. */
  sync() {
    const { places } = this;
    const { applied } = this.timeline;
    const turned = this.turnsOver();
    if (applied === this.synced && turned === this.turned) return;
    const fresh = this.synced < 0;
    this.synced = applied;
    this.turned = turned;
    const goal = this.placesNow();
    let late = 0;
    for (let robot = 0; robot < places.length; robot += 1) if (places[robot] !== goal[robot]) late += 1;
    if (!late && !fresh) return;
    this.version += 1;
    this.sums = null;
    const [size, edges] = this.discs.costs();
    const following = FOLLOWING * 2 * late * size;
    if (fresh || (late > 256 && following > this.cells + edges * this.robots)) this.recount(goal);
    else this.follow(goal);
  }

  /** The cell that each robot covers from, -1 where it is not there; the next call changes the array. */
  placesNow() {
    const { cellOf } = this.grid;
    const { profile } = this.timeline;
    const goal = (this.goal ??= new Int32Array(this.robots));
    for (let robot = 0; robot < goal.length; robot += 1) goal[robot] = cellOf[profile[robot]];
    if (this.until) for (let robot = 0; robot < goal.length; robot += 1) if (!this.isThere(robot)) goal[robot] = -1;
    return goal;
  }

  follow(goal) {
    const { places } = this;
    for (let robot = 0; robot < places.length; robot += 1) {
      const cell = goal[robot];
      if (places[robot] === cell) continue;
      if (places[robot] >= 0) this.cover(robot, places[robot], -1);
      if (cell >= 0) this.cover(robot, cell, 1);
      places[robot] = cell;
    }
  }

  cover(robot, cell, change) {
    const { columns, rows, counts } = this;
    const disc = this.discs.of(robot);
    const x = this.grid.columnOf[cell];
    const y = (cell - x) / columns;
    const turning = change > 0 ? 1 : 0; // the count after a change that makes a cell covered, or uncovered
    for (let dy = Math.max(-disc.reach, -y); dy <= disc.reach && y + dy < rows; dy += 1) {
      const half = disc.halves[dy + disc.reach];
      const base = (y + dy) * columns;
      const last = base + Math.min(columns - 1, x + half);
      for (let at = base + Math.max(0, x - half); at <= last; at += 1) {
        if (this.sight?.hides(cell, at - base - x, dy)) continue;
        counts[at] += change;
        if (counts[at] === turning) this.note(at, change);
      }
    }
  }

  note(cell, change) {
    this.covered += change;
    if (this.numChanged < 0) return;
    if (this.numChanged >= this.changed.length) this.numChanged = -1;
    else this.changed[this.numChanged++] = cell;
  }

  /** All counts anew: both ends of every row of every range, then sums along the rows. */
  recount(goal) {
    const { columns, rows, counts, places } = this;
    places.set(goal);
    const { columnOf } = this.grid;
    this.numChanged = -1;
    if (this.sight) {
      this.covered = 0;
      counts.fill(0);
      for (let robot = 0; robot < places.length; robot += 1) {
        if (places[robot] >= 0) this.cover(robot, places[robot], 1);
      }
      return;
    }
    this.ends ??= new Int32Array(rows * (columns + 1));
    const ends = this.ends.fill(0);
    const add = (x, y, { reach, halves }, robots) => {
      for (let dy = Math.max(-reach, -y); dy <= reach && y + dy < rows; dy += 1) {
        const half = halves[dy + reach];
        const base = (y + dy) * (columns + 1);
        ends[base + Math.max(0, x - half)] += robots;
        ends[base + Math.min(columns, x + half + 1)] -= robots;
      }
    };
    const together = this.discs.list.length === 1 && this.cells < MANY_CELLS * this.robots;
    if (together) {
      // cell by cell, so that what is near on the map is near in memory
      const standing = (this.standing ??= new Int32Array(this.cells)).fill(0);
      for (let robot = 0; robot < places.length; robot += 1) if (places[robot] >= 0) standing[places[robot]] += 1;
      const [disc] = this.discs.list;
      for (let y = 0, cell = 0; y < rows; y += 1) {
        for (let x = 0; x < columns; x += 1, cell += 1) if (standing[cell]) add(x, y, disc, standing[cell]);
      }
    } else {
      for (let robot = 0; robot < places.length; robot += 1) {
        const x = columnOf[places[robot]];
        if (places[robot] >= 0) add(x, (places[robot] - x) / columns, this.discs.of(robot), 1);
      }
    }
    let covered = 0;
    for (let y = 0, cell = 0; y < rows; y += 1) {
      let sum = 0;
      for (let x = 0; x < columns; x += 1, cell += 1) {
        sum += ends[cell + y];
        counts[cell] = sum;
        if (sum > 0) covered += 1;
      }
    }
    this.covered = covered;
  }

  /** Cells that became covered or uncovered since the last call, as a view; null if that may be any. */
  takeChanged() {
    this.sync();
    const taken = this.numChanged < 0 ? null : this.changed.subarray(0, this.numChanged);
    this.numChanged = 0;
    return taken;
  }

  /** How many robots cover each cell now. */
  coverCounts() {
    this.sync();
    return this.counts;
  }

  /** The robots that cover a cell now. */
  coverers(cell) {
    const found = [];
    const x = cell % this.columns;
    const y = Math.floor(cell / this.columns);
    for (let robot = 0; robot < this.robots; robot += 1) {
      if (!this.isThere(robot)) continue;
      const at = this.cellOf(robot);
      const dx = (at % this.columns) - x;
      const dy = Math.floor(at / this.columns) - y;
      if (dx * dx + dy * dy <= this.discs.of(robot).square && !this.sight?.hides(at, -dx, -dy)) found.push(robot);
    }
    return found;
  }

  // Worth ----------------------------------------------------------------------------------------------

  /** The worth of every cell at a step. A drifting field is one array, which the next call may change. */
  worthAt(step = this.timeline.step) {
    if (!this.drift) return this.edits.steps ? this.edits.at(step).worth : this.arrays.worth;
    const since = heldSince(this.drift, step);
    if (!this.drifted) this.drifted = { since: -1, field: new Float64Array(this.cells) };
    if (this.drifted.since !== since) {
      fillDrift(this.drift, this.arrays, this.columns, this.rows, since, this.drifted.field);
      this.drifted.since = since;
      this.sums = null;
    }
    return this.drifted.field;
  }

  /** Which cells nobody can enter now. */
  wallsNow() {
    return this.edits.steps ? this.edits.at(this.timeline.step).blocked : this.grid.blocked;
  }

  /** What map is drawn now: another text whenever worth, walls or targets are others. */
  get ground() {
    const { step } = this.timeline;
    return `${this.drift ? heldSince(this.drift, step) : "still"} ${this.edits.upTo(step)}`;
  }

  /** Bring up to date what goes by the changes, after more of them have come; `keyframes` say that fields have, too. */
  grow(edge, keyframes) {
    this.history?.extend(edge);
    if (keyframes) this.chains.clear();
  }

  /** The cells [x, y] of the targets now; some move with the field. */
  get targets() {
    if (!this.drift) return this.placed.targets;
    const since = heldSince(this.drift, this.timeline.step);
    if (this.placed.since !== since || since === 0) {
      const first = this.header.map.targets ?? [];
      const all = moveTargets(this.drift, first, this.columns, this.rows, since);
      this.placed = { since, all, targets: all.filter(([x, y]) => x >= 0 && y >= 0) };
    }
    return this.placed.targets;
  }

  /** The number of the target in a cell, counted with those that have left the map; -1 for none. */
  targetAt(x, y) {
    return this.targets.length ? this.placed.all.findIndex(([column, row]) => column === x && row === y) : -1;
  }

  findScale() {
    let most = 0;
    const times = this.drift && this.cells * costOf(this.drift) < 2e5 ? SAMPLES : 1;
    for (let k = 0; k < times; k += 1) {
      const field = this.worthAt(Math.floor((k / Math.max(1, times - 1)) * this.timeline.steps));
      for (const worth of field) if (worth > most) most = worth;
    }
    for (const worth of this.arrays.edit_worth ?? []) if (worth > most) most = worth;
    return most || 1;
  }

  totals() {
    this.sync();
    const worth = this.worthAt();
    if (this.sums?.worth !== worth) {
      this.sums = { worth, sum: 0, union: 0 }; // of this field
      for (let cell = 0; cell < this.cells; cell += 1) {
        const count = this.counts[cell];
        if (count === 0) continue;
        this.sums.sum += worth[cell] * count;
        this.sums.union += worth[cell];
      }
    }
    return this.sums;
  }

  /** Covered worth now: what k robots cover counts k times. */
  worthSum() {
    return this.totals().sum;
  }

  /** Covered worth now: each cell once. */
  worthUnion() {
    return this.totals().union;
  }

  /** The worth in a robot's range now. */
  worthOf(robot) {
    if (!this.isThere(robot)) return 0;
    const worth = this.worthAt();
    const disc = this.discs.of(robot);
    const cell = this.cellOf(robot);
    const x = cell % this.columns;
    const y = Math.floor(cell / this.columns);
    let sum = 0;
    for (let dy = Math.max(-disc.reach, -y); dy <= disc.reach && y + dy < this.rows; dy += 1) {
      const half = disc.halves[dy + disc.reach];
      const base = (y + dy) * this.columns;
      const last = base + Math.min(this.columns - 1, x + half);
      for (let at = base + Math.max(0, x - half); at <= last; at += 1) {
        if (!this.sight?.hides(cell, at - base - x, dy)) sum += worth[at];
      }
    }
    return sum;
  }

  // What was left behind -------------------------------------------------------------------------------

  flagHistory() {
    this.history ??= new FlagHistory(this.timeline, this.grid, this.discs, this.sight);
    return this.history;
  }

  /** Flags of a step, per cell: 0 for none, robot + 1, or -1 for those of several. */
  flagsAt(step = this.timeline.step) {
    return this.flagHistory().all(step);
  }

  /** How far a robot has gone by a step, in cells. */
  travelled(robot, step = this.timeline.step) {
    return this.ways.upTo(robot, step);
  }

  // What robots thought at a keyframe ------------------------------------------------------------------

  /** What keyframes hold of a robot: "belief", "score", "strategy", in the order in which they are offered. */
  thoughtsOf(robot) {
    const kinds = [];
    if (this.mindOf(robot) >= 0) kinds.push("belief");
    if (this.header.keyframes?.scores) kinds.push(...["score", "strategy"].filter((name) => this.arrays[name]));
    return kinds;
  }

  /** The number of a robot's mind; -1 if it has none. */
  mindOf(robot) {
    const minds = this.header.keyframes?.belief?.robots ?? [];
    return this.arrays.belief_worth ? minds.findIndex((robots) => robots.includes(robot)) : -1;
  }

  chain(key, make) {
    if (!this.chains.has(key)) this.chains.set(key, make());
    return this.chains.get(key);
  }

  /** What a mind believes at a keyframe: field, seen (1 or 0 per cell), components, error, who shares the mind. */
  beliefAt(keyframe, mind) {
    const { belief_worth, belief_seen, belief_ptr, belief_components, belief_error } = this.arrays;
    const minds = this.header.keyframes.belief.robots;
    const width = minds.length * this.cells;
    const make = () => new BitChain(belief_worth, width, mind * this.cells, this.cells);
    const field = this.chain(`belief ${mind}`, make).at(keyframe);
    const one = keyframe * minds.length + mind;
    const bytes = Math.ceil(this.cells / 8);
    const seen = new Uint8Array(this.cells);
    for (let cell = 0; cell < this.cells; cell += 1) {
      seen[cell] = (belief_seen[one * bytes + (cell >> 3)] >> (cell & 7)) & 1;
    }
    const components = [];
    for (let k = belief_ptr?.[one] ?? 0; k < (belief_ptr?.[one + 1] ?? 0); k += 1) {
      const [weight, x, y, xx, xy, yy] = belief_components.subarray(6 * k, 6 * k + 6);
      components.push({ weight, x, y, xx, xy, yy });
    }
    return { field, seen, components, error: belief_error?.[one] ?? NaN, robots: minds[mind] };
  }

  /** A robot's score or strategy at a keyframe, one number per action; the next call changes the array. */
  valuesAt(name, keyframe, robot) {
    const actions = this.grid.cellOf.length;
    const make = () => new BitChain(this.arrays[name], actions * this.robots, robot * actions, actions);
    return this.chain(`${name} ${robot}`, make).at(keyframe);
  }
}
