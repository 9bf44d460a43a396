// The game stage in the studio, solved by Python at the other end: studio.scene says what is played, and
// studio.solve(message) gives a promise of the answer. What somebody edits here is kept until it is played: a scene
// that comes meanwhile changes only what was not edited, and a reload finds it again.

import { element } from "../viewer/dom.js";
import { obeyStageKeys } from "./keys.js";
import { messageOf, readState } from "./settings.js";
import { createGameStage } from "./stage.js";

const EDITED = "potentia-stage"; // in the storage of the tab
const PARTS = [["game", "payoffs"], ["rule"], ["tau"], ["revision"]]; // of what is played

const isPlayed = ({ map, game, rules }) => !map && game && rules?.length;

/** Show the scene's game and first rule, solved exactly; null where it is robots on a map. */
export function createStudioGame(host, studio) {
  if (!isPlayed(studio.scene)) return null;
  const ask = (message) => studio.solve(message);
  const box = element("div", { class: "pv" });
  const begin = (state) => {
    studio.goal = 0;
    studio.send({ type: "begin", stage: messageOf(state, "solve") });
    window.scrollTo({ top: 0 });
  };
  host.append(box);
  let [known, first] = ["", null]; // what is played, and the state that it opens the stage with
  const shown = { stage: null, ready: null, follow, forget };

  const keep = () => keepEdited(studio.scene.session, first, shown.stage.state);

  /** Take over what is played now; false where the stage has to be built anew. */
  function follow(scene) {
    if (!isPlayed(scene) || (!shown.stage && known)) return false;
    const next = JSON.stringify([scene.game, scene.rules[0]]);
    if (next === known) return true;
    known = next;
    const asked = ask({ ask: "state", game: scene.game, rule: scene.rules[0] });
    shown.ready = asked.then((given) => next === known && open(readState(given))).catch((error) => {
      const told = `The exact analysis is not shown: ${error.message}`;
      if (shown.stage) shown.stage.say(told, "played");
      else box.textContent = told;
    });
    return true;
  }

  /** Something else is opened: nothing of what was edited is meant for it. */
  function forget() {
    shown.stage?.change({ lesson: null });
    first = shown.stage?.state ?? first;
  }

  function open(now) {
    if (shown.stage) {
      const state = edited(shown.stage.state, first, now);
      first = now;
      shown.stage.say("", "played");
      return shown.stage.replace(state);
    }
    const kept = keptOf(studio.scene.session);
    first = now;
    const state = kept ? edited(kept.state, kept.first, now) : now;
    shown.stage = createGameStage(box, { ask, state, onState: keep, sizes: true });
    const text = "Play this game and rule above";
    const play = element("button", { type: "button", class: "pv-text-button gs-play", text, onclick: () => begin(shown.stage.state) });
    box.querySelector(".gs-panel-rule").append(play);
    obeyStageKeys(box, shown.stage);
    return shown.stage.settled();
  }

  follow(studio.scene);
  return shown;
}

/** What is played now, with all that somebody changed of what was played before; a lesson stays as it is. */
function edited(state, before, now) {
  if (state.lesson !== null) return state;
  const same = (one, other, names) => names.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));
  const taken = PARTS.filter((names) => same(state, before, names)).flat();
  const next = { ...state, ...Object.fromEntries(taken.map((name) => [name, now[name]])) };
  return same(next, state, PARTS.flat()) ? next : { ...next, root: null, shown: null };
}

function keepEdited(session, first, state) {
  try {
    sessionStorage.setItem(EDITED, JSON.stringify({ session, first, state }));
  } catch {
    // without storage, or without room in it, a reload finds what is played
  }
}

function keptOf(session) {
  try {
    const held = JSON.parse(sessionStorage.getItem(EDITED));
    return session && held?.session === session ? { first: readState(held.first), state: readState(held.state) } : null;
  } catch {
    return null;
  }
}
