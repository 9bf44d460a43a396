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
    this.starts = [0]; // of stays, and the profile of each
    this.profiles = [this.numberOf(timeline.recording.arrays.start)];
    this.steps = new Float64Array(this.count); // at each profile before the last stay
    this.sums = [this.steps.slice()]; // the same before every 1024th stay
    this.done = 0; // changes that stays hold
    this.follow();
  }

  /** The stays of changes that have come: a run may still be played. */
  follow() {
    const { changeSteps, changePlayers, changeBefore, changeAfter } = this.timeline;
    const { starts, profiles } = this;
    let now = profiles[profiles.length - 1];
    for (; this.done < changeSteps.length; this.done++) {
      const c = this.done;
      now += (changeAfter[c] - changeBefore[c]) * this.weights[changePlayers[c]];
      if (changeSteps[c + 1] === changeSteps[c]) continue;
      const last = starts.length - 1;
      this.steps[profiles[last]] += changeSteps[c] - starts[last];
      if (starts.length % STAYS_BETWEEN === 0) this.sums.push(this.steps.slice());
      starts.push(changeSteps[c]);
      profiles.push(now);
    }
  }

  numberOf(profile) {
    return profile.reduce((number, action, player) => number + action * this.weights[player], 0);
  }

  actionOf(number, player) {
    return Math.floor(number / this.weights[player]) % this.timeline.actionsOf(player);
  }

  stayAt(step) {
    this.follow();
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
