// Arrays that grow: room for twice as many whenever it is used up, and views of what is there.

/** The same array with more at its end; `array` may be a view of one with room left. */
export function extended(array, more) {
  const length = array.length + more.length;
  const spare = (array.buffer.byteLength - array.byteOffset) / array.BYTES_PER_ELEMENT;
  let room = array;
  if (!array.growable || spare < length) {
    room = new array.constructor(Math.max(64, 2 * length));
    room.set(array);
  }
  const view = new array.constructor(room.buffer, room === array ? array.byteOffset : 0, length);
  view.set(more, array.length);
  view.growable = true; // nobody else has the room behind it
  return view;
}

/** Rows of a table (rows, width) held column by column, with more of them: [series, times]. */
export function extendedRows(values, rows, more, added, width) {
  const out = new values.constructor((rows + added) * width);
  for (let k = 0; k < width; k += 1) {
    out.set(values.subarray(k * rows, (k + 1) * rows), k * (rows + added));
    out.set(more.subarray(k * added, (k + 1) * added), k * (rows + added) + rows);
  }
  return out;
}
