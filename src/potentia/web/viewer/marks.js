// Marks of events: little shapes on the timeline that jump to their step, and the same in the list of events.

import { element, sizedCanvas, svgElement } from "./dom.js";
import { formatCount } from "./format.js";

const MARKS_HIGH = 12;
const APART = 9; // pixels between marks of one step
const NEAR_MARK = 6; // pixels around a mark that belong to it
const MOST_TOLD = 4; // events in a title
const SHAPES = {
  target: "M-4 -4H4L0 4Z",
  split: "M0 -4.5L4 0L0 4.5L-4 0Z",
  lost: "M-4 -2.6L-2.6 -4L0 -1.4L2.6 -4L4 -2.6L1.4 0L4 2.6L2.6 4L0 1.4L-2.6 4L-4 2.6L-1.4 0Z",
  edit: "M-4.5 4.5L-3.5 1L2 -4.5L4.5 -2L-1 3.5Z",
  arrived: "M-1 -4.5H1V-1H4.5V1H1V4.5H-1V1H-4.5V-1H-1Z",
  merge: "M-3.6 0A3.6 3.6 0 1 0 3.6 0A3.6 3.6 0 1 0 -3.6 0Z",
};
const PLAIN_SHAPE = "M-1 -5H1V5H-1Z";

function shapeOf(kind) {
  return Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : PLAIN_SHAPE;
}

/** The shape of a kind of event, for a list; the function colours it. */
export function makeMark(kind) {
  const size = { width: 12, height: 12, viewBox: "-6 -6 12 12", class: "pv-mark", "aria-hidden": "true" };
  const path = svgElement("path", { d: shapeOf(kind) });
  const svg = svgElement("svg", size, path);
  return { svg, paint: (colour) => path.setAttribute("fill", colour) };
}

/** The events of all recordings of a viewer, for its timeline. */
export function markedEvents(viewer) {
  const { recordings, context } = viewer;
  return recordings.flatMap((recording, k) =>
    recording.header.events.map((event) => ({
      ...event,
      text: context.single ? event.text : `${recording.label}: ${event.text}`,
      run: k,
      colour: () => viewer.lookNow[k].colour,
    })),
  );
}

/** Marks along a timeline; events are [{step, kind, text, run, colour()}]. Those of one step stand side by side. */
export function createMarks(events, span, inset, onSeek) {
  const canvas = element("canvas", { class: "pv-marks", "aria-hidden": "true" }); // the list has them for the keyboard
  let spots = spotsOf(events);
  let steps = span; // of the whole timeline
  let edge = span; // up to which it was played
  let width = 0;
  const placeOf = ({ step, aside }) => inset + (step / Math.max(1, steps)) * (width - 2 * inset) + aside;
  const nearest = (event) => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    const away = (spot) => Math.abs(placeOf(spot) - x);
    const best = spots.reduce((found, spot) => (found === null || away(spot) < away(found) ? spot : found), null);
    return best !== null && away(best) <= NEAR_MARK ? best : null;
  };
  canvas.addEventListener("pointermove", (event) => {
    const spot = nearest(event);
    canvas.title = spot ? titleOf(spot) : "";
    canvas.style.cursor = spot ? "pointer" : "";
  });
  canvas.addEventListener("click", (event) => {
    const spot = nearest(event);
    if (spot) onSeek(spot.step);
  });
  const draw = (wide) => {
    width = wide;
    const context = sizedCanvas(canvas, width, MARKS_HIGH);
    context.clearRect(0, 0, width, MARKS_HIGH);
    if (edge < steps) {
      context.fillStyle = "rgba(128,128,128,0.5)";
      context.fillRect(inset, MARKS_HIGH - 2, (edge / Math.max(1, steps)) * (width - 2 * inset), 2);
    }
    for (const spot of spots) {
      context.save();
      context.translate(Math.min(width - 5, Math.max(5, placeOf(spot))), MARKS_HIGH / 2);
      context.fillStyle = spot.colour();
      context.fill(new Path2D(shapeOf(spot.kind)));
      context.restore();
    }
  };
  const grow = (step, end, more) => {
    edge = step;
    steps = end;
    if (more) spots = spotsOf(more);
    if (width) draw(width);
  };
  return { canvas, draw, grow };
}

/** One spot for all events of a step, a kind and a recording. */
function spotsOf(events) {
  const bySteps = new Map();
  for (const { step, kind, text, run, colour } of events) {
    if (!bySteps.has(step)) bySteps.set(step, new Map());
    const group = bySteps.get(step);
    const key = `${run} ${kind}`;
    if (!group.has(key)) group.set(key, { step, kind, colour, texts: [] });
    group.get(key).texts.push(text);
  }
  return [...bySteps.values()].flatMap((group) =>
    [...group.values()].map((spot, k) => ({ ...spot, aside: (k - (group.size - 1) / 2) * APART })),
  );
}

function titleOf({ step, texts }) {
  const more = texts.length > MOST_TOLD ? [`and ${texts.length - MOST_TOLD} more`] : [];
  return [`step ${formatCount(step)}`, ...texts.slice(0, MOST_TOLD), ...more].join("\n");
}
