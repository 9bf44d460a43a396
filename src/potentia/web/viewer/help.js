// The dialog that lists the keys.

import { element } from "./dom.js";

const HELP = [
  ["space", "play or pause"],
  ["← →", "one step back or forward"],
  ["shift ← →", "100 steps back or forward"],
  ["[ ]", "to the previous or next change"],
  ["home end", "to the start or the end"],
  ["+ −", "faster or slower"],
  ["n p", "choose the next or previous robot or player"],
  ["esc", "undo a choice: then nobody is chosen, or robot 0 where its beliefs or scores are shown"],
  ["f", "flags on or off"],
  ["w", "ways: none, recent or whole"],
  ["t", "light or dark"],
  ["?", "this list"],
];

/** Build the dialog, with more keys than those of every page; returns a function that opens it. */
export function createHelp(root, more = []) {
  const rows = [...HELP, ...more].map(([keys, words]) => {
    const parts = keys.split(" ").map((key) => element("kbd", { text: key }));
    return element("tr", {}, element("th", { scope: "row" }, ...parts), element("td", { text: words }));
  });
  const map =
    "On a map: point at a cell to read it, click a robot to see what it thinks where that was recorded. " +
    "With the keyboard, go to the map with Tab; arrow keys then move a cell cursor, with shift 10 cells at once, " +
    "Enter chooses the robot there, Esc leaves the map.";
  const look = { type: "button", class: "pv-text-button", text: "Close" };
  const close = element("button", { ...look, onclick: () => dialog.close() });
  const dialog = element(
    "dialog",
    { class: "pv-help", "aria-labelledby": "pv-help-title" },
    element("h2", { id: "pv-help-title", text: "Keys" }),
    element("table", {}, element("tbody", {}, ...rows)),
    element("p", { text: map }),
    close,
  );
  root.append(dialog);
  let opener = null; // a button that was pressed with a pointer keeps no focus: keys are the page's again
  dialog.addEventListener("close", () => opener?.blur());
  return (event = null) => {
    opener = event?.detail ? event.currentTarget : null;
    if (!dialog.open) dialog.showModal();
  };
}
