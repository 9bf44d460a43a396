// Hands on the map: brushes and robots, by mouse, finger or keyboard. A stroke is shown at once, and done when it ends.

import { cellUnder } from "/viewer/stages/map_cursor.js";

const TOOLS = {
  look: { words: "point and choose", key: "1" },
  paint: { words: "paint worth", key: "2", brush: true },
  wall: { words: "draw walls", key: "3", brush: true },
  erase: { words: "erase: as in the beginning", key: "4", brush: true },
  move: { words: "drag a robot", key: "5" },
  add: { words: "add a robot", key: "6" },
  remove: { words: "remove a robot", key: "7" },
  fail: { words: "let a robot fail", key: "8" },
};

/** What can be held, for the panel: names, words and keys. */
export function toolsOf() {
  return Object.entries(TOOLS).map(([name, { words, key }]) => ({ name, words, key }));
}

/** The tools at work on the stages of a viewer. */
export function createGrip(studio) {
  return new Grip(studio);
}

class Grip {
  constructor(studio) {
    this.studio = studio;
    this.tool = "look";
    this.worth = 0;
    this.size = 1;
    this.stroke = null;
    document.addEventListener("keydown", (event) => this.press(event));
  }

  hold(tool) {
    this.tool = tool;
    this.stroke = null;
    this.studio.main.dataset.tool = tool;
    this.studio.panel.showTool(tool);
  }

  attach(viewer, on) {
    this.viewer = viewer;
    this.stroke = null;
    if (!on) return;
    for (const stage of viewer.stages) this.listen(stage);
  }

  listen(stage) {
    const { canvas, frame } = stage;
    const draw = stage.draw.bind(stage);
    stage.draw = () => {
      draw();
      this.preview(stage);
    };
    const guard = (event) => {
      event.stopImmediatePropagation(); // choosing a robot is for the tool that looks
      event.preventDefault();
    };
    canvas.addEventListener("click", (event) => this.tool !== "look" && guard(event), { capture: true });
    canvas.addEventListener("pointerdown", (event) => this.down(stage, event));
    canvas.addEventListener("pointermove", (event) => this.drag(stage, event));
    canvas.addEventListener("pointerup", () => this.up(stage));
    canvas.addEventListener("pointercancel", () => this.cancel(stage));
    frame.addEventListener("keydown", (event) => this.type(stage, event, guard), { capture: true });
  }

  // By hand --------------------------------------------------------------------------------------------

  down(stage, event) {
    if (this.tool === "look" || event.button !== 0) return;
    const cell = cellUnder(event, stage.canvas, stage.layout);
    if (cell < 0) return;
    stage.canvas.setPointerCapture(event.pointerId);
    this.begin(stage, cell, this.tool === "move" || this.tool === "fail" || this.tool === "remove" ? stage.robotUnder(event) : null);
    event.preventDefault();
  }

  drag(stage, event) {
    if (!this.stroke || this.stroke.stage !== stage) return;
    const cell = cellUnder(event, stage.canvas, stage.layout);
    if (cell >= 0) this.reach(cell);
    stage.context.redraw(stage);
  }

  up(stage) {
    if (this.stroke?.stage === stage) this.finish();
  }

  cancel(stage) {
    this.stroke = null;
    stage.draw();
  }

  // By keyboard ----------------------------------------------------------------------------------------

  press(event) {
    const typing = event.target.matches?.("input:not([type=range]):not([type=checkbox]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("dialog")) {
      const undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing;
      if (undo) this.studio.send({ type: event.shiftKey ? "redo" : "undo" });
      if (undo) event.preventDefault();
      return;
    }
    const found = Object.entries(TOOLS).find(([, { key }]) => key === event.key);
    if (!found || !this.studio.scene?.map) return;
    this.hold(found[0]);
    event.preventDefault();
  }

  /** Enter on the map puts the tool to the cell under the cursor; for moving, first the robot, then the cell. */
  type(stage, event, guard) {
    if (event.key === "Escape" && this.stroke) {
      this.cancel(stage);
      guard(event);
      return;
    }
    if (event.key !== "Enter" || this.tool === "look" || stage.cursor < 0) return;
    guard(event);
    const { layout, state, cursor } = stage;
    if (this.stroke && this.tool === "move") {
      this.reach(cursor);
      this.finish();
      return;
    }
    const x = layout.x((cursor % state.columns) + 0.5);
    const y = layout.y(Math.floor(cursor / state.columns) + 0.5);
    const robot = TOOLS[this.tool].brush || this.tool === "add" ? null : stage.nearestRobot(x, y, 16);
    this.begin(stage, cursor, robot);
    if (this.tool !== "move") this.finish();
    else if (this.stroke) stage.say(`Robot ${robot} is held: go to a cell and press Enter.`);
  }

  // A stroke -------------------------------------------------------------------------------------------

  begin(stage, cell, robot) {
    const needsRobot = ["move", "remove", "fail"].includes(this.tool);
    if (needsRobot && (robot === null || !stage.state.isThere(robot))) {
      stage.say("There is no robot here; point at one.");
      return;
    }
    this.viewer.clock.pause();
    this.stroke = { stage, robot, cells: new Set(), last: cell, tool: this.tool };
    this.reach(cell);
    stage.draw();
  }

  /** All cells under the brush on the way from the last one. */
  reach(cell) {
    const { stroke } = this;
    const { columns } = stroke.stage.state;
    const [x0, y0] = [stroke.last % columns, Math.floor(stroke.last / columns)];
    const [x1, y1] = [cell % columns, Math.floor(cell / columns)];
    const count = Math.max(1, Math.abs(x1 - x0), Math.abs(y1 - y0));
    for (let k = 0; k <= count; k += 1) {
      this.dab(stroke, Math.round(x0 + ((x1 - x0) * k) / count), Math.round(y0 + ((y1 - y0) * k) / count));
    }
    stroke.last = cell;
  }

  dab(stroke, x, y) {
    const { columns, rows } = stroke.stage.state;
    const far = TOOLS[stroke.tool].brush ? this.size - 1 : 0;
    for (let dy = -far; dy <= far; dy += 1) {
      for (let dx = -far; dx <= far; dx += 1) {
        const inside = x + dx >= 0 && x + dx < columns && y + dy >= 0 && y + dy < rows;
        if (inside && dx * dx + dy * dy <= far * far + far) stroke.cells.add((y + dy) * columns + x + dx);
      }
    }
  }

  finish() {
    const { stroke } = this;
    this.stroke = null;
    const { columns } = stroke.stage.state;
    const place = (cell) => [cell % columns, Math.floor(cell / columns)];
    const cells = [...stroke.cells].map(place);
    const did = {
      paint: { kind: "paint", cells, worth: this.worth },
      wall: { kind: "wall", cells },
      erase: { kind: "erase", cells },
      move: { kind: "move", robot: stroke.robot, cell: place(stroke.last) },
      add: { kind: "add", cell: place(stroke.last) },
      remove: { kind: "remove", robot: stroke.robot },
      fail: { kind: "fail", robot: stroke.robot },
    }[stroke.tool];
    if (!this.studio.do(did)) stroke.stage.context.redraw(stroke.stage);
  }

  /** The stroke over the map, before it is done. */
  preview(stage) {
    const { stroke } = this;
    if (stroke?.stage !== stage) return;
    const { layout, state, canvas } = stage;
    const brush = canvas.getContext("2d");
    const { columns } = state;
    brush.save();
    brush.fillStyle = stroke.tool === "wall" ? "rgba(60,60,60,0.75)" : "rgba(255,255,255,0.55)";
    brush.strokeStyle = "#000000";
    brush.lineWidth = 1;
    const shown = stroke.tool === "move" ? [stroke.last] : stroke.cells;
    for (const cell of shown) {
      const row = Math.floor(cell / columns);
      const y = Math.min(layout.y(row), layout.y(row + 1));
      brush.fillRect(layout.x(cell % columns), y, layout.wide, layout.high);
      if (stroke.tool === "move") brush.strokeRect(layout.x(cell % columns), y, layout.wide, layout.high);
    }
    brush.restore();
  }
}
