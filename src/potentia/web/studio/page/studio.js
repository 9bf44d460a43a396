// The studio: a viewer whose runs live in Python, and tools to change them. The browser has the clock; it asks for steps
// as it comes to them, and for a second ahead.

import { element } from "/viewer/dom.js";
import { formatCount } from "/viewer/format.js";
import { openRecording, RecordingError } from "/viewer/recording.js";
import { createViewer } from "/viewer/viewer.js";
import { createBar } from "./bar.js";
import { createGrip } from "./grip.js";
import { createPanel } from "./panel.js";
import { STAGES } from "./stages.js";
import { createTakeaway } from "./takeaway.js";
import { Wire } from "./wire.js";

const AHEAD = 0.4; // seconds of play that are asked for ahead of the clock
const LEAST_AHEAD = 20; // steps
const KEYS = [
  ["1 2 3 4 5 6 7 8", "look, paint, wall, erase, move, add, remove, fail"],
  ["enter", "on the map: use the tool at the cell cursor"],
  ["ctrl+z ctrl+shift+z", "undo, do again"],
];

const GAME_KEYS = [...KEYS.slice(-1), ["1 2 3 4 5", "the lessons of the game stage"], ["0", "τ → 0 there"]];

class Studio {
  constructor(root) {
    this.root = root;
    this.scene = null;
    this.viewer = null;
    this.stages = []; // below what is played
    this.questions = new Map(); // to Python, by number
    this.asking = false; // a question is on its way: one at a time, so that a slow page asks less often
    this.waiting = null; // steps that were asked for by hand
    this.opening = location.hash.startsWith("#s1.") ? location.hash : null;
    this.bar = createBar(root);
    this.main = element("main", { id: "viewer" });
    this.side = element("aside", { class: "ps-side", "aria-label": "Tools" });
    this.other = element("section", { class: "ps-stages", hidden: true });
    root.append(element("div", { class: "ps-page" }, this.main, this.side), this.other);
    this.panel = createPanel(this.side, this);
    this.takeaway = createTakeaway(this.side, this);
    this.grip = createGrip(this);
    this.main.dataset.tool = this.grip.tool;
    this.wire = new Wire({
      open: () => this.opened(),
      message: (header, arrays) => this.heard(header, arrays),
      lost: (sentence) => this.lost(sentence),
    });
    window.addEventListener("hashchange", () => location.hash.startsWith("#s1.") && this.openLink(location.hash));
  }

  // The line -------------------------------------------------------------------------------------------

  opened() {
    this.asking = false;
    this.bar.clear("lost");
    this.note();
    if (this.opening) return this.openLink(this.opening);
    this.resumed = this.scene;
    return this.send({ type: "hello" });
  }

  lost(sentence) {
    this.asking = false;
    for (const id of [...this.questions.keys()]) this.solved({ id, problem: "the studio does not answer" });
    this.viewer?.clock.pause();
    const go = this.link ? "Copy link takes it along: potentia studio 'LINK' goes on from there" : "Start potentia studio again";
    const how = `What was played is still here. ${go}; or wait if the studio is busy.`;
    if (sentence) this.bar.say(sentence); // the line is there again in a moment
    else this.bar.say(`The studio does not answer. ${how}`, "lost");
    this.note();
  }

  send(message) {
    if (this.wire.send(message)) return true;
    const go = this.link ? " Copy link still works: potentia studio 'LINK' goes on from there." : "";
    this.bar.say(`The studio does not answer: this was not done.${go}`, "lost");
    return false;
  }

  /** What the studio told last of all that was done, at the step that is seen; for when it does not answer. */
  get link() {
    return this.scene?.link ? `${this.scene.link}&step=${this.viewer.clock.step}` : null;
  }

  openLink(link) {
    this.opening = link;
    for (const stage of this.stages) stage.forget();
    this.send({ type: "open", link });
  }

  async heard(header, arrays) {
    const answers = {
      scene: () => this.show(header, arrays),
      shown: () => this.show(header, arrays),
      growth: () => this.grow(header, arrays),
      changed: () => this.changed(header),
      problem: () => this.problem(header.text),
      taken: () => this.takeaway.taken(header),
      file: () => this.takeaway.file(header, arrays.content),
      solved: () => this.solved(header),
    };
    await answers[header.type]?.();
  }

  /** An exact answer of Python's about the game and a rule; refused with an Error that says why. */
  solve(question) {
    const id = (this.lastQuestion = (this.lastQuestion ?? 0) + 1);
    return new Promise((resolve, reject) => {
      this.questions.set(id, { resolve, reject });
      if (!this.send({ type: "solve", id, question })) this.solved({ id, problem: "the studio does not answer" });
    });
  }

  solved({ id, answer, problem }) {
    const asked = this.questions.get(id);
    this.questions.delete(id);
    if (answer) asked?.resolve(answer);
    else asked?.reject(new Error(problem));
  }

  problem(text) {
    this.asking = false;
    this.waiting = this.goal = null;
    this.viewer?.clock.pause();
    this.bar.say(text);
    this.panel.settle();
    this.viewer?.request(); // a stroke that was refused is taken off the map
    if (this.opening) {
      this.opening = null;
      history.replaceState(null, "", location.pathname + location.search);
      if (!this.scene) this.send({ type: "hello" });
    }
  }

  changed({ step, text }) {
    this.opening = null;
    if (text) this.bar.say(text, "news");
    if (step !== undefined) {
      this.goal = step;
      history.replaceState(null, "", `${location.pathname}${location.search}#step=${step}`);
    }
    this.send({ type: "hello" });
  }

  // What is shown --------------------------------------------------------------------------------------

  async show(scene, arrays) {
    const { resumed } = this;
    this.resumed = null;
    if (resumed && resumed.session === scene.session && resumed.version === scene.version) {
      this.asking = false; // the line is back, and all is as it was: what somebody is typing stays
      return this.ask();
    }
    const recordings = [];
    try {
      for (let k = 0; arrays[`recording ${k}`]; k += 1) recordings.push(await openRecording(arrays[`recording ${k}`]));
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      return this.bar.say(`${error.message}.`);
    }
    this.asking = false;
    const kept = this.remember(scene);
    const live = scene.type === "scene";
    this.panel.placeTools(false);
    this.side.hidden = !live; // a recording has the page for itself
    this.viewer?.destroy();
    this.scene = scene;
    this.viewer = createViewer(this.main, recordings, live ? { known: scene.known, keys: scene.map ? KEYS : GAME_KEYS } : null);
    this.restore(kept);
    const { clock } = this.viewer;
    if (live) {
      clock.onEnd = () => this.send({ type: "extend" });
      this.playAhead(this.viewer);
    }
    clock.listen((what) => this.ticked(what));
    this.main.dataset.ready = "true";
    this.panel.show(scene, this.viewer);
    this.grip.attach(this.viewer, live && scene.map);
    this.showStages(scene);
    const { timelines, mapStates } = this.viewer;
    window.potentia = { studio: this, viewer: this.viewer, clock, timelines, mapStates };
    this.ask();
    return undefined;
  }

  /** Stages below follow what is played, where they can: what somebody edits there stays. */
  showStages(scene) {
    if (this.stages.length && this.stages.every((stage) => stage.follow(scene))) return;
    this.other.replaceChildren();
    this.stages = STAGES.map((create) => create(this.other, this)).filter(Boolean);
    this.other.hidden = !this.stages.length;
  }

  /** A step that lies ahead of what was played is played first. */
  playAhead(viewer) {
    const jump = viewer.jump.bind(viewer);
    viewer.jump = (step) => {
      const { limit, steps } = viewer.clock;
      if (Number.isFinite(step) && step > steps) {
        const told = `The run is planned up to step ${formatCount(steps)}, and goes there`;
        this.bar.say(`${told}: play on from its end to plan twice as many.`, "news");
      }
      if (Number.isFinite(step) && step > limit) this.goTo(step);
      jump(step);
    };
  }

  /** What a new picture takes over from the old one. */
  remember(scene) {
    const given = new URLSearchParams(location.hash.slice(1));
    const goal = this.goal ?? this.waiting ?? (this.viewer ? null : Number(given.get("step")) || 0);
    this.goal = null;
    if (!this.viewer || this.scene.session !== scene.session) return { step: goal ?? 0, asked: goal ?? 0 };
    const { clock, chosen, options } = this.viewer;
    const focus = this.viewer.stages.findIndex((stage) => stage.frame === document.activeElement);
    const cursor = this.viewer.stages[focus]?.cursor ?? -1;
    const { speed, playing, step } = clock;
    return { step: goal ?? step, asked: goal ?? step, speed, playing, chosen, options, focus, cursor };
  }

  restore({ step, asked, speed, playing, chosen, options, focus, cursor }) {
    const { viewer } = this;
    const { clock } = viewer;
    if (speed) clock.setSpeed(speed);
    if (options) {
      viewer.setFlags(options.flags);
      viewer.setWays(options.paths);
    }
    viewer.jump(step);
    this.waiting = asked > clock.limit ? Math.min(asked, clock.steps) : null;
    const first = chosen === undefined ? viewer.firstChoice : chosen;
    if (first !== null) viewer.select(first);
    if (focus >= 0) {
      viewer.stages[focus]?.frame?.focus({ preventScroll: true });
      viewer.stages[focus]?.point?.(cursor);
    }
    if (playing) clock.play();
  }

  // Time -----------------------------------------------------------------------------------------------

  ticked(what) {
    if (what === "playing" || what === "step") this.ask();
    if (what === "step") this.panel.follow();
    if (what === "playing" && !this.viewer.clock.playing) this.waiting = null;
    clearTimeout(this.noting);
    this.noting = setTimeout(() => this.note(), 250);
  }

  /** The address says where we are, so that a reload comes back; without a studio, all that was done. */
  note() {
    if (!this.viewer || this.viewer.clock.playing || this.opening) return;
    const held = (!this.wire?.open && this.link) || `step=${this.viewer.clock.step}`;
    history.replaceState(null, "", `${location.pathname}${location.search}#${held}`);
  }

  /** Play up to a step that lies ahead, as fast as it goes. */
  goTo(step) {
    this.waiting = Math.min(step, this.viewer.clock.steps);
    this.ask();
  }

  /** Ask for more, if the clock will need it. */
  ask() {
    if (this.asking || this.scene?.type !== "scene" || !this.wire.open) return;
    const { clock, timelines } = this.viewer;
    const ahead = clock.playing ? Math.max(LEAST_AHEAD, clock.speed * AHEAD) : 0;
    const until = Math.min(clock.steps, Math.max(this.waiting ?? 0, Math.ceil(clock.step + ahead)));
    const behind = Math.max(...timelines.map((timeline) => timeline.edge)); // a run that was added is played up to others
    if (clock.limit >= Math.max(until, clock.playing ? 0 : Math.min(behind, clock.step))) return;
    this.asking = true;
    const known = timelines.map((timeline) => timeline.edge);
    this.send({ type: "more", version: this.scene.version, known, until });
  }

  grow(header, arrays) {
    this.asking = false;
    if (header.version !== this.scene?.version) return this.send({ type: "hello" });
    const { timelines } = this.viewer;
    if (header.lanes.some(({ since }, k) => since !== timelines[k].edge)) return this.ask(); // for an older picture
    const lanes = header.lanes.map((lane, k) => {
      const own = Object.entries(arrays).filter(([name]) => name.startsWith(`${k} `));
      return { ...lane, arrays: Object.fromEntries(own.map(([name, array]) => [name.slice(String(k).length + 1), array])) };
    });
    this.viewer.grow(lanes);
    const { clock } = this.viewer;
    if (this.waiting !== null) {
      clock.seek(Math.min(this.waiting, clock.limit));
      if (clock.limit >= this.waiting) this.waiting = null;
    }
    this.panel.progress(this.waiting, clock);
    this.ask();
    return undefined;
  }

  // What is done ---------------------------------------------------------------------------------------

  /** Do something at the step that is seen. */
  do(did, lanes = null) {
    const { step } = this.viewer.clock;
    if (this.waiting !== null) {
      const goal = formatCount(this.waiting);
      this.bar.say(`Not done: the run is on its way to step ${goal}; wait until it is there, or stop it where you want it.`);
      this.panel.settle();
      return false;
    }
    this.bar.clear();
    return this.send({ type: "intervene", step, did, ...(lanes ? { lanes } : {}) });
  }
}

new Studio(document.getElementById("studio"));
