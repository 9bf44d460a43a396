// A game on a network: players as nodes, who interacts as edges, actions as colours.

import { inkOn } from "../colours.js";
import { sizedCanvas } from "../dom.js";
import { counted, formatCount } from "../format.js";
import { actionColours, actionName, addLegend, countActions, playedInWords } from "./actions.js";
import { addElement, addPicker, addReadout, changesAt, inWords, playerName, roomIn } from "./parts.js";

const SMALLEST_SIDE = 260;
const WORDS_HIGH = 120; // the legend, the field and two lines under the network
const LARGEST_NODE = 17;
const SMALLEST_NODE = 2.2;
const SMALL_NODE = 3; // the smallest where players are not so many
const NODE_FOR_NUMBERS = 8.5; // a node this large has room for its number
const MOST_LISTED = 12; // neighbours named in a sentence

export function createNetworkStage(host, timeline, context) {
  const { edges, layout } = timeline.recording.arrays;
  const players = timeline.profile.length;
  const colours = actionColours(timeline);
  const inks = colours.map(inkOn);
  const counts = new Uint32Array(colours.length);
  const near = neighboursOf(edges, players);
  const frame = frameOf(layout);
  const canvas = addElement(host, "canvas", { name: "stage-canvas", attributes: { role: "img" } });
  Object.assign(canvas.style, { display: "block", margin: "0 auto 0.4em" });
  const showCounts = addLegend(host, timeline, colours, "changed in this step");
  const noun = timeline.recording.header.game.player || "player";
  const showPicked = addPicker(host, noun, players, pick, (text) => say(text, true));
  const say = addReadout(host, "stage-readout");
  const behind = document.createElement("canvas"); // edges, drawn once
  const x = new Float32Array(players);
  const y = new Float32Array(players);
  let pen = null;
  let side = 0;
  let radius = SMALLEST_NODE;
  let selected = null;

  canvas.addEventListener("click", (event) => {
    const hit = nodeAt(event.offsetX, event.offsetY);
    pick(hit === selected ? null : hit);
  });

  function pick(player) {
    select(player);
    context.onSelect?.(player);
  }

  function select(player) {
    selected = player ?? null;
    showPicked(selected);
    say(sentence(), true, selected === null);
    draw();
  }

  function resize() {
    side = Math.max(220, Math.min(roomIn(host), 600, Math.max(SMALLEST_SIDE, context.heightLeft() - WORDS_HIGH)));
    place();
    pen = sizedCanvas(canvas, side, side);
    drawEdges();
    draw();
  }

  function place() {
    const room = side - 2 * (LARGEST_NODE + 5);
    for (let i = 0; i < players; i++) {
      x[i] = side / 2 + (layout[2 * i] - frame.x) * (room / frame.span);
      y[i] = side / 2 - (layout[2 * i + 1] - frame.y) * (room / frame.span);
    }
    const least = players > 1000 ? SMALLEST_NODE : SMALL_NODE;
    radius = Math.min(LARGEST_NODE, Math.max(least, 0.4 * usualGap(x, y)));
  }

  function drawEdges() {
    const theme = context.theme();
    const line = sizedCanvas(behind, side, side);
    line.clearRect(0, 0, side, side);
    line.strokeStyle = theme.grey;
    line.globalAlpha = edges.length / 2 > 3000 ? 0.15 : edges.length / 2 > 400 ? 0.3 : 0.55;
    line.lineWidth = 1;
    line.beginPath();
    for (let e = 0; e < edges.length; e += 2) {
      line.moveTo(x[edges[e]], y[edges[e]]);
      line.lineTo(x[edges[e + 1]], y[edges[e + 1]]);
    }
    line.stroke();
  }

  function draw() {
    if (!pen) return;
    const theme = context.theme();
    pen.clearRect(0, 0, side, side);
    pen.drawImage(behind, 0, 0, side, side);
    const lit = selected === null ? null : new Set([selected, ...near.of(selected)]);
    if (lit) drawOwnEdges(theme);
    for (let i = 0; i < players; i++) drawNode(i, !lit || lit.has(i), theme);
    drawRings(theme);
    if (radius >= NODE_FOR_NUMBERS) drawNumbers(lit, theme);
    showCounts(countActions(timeline, counts));
    say(sentence(), false, selected === null);
    canvas.setAttribute("aria-label", describe());
  }

  function drawNode(i, lit, theme) {
    pen.beginPath();
    pen.arc(x[i], y[i], radius, 0, 2 * Math.PI);
    if (!lit) {
      pen.fillStyle = theme.paper; // edges do not shine through
      pen.fill();
      pen.globalAlpha = 0.35;
    }
    pen.fillStyle = colours[timeline.profile[i]];
    pen.fill();
    pen.globalAlpha = 1;
  }

  function drawOwnEdges(theme) {
    pen.strokeStyle = theme.ink;
    pen.lineWidth = near.of(selected).length > 20 ? 0.8 : 1.8; // of many, thick ones would hide the nodes
    pen.beginPath();
    for (const j of near.of(selected)) {
      pen.moveTo(x[selected], y[selected]);
      pen.lineTo(x[j], y[j]);
    }
    pen.stroke();
  }

  /** Who changed in this step has a ring at a distance; who is selected has an outline. */
  function drawRings(theme) {
    pen.strokeStyle = theme.ink;
    const { first, end } = changesAt(timeline, timeline.step);
    for (let c = first; c < end; c++) ring(timeline.changePlayers[c], radius + 3.5, 2);
    if (selected !== null) ring(selected, radius, 3);
  }

  function ring(i, wide, line) {
    pen.lineWidth = line;
    pen.beginPath();
    pen.arc(x[i], y[i], wide, 0, 2 * Math.PI);
    pen.stroke();
  }

  function drawNumbers(lit, theme) {
    const digits = String(players - 1).length;
    pen.font = `${Math.min(13, (radius * 2.6) / Math.max(2, digits))}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let i = 0; i < players; i++) {
      pen.fillStyle = lit && !lit.has(i) ? theme.ink : inks[timeline.profile[i]]; // pale nodes are like paper
      pen.fillText(String(i), x[i], y[i] + 0.5);
    }
  }

  function nodeAt(left, top) {
    let best = Math.max(radius, 12) ** 2;
    let found = null;
    for (let i = 0; i < players; i++) {
      const distance = (x[i] - left) ** 2 + (y[i] - top) ** 2;
      if (distance > best) continue;
      best = distance;
      found = i;
    }
    return found;
  }

  function sentence() {
    if (selected === null) return "Click a node, or give its number, to see its neighbours.";
    const own = timeline.profile[selected];
    const others = near.of(selected);
    const who = `${playerName(timeline, selected)} plays ${actionName(timeline, own, selected)}`;
    if (others.length === 0) return `${who}. It has no neighbours.`;
    const same = others.filter((j) => timeline.profile[j] === own).length;
    const names = others.map((j) => `${j} (${actionName(timeline, timeline.profile[j], j)})`);
    const alike = `${same} of ${counted(others.length, "neighbour")} ${same === 1 ? "plays" : "play"} the same`;
    return `${who}; ${alike}: ${inWords(names, MOST_LISTED)}.`;
  }

  function describe() {
    const { first, end } = changesAt(timeline, timeline.step);
    const plays = playedInWords(timeline, countActions(timeline, counts));
    const changed = [...timeline.changePlayers.subarray(first, Math.min(end, first + MOST_LISTED))].join(", ");
    const more = end - first > MOST_LISTED ? ", …" : "";
    const now = end > first ? `${end - first} changed in this step (${changed}${more})` : "nobody changed in this step";
    const size = `${counted(players, "player")} in a network with ${counted(edges.length / 2, "edge")}`;
    return `Step ${formatCount(timeline.step)}: ${size}; ${plays}; ${now}.`;
  }

  /** Where a player is drawn, in pixels of the canvas. */
  function placeOf(player) {
    return { x: x[player], y: y[player] };
  }

  resize();
  return { draw, resize, describe, select, placeOf };
}

/** Neighbours of each player, ascending, each once. */
function neighboursOf(edges, players) {
  const found = Array.from({ length: players }, () => []);
  for (let e = 0; e < edges.length; e += 2) {
    if (edges[e] === edges[e + 1]) continue;
    found[edges[e]].push(edges[e + 1]);
    found[edges[e + 1]].push(edges[e]);
  }
  const tidy = new Map();
  const of = (player) => {
    if (!tidy.has(player)) tidy.set(player, [...new Set(found[player])].sort((a, b) => a - b));
    return tidy.get(player);
  };
  return { of };
}

/** The middle of a layout and its larger extent, so that it fills the canvas. */
function frameOf(layout) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  layout.forEach((value, k) => {
    low[k % 2] = Math.min(low[k % 2], value);
    high[k % 2] = Math.max(high[k % 2], value);
  });
  const span = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
  return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, span };
}

/** A distance to the nearest node that four fifths of the nodes have at least; of many nodes only some are asked. */
function usualGap(x, y) {
  const stride = Math.ceil(x.length / 500);
  const gaps = [];
  for (let i = 0; i < x.length; i += stride) {
    let least = Infinity;
    for (let j = 0; j < x.length; j++) if (j !== i) least = Math.min(least, (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2);
    gaps.push(Math.sqrt(least));
  }
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 5)];
}
