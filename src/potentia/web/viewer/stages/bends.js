// Bent arrows between the nodes of a graph.

/**
 * A bent line from one node to another, its arrow head and where its label goes, so far along it. Ways there and back
 * bend apart.
 */
export function bendBetween(a, b, aside, radius, along = 0.5) {
  const long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const unit = { x: (b.x - a.x) / long, y: (b.y - a.y) / long };
  const middle = { x: (a.x + b.x) / 2 - unit.y * aside * 2, y: (a.y + b.y) / 2 + unit.x * aside * 2 };
  const start = placeToward(a, middle, radius + 1);
  const end = placeToward(b, middle, radius + 8);
  const tip = placeToward(b, middle, radius + 2);
  const side = { x: (tip.y - end.y) * 0.7, y: (end.x - tip.x) * 0.7 };
  const corners = [tip, { x: end.x + side.x, y: end.y + side.y }, { x: end.x - side.x, y: end.y - side.y }];
  return {
    path: `M${pointText(start)}Q${pointText(middle)} ${pointText(end)}`,
    head: `M${corners.map(pointText).join("L")}Z`,
    label: { x: onBend(start.x, middle.x, end.x, along), y: onBend(start.y, middle.y, end.y, along) },
  };
}

function onBend(start, middle, end, at) {
  return (1 - at) ** 2 * start + 2 * at * (1 - at) * middle + at ** 2 * end;
}

function placeToward(from, to, distance) {
  const long = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) * distance) / long, y: from.y + ((to.y - from.y) * distance) / long };
}

function pointText({ x, y }) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
