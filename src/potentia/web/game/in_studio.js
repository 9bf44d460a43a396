// The game stage in the studio, solved by Python at the other end: studio.scene says what is played, and
// studio.solve(message) gives a promise of the answer.

import { element } from "../viewer/dom.js";
import { obeyStageKeys } from "./keys.js";
import { messageOf, readState } from "./settings.js";
import { createGameStage } from "./stage.js";

/** Show the scene's game and first rule, solved exactly; null where it is robots on a map. */
export function createStudioGame(host, studio) {
  const { scene } = studio;
  if (scene.map || !scene.game || !scene.rules?.length) return null;
  const ask = (message) => studio.solve(message);
  const box = element("div", { class: "pv" });
  const played = (state) => {
    studio.goal = 0;
    studio.send({ type: "begin", stage: messageOf(state, "solve") });
    window.scrollTo({ top: 0 });
  };
  host.append(box);
  const shown = { stage: null, ready: null };
  shown.ready = ask({ ask: "state", game: scene.game, rule: scene.rules[0] }).then(
    (state) => {
      shown.stage = createGameStage(box, { ask, state: readState(state) });
      const text = "Play this game and rule above";
      const play = element("button", { type: "button", class: "pv-text-button gs-play", text, onclick: () => played(shown.stage.state) });
      box.querySelector(".gs-panel-rule").append(play);
      obeyStageKeys(box, shown.stage);
      return shown.stage.settled();
    },
    (error) => {
      box.textContent = `The exact analysis is not shown: ${error.message}`;
    },
  );
  return shown;
}
