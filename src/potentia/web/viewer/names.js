// What runs are called: a rule that was changed on the way is named after the one before it.

import { formatCount } from "./format.js";

function changesOf({ header }) {
  return (header.interventions ?? []).filter(({ did, step }) => did?.kind === "change" && step > 0);
}

/** The step of the first change of the rule, its temperature, waking or belief. */
export function firstChange(recording) {
  return changesOf(recording)[0]?.step ?? Infinity;
}

/** "blll", and after another rule was chosen "blll → lll". */
export function labelAt({ recording, step }) {
  const later = changesOf(recording).filter((change) => change.did.rule?.rule && change.step <= step);
  return [recording.label, ...later.slice(-1).map(({ did }) => did.rule.rule)].join(" → ");
}

/** The rule in words, with what holds instead since which step. */
export function rulesAt({ recording, step }) {
  const first = recording.header.rule?.text ?? "";
  const done = changesOf(recording).filter((change) => change.step <= step);
  const rule = done.findLastIndex(({ did }) => did.rule); // of what was changed before it nothing is left but a belief
  const told = done.filter(({ did }, k) => k >= rule || did.belief);
  return [first, ...told.map((change) => `since step ${formatCount(change.step)}: ${change.text}`)].filter(Boolean).join("; ");
}
