// The card of a recording: its name, its rule, and the room for its stage.

import { element, setTitled } from "./dom.js";
import { formatCount } from "./format.js";
import { firstChange, labelAt, rulesAt } from "./names.js";
import { hasSide, MOST_CIRCLES } from "./stages/map.js";
import { makeSwatch } from "./swatches.js";

const CARDS_GAP = 20; // pixels between cards
const NARROWEST_MAP = 215; // pixels for a map, so that all stand in one row
const MOST_BARRED = 4; // players whose bars have room in a card

/** A card without its stage, which is built once all cards are there and have their widths. */
export function createCard(grid, timeline, { seeds, title, single }) {
  const { header, label } = timeline.recording;
  const swatch = makeSwatch();
  const host = element("div", { class: "pv-host" });
  const played = header.rule?.text ?? "";
  const seed = seeds.size > 1 ? `, seed ${header.seed}` : "";
  const same = firstChange(timeline.recording) === Infinity;
  const said = single && same && title.includes(played) && title.includes(label);
  const name = element("span", { class: "pv-two-lines" });
  const words = element("span", { class: "pv-rule-words" });
  const end = `ended at step ${formatCount(header.steps)}`;
  const ended = element("span", { class: "pv-ended", text: end, hidden: true });
  const bars = barsInCard(header) ? element("div", { class: "pv-host pv-bars" }) : null;
  const heading = element("h2", { hidden: said }, swatch, name);
  const rule = element("p", { class: "pv-rule", hidden: said }, words, ended);
  const look = { class: bars ? "pv-card pv-with-bars" : "pv-card", "aria-label": label };
  grid.append(element("article", look, heading, rule, host, bars));
  const follow = () => {
    setTitled(name, labelAt(timeline));
    setTitled(words, rulesAt(timeline) + seed);
    ended.hidden = !timeline.ended;
  };
  follow();
  return { host, swatch, bars, follow };
}

/** Whether strategies and scores of a game have room in its card. */
export function barsInCard({ game, keyframes }) {
  return game.kind === "table" && Boolean(keyframes?.scores) && game.players <= MOST_BARRED;
}

/** Whether there is one stage, which leaves room for the curves beside it. */
export function standsAlone(recordings) {
  return recordings.length === 1 && !needsWidth(recordings[0].header);
}

/** Whether they do stand beside it: the window is as wide as CSS wants it. */
export function curvesBeside(recordings) {
  return standsAlone(recordings) && window.matchMedia("(min-width: 1000px)").matches;
}

/** Whether a stage has more than one picture beside each other. */
function needsWidth({ game, keyframes }) {
  if (game.kind === "map") return game.players > MOST_CIRCLES || Boolean(keyframes?.steps?.length);
  return game.kind === "table";
}

/**
 * Where some maps have a second one beside them and others have none, those get twice the width, if there is room for all
 * in one row; returns whether they do.
 */
export function shareWidth(grid, states) {
  const shares = states.map((state) => (state && hasSide(state) ? 2 : 1));
  const whole = shares.reduce((sum, share) => sum + share, 0);
  const one = (grid.clientWidth - CARDS_GAP * (shares.length - 1)) / whole;
  const shared = states.every(Boolean) && new Set(shares).size > 1 && one >= NARROWEST_MAP;
  grid.style.gridTemplateColumns = shared ? shares.map((share) => `minmax(0, ${share}fr)`).join(" ") : "";
  return shared;
}
