// A run in time: its changes decoded once, and the profile of any step.

import { gridOf } from "./grid.js";
import { extended, extendedRows } from "./growing.js";
import { damaged } from "./recording.js";

const SNAPSHOT_BYTES = 64e6; // the most that all snapshots take
const FEWEST_BETWEEN = 4096; // changes between two snapshots

/** How many values of a sorted array are at most `value`. */
export function countUpTo(sorted, value, low = 0, high = sorted.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The profile of a run at any step, kept in `profile`, and what else a step knows. */
export class Timeline {
  constructor(recording) {
    this.recording = recording;
    const { header, arrays } = recording;
    this.steps = header.steps;
    this.players = header.game.players;
    this.step = 0;
    this.ended = false; // whether the page is beyond the last step
    this.profile = Int32Array.from(arrays.start);
    this.rows = new Map(header.series.map((series, index) => [series.name, index]));
    this.keyframeSteps = header.keyframes?.steps ?? [];
    for (let player = 0; player < this.players; player += 1) this.checkAction(player, this.profile[player]);
    this.decodeChanges(header.changes);
    this.takeSnapshots();
    this.applied = 0; // changes that the profile holds
    this.index = null;
    this.lists = null;
    this.seek(0);
  }

  // A run that is still played -------------------------------------------------------------------------

  /** What came since: changes in order, rows of the series, keyframes. */
  append({ steps, players, actions, times, series }) {
    const before = new Int32Array(steps.length);
    const first = this.changeSteps.length;
    for (let k = 0; k < steps.length; k += 1) {
      if ((first + k) % this.spacing === 0 && first + k > 0) this.snapshots.push(this.last.slice());
      this.checkAction(players[k], actions[k]);
      before[k] = this.last[players[k]];
      this.last[players[k]] = actions[k];
      this.lists?.[players[k]].push(first + k);
    }
    this.changeSteps = extended(this.changeSteps, steps);
    this.changePlayers = extended(this.changePlayers, players);
    this.changeBefore = extended(this.changeBefore, before);
    this.changeAfter = extended(this.changeAfter, actions);
    this.index = null;
    if (this.changeSteps.length % this.spacing === 0 && steps.length) this.snapshots.push(this.last.slice());
    if (!times.length) return;
    const { arrays, header } = this.recording;
    arrays.series = extendedRows(arrays.series, arrays.times.length, series, times.length, header.series.length);
    arrays.times = extended(arrays.times, times);
  }

  actionsOf(player) {
    const { sizes } = this.recording.arrays;
    return sizes.length === 1 ? sizes[0] : sizes[player];
  }

  checkAction(player, action) {
    if (!(action >= 0 && action < this.actionsOf(player))) {
      throw damaged(`player ${player} plays ${action}, which is none of its ${this.actionsOf(player)} actions`);
    }
  }

  // The changes ----------------------------------------------------------------------------------------

  decodeChanges(count) {
    const { arrays, header } = this.recording;
    const stream = new NumberStream(arrays.changes);
    const total = Number.isInteger(count) && count >= 0 && count <= arrays.changes.length ? count : -1;
    if (total < 0) throw damaged("it does not say how many changes it has");
    this.changeSteps = header.steps < 2 ** 32 ? new Uint32Array(total) : new Float64Array(total);
    this.changePlayers = new Int32Array(total);
    this.changeBefore = new Int32Array(total);
    this.changeAfter = new Int32Array(total);
    const current = Int32Array.from(arrays.start);
    const sizes = Int32Array.from(current, (_, player) => this.actionsOf(player));
    const walk = header.game.kind === "map" ? new Walk(this.recording) : null;
    let step = 0;
    let done = 0;
    while (!stream.ended()) {
      const head = stream.next();
      step += Math.floor(head / 2);
      const changed = head % 2 ? stream.next() + 2 : 1;
      if (step > this.steps || done + changed > total) throw damaged("its changes do not fit its length");
      let player = 0;
      for (let k = 0; k < changed; k += 1, done += 1) {
        player += stream.next();
        if (player >= this.players) throw damaged(`player ${player} changes, and there are ${this.players}`);
        const code = stream.next();
        const before = current[player];
        let after = code;
        if (walk) after = walk.go(player, code, stream);
        if (after < 0 || after >= sizes[player]) this.checkAction(player, after);
        this.changeSteps[done] = step;
        this.changePlayers[done] = player;
        this.changeBefore[done] = before;
        this.changeAfter[done] = after;
        current[player] = after;
      }
    }
    if (done !== total) throw damaged(`it has ${done} changes of ${total}`);
  }

  takeSnapshots() {
    const total = this.changeSteps.length;
    const most = Math.max(1, Math.floor(SNAPSHOT_BYTES / (4 * this.players)));
    this.spacing = Math.max(FEWEST_BETWEEN, this.players >> 1, Math.ceil(total / most));
    this.snapshots = [];
    const current = Int32Array.from(this.recording.arrays.start);
    for (let done = 0; done <= total; done += 1) {
      if (done % this.spacing === 0) this.snapshots.push(current.slice());
      if (done < total) current[this.changePlayers[done]] = this.changeAfter[done];
    }
    this.last = current; // the profile at the end of what is known
  }

  /** Make `profile` that of this step: from where it is, or from the nearest snapshot. */
  seek(step) {
    this.step = Math.min(this.steps, Math.max(0, Math.floor(step)));
    const goal = this.changesUpTo(this.step);
    const nearest = Math.min(this.snapshots.length - 1, Math.round(goal / this.spacing));
    const away = Math.abs(goal - nearest * this.spacing) + (this.players >> 3);
    if (away < Math.abs(goal - this.applied)) {
      this.profile.set(this.snapshots[nearest]);
      this.applied = nearest * this.spacing;
    }
    const { profile, changePlayers, changeAfter, changeBefore } = this;
    for (; this.applied < goal; this.applied += 1) profile[changePlayers[this.applied]] = changeAfter[this.applied];
    for (; this.applied > goal; this.applied -= 1) {
      profile[changePlayers[this.applied - 1]] = changeBefore[this.applied - 1];
    }
  }

  /** How many changes there were by the end of a step. */
  changesUpTo(step) {
    return countUpTo(this.changeSteps, step);
  }

  /** The step of the first change after this step, or null. */
  nextChange(step) {
    const at = this.changesUpTo(step);
    return at < this.changeSteps.length ? this.changeSteps[at] : null;
  }

  /** The step of the last change before this step, or null. */
  previousChange(step) {
    const at = this.changesUpTo(step - 1);
    return at > 0 ? this.changeSteps[at - 1] : null;
  }

  /** The numbers of the changes of a player, by step. */
  changesOfPlayer(player) {
    if (this.lists) return this.lists[player];
    const { ptr, order } = this.changesByPlayer();
    return order.subarray(ptr[player], ptr[player + 1]);
  }

  /** Keep them in lists that grow, for a run that is still played. */
  listChanges() {
    this.lists = Array.from({ length: this.players }, () => []);
    this.changePlayers.forEach((player, k) => this.lists[player].push(k));
  }

  /** The changes of all players: those of player i are order[ptr[i]] to order[ptr[i + 1] - 1], by step. */
  changesByPlayer() {
    if (!this.index) {
      const ptr = new Int32Array(this.players + 1);
      for (const player of this.changePlayers) ptr[player + 1] += 1;
      for (let player = 0; player < this.players; player += 1) ptr[player + 1] += ptr[player];
      const free = ptr.slice(0, -1);
      const order = new Int32Array(this.changePlayers.length);
      for (let k = 0; k < order.length; k += 1) order[free[this.changePlayers[k]]++] = k;
      this.index = { ptr, order };
    }
    return this.index;
  }

  /** How many changes a player made by the end of a step. */
  changesOf(player, step = this.step) {
    const order = this.changesOfPlayer(player);
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.changeSteps[order[middle]] <= step) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // What else a step knows -----------------------------------------------------------------------------

  /** Of a series: its last row at or before a step; NaN if there is none. */
  valueAt(name, step = this.step) {
    const index = this.rows.get(name);
    const { times, series } = this.recording.arrays;
    const row = countUpTo(times, step) - 1;
    return index === undefined || row < 0 ? NaN : series[index * times.length + row];
  }

  /** All values of a series, or null. */
  valuesOf(name) {
    const index = this.rows.get(name);
    const { times, series } = this.recording.arrays;
    return index === undefined ? null : series.subarray(index * times.length, (index + 1) * times.length);
  }

  /** The last keyframe at or before a step; -1 if there is none. */
  keyframeAt(step = this.step) {
    return countUpTo(this.keyframeSteps, step) - 1;
  }
}

/** Robots that go from cell to cell as the changes of a map say. */
class Walk {
  constructor(recording) {
    const { offsets } = recording.header.map;
    this.grid = gridOf(recording);
    this.dx = Int32Array.from(offsets, ([dx]) => dx);
    this.shift = Int32Array.from(offsets, ([dx, dy]) => dy * this.grid.columns + dx);
    this.cell = Int32Array.from(recording.arrays.start, (action) => this.grid.cellOf[action]);
    this.column = Int32Array.from(this.cell, (cell) => cell % this.grid.columns);
  }

  /** The action that a robot takes next, -1 where there is none. */
  go(player, code, stream) {
    const { grid } = this;
    if (code >= this.dx.length) {
      const action = stream.next();
      this.cell[player] = grid.cellOf[action] ?? 0;
      this.column[player] = this.cell[player] % grid.columns;
      return action;
    }
    const x = this.column[player] + this.dx[code];
    const goal = this.cell[player] + this.shift[code];
    if (x < 0 || x >= grid.columns || goal < 0 || goal >= grid.actionAt.length) return -1;
    this.column[player] = x;
    this.cell[player] = goal;
    return grid.actionAt[goal];
  }
}

/** Numbers of seven bits a byte, lowest first. */
class NumberStream {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  ended() {
    return this.at >= this.bytes.length;
  }

  next() {
    const { bytes } = this;
    if (this.at >= bytes.length) throw damaged("its changes end within a group");
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      if (this.at >= bytes.length || scale > 2 ** 49) throw damaged("its changes end within a number");
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
    }
    return value;
  }
}

/** The first step at which runs of one game are not alike; null if they are to the end, or not comparable. */
export function firstDifference(timelines) {
  const [first, ...others] = timelines;
  const steps = others.map((other) => differenceOf(first, other)).filter((step) => step !== null);
  return steps.length ? Math.min(...steps) : null;
}

function differenceOf(one, other) {
  if (one.players !== other.players) return NaN;
  const starts = [one.recording.arrays.start, other.recording.arrays.start];
  if (starts[0].some((action, player) => action !== starts[1][player])) return 0;
  if (one.recording.header.every !== other.recording.header.every) return NaN; // known at other steps
  const end = Math.min(one.steps, other.steps);
  const most = Math.min(one.changeSteps.length, other.changeSteps.length);
  let k = 0;
  while (
    k < most &&
    one.changeSteps[k] === other.changeSteps[k] &&
    one.changePlayers[k] === other.changePlayers[k] &&
    one.changeAfter[k] === other.changeAfter[k]
  ) {
    k += 1;
  }
  const next = Math.min(one.changeSteps[k] ?? Infinity, other.changeSteps[k] ?? Infinity);
  return next <= end ? next : null;
}
