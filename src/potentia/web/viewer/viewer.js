// The viewer: recordings side by side on one clock, with curves, tables and keys.

import { createBars, scoreScale } from "./bars.js";
import { createCard, curvesBeside, shareWidth, standsAlone } from "./cards.js";
import { Clock } from "./clock.js";
import { createControls } from "./controls.js";
import { createCurves } from "./curves.js";
import { element, setText } from "./dom.js";
import { fileName, offerFile, positionsCsv, seriesCsv } from "./downloads.js";
import { followRuns, growRuns } from "./following.js";
import { formatNumber } from "./format.js";
import { createHeader, WAYS } from "./header.js";
import { createHelp } from "./help.js";
import { obeyKeys } from "./keys.js";
import { markedEvents } from "./marks.js";
import { MapState } from "./map_state.js";
import { pictureOf, uncut } from "./picture.js";
import { dressForPrint } from "./printing.js";
import { createLoadsStage } from "./stages/loads.js";
import { createMapStage, hasSide, MOST_CIRCLES } from "./stages/map.js";
import { mapKey } from "./stages/map_key.js";
import { createNetworkStage } from "./stages/network.js";
import { createPlayersStage } from "./stages/players.js";
import { createTableStage } from "./stages/table.js";
import { looksOf, paintSwatch } from "./swatches.js";
import { createComparison, createEvents, createRoster } from "./tables.js";
import { firstDifference, Timeline } from "./timeline.js";

const STAGES = {
  map: createMapStage,
  network: createNetworkStage,
  loads: createLoadsStage,
  table: createTableStage,
  players: createPlayersStage,
};
const [KEY_GAP, CURVES_GAP, BAR_GAP] = [4, 10, 6]; // pixels above the line under maps, the curves and the bar, as in CSS
const BARS_ROW = 225; // of bars under a stage: the first row is seen at once
const TABLES_EVERY = 125; // milliseconds between two updates of tables while the clock runs

/** Build the viewer of one to four recordings inside an element. */
export function createViewer(root, recordings, live = null) {
  return new Viewer(root, recordings, live);
}

class Viewer {
  /** `live` is for runs that are still played: {known, keys}, the steps up to which each of them was, and more keys. */
  constructor(root, recordings, live) {
    this.gone = new AbortController(); // ends what listens to the window
    this.moreKeys = live?.keys ?? [];
    this.root = root;
    this.recordings = recordings;
    this.timelines = recordings.map((recording) => new Timeline(recording));
    this.mapStates = this.timelines.map((timeline) =>
      timeline.recording.header.game.kind === "map" ? new MapState(timeline) : null,
    );
    this.placed = this.mapStates.every(Boolean); // all are maps
    this.clock = new Clock(Math.max(...this.timelines.map((timeline) => timeline.steps)));
    if (live) followRuns(this, live.known);
    this.live = live !== null; // the runs are still played
    this.options = { flags: true, paths: "recent" };
    this.chosen = null;
    this.divergence = recordings.length > 1 ? firstDifference(this.timelines) : null;
    this.frame = 0;
    this.dirty = new Set();
    this.tablesAt = 0;
    this.readTheme();
    this.context = {
      theme: () => this.colours,
      onSelect: (player) => this.select(player),
      selected: () => this.chosen,
      formatNumber,
      options: this.options,
      stateOf: (timeline) => this.mapStates[this.timelines.indexOf(timeline)],
      playing: () => this.clock.playing,
      redraw: (stage) => this.request(stage),
      step: () => this.clock.step,
      span: () => this.clock.span,
      single: recordings.length === 1, // the page has one stage
      sides: this.mapStates.some((state) => state && hasSide(state)), // a second map stands beside some map
      heightLeft: () => this.heightLeft(),
      get alone() { return curvesBeside(recordings); },
      onSeek: (step) => this.jump(step),
    };
    root.classList.add("pv");
    root.replaceChildren();
    this.build();
    this.listen();
    this.drawAll();
  }

  // Building -------------------------------------------------------------------------------------------

  build() {
    this.heading = createHeader(this.root, this);
    this.title = this.heading.title;
    this.stageGrid = element("section", { class: "pv-stages", "aria-label": "What is played" });
    const curvesHost = element("section", { class: "pv-curves", "aria-label": "Curves" });
    this.key = element("p", { class: "pv-key" });
    this.played = element("div", { class: "pv-played" }, this.stageGrid, this.key);
    const top = element("div", { class: standsAlone(this.recordings) ? "pv-top pv-alone" : "pv-top" }, this.played, curvesHost);
    this.controlBar = element("section", { class: "pv-controls", "aria-label": "Clock" });
    const below = element("div", { class: this.live ? "pv-below" : "pv-below pv-halves" });
    this.root.append(top, this.controlBar, below);
    this.stageGrid.style.setProperty("--count", String(this.recordings.length));
    this.curves = createCurves(curvesHost, this.timelines, this.context);
    const actions = {
      jump: (step) => this.jump(step),
      move: (by) => this.move(by),
      toChange: (way) => this.toChange(way),
    };
    this.controls = createControls(this.controlBar, this.clock, actions, markedEvents(this));
    this.controls.grow();
    this.showOptions();
    this.buildStages(); // after the others, for they take the height that is left
    this.bars = this.buildBars();
    if (this.barGrid?.isConnected) for (const stage of this.stages) stage.resize();
    this.buildTables(below);
    this.openHelp = createHelp(this.root, this.moreKeys);
    this.colourCards();
  }

  buildStages() {
    this.context.shared = shareWidth(this.stageGrid, this.mapStates);
    const seeds = new Set(this.recordings.map(({ header }) => header.seed));
    const known = { seeds, title: this.title, single: this.context.single };
    this.cards = this.timelines.map((timeline) => createCard(this.stageGrid, timeline, known));
    this.stages = this.timelines.map((timeline, k) => {
      const { kind } = timeline.recording.header.game;
      return STAGES[kind](this.cards[k].host, timeline, this.context);
    });
  }

  /** Scores and strategies of games that are no map: of small games in their cards, of others under the curves. */
  buildBars() {
    const shown = this.recordings.map(({ header }) => header.game.kind !== "map" && Boolean(header.keyframes?.scores));
    if (!shown.includes(true)) return [];
    this.scores = scoreScale(this.timelines.filter((_, k) => shown[k]));
    this.barGrid = element("section", { class: "pv-stages pv-bars", "aria-label": "Strategies and scores" });
    this.barGrid.style.setProperty("--count", String(this.recordings.length));
    const hosts = this.recordings.map(({ label }, k) => {
      if (this.cards[k].bars) return this.cards[k].bars;
      const host = element("div", { class: "pv-host" });
      const heading = element("h2", { text: label, hidden: this.context.single || !shown[k] });
      this.barGrid.append(element("div", { class: "pv-card" }, heading, host));
      return host;
    });
    if (shown.some((each, k) => each && !this.cards[k].bars)) this.controlBar.before(this.barGrid);
    return hosts.flatMap((host, k) => (shown[k] ? [createBars(host, this.timelines[k], this.context, this.scores)] : []));
  }

  buildTables(below) {
    const left = element("div", { class: "pv-column" });
    const right = element("div", { class: "pv-column" });
    below.append(left, right);
    const now = element("section", { class: "pv-now" });
    left.append(now);
    now.append(element("div", { class: "pv-section-head" }, element("h2", { text: "Now" })));
    this.comparison = createComparison(now, this.timelines, this.context, () => this.lookNow);
    const button = (text, onclick) => element("button", { type: "button", class: "pv-text-button", text, onclick });
    now.append(
      element(
        "div",
        { class: "pv-downloads" },
        button(this.placed ? "Positions now (CSV)" : "Actions now (CSV)", () => this.savePositions()),
        button("Series (CSV)", () => this.saveSeries()),
        button("Picture (PNG)", () => this.savePicture()),
      ),
    );
    this.marks = element("section", { class: "pv-events-box" });
    right.append(this.marks);
    this.listEvents();
    const people = element("section", { class: "pv-roster" });
    this.roster = createRoster(people, this.timelines, this.context);
    if (this.roster) (this.events || this.live ? left : right).append(people);
  }

  listEvents() {
    this.marks.replaceChildren();
    this.events = createEvents(this.marks, this.timelines, (step) => this.show(step), () => this.lookNow);
    this.marks.hidden = !this.events;
  }

  /** More of runs that are still played. */
  grow(lanes) {
    growRuns(this, lanes);
  }

  /** Leave the page to another viewer. */
  destroy() {
    this.gone.abort();
    this.clock.pause();
    cancelAnimationFrame(this.frame);
    this.frame = -1;
    this.observer?.disconnect();
    this.root.replaceChildren();
  }

  colourCards() {
    this.lookNow.forEach((look, k) => paintSwatch(this.cards[k].swatch, look));
  }

  // Time -----------------------------------------------------------------------------------------------

  listen() {
    this.clock.listen((what) => {
      if (what === "step") this.follow();
      if (what === "speed") this.controls.showSpeed();
      if (what !== "playing") return;
      this.controls.showPlaying();
      if (!this.clock.playing) this.request();
    });
    let [waiting, width] = [0, this.root.clientWidth];
    const later = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => this.resize());
    };
    this.observer = new ResizeObserver(() => {
      if (this.root.clientWidth === width) return; // only the height: that is our own doing
      width = this.root.clientWidth;
      later();
    });
    this.observer.observe(this.root);
    const { signal } = this.gone;
    window.addEventListener("resize", later, { signal });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later, { signal });
    window.addEventListener("beforeprint", () => dressForPrint(this, true), { signal });
    window.addEventListener("afterprint", () => dressForPrint(this, false), { signal });
    obeyKeys(this, signal);
  }

  follow() {
    this.timelines.forEach((timeline, k) => {
      timeline.seek(this.clock.step);
      timeline.ended = this.clock.step > timeline.steps;
      this.cards[k].follow();
    });
    this.controls.showStep();
    this.request();
  }

  jump(step) {
    this.clock.seek(step);
    this.controls.showStep();
  }

  /** Jump to a step and bring the stages into view. */
  show(step) {
    this.jump(step);
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.stageGrid.scrollIntoView({ block: "start", behavior: still ? "auto" : "smooth" });
  }

  move(by) {
    this.clock.pause();
    this.jump(this.clock.step + by);
  }

  /** To the nearest change of any recording. */
  toChange(way) {
    this.clock.pause();
    const { step } = this.clock;
    const found = this.timelines
      .map((timeline) => (way > 0 ? timeline.nextChange(step) : timeline.previousChange(step)))
      .filter((each) => each !== null);
    if (found.length) this.jump(way > 0 ? Math.min(...found) : Math.max(...found));
    else this.jump(way > 0 ? this.clock.steps : 0);
  }

  // Drawing --------------------------------------------------------------------------------------------

  /** Draw once before the next frame: one stage, or everything. */
  request(stage = null) {
    if (stage) this.dirty.add(stage);
    else this.everything = true;
    if (this.frame) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      if (this.everything) this.drawAll(now);
      else for (const each of this.dirty) each.draw();
      this.dirty.clear();
    });
  }

  drawAll(now = performance.now()) {
    this.everything = false;
    for (const stage of this.stages) stage.draw();
    for (const bars of this.bars) bars.draw();
    this.curves.draw();
    this.heading.showStep(this.clock.step);
    if (this.clock.playing && now - this.tablesAt < TABLES_EVERY) return;
    this.tablesAt = now;
    this.comparison.draw();
    this.roster?.draw();
    this.events?.draw(this.clock.step);
  }

  resize() {
    this.readTheme();
    this.context.shared = shareWidth(this.stageGrid, this.mapStates);
    for (const part of [this.curves, ...this.stages, ...this.bars, this.controls, this.comparison]) part.resize();
    this.events?.resize();
    this.colourCards();
    this.request();
  }

  /** The height that the first screen leaves for stages, above the key, the curves and the bar. */
  heightLeft() {
    const place = (node) => node.getBoundingClientRect().top;
    const heading = place(this.cards[0].host) - place(this.stageGrid);
    const top = place(this.played.parentNode) + window.scrollY + heading; // stages may stand in the middle of their row
    const key = this.key.offsetHeight + KEY_GAP;
    const bars = this.barGrid?.isConnected ? BARS_ROW : 0;
    const curves = bars + (this.context.alone ? 0 : this.curves.host.offsetHeight + CURVES_GAP);
    return window.innerHeight - top - key - curves - this.controlBar.offsetHeight - BAR_GAP;
  }

  readTheme() {
    const look = getComputedStyle(this.root);
    const colour = (name, otherwise) => look.getPropertyValue(name).trim() || otherwise;
    this.colours = {
      ink: colour("--ink", "#1a1a1a"),
      paper: colour("--paper", "#ffffff"),
      grey: colour("--grey", "#666666"),
      faint: colour("--faint", "#e4e4e4"),
      dark: colour("--dark", "0") === "1",
    };
    this.lookNow = looksOf(this.recordings, this.colours);
  }

  // Choices --------------------------------------------------------------------------------------------

  /** Choose a robot or player, or null for none. */
  select(player) {
    const players = Math.max(...this.timelines.map((timeline) => timeline.players));
    const known = Number.isInteger(player) && player >= 0 && player < players;
    this.chosen = known ? player : null;
    this.heading.showChoice(this.chosen);
    this.stages.forEach((stage, k) => stage.select?.(known && player < this.timelines[k].players ? player : null));
    for (const bars of this.bars) bars.select?.(this.chosen);
    this.roster?.select(this.chosen);
    this.onChoice?.();
    this.request();
  }

  /** A sentence where a reader looks, and for those who listen. */
  say(sentence) {
    this.stages.find((stage) => stage.say)?.say(sentence);
  }

  setFlags(on) {
    this.options.flags = on;
    this.showOptions();
  }

  setWays(way) {
    this.options.paths = WAYS.includes(way) ? way : "recent";
    this.showOptions();
  }

  showOptions() {
    this.heading.showOptions(this.options);
    setText(this.key, mapKey(this.mapStates, this.options, this.live));
    this.key.hidden = !this.key.textContent;
    this.request();
  }

  toggleTheme() {
    document.documentElement.dataset.theme = this.colours.dark ? "light" : "dark";
    this.resize();
  }

  /** Whom to show at first: a robot whose thoughts were recorded, so that they are seen at once. */
  get firstChoice() {
    return this.mapStates.some((state) => state && state.robots <= MOST_CIRCLES && hasSide(state)) ? 0 : null;
  }

  /** The next robot or player, or the one before. */
  choose(way) {
    const players = Math.max(...this.timelines.map((timeline) => timeline.players));
    this.select(((this.chosen ?? (way > 0 ? -1 : 0)) + way + players) % players);
  }

  // Taking away ----------------------------------------------------------------------------------------

  savePositions() {
    const what = `${this.placed ? "positions" : "actions"}-${this.clock.step}`;
    offerFile(fileName(this, what, "csv"), positionsCsv(this.timelines, this.context.stateOf), "text/csv");
  }

  saveSeries() {
    offerFile(fileName(this, "series", "csv"), seriesCsv(this.timelines), "text/csv");
  }

  async savePicture() {
    const parts = this.barGrid?.isConnected ? [this.played, this.barGrid] : [this.played];
    const picture = await uncut(this.root, () => pictureOf(parts, this.title, this.clock.step, this.colours));
    offerFile(fileName(this, `step-${this.clock.step}`, "png"), picture, "image/png");
  }
}
