// A part of the page as one picture: canvases, drawings, boxes and words where they stand.

import { FONT, hiddenCanvas, shortenedTo } from "./dom.js";
import { formatCount } from "./format.js";

const MARGIN = 16;
const HEAD = 50; // for the title and the step
const LEFT_OUT = "input, select, button, label, .pv-hidden, [data-prompt]"; // what only serves whoever has the page
const SHAPE_STYLES = [
  ...["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "paint-order"],
  ...["opacity", "visibility", "font-family", "font-size", "font-weight", "text-anchor"],
];

/** Everything that is seen inside some elements, one under the other, below a title and the step. */
export async function pictureOf(hosts, title, step, theme) {
  const boxes = hosts.map((host) => host.getBoundingClientRect());
  const box = { width: Math.max(...boxes.map(({ width }) => width)), height: 0 };
  for (const { height } of boxes) box.height += height + MARGIN;
  const ratio = window.devicePixelRatio || 1;
  const width = box.width + 2 * MARGIN;
  const height = box.height + HEAD + MARGIN;
  const canvas = hiddenCanvas(Math.round(width * ratio), Math.round(height * ratio));
  const brush = canvas.getContext("2d");
  brush.scale(ratio, ratio);
  brush.fillStyle = theme.paper;
  brush.fillRect(0, 0, width, height);
  brush.fillStyle = theme.ink;
  brush.textBaseline = "middle";
  brush.font = `600 15px ${FONT}`;
  brush.fillText(shortenedTo(brush, title, box.width), MARGIN, MARGIN + 8);
  brush.font = `12px ${FONT}`;
  brush.fillText(`step ${formatCount(step)}`, MARGIN, MARGIN + 28);
  let top = MARGIN + HEAD;
  for (const [k, host] of hosts.entries()) {
    brush.save();
    brush.translate(MARGIN - boxes[k].left, top - boxes[k].top); // so that places are those of the page
    await drawInto(brush, host);
    brush.restore();
    top += boxes[k].height + MARGIN;
  }
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Draw while what the page cuts off is on lines of its own. */
export async function uncut(root, draw) {
  root.classList.add("pv-uncut");
  try {
    return await draw();
  } finally {
    root.classList.remove("pv-uncut");
  }
}

async function drawInto(brush, node) {
  if (node.nodeType === Node.TEXT_NODE) return drawWords(brush, node);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) return;
  const place = node.getBoundingClientRect();
  if (!place.width && !place.height) return;
  if (node.tagName === "CANVAS") {
    brush.drawImage(node, place.left, place.top, place.width, place.height);
  } else if (node.tagName === "svg") {
    await drawShapes(brush, node, place);
  } else {
    drawBox(brush, place, getComputedStyle(node));
    for (const child of node.childNodes) await drawInto(brush, child);
  }
}

/** The ground of a box, its frame and its outline. */
function drawBox(brush, place, look) {
  const { left, top, width, height } = place;
  const seen = (colour) => !/^rgba\(.*, 0\)$/.test(colour) && colour !== "transparent";
  if (seen(look.backgroundColor)) {
    const round = look.borderTopLeftRadius;
    const corner = round.endsWith("%") ? (width * parseFloat(round)) / 100 : parseFloat(round) || 0;
    brush.beginPath();
    brush.roundRect(left, top, width, height, Math.min(corner, width / 2, height / 2));
    brush.fillStyle = look.backgroundColor;
    brush.fill();
  }
  const frame = (thick, colour, within) => {
    if (!(thick > 0) || !seen(colour)) return;
    brush.strokeStyle = colour;
    brush.lineWidth = thick;
    brush.strokeRect(left + within, top + within, width - 2 * within, height - 2 * within);
  };
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => parseFloat(look[`border${side}Width`]) || 0);
  if (Math.min(...sides) > 0) frame(sides[0], look.borderTopColor, sides[0] / 2);
  const thick = look.outlineStyle === "none" ? 0 : parseFloat(look.outlineWidth) || 0;
  frame(thick, look.outlineColor, -(parseFloat(look.outlineOffset) || 0) - thick / 2);
}

/** Each word where it stands: lines break as they do on the page. */
function drawWords(brush, text) {
  const holder = text.parentElement;
  const look = getComputedStyle(holder);
  const room = holder.getBoundingClientRect();
  const cut = look.overflowX === "hidden";
  brush.font = `${look.fontWeight} ${look.fontSize} ${FONT}`;
  brush.fillStyle = look.color;
  brush.textAlign = "left";
  brush.textBaseline = "middle";
  const range = document.createRange();
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    const places = range.getClientRects();
    if (!places.length) continue;
    const { left, right, top, height } = places[0];
    if (cut && right > room.right + 1) return void brush.fillText("…", left, top + height / 2);
    if (places.length > 1) brush.fillText(word, left, top + height / 2, room.right - left);
    else brush.fillText(word, left, top + height / 2);
  }
}

/** A drawing, with what style sheets say written into it. */
async function drawShapes(brush, svg, place) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((shape, k) => {
    const look = getComputedStyle(from[k]);
    for (const name of SHAPE_STYLES) shape.setAttribute(name, look.getPropertyValue(name));
    shape.removeAttribute("style");
  });
  copy.setAttribute("width", place.width);
  copy.setAttribute("height", place.height);
  const text = new XMLSerializer().serializeToString(copy);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    brush.drawImage(image, place.left, place.top, place.width, place.height);
  } finally {
    URL.revokeObjectURL(address);
  }
}
