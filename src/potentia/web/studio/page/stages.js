// Other stages of the studio: functions (host, studio) that show something of a scene and give it back, or null where it is
// not theirs. A stage asks Python with `await studio.solve({ what: "law", lane: 0 })`; web/studio/solving.py answers.

export const STAGES = [];
