// Robots in words: where they are, how far they came, and why they are not there.

import { counted, formatCount } from "./format.js";

/** Where a robot is: its cell, and that place in the unit of the map. */
export function placeText(state, robot) {
  const cell = state.cellOf(robot);
  return state.lengths.cellWords(cell % state.columns, Math.floor(cell / state.columns));
}

/** How far a robot came, in the unit of lengths. */
export function wayText(state, robot) {
  return state.lengths.text(state.travelled(robot));
}

/** What such a distance is: between the steps that were recorded a robot may have gone farther. */
export function wayName(state) {
  return state.header.every > 1 ? "at least" : "";
}

/** Why a robot is not there; empty where it is. */
export function fateOf(state, robot) {
  if (state.isThere(robot)) return "";
  if (state.isLost(robot)) return `failed at step ${formatCount(state.until[robot])}`;
  if (state.removed.has(robot) && state.until[robot] <= state.timeline.step) {
    return `removed at step ${formatCount(state.until[robot])}`;
  }
  const comes = state.since[robot] <= state.timeline.steps;
  return comes ? `arrives at step ${formatCount(state.since[robot])}` : "does not arrive in this run";
}

/** How many robots are there, and how many are not: "11 robots (1 failed)". */
export function crewText(state) {
  let lost = 0;
  let late = 0;
  let here = 0;
  for (let robot = 0; robot < state.robots; robot += 1) {
    if (state.isLost(robot)) lost += 1;
    else if (!state.isThere(robot)) late += state.removed.has(robot) && state.until[robot] <= state.timeline.step ? 0 : 1;
    if (state.isThere(robot)) here += 1;
  }
  const gone = [lost && `${formatCount(lost)} failed`, late && `${formatCount(late)} not yet there`].filter(Boolean);
  return counted(here, "robot") + (gone.length ? ` (${gone.join(", ")})` : "");
}
