// What one can take away: positions and series as CSV.

import { csvText } from "./format.js";
import { inColumn, Lengths, rounded } from "./lengths.js";
import { actionName } from "./stages/actions.js";

const LONGEST_NAME = 60; // letters

/** Where everybody is at this step. */
export function positionsCsv(timelines, stateOf) {
  const map = timelines.every(({ recording }) => recording.header.game.kind === "map");
  const noun = timelines[0].recording.header.game.player || "player";
  const changing = map && timelines.some((timeline) => stateOf(timeline).until);
  const lengths = map ? sharedLengths(timelines.map(stateOf)) : null;
  const driven = timelines.some(({ recording }) => recording.header.every > 1) ? "driven_at_least" : "driven";
  const places = map ? ["x", "y", ...lengths.columns(), inColumn(driven, lengths.unit)] : []; // as files of final cells
  const columns = map ? [...places, ...(changing ? ["there"] : [])] : ["action", "name"];
  const rows = [["recording", "step", noun, ...columns]];
  for (const timeline of timelines) {
    const state = map ? stateOf(timeline) : null;
    timeline.profile.forEach((action, player) => {
      const where = map ? robotPlace(state, player, lengths) : [action, actionName(timeline, action, player)];
      const there = changing ? [Number(state.isThere(player))] : []; // it covers nothing before it comes or once it failed
      rows.push([timeline.recording.label, timeline.step, player, ...where, ...there]);
    });
  }
  return csvText(rows);
}

/** One unit for one table: cells where maps have different ones. */
function sharedLengths(states) {
  const kinds = new Set(states.map(({ lengths }) => JSON.stringify(lengths)));
  return kinds.size === 1 ? states[0].lengths : new Lengths({});
}

function robotPlace(state, robot, lengths) {
  const cell = state.cellOf(robot);
  const place = [cell % state.columns, Math.floor(cell / state.columns)];
  return [...place, ...lengths.at(...place), rounded(state.travelled(robot) * lengths.side, 6)];
}

/** All rows of all series. */
export function seriesCsv(timelines) {
  const known = new Map(timelines.flatMap(({ recording }) => recording.header.series.map((row) => [row.name, row])));
  const names = [...known.keys()];
  const columns = [...known.values()].map(({ name, unit, length }) => (length ? inColumn(name, unit) : name));
  const rows = [["recording", "step", ...columns]];
  for (const timeline of timelines) {
    const series = names.map((name) => timeline.valuesOf(name));
    timeline.recording.arrays.times.forEach((time, row) => {
      rows.push([timeline.recording.label, time, ...series.map((values) => (values ? values[row] : NaN))]);
    });
  }
  return csvText(rows);
}

/** "blll-p-sblll-series.csv": by what runs are called, in letters that any system takes; while they are played by the step alone. */
export function fileName({ recordings, live }, what, ending) {
  const plain = (live ? [] : recordings).map(({ label }) => label.normalize("NFKD").toLowerCase()).join("-");
  const name = plain.replace(/[\u0300-\u036f]/g, "").replace(/[^a-z0-9]+/g, "-").slice(0, LONGEST_NAME);
  return `${[name, what].join("-").replace(/^-+|-+(?=-)/g, "")}.${ending}`;
}

/** Hand a file to the reader. */
export function offerFile(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
