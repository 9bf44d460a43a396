// Series at the step that is seen: recordings have rows at some steps, and what lies between is computed where it can be.

import { formatCount } from "./format.js";
import { countUpTo } from "./timeline.js";

/** {value, since}: computed, or of the last row at or before the timeline's step; `state` is that of a map, or null. */
export function valueNow(timeline, state, name) {
  const { step, recording } = timeline;
  const { times } = recording.arrays;
  const row = countUpTo(times, step) - 1;
  const known = timeline.valueAt(name);
  const since = row < 0 ? step : times[row];
  if (row < 0 || since === step || Number.isNaN(known) || !computed(timeline, name)) return { value: known, since };
  return { value: state ? onMap(timeline, state, name, known, since) : inTable(timeline, name), since: step };
}

/** Whether a series is known at any step; a profile is between the steps that were recorded only. */
function computed({ recording: { header, arrays } }, name) {
  if (header.every > 1) return false;
  if (header.game.kind === "map") return ["worth_sum", "worth_union", "distance"].includes(name);
  if (header.game.kind === "table") return name === "welfare" || (name === "potential" && Boolean(arrays.potential));
  return false;
}

function onMap(timeline, state, name, known, since) {
  if (name === "worth_sum") return state.worthSum();
  if (name === "worth_union") return state.worthUnion();
  let way = 0; // since the row: what was moved by hand has rows of its own
  for (let change = timeline.changesUpTo(since); change < timeline.applied; change += 1) way += state.ways.jump(change);
  const series = timeline.recording.header.series.find((row) => row.name === name);
  return known + way * (series.length ? state.lengths.side : 1);
}

function inTable(timeline, name) {
  const { profile, players } = timeline;
  const { arrays } = timeline.recording;
  const sizes = Array.from(profile, (_, player) => timeline.actionsOf(player));
  const number = profile.reduce((sum, action, player) => sum * sizes[player] + action, 0);
  if (name === "potential") return arrays.potential[number];
  const count = sizes.reduce((product, size) => product * size, 1);
  let sum = 0;
  for (let player = 0; player < players; player += 1) sum += arrays.payoffs[player * count + number];
  return sum;
}

/** Whether some of these series are at some steps only those of an earlier one. */
export function hasGaps(timelines, names) {
  const gaps = (timeline) => timeline.recording.arrays.times.length <= timeline.steps;
  return timelines.some((timeline) => gaps(timeline) && names.some((name) => timeline.rows.has(name) && !computed(timeline, name)));
}

/** "as of step 1,980" of values that are older than the step of their timelines; empty where all are of it. */
export function asOf(timelines, values) {
  const steps = new Set(values.filter(({ since }, k) => since < timelines[k].step).map(({ since }) => since));
  const told = [...steps].sort((a, b) => a - b).map(formatCount).join(", ");
  return told && `as of step${steps.size > 1 ? "s" : ""} ${told}`;
}
