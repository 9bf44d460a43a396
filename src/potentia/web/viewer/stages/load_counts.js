// How many players use each resource of a congestion game, kept up to date with the timeline.

import { changesAt } from "./parts.js";

export class LoadCounts {
  constructor(timeline) {
    const { cost_ptr: ends, cost, strategy_ptr: strategies, resources, row } = timeline.recording.arrays;
    this.timeline = timeline;
    this.row = row;
    this.strategies = strategies;
    this.resources = resources;
    this.cost = cost;
    this.costs = ends;
    // The list of first costs may or may not end with the number of all costs.
    this.count = ends.length > 0 && ends[ends.length - 1] === cost.length ? ends.length - 1 : ends.length;
    this.loads = new Int32Array(this.count);
    this.seen = Int32Array.from(timeline.profile); // the profile that loads belong to
    this.seen.forEach((action, player) => this.add(this.loads, player, action, 1));
    this.lastLoads = new Int32Array(this.count); // loads after the changes that peaks hold
    timeline.recording.arrays.start.forEach((action, player) => this.add(this.lastLoads, player, action, 1));
    this.peaks = this.lastLoads.slice();
    this.done = 0; // changes that peaks hold
    this.findPeaks();
    this.changedAt = null; // the step that changedBy belongs to
    this.changedBy = new Map();
  }

  add(loads, player, action, by) {
    const strategy = this.row[player] + action;
    for (let k = this.strategies[strategy]; k < this.strategies[strategy + 1]; k++) loads[this.resources[k]] += by;
  }

  /** Loads of the timeline's profile; only players that play something else than before are counted anew. */
  now() {
    const { profile } = this.timeline;
    this.findPeaks();
    for (let i = 0; i < profile.length; i++) {
      if (profile[i] === this.seen[i]) continue;
      this.add(this.loads, i, this.seen[i], -1);
      this.add(this.loads, i, profile[i], 1);
      this.seen[i] = profile[i];
    }
    return this.loads;
  }

  /** Resources whose load changed in this step, and by how much. */
  changed(step) {
    const key = this.timeline.ended ? null : step;
    if (this.changedAt === key) return this.changedBy;
    const { first, end } = changesAt(this.timeline, step);
    const by = new Int32Array(this.count);
    for (let c = first; c < end; c++) {
      this.add(by, this.timeline.changePlayers[c], this.timeline.changeBefore[c], -1);
      this.add(by, this.timeline.changePlayers[c], this.timeline.changeAfter[c], 1);
    }
    this.changedAt = key;
    this.changedBy = new Map();
    by.forEach((amount, resource) => amount !== 0 && this.changedBy.set(resource, amount));
    return this.changedBy;
  }

  eachResource(player, action, visit) {
    const strategy = this.row[player] + action;
    for (let k = this.strategies[strategy]; k < this.strategies[strategy + 1]; k++) visit(this.resources[k]);
  }

  /** The largest load of each resource in all that is known; more may have come of a run that is still played. */
  findPeaks() {
    const { changeSteps, changePlayers, changeBefore, changeAfter } = this.timeline;
    const { peaks, lastLoads } = this;
    for (let c = this.done; c < changeSteps.length; c++) {
      this.add(lastLoads, changePlayers[c], changeBefore[c], -1);
      this.add(lastLoads, changePlayers[c], changeAfter[c], 1);
      if (changeSteps[c + 1] === changeSteps[c]) continue; // players that change together are looked at together
      for (; this.done <= c; this.done++) {
        const [player, action] = [changePlayers[this.done], changeAfter[this.done]];
        this.eachResource(player, action, (r) => (peaks[r] = Math.max(peaks[r], lastLoads[r])));
      }
    }
  }

  /** The largest load of all. */
  get most() {
    return this.peaks.reduce((largest, load) => Math.max(largest, load), 1);
  }

  costOf(resource, load) {
    return this.cost[this.costs[resource] + load];
  }

  /** How many players could use the resource. */
  limitOf(resource) {
    const end = resource + 1 < this.costs.length ? this.costs[resource + 1] : this.cost.length;
    return end - this.costs[resource] - 1;
  }

  /** Whether action k of everybody is resource k alone: then labels of actions name resources. */
  get plain() {
    if (this.row.some((row) => row !== 0) || this.resources.length !== this.count) return false;
    return this.resources.every((resource, k) => resource === k && this.strategies[k] === k);
  }
}
