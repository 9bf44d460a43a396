// What robots see past walls: a bit for each cell of the longest range, where something is hidden.

/** The lines of sight of a recording; null where nothing is hidden. */
export function sightOf(arrays, columns, rows) {
  return arrays.sight_row ? new Sight(arrays, columns, rows) : null;
}

class Sight {
  constructor({ sight_row, sight_mask, delta }, columns, rows) {
    this.row = sight_row;
    this.mask = sight_mask;
    const longest = Math.min(delta.reduce((a, b) => Math.max(a, b), 0), Math.hypot(columns, rows));
    const square = longest * longest * (1 + 1e-9);
    this.reach = Math.floor(longest * (1 + 1e-9));
    this.middle = new Int32Array(2 * this.reach + 1); // the bit of (0, dy)
    let size = 0;
    for (let dy = -this.reach; dy <= this.reach; dy += 1) {
      let half = -1;
      while ((half + 1) ** 2 + dy * dy <= square) half += 1;
      this.middle[dy + this.reach] = size + Math.max(0, half);
      size += 2 * half + 1 > 0 ? 2 * half + 1 : 0;
    }
    this.bytes = (size >> 3) + 1;
  }

  /** Whether the cell (dx, dy) from a cell, in range, is not seen from it. */
  hides(cell, dx, dy) {
    const row = this.row[cell];
    if (row < 0) return false;
    const bit = this.middle[dy + this.reach] + dx;
    return ((this.mask[row * this.bytes + (bit >> 3)] >> (bit & 7)) & 1) === 0;
  }
}
