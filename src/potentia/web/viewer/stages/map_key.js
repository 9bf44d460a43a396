// What the marks on maps mean, in one line for all of them.

import { MOST_CIRCLES } from "./map.js";

/** The line for these states of maps; empty where there is no map. Of a run that is played also what may come. */
export function mapKey(states, options, live) {
  const maps = states.filter(Boolean);
  if (!maps.length) return "";
  const crowd = maps.some((state) => state.robots > MOST_CIRCLES);
  const few = maps.filter((state) => state.robots <= MOST_CIRCLES);
  const parts = [];
  if (crowd) parts.push("bright: covered, dim: not covered");
  if (few.length) parts.push("circles: robots and their ranges", "white outline: covered cells");
  if ((live && few.length) || few.some((state) => state.until?.some((step) => step <= state.timeline.steps))) parts.push("crosses: robots that have failed");
  if (maps.some((state) => state.targets.length)) parts.push("stars: targets");
  if (live || maps.some((state) => state.wallsNow().includes(1) || state.arrays.edit_walls?.includes(1))) parts.push("brown: blocked, no robot can enter");
  if (maps.some((state) => state.header.keyframes?.belief)) parts.push("dots: cells not seen");
  if (maps.some((state) => state.arrays.belief_components?.length)) {
    parts.push("ellipses: what a robot takes for hills, one and two standard deviations, with their weights");
  }
  const flagged = options.flags && few.some((state) => state.header.map.flags);
  if (flagged) parts.push("squares: flags, black where several robots left one");
  if (few.length && options.paths !== "none") parts.push(`lines: ${options.paths} ways`);
  const line = parts.join(" · ");
  return line[0].toUpperCase() + line.slice(1);
}
