// What keys do, wherever the focus is.

import { nearSpeed } from "./clock.js";
import { WAYS } from "./header.js";

const FAR = 100; // steps, with shift

/** Let a viewer obey keys. */
export function obeyKeys(viewer, signal) {
  const press = (event) => {
    const { target, key } = event;
    const typed = "[]".includes(key); // on some keyboards only with alt
    if (event.defaultPrevented || (!typed && (event.ctrlKey || event.metaKey || event.altKey))) return;
    if (target.closest?.("dialog")) return;
    const typing = target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");
    if (typing && key !== "Escape") return;
    if (typing) target.blur(); // keys are the page's again
    if (key === " " && target.matches?.("button, summary, input[type=checkbox]")) return;
    if (target.matches?.("input[type=range]:not(.pv-scrubber)") && /^(Arrow|Home|End|Page)/.test(key)) return;
    const action = keyAction(viewer, key, event.shiftKey ? FAR : 1);
    if (!action) return;
    action();
    event.preventDefault();
  };
  document.addEventListener("keydown", press, { signal });
  document.addEventListener("click", (event) => event.detail && leave(document.activeElement), { signal });
}

/** After a click of the mouse or a finger keys are the page's; who came to a button by keyboard stays there. */
function leave(element) {
  if (element?.matches("button, input[type=checkbox]") && !element.closest("dialog")) element.blur();
}

function keyAction(viewer, key, by) {
  const { clock } = viewer;
  const way = () => WAYS[(WAYS.indexOf(viewer.options.paths) + 1) % WAYS.length];
  const keys = {
    " ": () => clock.toggle(),
    ArrowLeft: () => viewer.move(-by),
    ArrowRight: () => viewer.move(by),
    Home: () => viewer.move(-Infinity),
    End: () => viewer.move(Infinity),
    "[": () => viewer.toChange(-1),
    "]": () => viewer.toChange(1),
    "+": () => clock.setSpeed(nearSpeed(clock.speed, 1)),
    "=": () => clock.setSpeed(nearSpeed(clock.speed, 1)),
    "-": () => clock.setSpeed(nearSpeed(clock.speed, -1)),
    n: () => viewer.choose(1),
    p: () => viewer.choose(-1),
    Escape: () => viewer.select(viewer.firstChoice),
    f: () => viewer.setFlags(!viewer.options.flags),
    w: () => viewer.setWays(way()),
    t: () => viewer.toggleTheme(),
    "?": () => viewer.openHelp(),
  };
  return Object.hasOwn(keys, key) ? keys[key] : null;
}
