// What one takes away: a link, Python, a command, a specification, pictures, tables, a film, a page.

import { element } from "/viewer/dom.js";
import { offerFile } from "/viewer/downloads.js";
import { uncut } from "/viewer/picture.js";

const TEXTS = { link: "Link", python: "Python", command: "Command", specification: "Specification" };
const FILES = { recording: "Recording", page: "Replay page", gif: "GIF" };
const TYPES = { recording: "application/octet-stream", page: "text/html", gif: "image/gif" };

/** Build the section. */
export function createTakeaway(host, studio) {
  const button = (text, title, onclick) => element("button", { type: "button", class: "pv-text-button", text, title, onclick });
  const take = (what) => {
    said.textContent = "";
    return studio.send({ type: "take", what, step: studio.viewer.clock.step });
  };
  const takeLink = () => (studio.wire.open || !studio.link ? take("link") : taken({ what: "link", text: studio.link }));
  const said = element("p", { class: "ps-told", role: "status" });
  const made = async (kind, stem, save) => {
    await save();
    said.textContent = `${kind} saved as ${stem}-${studio.viewer.clock.step}.${kind.toLowerCase()}.`;
  };
  const shown = element("textarea", { readonly: true, rows: "6", "aria-label": "What was taken", hidden: true, spellcheck: "false" });
  const given = element("input", { type: "text", placeholder: "a link of a studio", "aria-label": "A link to open" });
  const open = button("Open link", "Show what a link holds", () => given.value.trim() && studio.openLink(given.value.trim()));
  given.addEventListener("keydown", (event) => event.key === "Enter" && open.click());
  const row = (...buttons) => element("div", { class: "ps-buttons" }, ...buttons);
  host.append(
    element(
      "section",
      { class: "ps-section ps-take" },
      element("h2", { text: "Take away" }),
      row(
        button("Copy link", "A link that holds all of this", takeLink),
        button("Copy as Python", "A program that plays the same runs", () => take("python")),
        button("Copy as command", "A command that plays the same", () => take("command")),
        button("Save as specification", "A file that potentia studio opens", () => take("specification")),
      ),
      row(
        button("PNG", "The picture as PNG", () => made("PNG", "step", () => studio.viewer.savePicture())),
        button("SVG", "The picture as SVG", () => made("SVG", "step", () => saveSvg(studio))),
        button("GIF", "A film of each run", () => take("gif")),
        button("CSV", "Where everybody is, as CSV", () => made("CSV", studio.viewer.placed ? "positions" : "actions", () => studio.viewer.savePositions())),
        button("Recording", "Each run as a recording", () => take("recording")),
        button("Replay page", "A page that replays all of it offline", () => take("page")),
      ),
      said,
      shown,
      element("div", { class: "ps-row" }, given, open),
    ),
  );

  const taken = async ({ what, text }) => {
    if (what === "specification") {
      offerFile("studio.json", text, "application/json");
      said.textContent = "Saved as studio.json: potentia studio studio.json opens it.";
      return;
    }
    const whole = what === "link" ? `${location.origin}${location.pathname}${location.search}#${text}` : text;
    shown.value = whole;
    shown.hidden = false;
    const done = (await copied(whole, shown)) ? `${TEXTS[what]} copied.` : `${TEXTS[what]}: copy it from here.`;
    said.textContent = what === "link" ? `${done} Elsewhere: potentia studio 'LINK', or open it below.` : done;
  };
  const file = ({ what, name }, content) => {
    offerFile(name, new Blob([content], { type: TYPES[what] }), TYPES[what]);
    said.textContent = `${said.textContent} ${FILES[what]} saved as ${name}.`.trim(); // of several runs, one after the other
  };
  return { taken, file };
}

async function copied(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    field.select();
    return false;
  }
}

/** The picture as a drawing: the canvas inside an SVG, with the words as texts. */
async function saveSvg(studio) {
  const { svgOf } = await import("./drawing.js");
  const { viewer } = studio;
  offerFile(`step-${viewer.clock.step}.svg`, await uncut(viewer.root, () => svgOf(viewer)), "image/svg+xml");
}
