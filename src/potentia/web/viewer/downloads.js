// What one can take away: positions and series as CSV.

import { csvText } from "./format.js";
import { actionName } from "./stages/actions.js";

/** Where everybody is at this step. */
export function positionsCsv(timelines, stateOf) {
  const map = timelines.every(({ recording }) => recording.header.game.kind === "map");
  const noun = timelines[0].recording.header.game.player || "player";
  const changing = map && timelines.some((timeline) => stateOf(timeline).until);
  const columns = map ? ["x", "y", ...(changing ? ["there"] : [])] : ["action", "name"];
  const rows = [["recording", "step", noun, ...columns]];
  for (const timeline of timelines) {
    const state = map ? stateOf(timeline) : null;
    timeline.profile.forEach((action, player) => {
      const cell = map ? state.cellOf(player) : 0;
      const name = map ? [] : [action, actionName(timeline, action, player)];
      const where = map ? [cell % state.columns, Math.floor(cell / state.columns)] : name;
      const there = changing ? [Number(state.isThere(player))] : []; // it covers nothing before it comes or once it failed
      rows.push([timeline.recording.label, timeline.step, player, ...where, ...there]);
    });
  }
  return csvText(rows);
}

/** All rows of all series. */
export function seriesCsv(timelines) {
  const names = [...new Set(timelines.flatMap(({ recording }) => recording.header.series.map(({ name }) => name)))];
  const rows = [["recording", "step", ...names]];
  for (const timeline of timelines) {
    const columns = names.map((name) => timeline.valuesOf(name));
    timeline.recording.arrays.times.forEach((time, row) => {
      rows.push([timeline.recording.label, time, ...columns.map((values) => (values ? values[row] : NaN))]);
    });
  }
  return csvText(rows);
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
