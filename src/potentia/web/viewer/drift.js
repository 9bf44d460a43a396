// A worth field that drifts, computed as the library does.

/** When the field of a step was computed. */
export function heldSince(drift, step) {
  return Math.floor(step / drift.every) * drift.every;
}

/** Where a coordinate is at a time: folded back into the area; one that does not move may lie outside. */
export function reflected(mean, velocity, time, length) {
  if (velocity === 0) return mean;
  const way = Math.abs(mean + velocity * time) % (2 * length);
  return way <= length ? way : 2 * length - way;
}

/** Write the field that holds at a time into `worth`; `arrays` are the recording's. */
export function fillDrift(drift, arrays, columns, rows, time, worth) {
  if (drift.kind === "shift") fillShift(drift, arrays.worth, columns, rows, time, worth);
  else if (drift.kind === "frames") fillFrames(drift, arrays.frames, columns * rows, time, worth);
  else fillMixture(drift, columns, rows, time, worth);
}

/** How much work a field is, in cells times this. */
export function costOf(drift) {
  return drift.kind === "frames" ? 1 : (drift.weights?.length ?? 4);
}

/** The cells [x, y] of targets at a time: those of means, or on a field that is shifted, move along; outside once gone. */
export function moveTargets(drift, targets, columns, rows, time) {
  const sides = [columns, rows];
  const whole = (way, axis) => (way <= sides[axis] ? Math.min(Math.floor(way), sides[axis] - 1) : -1);
  if (drift.kind === "shift") {
    return targets.map((cell) =>
      cell.map((place, axis) => {
        const velocity = drift.velocity[axis];
        if (drift.edge === "reflect") return whole(reflected(place + 0.5, velocity, time, sides[axis]), axis);
        const way = place + 0.5 + velocity * time;
        return whole(drift.edge === "wrap" ? modulo(way, sides[axis]) : way, axis);
      }),
    );
  }
  if (drift.kind === "frames" || !drift.components) return targets;
  return drift.components.map((j) =>
    [0, 1].map((axis) => whole(reflected(drift.means[j][axis], drift.velocity[j][axis], time, sides[axis]), axis)),
  );
}

/** The density at every cell's centre, component by component. */
function fillMixture(drift, columns, rows, time, worth) {
  worth.fill(0);
  drift.weights.forEach((weight, j) => {
    const [[a, b], [, c]] = drift.covariances[j];
    const determinant = a * c - b * b;
    const scale = 2 * Math.PI * Math.sqrt(determinant);
    const left = reflected(drift.means[j][0], drift.velocity[j][0], time, columns);
    const low = reflected(drift.means[j][1], drift.velocity[j][1], time, rows);
    for (let y = 0, cell = 0; y < rows; y += 1) {
      const dy = y + 0.5 - low;
      for (let x = 0; x < columns; x += 1, cell += 1) {
        const dx = x + 0.5 - left;
        const square = (c * dx * dx - 2 * b * dx * dy + a * dy * dy) / determinant;
        worth[cell] += (weight * Math.exp(-0.5 * square)) / scale;
      }
    }
  });
}

/** Between two frames, linearly; after the last, it stays or the first follows. */
function fillFrames(drift, frames, cells, time, worth) {
  const count = frames.length / cells;
  let first = Math.floor(time / drift.steps);
  let last = first + 1;
  let share = (time % drift.steps) / drift.steps;
  if (drift.periodic) [first, last] = [first % count, last % count];
  else if (last >= count) [first, last, share] = [count - 1, count - 1, 0];
  for (let cell = 0; cell < cells; cell += 1) {
    worth[cell] = (1 - share) * frames[first * cells + cell] + share * frames[last * cells + cell];
  }
}

/** The whole field moved on: around, back from the borders, or out of the area. */
function fillShift(drift, field, columns, rows, time, worth) {
  const across = tapsOf(drift.velocity[0], time, columns, drift.edge);
  const down = tapsOf(drift.velocity[1], time, rows, drift.edge);
  for (let y = 0, cell = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1, cell += 1) {
      let total = 0;
      for (const [row, share] of down[y]) {
        for (const [column, part] of across[x]) total += share * part * field[row * columns + column];
      }
      worth[cell] = total;
    }
  }
}

/** For each column, or row: those of time 0 that it has its worth from, and their shares. */
function tapsOf(velocity, time, length, edge) {
  const period = edge === "reflect" ? 2 * length : length;
  const gone = velocity * time;
  const way = edge === "empty" ? Math.min(Math.max(gone, -length), length) : modulo(gone, period);
  const low = Math.floor(way);
  const ends = [1 - (way - low), way - low];
  return Array.from({ length }, (_, place) => {
    const images = edge === "reflect" ? [place, 2 * length - 1 - place] : [place];
    const taps = images.flatMap((image) => ends.map((share, k) => [image - low - k, share]));
    const inside = edge === "empty" ? taps : taps.map(([at, share]) => [modulo(at, period), share]);
    return inside.filter(([at]) => at >= 0 && at < length);
  });
}

/** The remainder with the sign of the divisor, as in Python. */
function modulo(value, length) {
  const rest = value % length;
  return rest < 0 ? rest + length : rest;
}
