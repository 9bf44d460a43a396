// What players thought at keyframes that came while a run is played.

import { extended } from "./growing.js";

const FIELDS = ["belief_worth", "belief_seen", "belief_components", "belief_error", "belief_background", "score", "strategy"];

/** Add keyframes to a recording: fields are combined with those before, as all of them are. */
export function appendKeyframes(recording, keyframes, arrays) {
  const { header, arrays: known } = recording;
  header.keyframes.steps.push(...keyframes.steps);
  if (arrays.belief_ptr) {
    const end = known.belief_ptr[known.belief_ptr.length - 1];
    known.belief_ptr = extended(known.belief_ptr, arrays.belief_ptr.subarray(1).map((at) => at + end));
  }
  for (const name of FIELDS) if (arrays[name] && known[name]) known[name] = extended(known[name], arrays[name]);
}
