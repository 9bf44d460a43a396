// Any game: one tile per player, its colour the action, and how many play what.

import { inkOn, packedColour } from "../colours.js";
import { sizedCanvas } from "../dom.js";
import { counted, formatCount } from "../format.js";
import { actionColours, actionName, countActions, MOST_COLOURS, mostPlayed, playedInWords } from "./actions.js";
import { addElement, addPicker, addReadout, changesAt, playerName, roomIn } from "./parts.js";

const MOST_TILES_DRAWN = 3000; // more are pixels of a picture
const LARGEST_TILE = 44;
const TILE_FOR_NUMBERS = 22;
const LARGEST_HEIGHT = 420;

export function createPlayersStage(host, timeline, context) {
  const players = timeline.profile.length;
  const colours = actionColours(timeline);
  const inks = colours.map(inkOn);
  const pixels = Uint32Array.from(colours, (colour) => packedColour(colour));
  const counts = new Uint32Array(colours.length);
  const canvas = addElement(host, "canvas", { name: "stage-canvas", attributes: { role: "img" } });
  Object.assign(canvas.style, { display: "block", marginBottom: "0.4em" });
  const picture = document.createElement("canvas"); // one pixel per player, enlarged when drawn
  const noun = timeline.recording.header.game.player || "player";
  const showPicked = addPicker(host, noun, players, pick, (text) => say(text, true));
  const say = addReadout(host, "stage-readout");
  const showCounts = addCountBars(host, timeline, colours, context);
  let pen = null;
  let grid = { columns: 1, rows: 1, tile: 1 };
  let image = null;
  let selected = null;
  let pointed = null;

  canvas.addEventListener("pointermove", (event) => point(playerAt(event)));
  canvas.addEventListener("pointerleave", () => point(null));
  canvas.addEventListener("click", (event) => {
    const hit = playerAt(event);
    pick(hit === selected ? null : hit);
  });

  function playerAt(event) {
    const column = Math.floor(event.offsetX / grid.tile);
    const player = Math.floor(event.offsetY / grid.tile) * grid.columns + column;
    return column >= 0 && column < grid.columns && player >= 0 && player < players ? player : null;
  }

  function point(player) {
    pointed = player;
    say(sentence(), false, (pointed ?? selected) === null);
  }

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
    grid = tilesIn(players, Math.min(roomIn(host), 900), LARGEST_HEIGHT);
    pen = sizedCanvas(canvas, grid.columns * grid.tile, grid.rows * grid.tile);
    picture.width = grid.columns;
    picture.height = grid.rows;
    image = picture.getContext("2d").createImageData(grid.columns, grid.rows);
    showCounts.resize();
    draw();
  }

  function draw() {
    if (!pen) return;
    const theme = context.theme();
    pen.clearRect(0, 0, grid.columns * grid.tile, grid.rows * grid.tile);
    if (players > MOST_TILES_DRAWN) drawPicture();
    else drawTiles();
    const { first, end } = changesAt(timeline, timeline.step);
    if (grid.tile >= 6) for (let c = first; c < end; c++) outline(timeline.changePlayers[c], theme.ink, 2);
    if (selected !== null) markSelected(theme);
    showCounts.draw(countActions(timeline, counts));
    say(sentence(), false, (pointed ?? selected) === null);
    canvas.setAttribute("aria-label", describe());
  }

  function drawTiles() {
    const { tile, columns } = grid;
    const gap = tile >= 8 ? 2 : tile >= 4 ? 1 : 0;
    pen.font = `${Math.min(13, tile * 0.42)}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const numbered = tile >= TILE_FOR_NUMBERS;
    for (let i = 0; i < players; i++) {
      const left = (i % columns) * tile;
      const top = Math.floor(i / columns) * tile;
      pen.fillStyle = colours[timeline.profile[i]];
      pen.fillRect(left + gap, top + gap, tile - 2 * gap, tile - 2 * gap);
      if (!numbered) continue;
      pen.fillStyle = inks[timeline.profile[i]];
      pen.fillText(String(i), left + tile / 2, top + tile / 2);
    }
  }

  function drawPicture() {
    const out = new Uint32Array(image.data.buffer);
    const { profile } = timeline;
    for (let i = 0; i < players; i++) out[i] = pixels[profile[i]];
    picture.getContext("2d").putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture, 0, 0, grid.columns * grid.tile, grid.rows * grid.tile);
  }

  function outline(player, colour, line, beyond = 0) {
    const { tile, columns } = grid;
    pen.strokeStyle = colour;
    pen.lineWidth = line;
    const left = (player % columns) * tile - beyond;
    const top = Math.floor(player / columns) * tile - beyond;
    pen.strokeRect(left + line / 2, top + line / 2, tile + 2 * beyond - line, tile + 2 * beyond - line);
  }

  /** A frame that is seen around a tile of any size. */
  function markSelected(theme) {
    const beyond = grid.tile < 10 ? 4 : 0;
    outline(selected, theme.paper, 4, beyond);
    outline(selected, theme.ink, 2, beyond);
  }

  function sentence() {
    const player = pointed ?? selected;
    if (player === null) return "Point at a tile, or give its number, to see what it plays.";
    return `${playerName(timeline, player)} plays ${actionName(timeline, timeline.profile[player], player)}.`;
  }

  function describe() {
    const plays = playedInWords(timeline, countActions(timeline, counts));
    const { first, end } = changesAt(timeline, timeline.step);
    const news = `${formatCount(end - first)} changed in this step`;
    return `Step ${formatCount(timeline.step)}: ${counted(players, "player")}; ${plays}; ${news}.`;
  }

  resize();
  return { draw, resize, describe, select };
}

/** Square tiles as large as fit; many players have tiles of less than a pixel and lose nothing but sharpness. */
function tilesIn(players, width, height) {
  let tile = Math.min(LARGEST_TILE, Math.sqrt((width * height) / players));
  if (tile > 2) tile = Math.floor(tile);
  const columns = Math.max(1, Math.min(players, Math.floor(width / tile)));
  return { columns, rows: Math.ceil(players / columns), tile };
}

/** A list of bars: all actions in their order, or of many those most played now. */
function addCountBars(host, timeline, colours, context) {
  const list = addElement(host, "ul", { name: "stage-counts", attributes: { "aria-label": "players on each action" } });
  Object.assign(list.style, { listStyle: "none", padding: "0", margin: "0.4em 0", maxWidth: "34em" });
  const few = colours.length <= MOST_COLOURS;
  const rows = Array.from({ length: Math.min(MOST_COLOURS, colours.length) }, () => addCountRow(list));
  const rest = few ? null : addElement(host, "p", { style: { margin: "0.2em 0" } });

  function draw(counts) {
    const shown = few ? rows.keys() : mostPlayed(counts, rows.length);
    let listed = 0;
    [...shown].forEach((action, k) => {
      const { label, bar, number } = rows[k];
      label.textContent = actionName(timeline, action);
      bar.style.background = colours[action];
      bar.style.width = `${(100 * counts[action]) / timeline.profile.length}%`;
      number.textContent = formatCount(counts[action]);
      listed += counts[action];
    });
    if (!rest) return;
    const others = counted(colours.length - rows.length, "other action");
    rest.textContent = `${formatCount(timeline.profile.length - listed)} on ${others}.`;
  }

  function resize() {
    for (const { track } of rows) track.style.background = context.theme().faint;
  }

  return { draw, resize };
}

function addCountRow(list) {
  const item = addElement(list, "li", { style: { display: "flex", alignItems: "center", gap: "0.6em" } });
  const cut = { width: "8em", flex: "none", overflow: "hidden", textOverflow: "ellipsis", whiteSpace: "nowrap" };
  const label = addElement(item, "span", { style: cut });
  const track = addElement(item, "span", { style: { flex: "1", height: "0.8em" } });
  const bar = addElement(track, "span", { style: { display: "block", height: "100%" } });
  const even = { width: "4.5em", textAlign: "right", fontVariantNumeric: "tabular-nums" };
  const number = addElement(item, "span", { style: even });
  return { label, track, bar, number };
}
