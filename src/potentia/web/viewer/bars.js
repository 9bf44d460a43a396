// What players thought: the strategy and the scores of each, an action a bar.

import { BitChain } from "./chains.js";
import { actionColour, PALETTE } from "./colours.js";
import { rulerOf, setText, shortenedTo } from "./dom.js";
import { counted, formatCount, formatNumber } from "./format.js";
import { actionName, MOST_COLOURS, mostActions, shortAction } from "./stages/actions.js";
import { addElement, addPicker, addShape, playerName, roomIn, setShape } from "./stages/parts.js";

const MOST_GROUPS = 12;
const MOST_BARS = 24;
const BARS_WIDE = 190; // of one player, at least
const BARS_APART = 20;
const BARS_TALL = 46; // of a row of bars
const BARS_LEFT = 44; // for the numbers of the scales
const BARS_TOP = 8;
const BARS_GAP = 12;
const BARS_FOOT = 18; // for the names of actions
const ROOM_FOR_NAMES = 36; // pixels of a bar, from which a name is rather cut than left out

/** Build the bars. `scale` is that of all scores of the page, so that bars can be compared. */
export function createBars(host, timeline, context, scale) {
  const { header, arrays } = timeline.recording;
  const scored = Boolean(header.keyframes?.scores);
  const fields = scored ? ["strategy", "score"].filter((field) => arrays[field]) : [];
  const players = timeline.profile.length;
  const offsets = firstActions(timeline);
  const shown = Array.from({ length: fields.length ? Math.min(MOST_GROUPS, players) : 0 }, (_, player) => player);
  const chains = new Map();
  const colourOf = mostActions(timeline) > MOST_COLOURS ? () => PALETTE[0] : actionColour; // more look alike
  const when = addElement(host, "p", { name: "bars-when", style: { margin: "0.4em 0" } });
  const box = addElement(host, "div", { name: "bars" });
  Object.assign(box.style, { display: "grid", gap: "0.6em 1.2em" });
  const rest = addElement(host, "p", { name: "bars-rest", style: { margin: "0.4em 0" } });
  const noun = header.game.player || "player";
  const some = shown.length > 0 && shown.length < players;
  const showPicked = some ? addPicker(host, `show ${noun}`, players, pick) : () => {};
  const bottom = BARS_TOP + fields.length * (BARS_TALL + BARS_GAP);
  let groups = [];
  rest.textContent = leftOut();
  rest.hidden = !rest.textContent;

  function chainOf(field, player) {
    const key = `${field} ${player}`;
    if (!chains.has(key)) {
      const length = Math.min(MOST_BARS, timeline.actionsOf(player));
      chains.set(key, new BitChain(arrays[field], offsets[players], offsets[player], length));
    }
    const chain = chains.get(key);
    chain.array = arrays[field]; // another one, where more has come
    return chain;
  }

  function resize() {
    const room = roomIn(host);
    const columns = Math.max(1, Math.min(shown.length, Math.floor((room + BARS_APART) / (BARS_WIDE + BARS_APART))));
    box.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    const width = Math.min(420, Math.floor((room - BARS_APART * (columns - 1)) / columns));
    box.replaceChildren();
    groups = shown.map((player) => addGroup(player, width));
    draw();
  }

  function addGroup(player, width) {
    const count = Math.min(MOST_BARS, timeline.actionsOf(player));
    const theme = context.theme();
    const group = addElement(box, "div", { name: "bars-player", attributes: { "data-player": player } });
    addElement(group, "p", { text: playerName(timeline, player), style: { margin: "0", fontWeight: "600" } });
    const svg = addShape(group, "svg", { role: "img", width, height: bottom + BARS_FOOT });
    Object.assign(svg.style, { display: "block", maxWidth: "100%", font: "11px system-ui, sans-serif" });
    const wide = (width - BARS_LEFT - 4) / count;
    const line = { fill: theme.faint, stroke: theme.ink, "stroke-width": 1.5, rx: 2 };
    const frame = addShape(svg, "rect", { y: 2, width: wide, height: bottom - 4, ...line });
    const look = { player, count, wide, width, theme };
    const rows = fields.map((field, k) => addRow(svg, field, BARS_TOP + k * (BARS_TALL + BARS_GAP), look));
    addNames(svg, player, look);
    return { player, svg, frame, rows, wide, count, key: null };
  }

  function addRow(svg, field, top, { player, count, wide, width, theme }) {
    const { low, high } = field === "score" ? scale : { low: 0, high: 1 };
    const up = (value) => top + BARS_TALL - (BARS_TALL * (value - low)) / (high - low);
    const grey = { stroke: theme.grey, "stroke-width": 1 };
    addShape(svg, "line", { x1: BARS_LEFT, x2: width - 4, y1: up(0), y2: up(0), ...grey });
    for (const value of new Set([low, 0, high])) {
      if (value !== 0 && Math.abs(up(value) - up(0)) < 11) continue; // it would lie upon the zero
      const place = { x: BARS_LEFT - 5, y: up(value) + 4, "text-anchor": "end", fill: theme.ink };
      addShape(svg, "text", place, scaleText(value));
    }
    const turn = `translate(9 ${top + BARS_TALL / 2}) rotate(-90)`;
    addShape(svg, "text", { transform: turn, "text-anchor": "middle", fill: theme.ink }, field);
    const bars = Array.from({ length: count }, (_, action) => {
      const look = { x: BARS_LEFT + action * wide + wide * 0.18, width: wide * 0.64, fill: colourOf(action) };
      const bar = addShape(svg, "rect", { ...look, "data-field": field, "data-action": action });
      return { bar, title: addShape(bar, "title") };
    });
    return { field, player, bars, up };
  }

  function addNames(svg, player, { count, wide, theme }) {
    const every = wide >= 16 ? 1 : Math.ceil(16 / wide);
    const ruler = rulerOf("11px system-ui, sans-serif");
    for (let action = 0; action < count; action += every) {
      const full = shortAction(timeline, action, player);
      const fits = ruler.measureText(full).width <= wide;
      const text = fits || wide > ROOM_FOR_NAMES ? shortenedTo(ruler, full, wide) : String(action);
      const place = { x: BARS_LEFT + (action + 0.5) * wide, y: bottom + 8, "text-anchor": "middle", fill: theme.ink };
      addShape(svg, "text", place, text);
    }
  }

  function draw() {
    const keyframe = timeline.keyframeAt(timeline.step);
    setText(when, whenText(keyframe));
    for (const group of groups) drawGroup(group, keyframe);
  }

  function drawGroup(group, keyframe) {
    const playing = timeline.profile[group.player];
    const key = `${keyframe} ${playing}`;
    if (group.key === key) return;
    group.key = key;
    setShape(group.frame, {
      x: BARS_LEFT + playing * group.wide,
      visibility: playing < group.count ? "visible" : "hidden",
    });
    for (const row of group.rows) drawRow(row, keyframe);
    group.svg.setAttribute("aria-label", groupText(group.player, keyframe));
  }

  function drawRow({ field, player, bars, up }, keyframe) {
    const values = keyframe < 0 ? null : chainOf(field, player).at(keyframe);
    bars.forEach(({ bar, title }, action) => {
      const value = values ? values[action] : NaN;
      const known = Number.isFinite(value);
      const [from, to] = known ? [up(Math.max(0, value)), up(Math.min(0, value))] : [up(0), up(0)];
      setShape(bar, { y: from.toFixed(2), height: Math.max(0, to - from).toFixed(2) });
      title.textContent = `${actionName(timeline, action, player)}: ${field} ${formatNumber(value)}`;
    });
  }

  function whenText(keyframe) {
    if (!fields.length) return "This recording holds no scores.";
    const steps = header.keyframes.steps;
    if (!steps.length) return "This recording holds no scores.";
    if (keyframe < 0) return `Scores are known from step ${formatCount(steps[0])} on.`;
    const again = steps[keyframe + 1] ?? null;
    const later = again === null ? ", the last one known" : `, again at step ${formatCount(again)}`;
    const next = steps[keyframe] === timeline.step && again === timeline.step + 1 ? "" : later;
    return `As of step ${formatCount(steps[keyframe])}${next}. A frame: what is played now.`;
  }

  function leftOut() {
    const most = mostActions(timeline);
    const hidden = counted(players - shown.length, `more ${noun}`);
    const who = some ? `${hidden} not shown; one that is chosen takes the last place.` : "";
    const what = most > MOST_BARS ? `Of up to ${formatCount(most)} actions the first ${MOST_BARS} are shown.` : "";
    return [who, what].filter(Boolean).join(" ");
  }

  function groupText(player, keyframe) {
    const name = `${playerName(timeline, player)} plays ${actionName(timeline, timeline.profile[player], player)}`;
    if (keyframe < 0) return `${name}; nothing else is known yet.`;
    const parts = fields.map((field) => {
      const values = [...chainOf(field, player).at(keyframe)];
      return `${field} ${values.map((value) => formatNumber(value)).join(", ")}`;
    });
    return `${name}; ${parts.join("; ")}.`;
  }

  function describe() {
    const keyframe = timeline.keyframeAt(timeline.step);
    return [whenText(keyframe), ...shown.slice(0, 3).map((player) => groupText(player, keyframe))].join(" ");
  }

  function pick(player) {
    select(player);
    context.onSelect?.(player);
  }

  /** A player that is not shown takes the last place. */
  function select(player) {
    showPicked(player ?? null);
    for (const { player: own, svg } of groups) svg.parentNode.toggleAttribute("data-selected", own === player);
    if (player === null || player === undefined || shown.includes(player) || player >= players) return;
    shown[shown.length - 1] = player;
    resize();
  }

  resize();
  return { draw, resize, describe, select };
}

/** The least and the largest score of all players and keyframes of these recordings, and zero. */
export function scoreScale(timelines) {
  const scale = { low: 0, high: 1, grow };
  const chains = timelines.map(() => null);
  let [low, high] = [0, 0];
  /** Of more keyframes; whether that made it another scale. */
  function grow() {
    timelines.forEach(({ recording }, k) => {
      const { score } = recording.arrays;
      const moments = recording.header.keyframes.steps.length;
      if (!score || !moments) return;
      const width = score.length / moments;
      chains[k] ??= new BitChain(score, width, 0, width);
      chains[k].array = score;
      for (let keyframe = chains[k].keyframe + 1; keyframe < moments; keyframe++) {
        for (const value of chains[k].at(keyframe)) {
          if (!Number.isFinite(value)) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    });
    const before = `${scale.low} ${scale.high}`;
    [scale.low, scale.high] = [low, high > low ? high : low + 1];
    return before !== `${scale.low} ${scale.high}`;
  }
  grow();
  return scale;
}

/** Where each player's actions begin among all; the last entry is how many there are. */
function firstActions(timeline) {
  const offsets = new Float64Array(timeline.profile.length + 1);
  for (let player = 0; player < timeline.profile.length; player++) {
    offsets[player + 1] = offsets[player] + timeline.actionsOf(player);
  }
  return offsets;
}

/** At most six letters: what fits beside a scale. */
function scaleText(value) {
  const text = formatNumber(value).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""); // 5 and not 5.000, as beside it
  return text.length <= 6 ? text : Number(value).toPrecision(2).replace("e+", "e").replace("-", "−");
}
