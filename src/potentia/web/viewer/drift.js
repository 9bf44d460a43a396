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

/** Write the field that holds at a time into `worth`: the density at every cell's centre, component by component. */
export function fillDrift(drift, columns, rows, time, worth) {
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
