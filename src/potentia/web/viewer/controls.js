// Play, pause, steps, speed and the scrubber with its marks.

import { FASTEST, nearSpeed, SLOWEST } from "./clock.js";
import { element, icon, setText } from "./dom.js";
import { formatCount, formatSpeed } from "./format.js";
import { createMarks } from "./marks.js";

const ICONS = {
  start: "M6 5h2v14H6zM20 5v14L9 12z",
  end: "M16 5h2v14h-2zM4 5v14l11-7z",
  previous: "M12 5v14L3 12zM21 5v14l-9-7z",
  next: "M12 5v14l9-7zM3 5v14l9-7z",
  back: "M15 5v14L6 12zM17 5h2v14h-2z",
  forward: "M9 5v14l9-7zM5 5h2v14H5z",
  play: "M7 4v16l13-8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
};
const THUMB = 16; // pixels that the scrubber's thumb is wide

/** Build the bar. `actions` are jump(step), move(steps), toChange(direction); events are those of marks. */
export function createControls(host, clock, actions, events) {
  const buttons = {};
  const button = (name, label, key, onclick) => {
    const look = { type: "button", class: "pv-button", "aria-label": label, title: `${label} (${key})`, onclick };
    buttons[name] = element("button", look, icon(ICONS[name]));
    return buttons[name];
  };
  const row = element(
    "div",
    { class: "pv-buttons", role: "group", "aria-label": "Playback" },
    button("start", "To the start", "Home", () => actions.jump(0)),
    button("previous", "To the previous change", "[", () => actions.toChange(-1)),
    button("back", "One step back", "←", () => actions.move(-1)),
    button("play", "Play", "space", () => clock.toggle()),
    button("forward", "One step forward", "→", () => actions.move(1)),
    button("next", "To the next change", "]", () => actions.toChange(1)),
    button("end", "To the end", "End", () => actions.jump(clock.steps)),
  );
  const playIcon = icon(ICONS.play);
  const pauseIcon = icon(ICONS.pause);
  const bounds = { min: "0", max: String(clock.steps), step: "1" };
  const scrubber = element("input", { type: "range", class: "pv-scrubber", "aria-label": "Step", ...bounds });
  scrubber.addEventListener("input", () => actions.jump(Number(scrubber.value)));
  const number = element("input", { type: "number", class: "pv-step", inputmode: "numeric", ...bounds });
  /** Go where the field says, and let it say where the page is; what is no number changes nothing. */
  let typed = false; // and not yet gone to
  const give = () => {
    if (!typed) return;
    typed = false;
    const wanted = number.valueAsNumber;
    if (Number.isFinite(wanted)) actions.jump(Math.floor(wanted));
    number.value = String(clock.step);
  };
  number.addEventListener("input", () => {
    typed = true;
  });
  number.addEventListener("change", give);
  number.addEventListener("blur", () => {
    give();
    number.value = String(clock.step);
  });
  number.addEventListener("keydown", (event) => {
    if (event.key === "Enter") give();
    else if (event.key === "Escape") typed = false;
    else return;
    number.blur(); // keys are the page's again
    event.stopPropagation();
  });
  const of = element("span", { class: "pv-quiet", text: `of ${formatCount(clock.steps)}` });
  const stepBox = element("label", { class: "pv-step-box" }, element("span", { text: "step" }), number, of);
  number.style.width = `calc(${Math.max(3, String(clock.steps).length)}ch + 44px)`;

  const last = String(Math.round(100 * Math.log10(FASTEST / SLOWEST)));
  const speed = element("input", { type: "range", class: "pv-speed", min: "0", max: last, step: "1" });
  speed.addEventListener("input", () => clock.setSpeed(roundedSpeed(10 ** (Number(speed.value) / 100))));
  speed.addEventListener("keydown", (event) => {
    const next = speedByKey(clock.speed, event.key);
    if (next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    clock.setSpeed(next);
    event.preventDefault();
  });
  const told = element("output", { class: "pv-speed-told pv-number" });
  const named = element("span", { class: "pv-hidden", text: "speed" });
  const speedBox = element("label", { class: "pv-speed-box", title: "Speed (+ −)" }, named, speed, told);

  const marks = createMarks(events, clock.span, THUMB / 2, actions.jump);
  const track = element("div", { class: "pv-track" }, marks.canvas, scrubber);
  host.append(element("div", { class: "pv-bar" }, row, track, stepBox, speedBox));

  const drawMarks = () => marks.draw(Math.max(60, track.clientWidth));

  const showStep = () => {
    scrubber.value = String(clock.step);
    scrubber.setAttribute("aria-valuetext", `step ${formatCount(clock.step)} of ${formatCount(clock.steps)}`);
    if (number !== document.activeElement) number.value = String(clock.step);
    for (const name of ["start", "previous", "back"]) buttons[name].setAttribute("aria-disabled", clock.step <= 0);
    for (const name of ["forward", "next", "end"]) {
      buttons[name].setAttribute("aria-disabled", clock.step >= clock.steps && !clock.onEnd);
    }
  };
  const showSpeed = () => {
    speed.value = String(Math.round(100 * Math.log10(clock.speed / SLOWEST)));
    speed.setAttribute("aria-valuetext", `${formatCount(clock.speed)} steps a second`);
    setText(told, formatSpeed(clock.speed));
  };
  const showPlaying = () => {
    const label = clock.playing ? "Pause" : "Play";
    buttons.play.replaceChildren(clock.playing ? pauseIcon : playIcon);
    buttons.play.setAttribute("aria-label", label);
    buttons.play.title = `${label} (space)`;
  };
  buttons.play.classList.add("pv-play");
  showStep();
  showSpeed();
  showPlaying();
  drawMarks();
  const grow = (more = null) => {
    scrubber.max = String(clock.span);
    scrubber.value = String(clock.step);
    marks.grow(clock.limit, clock.span, more);
  };
  return { showStep, showSpeed, showPlaying, resize: drawMarks, grow };
}

/** Arrows go to the next round speed, pages ten times as far; null for other keys. */
function speedByKey(speed, key) {
  if (key === "ArrowRight" || key === "ArrowUp") return nearSpeed(speed, 1);
  if (key === "ArrowLeft" || key === "ArrowDown") return nearSpeed(speed, -1);
  if (key === "PageUp") return nearSpeed(10 * speed, 0);
  return key === "PageDown" ? nearSpeed(speed / 10, 0) : null;
}

/** Two digits are enough for a speed. */
function roundedSpeed(speed) {
  const near = nearSpeed(speed, 0);
  if (Math.abs(Math.log(near / speed)) < 0.06) return near;
  const power = 10 ** Math.max(0, Math.floor(Math.log10(speed)) - 1);
  return Math.round(speed / power) * power;
}
