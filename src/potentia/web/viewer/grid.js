// The cells of a map: which cell an action is, and which action a cell.

const GRIDS = new WeakMap();

/** Sides, and both ways between actions (free cells, row by row) and cells (y · columns + x). */
export function gridOf(recording) {
  let grid = GRIDS.get(recording);
  if (!grid) {
    grid = makeGrid(recording);
    GRIDS.set(recording, grid);
  }
  return grid;
}

function makeGrid(recording) {
  const { columns, rows } = recording.header.map;
  const blocked = recording.arrays.blocked;
  const all = Boolean(recording.header.map.edits); // walls come and go, so that every cell is an action
  const actionAt = new Int32Array(columns * rows).fill(-1);
  let free = 0;
  for (let cell = 0; cell < blocked.length; cell += 1) {
    if (all || !blocked[cell]) actionAt[cell] = free++;
  }
  const cellOf = new Int32Array(free);
  for (let cell = 0; cell < blocked.length; cell += 1) {
    if (actionAt[cell] >= 0) cellOf[actionAt[cell]] = cell;
  }
  const columnOf = new Int32Array(columns * rows); // dividing is slow where it happens for every change
  for (let cell = 0; cell < columnOf.length; cell += 1) columnOf[cell] = cell % columns;
  return { columns, rows, cellOf, actionAt, columnOf, blocked };
}

/** The cells whose centre is within δ of a cell's: for each row from -reach to reach, how far they go to a side. */
export function discOf(delta, columns, rows) {
  const square = delta * delta * (1 + 1e-9);
  const reach = Math.min(Math.floor(Math.sqrt(square)), Math.max(columns, rows));
  const halves = new Int32Array(2 * reach + 1);
  for (let dy = -reach; dy <= reach; dy += 1) {
    let half = Math.min(Math.floor(Math.sqrt(square - dy * dy)), columns);
    while ((half + 1) ** 2 + dy * dy <= square && half < columns) half += 1;
    while (half > 0 && half * half + dy * dy > square) half -= 1;
    halves[dy + reach] = half;
  }
  return { reach, halves, size: halves.reduce((sum, half) => sum + 2 * half + 1, 0), square };
}

/** The cells in range of each robot, one table per range. */
export class DiscTable {
  constructor(delta, columns, rows) {
    const made = new Map();
    this.list = Array.from(delta, (range) => {
      if (!made.has(range)) made.set(range, discOf(range, columns, rows));
      return made.get(range);
    });
  }

  of(robot) {
    return this.list.length === 1 ? this.list[0] : this.list[robot];
  }

  /** The cells of a range, and the ends of its rows, on average. */
  costs() {
    const mean = (of) => this.list.reduce((sum, disc) => sum + of(disc), 0) / this.list.length;
    this.mean ??= [mean((disc) => disc.size), mean((disc) => 2 * disc.halves.length)];
    return this.mean;
  }
}
