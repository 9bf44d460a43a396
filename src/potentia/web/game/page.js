// The 2×2 laboratory: the game stage on a page of its own, which solves everything itself.

import { element } from "../viewer/dom.js";
import { obeyEmbedder, started } from "../viewer/embedding.js";
import { obeyStageKeys } from "./keys.js";
import { readState } from "./settings.js";
import { createSolver } from "./solver/solver.js";
import { createGameStage } from "./stage.js";

const LAB_KEYS =
  "Keys: 1 to 5 lessons, 0 for τ → 0, Tab and arrows through the graph, Enter for a tree, Esc to close, " +
  "t light or dark.";

function readLink(first, root) {
  const held = new URLSearchParams(location.hash.slice(1)).get("state");
  if (!held) return first;
  try {
    return requireSmall(readState(JSON.parse(held), first));
  } catch (error) {
    const words = error instanceof SyntaxError ? "it was cut" : error.message;
    const text = `The link's state cannot be read: ${words}. The page opens as at first.`;
    root.before(element("p", { class: "pv-problem", role: "alert", text }));
    return first;
  }
}

function requireSmall(state) {
  const small = (table) => table.length === 2 && table[0].length === 2;
  if (state.game || state.payoffs.length !== 2 || !state.payoffs.every(small)) {
    throw new Error("payoffs must be of two players with two actions each");
  }
  return state;
}

/** Keep the link up to date; browsers refuse many changes at once. */
function keepLink() {
  let waiting = 0;
  return (state) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      try {
        history.replaceState(null, "", `#state=${encodeURIComponent(JSON.stringify(state))}`);
      } catch {
        // a frame without an address has no link to keep
      }
    }, 250);
  };
}

function toggleTheme() {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}

async function bootLab() {
  const root = document.getElementById("viewer");
  const first = requireSmall(readState(JSON.parse(document.getElementById("state").textContent)));
  root.replaceChildren();
  root.classList.add("pv");
  const look = { type: "button", class: "pv-text-button" };
  const theme = element("button", { ...look, text: "Light / dark", onclick: toggleTheme });
  const title = element("h1", { text: root.dataset.title });
  const words = element("div", { class: "pv-words" }, title, element("p", { class: "pv-what", text: LAB_KEYS }));
  const host = element("div");
  root.append(element("header", { class: "pv-header" }, words, element("div", { class: "pv-options" }, theme)), host);
  const ask = createSolver();
  const stage = createGameStage(host, { ask, state: readLink(first, root), onState: keepLink() });
  obeyStageKeys(host, stage, { t: toggleTheme });
  window.potentia = { stage, ask };
  await stage.settled();
  root.dataset.ready = "true";
}

started();
obeyEmbedder();
await bootLab();
