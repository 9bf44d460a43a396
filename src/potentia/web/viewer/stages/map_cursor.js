// A cell that is pointed at on a map, with the pointer or with arrow keys.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** The cell that a key leads to from another one, or from the middle of the map; null where it leads nowhere. */
export function cellByKey(event, from, { columns, rows, upper }) {
  if (!ARROWS[event.key] || event.altKey || event.ctrlKey || event.metaKey) return null;
  const [dx, dy] = ARROWS[event.key].map((part) => part * (event.shiftKey ? 10 : 1));
  const cell = from < 0 ? Math.floor(rows / 2) * columns + Math.floor(columns / 2) : from;
  const x = Math.min(columns - 1, Math.max(0, (cell % columns) + dx));
  const y = Math.min(rows - 1, Math.max(0, Math.floor(cell / columns) + (upper ? -dy : dy)));
  return y * columns + x;
}

/** The cell under a pointer, -1 outside. */
export function cellUnder(event, canvas, layout) {
  const box = canvas.getBoundingClientRect();
  return layout.cellAt(event.clientX - box.left, event.clientY - box.top);
}

/** A frame around a cell, at least large enough to be seen. */
export function drawCellCursor(brush, layout, cell) {
  const x = layout.x(cell % layout.columns);
  const row = Math.floor(cell / layout.columns);
  const y = Math.min(layout.y(row), layout.y(row + 1));
  const grow = Math.max(0, (8 - layout.wide) / 2);
  for (const [colour, width] of [["#000000", 3.4], ["#ffffff", 1.6]]) {
    brush.strokeStyle = colour;
    brush.lineWidth = width;
    brush.strokeRect(x - grow, y - grow, layout.wide + 2 * grow, layout.high + 2 * grow);
  }
}
