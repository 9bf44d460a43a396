// Which profile of a small game was played when, and for how much of the time.

import { countUpTo } from "../timeline.js";

const STAYS_BETWEEN = 1024; // stays between two sums that are kept

export class Occupation {
  /** Profiles are numbered with the last player fastest; a stay is a time without a change. */
  constructor(timeline) {
    const players = timeline.profile.length;
    this.weights = new Int32Array(players);
    this.count = 1;
    for (let player = players - 1; player >= 0; player--) {
      this.weights[player] = this.count;
      this.count *= timeline.actionsOf(player);
    }
    this.timeline = timeline;
    this.findStays();
    this.sums = []; // steps at each profile before every 1024th stay
    const steps = new Float64Array(this.count);
    for (let k = 0; k < this.starts.length; k++) {
      if (k % STAYS_BETWEEN === 0) this.sums.push(steps.slice());
      if (k + 1 < this.starts.length) steps[this.profiles[k]] += this.starts[k + 1] - this.starts[k];
    }
  }

  findStays() {
    const { changeSteps, changePlayers, changeBefore, changeAfter, recording } = this.timeline;
    const starts = [0];
    const profiles = [this.numberOf(recording.arrays.start)];
    let now = profiles[0];
    for (let c = 0; c < changeSteps.length; c++) {
      now += (changeAfter[c] - changeBefore[c]) * this.weights[changePlayers[c]];
      if (changeSteps[c + 1] === changeSteps[c]) continue;
      starts.push(changeSteps[c]);
      profiles.push(now);
    }
    this.starts = Float64Array.from(starts);
    this.profiles = Int32Array.from(profiles);
  }

  numberOf(profile) {
    return profile.reduce((number, action, player) => number + action * this.weights[player], 0);
  }

  actionOf(number, player) {
    return Math.floor(number / this.weights[player]) % this.timeline.actionsOf(player);
  }

  stayAt(step) {
    return countUpTo(this.starts, step) - 1;
  }

  profileAt(step) {
    return this.profiles[this.stayAt(step)];
  }

  /** The last change at or before a step: {step, from, to}, or null. */
  lastMove(step) {
    const stay = this.stayAt(step);
    if (stay === 0) return null;
    return { step: this.starts[stay], from: this.profiles[stay - 1], to: this.profiles[stay] };
  }

  /** The share of steps 0 to step at which each profile was played. */
  shares(step) {
    const stay = this.stayAt(step);
    const row = Math.floor(stay / STAYS_BETWEEN);
    const steps = this.sums[row].slice();
    for (let k = row * STAYS_BETWEEN; k < stay; k++) steps[this.profiles[k]] += this.starts[k + 1] - this.starts[k];
    steps[this.profiles[stay]] += step - this.starts[stay] + 1;
    return steps.map((time) => time / (step + 1));
  }
}
