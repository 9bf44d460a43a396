// A map that was edited on the way: its worth and walls at any step.

import { countUpTo } from "./timeline.js";

/** Follows the edits of a recording; `steps` is null where there are none. */
export class MapEdits {
  constructor({ header, arrays }) {
    this.steps = header.map.edits ?? null;
    this.arrays = arrays;
    this.held = { count: -1, worth: null, blocked: null };
  }

  /** How many were made by a step: what is drawn of the map goes by it. */
  upTo(step) {
    return this.steps ? countUpTo(this.steps, step) : 0;
  }

  /** {worth, blocked} of every cell at a step; the next call for another moment makes them anew. */
  at(step) {
    const count = this.upTo(step);
    if (this.held.count !== count) {
      const { worth, blocked, edit_ptr, edit_cells, edit_worth, edit_walls } = this.arrays;
      this.held = { count, worth: Float64Array.from(worth), blocked: Uint8Array.from(blocked) };
      for (let k = 0; k < (edit_ptr[count] ?? 0); k += 1) {
        this.held.worth[edit_cells[k]] = edit_worth[k];
        this.held.blocked[edit_cells[k]] = edit_walls[k];
      }
    }
    return this.held;
  }
}
