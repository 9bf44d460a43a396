// One sentence above everything: what went wrong. The run is still there.

import { element } from "/viewer/dom.js";

/** Build the bar; `say(text, kind)` shows a sentence, `clear(kind)` takes it away. */
export function createBar(root) {
  const words = element("span");
  const close = element("button", { type: "button", class: "pv-text-button", text: "Close", onclick: () => clear() });
  const bar = element("div", { class: "ps-bar", role: "alert", hidden: true }, words, close);
  root.append(bar);
  let shown = null;
  const say = (text, kind = "problem") => {
    shown = bar.dataset.kind = kind;
    const whole = /[.!?]$/.test(text) ? text : `${text}.`;
    words.textContent = whole[0].toUpperCase() + whole.slice(1);
    bar.hidden = false;
    root.style.setProperty("--bar", `${bar.offsetHeight}px`);
  };
  const clear = (kind = null) => {
    if (kind !== null && shown !== kind) return;
    bar.hidden = true;
    root.style.setProperty("--bar", "0px");
  };
  return { say, clear };
}
