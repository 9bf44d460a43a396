// The chain of a rule as a graph: a node per profile, as large as its share of the long run, an edge per transition, as
// wide as it is likely. On top of it a least-resistance tree, or a counterexample.

import { formatPercent } from "../viewer/format.js";
import { bendBetween } from "../viewer/stages/bends.js";
import { addShape, setShape } from "../viewer/stages/parts.js";
import { profileName, shortProfile } from "./profiles.js";
import { significant } from "./solver/texts.js";

const LABEL_AT = 0.3; // of an arrow down a diagonal: early on it, so that the labels of both do not meet in the middle
const LARGEST_SIDE = 190; // between neighbours of a grid
const MOST_LABELLED = 64; // profiles round a circle; names of more would overlap
const MOST_HEADED = 16; // profiles; arrow heads of more would be a blur

/** Build the graph in host; onPick(place) is called where a node is chosen. */
export function createChainView(host, onPick) {
  const told = { role: "group", "aria-label": "The chain as a graph; a node per profile" };
  const svg = addShape(host, "svg", { ...told, class: "gs-chain" });
  let places = [];
  let nodes = [];
  let radius = 30;
  let layers = {};
  let built = "";

  function build(actions, width) {
    svg.replaceChildren();
    const size = actions.length === 2 ? placeGrid(actions, width) : placeCircle(actions, width);
    setShape(svg, { viewBox: `0 0 ${size.width} ${size.height}`, width: size.width, height: size.height });
    const layer = (name) => [name, addShape(svg, "g", { class: `gs-${name}` })];
    layers = Object.fromEntries(["edges", "over", "nodes"].map(layer));
    nodes = places.map((_, place) => addNode(place, actions));
  }

  function placeGrid([rows, columns], width) {
    const left = 58;
    const side = Math.min(LARGEST_SIDE, (width - left - 8) / columns);
    radius = Math.min(34, side * 0.2);
    const far = Math.max(rows, columns) > 2 ? 0.15 * side : 0; // arrows over a node bend beyond the grid
    const [top, high] = [24 + far, 0.8 * side];
    places = Array.from({ length: rows * columns }, (_, place) => ({
      x: left + ((place % columns) + 0.5) * side,
      y: top + (Math.floor(place / columns) + 0.5) * high,
      side,
      below: rows > 1 && place >= (rows - 1) * columns, // where its name stands
    }));
    const look = { "text-anchor": "middle", class: "gs-axis" };
    const label = (x, y, text, more = {}) => addShape(svg, "text", { x, y, ...look, ...more }, text);
    const named = (player, action) => (side < 110 ? String(action) : `player ${player}: ${action}`);
    for (let b = 0; b < columns; b += 1) label(left + (b + 0.5) * side, 14, named(1, b));
    for (let a = 0; a < rows; a += 1) {
      const y = top + (a + 0.5) * high;
      label(12, y, named(0, a), { transform: `rotate(-90 12 ${y})`, dy: "0.35em" });
    }
    return { width: left + columns * side + 8, height: top + rows * high + far + 8 };
  }

  function placeCircle(actions, width) {
    const count = actions.reduce((product, size) => product * size, 1);
    const side = Math.min(width, 620);
    const margin = 30 + (count > MOST_LABELLED ? 0 : 7 * (shortProfile(count - 1, actions).length + 2));
    const far = side / 2 - margin;
    radius = Math.max(3, Math.min(22, (0.8 * Math.PI * far) / count));
    places = Array.from({ length: count }, (_, place) => {
      const angle = (2 * Math.PI * place) / count - Math.PI / 2;
      return { x: side / 2 + far * Math.cos(angle), y: side / 2 + far * Math.sin(angle), angle, side: 2 * far };
    });
    return { width: side, height: side };
  }

  function addNode(place, actions) {
    const { x, y, angle, below } = places[place];
    const group = addShape(layers.nodes, "g", { class: "gs-node", role: "button", tabindex: 0, "data-profile": place });
    const ring = addShape(group, "circle", { cx: x, cy: y, r: radius, class: "gs-ring" });
    const disc = addShape(group, "circle", { cx: x, cy: y, r: 0, class: "gs-disc" });
    const halo = addShape(group, "circle", { cx: x, cy: y, r: radius + 4, class: "gs-halo" });
    let text;
    if (angle === undefined && Math.max(...actions) > 2) {
      const aside = 0.75 * radius; // between the arrows up and those to the left
      text = addShape(group, "text", { x: x - aside, y: y - aside - 3, "text-anchor": "end" });
    } else if (angle === undefined) {
      text = addShape(group, "text", { x, y: below ? y + radius + 19 : y - radius - 9, "text-anchor": "middle" });
    } else {
      const flipped = Math.cos(angle) < -1e-9;
      const at = `translate(${x + (radius + 8) * Math.cos(angle)} ${y + (radius + 8) * Math.sin(angle)})`;
      const turn = `rotate(${(angle * 180) / Math.PI + (flipped ? 180 : 0)})`;
      const anchor = flipped ? "end" : "start";
      text = addShape(group, "text", { transform: `${at}${turn}`, "text-anchor": anchor, dy: "0.35em" });
    }
    group.addEventListener("click", () => onPick(place));
    group.addEventListener("keydown", (event) => {
      const row = actions.length === 2 ? actions[1] : 1;
      const by = { ArrowRight: 1, ArrowDown: row, ArrowLeft: -1, ArrowUp: -row }[event.key];
      if (event.key === "Enter" || event.key === " ") onPick(place);
      else if (by) nodes[(place + by + places.length) % places.length].group.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return { group, ring, disc, halo, text };
  }

  function bendOf(from, to) {
    const [a, b] = [places[from], places[to]];
    const long = Math.hypot(b.x - a.x, b.y - a.y);
    const aside = places[from].angle === undefined && long > 1.5 * a.side ? 0.4 * a.side : 0.1 * long;
    const falls = (b.x - a.x) * (b.y - a.y) > 0;
    return bendBetween(a, b, aside, radius, falls ? LABEL_AT : 0.5);
  }

  function addArrow(layer, from, to, look, text = "") {
    const bend = bendOf(from, to);
    const group = addShape(layer, "g", { class: look.class, "data-edge": `${from}-${to}` });
    const path = addShape(group, "path", { d: bend.path, class: "gs-line", ...look.line });
    if (look.title) addShape(path, "title", {}, look.title);
    if (look.headed !== false) addShape(group, "path", { d: bend.head, class: "gs-head", ...look.head });
    if (text) {
      addShape(group, "text", { x: bend.label.x, y: bend.label.y, "text-anchor": "middle", dy: "0.35em" }, text);
    }
    return group;
  }

  function drawEdges({ answer, limit, faint }) {
    layers.edges.replaceChildren();
    const { edges, actions } = answer;
    const headed = places.length <= MOST_HEADED;
    edges.from.forEach((from, k) => {
      const to = edges.to[k];
      const [chance, cost] = [edges.probability[k], edges.resistance[k]];
      const free = cost === 0;
      const names = `${profileName(from, actions)} to ${profileName(to, actions)}`;
      const costs = cost === null ? "" : `, resistance ${significant(cost)}`;
      const title = `${names}: probability ${significant(chance)}${costs}`;
      const width = limit ? (free ? 3.5 : 1.2) : 0.8 + 9 * chance;
      const opacity = faint ? 0.15 : !limit && chance < 0.005 ? 0.3 : headed ? 0.8 : Math.max(0.07, 9 / places.length);
      const dashes = limit && !free ? { "stroke-dasharray": "4 4" } : {};
      const line = { "stroke-width": width, opacity, ...dashes };
      const look = { class: "gs-edge", title, headed, line, head: { opacity } };
      addArrow(layers.edges, from, to, look, limit && places.length === 4 && !faint && cost !== null ? significant(cost) : "");
    });
  }

  function drawOver({ tree, path, step, stage }) {
    layers.over.replaceChildren();
    const few = places.length <= MOST_HEADED;
    tree?.parent.forEach((to, from) => {
      const cost = few ? significant(tree.resistance[from]) : "";
      if (to >= 0) addArrow(layers.over, from, to, { class: "gs-tree" }, cost);
    });
    path?.slice(1).forEach((to, k) => addArrow(layers.over, path[k], to, { class: "gs-path" }));
    if (step && stage === "tried" && step.trial !== step.from) {
      addArrow(layers.over, step.from, step.trial, { class: "gs-tried", line: { "stroke-dasharray": "7 5" } });
    }
    if (step && stage === "done" && step.from !== step.to) {
      addArrow(layers.over, step.from, step.to, { class: "gs-path" });
    }
  }

  function drawNodes({ answer, shares, root, step, stage }) {
    const { actions, maximisers, nash, stability } = answer;
    nodes.forEach(({ group, disc, halo, text }, place) => {
      const share = shares?.[place];
      setShape(disc, { r: radius * Math.sqrt(share || 0) });
      const facts = [];
      if (maximisers?.includes(place)) facts.push("maximises the potential");
      if (nash.includes(place)) facts.push("Nash equilibrium");
      const stable = Boolean(stability?.stable.includes(place));
      if (stable) facts.push("stochastically stable");
      const ends = !answer.law && answer.classes.some((some) => some.includes(place));
      if (ends) facts.push("play may end here");
      group.classList.toggle("gs-stable", stable);
      group.classList.toggle("gs-ends", ends);
      const now = step && (stage === "done" ? step.to : step.from) === place;
      const at = now ? "now" : step && stage === "tried" && step.trial === place ? "trial" : "";
      halo.setAttribute("class", `gs-halo${root === place ? " gs-root" : ""}${at ? ` gs-${at}` : ""}`);
      const name = profileName(place, actions);
      const short = places.length <= MOST_LABELLED ? shortProfile(place, actions) : "";
      text.textContent = short + (maximisers?.includes(place) ? " ★" : "");
      const cost = stability ? stability.potentials[place] : null;
      const tree = cost === null ? "" : `; stochastic potential ${significant(cost)}; press for its tree`;
      const said = [`${name}: ${formatPercent(share)} of the long run`, ...facts].join(", ");
      group.setAttribute("aria-label", said + tree);
      group.setAttribute("aria-pressed", String(root === place));
    });
  }

  return {
    /** Draws everything: { answer, shares, limit, root, tree, path, step, stage }. */
    show(view) {
      const width = Math.max(260, Math.floor(host.clientWidth || 0));
      const key = `${view.answer.actions.join("×")} ${width}`;
      if (key !== built) build(view.answer.actions, width);
      built = key;
      drawEdges({ ...view, faint: Boolean(view.tree || view.path || view.step) });
      drawOver(view);
      drawNodes(view);
    },
  };
}
