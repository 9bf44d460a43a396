// Runs that are still played: a viewer shows what there is of them, and what comes.

import { markedEvents } from "./marks.js";
import { appendKeyframes } from "./thoughts.js";
import { firstDifference } from "./timeline.js";

/** Recordings that end before their steps do, each at a step that is known. */
export function followRuns(viewer, known) {
  viewer.timelines.forEach((timeline, k) => {
    timeline.edge = known[k];
    timeline.listChanges();
  });
  viewer.clock.limit = Math.min(...known);
  viewer.clock.follows = true;
}

/** What came since, of each recording: changes, rows, keyframes, events, and the step up to which that is. */
export function growRuns(viewer, lanes) {
  let events = false;
  let rows = false;
  const thoughts = lanes.some(({ keyframes }) => keyframes);
  lanes.forEach(({ step, arrays, keyframes, events: more }, k) => {
    const timeline = viewer.timelines[k];
    timeline.append(arrays);
    timeline.edge = step;
    if (keyframes) appendKeyframes(viewer.recordings[k], keyframes, arrays);
    viewer.mapStates[k]?.grow(step, keyframes);
    viewer.recordings[k].header.events.push(...more);
    events ||= more.length > 0;
    rows ||= arrays.times.length > 0;
  });
  const { clock, controls } = viewer;
  const before = clock.limit;
  clock.limit = Math.min(...lanes.map(({ step }) => step));
  if (thoughts && viewer.scores?.grow()) for (const bars of viewer.bars) bars.resize();
  if (events) viewer.listEvents();
  if (events || before !== clock.limit) controls.grow(events ? markedEvents(viewer) : null);
  if (rows) viewer.curves.grow();
  if (rows || events || thoughts) viewer.request();
  if (viewer.divergence !== null || viewer.timelines.length < 2) return;
  viewer.divergence = firstDifference(viewer.timelines);
  if (viewer.divergence !== null) viewer.heading.showDivergence();
}
