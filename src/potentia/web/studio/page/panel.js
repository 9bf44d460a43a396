// What stands beside the viewer: tools, rules side by side, temperature and waking, belief, what was done.

import { element, setText, setTitled } from "/viewer/dom.js";
import { counted, formatCount, formatNumber } from "/viewer/format.js";
import { numberField, numberIn } from "/viewer/numbers.js";
import { createDials } from "./dials.js";
import { toolsOf } from "./grip.js";
import { heldAt } from "./held.js";

const MOST_RUNS = 4;
const ONE_COLUMN = 900; // pixels, up to which the page has one, as the style sheet says

/** Build the panel; `studio` sends what is chosen. */
export function createPanel(host, studio) {
  return new Panel(host, studio);
}

function section(title, ...children) {
  return element("section", { class: "ps-section" }, element("h2", { text: title }), ...children);
}

function labelled(text, control, more = null) {
  return element("label", { class: "ps-row" }, element("span", { text }), control, more);
}

const DIALS = ["tau", "revision"]; // of one rule or another, these are set by hand

/** Whether these are one rule, whatever its temperature and waking. */
function alike(one, other) {
  const bare = (spec) => JSON.stringify(Object.entries(spec).filter(([name]) => !DIALS.includes(name)));
  return bare(one) === bare(other);
}

/** Another rule with the temperature and the waking of this one, where both have them; a variant has a waking of its own. */
function keeping(old, rule, name) {
  const kept = name.includes(":") ? ["tau"] : DIALS;
  const both = kept.filter((part) => part in old && part in rule && (part === "tau" || typeof old[part] === "number"));
  return { ...rule, ...Object.fromEntries(both.map((part) => [part, old[part]])) };
}

class Panel {
  constructor(host, studio) {
    this.studio = studio;
    this.scene = null;
    this.working = element("p", { class: "ps-working", role: "status" });
    this.stop = element("button", { type: "button", class: "pv-text-button", text: "Stop" });
    this.stop.addEventListener("click", () => {
      studio.waiting = null;
      this.progress(null);
    });
    this.work = element("div", { class: "ps-row", hidden: true }, this.working, this.stop);
    host.append(this.work);
    this.buildTools(host);
    this.buildRules(host);
    this.dials = createDials(host, studio, section, labelled);
    this.buildLog(host);
    this.buildBegin(host);
  }

  // Tools ----------------------------------------------------------------------------------------------

  buildTools(host) {
    this.tools = toolsOf().map(({ name, words, key }) => {
      const look = { type: "button", class: "ps-tool", "aria-pressed": "false", title: `${words} (${key})` };
      const button = element("button", { ...look, onclick: () => this.studio.grip.hold(name) }, name);
      button.setAttribute("aria-label", words[0].toUpperCase() + words.slice(1));
      return { name, button };
    });
    const group = element("div", { class: "ps-tools", role: "toolbar", "aria-label": "Tools" });
    group.append(...this.tools.map(({ button }) => button));
    this.worth = element("input", { type: "range", min: "0", max: "100", value: "100" });
    this.worthTold = element("output", { class: "pv-number" });
    this.worth.addEventListener("input", () => this.showWorth());
    this.size = element("input", { type: "range", min: "1", max: "8", value: "1" });
    this.sizeTold = element("output", { class: "pv-number" });
    this.size.addEventListener("input", () => this.showSize());
    const button = (text, title, type) =>
      element("button", { type: "button", class: "pv-text-button", text, title, onclick: () => this.studio.send({ type }) });
    this.undo = button("Undo", "Undo (ctrl z)", "undo");
    this.redo = button("Redo", "Do again (ctrl shift z)", "redo");
    this.toolBox = section(
      "Change the map and the robots",
      group,
      labelled("worth", this.worth, this.worthTold),
      labelled("brush", this.size, this.sizeTold),
    );
    this.hand = element("div", { class: "ps-hand" }, this.toolBox, element("div", { class: "ps-row ps-undo" }, this.undo, this.redo));
    this.home = element("div", {}, this.hand);
    host.append(this.home);
    this.narrow = window.matchMedia(`(max-width: ${ONE_COLUMN}px)`);
    this.narrow.addEventListener("change", () => this.placeTools());
    this.showSize();
  }

  /** Tools are directly under the map where this panel lies below everything else; `under` is false to take them home. */
  placeTools(under = this.narrow.matches && this.scene?.type === "scene" && this.scene.map) {
    const { viewer } = this.studio;
    if (under === (this.hand.parentNode !== this.home)) return;
    const focused = this.hand.contains(document.activeElement) ? document.activeElement : null;
    if (under) viewer.played.after(this.hand);
    else this.home.append(this.hand);
    focused?.focus({ preventScroll: true });
  }

  markTool(tool) {
    for (const { name, button } of this.tools) button.setAttribute("aria-pressed", String(name === tool));
  }

  showTool(tool) {
    this.markTool(tool);
    const words = toolsOf().find(({ name }) => name === tool).words;
    this.studio.viewer?.say?.(tool === "look" ? "" : `In hand: ${words}. Keys 1 to 8 change it; Enter on the map uses it.`);
  }

  showWorth() {
    const most = this.scene?.choices.scale?.worth ?? 1;
    this.studio.grip.worth = (most * Number(this.worth.value)) / 100;
    setText(this.worthTold, formatNumber(this.studio.grip.worth));
    this.worth.setAttribute("aria-valuetext", `${formatNumber(this.studio.grip.worth)} per cell`);
  }

  showSize() {
    if (this.studio.grip) this.studio.grip.size = Number(this.size.value);
    setText(this.sizeTold, counted(2 * Number(this.size.value) - 1, "cell"));
  }

  // Rules side by side ---------------------------------------------------------------------------------

  buildRules(host) {
    this.runs = element("div", { class: "ps-runs" });
    this.another = element("select", { "aria-label": "A rule to add" });
    this.addRule = element("button", { type: "button", class: "pv-text-button", text: "Add beside" });
    this.addRule.addEventListener("click", () => {
      const added = this.scene.choices.rules[this.another.value];
      this.studio.send({ type: "rules", rules: [...this.scene.rules, added] });
    });
    this.best = element("button", { type: "button", class: "pv-text-button", text: "Compute the optimum" });
    this.best.title = "The most that the robots of this step can cover on the map of this step, as a line beside the curves";
    this.best.addEventListener("click", () => {
      this.best.disabled = true;
      this.best.textContent = "Computing the optimum …";
      this.studio.send({ type: "optimum", step: this.studio.viewer.clock.step });
    });
    const more = element("div", { class: "ps-row" }, this.another, this.addRule);
    host.append(section("Rules side by side", this.runs, more, this.best));
  }

  showRules({ lanes, rules, choices }) {
    const names = Object.keys(choices.rules);
    this.followers = [];
    this.runs.replaceChildren(
      ...lanes.map((lane, k) => {
        const label = this.studio.viewer.recordings[k].label;
        const choice = element("select", { "aria-label": `Rule of run ${k + 1}, from this step on` });
        const other = element("option", { value: "" });
        choice.append(other, ...names.map((name) => element("option", { value: name, text: name })));
        const held = () => heldAt(lane, this.studio.viewer.clock.step);
        choice.addEventListener("change", () => {
          const rule = choice.value && keeping(held().spec, choices.rules[choice.value], choice.value);
          if (rule) this.studio.do({ kind: "change", rule }, [k]);
        });
        const remove = element("button", { type: "button", class: "pv-text-button", text: "Remove" });
        remove.setAttribute("aria-label", `Remove run ${label}`);
        remove.hidden = lanes.length === 1;
        remove.addEventListener("click", () => this.studio.send({ type: "rules", rules: rules.filter((_, at) => at !== k) }));
        const words = element("span", { class: "ps-told" });
        let shown = null;
        this.followers.push(() => {
          const now = held();
          if (now === shown) return;
          shown = now;
          const named = names.find((name) => alike(choices.rules[name], now.spec));
          other.hidden = Boolean(named);
          setText(other, now.rule);
          choice.value = named ?? "";
          setTitled(words, now.text);
        });
        return element("div", { class: "ps-run" }, choice, remove, words);
      }),
    );
    this.follow();
    this.another.replaceChildren(...names.map((name) => element("option", { value: name, text: name })));
    const shown = new Set(lanes.map((lane) => lane[0].rule));
    this.another.value = ["blll", "p-sblll", "lll", "soql"].find((name) => !shown.has(name)) ?? names[0];
    this.addRule.disabled = this.another.disabled = lanes.length >= MOST_RUNS;
  }

  /** Show what holds at the step that is seen. */
  follow() {
    if (this.scene?.type !== "scene") return;
    for (const each of this.followers) each();
    this.best.hidden = !this.scene.map || this.studio.viewer.recordings.every((one) => this.isBest(one));
    if (this.dials.scene) this.dials.read();
  }

  /** Whether the optimum of the step that is seen is drawn. */
  isBest({ header: { optimum } }) {
    const { step } = this.studio.viewer.clock;
    return Boolean(optimum) && step >= optimum.since && step < (optimum.until ?? Infinity);
  }

  // What was done --------------------------------------------------------------------------------------

  buildLog(host) {
    this.log = element("ol", { class: "ps-log" });
    this.logTitle = element("h2", { text: "What was done" });
    const box = { class: "ps-log-box", tabindex: "0", role: "region", "aria-label": "What was done" };
    host.append(element("section", { class: "ps-section" }, this.logTitle, element("div", box, this.log)));
  }

  showLog({ log }) {
    const labels = this.studio.viewer.recordings.map(({ label }) => label);
    const rows = log.map(({ step, lanes, text }) => {
      const who = lanes && labels.length > 1 ? `${lanes.map((k) => labels[k]).join(", ")}: ` : "";
      const look = { type: "button", class: "pv-link", text: `step ${formatCount(step)}: ${who}${text}` };
      return element("li", {}, element("button", { ...look, onclick: () => this.studio.viewer.jump(step) }));
    });
    if (!rows.length) rows.push(element("li", { class: "pv-quiet", text: "Nothing yet." }));
    this.log.replaceChildren(...rows);
  }

  // Begin again ----------------------------------------------------------------------------------------

  buildBegin(host) {
    [this.seed, this.robots] = [numberField({ step: 1 }), numberField({ step: 1 })];
    this.map = element("input", { type: "text", list: "ps-maps", spellcheck: "false" });
    const maps = element("datalist", { id: "ps-maps" });
    maps.append(...["paper", "random:1", "random:2", "random:3"].map((value) => element("option", { value })));
    const button = element("button", { type: "button", class: "pv-text-button", text: "Begin again" });
    button.addEventListener("click", () => this.begin());
    this.mapRow = labelled("map", this.map);
    this.robotsRow = labelled("robots", this.robots);
    host.append(section("Begin again", this.mapRow, this.robotsRow, labelled("seed", this.seed), maps, button));
  }

  begin() {
    const { game } = this.scene;
    const seed = numberIn(this.seed);
    if (!Number.isInteger(seed)) return this.studio.bar.say("The seed must be a whole number of at least 0.");
    const message = { type: "begin", seed };
    if (this.scene.map && !this.robotsRow.hidden) {
      const robots = numberIn(this.robots);
      if (!Number.isInteger(robots)) return this.studio.bar.say("The number of robots must be a whole number.");
      const map = this.mapRow.hidden ? {} : { map: this.map.value.trim() };
      message.game = { ...game, ...map, robots };
    }
    this.studio.goal = 0;
    return this.studio.send(message);
  }

  // All of it ------------------------------------------------------------------------------------------

  show(scene, viewer) {
    this.scene = scene;
    const live = scene.type === "scene";
    for (const part of this.studio.side.querySelectorAll(".ps-section, .ps-undo")) part.hidden = !live;
    if (!live) return;
    this.placeTools();
    this.toolBox.hidden = !scene.map;
    this.best.disabled = false;
    this.best.textContent = "Compute the optimum";
    this.undo.disabled = !scene.can.undo;
    this.redo.disabled = !scene.can.redo;
    this.dials.show(scene, viewer);
    this.showRules(scene);
    this.showLog(scene);
    this.showWorth();
    this.seed.value = String(scene.seed);
    this.robotsRow.hidden = !scene.map || scene.game.robots === undefined;
    this.mapRow.hidden = typeof scene.game.map !== "string";
    if (scene.robots) this.robots.value = String(scene.robots);
    if (!this.mapRow.hidden) this.map.value = scene.game.map;
    this.progress(null);
    this.markTool(this.studio.grip.tool);
  }

  /** Show again what holds, after something was refused. */
  settle() {
    if (this.scene?.type === "scene") this.show(this.scene, this.studio.viewer);
  }

  /** How far the run has come to a step that was asked for. */
  progress(goal, clock) {
    this.work.hidden = goal === null;
    if (goal !== null) setText(this.working, `playing to step ${formatCount(goal)}: ${formatCount(clock.limit)}`);
  }
}
