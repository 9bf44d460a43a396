// Flags that robots left, for every step at once: who was first on a cell, when, and when a second robot came.

const NEVER = Infinity;

/** Per cell the first robot, the step of its flag and the step at which a second robot's flag makes it shared. */
export class FlagHistory {
  constructor(timeline, grid, discs, sight = null) {
    const cells = grid.columns * grid.rows;
    this.owner = new Int32Array(cells);
    this.first = new Float64Array(cells).fill(NEVER);
    this.shared = new Float64Array(cells).fill(NEVER);
    this.events = []; // cells in the order in which their flags changed
    this.eventSteps = [];
    const kind = timeline.recording.header.map.flags;
    if (!kind) return;
    const here = (cell, robot, step) => this.leave(cell, robot, step);
    this.mark = kind === "range" ? rangeLeaver(this, grid, discs, sight) : here;
    this.timeline = timeline;
    this.cellOf = grid.cellOf;
    this.done = 0; // changes that were looked at
    const { start, since, until } = timeline.recording.arrays;
    this.later = []; // robots that arrive, after those who move at that step
    start.forEach((action, robot) => {
      if (since?.[robot] > 0) this.later.push(robot);
      else if (!until || until[robot] > 0) this.mark(grid.cellOf[action], robot, 0);
    });
    this.later.sort((a, b) => since[a] - since[b] || a - b);
    this.extend(timeline.edge ?? timeline.steps);
  }

  /** The flags of the changes that have come since, up to a step. */
  extend(edge) {
    if (!this.mark) return;
    const { changeSteps, changePlayers, changeAfter } = this.timeline;
    for (; this.done < changeSteps.length; this.done += 1) {
      this.arrive(changeSteps[this.done]);
      this.mark(this.cellOf[changeAfter[this.done]], changePlayers[this.done], changeSteps[this.done]);
    }
    this.arrive(edge + 1);
  }

  arrive(step) {
    const { start, since } = this.timeline.recording.arrays;
    while (this.later.length && since[this.later[0]] < step) {
      const robot = this.later.shift();
      this.mark(this.cellOf[start[robot]], robot, since[robot]);
    }
  }

  leave(cell, robot, step) {
    if (this.owner[cell] === 0) {
      this.owner[cell] = robot + 1;
      this.first[cell] = step;
      this.note(cell, step);
    } else if (this.owner[cell] !== robot + 1 && this.shared[cell] === NEVER) {
      this.shared[cell] = step;
      this.note(cell, step);
    }
  }

  note(cell, step) {
    this.events.push(cell);
    this.eventSteps.push(step);
  }

  /** 0 for no flag, robot + 1, or -1 where several robots left one. */
  at(cell, step) {
    if (this.first[cell] > step || this.owner[cell] === 0) return 0;
    return this.shared[cell] <= step && this.shared[cell] !== NEVER ? -1 : this.owner[cell];
  }

  /** The same of all cells. */
  all(step, out = new Int32Array(this.owner.length)) {
    for (let cell = 0; cell < out.length; cell += 1) out[cell] = this.at(cell, step);
    return out;
  }
}

function rangeLeaver(history, grid, discs, sight) {
  const { columns, rows } = grid;
  return (cell, robot, step) => {
    const disc = discs.of(robot);
    const x = cell % columns;
    const y = Math.floor(cell / columns);
    for (let dy = -disc.reach; dy <= disc.reach; dy += 1) {
      if (y + dy < 0 || y + dy >= rows) continue;
      const half = disc.halves[dy + disc.reach];
      const base = (y + dy) * columns;
      const last = Math.min(columns - 1, x + half);
      for (let at = Math.max(0, x - half); at <= last; at += 1) {
        if (!sight?.hides(cell, at - x, dy)) history.leave(base + at, robot, step);
      }
    }
  };
}
