// The score dynamics: a phase portrait of two players with two actions each, a triangle for players with three. Lines
// start where one clicks: Q-learning (order 1) and second-order Q-learning (order 2) from the same place.

import { element, setText } from "../viewer/dom.js";
import { numberField, numberIn } from "../viewer/numbers.js";
import { addShape } from "../viewer/stages/parts.js";
import { actionsOf, profileName } from "./profiles.js";
import { significant } from "./solver/texts.js";

const ORDERS = [
  { order: 1, name: "QL (order 1)", look: "gs-ql" },
  { order: 2, name: "SOQL (order 2)", look: "gs-soql" },
];
const SIDE = 340;
const EDGE = 34;
const FIELD_GRID = 12;
const HORIZON = 40;
const LINE_POINTS = 401;
const MOST_STARTS = 8;
const EDGE_SHARE = 0.02; // clicks nearer to the border than this start here: no finite score is on it

const bounded = (share) => Math.min(1 - EDGE_SHARE, Math.max(EDGE_SHARE, share));

/** A picture of strategies: where a set of them is, and which strategies are at a place. */
function squarePlane() {
  const x = (share) => EDGE + share * (SIDE - 2 * EDGE);
  const y = (share) => SIDE - x(share);
  const toShare = (pixel) => bounded((pixel - EDGE) / (SIDE - 2 * EDGE));
  return {
    place: (strategies) => ({ x: x(strategies[0][0]), y: y(strategies[1][0]) }),
    startAt: (px, py) => [toShare(px), toShare(SIDE - py)].map((share) => [share, 1 - share]),
    draw(svg) {
      addShape(svg, "rect", { x: EDGE, y: EDGE, width: SIDE - 2 * EDGE, height: SIDE - 2 * EDGE, class: "gs-frame" });
      const look = { "text-anchor": "middle", class: "gs-axis" };
      const label = (at, text, more = {}) => addShape(svg, "text", { ...at, ...look, ...more }, text);
      label({ x: SIDE / 2, y: SIDE - 6 }, "share of player 0's action 0");
      label({ x: 12, y: SIDE / 2 }, "share of player 1's action 0", { transform: `rotate(-90 12 ${SIDE / 2})` });
      for (const share of [0, 1]) {
        label({ x: x(share), y: SIDE - EDGE + 21 }, String(share)); // clear of the rings at the corners
        label({ x: EDGE - 16, y: y(share) + 4 }, String(share));
      }
    },
  };
}

function triangle(player, start) {
  const bottom = SIDE - EDGE;
  const corners = [[EDGE, bottom], [bottom, bottom], [SIDE / 2, bottom - (SIDE - 2 * EDGE) * Math.sqrt(0.75)]];
  const at = (shares) => ({
    x: shares.reduce((sum, share, k) => sum + share * corners[k][0], 0),
    y: shares.reduce((sum, share, k) => sum + share * corners[k][1], 0),
  });
  return {
    place: (strategies) => at(strategies[player]),
    startAt(px, py) {
      const height = corners[0][1] - corners[2][1];
      const top = (corners[0][1] - py) / height;
      const right = (px - corners[0][0]) / (SIDE - 2 * EDGE) - top / 2;
      const inside = [1 - top - right, right, top].map((share) => Math.max(EDGE_SHARE, share));
      const sum = inside.reduce((total, share) => total + share, 0);
      return start().map((shares, other) => (other === player ? inside.map((share) => share / sum) : shares));
    },
    draw(svg) {
      addShape(svg, "path", { d: `M${corners.map((corner) => corner.join(" ")).join("L")}Z`, class: "gs-frame" });
      addShape(svg, "text", { x: 8, y: 20, class: "gs-axis gs-who" }, `player ${player}`);
      corners.forEach(([x, y], action) => {
        const above = action === 2 ? -14 : 24; // clear of the rings at the corners
        addShape(svg, "text", { x, y: y + above, "text-anchor": "middle", class: "gs-axis" }, `action ${action}`);
      });
    },
  };
}

/** Build the view; ask answers messages, onFlow gets the fields of the flow that change. */
export function createFlowView(host, { ask, onFlow }) {
  const note = element("p", { class: "pv-quiet", role: "status" });
  const planes = element("div", { class: "gs-planes" });
  const tau = number("τ of scores", { min: 0.05, step: 0.05 }, (value) => change({ tau: value }));
  const discount = number("forgetting T", { min: 0, step: 0.05 }, (value) => change({ discount: value }));
  const shares = element("span", { class: "gs-row gs-shares" });
  const clear = element("button", { type: "button", class: "pv-text-button", text: "Clear", onclick: () => forget() });
  const legend = element("p", { class: "gs-legend" });
  const key = (mark, text) => element("span", { class: "gs-keyed" }, mark, text);
  legend.append(...ORDERS.map(({ name, look }) => key(element("span", { class: `gs-key ${look}` }), name)));
  legend.append(key("○ ", "start"), key("■ ", `at time ${HORIZON}`));
  const nash = key("◯ ", "Nash equilibrium");
  const ofPortrait = element("span", {}, key("─• ", "where QL goes from here, towards the dot"));
  legend.append(nash, ofPortrait);
  host.append(planes, legend, element("div", { class: "gs-row" }, tau.label, discount.label, clear), shares, note);

  let [flow, game, starts, drawn, pending] = [null, null, [], "", 0];
  let kinds = [];
  let lesson = null;

  function number(text, bounds, onValue) {
    const input = numberField({ step: bounds.step, class: "gs-number" });
    input.addEventListener("change", () => {
      const value = numberIn(input);
      if (value >= bounds.min && value <= 10) onValue(value);
      else input.value = input.dataset.known;
    });
    return { input, label: element("label", { class: "pv-check" }, text, input) };
  }

  function change(more) {
    onFlow({ ...flow, ...more });
  }

  function forget() {
    starts = [];
    change({});
  }

  /** The start in use: that of the state where it fits the game, else one that is not the same for all actions. */
  function startNow() {
    const same = flow.start.length === game.actions.length;
    const fits = same && flow.start.every((some, k) => some.length === game.actions[k]);
    const falling = (size) => Array.from({ length: size }, (_, k) => (2 * (size - k)) / (size * (size + 1)));
    return fits ? flow.start : game.actions.map(falling);
  }

  function build() {
    planes.replaceChildren();
    const square = game.actions.length === 2 && game.actions.every((size) => size === 2);
    const three = game.actions.flatMap((size, player) => (size === 3 ? [player] : []));
    const made = square
      ? [[squarePlane(), "Phase portrait"]]
      : three.slice(0, 2).map((player) => [triangle(player, startNow), `Strategies of player ${player}`]);
    kinds = made.map(([plane, name]) => {
      const size = { viewBox: `0 0 ${SIDE} ${SIDE}`, width: SIDE, height: SIDE };
      const svg = addShape(planes, "svg", { ...size, role: "img", "aria-label": name, class: "gs-plane" });
      svg.addEventListener("click", (event) => {
        const box = svg.getBoundingClientRect();
        const x = ((event.clientX - box.left) * SIDE) / box.width;
        const y = ((event.clientY - box.top) * SIDE) / box.height;
        change({ start: plane.startAt(x, y) });
      });
      return { svg, plane, square };
    });
    shares.replaceChildren();
    ofPortrait.hidden = !square;
    if (square) [0, 1].forEach((player) => shares.append(shareInput(player, 0)));
    else three.slice(0, 2).forEach((player) => [0, 1].forEach((action) => shares.append(shareInput(player, action))));
  }

  function shareInput(player, action) {
    const bounds = { min: 0.01, max: 0.99, step: 0.01 };
    const { input, label } = number(`start: player ${player}, action ${action}`, bounds, (value) => {
      const next = startNow().map((some) => [...some]);
      const rest = next[player].reduce((sum, share, k) => sum + (k === action ? 0 : share), 0);
      const share = Math.min(0.99, value);
      next[player] = next[player].map((old, k) => (k === action ? share : (old * (1 - share)) / rest));
      change({ start: next });
    });
    Object.assign(input.dataset, { player, action });
    return label;
  }

  async function solveAll(message) {
    const wanted = starts.flatMap((start) => ORDERS.map(({ order, look }) => ({ start, order, look })));
    const line = { ...message, ask: "trajectory", horizon: HORIZON, points: LINE_POINTS };
    const questions = wanted.map(({ start, order }) => ({ ...line, start, order }));
    if (kinds[0].square) questions.push({ ...message, ask: "portrait", order: 1, grid: FIELD_GRID });
    const { answers } = await ask({ ask: "several", questions });
    const paths = wanted.map(({ look }, k) => ({ look, strategies: answers[k].strategies }));
    return { paths, portrait: kinds[0].square ? answers[answers.length - 1] : null };
  }

  function drawAll({ paths, portrait }) {
    for (const { svg, plane } of kinds) {
      svg.replaceChildren();
      plane.draw(svg);
      if (portrait) drawField(svg, portrait, plane);
      else drawNash(svg, plane);
      for (const { look, strategies } of paths) {
        const points = strategies[0].map((_, k) => plane.place(strategies.map((some) => some[k])));
        const d = `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
        addShape(svg, "path", { d, class: `gs-flow ${look}` });
        const end = points[points.length - 1];
        addShape(svg, "circle", { cx: points[0].x, cy: points[0].y, r: 3.5, class: "gs-flow-start" });
        addShape(svg, "rect", { x: end.x - 4, y: end.y - 4, width: 8, height: 8, class: `gs-flow-end ${look}` });
      }
    }
  }

  /** In a triangle: the actions of pure equilibria. */
  function drawNash(svg, plane) {
    const shares = (action, player) => Array.from({ length: game.actions[player] }, (_, k) => Number(k === action));
    for (const place of game.nash) {
      const pure = actionsOf(place, game.actions).map(shares);
      const { x, y } = plane.place(pure);
      const mark = addShape(svg, "circle", { cx: x, cy: y, r: 8, class: "gs-nash" });
      addShape(mark, "title", {}, `Nash equilibrium ${profileName(place, game.actions)}`);
    }
  }

  function drawField(svg, { field, equilibria }, plane) {
    const at = (x, y) => plane.place([[x, 1 - x], [y, 1 - y]]);
    const longest = Math.max(...field.dx.map((dx, k) => Math.hypot(dx, field.dy[k])), 1e-300);
    field.x.forEach((x, k) => {
      const size = Math.hypot(field.dx[k], field.dy[k]);
      if (size < 1e-12 * longest) return;
      const half = 0.3 / FIELD_GRID / size;
      const [a, b] = [-half, half].map((by) => at(x + by * field.dx[k], field.y[k] + by * field.dy[k]));
      addShape(svg, "path", { d: `M${a.x} ${a.y}L${b.x} ${b.y}`, class: "gs-field-line" });
      addShape(svg, "circle", { cx: b.x, cy: b.y, r: 1.6, class: "gs-field-tip" });
    });
    for (const [x, y] of equilibria) {
      const place = at(x, y);
      const mark = addShape(svg, "circle", { cx: place.x, cy: place.y, r: 8, class: "gs-nash" });
      addShape(mark, "title", {}, `Nash equilibrium at shares ${significant(x, 4)}, ${significant(y, 4)}`);
    }
  }

  function tell(paths) {
    const ends = (order) => {
      const { strategies } = paths[paths.length - ORDERS.length + order - 1];
      return strategies.map((some) => significant(Number(some[some.length - 1][0].toFixed(4)), 4)).join(", ");
    };
    const from = startNow().map((some) => significant(some[0], 4)).join(", ");
    const words = `From shares ${from} of first actions, at time ${HORIZON}: QL is at ${ends(1)}, SOQL at ${ends(2)}.`;
    setText(note, words);
  }

  return {
    async show(state, answer) {
      ({ flow } = state);
      const changed = !game || answer.actions.join() !== game.actions.join();
      game = answer;
      if (changed || state.lesson !== lesson) starts = [];
      if (changed) build();
      ({ lesson } = state);
      host.hidden = !kinds.length;
      if (!kinds.length) return;
      const start = startNow();
      const known = JSON.stringify(starts[starts.length - 1]) === JSON.stringify(start);
      if (!known) starts = [...starts, start].slice(-MOST_STARTS);
      tau.input.value = tau.input.dataset.known = String(flow.tau);
      discount.input.value = discount.input.dataset.known = String(flow.discount);
      for (const input of shares.querySelectorAll("input")) {
        const share = start[input.dataset.player][input.dataset.action];
        input.value = input.dataset.known = String(Number(share.toFixed(4)));
      }
      const played = state.game ? { game: state.game } : { payoffs: state.payoffs };
      const message = { ...played, tau: flow.tau, discount: flow.discount };
      const key = JSON.stringify([message, starts]);
      if (key === drawn) return;
      drawn = key;
      const mine = (pending += 1);
      const found = await solveAll(message);
      if (mine !== pending) return;
      drawAll(found);
      tell(found.paths);
    },
  };
}
