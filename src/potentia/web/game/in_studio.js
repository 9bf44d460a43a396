// The game stage in the studio, solved by its server: for whoever has a scene, a line to send on, and hears of answers.

import { createAsker } from "./asking.js";
import { readState } from "./settings.js";
import { createGameStage } from "./stage.js";

/** Show the scene's game and first rule, solved exactly; null where it is robots on a map. */
export function createStudioGame(host, studio) {
  const { scene } = studio;
  if (scene.map || !scene.game || !scene.rules?.length) return null;
  const { ask, heard, lost } = createAsker((question) => studio.send({ type: "solve", question }));
  studio.onSolved = heard;
  const shown = { stage: null, lost, ready: null };
  shown.ready = ask({ ask: "state", game: scene.game, rule: scene.rules[0] }).then(
    (state) => {
      shown.stage = createGameStage(host, { ask, state: readState(state) });
      return shown.stage.settled();
    },
    (error) => {
      host.textContent = `The exact analysis is not shown: ${error.message}`;
    },
  );
  return shown;
}
