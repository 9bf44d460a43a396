// The page: opens the recordings that it holds and starts the viewer, or says in a sentence why it cannot.

import { element } from "./dom.js";
import { obeyEmbedder, started } from "./embedding.js";
import { MapState } from "./map_state.js";
import { openRecording, RecordingError } from "./recording.js";
import { Timeline } from "./timeline.js";
import { createViewer } from "./viewer.js";

function bytesOf(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

async function readBlock(block) {
  let bytes;
  try {
    bytes = bytesOf(block.textContent);
  } catch {
    throw new RecordingError("this recording is damaged: it is no base64");
  }
  const recording = await openRecording(bytes);
  if (block.dataset.label) recording.label = block.dataset.label;
  block.remove(); // its text is large
  return recording;
}

/** Another recording, for whoever drives the page: its timeline, and on a map its state. */
async function openTimeline(text) {
  const timeline = new Timeline(await openRecording(bytesOf(text)));
  return { timeline, mapState: timeline.recording.header.game.kind === "map" ? new MapState(timeline) : null };
}

function sentenceOf(error) {
  if (error instanceof RecordingError) return error.message;
  if (error instanceof RangeError) return "this recording needs more memory than this browser gives";
  return `the viewer failed: ${error?.message ?? error}`;
}

function showProblem(root, label, error) {
  const sentence = sentenceOf(error);
  const text = `${label ? `${label}: ` : ""}${sentence}${/[.!?]$/.test(sentence) ? "" : "."}`;
  root.before(element("p", { class: "pv-problem", role: "alert", text }));
  if (!(error instanceof RecordingError)) console.error(error);
}

/** The state that a link holds. */
function readHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const whole = (name) => (/^\d{1,15}$/.test(given.get(name) ?? "") ? Number(given.get(name)) : null);
  return { step: whole("step"), robot: given.has("robot") ? whole("robot") : undefined };
}

function followHash(viewer) {
  const { step, robot } = readHash();
  if (step !== null) viewer.jump(step);
  if (robot !== undefined && robot !== viewer.chosen) viewer.select(robot);
}

/** Keep the link up to date, but not while the clock runs: browsers refuse many changes. */
function keepHash(viewer) {
  let waiting = 0;
  const write = () => {
    if (viewer.clock.playing) return;
    const none = viewer.firstChoice === null ? "" : "&robot=none";
    const robot = viewer.chosen === null ? none : `&robot=${viewer.chosen}`;
    try {
      history.replaceState(null, "", `#step=${viewer.clock.step}${robot}`);
    } catch {
      // a frame without an address has no link to keep
    }
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(write, 250);
  };
  viewer.clock.listen(soon);
  viewer.onChoice = soon;
  window.addEventListener("hashchange", () => followHash(viewer));
}

async function bootPage() {
  const root = document.getElementById("viewer");
  const blocks = [...document.querySelectorAll('script[type="application/x-potentia-recording"]')];
  const recordings = [];
  for (const block of blocks) {
    try {
      recordings.push(await readBlock(block));
    } catch (error) {
      showProblem(root, block.dataset.label, error);
    }
  }
  if (!recordings.length) {
    if (!blocks.length) showProblem(root, "", new RecordingError("this page holds no recording"));
    return;
  }
  try {
    const viewer = createViewer(root, recordings);
    if (viewer.firstChoice !== null) viewer.select(viewer.firstChoice);
    followHash(viewer);
    keepHash(viewer);
    const { timelines, clock, mapStates } = viewer;
    window.potentia = { viewer, timelines, clock, mapStates, open: openTimeline };
    root.dataset.ready = "true";
  } catch (error) {
    root.replaceChildren();
    showProblem(root, "", error);
  }
}

started();
obeyEmbedder();
await bootPage();
