// Other stages of the studio: functions (host, studio) that show something of a scene and give it back, or null where it is
// not theirs. A stage asks Python with `await studio.solve(question)`; web/studio/solving.py answers.

import { createStudioGame } from "/game/in_studio.js";

export const STAGES = [createStudioGame];
